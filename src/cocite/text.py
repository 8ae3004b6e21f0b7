"""Text for people, on every front end.

Titles and addresses are untrusted: only their printable characters are shown.
"""

import re
import unicodedata

JOINERS = "\u200c\u200d"
"""Invisible characters that Persian, Indic scripts and emoji need. Others can reverse or hide text."""


_EMOJI_CODE = re.compile(r"(?<!\w):[a-z0-9_+-]{2,40}:(?!\w)")
_LINK_IN_PAGE = re.compile(r"\[[^()]{0,80}\]\(#[^()\s]{0,200}\)")  # [[TOC]](#contents)
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,500}\)")
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
MAX_HEADING_CHARS = 40


def clean(text: str) -> str:
    """Text on one line without control, escape, direction and other invisible characters."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    seen = (" " if c.isspace() else c for c in text if c.isspace() or c in JOINERS or unicodedata.category(c)[0] != "C")
    return " ".join("".join(seen).split())


def title_text(text: str) -> str:
    """A title without codes of emoji (`:rocket:`) and marks of links; empty if only symbols or an address are left."""
    text = heading_text(text)
    return text if any(map(str.isalnum, text)) and not _ADDRESS.fullmatch(text) else ""


def heading_text(text: str) -> str:
    """A heading without codes of emoji, links to other parts of its page, and Markdown's marks of links."""
    if "](" in text:
        text = " ".join(_MARKDOWN_LINK.sub(r"\1", _LINK_IN_PAGE.sub(" ", text)).split())
    return " ".join(_EMOJI_CODE.sub(" ", text).split()) if ":" in text else text


def last_headings(path: str) -> str:
    """The end of a path of headings, `A / B / C`: as many as fit into a sentence, at least the last."""
    while len(path) > MAX_HEADING_CHARS and " / " in path:
        path = path.partition(" / ")[2]
    return path


def count(number: int, what: str) -> str:
    """`1 page`, `2,000 pages`."""
    return f"{number:,} {what if number == 1 else what + ('es' if what.endswith('s') else 's')}"


def rounded(score: float) -> float:
    """One score to six significant digits."""
    return float(f"{score:.5e}")
