"""Graph: a store opened for reading, or a graph in memory.

A page is a number from 0 to pages - 1, in the order of reversed-host addresses. A Graph never changes: when a store
gets a new generation, a Graph opened before keeps its own. Arrays are mapped; nothing is read before it is needed.
A Graph can be shared among threads and pickled to processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter, CociteError
from cocite.graph.arrays import HAS_RECORD, IN_MEMORY, NOINDEX, Arrays, rows_of
from cocite.graph.changes.removed import RemovedPages
from cocite.graph.links import GraphLinks, OutLinks
from cocite.graph.names import PageNames
from cocite.graph.texts import PageTexts
from cocite.kernels.codec.lists import Lists
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.interpreted import expect
from cocite.pages.site import Sites

if TYPE_CHECKING:
    from cocite.sources.records import Page


class Graph:
    """Pages, and the parts that describe them: links, names, texts, sites and facts."""

    def __init__(self, store: str | Path | Arrays, expected: str = "") -> None:
        """Open a store; with `expected`, the id of a generation, no other. Or take arrays that are in memory."""
        self.arrays = store if isinstance(store, Arrays) else Arrays.open(Path(store), expected)
        self.path, self.manifest, self.pages = self.arrays.path, self.arrays.manifest, self.arrays.pages
        self.names, self.texts = PageNames(self.arrays), PageTexts(self.arrays)
        names = self.names  # not self: a graph in a cycle stays until the collector runs
        self.links = GraphLinks(self.arrays, lambda: names.order)
        expect(self.items)
        self.sites, self.facts = PageSites(self.arrays, self.names), PageFacts(self.arrays)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], manifest: Mapping[str, Any] | None = None) -> Graph:
        """Make a graph in memory of arrays with the names of FORMAT.md; missing ones are empty."""
        degrees = arrays.get("out.degree", np.zeros(0, np.uint32))
        counted = {"id": "", "pages": len(degrees), "links": int(degrees.sum(dtype=np.int64))}
        return cls(Arrays(arrays, {**counted, **(manifest or {})}))

    @classmethod
    def from_records(cls, pages: Sequence[Page]) -> Graph:
        """Build a graph of page records in memory: the same as a store of them, without a disk."""
        from cocite.graph.build.passes import build_in_memory
        from cocite.sources.records import ReadReport, batch

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
        from cocite.sources.records import Link, Page

        pages = {url: Page(url, title) for url, title in (titles or {}).items()}
        for source, target, *block in links:
            pages.setdefault(source, Page(source)).links.append(Link(target, block=block[0] if block else None))
        return cls.from_records(list(pages.values()))

    def __len__(self) -> int:
        """The number of pages. With layers, page numbers go up to `pages`, and some are no pages any more."""
        return int(self.manifest.get("pages", self.pages))

    def __repr__(self) -> str:
        return f"<Graph {self.path} {len(self):,} pages, {len(self.links):,} links>"

    @property
    def items(self) -> int:
        """Pages and links."""
        return self.pages + len(self.links)

    @property
    def order(self) -> NDArray[np.uint64]:
        """The address keys of the pages that layers have added: they break ties, as numbers do for others."""
        return self.names.order

    def __reduce__(self) -> tuple[type[Graph], tuple[Any, ...]]:
        if self.path == IN_MEMORY:
            return Graph, (self.arrays,)
        return Graph, (self.path.absolute(), self.manifest["id"])  # page numbers hold in one generation only

    @cached_property
    def in_degree(self) -> NDArray[np.uint32]:
        """Links into each page."""
        return self.links.in_degree

    @cached_property
    def out_degree(self) -> NDArray[np.uint32]:
        """Links out of each page."""
        return self.links.out_degree

    @cached_property
    def fingerprints(self) -> NDArray[np.uint64]:
        """Public hashes of all pages, the same in every store."""
        return self.arrays["fingerprint"]

    @cached_property
    def removed(self) -> RemovedPages:
        """The pages that were removed for good."""
        return RemovedPages.read(self.arrays)

    # The most used methods of the parts.

    def find(self, address: str) -> int:
        """The page of an address in any spelling; an alias gives its target. Raises UnknownPage, BadAddress."""
        return self.names.find(address)

    def get(self, address: str) -> int | None:
        """The page of an address in any spelling, None if the store does not have it."""
        return self.names.get(address)

    def address(self, page: int) -> str:
        """The address of a page as its own record, or the first link to it, spells it."""
        return self.names.address(page)

    def canonical(self, page: int) -> str:
        """The canonical address of a page, or `name:` and its opaque name."""
        return self.names.canonical(page)

    def alias_target(self, page: int) -> int:
        """The target of an alias; any other page itself."""
        return self.names.alias_target(page)

    def links_from(self, page: int) -> OutLinks:
        """The links out of a page, in page order, with blocks and flags."""
        return self.links.links_from(page)

    def links_to(self, page: int) -> NDArray[np.uint32]:
        """The pages that link to a page, ascending."""
        return self.links.links_to(page)

    def pool(self, page: int) -> NDArray[np.uint32] | None:
        """The parents to choose from, where the graph is a part of a web that has no others; None: all are here."""
        return None

    def iter_links(self, chunk_pages: int = 1 << 14) -> Iterator[tuple[int, NDArray[np.int64], OutLinks]]:
        """All links out, some pages at a time: (first page, where each page's links start, the links)."""
        return self.links.iter_links(chunk_pages)

    def weights_from(self, page: int) -> NDArray[np.float32]:
        """The probability of each link out of a page."""
        return self.links.weights_from(page)

    def best_parents(self, page: int) -> NDArray[np.uint32] | None:
        """The stored parents of highest in-degree, best first; None for a page with few parents: read them all."""
        return self.links.best_parents(page)

    def title(self, page: int) -> str:
        """The title of a page, or the empty text."""
        return self.texts.title(page)

    def headings(self, page: int) -> list[str]:
        """The headings of a page's sections, by their numbers."""
        return self.texts.headings(page)

    def text(self, page: int) -> str:
        """The main text of a page."""
        return self.texts.text(page)

    def anchors(self, page: int) -> list[str]:
        """The texts of the links out of a page, in their order."""
        return self.texts.anchors(page)

    def contexts(self, page: int) -> list[str]:
        """The words around the links out of a page, in their order."""
        return self.texts.contexts(page)

    def units(self, unit: str) -> NDArray[np.uint32]:
        """The unit of independence of each page, as a number: host, domain or site."""
        return self.sites.units(unit)

    def site(self, page: int) -> str:
        """The name of a page's site."""
        return self.sites.name(page)

    def array(self, name: str) -> NDArray[Any]:
        """An array of the store, by its name in FORMAT.md."""
        return self.arrays[name]

    def damaged(self) -> CociteError:
        """The error for lists, names or texts that cannot be read."""
        return self.arrays.damaged()

    @property
    def out(self) -> Lists:
        """Links out, as kernels take them."""
        return self.links.out

    @property
    def into(self) -> Lists:
        """Links in, as kernels take them."""
        return self.links.into

    def _repr_html_(self) -> str:
        from cocite.graph.notebook import html

        return html(self)

    def to_frame(self, pages: Iterable[int] | None = None, library: str = "pandas") -> Any:
        """The links, or those out of some pages, as a table of pandas or of Polars; see export/."""
        return _exports().to_frame(self, pages, library)

    def to_networkx(self, pages: Iterable[int] | None = None) -> Any:
        """The links, or those among some pages, as a `networkx.DiGraph` of addresses; see export/."""
        return _exports().to_networkx(self, pages)

    def to_igraph(self) -> Any:
        """The links as a directed `igraph.Graph`: vertex i is page i; see export/."""
        return _exports().to_igraph(self)

    def to_scipy(self) -> Any:
        """The links as a `scipy.sparse.csr_array`: row = source, column = target; see export/."""
        return _exports().to_scipy(self)


def _exports() -> Any:
    from cocite.graph.export import libraries

    return libraries


class PageSites:
    """The site, host and domain of all pages."""

    def __init__(self, arrays: Arrays, names: PageNames) -> None:
        self._arrays, self._names = arrays, names

    def units(self, unit: str) -> NDArray[np.uint32]:
        """The unit of independence of each page, as a number: host, domain or site."""
        if unit == "domain":
            return self._domain_of
        if unit not in ("site", "host"):
            raise BadParameter(f"unit is host, domain or site, not {unit!r}")
        return self._arrays[f"page.{unit}"]

    @cached_property
    def _domain_of(self) -> NDArray[np.uint32]:
        """The domain of each page: cached, since it takes memory and time in proportion to the pages."""
        hosts, domains = self._arrays["page.host"], self._arrays["host.domain"]
        if len(hosts) and int(hosts.max()) >= len(domains):
            raise self._arrays.damaged()
        found: NDArray[np.uint32] = domains[hosts]
        found.flags.writeable = False  # as all arrays of a store
        return found

    def name(self, page: int) -> str:
        """The name of a page's site."""
        try:
            return Sites().site(self._names.canonical(page))
        except ValueError as error:
            raise self._arrays.damaged() from error


class PageFacts:
    """Captures and near-duplicates of all pages."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def fetched(self, page: int) -> bool:
        """Whether the page has a record of its own; others are known from links only."""
        return bool(self._number("page.kind", page) & HAS_RECORD)

    def noindex(self, page: int) -> bool:
        """Whether the page asks not to be indexed."""
        return bool(self._number("page.kind", page) & NOINDEX)

    def status(self, page: int) -> int:
        """The HTTP status of the capture, 0 if unknown."""
        return self._number("page.status", page)

    def captured(self, page: int) -> int:
        """Seconds since 1970 of the capture, 0 if unknown."""
        return self._number("page.captured", page)

    def language(self, page: int) -> str:
        """The language code of the page, empty if unknown."""
        return self._number("page.language", page).to_bytes(4, "little").rstrip(b"\0").decode("ascii", "replace")

    def _number(self, name: str, page: int) -> int:
        page, values = self._arrays.page(page), self._arrays[name]
        return int(values[page]) if len(values) else 0

    @cached_property
    def all_near_duplicates(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """All pages with near-duplicates, ascending, and their representatives; checked, since kernels trust them."""
        pages, representatives = self._arrays["near.page"], self._arrays["near.representative"]
        if max(representatives.max(initial=0), pages.max(initial=0)) >= max(1, self._arrays.pages):
            raise self._arrays.damaged()
        return pages, representatives

    def representative(self, page: int) -> int:
        """The representative of a page's near-duplicate group; the page itself if it has no near-duplicates."""
        at = int(find_position(self._arrays["near.page"], page))
        return page if at < 0 else self._arrays.page_at("near.representative", at)

    def near_duplicates(self, page: int) -> NDArray[np.uint32]:
        """The other pages of the group that a page represents, ascending; none for other pages."""
        if find_position(self._arrays["near.page"], self._arrays.page(page)) < 0:
            return np.zeros(0, np.uint32)
        representatives, pages = self._near_by_representative
        low, high = rows_of(representatives, page)
        others: NDArray[np.uint32] = pages[low:high][pages[low:high] != page]
        return others

    @cached_property
    def _near_by_representative(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """The same by representative: sorted once, not searched through for each result."""
        pages, representatives = self.all_near_duplicates
        order = np.argsort(representatives, kind="stable")
        return representatives[order], pages[order]
