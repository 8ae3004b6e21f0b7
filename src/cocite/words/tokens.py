"""Text → words, the same for pages and for queries; the words that can be keywords; stop words by language.

A word is a run of letters and digits, in lower case and without accents: `Zürich` is found as `zurich`. There is no
stemming: it needs the language, and a web has many. A query adds plurals instead (`forms`, docs/decisions/0030).

In scripts written without spaces every character is a word; a query turns a run of them into a phrase, which also
matches inside longer runs. `C++`, `C#` and the like stay whole, as `cplusplus` and `csharp`. Marks that many writers
omit (Hebrew points, Arabic vowels, joiners) or that would split words (Indic viramas) are removed.

Keywords (`terms_of`) have no numbers and no single letters. Han characters, and the syllables of Thai, Lao, Burmese and
Khmer, are taken in pairs (`数据库` → `数据`, `据库`): one alone is too short for a keyword, a whole run is a sentence.
Katakana, which writes names and loan words, stays whole. Hiragana, which writes endings and particles, and a few
particles of Chinese are skipped.

Stop words are those of the package stopwordsiso, split and normalised like keywords. They also identify the language:
function words differ most between languages, and a text without a language's stop words doesn't need its list.
Detectors that look at letters see Latin and Swedish in the names of software, which are most anchor texts
(docs/decisions/0040).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

MAX_WORD_BYTES = 80  # longer words are data
MIN_PLURAL_LETTERS = 3  # shorter words have no other form
DEFAULT_LANGUAGE = "en"
MIN_STOP_WORDS = 4  # different stop words that a text must have to be in a language other than the default
ADDRESS_PARTS = frozenset(("http", "https", "www"))  # always stop words: many anchor texts are addresses
OTHER_SCRIPTS = ("ar", "bg", "bn", "el", "fa", "gu", "he", "hi", "hy", "ja", "ko", "mr", "ru", "th", "uk", "ur", "zh")
"""Languages whose words can't be English; their stop words are also removed from texts in the default language."""
UNSPACED_LANGUAGES = ("ja", "th", "zh")  # without spaces few stop words are found: theirs are always removed

Clause = tuple[str, ...]  # a word, or the words of a phrase

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
_MARKED_OR_UNSPACED = re.compile("[\u0591-\u1fff\u200c\u200d\u3005-\U0003fffd]")
"""Everything that the patterns above and below change. Most texts have none of it: finding that out takes a tenth."""
# The sign first, as few texts have many; then the one letter before it.
_SIGNED = re.compile("|".join(f"{sign}(?<=[A-Za-z]{sign})(?<![^\\W_][A-Za-z]{sign})" for sign in ("#", r"\+\+")))
_SPOKEN = {"++": "plusplus ", "#": "sharp "}

_ASCII_WORDS = bytes(ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(128)
"""ASCII as `analyzer` reads it: letters and digits in lower case, spaces between words."""

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


@cache
def analyzer() -> TextAnalyzer:
    """tantivy's tokenizer, which an index also calls itself."""
    builder = TextAnalyzerBuilder(Tokenizer.simple())
    for each in (Filter.remove_long(MAX_WORD_BYTES), Filter.ascii_fold(), Filter.lowercase()):
        builder = builder.filter(each)
    return builder.build()


def fold(text: str) -> tuple[str, bool]:
    """Normalise spelling; also return whether the text may have scripts without spaces, which stay as they are."""
    if "#" in text or "++" in text:
        text = _SIGNED.sub(lambda found: _SPOKEN[found[0]], text)
    if text.isascii():
        return text, False
    # Lone surrogates, which a command line may hold, cannot be encoded.
    text = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode())
    return (_MARKS.sub("", text), True) if _MARKED_OR_UNSPACED.search(text) else (text, False)


def prepare(text: str) -> str:
    """Normalise text and put spaces where `analyzer` needs them to find words."""
    text, unspaced = fold(text)
    return _UNSPACED.sub(r" \1 ", text) if unspaced else text


