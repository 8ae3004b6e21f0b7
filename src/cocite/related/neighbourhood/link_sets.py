"""Out-links and in-links of pages as sets, for methods that compare pages by such sets.

A set has no page twice, and never the page itself. Links to dead pages (captured with status 404 or 410) are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.kernels.related.samples import SampledLists, read_sets
from cocite.kernels.words.keyword_pairs import Rows, StrengthWeights, WordCounts, counting_space, link_strengths
from cocite.related.neighbourhood.view import HASH_SEED, NO_PAGES, Pages
from cocite.words.likeness import Likeness
from cocite.words.relevance import MIN_CONFIDENCE_PAGES, SUPPORT, transposed

DEAD_STATUSES = (404, 410)
CHUNK_PAGES = 1 << 14


def is_dead(graph: Graph, pages: Pages) -> NDArray[np.bool_]:
    """Which pages were captured with a status that means they are gone."""
    status = graph.array("page.status")
    return np.isin(status[pages], DEAD_STATUSES) if len(status) else np.zeros(len(pages), np.bool_)


@dataclass(frozen=True)
class StoredLinks:
    """Sets read from a store; of more links than the limit, those with the smallest hashes."""

    graph: Graph
    limit: int
    dead: bool = False  # include links to dead pages

    def outs(self, pages: Pages) -> Rows:
        """The targets of each page, ascending."""
        sets = self._read(
            SampledLists(self.graph.out, NO_PAGES, NO_PAGES, self.graph.fingerprints), self.graph.out_degree, pages
        )
        return sets if self.dead else filter_columns(sets, ~is_dead(self.graph, sets.columns))

    def ins(self, pages: Pages) -> Rows:
        """The sources of each page, ascending."""
        graph = self.graph
        samples = graph.array("sample.page"), graph.array("sample.parent")
        sets = self._read(SampledLists(graph.into, *samples, graph.fingerprints), graph.in_degree, pages)
        return sets if self.dead else filter_columns(sets, ~is_dead(graph, np.repeat(pages, np.diff(sets.starts))))

    def _read(self, lists: SampledLists, degree: NDArray[np.uint32], pages: Pages) -> Rows:
        graph, limit = self.graph, min(self.limit, self.graph.pages)
        columns = np.empty(int(np.minimum(degree[pages], limit).sum(dtype=np.int64)), np.uint32)
        sets = Rows(np.zeros(len(pages) + 1, np.int64), columns)
        if read_sets(lists, HASH_SEED, pages, limit, sets) < 0:
            raise graph.damaged()
        return Rows(sets.starts, columns[: sets.starts[-1]])


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


LinkSets = StoredLinks | LinksInMemory


def all_links(graph: Graph, dead: bool = False) -> Rows:
    """The targets of every page, ascending, in memory; with `dead`, dead pages are included."""
    stored, starts = StoredLinks(graph, graph.pages, dead), range(0, graph.pages, CHUNK_PAGES)
    chunks = [stored.outs(np.arange(a, min(graph.pages, a + CHUNK_PAGES), dtype=np.uint32)) for a in starts]
    sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(each.starts) for each in chunks)])
    return Rows(np.cumsum(sizes), np.concatenate([NO_PAGES, *(each.columns for each in chunks)]))


def strong_links(words: Likeness, outs: Rows, theta: float, beta: float, beside: str = SUPPORT) -> Rows:
    """Links without weak ones: the greatest r_l between keywords of their two pages is below theta.

    `outs` are all links from which confidence was counted.
    """
    r, strength = replace(words.relevance, beside=beside), np.zeros(len(outs.columns), np.float64)
    evidence = WordCounts(words.words, r.pages_of, r.reached, r.both, r.pages)
    weights = StrengthWeights(beta, r.measure, tuple(r.confidence), MIN_CONFIDENCE_PAGES)
    link_strengths(evidence, outs, weights, counting_space(len(r.frequency)), strength)
    return filter_columns(outs, strength >= theta - 1e-12)


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
    sizes = (rows.starts[1:] - rows.starts[:-1])[pages]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    at = np.arange(int(starts[-1])) + np.repeat(rows.starts[pages] - starts[:-1], sizes)
    return Rows(starts, rows.columns[at])


def filter_columns(rows: Rows, wanted: NDArray[np.bool_]) -> Rows:
    """Rows with only the wanted ones of their columns."""
    return Rows(np.concatenate([np.zeros(1, np.int64), np.cumsum(wanted)])[rows.starts], rows.columns[wanted])
