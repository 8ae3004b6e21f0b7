"""A web small enough to compare all pairs of its pages: a whole small store, or the pages around the query pages.

In a larger store, pages are added ring by ring: the pages to which the last ring links, and up to 50 parents of each of
its pages, chosen by hash. If a ring is too large, pages with most links from the last ring are kept, then those with
more in-links, then by address. Links from outside count in the degrees, and their sources are similar to no page:
similarities are too low rather than too high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from os import cpu_count
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.kernels.related import small_webs as kernels
from cocite.related.neighbourhood.gather import chosen_parents
from cocite.related.neighbourhood.scores import Scores, SeedScores, combine_seeds
from cocite.related.neighbourhood.view import NO_PAGES, Pages, Switches, View
from cocite.web import Web

MAX_PARENTS = 50
MAX_LINKS = 20_000
"""Links that are read of a page in a ring."""
MAX_PATH_PAGES = 10_000
BLOCK_ROWS = 64
"""Rows that one thread takes at a time."""
Numbers = NDArray[np.int64]
Matrix = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class Adjacency:
    """Links in one direction: those of node i are links[starts[i]:starts[i + 1]], ascending."""

    starts: Numbers
    links: Numbers

    def of(self, node: int) -> Numbers:
        """The nodes with which a node is linked."""
        return self.links[self.starts[node] : self.starts[node + 1]]

    @property
    def owners(self) -> Numbers:
        """The node to which each link belongs."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def shares(self, degree: NDArray[np.float64]) -> NDArray[np.float64]:
        """1 / degree of its node, for each link."""
        return 1 / np.maximum(1.0, degree)[self.owners]

    @staticmethod
    def from_owners(owners: Numbers, links: Numbers, count: int) -> Adjacency:
        """Links given with their nodes, which ascend."""
        starts = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(owners, minlength=count), out=starts[1:])
        return Adjacency(starts, links)


class SmallWeb:
    """Some pages, ascending, and all links between them. Nodes are their indices."""

    def __init__(self, graph: Graph, pages: Pages) -> None:
        self.graph, self.pages = graph, pages
        self.whole = len(pages) == graph.pages

    def __len__(self) -> int:
        return len(self.pages)

    def node(self, page: int) -> int:
        """The node of a page, which must be one."""
        return int(np.searchsorted(self.pages, np.uint32(page)))

    def pages_of(self, nodes: Sequence[int]) -> list[int]:
        """The pages of nodes."""
        return [int(self.pages[node]) for node in nodes]

    @property
    def facts(self) -> dict[str, int]:
        """The number of pages, unless they are the whole store."""
        return {} if self.whole else {"pages around the query page": len(self.pages)}

    @cached_property
    def _out(self) -> tuple[Adjacency, NDArray[np.float64]]:
        targets, weights, starts = [], [], np.zeros(len(self.pages) + 1, np.int64)
        for i, page in enumerate(self.pages.tolist()):
            links = self.graph.links_from(page).targets
            at = np.minimum(np.searchsorted(self.pages, links), len(self.pages) - 1)
            inside = self.pages[at] == links
            order = np.argsort(at[inside])
            targets.append(at[inside][order])
            weights.append(self.graph.weights_from(page)[inside][order])
            starts[i + 1] = starts[i] + len(targets[-1])
        return Adjacency(starts, np.concatenate(targets).astype(np.int64)), np.concatenate(weights).astype(np.float64)

    @property
    def out(self) -> Adjacency:
        """Out-links."""
        return self._out[0]

    @cached_property
    def _reversed(self) -> NDArray[np.intp]:
        """The index of each in-link among the out-links."""
        return np.argsort(self.out.links, kind="stable")

    @cached_property
    def into(self) -> Adjacency:
        """In-links."""
        order = self._reversed
        return Adjacency.from_owners(self.out.links[order], self.out.owners[order], len(self.pages))

    @property
    def in_weights(self) -> NDArray[np.float64]:
        """The probability of each in-link."""
        return self._out[1][self._reversed]

    @property
    def in_degree(self) -> NDArray[np.float64]:
        """In-links from all pages of the store."""
        return self.graph.in_degree[self.pages].astype(np.float64)

    @property
    def out_degree(self) -> NDArray[np.float64]:
        """Out-links to all pages of the store."""
        return self.graph.out_degree[self.pages].astype(np.float64)


