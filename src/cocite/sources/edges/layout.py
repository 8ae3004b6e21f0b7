"""Find out the layout of an edge list from its first lines: delimiter, header, and the columns of source and target.

Files with regular columns aren't always edge lists: `looks_like` decides whether the values look like linked pages.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cocite.errors import BadSource
from cocite.sources.compressed import head_lines

# Names of columns, in lower case and without punctuation: `From Node-ID` is `fromnodeid`.
_WHAT = r"(?:node|page|url|uri|id|name|address|host|domain|site|paper)"
SOURCE_NAMES = re.compile(
    rf"(?:from|source|src|start|origin|citing|linking|parent|subject|referr?er){_WHAT}*|{_WHAT}(?:1|a|from)|a|u|page"
)
TARGET_NAMES = re.compile(
    rf"(?:to|target|dst|dest|destination|end|cited|linked|child|object|link){_WHAT}*|{_WHAT}(?:2|b|to)|b|v|href"
)
TYPE_NAMES = re.compile(r"type|direct(?:ion|ed)")  # Gephi writes Directed or Undirected here
WEIGHT_NAMES = re.compile(r"w|p|weights?|prob|probability")

MIN_SHARE, LOW_SHARE = 0.9, 0.5
"""Share of lines with the same columns, or of values of the same kind. The lower one is a second try."""
MAX_LINK_COLUMNS = 4  # source, target, weight, time; tables of numbers with more columns are measurements
MIN_SHARED_NAMES, MIN_SHARED_WORDS = 0.05, 0.2
"""The share of names in one column that are in the other one, too. In lines of words some are by chance."""
COMMENTS = ("#", "%")
"""Comment marks of SNAP and KONECT at the beginning of a line."""

_MARKS = {",": "commas", ";": "semicolons", "|": "bars", "\t": "tabs"}
_INTEGER = re.compile(r"[0-9]+(?:\.0+)?")
_IDENTIFIER = re.compile(r"(?=[^\s]*[A-Za-z])(?=[^\s]*(?:[0-9_/@]|\.[^\s.]))[^\s]+")  # n17, Q42, page_3, /about, a.org
_LETTER = re.compile(r"[^\W\d_]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Layout:
    """Where the links are in a text file. The delimiter " " means any run of spaces and tabs."""

    delimiter: str
    width: int  # number of columns
    header: bool
    source: int
    target: int
    weight: int | None
    comments: bool
    type: int | None = None  # the column that says whether a row is undirected
    names: tuple[str, ...] = ()  # of the columns, if there is a header
    looks: str = ""  # what the file looks like if it doesn't look like an edge list

    @property
    def used(self) -> list[int]:
        """Return the columns that are read: source, target, weight and type."""
        return [each for each in (self.source, self.target, self.weight, self.type) if each is not None]

    @property
    def quoted(self) -> bool:
        """Return whether fields may be quoted. With tabs and spaces, a quotation mark is part of a name."""
        return self.delimiter in ",;|"

    def fields(self, line: str) -> list[str]:
        """Return the fields of one line."""
        if self.delimiter == " ":
            return line.split()
        if not self.quoted:
            return [field.strip() for field in line.split(self.delimiter)]
        try:
            return [field.strip() for field in next(csv.reader([line], delimiter=self.delimiter), [])]
        except csv.Error:  # a field longer than the limit of the csv module
            return []


def layout(head: bytes, name: str = "the file", strict: bool = False) -> Layout:
    """Return the layout of a file that begins with `head`.

    With `strict`, nearly all lines must have the same number of columns, unlike prose, and `looks` is set.
    """
    texts = [line.decode("utf-8", "replace").rstrip("\r") for line in head_lines(head) if line.strip()]
    lines = [text for text in texts if not text.lstrip().startswith(COMMENTS)]
    # Where every line begins with such a mark, as with hashtags, these are not comments.
    comments = bool(lines) or not any("\t" in text for text in texts)
    lines = lines if comments else texts
    if not lines:
        raise BadSource(f"{name} has no links: an edge list has a source and a target on every line")
    delimiter = _delimiter(lines, MIN_SHARE) or _delimiter(lines, LOW_SHARE)
    if delimiter is None:
        raise BadSource(f"{name} has a single column: separate source and target by a tab, a comma or a space")
    plain = Layout(delimiter, 0, False, 0, 1, None, comments)
    rows = [plain.fields(line) for line in lines]
    width = Counter(len(row) for row in rows if len(row) > 1).most_common(1)[0][0]
    even = [row for row in rows if len(row) == width]
    if strict and len(even) < MIN_SHARE * len(rows):
        raise BadSource(f"{name} has lines with different numbers of columns, unlike an edge list")
    first = rows[0] if len(rows[0]) == width else []
    header = bool(first) and _is_header(first, even[1:])
    source, target, weight = pick_columns(first if header else [])
    if not header and width > 2:
        numbers = sum(_NUMBER.fullmatch(row[2]) is not None for row in even)
        weight = 2 if numbers >= MIN_SHARE * len(even) else None
    kind = _first(TYPE_NAMES, first) if header else None
    kind = None if kind in (source, target, weight) else kind
    found = Layout(delimiter, width, header, source, target, weight, comments, kind, tuple(first) if header else ())
    if not strict or header:
        return found
    return replace(found, looks=looks_like(delimiter, width, [(row[source], row[target]) for row in even]))


def pick_columns(names: Sequence[str]) -> tuple[int, int, int | None]:
    """Return the positions of source, target and weight by the names of the columns, or else the first two."""
    source, target, weight = (_first(pattern, names) for pattern in (SOURCE_NAMES, TARGET_NAMES, WEIGHT_NAMES))
    if source is None or target is None:
        source, target = 0, 1
    return source, target, weight if weight not in (source, target) else None


def are_named(names: Sequence[str]) -> bool:
    """Return whether the names show which column is the source and which the target."""
    return _first(SOURCE_NAMES, names) is not None and _first(TARGET_NAMES, names) is not None


def _first(pattern: re.Pattern[str], names: Sequence[str]) -> int | None:
    simple = (re.sub(r"[^a-z0-9]", "", name.lower()) for name in names)
    return next((i for i, name in enumerate(simple) if pattern.fullmatch(name)), None)


def _delimiter(lines: list[str], share: float) -> str | None:
    enough = share * len(lines)
    if sum("\t" in line for line in lines) >= enough:
        return "\t"
    for mark in ",;|":
        # Addresses contain these marks too. As delimiters they occur equally often on every line.
        counts = Counter(len(Layout(mark, 0, False, 0, 1, None, True).fields(line)) for line in lines)
        width, times = counts.most_common(1)[0]
        if width > 1 and times >= enough:
            return mark
    if sum(len(line.split()) > 1 for line in lines) >= enough:
        return " "
    return None


def _kind(value: str) -> str:
    if _NUMBER.fullmatch(value):
        return "number"
    if "://" in value:
        return "address"
    return "dotted" if "." in value.strip(".") else "word"


def _is_header(first: list[str], rest: list[list[str]]) -> bool:
    if not all(first[:2]) or any(_kind(field) != "word" for field in first[:2]):
        return False
    if are_named(first):
        # `a b` is a header above longer names, but an edge among other letters.
        short = all(len(field) == 1 for field in first[:2])
        if short and not rest:
            return False
        values = [value for row in rest for value in row[:2]]
        return not (set(first[:2]) & set(values)) and not (short and any(len(v) == 1 and v.isalpha() for v in values))
    kinds = [Counter(_kind(row[column]) for row in rest) for column in (0, 1)]
    return bool(rest) and any(kind["word"] <= (1 - MIN_SHARE) * len(rest) for kind in kinds)


def looks_like(delimiter: str, width: int, pairs: Sequence[tuple[str, str]]) -> str:
    """Describe a table without a header that doesn't look like links. Return "" if it does.

    Lists of words have columns too, so only values that links are made of count.
    """
    columns = list(zip(*pairs, strict=True))
    min_share = MIN_SHARED_WORDS if delimiter == " " else MIN_SHARED_NAMES
    # Pages that link are linked, too. Numbers and times recur in any table.
    others = [pair for pair in pairs if pair[0] != pair[1]]
    names = [{pair[side] for pair in others if _LETTER.search(pair[side])} for side in (0, 1)]
    recurring = len(names[0] & names[1])
    if (
        (delimiter == "\t" and width <= MAX_LINK_COLUMNS)
        or any(_mostly(lambda value: "://" in value, column) for column in columns)
        or all(_mostly(_IDENTIFIER.fullmatch, column) for column in columns)
        or (width <= MAX_LINK_COLUMNS and all(_mostly(_INTEGER.fullmatch, column) for column in columns))
        or (width <= MAX_LINK_COLUMNS and recurring >= max(1, min_share * min(map(len, names))))
    ):
        return ""
    if delimiter == " ":
        return f"text with {width} words on every line"
    return f"a table of {width} columns separated by {_MARKS[delimiter]}, without a name that is in both"


def _mostly(test: Callable[[str], object], column: Sequence[str]) -> bool:
    return sum(bool(test(value)) for value in column) >= MIN_SHARE * len(column)
