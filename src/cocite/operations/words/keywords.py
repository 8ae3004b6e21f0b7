"""Find keywords related to some words, or the keywords of a page.

Similar keywords maximise Σ r_s(w, k) over the given words w; logically related ones maximise Σ r_l(w → k) (Zhao et al.
2016, eq. 24 and 25). The relevance of a page's keyword is Σ r_s to its other keywords (eq. 23). The main ones are those
of highest tf-idf instead: eq. 23 prefers words that are frequent everywhere (docs/decisions/0040-keywords.md).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import log
from typing import Any

from cocite.errors import BadParameter
from cocite.operations import shared
from cocite.operations.declare import Operation, Web, operation
from cocite.parameters import parameter
from cocite.results.answer import Result
from cocite.text import rounded

MAX_WORDS = 1000
KEYWORDS_PER_PAGE = 20
MAIN_KEYWORDS = 3
MAX_WORDS_OF_PAGES = 30
"""Words of a reading history that others are related to, the heaviest."""


@dataclass(frozen=True)
class Keyword(Result):
    """A recommended keyword."""

    word: str
    relevance: float  # to six significant digits
    pages: int  # pages that have it


@dataclass(frozen=True)
class KeywordsFound(Result):
    """Keywords recommended for some words, best first."""

    words: list[str]
    similar: list[Keyword]
    logical: list[Keyword]


@dataclass(frozen=True)
class PageKeyword(Keyword):
    """A keyword of a page; its relevance is the sum over the page's other keywords."""

    count: int  # occurrences in the page


@dataclass(frozen=True)
class KeywordsOfPage(Result):
    """The keywords of a page, most frequent first."""

    page: str
    main: list[str]
    keywords: list[PageKeyword]
    note: str = ""


@dataclass(frozen=True)
class KeywordsBuilt(Result):
    """The keywords of a store, computed again."""

    store: str
    keywords: int
    pages: int
    per_page: int


@operation(name="keywords", route="/api/keywords", tool="keywords", slow=True)
class FindKeywords(Operation):
    """Find keywords related to some words, or the keywords of a page.

    Similar keywords occur on the same pages as the words. Logically related ones occur on pages that these pages link
    to. The keywords of a page are its most frequent words without stop words; if the page wasn't fetched, those of
    links to it. Its main keywords are frequent there, and rare elsewhere (tf-idf).

    Keywords and their relevance are computed when they are first needed, and kept with the store.

    Command line: For a word that isn't a keyword of any page, the nearest known keywords are shown, and the exit
    code is 3.

    Examples:
        cocite keywords password manager
        cocite keywords --page nodejs.org
        cocite keywords --make --per-page 30 -i web.cocite
    """

    words: tuple[str, ...] = parameter(
        (), "A keyword; may be repeated", metavar="WORDS", positional=True, example=["password"],
        on={
            "http": {"name": "q", "max_items": 50, **shared.TEXT["http"]},
            "mcp": {"max_items": 20, **shared.TEXT["mcp"]},
        },
    )  # fmt: skip
    page: str = parameter(
        "", "Find the keywords of this page instead", metavar="URL", surfaces=("cli", "http", "mcp"),
        on=shared.on_surfaces(shared.ADDRESS, http="url", mcp="url"),
    )  # fmt: skip
    k: int = shared.k(help="Maximum number of keywords of each kind")
    alpha: float = parameter(
        0.5, "Similar keywords: weight of support; the rest is mutual information", metavar="SHARE", minimum=0,
        maximum=1, surfaces=("cli", "http", "python"),
    )  # fmt: skip
    beta: float = parameter(
        0.5, "Logically related keywords: weight of support; the rest is confidence over links", metavar="SHARE",
        minimum=0, maximum=1, surfaces=("cli", "http", "python"),
    )  # fmt: skip
    beside: str = parameter(
        "support", "Logically related keywords: combine confidence with support or with (mutual) information",
        metavar="support|information", choices=("support", "information"), surfaces=("cli", "python"),
    )  # fmt: skip
    least_pages: int = parameter(
        5, "Logically related keywords: pages with a given word that confidence needs", metavar="N", minimum=1,
        surfaces=("cli", "http", "python"), on={"http": {"maximum": 100}},
    )  # fmt: skip
    make: bool = shared.command_option(False, "Compute keywords and relevance again")
    per_page: int = shared.command_option(KEYWORDS_PER_PAGE, "With --make: number of keywords of each page")
    quiet: bool = shared.quiet()

    def validate(self) -> None:
        if self.per_page != KEYWORDS_PER_PAGE and not self.make:
            raise BadParameter("--per-page needs --make")
        if self.make and not self.words and not self.page:
            return
        if bool(self.words) == bool(self.page):
            both, none = "Give either words or a page, not both", "Nothing to ask about: give words, or a page"
            raise BadParameter(both if self.page else none)

    def prepare(self, web: Web) -> None:
        """Compute keywords and relevance if there are none that fit, or if asked to."""
        from cocite.words.keywords import KEYWORDS
        from cocite.words.relevance import RELEVANCE

        graph, progress = web.graph, web.progress
        if self.make:
            web.keywords = KEYWORDS.build(graph, per_page=self.per_page, progress=progress)
        else:
            web.keywords = KEYWORDS.ready(graph, progress=progress)
        web.relevance = (RELEVANCE.build if self.make else RELEVANCE.ready)(graph, web.keywords, progress=progress)

    def run(self, web: Web) -> KeywordsFound | KeywordsOfPage | KeywordsBuilt:
        """Related keywords, or those of the page. Raises UnknownWord for a word that is not a keyword of any page."""
        if self.page:
            return keywords_of_page(web, self.page)
        keywords = web.keywords
        if not self.words:
            return KeywordsBuilt(str(web.graph.path), len(keywords.words), web.relevance.pages, self.per_page)
        counted = web.relevance.with_least_pages(self.least_pages)
        relevance = replace(counted, alpha=self.alpha, beta=self.beta, beside=self.beside)
        asked = list(dict.fromkeys(word for text in self.words for word in keywords.find(text)))
        if not 0 < len(asked) <= MAX_WORDS:
            raise BadParameter(f"give from 1 to {MAX_WORDS:,} words, not {len(asked):,}")
        weights = dict.fromkeys(asked, 1.0)
        similar, logical = (_best(web, weights, row, self.k) for row in (relevance.all_similar, relevance.all_led_to))
        return KeywordsFound([keywords.words[word] for word in asked], similar, logical)

    def why_empty(self, web: Web, result: Any) -> str:
        if self.page:
            return "" if result.keywords else f"No words are known for {result.page[:200]}, so it has no keywords"
        if not self.words or result.similar or result.logical:
            return ""
        return f"No other keyword is related to {' '.join(result.words)[:200]}; try others"


