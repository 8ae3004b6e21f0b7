"""Where a method starts: the query pages, or shorter addresses of the same site (Dean & Henzinger 1999, §2.2).

A page of which too little is known is chopped: its fragment, its query string, then one path element after another
goes, never beyond its site, until an address is found that has links enough around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from cocite.errors import BadAddress
from cocite.graph.store import Graph
from cocite.related.neighbourhood.clean import representatives
from cocite.related.neighbourhood.view import Pages, Switches, View, stop_pages


class Found(Protocol):
    """What a method gathered round pages."""

    @property
    def enough(self) -> bool:
        """Whether that is enough to answer from."""


F = TypeVar("F", bound=Found)


class Start(NamedTuple):
    """The pages to start from, and the view they are seen in."""

    view: View
    used: list[int]
    never: Pages  # no answers: the seeds, the pages used, what stands for them, stop pages


def begin(
    graph: Graph, seeds: Sequence[int], switches: Switches, gather: Callable[[View, list[int]], F]
) -> tuple[Start, F]:
    """Choose where to start and gather there: `gather` is tried on each page alone, then done for all together."""
    stop = stop_pages(graph, switches.stop)
    seeds = list(dict.fromkeys(seeds))
    used: list[int] = []
    tried: tuple[View, F] | None = None
    for page in seeds:
        chosen: int | None = page
        if switches.chop != "none":
            chosen, own = None, None
            for other in chain((page,), chopped(graph, page)):
                view = View(graph, [other], switches, stop)
                tried = view, gather(view, [other])
                own = own or tried
                if tried[1].enough:
                    chosen = other
                    break
            if chosen is None:
                tried = own  # not that of the last address tried
        if chosen is not None or switches.chop == "site":
            used.append(page if chosen is None else chosen)
    used = list(dict.fromkeys(used))
    if tried is None or len(seeds) > 1 or not used:
        view = View(graph, used, switches, stop)
        tried = view, gather(view, used)
    asked = np.array(list(dict.fromkeys([*seeds, *used])), np.uint32)
    never = np.concatenate((asked, representatives(tried[0], asked), tried[0].refused.stop))
    return Start(tried[0], used, never), tried[1]


def chopped(graph: Graph, page: int) -> Iterator[int]:
    """Pages of the same site at ever shorter addresses."""
    address = graph.canonical(page)
    while not address.startswith("name:") and any(mark in address for mark in "#?/"):
        mark = next(mark for mark in "#?/" if mark in address)
        address = address[: address.rindex(mark) if mark == "/" else address.index(mark)]
        try:
            found = graph.get(address)
        except BadAddress:
            continue
        if found is not None and graph.units("site")[found] == graph.units("site")[page]:
            yield found