def small_web(web: Web, seeds: Sequence[int], max_pages: int) -> SmallWeb:
    """The whole store if it has at most `max_pages` pages, else as many pages around the seeds."""
    graph = web.graph
    if graph.pages <= max_pages:
        whole: SmallWeb = web.cached("small web", (), lambda: SmallWeb(graph, np.arange(graph.pages, dtype=np.uint32)))
        return whole
    view = View(graph, [], Switches(merge=False, unit="none"))
    found = ring = np.array(sorted(set(seeds)), np.uint32)
    while len(ring) and len(found) < max_pages:
        near = [graph.links_from(int(page)).targets[:MAX_LINKS] for page in ring]
        near += [chosen_parents(view, int(page), MAX_PARENTS) for page in ring]
        pages, counts = np.unique(np.concatenate([NO_PAGES, *near]), return_counts=True)
        if int(pages.max(initial=0)) >= graph.pages:
            raise graph.damaged()
        new = ~np.isin(pages, found)
        pages, counts = pages[new], counts[new]
        best = np.lexsort((pages, -graph.in_degree[pages].astype(np.int64), -counts))[: max_pages - len(found)]
        ring = pages[np.sort(best)]
        found = np.union1d(found, ring)
    return SmallWeb(graph, found)


def solve_around(web: Web, seeds: Sequence[int], params: Any, solve: Callable[[SmallWeb], T]) -> tuple[SmallWeb, T]:
    """A small web of `params.pages` pages, and what `solve` makes of it: cached with a store that is small itself."""
    around = small_web(web, seeds, params.pages)
    if not around.whole:
        return around, solve(around)
    found: T = web.cached(type(params).__module__, params, lambda: solve(around))
    return around, found


# ------------------------------------------------------------------------------------------ similarities of all pairs


def in_blocks(work: Callable[[int, int], object], count: int) -> None:
    """Call `work` for blocks of rows, on all cores."""
    blocks = [(first, min(first + BLOCK_ROWS, count)) for first in range(0, count, BLOCK_ROWS)]
    if len(blocks) < 4:
        for block in blocks:
            work(*block)
        return
    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        list(pool.map(lambda block: work(*block), blocks))


class Rounds:
    """W·S·Wᵀ for matrices of one size, in memory that is used again."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._rows, self._turned = np.empty((count, count)), np.empty((count, count))

    def spread(self, links: Adjacency, weights: NDArray[np.float64], similar: Matrix) -> Matrix:
        """W·S·Wᵀ of a symmetric S; the next call overwrites it."""
        rows, turned, count = self._rows, self._turned, self._count
        matrix = kernels.SparseRows(links.starts, links.links, weights)
        in_blocks(lambda a, b: kernels.weigh_rows(matrix, similar, a, b, rows), count)
        in_blocks(lambda a, b: kernels.transpose(rows, a, b, turned), count)
        in_blocks(lambda a, b: kernels.weigh_rows(matrix, turned, a, b, rows), count)
        return rows


def simrank_matrix(links: Adjacency, weights: NDArray[np.float64], decay: float, rounds: int) -> Matrix:
    """Rounds of S ← C·W·S·Wᵀ with 1 on the diagonal."""
    count = len(links.starts) - 1
    similar, work = np.eye(count), Rounds(count)
    for _ in range(rounds):
        np.multiply(work.spread(links, weights, similar), decay, out=similar)
        np.fill_diagonal(similar, 1.0)
    return similar


def connect(similar: Matrix, sides: Sequence[Adjacency], a: int, b: int) -> list[int]:
    """The nodes through which two nodes are similar: at each step, their most similar neighbours.

    For measures that decay: neighbours are more similar than the nodes, until they are the same. Empty if the nodes are
    not similar.
    """
    up, down = [a], [b]
    for _ in range(MAX_PATH_PAGES):
        best = (-1.0, 0, 0)
        for side in sides:
            first, second = side.of(a), side.of(b)
            i, j, value = kernels.greatest_pair(similar, first, second)
            if value > best[0]:
                best = (value, int(first[i]), int(second[j]))
        if best[0] <= 0:
            return []
        _, a, b = best
        if a == b:
            return [*up, a, *down[::-1]]
        up.append(a)
        down.append(b)
    return []


def scores_of_matrix(around: SmallWeb, similar: Matrix, sides: Sequence[Adjacency], seeds: Sequence[int]) -> Scores:
    """The rows of the query pages in a matrix of similarities, with paths through links of some sides."""

    def find(seed: int) -> SeedScores:
        node = around.node(seed)
        path = lambda page: around.pages_of(connect(similar, sides, node, around.node(page)))  # noqa: E731
        return SeedScores(around.pages, similar[node], path)

    return combine_seeds(seeds, find, facts=around.facts)
