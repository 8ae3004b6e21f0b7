"""The web as one question sees it: units of independence, refused links, stop pages.

`Switches` are the parameters that every link method has beside its own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadParameter
from cocite.graph.arrays import BOILERPLATE, NOFOLLOW
from cocite.graph.store import Graph
from cocite.kernels.related.vicinity import Refused
from cocite.parameters import parameter

UNITS = ("site", "domain", "host", "none")
SEED = 42
Pages = NDArray[np.uint32]
NO_PAGES: Pages = np.zeros(0, np.uint32)
P = TypeVar("P")


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
    stop_degree: int = parameter(0, "pages with so many links in are stop pages (0: none)", minimum=0)
    seed: int = parameter(SEED, "of the choice of parents, by hash", minimum=0, maximum=2**63 - 1)


class View:
    """A graph, seen with switches on. Arrays are those of the store; nothing here grows with it."""

    def __init__(self, graph: Graph, seeds: Sequence[int], switches: Switches, stop: Pages = NO_PAGES) -> None:
        """`stop` are the pages of `switches.stop`, ascending: `stop_pages` finds them."""
        self.graph, self.switches = graph, switches
        degree = switches.stop_degree
        asked = len(stop) > 0 and bool(np.isin(seeds, stop).any())
        self._asks_stop_page = asked or bool(degree and any(graph.in_degree[page] >= degree for page in seeds))
        if self._asks_stop_page:
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
        return pages if self.switches.unit == "none" else self.units[pages]

    @property
    def units(self) -> Pages:
        """The unit of every page of the store; empty if every page is its own."""
        unit = self.switches.unit
        return self.graph.units("site")[:0] if unit == "none" else self.graph.units(unit)

    def left_out(self) -> dict[str, int | str]:
        """What a question with these switches does not count, for whoever reads the answers."""
        switches, found = self.switches, dict[str, int | str]()
        if (switches.stop or switches.stop_degree) and self._asks_stop_page:
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


class StopList(tuple[str, ...]):
    """A stop list whose pages were found already: it is read once for a question, or for a batch."""

    pages: Pages


def with_stop_pages(graph: Graph, params: P, pages: Pages | None = None) -> P:
    """Parameters whose stop list, if they have one, is read; `pages` are those of it that are known already."""
    if not isinstance(params, Switches) or not params.stop:
        return params
    stop = StopList(params.stop)
    stop.pages = stop_pages(graph, params.stop) if pages is None else pages
    return replace(params, stop=stop)


def stop_pages(graph: Graph, texts: Sequence[str]) -> Pages:
    """The pages of a stop list, ascending; an entry that is a file is read, unknown addresses are no matter."""
    if isinstance(texts, StopList):
        return texts.pages
    found: set[int | None] = set()
    for text in texts:
        if os.path.isfile(text):  # noqa: PTH113 - Path.is_file raises if a name is too long for one
            found.update(_page(graph, line.strip()) for line in _lines(text) if not line.startswith("#"))
            continue
        page = _page(graph, text)
        if page is None and _looks_like_a_path(text):
            raise BadParameter(f"there is no file {text!r:.200} of stop pages: check the path, or give addresses")
        found.add(page)
    return np.array(sorted(found - {None}), np.uint32)  # type: ignore[type-var]


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"the stop list {path} cannot be read: {error}") from error


def _page(graph: Graph, text: str) -> int | None:
    try:
        return graph.get(text)
    except BadAddress:
        return None


def _looks_like_a_path(text: str) -> bool:
    """Whether somebody who wrote this meant a file: an address has a host, with a dot, before its first slash."""
    if "://" in text:
        return False
    host, separator, _ = text.replace("\\", "/").partition("/")
    without_host = bool(separator) and "." not in host and ":" not in host and host != "localhost"
    return without_host or text.startswith((".", "~", "/")) or text.lower().endswith((".txt", ".tsv", ".csv"))
