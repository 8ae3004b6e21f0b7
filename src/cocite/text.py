"""Text for people, on every front end.

Titles and addresses are untrusted: only their printable characters are shown.
"""

import re
import unicodedata

JOINERS = "\u200c\u200d"
"""Invisible characters that Persian, Indic scripts and emoji need. Others can reverse or hide text."""


_EMOJI_CODE = re.compile(r"(?<!\w):[a-z0-9_+-]{2,40}:(?!\w)")


def clean(text: str) -> str:
    """Text on one line without control, escape, direction and other invisible characters."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    seen = (" " if c.isspace() else c for c in text if c.isspace() or c in JOINERS or unicodedata.category(c)[0] != "C")
    return " ".join("".join(seen).split())


def title_text(text: str) -> str:
    """A title without codes of emoji (`:rocket:`); empty if nothing but symbols is left."""
    if ":" in text:
        text = " ".join(_EMOJI_CODE.sub(" ", text).split())
    return text if any(map(str.isalnum, text)) else ""


def count(number: int, what: str) -> str:
    """`1 page`, `2,000 pages`."""
    return f"{number:,} {what if number == 1 else what + ('es' if what.endswith('s') else 's')}"