def words_of(text: str) -> list[str]:
    """The words of a text, in order."""
    return analyzer().analyze(prepare(text))


def terms_of(text: str) -> list[str]:
    """The words of a text that can be keywords, in order."""
    text, unspaced = fold(text)
    if text.isascii():  # a third of the time of `analyzer`
        words = text.encode().translate(_ASCII_WORDS).decode().split()
        return [word for word in words if 1 < len(word) < MAX_WORD_BYTES and not word.isdigit()]
    if unspaced:
        text = _RUN.sub(lambda found: f" {' '.join(pieces_of_run(found))} ", text)
    return [word for word in analyzer().analyze(text) if (len(word) > 1 or word > "\u2e80") and not word.isdigit()]


def different_terms(text: str) -> set[str]:
    """The words of `terms_of`, each once: sooner, as few are looked at."""
    folded, _ = fold(text)
    if not folded.isascii():
        return set(terms_of(text))
    words = set(folded.encode().translate(_ASCII_WORDS).decode().split())
    return {word for word in words if 1 < len(word) < MAX_WORD_BYTES and not word.isdigit()}


def pieces_of_run(found: re.Match[str]) -> Iterator[str]:
    """Split a run of characters without spaces into words."""
    han, _, katakana, syllabic = found.groups()
    if han:
        for part in _SPLIT.split(han):
            yield from in_pairs(list(part))
    elif katakana:
        yield katakana
    elif syllabic:
        yield from in_pairs(_SYLLABLE.findall(_TONES.sub("", syllabic)))


def in_pairs(parts: list[str]) -> list[str]:
    """Join each part with the next; a single part stays as it is."""
    return [a + b for a, b in pairwise(parts)] if len(parts) > 1 else parts


def forms(clause: Clause) -> list[Clause]:
    """A word and its form with or without a plural s; a phrase has one form."""
    (word, *more) = clause
    if more or len(word) < MIN_PLURAL_LETTERS or not word.isascii() or not word.isalpha() or word.endswith("ss"):
        return [clause]
    return [clause, (word.removesuffix("s") if word.endswith("s") else word + "s",)]


def language_of(words: Iterable[str], declared: str = "") -> str:
    """The language of a text from its different words; a declared language wins if it has stop words."""
    if declared in languages():
        return declared
    found = [using for using in map(languages_of_words().get, words) if using]
    if len(found) < MIN_STOP_WORDS:  # most texts, such as those of links, are too short
        return DEFAULT_LANGUAGE
    matches = Counter(language for using in found for language in using)
    highest = max(matches.values(), default=0)
    if highest < MIN_STOP_WORDS or highest == matches[DEFAULT_LANGUAGE]:
        return DEFAULT_LANGUAGE
    # Among related languages, prefer the one whose stop words are rarer elsewhere.
    rarity = {language: sum(1 / len(using) for using in found if language in using) for language in matches}
    return max(matches, key=lambda language: (matches[language], rarity[language], language))


@cache
def languages() -> frozenset[str]:
    """Languages that have stop words."""
    from stopwordsiso import langs

    return frozenset(langs())


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words to remove from a text in a language."""
    others = OTHER_SCRIPTS if language == DEFAULT_LANGUAGE else UNSPACED_LANGUAGES
    return listed(language).union(ADDRESS_PARTS, *map(listed, others))


@cache
def listed(language: str) -> frozenset[str]:
    """The package's stop words of a language, normalised; contractions are split."""
    from stopwordsiso import stopwords

    split = [(word, terms_of(word)) for word in stopwords(language)]
    return frozenset(term for word, terms in split if len(terms) == 1 or "'" in word or "’" in word for term in terms)


@cache
def languages_of_words() -> dict[str, list[str]]:
    """Every stop word with the languages that use it."""
    found: dict[str, list[str]] = {}
    for language in sorted(languages()):
        for word in listed(language):
            found.setdefault(word, []).append(language)
    return found
