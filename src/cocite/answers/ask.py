"""The question itself: addresses and a method → Answers. Every surface asks through here."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from cocite.answers.answer import Answer, Answers
from cocite.answers.diversify import Filters, diversify
from cocite.answers.explain import Explainer
from cocite.answers.naming import title_of
from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.methods import Method
from cocite.parameters import values_of
from cocite.web import Web

DEFAULT_METHOD = "proximity"
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


def question(graph: Graph, urls: Sequence[str], unwanted: Sequence[str] = ()) -> Question:
    """Find the pages of a question; raises UnknownPage, BadAddress."""
    if not urls:
        raise BadParameter("no page to ask about: give an address")
    if len(urls) + len(unwanted) > MOST_QUERIES:
        raise BadParameter(f"more than {MOST_QUERIES:,} addresses: ask about fewer at once")
    seeds = tuple(graph.find(url) for url in urls)
    return Question(tuple(urls), seeds, tuple(graph.find(url) for url in unwanted))


def check_k(k: int) -> int:
    """The number of answers wanted, if it can be one."""
    if not 0 <= k <= MOST:
        raise BadParameter(f"k is a whole number from 0 to {MOST:,}, not {k}")
    return k


def ask(
    web: Web, asked: Question, method: Method, k: int = 10, filters: Filters | None = None, explained: bool = True
) -> Answers:
    """The k pages most related to those asked about, with reasons unless they are not wanted."""
    started = time.perf_counter()
    graph, filters = web.graph, filters or Filters()
    scores = method.relate(web, asked.seeds)
    far = unwanted_ranks(web, asked.unwanted, method)
    # Without filters k is enough; with them some more are sorted at once, since some will not pass.
    ranked = scores.ranked(graph.in_degree, first=check_k(k) if filters == Filters() and not far else 10 * k + 100)
    chosen = islice(diversify(graph, ranked, {*asked.seeds, *scores.used}, filters, far), k)
    explainer = Explainer(web, scores.used, method.params) if explained else None
    answers = [
        Answer(
            rank,
            graph.address(page),
            title_of(graph, page),
            score,
            explainer.reasons(page) if explainer else (),
            page,
        )
        for rank, (page, score) in enumerate(chosen, 1)
    ]
    return Answers(
        query=asked.texts,
        method=method.name,
        params=values_of(method.params),
        used=tuple(graph.canonical(page).removeprefix("name:") for page in scores.used),
        answers=tuple(answers),
        store=about_store(graph),
        milliseconds=(time.perf_counter() - started) * 1e3,
        facts=scores.facts,
    )


def unwanted_ranks(web: Web, unwanted: Sequence[int], method: Method) -> Mapping[int, int]:
    """The best rank of each page among those related to an unwanted page, itself at 0."""
    ranks: dict[int, int] = {}
    for page in unwanted:
        related = islice(method.relate(web, [page]).ranked(web.graph.in_degree, FAR), FAR)
        for rank, (other, _) in enumerate([(page, 1.0), *related]):
            ranks[other] = min(rank, ranks.get(other, rank))
    return ranks


def about_store(graph: Graph) -> dict[str, Any]:
    """What an answer says of the store it comes from."""
    manifest = graph.manifest
    return {"id": manifest.get("id"), "built": manifest.get("built"), "pages": graph.pages, "links": graph.links}
