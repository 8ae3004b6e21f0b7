"""What the text of a heading says, and which lines are headings without being marked as such."""

from __future__ import annotations

import re

from cocite.sources.html.context import clip, has_words

MAX_HEADING = 300
MAX_BOLD_HEADING = 100

_MARKS = re.compile(r"(?:\s*+(?:\[[^\[\]]*+\]|[¶#§🔗]))++$")
"""What wikis and manuals put behind their headings: `[edit]`, and signs that link to the heading itself."""


def heading_text(pieces: list[str]) -> str:
    """What the pieces of a heading say."""
    return clip(_MARKS.sub("", " ".join("".join(pieces).split())), MAX_HEADING)


def is_bold_heading(pieces: list[str], start: int, bold: list[tuple[int, int]]) -> bool:
    """Whether the pieces from `start` on, a line, are all in bold type, and the line is short and no sentence."""
    text = "".join(pieces[start:])
    heading = " ".join(text.split())
    if len(heading) > MAX_BOLD_HEADING or not has_words(heading) or heading[-1] in ".,;":
        return False
    in_bold = "".join("".join(pieces[first:end]) for first, end in bold if first >= start)
    return "".join(in_bold.split()).rstrip(":") == "".join(text.split()).rstrip(":")
