"""Remove terminal escape sequences from texts of the web.

A title with `ESC [31m` could colour or overwrite the terminal that shows it. Without the escape character alone, `[31m`
would remain.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

# For Python and for Arrow (RE2). No part can go beyond the next escape character, so time is linear.
_SEQUENCE = (
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # control sequences: colours, movements
    "|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)"  # strings: window titles, hyperlinks
    "|\x1b[()*+][0-9A-Za-z]"  # character sets
    "|[\x1b\x9b]"  # unclosed sequences
)
_PYTHON = re.compile(_SEQUENCE)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def plain(text: str) -> str:
    """Return a text without escape sequences, other control characters replaced by spaces."""
    if text.isprintable():
        return text
    if "\x1b" in text or "\x9b" in text:
        text = " ".join(_PYTHON.sub("", text).split())
    return _CONTROLS.sub(" ", text).strip()


def without_escapes(texts: pa.Array) -> pa.Array:
    """Remove escape sequences from a column of texts. Return the same object if there are none."""
    if texts.null_count == len(texts):
        return texts
    found = pc.or_(pc.match_substring(texts, "\x1b"), pc.match_substring(texts, "\x9b"))
    return pc.replace_substring_regex(texts, _SEQUENCE, "") if pc.any(found).as_py() else texts
