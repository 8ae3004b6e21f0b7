"""A web small enough to compare all pairs of its pages: a whole small store, or the pages around the query pages.

In a larger store, pages are added ring by ring: the pages to which the last ring links, and up to 50 parents of each of
its pages, chosen by hash. If a ring is too large, pages with most links from the last ring are kept, then those with
more in-links, then by address. Links from outside count in the degrees, and their sources are similar to no page:
similarities are too low rather than too high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import cpu_count
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.budget import LIMITED, STATE, current, spend
from cocite.graph.store import Graph
from cocite.kernels.interpreted import Threads, expecting
from cocite.kernels.related import small_webs as kernels
from cocite.parameters import SERVERS, parameter
from cocite.related.neighbourhood.scores import Scores, SeedScores, Values, combine_seeds
from cocite.related.neighbourhood.view import NO_PAGES, GraphView, Pages, Switches
from cocite.web import Web

MAX_PARENTS = 50
MAX_LINKS = 20_000
"""Links that are read of a page in a ring."""
MAX_PATH_PAGES = 10_000
BLOCK_ROWS = 64
"""Rows that one thread takes at a time."""
CELLS_PER_LINK = 16
"""Cells of a matrix that take as long as decoding a link."""
Numbers = NDArray[np.int64]
Matrix = NDArray[np.float64]
Solution = TypeVar("Solution")


@dataclass(frozen=True, kw_only=True)
class SmallWebParams:
    """C, and the size of the web."""

    decay: float = parameter(0.8, "C: decay per step", minimum=0, maximum=0.99)
    rounds: int = parameter(10, "Maximum number of steps", minimum=1, maximum=100)
    pages: int = parameter(1000, "Pages around the query page in a larger store", minimum=2, maximum=5000,
                           on={SERVERS: {"maximum": 2000}})  # matrices of pages × pages numbers  # fmt: skip


@dataclass(frozen=True)
class Adjacency:
    """Links in one direction: those of node i are links[starts[i]:starts[i + 1]], ascending."""

    starts: Numbers
    links: Numbers

    @staticmethod
    def from_owners(owners: Numbers, links: Numbers, count: int) -> Adjacency:
        """Links given with their nodes, which ascend."""
        return Adjacency(np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=count))]), links)

    def of(self, node: int) -> Numbers:
        """The nodes with which a node is linked."""
        return self.links[self.starts[node] : self.starts[node + 1]]

    @property
    def owners(self) -> Numbers:
        """The node to which each link belongs."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def shares(self, degree: Values | None = None) -> Values:
        """1 / degree of its node, for each link; by default the number of links here."""
        found: Values = 1 / np.maximum(1.0, np.diff(self.starts) if degree is None else degree)[self.owners]
        return found


class SmallWeb:
    """Some pages, ascending, and all links between them. Nodes are their indices."""

    def __init__(self, graph: Graph, pages: Pages) -> None:
        self.graph, self.pages, self.whole = graph, pages, len(pages) == len(graph)
        self.in_degree = graph.in_degree[pages].astype(np.float64)  # in the whole store
        self.out_degree = graph.out_degree[pages].astype(np.float64)

    def __len__(self) -> int:
        return len(self.pages)

    def node(self, page: int) -> int:
        """The node of a page, which must be one."""
        return int(np.searchsorted(self.pages, np.uint32(page)))

    @cached_property
    def _out(self) -> tuple[Adjacency, Values]:
        targets, weights = [np.zeros(0, np.int64)], [np.zeros(0)]
        for page in self.pages.tolist():
            links = self.graph.links_from(page).targets
            at = np.minimum(np.searchsorted(self.pages, links), len(self.pages) - 1)
            inside = self.pages[at] == links
            order = np.argsort(at[inside])
            targets.append(at[inside][order])
            weights.append(self.graph.weights_from(page)[inside][order])
        starts = np.cumsum([len(each) for each in targets])
        return Adjacency(starts, np.concatenate(targets)), np.concatenate(weights).astype(np.float64)

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
        return Adjacency.from_owners(self.out.links[self._reversed], self.out.owners[self._reversed], len(self))

    @property
    def in_weights(self) -> Values:
        """The probability of each in-link."""
        return self._out[1][self._reversed]