def keywords_for(web: Web, pages: Mapping[int, float], k: int) -> KeywordsFound | None:
    """Keywords for somebody who has read pages with these weights; None if they have no keywords.

    The given words are the main keywords of the pages. A word counts as much as the pages whose main keyword it is.
    """
    keywords, weights = web.keywords, dict[int, float]()
    for page, weight in pages.items():
        counted = keywords.ordered(page)
        best = sorted(counted, key=lambda each: -each[1] * log(web.relevance.pages / int(keywords.frequency[each[0]])))
        for word, _ in best[:MAIN_KEYWORDS]:
            weights[word] = weights.get(word, 0.0) + weight / sum(pages.values())
    asked = {word: weights[word] for word in sorted(weights, key=lambda word: -weights[word])[:MAX_WORDS_OF_PAGES]}
    if not asked:
        return None
    similar, logical = (_best(web, asked, row, k) for row in (web.relevance.all_similar, web.relevance.all_led_to))
    return KeywordsFound([keywords.words[word] for word in asked], similar, logical)


def _best(web: Web, asked: Mapping[int, float], row: Callable[[int], Any], k: int) -> list[Keyword]:
    """The k keywords with the highest sum of weighted relevance, without the given ones; equal ones by alphabet."""
    total, keywords = sum(weight * row(word) for word, weight in asked.items()), web.keywords
    total[list(asked)] = 0.0
    return [
        Keyword(keywords.words[word], rounded(total[word]), int(keywords.frequency[word]))
        for word in (-total).argsort(kind="stable")[:k].tolist()
        if total[word] > 0
    ]


def keywords_of_page(web: Web, address: str) -> KeywordsOfPage:
    """The keywords of a page; raises UnknownPage, BadAddress."""
    from cocite.results.known import find_page

    (page, note), keywords = find_page(web.graph, address), web.keywords
    ordered = keywords.ordered(page)
    own = [word for word, _ in ordered]
    overall = [float(web.relevance.all_similar(word)[own].sum() - 1.0) for word in own]
    found = [
        PageKeyword(keywords.words[word], rounded(value), int(keywords.frequency[word]), count)
        for (word, count), value in zip(ordered, overall, strict=True)
    ]
    best = sorted(found, key=lambda each: -each.count * log(web.relevance.pages / each.pages))  # equal ones in order
    return KeywordsOfPage(web.graph.address(page), [each.word for each in best[:MAIN_KEYWORDS]], found, note)
