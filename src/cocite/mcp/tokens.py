"""How long a text is for a model, by a simple rule: the tokenizers of models differ.

A token is up to four Latin letters or digits in a row, or one other character that isn't white space. Four characters
are the usual estimate for English; addresses, punctuation and other scripts take more tokens.
"""

import re

_TOKEN = re.compile(r"[A-Za-z0-9]{1,4}|[^A-Za-z0-9\s]")


def tokens(text: str) -> int:
    """The number of tokens of a text."""
    return len(_TOKEN.findall(text))
