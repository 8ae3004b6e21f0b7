"""Related pages for a page that is not in the store, from its own record.

The first of these that applies is used:

1. The store has its address after all.
2. It links to known pages: what is related to all of them, as for a reading history, weighted by link. Links within
   its own site, and boilerplate, count only if there are no others.
3. Its words: pages with its most characteristic words.
4. A shorter address of its site.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cocite.errors import BadAddress, BadStore
from cocite.graph.store import Graph
from cocite.pages.address import parse_query
from cocite.pages.site import Sites
from cocite.related.evidence import Evidence, SimilarText
from cocite.related.methods import Method
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import NO_PAGES, Pages
from cocite.results.answer import Answers
from cocite.results.ask import Question, ask
from cocite.results.filters import NO_FILTERS, Filters
from cocite.results.history import History
from cocite.sources.records import Page
from cocite.web import Web
from cocite.words.tfidf import page_words, strongest_words
from cocite.words.tokens import words_of

MAX_LINKED_PAGES = 50
"""Linked pages used, in order: each costs a query."""
MAX_LINKS = 2000
"""Links of a record that are looked up."""
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
    graph, texts = web.graph, (record.url,)
    canonical = parse_query(record.url).canonical
    known = graph.get(record.url)
    if known is not None:
        return ask(web, Question(texts, (known,)), method, k, filters, explained)
    linked = linked_pages(graph, record, canonical)
    if linked:
        history = History(tuple(linked), tuple(linked.values()), texts)
        return ask(web, Question(texts, tuple(linked), history=history), method, k, filters, explained)
    if (by_words := _by_words(web, record)) is not None:
        return ask(web, Question(texts, ()), by_words, k, filters, explained)
    for page in _shorter(graph, canonical):
        return ask(web, Question(texts, (page,)), method, k, filters, explained)
    graph.find(record.url)  # raises UnknownPage with suggestions
    raise AssertionError(record.url)


def linked_pages(graph: Graph, record: Page, canonical: str) -> dict[int, float]:
    """The known pages to which a record links, with link weights: links in its main part to other sites if any."""
    sites = Sites()
    own = sites.site(canonical)
    main: dict[int, float] = {}
    others: dict[int, float] = {}
    for link in record.links[:MAX_LINKS]:
        try:
            page = graph.get(link.url) if "://" in link.url else None
        except BadAddress:
            page = None
        if page is None:
            continue
        chosen = others if link.boilerplate or sites.site(graph.canonical(page)) == own else main
        if page in chosen or len(chosen) < MAX_LINKED_PAGES:
            chosen[page] = max(link.weight, chosen.get(page, 0.0))
    return main or others


def _by_words(web: Web, record: Page) -> Method | None:
    """A method that finds pages by the words of a record; None without a search index or characteristic words."""
    texts = [record.title, *record.headings, *(link.text for link in record.links[:MAX_LINKS]), record.text]
    counts = Counter(words_of("\n".join(texts)[:MAX_TEXT_CHARS]))
    try:
        search = web.search
    except BadStore:
        return None
    words = strongest_words(search, counts) if counts else {}
    hits = search.like(words, MAX_SEARCH_RESULTS) if words else []
    if not hits:
        return None

    def evidence(pages: Pages) -> list[list[Evidence]]:
        return [[shared(page_words(web.graph, page))] for page in pages.tolist()]

    def shared(own: Container[str]) -> Evidence:
        terms = tuple(word for word in words if word in own)
        return SimilarText(terms=terms, shared=len(terms), of=len(words), share=1.0)

    def relate(_: Web, __: Sequence[int], ___: NoParams) -> Scores:
        pages, values = np.array([page for page, _ in hits], np.uint32), np.array([score for _, score in hits])
        return Scores(pages, values, (), NO_PAGES, evidence=evidence)

    return Method("words", NoParams(), relate)


def _shorter(graph: Graph, canonical: str) -> Iterator[int]:
    """Known pages of the same site at ever shorter addresses."""
    from cocite.graph.nearest import chopped

    if canonical.startswith("name:"):
        return
    sites = Sites()
    own = sites.site(canonical)
    for address in chopped(canonical):
        page = graph.get(address)
        if page is not None and sites.site(graph.canonical(page)) == own:
            yield page
