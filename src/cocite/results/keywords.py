"""Keywords to go on with: those alike to some words, those that pages of these words link to, and those of a page.

Similar keywords are the k with the greatest Σ r_s(w, k) over the given words w, logical ones those with the greatest
Σ r_l(w → k) (Zhao et al., eq. 24 and 25). A page's main keyword has the greatest Σ r_s to its other keywords (eq. 23).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.parameters import Parameter
from cocite.results.ask import check_k
from cocite.web import Web
from cocite.words.keywords import Keywords
from cocite.words.relevance import INFORMATION, SUPPORT, Relevance

MOST_WORDS = 1000
"""Words that can be asked about at once."""
MAIN = 3
"""Keywords of a page that are called its main ones."""


@dataclass(frozen=True)
class Keyword:
    """A keyword that is recommended."""

    word: str
    relevance: float  # to six significant digits
    pages: int  # that have it


@dataclass(frozen=True)
class KeywordsFound:
    """Keywords to go on with from some words, best first."""

    words: list[str]
    similar: list[Keyword]
    logical: list[Keyword]

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


@dataclass(frozen=True)
class PageKeyword(Keyword):
    """A keyword of a page; its relevance is that to the page's other keywords together."""

    count: int  # how often it stands in the page


@dataclass(frozen=True)
class PageKeywords:
    """The keywords of a page, the most frequent first."""

    page: str
    main: list[str]
    keywords: list[PageKeyword]

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def keywords_for(
    web: Web, texts: Sequence[str], k: int = 10, alpha: float = 0.5, beta: float = 0.5, beside: str = SUPPORT
) -> KeywordsFound:
    """Keywords to go on with from some words; raises UnknownWord where one is no keyword of any page."""
    check_k(k)
    for text in texts:
        if not isinstance(text, str):
            raise BadParameter(f"words are given as texts, not {text!r:.100}")
    alpha, beta = (
        Parameter(name=name, help="", type=float, default=0.5, minimum=0, maximum=1).check(share)
        for name, share in (("alpha", alpha), ("beta", beta))
    )
    beside = Parameter(name="beside", help="", default=SUPPORT, choices=(SUPPORT, INFORMATION)).check(beside)
    keywords, relevance = web.keywords, replace(web.relevance, alpha=alpha, beta=beta, beside=beside)
    asked = list(dict.fromkeys(word for text in texts for word in keywords.find(text)))
    if not 0 < len(asked) <= MOST_WORDS:
        raise BadParameter(f"give from 1 to {MOST_WORDS:,} words, not {len(asked):,}")
    similar, logical = (best(keywords, asked, row, k) for row in (relevance.all_similar, relevance.all_led_to))
    return KeywordsFound([keywords.words[word] for word in asked], similar, logical)


def best(keywords: Keywords, asked: list[int], row: Callable[[int], NDArray[np.float64]], k: int) -> list[Keyword]:
    """The k words with the greatest sum of relevance, without those asked about; equal ones by the alphabet."""
    total = np.zeros(len(keywords.words), np.float64)
    for word in asked:
        total += row(word)
    total[asked] = 0.0
    chosen = np.argsort(-total, kind="stable")[:k]
    return [
        Keyword(keywords.words[word], rounded(total[word]), int(keywords.frequency[word]))
        for word in chosen.tolist()
        if total[word] > 0
    ]


def keywords_of_page(web: Web, address: str) -> PageKeywords:
    """The keywords of a page; raises UnknownPage, BadAddress."""
    page, keywords = web.graph.find(address), web.keywords
    ordered = keywords.ordered(page)
    own = [word for word, _ in ordered]
    overall = relevance_to_each_other(web.relevance, own)
    found = [
        PageKeyword(keywords.words[word], rounded(value), int(keywords.frequency[word]), count)
        for (word, count), value in zip(ordered, overall.tolist(), strict=True)
    ]
    main = [found[at].word for at in np.argsort(-overall, kind="stable")[:MAIN].tolist()]
    return PageKeywords(web.graph.address(page), main, found)


def relevance_to_each_other(relevance: Relevance, words: list[int]) -> NDArray[np.float64]:
    """Σ r_s of each word to the others."""
    return np.array([relevance.all_similar(word)[words].sum() - 1.0 for word in words], np.float64)


def rounded(value: float) -> float:
    """To six significant digits, as scores of answers are."""
    return float(f"{value:.5e}")
