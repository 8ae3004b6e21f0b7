"""Out-links and in-links of pages as sets, for methods that compare pages by such sets.

A set has no page twice, and never the page itself. Links to dead pages (captured with status 404 or 410) are ignored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.kernels.related.link_strength import StrengthWeights, WordCounts, link_strengths
from cocite.kernels.related.samples import SampledLists, read_sets
from cocite.kernels.words.keyword_pairs import Rows, room
from cocite.related.neighbourhood.view import HASH_SEED, NO_PAGES, Pages
from cocite.words.likeness import Likeness
from cocite.words.relevance import MIN_CONFIDENCE_PAGES, SUPPORT, transposed

DEAD_STATUSES = (404, 410)
CHUNK_PAGES = 1 << 14


class LinkSets(Protocol):
    """A source of sets of linked pages."""

    def outs(self, pages: Pages) -> Rows:
        """The targets of each page, ascending."""

    def ins(self, pages: Pages) -> Rows:
        """The sources of each page, ascending."""


class StoredLinks:
    """Sets read from a store; of more links than the limit, those with the smallest hashes."""

    def __init__(self, graph: Graph, limit: int, dead: bool = False) -> None:
        """At most `limit` pages per set; with `dead`, dead pages are included."""
        self._graph, self._limit = graph, min(limit, graph.pages)
        status = graph.array("page.status")
        self._status = status if len(status) and not dead else None

    def outs(self, pages: Pages) -> Rows:
        """The targets of each page, ascending."""
        return self._read(pages, incoming=False)

    def ins(self, pages: Pages) -> Rows:
        """The sources of each page, ascending."""
        return self._read(pages, incoming=True)

    def _read(self, pages: Pages, incoming: bool) -> Rows:
        graph, degree = self._graph, self._graph.in_degree if incoming else self._graph.out_degree
        sets = Rows(
            np.zeros(len(pages) + 1, np.int64),
            np.empty(int(np.minimum(degree[pages], self._limit).sum(dtype=np.int64)), np.uint32),
        )
        if incoming:
            samples = graph.array("sample.page"), graph.array("sample.parent")
            lists = SampledLists(graph.into, *samples, graph.fingerprints)
        else:
            lists = SampledLists(graph.out, NO_PAGES, NO_PAGES, graph.fingerprints)
        if read_sets(lists, HASH_SEED, pages, self._limit, sets) < 0:
            raise graph.damaged()
        sets = Rows(sets.starts, sets.columns[: sets.starts[-1]])
        if self._status is None:
            return sets
        targets = np.repeat(pages, np.diff(sets.starts)) if incoming else sets.columns
        return filter_columns(sets, ~np.isin(self._status[targets], DEAD_STATUSES))


class LinksInMemory(NamedTuple):
    """The sets of all pages, in memory."""

    out: Rows
    into: Rows

    def outs(self, pages: Pages) -> Rows:
        """The targets of each page, ascending."""
        return take_rows(self.out, pages)

    def ins(self, pages: Pages) -> Rows:
        """The sources of each page, ascending."""
        return take_rows(self.into, pages)


def all_links(graph: Graph, dead: bool = False) -> Rows:
    """The targets of every page, ascending, in memory; with `dead`, dead pages are included."""
    sizes, found = [np.zeros(1, np.int64)], [np.zeros(0, np.uint32)]
    stored = StoredLinks(graph, graph.pages, dead)
    for first in range(0, graph.pages, CHUNK_PAGES):
        some = stored.outs(np.arange(first, min(graph.pages, first + CHUNK_PAGES), dtype=np.uint32))
        sizes.append(np.diff(some.starts))
        found.append(some.columns)
    return Rows(np.cumsum(np.concatenate(sizes)), np.concatenate(found))


def strong_links(words: Likeness, outs: Rows, theta: float, beta: float, beside: str = SUPPORT) -> Rows:
    """Links without weak ones: the greatest r_l between keywords of their two pages is below theta.

    `outs` are all links from which confidence was counted.
    """
    r, strength = replace(words.relevance, beside=beside), np.zeros(len(outs.columns), np.float64)
    evidence = WordCounts(words.words, r.pages_of, r.reached, r.both, r.pages)
    weights = StrengthWeights(beta, r.measure, tuple(r.confidence), MIN_CONFIDENCE_PAGES)
    link_strengths(evidence, outs, weights, room(len(r.frequency)), strength)
    return filter_columns(outs, strength >= theta - 1e-12)


def without_dead(graph: Graph, outs: Rows) -> Rows:
    """Links without those to dead pages."""
    status = graph.array("page.status")
    return filter_columns(outs, ~np.isin(status[outs.columns], DEAD_STATUSES)) if len(status) else outs


def links_in_memory(out: Rows, limit: int = 0, order: NDArray[np.uint64] | None = None) -> LinksInMemory:
    """Both directions of links; given an order, at most `limit` links of each page, to pages of lowest order."""
    into = transposed(out, len(out.starts) - 1)
    if order is not None:
        out, into = (limit_columns(rows, limit, order) for rows in (out, into))
    return LinksInMemory(out, into)


def limit_columns(rows: Rows, limit: int, order: NDArray[np.uint64]) -> Rows:
    """At most `limit` columns of each row, those of lowest order."""
    sizes = np.diff(rows.starts)
    ranked = np.lexsort((order[rows.columns], np.repeat(np.arange(len(sizes)), sizes)))
    kept = np.zeros(len(ranked), np.bool_)
    kept[ranked[np.arange(len(ranked)) - np.repeat(rows.starts[:-1], sizes) < limit]] = True
    return filter_columns(rows, kept)


def take_rows(rows: Rows, pages: Pages) -> Rows:
    """Some rows, in the given order."""
    first, sizes = rows.starts[pages], (rows.starts[1:] - rows.starts[:-1])[pages]
    starts = np.zeros(len(pages) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    at = np.arange(int(starts[-1])) + np.repeat(first - starts[:-1], sizes)
    return Rows(starts, rows.columns[at])


def filter_columns(rows: Rows, wanted: NDArray[np.bool_]) -> Rows:
    """Rows with only the wanted ones of their columns."""
    before = np.zeros(len(wanted) + 1, np.int64)
    np.cumsum(wanted, out=before[1:])
    return Rows(before[rows.starts], rows.columns[wanted])
