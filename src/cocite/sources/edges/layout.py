"""How an edge list is laid out, told from its first lines: delimiter, header, and which column is what."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cocite.errors import BadSource
from cocite.sources.edges.evidence import looks_like

# Names of columns, in lower case and without marks: `From Node-ID` is `fromnodeid`.
_WHAT = r"(?:node|page|url|uri|id|name|address|host|domain|site|paper)"
SOURCE = re.compile(
    rf"(?:from|source|src|start|origin|citing|linking|parent|subject|referr?er){_WHAT}*|{_WHAT}(?:1|a|from)|a|u|page"
)
TARGET = re.compile(
    rf"(?:to|target|dst|dest|destination|end|cited|linked|child|object|link){_WHAT}*|{_WHAT}(?:2|b|to)|b|v|href"
)
WEIGHT = re.compile(r"w|p|weights?|prob|probability")

MOST = 0.9  # of a file's lines look alike
SOME = 0.5

COMMENTS = ("#", "%")
"""SNAP's and KONECT's comment marks, at the beginning of a line."""

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Layout:
    """Where a text file's links are. A delimiter of a space stands for any run of spaces and tabs."""

    delimiter: str
    width: int  # number of columns
    header: bool
    source: int
    target: int
    weight: int | None
    comments: bool
    names: tuple[str, ...] = ()  # of the columns, if there is a header
    looks: str = ""  # what the file looks like if there is nothing to show that it is an edge list

    @property
    def linked(self) -> bool:
        """Whether a header, if there is one, speaks of links."""
        return not self.names or named(self.names)

    @property
    def quoted(self) -> bool:
        """Only comma-like files quote; elsewhere a quotation mark is part of a name."""
        return self.delimiter in ",;|"

    def fields(self, line: str) -> list[str]:
        """The fields of one line."""
        if self.delimiter == " ":
            return line.split()
        if not self.quoted:
            return [field.strip() for field in line.split(self.delimiter)]
        try:
            return [field.strip() for field in next(csv.reader([line], delimiter=self.delimiter), [])]
        except csv.Error:  # a field beyond the csv module's limit
            return []


def layout(
    head: bytes, columns: Sequence[str | int] | None = None, name: str = "the file", strict: bool = False
) -> Layout:
    """The layout of a file that begins with `head`. `columns` names (or numbers, from 0) source, target and weight.

    With `strict`, nearly all lines must have the same number of columns, as they do not in prose, and `looks` is set.
    """
    lines, comments = _data_lines(head)
    if not lines:
        raise BadSource(f"{name} holds no links: an edge list has a source and a target on every line")
    delimiter = _delimiter(lines, MOST) or _delimiter(lines, SOME)
    if delimiter is None:
        raise BadSource(f"{name} has no two columns: separate source and target by a tab, a comma or a space")
    plain = Layout(delimiter, 0, False, 0, 1, None, comments)
    rows = [plain.fields(line) for line in lines]
    width = Counter(len(row) for row in rows if len(row) > 1).most_common(1)[0][0]
    even = [row for row in rows if len(row) == width]
    if strict and len(even) < MOST * len(rows):
        raise BadSource(f"{name} does not have the same columns on every line, as an edge list has")
    first = rows[0] if len(rows[0]) == width else []
    if columns is not None and any(isinstance(column, str) for column in columns):
        header = True
    else:
        header = bool(first) and _is_header(first, even[1:])
    source, target, weight = pick_columns(first if header else [], width, columns, name)
    if columns is None and not header and width > 2:
        numbers = sum(_NUMBER.fullmatch(row[2]) is not None for row in even)
        weight = 2 if numbers >= MOST * len(even) else None
    found = Layout(delimiter, width, header, source, target, weight, comments, tuple(first) if header else ())
    if not strict or header:
        return found
    return replace(found, looks=looks_like(delimiter, width, [(row[source], row[target]) for row in even]))


def pick_columns(
    names: Sequence[str], width: int, columns: Sequence[str | int] | None, name: str
) -> tuple[int, int, int | None]:
    """The positions of source, target and weight, by what the user says or by the columns' names."""
    if columns is not None:
        if len(columns) not in (2, 3):
            raise BadSource("give two columns (source, target) or three (with weight)")
        found = [_position(column, names, width, name) for column in columns]
        return found[0], found[1], found[2] if len(found) == 3 else None
    source, target, weight = (_first(pattern, names) for pattern in (SOURCE, TARGET, WEIGHT))
    if source is None or target is None:
        source, target = 0, 1
    return source, target, weight if weight not in (source, target) else None


def named(names: Sequence[str]) -> bool:
    """Whether the names say which column is the source and which the target."""
    return _first(SOURCE, names) is not None and _first(TARGET, names) is not None


def _first(pattern: re.Pattern[str], names: Sequence[str]) -> int | None:
    simple = (re.sub(r"[^a-z0-9]", "", name.lower()) for name in names)
    return next((i for i, name in enumerate(simple) if pattern.fullmatch(name)), None)


def _position(column: str | int, names: Sequence[str], width: int, name: str) -> int:
    if isinstance(column, str):
        lower = [field.strip().lower() for field in names]
        if column.strip().lower() in lower:
            return lower.index(column.strip().lower())
        has = f"its columns are {', '.join(names[:8])}" if names else f"it has {width} columns without names"
        raise BadSource(f"{name} has no column {column!r}: {has}")
    if not 0 <= column < width:
        raise BadSource(f"{name} has no column {column}: give numbers from 0 to {width - 1}")
    return column


def _data_lines(head: bytes) -> tuple[list[str], bool]:
    """Up to a thousand whole lines without comments, and whether there may be comments at all."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(lines) > 1 and len(head) >= 1 << 16:
        lines.pop()  # cut in the middle
    texts = [line.decode("utf-8", "replace").rstrip("\r") for line in lines if line.strip()][:1000]
    data = [text for text in texts if not text.lstrip().startswith(COMMENTS)]
    # Where every line begins with the mark, as with hashtags, it is no comment.
    comments = bool(data) or not any("\t" in text for text in texts)
    return (data if comments else texts), comments


def _delimiter(lines: list[str], share: float) -> str | None:
    most = share * len(lines)
    if sum("\t" in line for line in lines) >= most:
        return "\t"
    for mark in ",;|":
        # Addresses hold these marks too: as delimiters they come equally often in every line.
        counts = Counter(len(Layout(mark, 0, False, 0, 1, None, True).fields(line)) for line in lines)
        width, times = counts.most_common(1)[0]
        if width > 1 and times >= most:
            return mark
    if sum(len(line.split()) > 1 for line in lines) >= most:
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
    if named(first):
        # `a b` heads a list of longer names, but is an edge among other letters.
        short = all(len(field) == 1 for field in first[:2])
        values = [value for row in rest for value in row[:2]]
        return not (set(first[:2]) & set(values)) and not (short and any(len(v) == 1 and v.isalpha() for v in values))
    kinds = [Counter(_kind(row[column]) for row in rest) for column in (0, 1)]
    return bool(rest) and any(kind["word"] <= (1 - MOST) * len(rest) for kind in kinds)
