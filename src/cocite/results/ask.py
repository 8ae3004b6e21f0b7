"""The question itself: addresses and a method → Answers. Every surface asks through here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.kernels.jit import stopwatch
from cocite.parameters import Parameter, values_of
from cocite.related.methods import Method
from cocite.related.neighbourhood.view import Switches, View
from cocite.results.answer import Answer, Answers
from cocite.results.filters import NO_FILTERS, Filters, best_answers
from cocite.results.history import NO_HISTORY, History, find_history, relate_history
from cocite.results.naming import Titles
from cocite.results.reasons import ReasonNames, reasons_of
from cocite.web import Web

MOST = 100_000
MOST_QUERIES = 1000
FAR = 1000
"""So many pages related to an unwanted page are unwanted, as far as they are nearer to it."""


@dataclass(frozen=True)
class Question:
    """Pages found in the store, and how to answer."""

    texts: tuple[str, ...]
    seeds: tuple[int, ...]
    unwanted: tuple[int, ...] = ()
    history: History = NO_HISTORY  # if there is one, its pages are the seeds
    known: frozenset[int] = frozenset()  # pages that are no answers, as somebody has them already


def check_address(given: object) -> str:
    """What is to be an address, if it is a text."""
    if not isinstance(given, str):
        raise BadParameter(f"an address is a text, not {given!r:.100}")
    return given


def question(
    graph: Graph, urls: Sequence[str], unwanted: Sequence[str] = (), history: Sequence[tuple[str, float]] = ()
) -> Question:
    """Find the pages of a question; raises UnknownPage, BadAddress. Beside a history, addresses weigh 1 each."""
    if history:
        for url in urls:
            graph.find(check_address(url))
        read = find_history(graph, [*((url, 1.0) for url in urls), *history])
        return replace(question(graph, read.texts, unwanted), history=read)
    if not urls:
        raise BadParameter("no page to ask about: give an address")
    if len(urls) + len(unwanted) > MOST_QUERIES:
        raise BadParameter(f"more than {MOST_QUERIES:,} addresses: ask about fewer at once")
    seeds, others = (tuple(graph.find(check_address(url)) for url in each) for each in (urls, unwanted))
    for url, page in zip(unwanted, others, strict=True):
        if page in seeds:
            raise BadParameter(f"{url!r:.200} is asked about and unwanted at once: leave out one")
    return Question(tuple(urls), seeds, others)


_K = Parameter(name="k", help="Maximum number of results", type=int, default=10, minimum=0, maximum=MOST)


def check_k(k: int) -> int:
    """The number of answers wanted, if it can be one."""
    return int(_K.check(k))


def ask(
    web: Web, asked: Question, method: Method, k: int = 10, filters: Filters = NO_FILTERS, explained: bool = True
) -> Answers:
    """The k pages most related to those asked about, with reasons unless they are not wanted."""
    with stopwatch() as passed:
        graph, k = web.graph, check_k(k)
        history = asked.history
        scores = relate_history(web, history, method) if history.pages else method.relate(web, asked.seeds)
        far = {**unwanted_ranks(web, asked.unwanted, method), **dict.fromkeys(asked.known, 0)}
        chosen = list(best_answers(graph, scores, asked.seeds, k, filters, far))
        pages = np.array([page for page, _ in chosen], np.uint32)
        evidence = method.explain(web, scores, pages) if explained and chosen else [[]] * len(chosen)
        titles, names = Titles(graph), ReasonNames(graph)
        answers = [
            Answer(rank, titles.address(page), titles.of(page), score, reasons_of(names, why), page)
            for rank, ((page, score), why) in enumerate(zip(chosen, evidence, strict=True), 1)
        ]
        return Answers(
            query=asked.texts,
            method=method.name,
            params=values_of(method.params),
            used=tuple(graph.canonical(page).removeprefix("name:") for page in scores.used),
            answers=tuple(answers),
            store=about_store(graph),
            milliseconds=passed(),
            facts={**scores.facts, **_ignored(web, scores.used, method.params)},
            steps=scores.steps,
        )


def _ignored(web: Web, used: Sequence[int], params: Any) -> Mapping[str, Any]:
    """What the switches of a method that has them kept from counting."""
    if not isinstance(params, Switches):
        return {}
    return View(web.graph, used, params, web.known_pages(params.stop)).ignored()


def unwanted_ranks(web: Web, unwanted: Sequence[int], method: Method) -> Mapping[int, int]:
    """The best rank of each page among those related to an unwanted page; 0: itself, or what stands for it."""
    ranks: dict[int, int] = {}
    for page in unwanted:
        scores = method.relate(web, [page])
        for rank, (other, _) in enumerate(islice(scores.ranked(web.graph.in_degree, FAR), FAR), 1):
            ranks[other] = min(rank, ranks.get(other, rank))
        for same in (page, *scores.used):
            ranks |= {same: 0, web.graph.facts.representative(same): 0}
    return ranks


def about_store(graph: Graph) -> dict[str, Any]:
    """What an answer says of the store it comes from."""
    manifest = graph.manifest
    return {"id": manifest.get("id"), "built": manifest.get("built"), "pages": graph.pages, "links": len(graph.links)}
