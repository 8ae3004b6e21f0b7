"""Small pieces of text in Markdown and HTML: escapes, character references, attributes, labels."""

from __future__ import annotations

import html
import re

LONGEST_TEXT = 1000
LONGEST_CONTEXT = 120

ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# A value with < in it would let the scans of two tags overlap; such values are written &lt; in practice.
_GIVEN = r"\s++[A-Za-z_:@][\w.:@-]*+(?:\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'|[^\s\"'=<>`]++))?+"
TAG = re.compile(rf"<(/?)([A-Za-z][A-Za-z0-9-]*+)((?:{_GIVEN})*+)\s*+/?>")
_ATTRIBUTE = re.compile(r"(?<![^\s\"'/])([A-Za-z_:][\w.:-]*+)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'=<>`]++))")


def label(text: str) -> str:
    """A reference's label as it is compared."""
    return " ".join(text.split()).casefold()


def unescaped(text: str) -> str:
    """A destination without backslash escapes and entities."""
    return entities(ESCAPED.sub(r"\1", text))


def entities(text: str) -> str:
    """A text with its character references replaced."""
    return ENTITY.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text


def shortened(text: str, longest: int) -> str:
    """A text in one line, cut at a word's end."""
    text = " ".join(text[: 4 * longest].split())
    if len(text) <= longest:
        return text
    return text[:longest].rpartition(" ")[0] or text[:longest]


def attributes(text: str) -> dict[str, str]:
    """The attributes of a tag, names in lower case; the first of a name counts."""
    found: dict[str, str] = {}
    for name, double, single, plain in _ATTRIBUTE.findall(text):
        found.setdefault(name.lower(), entities(double or single or plain))
    return found


def without_tail(url: str) -> str:
    """A bare address without the punctuation that belongs to the sentence."""
    surplus = url.count(")") - url.count("(")
    end = len(url)
    while end:
        if url[end - 1] in "?!.,:;*_~'\"":
            end -= 1
        elif url[end - 1] == ")" and surplus > 0:
            end, surplus = end - 1, surplus - 1
        else:
            break
    return url[:end]
