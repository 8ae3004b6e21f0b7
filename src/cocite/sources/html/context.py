"""The words around a link, from the text of the smallest block (item, paragraph, cell) that it stands in."""

from __future__ import annotations

import re
from itertools import accumulate

from cocite.sources.records import Link

BREAK = "\x1f"
"""Stands for a line break in a block's text; white space to `str.split`."""

MAX_CONTEXT = 120
_BEFORE, _AFTER = 40, 80
_WINDOW = 300  # characters of source text in which the context is looked for: indented source is mostly white space

has_words = re.compile(r"[^\W\d_]{2}|[\u2e80-\uffdc]").search
_LEADING = " -–—:,;.|·•)]}"


Span = tuple[int, int, Link]
"""The pieces of a block of text, from the first up to before the second number, that belong to a link."""


def outside(pieces: list[str], spans: list[Span], at: int = 0) -> str:
    """The text of pieces without the links in them; `at` is the number of the first piece."""
    start = 0
    rest: list[str] = []
    for first, end, _ in spans:
        if first >= at:
            rest += pieces[start : first - at]
            start = end - at
    rest += pieces[start:]
    return "".join(rest)


def set_contexts(pieces: list[str], spans: list[Span], at: int = 0) -> None:
    """Give every link of a block of text the words after it where it begins a line, else the words around it."""
    own = outside(pieces, spans, at)
    if not has_words(own):
        return
    text = "".join(pieces)
    if len(text) > 4 * len(own):  # a row of links says nothing about each of them
        return
    offsets = list(accumulate(map(len, pieces), initial=0))
    following = len(text)
    for first, last, link in reversed(spans):
        start, end = offsets[first - at], offsets[last - at]
        if not link.context:
            link.context = _context(text, start, end, following)
        following = start


def _context(text: str, start: int, end: int, next_link: int) -> str:
    from_here = max(0, start - _WINDOW)
    line = max(text.rfind(BREAK, from_here, start), from_here)
    before = text[line:start]
    after = text[end : end + _WINDOW]
    gap = text[end : min(next_link, end + _WINDOW)]
    if BREAK in gap[len(gap.rstrip()) :]:  # the next link begins a line of its own
        after = gap
    after = " ".join(after.split())
    if not has_words(before):
        after = after.lstrip(_LEADING)
        return clip(after, MAX_CONTEXT) if has_words(after) else ""
    before = " ".join(before.split())
    if len(before) > _BEFORE:
        before = before[-_BEFORE:].partition(" ")[2]
    own = clip(" ".join(text[start : min(end, start + _WINDOW)].split()), MAX_CONTEXT // 2)
    joint = "" if after[:1] in ",.;:!?)" else " "
    return f"{before} {own}{joint}{clip(after, _AFTER)}".strip()


def clip(text: str, most: int) -> str:
    """At most so many characters, cut between words where there are words."""
    if len(text) <= most:
        return text
    cut = text[: most + 1].rfind(" ")
    return text[: cut if cut > most // 2 else most]
