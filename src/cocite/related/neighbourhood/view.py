"""The web as one question sees it: units, merged near-duplicates, ignored links and stop pages.

`Switches` are the parameters that every link method has beside its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import BOILERPLATE, NOFOLLOW
from cocite.graph.store import Graph
from cocite.kernels.related import neighbourhood
from cocite.kernels.related.counted_links import Excluded
from cocite.parameters import parameter

UNITS = ("site", "domain", "host", "none")
HASH_SEED = 42
"""Parents chosen with this seed are kept ready in the store."""
Pages = NDArray[np.uint32]
NO_PAGES: Pages = np.zeros(0, np.uint32)


@dataclass(frozen=True, kw_only=True)
class Switches:
    """What counts as independent, and as a link."""

    unit: str = parameter("site", "What counts as one independent author", choices=UNITS)
    merge: bool = parameter(True, "Count near-duplicates as one page")
    rel: str = parameter("all", "follow: ignore links marked nofollow", choices=("all", "follow"))
    boilerplate: bool = parameter(True, "Count links in navigation and footers")
    chop: str = parameter(
        "site",
        "For a page with too few links, use a shorter address of its site (strict: or return nothing)",
        choices=("site", "strict", "none"),
    )
    stop: tuple[str, ...] = parameter((), "Stop pages: addresses that are ignored (command line: or a file of them)")
    stop_degree: int = parameter(0, "Pages with at least this many in-links are stop pages (0: none)", minimum=0)
    seed: int = parameter(HASH_SEED, "Seed of the choice of parents by hash", minimum=0, maximum=2**63 - 1)

    @property
    def ignores_some(self) -> bool:
        """Whether some pages or links don't count."""
        return bool(self.stop or self.stop_degree or self.rel == "follow" or not self.boilerplate)


class Merged(NamedTuple):
    """Pages with near-duplicates merged: page i is represented by pages[number[i]]."""

    pages: Pages
    number: NDArray[np.int32]


class GraphView:
    """A graph, seen through switches. Arrays are those of the store; nothing here grows with it."""

    def __init__(self, graph: Graph, seeds: Sequence[int], switches: Switches, stop: Pages = NO_PAGES) -> None:
        """`stop` are the pages of `switches.stop`, ascending."""
        self.graph, self.switches = graph, switches
        degree = switches.stop_degree
        listed = len(stop) > 0 and bool(np.isin(seeds, stop).any())
        self._from_stop_page = listed or bool(degree and any(graph.in_degree[page] >= degree for page in seeds))
        if self._from_stop_page:
            stop, degree = NO_PAGES, 0  # a page that is a stop page itself is related to others of its kind
        flags = (NOFOLLOW if switches.rel == "follow" else 0) | (0 if switches.boilerplate else BOILERPLATE)
        self.refused = Excluded(flags, stop, degree, graph.in_degree)
        self.plain = not (flags or degree or len(stop))  # every link counts
        self.out = graph.links.out_in_part
        near, representative = graph.facts.near
        self.near = neighbourhood.NearPages(*(each if switches.merge else each[:0] for each in (near, representative)))

    @property
    def units(self) -> Pages:
        """The unit of every page of the store; empty if every page is its own."""
        unit = self.switches.unit
        return self.graph.units("site")[:0] if unit == "none" else self.graph.units(unit)

    def units_of(self, pages: Pages) -> Pages:
        """The unit of each page; with unit none every page is its own."""
        return pages if self.switches.unit == "none" else self.units[pages]

    def ignored(self) -> dict[str, int | str]:
        """What a question with these switches does not count, for the facts of its results."""
        switches, found = self.switches, dict[str, int | str]()
        if (switches.stop or switches.stop_degree) and self._from_stop_page:
            found["stop pages"] = "none, since the page asked about is one"
        else:
            found |= {"stop pages": len(self.refused.stop)} if switches.stop else {}
            found |= {"stop pages with links in from": switches.stop_degree} if switches.stop_degree else {}
        kinds = {"nofollow": switches.rel == "follow", "boilerplate": not switches.boilerplate}
        refused = " and ".join(kind for kind, switched in kinds.items() if switched)
        return found | ({"links not counted": refused} if refused else {})

    def refuses(self, page: int) -> bool:
        """Whether a page is a stop page."""
        refused = self.refused
        if refused.degree and refused.in_degree[page] >= refused.degree:
            return True
        return len(refused.stop) > 0 and bool((refused.stop == page).any())

    def check(self, count: int) -> None:
        """Raise BadStore if a kernel returned a negative count: it could not read a list."""
        if count < 0:
            raise self.graph.damaged()

    def representatives(self, pages: Pages) -> Pages:
        """The representative of each page: itself, unless it is a near-duplicate."""
        if not len(self.near[0]):
            return pages
        found = np.empty(len(pages), np.uint32)
        return found if neighbourhood.representatives(*self.near, pages, found) else pages

    def merge(self, pages: Pages) -> Merged:
        """Different pages, with near-duplicates among them merged."""
        if self.representatives(pages) is pages:  # nearly always, and then a first run compiles one kernel less
            return Merged(pages, np.arange(len(pages), dtype=np.int32))
        found, number, _ = neighbourhood.merge_pages(self.near, pages)
        return Merged(found, number)

    def group(self, pages: Pages) -> tuple[NDArray[np.int32], int]:
        """The group of each page, and the number of groups: one unit, or near-duplicates; transitively."""
        groups, count = neighbourhood.group(self.units_of(pages), self.representatives(pages))
        return groups, int(count)


def is_one_of(pages: Pages, few: Pages) -> NDArray[np.bool_]:
    """Which of the pages are among a few others. `isin` sorts, which takes longer."""
    if len(few) > 16:
        return np.isin(pages, few)
    found = np.zeros(len(pages), np.bool_)
    for page in few:
        found |= pages == page
    return found
