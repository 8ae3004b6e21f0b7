"""Graph: a store opened for reading, or a graph in memory.

A page is a number from 0 to pages - 1, in the order of reversed-host addresses. A Graph never changes: when a store
gets a new generation, a Graph opened before keeps its own. Arrays are mapped; nothing is read before it is needed.
A Graph can be shared among threads and pickled to processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import IN_MEMORY, Arrays, rows_of
from cocite.graph.facts import FETCHED, NOINDEX, PageFacts
from cocite.graph.huffman import Code
from cocite.graph.names import PageNames
from cocite.graph.texts import PageTexts
from cocite.kernels.codec.attributes import all_blocks, all_flags
from cocite.kernels.codec.lists import Lists, read_many, read_one
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.related.counted_links import OutLists, Repeats
from cocite.pages.site import Sites
from cocite.sources.records import Link, Page, ReadReport, batch

__all__ = ["FETCHED", "NOINDEX", "Graph", "OutLinks"]


class OutLinks(NamedTuple):
    """The links out of a page, in page order."""

    targets: NDArray[np.uint32]
    blocks: NDArray[np.int32]  # -1: unknown
    flags: NDArray[np.uint8]

    @classmethod
    def of(cls, targets: NDArray[np.uint32], attributes: NDArray[np.uint32]) -> OutLinks:
        """Links with their attributes unpacked."""
        return cls(targets, all_blocks(attributes).astype(np.int32) - 1, all_flags(attributes))


class WithRepeats(NamedTuple):
    """Links out of some pages, with those that a page has again."""

    starts: NDArray[np.int64]
    links: OutLinks
    added: NDArray[np.int64]  # before which of the other links each of these stands


NO_PLACES = np.zeros(0, np.int64)


class Graph:
    """Pages and links. Names, texts and other facts of pages are parts of their own."""

    def __init__(self, store: str | Path | Arrays, expected: str = "") -> None:
        """Open a store; with `expected`, the id of a generation, no other. Or take arrays that are in memory."""
        self.arrays = store if isinstance(store, Arrays) else Arrays.open(Path(store), expected)
        self.path, self.manifest = self.arrays.path, self.arrays.manifest
        self.pages, self.links = self.arrays.pages, self.arrays.links
        self.names, self.texts, self.facts = PageNames(self.arrays), PageTexts(self.arrays), PageFacts(self.arrays)
        # The parts' methods that callers use most.
        self.find, self.get, self.lead = self.names.find, self.names.get, self.names.lead
        self.address, self.canonical = self.names.address, self.names.canonical
        self.title, self.headings, self.text = self.texts.title, self.texts.headings, self.texts.text
        self.anchors, self.contexts = self.texts.anchors, self.texts.contexts
        self.units, self.damaged = self.facts.units, self.arrays.damaged

    @classmethod
    def from_records(cls, pages: Sequence[Page]) -> Graph:
        """Build a graph of page records in memory: the same as a store of them, without a disk."""
        from cocite.graph.build.passes import build_in_memory

        return cls(build_in_memory([batch(list(pages))], ReadReport()))

    @classmethod
    def from_links(
        cls, links: Iterable[tuple[str, str] | tuple[str, str, int]], titles: Mapping[str, str] | None = None
    ) -> Graph:
        """Build a graph in memory of links (source, target) or (source, target, block), in page order.

        `titles` of pages are optional; a page in them need not have links.

        >>> graph = Graph.from_links([("https://a.example/", "https://b.example/")])
        >>> graph.pages, graph.links_from(graph.find("a.example")).targets.tolist()
        (2, [1])
        """
        pages = {url: Page(url, title) for url, title in (titles or {}).items()}
        for source, target, *block in links:
            pages.setdefault(source, Page(source)).links.append(Link(target, block=block[0] if block else None))
        return cls.from_records(list(pages.values()))

    def __len__(self) -> int:
        return self.pages

    def array(self, name: str) -> NDArray[Any]:
        """An array by its name in FORMAT.md; empty where this store has none."""
        return self.arrays[name]

    @cached_property
    def out(self) -> Lists:
        """Links out, as kernels take them."""
        return self._lists("out")

    @cached_property
    def into(self) -> Lists:
        """Links in, as kernels take them."""
        return self._lists("in")

    def _lists(self, name: str) -> Lists:
        try:
            table = Code.from_lengths(self.array(f"{name}.code")).table
        except ValueError as error:
            raise self.damaged() from error
        words, base, offset, degree = (self.array(f"{name}.{part}") for part in ("words", "base", "offset", "degree"))
        return Lists(words, base, offset, degree, table)

    @cached_property
    def out_in_part(self) -> OutLists:
        """Links out with the entry points into long lists."""
        parts = ("long.page", "long.first", "skip.bit", "skip.before", "skip.attribute")
        return OutLists(
            self.out, *(self.array(f"out.{part}") for part in (*parts, "long.link", "long.target", "long.place"))
        )

    @cached_property
    def repeats(self) -> Repeats:
        """Links that pages have again in other blocks, as kernels take them."""
        return Repeats(*(self.array(f"repeat.{part}") for part in Repeats._fields))

    @property
    def in_degree(self) -> NDArray[np.uint32]:
        """Links into each page."""
        return self.array("in.degree")

    @property
    def out_degree(self) -> NDArray[np.uint32]:
        """Links out of each page."""
        return self.array("out.degree")

    @property
    def fingerprints(self) -> NDArray[np.uint64]:
        """A hash of each page's address, the same in every store."""
        return self.array("fingerprint")

    @property
    def removed(self) -> NDArray[np.uint64]:
        """Fingerprints of pages that were removed for good."""
        return self.array("removed").astype(np.uint64)

    def site(self, page: int) -> str:
        """The name of a page's site."""
        try:
            return Sites().site(self.canonical(page))
        except ValueError as error:
            raise self.damaged() from error

    def __repr__(self) -> str:
        return f"<Graph {self.path} {self.pages:,} pages, {self.links:,} links>"

    def _repr_html_(self) -> str:
        from cocite.graph.notebook import html

        return html(self)

    def to_frame(self, pages: Iterable[int] | None = None, library: str = "pandas") -> Any:
        """The links, or those out of some pages, as a table of pandas or of Polars; see export.py."""
        from cocite.graph.export.libraries import to_frame

        return to_frame(self, pages, library)

    def to_networkx(self, pages: Iterable[int] | None = None) -> Any:
        """The links, or those among some pages, as a `networkx.DiGraph` of addresses; see export.py."""
        from cocite.graph.export.libraries import to_networkx

        return to_networkx(self, pages)

    def to_igraph(self) -> Any:
        """The links as a directed `igraph.Graph`: vertex i is page i; see export.py."""
        from cocite.graph.export.libraries import to_igraph

        return to_igraph(self)

    def to_scipy(self) -> Any:
        """The links as a `scipy.sparse.csr_array`: row = source, column = target; see export.py."""
        from cocite.graph.export.libraries import to_scipy

        return to_scipy(self)

    def __reduce__(self) -> tuple[type[Graph], tuple[Any, ...]]:
        if self.path == IN_MEMORY:
            return Graph, (self.arrays,)
        return Graph, (self.path.absolute(), self.manifest["id"])  # page numbers hold in one generation only

    def links_from(self, page: int) -> OutLinks:
        """The links out of a page, in page order, with blocks and flags."""
        page, degree = self.arrays.page(page), self._degree(self.out, page)
        targets, attributes = np.empty(degree, np.uint32), np.empty(degree, np.uint32)
        if read_one(self.out, page, targets, attributes) != degree:
            raise self.damaged()
        return OutLinks.of(targets, attributes)

    def links_to(self, page: int) -> NDArray[np.uint32]:
        """The pages that link to a page, ascending."""
        page, degree = self.arrays.page(page), self._degree(self.into, page)
        sources = np.empty(degree, np.uint32)
        if read_one(self.into, page, sources, np.zeros(0, np.uint32)) != degree:
            raise self.damaged()
        return sources

    def best_parents(self, page: int) -> NDArray[np.uint32] | None:
        """The parents of highest in-degree that are kept ready, best first; None for a page with few: read them all."""
        ready, best = self.array("best.page"), self.array("best.parent")
        row = int(find_position(ready, self.arrays.page(page))) if len(ready) else -1
        if row < 0:
            return None
        kept = len(best) // len(ready)
        found: NDArray[np.uint32] = best[row * kept : (row + 1) * kept]
        if int(found.max(initial=0)) >= self.pages:
            raise self.damaged()
        return found

    def weights_from(self, page: int) -> NDArray[np.float32]:
        """The probability of each link out of a page."""
        degree, weights = self._degree(self.out, self.arrays.page(page)), self.array("out.weight")
        if not len(weights):
            return np.ones(degree, np.float32)
        first = self.first_link(page)
        if first + degree > len(weights):
            raise self.damaged()
        return weights[first : first + degree]

    def blocks(self, page: int) -> list[tuple[str, NDArray[np.uint32]]]:
        """The links out of a page by block: (heading, targets), in order of appearance; the heading may be empty."""
        links, headings = self.links_from(page), self.headings(page)
        order = list(dict.fromkeys(links.blocks.tolist()))
        return [(headings[b] if 0 <= b < len(headings) else "", links.targets[links.blocks == b]) for b in order]

    def iter_links(self, pages_per_step: int = 1 << 14) -> Iterator[tuple[int, NDArray[np.int64], OutLinks]]:
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
            yield first, starts, OutLinks.of(targets, attributes)
            first += count

    def with_repeats(self, first: int, starts: NDArray[np.int64], links: OutLinks) -> WithRepeats:
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
        again = OutLinks.of(targets, attributes)
        both = OutLinks(
            np.insert(links.targets, at, again.targets),
            np.insert(links.blocks, at, again.blocks),
            np.insert(links.flags, at, again.flags),
        )
        return WithRepeats(starts + more, both, at)

    def _degree(self, lists: Lists, page: int) -> int:
        """The length of a list, validated before memory is allocated for it."""
        degree = int(lists.degree[page])
        if degree > self.links:
            raise self.damaged()
        return degree

    def first_link(self, page: int) -> int:
        """The number of a page's first link, counting all links out in page order."""
        base = page // 16 * 16
        return int(self.array("out.first")[page // 16]) + int(self.out_degree[base:page].sum(dtype=np.int64))
