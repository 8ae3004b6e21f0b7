"""The question itself: addresses and a method → Answers. Every front end asks through here."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any

import numpy as np

from cocite.errors import BadParameter, UnknownPage
from cocite.graph.store import Graph
from cocite.kernels.jit import stopwatch
from cocite.parameters import Parameter, values_of
from cocite.related.evidence import Evidence, reasons_of
from cocite.related.methods import Method
from cocite.related.neighbourhood.view import GraphView, Switches
from cocite.results.answer import Answer, Answers
from cocite.results.filters import NO_FILTERS, Filters, best_answers
from cocite.results.history import NO_HISTORY, History, find_history, relate_history
from cocite.results.known import find_page, pages_meant
from cocite.results.naming import titles_of
from cocite.web import Web

MAX_RESULTS = 100_000
MAX_QUERY_PAGES = 1000
UNWANTED_RESULTS = 1000
"""Pages related to an unwanted page that are unwanted too, where they are closer to it than to the query."""
_log = logging.getLogger("cocite.ask")
_K = Parameter(name="k", help="Maximum number of results", type=int, default=10, minimum=1, maximum=MAX_RESULTS)


@dataclass(frozen=True)
class Question:
    """Pages found in the store, and how to answer."""

    texts: tuple[str, ...]
    seeds: tuple[int, ...]
    unwanted: tuple[int, ...] = ()
    history: History = NO_HISTORY  # if there is one, its pages are the seeds
    known: frozenset[int] = frozenset()  # pages that are not returned, since the reader has them already
    notes: tuple[str, ...] = ()  # where a shorter address is used


def check_address(given: object) -> str:
    """An address, if it is a text."""
    if not isinstance(given, str):
        raise BadParameter(f"an address is a text, not {given!r:.100}")
    return given


def question(
    graph: Graph,
    urls: Sequence[str],
    unwanted: Sequence[str] = (),
    history: Sequence[tuple[str, float]] = (),
    chop: str = "site",
) -> Question:
    """Find the pages of a question; raises UnknownPage, BadAddress. Beside a history, addresses have weight 1 each.

    An unknown address is replaced by its nearest known shorter one.
    """
    if len(urls) + len(unwanted) > MAX_QUERY_PAGES:
        raise BadParameter(f"more than {MAX_QUERY_PAGES:,} addresses: ask about fewer at once")
    try:
        found = [find_page(graph, check_address(url), chop) for url in urls]
    except UnknownPage as error:  # several words that aren't quoted look like several addresses
        several = len(urls) > 1 and all(graph.get(url) is None for url in urls)
        raise (pages_meant(graph, " ".join(urls), error) if several else error) from None
    texts, seeds, read = tuple(urls), [each.page for each in found], NO_HISTORY
    if history:
        read = find_history(graph, [*((url, 1.0) for url in urls), *history], chop)._replace(was_read=True)
        texts, seeds = read.texts, list(read.pages)
    elif not urls:
        raise BadParameter("no page to ask about: give an address")
    others = [find_page(graph, check_address(url), chop) for url in unwanted]
    for url, other in zip(unwanted, others, strict=True):
        if other.page in seeds:
            raise BadParameter(f"{url!r:.200} is asked about and unwanted at once: leave out one")
    notes = dict.fromkeys(each.note for each in (*((read,) if history else found), *others) if each.note)
    never = frozenset(map(graph.facts.representative, read.others)).union(read.others)
    return Question(texts, tuple(seeds), tuple(each.page for each in others), read, never, notes=tuple(notes))


def check_k(k: int) -> int:
    """The number of results, if it is valid."""
    return int(_K.check(k))


def ask(
    web: Web, asked: Question, method: Method, k: int = 10, filters: Filters = NO_FILTERS, explained: bool = True
) -> Answers:
    """The k pages most related to the query pages, with reasons unless they are not wanted."""
    with stopwatch() as passed:
        method = method.trusting(filters.trust)
        graph, k, history, params = web.graph, check_k(k), asked.history, method.params
        scores = relate_history(web, history, method) if history.pages else method.relate(web, asked.seeds)
        unwanted = unwanted_ranks(web, asked.unwanted, method) if asked.unwanted else {}
        unwanted |= dict.fromkeys(asked.known, 0)
        chosen = list(best_answers(graph, scores, asked.seeds, k, filters, unwanted))
        evidence: Iterable[Sequence[Evidence]] = repeat((), len(chosen))
        if explained and chosen:
            evidence = method.explain(web, scores, np.array([page for page, _ in chosen], np.uint32))
        titles, facts, notes = titles_of(graph), dict(scores.facts), [*asked.notes, *scores.notes]
        if isinstance(params, Switches) and params.ignores_some:
            facts |= GraphView(graph, scores.used, params, web.known_pages(params.stop)).ignored()
        used = [titles.canonical(page) for page in scores.used]
        if others := [text for text, page in zip(used, scores.used, strict=True) if page not in asked.seeds]:
            notes.append(f"Too few links are known around the page itself; these results are for {', '.join(others)}")
        answers = [
            Answer(rank, titles.address(page), titles.of(page), score, reasons_of(titles, why), page)
            for rank, ((page, score), why) in enumerate(zip(chosen, evidence, strict=True), 1)
        ]
        about = about_store(graph)
        _log.info("%s for %s: %s results in %.1f ms", method, asked.texts, len(answers), passed())
        return Answers(
            asked.texts, method.name, values_of(params), tuple(used), tuple(answers), about, passed(),
            ". ".join(notes), scores.steps, facts,
        )  # fmt: skip


def unwanted_ranks(web: Web, unwanted: Sequence[int], method: Method) -> dict[int, int]:
    """The best rank of each page among those related to an unwanted page; 0: the page, or its representative."""
    ranks: dict[int, int] = {}
    for page in unwanted:
        scores = method.relate(web, [page])
        best = islice(scores.ranked(web.graph.in_degree, UNWANTED_RESULTS, web.graph.order), UNWANTED_RESULTS)
        for rank, (other, _) in enumerate(best, 1):
            ranks[other] = min(rank, ranks.get(other, rank))
        for same in (page, *scores.used):
            ranks |= {same: 0, web.graph.facts.representative(same): 0}
    return ranks


def about_store(graph: Graph) -> dict[str, Any]:
    """What a result says about its store."""
    manifest = graph.manifest
    about = {"id": manifest.get("id"), "built": manifest.get("built"), "pages": len(graph), "links": len(graph.links)}
    return about | ({"as_of": manifest["as_of"]} if "as_of" in manifest else {})
