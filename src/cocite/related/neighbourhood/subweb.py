"""A part of the web that is small enough for measures of all pairs: a whole small store, or the pages around a few.

In a store of more pages than wanted, pages are taken ring by ring: what the last ring links to, and up to 50 parents of
each of its pages, chosen by hash. Of a ring too large those are kept that most links of the last ring connect, then
those of more links in, then by address. Links from elsewhere count in the degrees, and their pages are like no other:
similarities are too low rather than too high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.related.neighbourhood.gather import chosen_parents
from cocite.related.neighbourhood.view import NO_PAGES, Pages, Switches, View

PARENTS = 50
LONG = 20_000
"""Of a page with more links, so many are looked at."""
Numbers = NDArray[np.int64]
S = TypeVar("S")


@dataclass(frozen=True)
class Links:
    """Links of one direction by place: those of page i are links[starts[i]:starts[i + 1]], ascending."""

    starts: Numbers
    links: Numbers

    def of(self, place: int) -> Numbers:
        """The places that one page is linked with."""
        return self.links[self.starts[place] : self.starts[place + 1]]

    @property
    def owners(self) -> Numbers:
        """The page to which each link belongs."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


class Subweb:
    """Some pages, ascending, and all links between them."""

    def __init__(self, graph: Graph, pages: Pages) -> None:
        self.graph, self.pages = graph, pages
        self.whole = len(pages) == graph.pages

    def __len__(self) -> int:
        return len(self.pages)

    def place(self, page: int) -> int:
        """Where a page is, that must be there."""
        return int(np.searchsorted(self.pages, np.uint32(page)))

    def connected(self, connect: Callable[..., Sequence[int]], *about: Any) -> list[int]:
        """The pages between two, which come last among the arguments of a function that takes and gives places."""
        *rest, first, second = about
        return [int(self.pages[at]) for at in connect(*rest, self.place(first), self.place(second))]

    @property
    def facts(self) -> dict[str, int]:
        """What was left out, if anything."""
        return {} if self.whole else {"pages around the query page": len(self.pages)}

    @cached_property
    def _sorted(self) -> tuple[Links, NDArray[np.float64]]:
        targets, weights, starts = [], [], np.zeros(len(self.pages) + 1, np.int64)
        for i, page in enumerate(self.pages.tolist()):
            links = self.graph.links_from(page).targets
            at = np.minimum(np.searchsorted(self.pages, links), len(self.pages) - 1)
            inside = self.pages[at] == links
            order = np.argsort(at[inside])
            targets.append(at[inside][order])
            weights.append(self.graph.weights_from(page)[inside][order])
            starts[i + 1] = starts[i] + len(targets[-1])
        return Links(starts, np.concatenate(targets).astype(np.int64)), np.concatenate(weights).astype(np.float64)

    @property
    def out(self) -> Links:
        """Links out."""
        return self._sorted[0]

    @cached_property
    def into(self) -> Links:
        """Links in."""
        order = self.turned
        starts = np.zeros(len(self.pages) + 1, np.int64)
        np.cumsum(np.bincount(self.out.links, minlength=len(self.pages)), out=starts[1:])
        return Links(starts, self.out.owners[order])

    @cached_property
    def turned(self) -> NDArray[np.intp]:
        """Which link out is each link in."""
        return np.argsort(self.out.links, kind="stable")

    @property
    def weights(self) -> NDArray[np.float64]:
        """The probability of each link out."""
        return self._sorted[1]

    @property
    def in_degree(self) -> NDArray[np.float64]:
        """Links in from all pages of the store."""
        return self.graph.in_degree[self.pages].astype(np.float64)

    @property
    def out_degree(self) -> NDArray[np.float64]:
        """Links out to all pages of the store."""
        return self.graph.out_degree[self.pages].astype(np.float64)


def subweb(graph: Graph, seeds: Sequence[int], most: int) -> Subweb:
    """The whole store, if it has no more than `most` pages; else as many pages around some."""
    if graph.pages <= most:
        whole: Subweb = kept(graph, "subweb", lambda: Subweb(graph, np.arange(graph.pages, dtype=np.uint32)))
        return whole
    view = View(graph, [], Switches(merge=False, unit="none"))
    found = ring = np.array(sorted(set(seeds)), np.uint32)
    while len(ring) and len(found) < most:
        near = [graph.links_from(int(page)).targets[:LONG] for page in ring]
        near += [chosen_parents(view, int(page), PARENTS) for page in ring]
        pages, counts = np.unique(np.concatenate([NO_PAGES, *near]), return_counts=True)
        if int(pages.max(initial=0)) >= graph.pages:
            raise graph.damaged()
        fresh = ~np.isin(pages, found)
        pages, counts = pages[fresh], counts[fresh]
        best = np.lexsort((pages, -graph.in_degree[pages].astype(np.int64), -counts))[: most - len(found)]
        ring = pages[np.sort(best)]
        found = np.union1d(found, ring)
    return Subweb(graph, found)


def solved(
    graph: Graph, seeds: Sequence[int], most: int, params: Any, solve: Callable[[Subweb], S]
) -> tuple[Subweb, S]:
    """The pages around some, and what is worked out of them: once for a whole store, whatever is asked."""
    around = subweb(graph, seeds, most)
    key = type(params).__module__, params
    return around, kept(graph, key, lambda: solve(around)) if around.whole else solve(around)


_memory: WeakKeyDictionary[Graph, dict[Any, Any]] = WeakKeyDictionary()
KEPT = 4


def kept(graph: Graph, key: Any, make: Callable[[], Any]) -> Any:
    """What was made for a whole small store is kept for the next question; the last few things."""
    held = _memory.setdefault(graph, {})
    if key not in held:
        while len(held) >= KEPT:
            held.pop(next(iter(held)), None)
        held[key] = make()
    return held[key]
