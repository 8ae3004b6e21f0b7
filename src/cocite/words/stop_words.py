"""Words that say nothing of what a page is about, by language; and the language of a page by the ones it uses.

The lists are those of the package stopwordsiso, split and folded as words.terms does. A language is told by its stop
words too: function words are what differs most between languages, and a text that has none of a language's stop words
is not in need of that list. On the names of software that make up most link texts, detectors that look at letters see
Latin and Swedish; docs/decisions/0040 has the comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from cocite.words.terms import terms_of

USUAL = "en"
"""The language of a text of which none can be told."""
LEAST = 4
"""Different stop words of a language other than the usual one that a text has to have."""
ALWAYS = frozenset(("http", "https", "www"))
"""Parts of addresses, which many pages use as the text of a link."""
OTHER_SCRIPTS = ("ar", "bg", "bn", "el", "fa", "gu", "he", "hi", "hy", "ja", "ko", "mr", "ru", "th", "uk", "ur", "zh")
"""Languages whose words cannot be taken for English ones: where nothing else is told, their stop words go as well."""
UNSPACED = ("ja", "th", "zh")
"""Those without spaces, of which too few different stop words are found: theirs go always."""


def language_of(words: Iterable[str], noted: str = "") -> str:
    """The language of a text by the different words it has: what was noted with it, if that has stop words at all."""
    if noted in languages():
        return noted
    of_word = languages_of_words()
    found = [of_word[word] for word in words if word in of_word]
    if len(found) < LEAST:
        return USUAL
    met = Counter(language for using in found for language in using)
    if met[USUAL] < max(met.values()) >= LEAST:
        # Of related languages, the one whose stop words are the rarer elsewhere.
        rarity = {language: sum(1 / len(using) for using in found if language in using) for language in met}
        return max(met, key=lambda language: (met[language], rarity[language], language))
    return USUAL


@cache
def languages() -> frozenset[str]:
    """Languages that have stop words."""
    from stopwordsiso import langs

    return frozenset(langs())


@cache
def stop_words(language: str) -> frozenset[str]:
    """What is left out of a text in some language: its stop words, and those that other scripts make sure of."""
    others = OTHER_SCRIPTS if language == USUAL else UNSPACED
    return listed(language).union(ALWAYS, *map(listed, others))


@cache
def listed(language: str) -> frozenset[str]:
    """The stop words of a language as the package has them, folded; of contractions the parts."""
    from stopwordsiso import stopwords

    found: set[str] = set()
    for word in stopwords(language):
        terms = terms_of(word)
        if len(terms) == 1 or "'" in word or "’" in word:
            found.update(terms)
    return frozenset(found)


@cache
def languages_of_words() -> dict[str, tuple[str, ...]]:
    """Every stop word, and the languages in which it is one."""
    found: dict[str, list[str]] = {}
    for language in sorted(languages()):
        for word in listed(language):
            found.setdefault(word, []).append(language)
    return {word: tuple(using) for word, using in found.items()}
