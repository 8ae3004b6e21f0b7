"""Text → words, the same for pages and for questions.

A word is a run of letters and digits, in lower case and without accents: `Zürich` is found as `zurich`. No stemming: it
needs the language, and a web has many; a question asks for plurals instead (query.py, docs/decisions/0030).

Scripts that are written without spaces give a word a character; a question's run of them is then asked as a phrase,
which finds it inside longer runs. `C++`, `C#` and the like stay whole, as `cplusplus` and `csharp`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

LONGEST_WORD = 80
"""Bytes; longer ones are data, not words."""

_UNSPACED = re.compile(
    "(["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana, Han
    "\U00020000-\U0003fffd"
    "])"
)
_SIGNED = re.compile(r"(?<![^\W_])([A-Za-z])(\+\+|#)")
_SPOKEN = {"++": "plusplus", "#": "sharp"}


@cache
def analyzer() -> TextAnalyzer:
    """tantivy's part of the work: it is compiled, and an index calls it by itself."""
    builder = TextAnalyzerBuilder(Tokenizer.simple())
    for each in (Filter.remove_long(LONGEST_WORD), Filter.ascii_fold(), Filter.lowercase()):
        builder = builder.filter(each)
    return builder.build()


def prepared(text: str) -> str:
    """Text such that `analyzer` finds the words in it."""
    if "#" in text or "++" in text:
        text = _SIGNED.sub(lambda found: f"{found[1]}{_SPOKEN[found[2]]} ", text)
    if text.isascii():
        return text
    # Lone surrogates, which a command line may hold, cannot be encoded.
    text = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode())
    return _UNSPACED.sub(r" \1 ", text)


def words_of(text: str) -> list[str]:
    """The words of a text, in order."""
    return analyzer().analyze(prepared(text))