def small_web(web: Web, seeds: Sequence[int], max_pages: int) -> SmallWeb:
    """The whole store if it has at most `max_pages` pages, else as many pages around the seeds."""
    graph = web.graph
    if len(graph) <= max_pages:
        every = np.sort(graph.names.in_order()).astype(np.uint32)
        whole: SmallWeb = web.cached("small web", (), lambda: SmallWeb(graph, every))
        return whole
    view = GraphView(graph, [], Switches(merge=False, unit="none"))
    found = ring = np.array(sorted(set(seeds)), np.uint32)
    while len(ring) and len(found) < max_pages:
        near = [graph.links_from(int(page)).targets[:MAX_LINKS] for page in ring]
        near += [view.chosen_parents(int(page), MAX_PARENTS) for page in ring]
        pages, counts = np.unique(np.concatenate([NO_PAGES, *near]), return_counts=True)
        if int(pages.max(initial=0)) >= graph.pages:
            raise graph.damaged()
        new = ~np.isin(pages, found)
        pages, counts = pages[new], counts[new]
        order = graph.names.address_keys(pages), -graph.in_degree[pages].astype(np.int64), -counts
        best = np.lexsort(order)[: max_pages - len(found)]
        ring = pages[np.sort(best)]
        found = np.union1d(found, ring)
    return SmallWeb(graph, found)


def solve_around(
    web: Web, seeds: Sequence[int], params: Any, solve: Callable[[SmallWeb, Any], Solution]
) -> tuple[SmallWeb, Solution]:
    """A small web of `params.pages` pages, and its solution: cached with a store that is small itself."""
    around = small_web(web, seeds, params.pages)
    if not around.whole:
        return around, solve(around, params)
    found: Solution = web.cached(type(params).__module__, params, lambda: solve(around, params))
    return around, found


def scores_around(
    around: SmallWeb,
    seeds: Sequence[int],
    values: Callable[[int], Values],
    path: Callable[[int, int], Sequence[int]],
    **more: Any,
) -> Scores:
    """Scores of all pages around the query pages; `values` and `path` are by node."""

    def find(seed: int) -> SeedScores:
        node = around.node(seed)
        return SeedScores(
            around.pages, values(node), lambda page: around.pages[list(path(node, around.node(page)))].tolist()
        )

    facts = {} if around.whole else {"pages around the query page": len(around)}
    return combine_seeds(seeds, find, facts=facts, **more)


# ------------------------------------------------------------------------------------------ similarities of all pairs


def in_blocks(work: Callable[[int, int], object], count: int) -> None:
    """Call `work` for blocks of rows, on all cores, until the budget is spent; on one if there is one: others wait."""
    blocks = [(first, min(first + BLOCK_ROWS, count)) for first in range(0, count, BLOCK_ROWS)]
    threads = 1 if len(blocks) < 4 or current()[STATE] == LIMITED else cpu_count() or 1
    with expecting(count * count), Threads(threads) as pool:
        for _ in pool.map(lambda block: work(*block), blocks):
            spend(BLOCK_ROWS * count / CELLS_PER_LINK)


class Spread:
    """W·S·Wᵀ for matrices of one size, in memory that is used again."""

    def __init__(self, count: int) -> None:
        self._rows, self._turned = np.empty((2, count, count))

    def __call__(self, links: Adjacency, weights: Values, similar: Matrix) -> Matrix:
        """W·S·Wᵀ of a symmetric S; the next call overwrites it."""
        rows, turned, count = self._rows, self._turned, len(self._rows)
        matrix = kernels.SparseRows(links.starts, links.links, weights)
        in_blocks(lambda a, b: kernels.weigh_rows(matrix, similar, a, b, rows), count)
        in_blocks(lambda a, b: kernels.transpose(rows, a, b, turned), count)
        in_blocks(lambda a, b: kernels.weigh_rows(matrix, turned, a, b, rows), count)
        return rows


def simrank_matrix(links: Adjacency, weights: Values, decay: float, rounds: int) -> Matrix:
    """Rounds of S ← C·W·S·Wᵀ with 1 on the diagonal."""
    count = len(links.starts) - 1
    similar, spread = np.eye(count), Spread(count)
    for _ in range(rounds):
        np.multiply(spread(links, weights, similar), decay, out=similar)
        np.fill_diagonal(similar, 1.0)
    return similar


def connect(similar: Matrix, sides: Sequence[Adjacency], a: int, b: int) -> list[int]:
    """The nodes through which two nodes are similar: at each step, their most similar neighbours.

    For measures that decay: neighbours are more similar than the nodes, until they are the same. Empty if the nodes are
    not similar.
    """
    up, down = [a], [b]
    for _ in range(MAX_PATH_PAGES):
        best = (0.0, 0, 0)
        for side in sides:
            first, second = side.of(a), side.of(b)
            values = similar[np.ix_(first, second)]
            if values.max(initial=0.0) > best[0]:
                i, j = np.unravel_index(values.argmax(), values.shape)
                best = (float(values[i, j]), int(first[i]), int(second[j]))
        value, a, b = best
        if value <= 0:
            break
        if a == b:
            return [*up, a, *down[::-1]]
        up.append(a)
        down.append(b)
    return []
