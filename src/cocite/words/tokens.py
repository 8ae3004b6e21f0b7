"""Text → words, the same for pages and for questions.

A word is a run of letters and digits, in lower case and without accents: `Zürich` is found as `zurich`. No stemming: it
needs the language, and a web has many; a question asks for plurals instead (query.py, docs/decisions/0030).

Scripts that are written without spaces give a word a character; a question's run of them is then asked as a phrase,
which finds it inside longer runs. `C++`, `C#` and the like stay whole, as `cplusplus` and `csharp`. Marks that many do
not write (Hebrew points, Arabic vowels, joiners) or that would cut words in pieces (Indic viramas) are left out.
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
_MARKS = re.compile(
    "["
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew
    "\u0640\u064b-\u0652\u0670\u200c\u200d"  # Arabic; joiners
    "\u093c\u094d\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0b3c\u0b4d\u0bcd\u0c4d\u0cbc\u0ccd\u0d4d\u0dca"  # Indic
    "]"
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


def folded(text: str) -> str:
    """Text in one spelling, scripts without spaces as they are."""
    if "#" in text or "++" in text:
        text = _SIGNED.sub(lambda found: f"{found[1]}{_SPOKEN[found[2]]} ", text)
    if text.isascii():
        return text
    # Lone surrogates, which a command line may hold, cannot be encoded.
    return _MARKS.sub("", unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode()))


def prepared(text: str) -> str:
    """Text such that `analyzer` finds the words in it."""
    text = folded(text)
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


def words_of(text: str) -> list[str]:
    """The words of a text, in order."""
    return analyzer().analyze(prepared(text))
