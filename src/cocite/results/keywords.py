"""Keyword recommendation: similar keywords, keywords that links lead to, and the keywords of a page.

Similar keywords maximise Σ r_s(w, k) over the given words w; logically related ones maximise Σ r_l(w → k) (Zhao et al.
2016, eq. 24 and 25). The main keywords of a page maximise Σ r_s to its other keywords (eq. 23).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.parameters import Parameter
from cocite.related.neighbourhood.scores import rounded
from cocite.results.ask import check_k
from cocite.web import Web
from cocite.words.keywords import KeywordIndex
from cocite.words.relevance import INFORMATION, SUPPORT

MAX_WORDS = 1000
MAIN_KEYWORDS = 3


@dataclass(frozen=True)
class Keyword:
    """A recommended keyword."""

    word: str
    relevance: float  # to six significant digits
    pages: int  # pages that have it


@dataclass(frozen=True)
class KeywordsFound:
    """Keywords recommended for some words, best first."""

    words: list[str]
    similar: list[Keyword]
    logical: list[Keyword]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class PageKeyword(Keyword):
    """A keyword of a page; its relevance is the sum over the page's other keywords."""

    count: int  # occurrences in the page


@dataclass(frozen=True)
class PageKeywords:
    """The keywords of a page, most frequent first."""

    page: str
    main: list[str]
    keywords: list[PageKeyword]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def keywords_for(
    web: Web, texts: Sequence[str], k: int = 10, alpha: float = 0.5, beta: float = 0.5, beside: str = SUPPORT
) -> KeywordsFound:
    """Recommend keywords; raises UnknownWord for a word that is not a keyword of any page."""
    check_k(k)
    for text in texts:
        if not isinstance(text, str):
            raise BadParameter(f"words must be texts, not {text!r:.100}")
    alpha, beta = (
        Parameter(name=name, help="", type=float, default=0.5, minimum=0, maximum=1).check(share)
        for name, share in (("alpha", alpha), ("beta", beta))
    )
    beside = Parameter(name="beside", help="", default=SUPPORT, choices=(SUPPORT, INFORMATION)).check(beside)
    keywords, relevance = web.keywords, replace(web.relevance, alpha=alpha, beta=beta, beside=beside)
    asked = list(dict.fromkeys(word for text in texts for word in keywords.find(text)))
    if not 0 < len(asked) <= MAX_WORDS:
        raise BadParameter(f"give from 1 to {MAX_WORDS:,} words, not {len(asked):,}")
    similar, logical = (_best(keywords, asked, row, k) for row in (relevance.all_similar, relevance.all_led_to))
    return KeywordsFound([keywords.words[word] for word in asked], similar, logical)


def _best(keywords: KeywordIndex, asked: list[int], row: Callable[[int], NDArray[np.float64]], k: int) -> list[Keyword]:
    """The k keywords with the highest sum of relevance, without the given ones; equal ones by alphabet."""
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
    overall = np.array([web.relevance.all_similar(word)[own].sum() - 1.0 for word in own], np.float64)
    found = [
        PageKeyword(keywords.words[word], rounded(value), int(keywords.frequency[word]), count)
        for (word, count), value in zip(ordered, overall.tolist(), strict=True)
    ]
    main = [found[at].word for at in np.argsort(-overall, kind="stable")[:MAIN_KEYWORDS].tolist()]
    return PageKeywords(web.graph.address(page), main, found)
