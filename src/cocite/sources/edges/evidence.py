"""Is a file of even columns an edge list? Only what links are made of is evidence: lists of words have columns too."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

MOST = 0.9  # of a column's values
MOST_COLUMNS = 4  # source, target, weight, time: tables of numbers with more are measurements

_INTEGER = re.compile(r"[0-9]+(?:\.0+)?")
_IDENTIFIER = re.compile(r"(?=[^\s]*[A-Za-z])(?=[^\s]*(?:[0-9_/@]|\.[^\s.]))[^\s]+")
"""`n17`, `Q42`, `page_3`, `/about`, `example.org`: no word of a language."""
_LETTER = re.compile(r"[^\W\d_]")

SHARED, SHARED_WORDS = 0.05, 0.2
"""Of the names in the column that has fewer, so many stand in the other one too; in lines of words some do by chance.
"""

_MARKS = {",": "commas", ";": "semicolons", "|": "bars", "\t": "tabs"}


def looks_like(delimiter: str, width: int, pairs: Sequence[tuple[str, str]]) -> str:
    """What a table without a header looks like that gives no evidence of links; "" if it gives some."""
    columns = list(zip(*pairs, strict=True))
    if (
        (delimiter == "\t" and width <= MOST_COLUMNS)
        or any(_mostly(lambda value: "://" in value, column) for column in columns)
        or all(_mostly(_IDENTIFIER.fullmatch, column) for column in columns)
        or (width <= MOST_COLUMNS and all(_mostly(_INTEGER.fullmatch, column) for column in columns))
        or (width <= MOST_COLUMNS and _names_recur(pairs, SHARED_WORDS if delimiter == " " else SHARED))
    ):
        return ""
    if delimiter == " ":
        return f"text with {width} words on every line"
    return f"a table of {width} columns parted by {_MARKS[delimiter]}, with no name on both sides"


def _mostly(test: Callable[[str], object], column: Sequence[str]) -> bool:
    return sum(bool(test(value)) for value in column) >= MOST * len(column)


def _names_recur(pairs: Sequence[tuple[str, str]], share: float) -> bool:
    """Whether pages that link are linked, too; numbers and times come back in any table."""
    others = [pair for pair in pairs if pair[0] != pair[1]]
    sources, targets = ({pair[side] for pair in others if _LETTER.search(pair[side])} for side in (0, 1))
    return len(sources & targets) >= max(1, share * min(len(sources), len(targets)))
