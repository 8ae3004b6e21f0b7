"""A page that the store has never seen: what is related to it, by its own record.

What is known of it decides, in this order:

1. the store has its address after all: that page is asked about;
2. pages that it links to: what is related to all of them, as for a reading history, each by the weight of its link.
   Links to its own site, and boilerplate, are heard only if there are no others;
3. its words, if it links to nothing that is known: pages that have its most telling words;
4. a shorter address of its site.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cocite.errors import BadAddress, BadStore
from cocite.graph.store import Graph
from cocite.pages.address import parse_query
from cocite.pages.site import Sites
from cocite.related.methods import Method
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import NO_PAGES
from cocite.results.answer import BY_WORDS, Answers
from cocite.results.ask import Question, ask
from cocite.results.filters import NO_FILTERS, Filters
from cocite.results.history import History
from cocite.sources.records import Page
from cocite.web import Web
from cocite.words.more_like import page_words, telling_words
from cocite.words.tokens import words_of

MOST_LINKS = 50
"""Linked pages that are asked about, the first: each is a question of its own."""
READ = 2000
"""Links of a record that are looked up."""
MOST_FOUND = 1000
"""Pages that are looked for by words."""
LONGEST_TEXT = 50_000
"""Characters of a record whose words are counted."""


@dataclass(frozen=True)
class NoParams:
    """Words have nothing to set."""


def ask_unseen(
    web: Web, record: Page, method: Method, k: int = 10, filters: Filters = NO_FILTERS, explained: bool = True
) -> Answers:
    """The pages most related to one that is given by its record.

    Raises BadAddress if its address is none, and UnknownPage if nothing that it says is known to the store.
    """
    graph = web.graph
    canonical = parse_query(record.url).canonical
    known = graph.get(record.url)
    if known is not None:
        return ask(web, Question((record.url,), (known,)), method, k, filters, explained)
    linked = linked_pages(graph, record, canonical)
    if linked:
        history = History(tuple(linked), tuple(linked.values()), (record.url,))
        return ask(web, Question((record.url,), tuple(linked), history=history), method, k, filters, explained)
    said = words_of_record(record)
    if said and (found := by_words(web, said)) is not None:
        return ask(web, Question((record.url,), ()), found, k, filters, explained)
    for page in shorter(graph, canonical):
        return ask(web, Question((record.url,), (page,)), method, k, filters, explained)
    graph.find(record.url)  # says which pages there are instead
    raise AssertionError(record.url)


def linked_pages(graph: Graph, record: Page, canonical: str) -> dict[int, float]:
    """The known pages that a record links to, with the weights of the links: those of other sites, in its main part."""
    sites = Sites()
    own = sites.site(canonical)
    main: dict[int, float] = {}
    others: dict[int, float] = {}
    for link in record.links[:READ]:
        try:
            page = graph.get(link.url) if "://" in link.url else None
        except BadAddress:
            page = None
        if page is None:
            continue
        chosen = others if link.boilerplate or sites.site(graph.canonical(page)) == own else main
        if page in chosen or len(chosen) < MOST_LINKS:
            chosen[page] = max(link.weight, chosen.get(page, 0.0))
    return main or others


def words_of_record(record: Page) -> Counter[str]:
    """How often each word is said by a record."""
    texts = [record.title, *record.headings, *(link.text for link in record.links[:READ]), record.text]
    return Counter(words_of("\n".join(texts)[:LONGEST_TEXT]))


def by_words(web: Web, said: Counter[str]) -> Method | None:
    """What finds pages by words; None if the store has no search index, or none of the words tells anything."""
    try:
        search = web.search
    except BadStore:
        return None
    telling = telling_words(search, said)
    hits = search.like(telling, MOST_FOUND) if telling else []
    if not hits:
        return None

    def evidence(page: int) -> list[dict[str, Any]]:
        own = page_words(web.graph, page)
        common = tuple(word for word in telling if word in own)
        return [{"kind": BY_WORDS, "share": 1.0, "words": common, "count": len(common), "of": len(telling)}]

    def relate(_: Web, __: Sequence[int], ___: NoParams) -> Scores:
        pages, values = np.array([page for page, _ in hits], np.uint32), np.array([score for _, score in hits])
        return Scores(pages, values, (), NO_PAGES, evidence=evidence)

    return Method("words", NoParams(), relate)


def shorter(graph: Graph, canonical: str) -> Iterator[int]:
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
