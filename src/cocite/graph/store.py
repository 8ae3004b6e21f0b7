"""Graph: a store opened for reading. Everything is mapped; nothing is read before it is asked for.

A page is a number from 0 to pages - 1, in the order of reversed-host addresses. A Graph never changes: when a store
gets a new generation, a Graph opened before keeps its own. It can be shared among threads and pickled to processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import rows_of
from cocite.graph.facts import FETCHED, NOINDEX, Facts
from cocite.kernels.codec.lists import read_many, read_one
from cocite.kernels.codec.look_up import find_position

__all__ = ["FETCHED", "NOINDEX", "Graph", "Links"]


class Links(NamedTuple):
    """The links out of a page, in page order."""

    targets: NDArray[np.uint32]
    blocks: NDArray[np.int32]  # -1: unknown
    flags: NDArray[np.uint8]


class WithRepeats(NamedTuple):
    """Links out of some pages, with those that a page has again."""

    starts: NDArray[np.int64]
    links: Links
    added: NDArray[np.int64]  # before which of the other links each of these stands


NO_PLACES = np.zeros(0, np.int64)


class Graph(Facts):
    """The connectivity server: pages, names and links of one store."""

    def __repr__(self) -> str:
        return f"<Graph {self.path} {self.pages:,} pages, {self.links:,} links>"

    def _repr_html_(self) -> str:
        from cocite.graph.show import html

        return html(self)

    def to_frame(self, pages: Iterable[int] | None = None, library: str = "pandas") -> Any:
        """The links, or those out of some pages, as a table of pandas or of Polars; see export.py."""
        from cocite.graph.export.export import to_frame

        return to_frame(self, pages, library)

    def to_networkx(self, pages: Iterable[int] | None = None) -> Any:
        """The links, or those among some pages, as a `networkx.DiGraph` of addresses; see export.py."""
        from cocite.graph.export.export import to_networkx

        return to_networkx(self, pages)

    def to_igraph(self) -> Any:
        """The links as a directed `igraph.Graph`: vertex i is page i; see export.py."""
        from cocite.graph.export.export import to_igraph

        return to_igraph(self)

    def to_scipy(self) -> Any:
        """The links as a `scipy.sparse.csr_array`: row = source, column = target; see export.py."""
        from cocite.graph.export.export import to_scipy

        return to_scipy(self)

    def __reduce__(self) -> tuple[type[Graph], tuple[Path, str]]:
        return Graph, (self.path.absolute(), self.manifest["id"])  # page numbers hold in one generation only

    def links_from(self, page: int) -> Links:
        """The links out of a page, in page order, with blocks and flags."""
        page, degree = self._page(page), self._degree(self.out, page)
        targets, attributes = np.empty(degree, np.uint32), np.empty(degree, np.uint32)
        if read_one(self.out, page, targets, attributes) != degree:
            raise self.damaged()
        return Links(targets, (attributes & 0xFFFFFF).astype(np.int32) - 1, (attributes >> 24).astype(np.uint8))

    def links_to(self, page: int) -> NDArray[np.uint32]:
        """The pages that link to a page, ascending."""
        page, degree = self._page(page), self._degree(self.into, page)
        sources = np.empty(degree, np.uint32)
        if read_one(self.into, page, sources, np.zeros(0, np.uint32)) != degree:
            raise self.damaged()
        return sources

    def best_parents(self, page: int) -> NDArray[np.uint32] | None:
        """The parents of highest in-degree that are kept ready, best first; None for a page with few: read them all."""
        ready, best = self.array("best.page"), self.array("best.parent")
        row = int(find_position(ready, self._page(page))) if len(ready) else -1
        if row < 0:
            return None
        kept = len(best) // len(ready)
        found: NDArray[np.uint32] = best[row * kept : (row + 1) * kept]
        if int(found.max(initial=0)) >= self.pages:
            raise self.damaged()
        return found

    def weights_from(self, page: int) -> NDArray[np.float32]:
        """The probability of each link out of a page."""
        degree, weights = self._degree(self.out, self._page(page)), self.array("out.weight")
        if not len(weights):
            return np.ones(degree, np.float32)
        first = self._first_link(page)
        if first + degree > len(weights):
            raise self.damaged()
        return weights[first : first + degree]

    def blocks(self, page: int) -> list[tuple[str, NDArray[np.uint32]]]:
        """The links out of a page by block: (heading, targets), in order of appearance; the heading may be empty."""
        links, headings = self.links_from(page), self.headings(page)
        order = list(dict.fromkeys(links.blocks.tolist()))
        return [(headings[b] if 0 <= b < len(headings) else "", links.targets[links.blocks == b]) for b in order]

    def iter_links(self, pages_per_step: int = 1 << 14) -> Iterator[tuple[int, NDArray[np.int64], Links]]:
        """All links out, some pages at a time: (first page, where each page's links start, the links)."""
        degrees, first = self.out_degree, 0
        while first < self.pages:
            count = min(pages_per_step, self.pages - first)
            total = int(degrees[first : first + count].sum(dtype=np.int64))
            if total > self.links:
                raise self.damaged()
            targets, attributes = np.empty(total, np.uint32), np.empty(total, np.uint32)
            starts = np.zeros(count + 1, np.int64)
            if read_many(self.out, first, count, targets, attributes, starts) != count:
                raise self.damaged()
            blocks, flags = (attributes & 0xFFFFFF).astype(np.int32) - 1, (attributes >> 24).astype(np.uint8)
            yield first, starts, Links(targets, blocks, flags)
            first += count

    def with_repeats(self, first: int, starts: NDArray[np.int64], links: Links) -> WithRepeats:
        """Lists of `iter_links`, each with the links that its page has again at its end."""
        repeats = self.repeats
        low, high = rows_of(repeats.page, first, len(starts) - 1)
        of, targets, attributes = (each[low:high] for each in repeats)
        if not len(of):
            return WithRepeats(starts, links, NO_PLACES)
        if int(targets.max()) >= self.pages or (of[1:] < of[:-1]).any() or not first <= of[0] <= of[-1] < self.pages:
            raise self.damaged()
        at = starts[of.astype(np.int64) - first + 1]
        more = np.cumsum(np.bincount(of.astype(np.int64) - first + 1, minlength=len(starts)))
        blocks, flags = (attributes & 0xFFFFFF).astype(np.int32) - 1, (attributes >> 24).astype(np.uint8)
        both = Links(
            np.insert(links.targets, at, targets),
            np.insert(links.blocks, at, blocks),
            np.insert(links.flags, at, flags),
        )
        return WithRepeats(starts + more, both, at)

    def _first_link(self, page: int) -> int:
        """The number of a page's first link, counting all links out in page order."""
        base = page // 16 * 16
        return int(self.array("out.first")[page // 16]) + int(self.out_degree[base:page].sum(dtype=np.int64))
