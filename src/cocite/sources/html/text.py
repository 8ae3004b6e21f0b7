"""Texts of a page: the words around a link, headings, lines in bold type that serve as headings, terminal escapes."""

import re
from itertools import accumulate

from cocite.sources.records import Link

BREAK = "\x1f"  # marks a line break in text; `str.split` treats it as white space
MAX_CONTEXT = 120
MAX_HEADING = 300
MAX_BOLD_HEADING = 100
_BEFORE, _AFTER = 40, 80
_WINDOW = 300  # characters searched on each side of a link: indented source is mostly white space

has_words = re.compile(r"[^\W\d_]{2}|[\u2e80-\uffdc]").search
_BEFORE_CONTEXT = " -–—:,;.|·•)]}"
_AFTER_HEADING = re.compile(r"(?:\s*+(?:\[[^\[\]]*+\]|[¶#§🔗]))++$")  # `[edit]`, and signs that link to the heading

ESCAPE_SEQUENCE = (
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # control sequences: colours, movements
    "|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)"  # strings: window titles, hyperlinks
    "|\x1b[()*+][0-9A-Za-z]"  # character sets
    "|[\x1b\x9b]"  # unclosed sequences
)
"""A title with `ESC [31m` could colour or overwrite the terminal that shows it. Without the escape character alone,
`[31m` would remain. For Python and for Arrow (RE2); no part can go beyond the next escape character: linear time."""
_ESCAPE = re.compile(ESCAPE_SEQUENCE)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")

Span = tuple[int, int, Link]  # the first piece of text that belongs to a link, the piece after the last, and the link


def text_outside_links(pieces: list[str], spans: list[Span], first_piece: int = 0) -> str:
    """Return the text of pieces without the links in them. `first_piece` is the number of the first piece."""
    start = 0
    rest: list[str] = []
    for first, end, _ in spans:
        if first >= first_piece:
            rest += pieces[start : first - first_piece]
            start = end - first_piece
    rest += pieces[start:]
    return "".join(rest)


def set_contexts(pieces: list[str], spans: list[Span], first_piece: int = 0) -> None:
    """Give every link of a paragraph the words after it if it begins a line, or else the words around it."""
    outside = text_outside_links(pieces, spans, first_piece)
    if not has_words(outside):
        return
    text = "".join(pieces)
    if len(text) > 4 * len(outside):  # a row of links: the few words between them don't describe them
        return
    offsets = list(accumulate(map(len, pieces), initial=0))
    next_link = len(text)
    for first, last, link in reversed(spans):
        start, end = offsets[first - first_piece], offsets[last - first_piece]
        if not link.context:
            link.context = _context(text, start, end, next_link)
        next_link = start


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
        after = after.lstrip(_BEFORE_CONTEXT)
        return clip(after, MAX_CONTEXT) if has_words(after) else ""
    before = " ".join(before.split())
    if len(before) > _BEFORE:
        before = before[-_BEFORE:].partition(" ")[2]
    own = clip(" ".join(text[start : min(end, start + _WINDOW)].split()), MAX_CONTEXT // 2)
    joint = "" if after[:1] in ",.;:!?)" else " "
    return f"{before} {own}{joint}{clip(after, _AFTER)}".strip()


def clip(text: str, length: int) -> str:
    """Cut a text to a length, between words if possible."""
    if len(text) <= length:
        return text
    cut = text[: length + 1].rfind(" ")
    return text[: cut if cut > length // 2 else length]


def heading_text(pieces: list[str]) -> str:
    """Return the text of a heading, without the signs after it."""
    return clip(_AFTER_HEADING.sub("", " ".join("".join(pieces).split())), MAX_HEADING)


def is_bold_heading(pieces: list[str], start: int, bold: list[tuple[int, int]]) -> bool:
    """Return whether the pieces from `start` on are a short line, all in bold type, that doesn't end like a
    sentence."""
    text = "".join(pieces[start:])
    heading = " ".join(text.split())
    if len(heading) > MAX_BOLD_HEADING or not has_words(heading) or heading[-1] in ".,;":
        return False
    in_bold = "".join("".join(pieces[first:end]) for first, end in bold if first >= start)
    return "".join(in_bold.split()).rstrip(":") == "".join(text.split()).rstrip(":")


def plain(text: str) -> str:
    """Return a text without escape sequences, other control characters replaced by spaces."""
    if text.isprintable():
        return text
    if "\x1b" in text or "\x9b" in text:
        text = " ".join(_ESCAPE.sub("", text).split())
    return _CONTROLS.sub(" ", text).strip()
