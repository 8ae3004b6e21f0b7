"""From query pages to scores: where a method starts, what it returns, and the order of results.

A page with too few links around it is chopped (Dean & Henzinger 1999, §2.2): its fragment, its query string, then one
path element after another is removed, never beyond its site, until an address has enough links around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress
from cocite.graph.store import Graph
from cocite.kernels.related.best_first import ScoredPages, best_first
from cocite.related.evidence import Evidence
from cocite.related.neighbourhood.view import NO_PAGES, GraphView, Pages, Switches
from cocite.web import Web

MIN_SCORE = 1e-12
Values = NDArray[np.float64]
Explain = Callable[[Pages], list[list[Evidence]]]
NO_TIES: Values = np.zeros(0)
NO_COUNTS: NDArray[np.int32] = np.zeros(0, np.int32)
Gathered = TypeVar("Gathered")


@dataclass(frozen=True)
class Scores:
    """Pages with scores, in no order; and what the method has to report."""

    pages: Pages
    values: Values
    used: Sequence[int]  # the pages that are used in place of the seeds
    excluded: Pages  # not results: the seeds, those used, their representatives, stop pages
    ties: Values | None = None  # decides between equal scores
    reached: NDArray[np.int32] | None = None  # how many query pages reach each page; None: all of them
    facts: Mapping[str, Any] = field(default_factory=dict)
    steps: Sequence[Mapping[str, Any]] = ()  # what each round did, for a method that reports rounds
    path: Callable[[int], Sequence[int]] | None = None  # the pages through which a distant result was reached
    evidence: Explain | None = None  # for kept results, strongest first; None, or empty: the links are the evidence

    def ranked(self, in_degree: NDArray[np.uint32], first: int = 100) -> Iterator[tuple[int, float]]:
        """(page, score), best first. The first ones cost little; the rest are ordered only when they are needed.

        By query pages reached, score to six significant digits, ties, in-degree, and number, which is address.
        """
        places = self._first(in_degree, first)
        if len(places) == first:
            yield from self._at(places)
            places = self._first(in_degree, len(self.pages))[first:]
        yield from self._at(places)

    def _at(self, places: NDArray[np.int64]) -> Iterator[tuple[int, float]]:
        return zip(self.pages[places].tolist(), map(rounded, self.values[places].tolist()), strict=True)

    def _first(self, in_degree: NDArray[np.uint32], first: int) -> NDArray[np.int64]:
        """The indices of the first pages."""
        ties = NO_TIES if self.ties is None else self.ties.astype(np.float64)
        reached = NO_COUNTS if self.reached is None else self.reached.astype(np.int32)
        pages, excluded = self.pages.astype(np.uint32, copy=False), np.sort(self.excluded)
        scored = ScoredPages(*[read_only(each) for each in (pages, self.values, ties, reached, in_degree)])
        found: NDArray[np.int64] = best_first(scored, read_only(excluded), MIN_SCORE, first)
        return found


class Best(NamedTuple):
    """The first results for each of many pages, one page after another: `counts[i]` of them for page i."""

    counts: NDArray[np.int32]
    pages: Pages
    scores: Values
    enough: NDArray[np.bool_]  # false: page i has too few links around it, a shorter address may have more


@dataclass(frozen=True)
class Start:
    """The pages to start from, and the view on them."""

    view: GraphView
    used: list[int]
    excluded: Pages  # not results: the seeds, the pages used, their representatives, stop pages

    def scores(
        self, pages: Pages, values: NDArray[np.float64], rows: NDArray[Any] | None = None, **more: Any
    ) -> Scores:
        """Scores of pages; `rows` are positive where a query page (row) reaches a page."""
        reached = (rows > 0).sum(axis=0, dtype=np.int32) if rows is not None and len(self.used) > 1 else None
        return Scores(pages, values, self.used, self.excluded, reached=reached, **more)


def begin(
    web: Web, seeds: Sequence[int], switches: Switches, gather: Callable[[GraphView, list[int]], tuple[Gathered, bool]]
) -> tuple[Start, Gathered]:
    """Choose where to start and gather there: first around each page by itself, then around all together.

    `gather` returns what it found around some pages, and whether that is enough for results.
    """
    graph, stop, seeds = web.graph, web.known_pages(switches.stop), list(dict.fromkeys(seeds))
    used: list[int] = []
    found: tuple[GraphView, Gathered] | None = None
    for page in seeds:
        chosen: int | None = page
        if switches.chop != "none":
            chosen, own = None, None
            for other in chain((page,), shorter_addresses(graph, page)):
                view = GraphView(graph, [other], switches, stop)
                gathered, enough = gather(view, [other])
                found = view, gathered
                own = own or found
                if enough:
                    chosen = other
                    break
            if chosen is None:
                found = own  # not that of the last address
        if chosen is not None or switches.chop == "site":
            used.append(page if chosen is None else chosen)
    used = list(dict.fromkeys(used))
    if found is None or len(seeds) > 1 or not used:
        view = GraphView(graph, used, switches, stop)
        found = view, gather(view, used)[0]
    view, gathered = found
    own_pages = np.array(list(dict.fromkeys([*seeds, *used])), np.uint32)
    excluded = np.concatenate((own_pages, view.representatives(own_pages), view.refused.stop))
    return Start(view, used, excluded), gathered


def shorter_addresses(graph: Graph, page: int) -> Iterator[int]:
    """Pages of the same site at ever shorter addresses."""
    for address in chop(graph.canonical(page)):
        try:
            found = graph.get(address)
        except BadAddress:
            continue
        if found is not None and graph.units("site")[found] == graph.units("site")[page]:
            yield found


def chop(address: str) -> Iterator[str]:
    """A canonical address without its fragment, its query string, then one path element after another."""
    while not address.startswith("name:") and any(mark in address for mark in "#?/"):
        mark = next(mark for mark in "#?/" if mark in address)
        address = address[: address.rindex(mark) if mark == "/" else address.index(mark)]
        yield address


class SeedScores(NamedTuple):
    """Pages, each once, with their scores for one query page, and the path to each."""

    pages: Pages
    values: Values
    path: Callable[[int], Sequence[int]] | None = None


def combine_seeds(seeds: Sequence[int], find: Callable[[int], SeedScores], **more: Any) -> Scores:
    """The mean score over the query pages that reach a page; pages reached by more query pages come first."""
    used = list(dict.fromkeys(seeds))
    found = [find(seed) for seed in used]
    excluded = np.array(used, np.uint32)
    if len(found) == 1:
        return Scores(found[0].pages, found[0].values, used, excluded, path=found[0].path, **more)
    reaching = [each.values >= MIN_SCORE for each in found]
    found = [SeedScores(x.pages[some], x.values[some], x.path) for x, some in zip(found, reaching, strict=True)]
    pages, index = np.unique(np.concatenate([NO_PAGES, *(each.pages for each in found)]), return_inverse=True)
    values = np.concatenate([NO_TIES, *(each.values for each in found)])
    reached = np.bincount(index, minlength=len(pages))
    mean = np.bincount(index, values, len(pages)) / np.maximum(1, reached)

    def path(page: int) -> Sequence[int]:
        """From the first query page that reaches it."""
        paths = (each.path for each in found if each.path is not None and page in each.pages)
        return next((of(page) for of in paths), [page])

    more["path"] = path if any(each.path for each in found) else None
    return Scores(pages, mean, used, excluded, reached=reached.astype(np.int32), **more)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A contiguous read-only view: kernels are compiled once for these, wherever the arrays come from."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def six_digits(values: Values) -> Values:
    """Values to six significant digits: iterations stop at 1e-8, so more would be noise."""
    with np.errstate(divide="ignore"):
        power = 10.0 ** (5 - np.floor(np.log10(np.abs(values))))
    return np.where(values == 0, 0.0, np.rint(values * np.where(np.isfinite(power), power, 0)) / power)


def rounded(score: float) -> float:
    """One score to six significant digits."""
    return float(f"{score:.5e}")
