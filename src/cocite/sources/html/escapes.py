"""Terminal escape sequences in strangers' texts: taken out whole.

Without its escape character, `ESC [31m` would leave `[31m` in a title, and with it a title could colour, overwrite or
retitle the terminal that shows it.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

# For Python's and for Arrow's (RE2) expressions. No part can run past the next escape character: reading stays linear.
_SEQUENCE = (
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # control sequences: colours, movements
    "|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)"  # strings: window titles, hyperlinks
    "|\x1b[()*+][0-9A-Za-z]"  # character sets
    "|[\x1b\x9b]"  # what is not closed, and what would else begin another sequence when one behind it is gone
)
_PYTHON = re.compile(_SEQUENCE)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def plain(text: str) -> str:
    """A text in one line without escape sequences, other control characters made spaces."""
    if text.isprintable():
        return text
    if "\x1b" in text or "\x9b" in text:
        text = " ".join(_PYTHON.sub("", text).split())
    return _CONTROLS.sub(" ", text).strip()


def without_escapes(texts: pa.Array) -> pa.Array:
    """A column of texts without escape sequences; the search for the first of them is all that most columns cost."""
    if texts.null_count == len(texts):
        return texts
    found = pc.or_(pc.match_substring(texts, "\x1b"), pc.match_substring(texts, "\x9b"))
    return pc.replace_substring_regex(texts, _SEQUENCE, "") if pc.any(found).as_py() else texts
