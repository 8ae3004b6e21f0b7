"""Text → words that can be keywords.

Words as words.tokens has them, without numbers and single letters. Scripts written without spaces are another matter:
a character is too little for a keyword, and a whole run of them is a sentence. So Han characters, and the syllables of
Thai, Lao, Burmese and Khmer, are taken two by two, each with the next (`数据库` → `数据`, `据库`), which is what words
in them mostly are; katakana, which writes names and loan words, stays whole; hiragana, which writes endings and
particles, is left out, and so are a few particles of Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from cocite.words.tokens import analyzer, folded

_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_PARTICLES = "的吗呢吧们这那很与及或也"
_SYLLABIC = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_RUN = re.compile(f"([{_HAN}]+)|([\u3041-\u309f]+)|([\u30a0-\u30ff]+)|([{_SYLLABIC}]+)")
_SPLIT = re.compile(f"[{_PARTICLES}]+")
_TONES = re.compile("[\u0e3a\u0e47-\u0e4c\u0e4e\u0eba\u0ec8-\u0ecc\u1037\u1039\u103a\u17c9-\u17d3\u17dd]")
# A consonant with the vowels before, above, below and after it.
_SYLLABLE = re.compile(
    "[\u0e40-\u0e44\u0ec0-\u0ec4]?[\u0e01-\u0eae\u1000-\u102a\u103f-\u109f\u1780-\u17b3]"
    "[\u0e30-\u0e39\u0e45\u0e4d\u0eb0-\u0ebc\u0ecd\u102b-\u103e\u17b4-\u17c8]*"
)


def terms_of(text: str) -> list[str]:
    """The words of a text that can be keywords, in order."""
    text = folded(text)
    if not text.isascii():
        text = _RUN.sub(lambda found: f" {' '.join(pieces_of_run(found))} ", text)
    return [word for word in analyzer().analyze(text) if (len(word) > 1 or word > "\u2e80") and not word.isdigit()]


def pieces_of_run(found: re.Match[str]) -> Iterator[str]:
    """The words of a run of characters without spaces."""
    han, _, katakana, syllabic = found.groups()
    if han:
        for part in _SPLIT.split(han):
            yield from in_pairs(list(part))
    elif katakana:
        yield katakana
    elif syllabic:
        yield from in_pairs(_SYLLABLE.findall(_TONES.sub("", syllabic)))


def in_pairs(parts: list[str]) -> list[str]:
    """Each part with the next; a part alone as it is."""
    return [a + b for a, b in pairwise(parts)] if len(parts) > 1 else parts
