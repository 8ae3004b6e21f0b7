"""The pages that a page links to and those that link to it, as sets: for methods that compare pages by such sets.

No page is in its own sets, and none twice. Links to dead pages (captured with status 404 or 410) are none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.kernels.related.link_strength import link_strengths
from cocite.kernels.related.linked_pages import read_sets
from cocite.kernels.words.keyword_pairs import Rows, room
from cocite.related.neighbourhood.view import SEED, Pages
from cocite.words.likeness import Likeness
from cocite.words.pair_counts import transposed
from cocite.words.relevance import MIN_CONFIDENCE_PAGES, SUPPORT

GONE = (404, 410)
BLOCK = 1 << 14
"""Pages whose links are read at a time."""


class LinkSets(Protocol):
    """Where sets of linked pages come from."""

    def outs(self, pages: Pages) -> Rows:
        """The pages that each of some pages links to, ascending."""

    def ins(self, pages: Pages) -> Rows:
        """The pages that link to each of some pages, ascending."""


class StoredLinks:
    """Sets read from a store, of many links those of smallest hash."""

    def __init__(self, graph: Graph, most: int, dead: bool = False) -> None:
        """`most` pages a set at most; with `dead`, dead ones as well."""
        self._graph, self._most = graph, min(most, graph.pages)
        status = graph.array("page.status")
        self._gone = status if len(status) and not dead else None

    def outs(self, pages: Pages) -> Rows:
        """The pages that each of some pages links to, ascending."""
        return self._read(self._graph.out, pages, "")

    def ins(self, pages: Pages) -> Rows:
        """The pages that link to each of some pages, ascending."""
        return self._read(self._graph.into, pages, "sample")

    def _read(self, lists: object, pages: Pages, ready: str) -> Rows:
        graph, degree = self._graph, self._graph.in_degree if ready else self._graph.out_degree
        starts = np.zeros(len(pages) + 1, np.int64)
        found = np.empty(int(np.minimum(degree[pages], self._most).sum(dtype=np.int64)), np.uint32)
        none = np.zeros(0, np.uint32)
        kept = (graph.array("sample.page"), graph.array("sample.parent")) if ready else (none, none)
        if read_sets(lists, *kept, graph.fingerprints, SEED, pages, self._most, starts, found) < 0:
            raise graph.damaged()
        sets = Rows(starts, found[: starts[-1]])
        if self._gone is None:
            return sets
        targets = np.repeat(pages, np.diff(sets.starts)) if ready else sets.columns
        return chosen(sets, ~np.isin(self._gone[targets], GONE))


class HeldLinks(NamedTuple):
    """Sets held in memory, of all pages."""

    out: Rows
    into: Rows

    def outs(self, pages: Pages) -> Rows:
        """The pages that each of some pages links to, ascending."""
        return taken(self.out, pages)

    def ins(self, pages: Pages) -> Rows:
        """The pages that link to each of some pages, ascending."""
        return taken(self.into, pages)


def all_links(graph: Graph, dead: bool = False) -> Rows:
    """The pages that every page links to, ascending, held in memory; with `dead`, dead ones as well."""
    sizes, found = [np.zeros(1, np.int64)], [np.zeros(0, np.uint32)]
    stored = StoredLinks(graph, graph.pages, dead)
    for first in range(0, graph.pages, BLOCK):
        some = stored.outs(np.arange(first, min(graph.pages, first + BLOCK), dtype=np.uint32))
        sizes.append(np.diff(some.starts))
        found.append(some.columns)
    return Rows(np.cumsum(np.concatenate(sizes)), np.concatenate(found))


def strong_links(words: Likeness, outs: Rows, theta: float, beta: float, beside: str = SUPPORT) -> Rows:
    """Links without the weak ones, whose greatest r_l between keywords of their pages is below theta.

    `outs` are all links that confidence was counted of.
    """
    r, strength = replace(words.relevance, beside=beside), np.zeros(len(outs.columns), np.float64)
    weights = (beta, r.measure, tuple(r.confidence))
    link_strengths(
        words.words, r.pages_of, r.reached, r.both, outs, MIN_CONFIDENCE_PAGES, r.pages, *weights,
        room(len(r.frequency)), strength,
    )  # fmt: skip
    return chosen(outs, strength >= theta - 1e-12)


def living(graph: Graph, outs: Rows) -> Rows:
    """Links without those to dead pages."""
    status = graph.array("page.status")
    return chosen(outs, ~np.isin(status[outs.columns], GONE)) if len(status) else outs


def held_links(out: Rows, most: int = 0, order: NDArray[np.uint64] | None = None) -> HeldLinks:
    """Links and those of the other direction; with `most`, of each page those to pages of lowest `order`."""
    into = transposed(out, len(out.starts) - 1)
    if order is not None:
        out, into = (limited(rows, most, order) for rows in (out, into))
    return HeldLinks(out, into)


def limited(rows: Rows, most: int, order: NDArray[np.uint64]) -> Rows:
    """At most so many columns of each row, those of lowest order."""
    sizes = np.diff(rows.starts)
    ranked = np.lexsort((order[rows.columns], np.repeat(np.arange(len(sizes)), sizes)))
    kept = np.zeros(len(ranked), np.bool_)
    kept[ranked[np.arange(len(ranked)) - np.repeat(rows.starts[:-1], sizes) < most]] = True
    return chosen(rows, kept)


def taken(rows: Rows, pages: Pages) -> Rows:
    """Some rows, one after another."""
    first, sizes = rows.starts[pages], (rows.starts[1:] - rows.starts[:-1])[pages]
    starts = np.zeros(len(pages) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    at = np.arange(int(starts[-1])) + np.repeat(first - starts[:-1], sizes)
    return Rows(starts, rows.columns[at])


def chosen(rows: Rows, wanted: NDArray[np.bool_]) -> Rows:
    """Rows without some of their columns."""
    before = np.zeros(len(wanted) + 1, np.int64)
    np.cumsum(wanted, out=before[1:])
    return Rows(before[rows.starts], rows.columns[wanted])
