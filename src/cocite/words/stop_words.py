"""Stop words by language, and the language of a text by the stop words it uses.

The lists are those of the package stopwordsiso, split and normalised like keywords. Stop words also identify the
language: function words differ most between languages, and a text without a language's stop words doesn't need its
list. Detectors that look at letters see Latin and Swedish in the names of software, which are most anchor texts;
docs/decisions/0040 has the comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from cocite.words.tokens import terms_of

DEFAULT_LANGUAGE = "en"
MIN_STOP_WORDS = 4
"""Different stop words that a text must have to be in a language other than the default."""
ALWAYS = frozenset(("http", "https", "www"))
"""Parts of addresses, which many pages use as anchor text."""
OTHER_SCRIPTS = ("ar", "bg", "bn", "el", "fa", "gu", "he", "hi", "hy", "ja", "ko", "mr", "ru", "th", "uk", "ur", "zh")
"""Languages whose words can't be English; their stop words are also removed from texts in the default language."""
UNSPACED = ("ja", "th", "zh")
"""Languages without spaces, where few different stop words are found; theirs are always removed."""


def language_of(words: Iterable[str], declared: str = "") -> str:
    """The language of a text from its different words; a declared language wins if it has stop words."""
    if declared in languages():
        return declared
    of_word = languages_of_words()
    found = [of_word[word] for word in words if word in of_word]
    if len(found) < MIN_STOP_WORDS:
        return DEFAULT_LANGUAGE
    matches = Counter(language for using in found for language in using)
    if matches[DEFAULT_LANGUAGE] < max(matches.values()) >= MIN_STOP_WORDS:
        # Among related languages, prefer the one whose stop words are rarer elsewhere.
        rarity = {language: sum(1 / len(using) for using in found if language in using) for language in matches}
        return max(matches, key=lambda language: (matches[language], rarity[language], language))
    return DEFAULT_LANGUAGE


@cache
def languages() -> frozenset[str]:
    """Languages that have stop words."""
    from stopwordsiso import langs

    return frozenset(langs())


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words to remove from a text in a language."""
    others = OTHER_SCRIPTS if language == DEFAULT_LANGUAGE else UNSPACED
    return listed(language).union(ALWAYS, *map(listed, others))


@cache
def listed(language: str) -> frozenset[str]:
    """The package's stop words of a language, normalised; contractions are split."""
    from stopwordsiso import stopwords

    split = [(word, terms_of(word)) for word in stopwords(language)]
    return frozenset(term for word, terms in split if len(terms) == 1 or "'" in word or "’" in word for term in terms)


@cache
def languages_of_words() -> dict[str, tuple[str, ...]]:
    """Every stop word with the languages that use it."""
    found: dict[str, list[str]] = {}
    for language in sorted(languages()):
        for word in listed(language):
            found.setdefault(word, []).append(language)
    return {word: tuple(using) for word, using in found.items()}
