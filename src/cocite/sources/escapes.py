"""Remove terminal escape sequences and control characters from the texts of strangers."""

import re

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


def plain(text: str) -> str:
    """Return a text without escape sequences, other control characters replaced by spaces."""
    if text.isprintable():
        return text
    if "\x1b" in text or "\x9b" in text:
        text = " ".join(_ESCAPE.sub("", text).split())
    return _CONTROLS.sub(" ", text).strip()
