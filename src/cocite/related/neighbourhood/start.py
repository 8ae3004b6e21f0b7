"""Where a method starts: the query pages, or shorter addresses of the same site (Dean & Henzinger 1999, §2.2).

A page with too few links around it is chopped: its fragment, its query string, then one path element after another is
removed, never beyond its site, until an address has enough links around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress
from cocite.graph.store import Graph
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import Pages, Switches, View
from cocite.web import Web

Gathered = TypeVar("Gathered")


@dataclass(frozen=True)
class Start:
    """The pages to start from, and the view on them."""

    view: View
    used: list[int]
    excluded: Pages  # not results: the seeds, the pages used, their representatives, stop pages

    def scores(
        self, pages: Pages, values: NDArray[np.float64], rows: NDArray[Any] | None = None, **more: Any
    ) -> Scores:
        """Scores of pages; `rows` are positive where a query page (row) reaches a page."""
        reached = (rows > 0).sum(axis=0, dtype=np.int32) if rows is not None and len(self.used) > 1 else None
        return Scores(pages, values, self.used, self.excluded, reached=reached, **more)


def begin(
    web: Web, seeds: Sequence[int], switches: Switches, gather: Callable[[View, list[int]], tuple[Gathered, bool]]
) -> tuple[Start, Gathered]:
    """Choose where to start and gather there: first around each page by itself, then around all together.

    `gather` returns what it found around some pages, and whether that is enough for results.
    """
    graph, stop, seeds = web.graph, web.known_pages(switches.stop), list(dict.fromkeys(seeds))
    used: list[int] = []
    found: tuple[View, Gathered] | None = None
    for page in seeds:
        chosen: int | None = page
        if switches.chop != "none":
            chosen, own = None, None
            for other in chain((page,), shorter_addresses(graph, page)):
                view = View(graph, [other], switches, stop)
                gathered, enough = gather(view, [other])
                found = view, gathered
                own = own or found
                if enough:
                    chosen = other
                    break
            if chosen is None:
                found = own  # not that of the last address
        if chosen is not None or switches.chop == "site":
            used.append(page if chosen is None else chosen)
    used = list(dict.fromkeys(used))
    if found is None or len(seeds) > 1 or not used:
        view = View(graph, used, switches, stop)
        found = view, gather(view, used)[0]
    view, gathered = found
    own_pages = np.array(list(dict.fromkeys([*seeds, *used])), np.uint32)
    excluded = np.concatenate((own_pages, view.representatives(own_pages), view.refused.stop))
    return Start(view, used, excluded), gathered


def shorter_addresses(graph: Graph, page: int) -> Iterator[int]:
    """Pages of the same site at ever shorter addresses."""
    for address in chop(graph.canonical(page)):
        try:
            found = graph.get(address)
        except BadAddress:
            continue
        if found is not None and graph.units("site")[found] == graph.units("site")[page]:
            yield found


def chop(address: str) -> Iterator[str]:
    """A canonical address without its fragment, its query string, then one path element after another."""
    while not address.startswith("name:") and any(mark in address for mark in "#?/"):
        mark = next(mark for mark in "#?/" if mark in address)
        address = address[: address.rindex(mark) if mark == "/" else address.index(mark)]
        yield address
