"""The lines of a citing page around two links: what a reader would see there, for showing why pages are related."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.results.naming import Titles

NEAR = 6
"""Links apart up to which all that stands between two pages is shown; else what stands next to each."""
BESIDE = 1
"""Links before the first and after the last that are shown."""
LONGEST = 5000
"""Lists of more links are not read for this: 5,000 links with their texts take 3 ms."""
LISTS = 128
"""Lists that are kept with a graph: answers stand on the same ones. Reading those of ten answers took 5 ms."""


class Line(NamedTuple):
    """A link of a list: what it is called there, and whether it is one of the two. Without a page it is a gap."""

    text: str
    page: int


List = tuple[NDArray[np.uint32], NDArray[np.int32], list[str]]
"""Targets, blocks and texts of a page's links."""


class Excerpts:
    """Reads what stands around links. What it read is remembered with the graph, for all questions and threads."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._titles = graph, Titles(graph)
        kept: Callable[[int], List] | None = vars(graph).get("_lists_of_pages")
        if kept is None:
            kept = vars(graph)["_lists_of_pages"] = lru_cache(LISTS)(
                lambda page: (*graph.links_from(page)[:2], graph.anchors(page))
            )
        self._list = kept

    def around(self, citing: int, first: int, second: int) -> list[Line]:
        """The links around two pages on a page that cites both, in its order; nothing if that cannot be shown."""
        if self._graph.out_degree[citing] > LONGEST:
            return []
        read = self._list(citing)
        targets = read[0]
        ones, others = np.flatnonzero(targets == first), np.flatnonzero(targets == second)
        if not len(ones) or not len(others):
            return []
        apart = np.abs(ones[:, None] - others[None, :])
        one, other = np.unravel_index(int(apart.argmin()), apart.shape)
        return self._lines(read, *sorted((int(ones[one]), int(others[other]))))

    def _lines(self, read: List, low: int, high: int) -> list[Line]:
        """The two links, what stands between or beside them in their blocks, and gaps."""
        targets, blocks, texts = read
        places: Iterable[int]
        if high - low <= NEAR:
            places = range(low - BESIDE, high + BESIDE + 1)
        else:
            places = [place + step for place in (low, high) for step in range(-BESIDE, BESIDE + 1)]
        own = {int(blocks[low]), int(blocks[high])}
        found: list[Line] = []
        last = -1
        for place in places:
            if 0 <= place < len(targets) and (int(blocks[place]) in own or place in (low, high)):
                if last >= 0 and place > last + 1:
                    found.append(Line("", -1))
                page = int(targets[place])
                found.append(Line(texts[place] or self._titles.of(page) or self._graph.address(page), page))
                last = place
        return found
