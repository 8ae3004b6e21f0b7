"""Find related pages for a page that is not in the store, from its own record.

The first of these that applies is used:

1. The store has its address after all.
2. It links to known pages: what is related to all of them, as for a reading history, weighted by link. Links within
   its own site, and boilerplate, count only if there are no others.
3. Its words: pages with its most characteristic words.
4. A shorter address of its site.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocite.errors import BadAddress, BadStore
from cocite.operations.declare import Graph, Web
from cocite.results.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from cocite.related.evidence import Evidence
    from cocite.related.methods import Method
    from cocite.related.neighbourhood.view import Pages
    from cocite.results.answer import Answers
    from cocite.sources.records import Page

MAX_LINKED_PAGES = 50  # linked pages used, in order: each costs a query
MAX_LINKS = 2000  # links of a record that are looked up
MAX_SEARCH_RESULTS = 1000
MAX_TEXT_CHARS = 50_000


@dataclass(frozen=True)
class NoParams:
    """A search by words has no parameters."""


def ask_unseen(
    web: Web, record: Page, method: Method, k: int = 10, filters: Filters = NO_FILTERS, explained: bool = True
) -> Answers:
    """The pages most related to the page of a record.

    Raises BadAddress if its address is invalid, and UnknownPage if none of the four ways applies.
    """
    from cocite.results.ask import Question, ask
    from cocite.results.history import History
    from cocite.results.known import known_shorter

    graph, texts = web.graph, (record.url,)
    known = graph.get(record.url)
    if known is not None:
        asked = Question(texts, (known,))
    elif linked := linked_pages(graph, record):
        asked = Question(texts, tuple(linked), history=History(tuple(linked), tuple(linked.values()), texts))
    elif (by_words := _by_words(web, record)) is not None:
        asked, method = Question(texts, ()), by_words
    else:
        shorter = next(known_shorter(graph, record.url), None)
        asked = Question(texts, (graph.find(record.url) if shorter is None else shorter,))
    return ask(web, asked, method, k, filters, explained)


def linked_pages(graph: Graph, record: Page) -> dict[int, float]:
    """Known pages that a record links to, with link weights. Links in its main part to other sites go first."""
    from cocite.pages.address import parse_query
    from cocite.pages.site import Sites

    sites = Sites()
    own = sites.site(parse_query(record.url).canonical)
    main: dict[int, float] = {}
    others: dict[int, float] = {}
    for link in record.links[:MAX_LINKS]:
        page = None
        with suppress(BadAddress):
            page = graph.get(link.url) if "://" in link.url else None
        if page is None:
            continue
        chosen = others if link.boilerplate or sites.site(graph.canonical(page)) == own else main
        if page in chosen or len(chosen) < MAX_LINKED_PAGES:
            chosen[page] = max(link.weight, chosen.get(page, 0.0))
    return main or others


def _by_words(web: Web, record: Page) -> Method | None:
    """A method that finds pages by the words of a record; None without a search index or characteristic words."""
    import numpy as np

    from cocite.related.evidence import SimilarText
    from cocite.related.methods import Method
    from cocite.related.neighbourhood.scores import Scores
    from cocite.related.neighbourhood.view import NO_PAGES
    from cocite.words.tfidf import page_words, shared_words, strongest_words
    from cocite.words.tokens import words_of

    texts = [record.title, *record.headings, *(link.text for link in record.links[:MAX_LINKS]), record.text]
    counts = Counter(words_of("\n".join(texts)[:MAX_TEXT_CHARS]))
    try:
        words = strongest_words(web.search, counts) if counts else {}
        hits = web.search.like(words, MAX_SEARCH_RESULTS) if words else []
    except BadStore:
        return None

    def evidence(pages: Pages) -> list[list[Evidence]]:
        own = (page_words(web.graph, page) for page in pages.tolist())
        shared = (shared_words(words, known) for known in own)
        return [[SimilarText(terms=terms, shared=len(terms), of=len(words), share=1.0)] for terms in shared]

    pages, values = np.array([page for page, _ in hits], np.uint32), np.array([score for _, score in hits])
    scores = Scores(pages, values, (), NO_PAGES, evidence=evidence)
    return Method("words", NoParams(), lambda *_: scores) if hits else None
