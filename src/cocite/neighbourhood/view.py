"""The web as one question sees it: units of independence, refused links, stop pages.

`Switches` are the parameters that every link method has beside its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadParameter
from cocite.graph.columns import BOILERPLATE, NOFOLLOW
from cocite.graph.store import Graph
from cocite.kernels.vicinity import Refused
from cocite.parameters import parameter

UNITS = ("site", "domain", "host", "none")
SEED = 42
Pages = NDArray[np.uint32]
NO_PAGES: Pages = np.zeros(0, np.uint32)


@dataclass(frozen=True, kw_only=True)
class Switches:
    """What counts as independent, and as a link."""

    unit: str = parameter("site", "whose pages are one opinion", choices=UNITS)
    merge: bool = parameter(True, "near-duplicates count as one page")
    rel: str = parameter("all", "follow: without links marked nofollow", choices=("all", "follow"))
    boilerplate: bool = parameter(True, "count links in navigation and footers")
    chop: str = parameter(
        "site",
        "too little known of a page: ask a shorter address of its site (strict: or give no answer)",
        choices=("site", "strict", "none"),
    )
    stop: tuple[str, ...] = parameter((), "stop pages: addresses, or a file of them, one a line")
    stop_degree: int = parameter(0, "pages with so many links in are stop pages (0: none)", least=0)
    seed: int = parameter(SEED, "of the choice of parents, by hash", least=0, most=2**63 - 1)


class View:
    """A graph, seen with switches on. Arrays are those of the store; nothing here grows with it."""

    def __init__(self, graph: Graph, seeds: Sequence[int], switches: Switches, stop: Pages = NO_PAGES) -> None:
        """`stop` are the pages of `switches.stop`, ascending: `stop_pages` finds them."""
        self.graph, self.switches = graph, switches
        degree = switches.stop_degree
        asked = len(stop) > 0 and bool(np.isin(seeds, stop).any())
        if asked or (degree and any(graph.in_degree[page] >= degree for page in seeds)):
            stop, degree = NO_PAGES, 0  # a page that is a stop page itself is related to others of its kind
        self.refused = Refused(
            (NOFOLLOW if switches.rel == "follow" else 0) | (0 if switches.boilerplate else BOILERPLATE),
            stop,
            degree,
            graph.in_degree,
        )
        self.plain = not (self.refused.flags or degree or len(stop))
        self.out = graph.out_in_part

    def units_of(self, pages: Pages) -> Pages:
        """The unit of each page; with unit none every page is its own."""
        unit = self.switches.unit
        return pages if unit == "none" else self.graph.units(unit)[pages]

    def refuses(self, page: int) -> bool:
        """Whether a page is a stop page."""
        refused = self.refused
        if refused.degree and refused.in_degree[page] >= refused.degree:
            return True
        at = int(np.searchsorted(refused.stop, page))
        return at < len(refused.stop) and bool(refused.stop[at] == page)


def is_one_of(pages: Pages, few: Pages) -> NDArray[np.bool_]:
    """Which of the pages are among a few others. `isin` sorts, which takes longer."""
    if len(few) > 16:
        return np.isin(pages, few)
    found = np.zeros(len(pages), np.bool_)
    for page in few:
        found |= pages == page
    return found


def stop_pages(graph: Graph, texts: Sequence[str]) -> Pages:
    """The pages of a stop list; an entry that is a file is read, unknown addresses are no matter."""
    found: set[int] = set()
    for text in texts:
        path = Path(text)
        try:
            lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else [text]
        except (OSError, UnicodeDecodeError) as error:
            raise BadParameter(f"the stop list {text} cannot be read: {error}") from error
        for line in lines:
            if line.strip() and not line.startswith("#"):
                try:
                    page = graph.get(line.strip())
                except BadAddress:
                    continue
                found.update(() if page is None else (page,))
    return np.array(sorted(found), np.uint32)
