"""What to call a page: its title or, as most pages of a link graph were never fetched, what links to it say."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.results.memory import Memory, memory_of

ASKED = 3
"""Parents whose links are looked at."""
LONGEST = 2048
"""Lists of more links are not read for a name."""
LINKS, NAMES = 500_000, 1 << 16
"""Links, in lists, and names that are kept with a graph, some 60 MB at most: answers stand on the same lists, and are
given again. Without them naming ten answers took 2.1 ms, a third of a question on real link lists."""


class Titles:
    """Names the pages of a graph. What it read is remembered with the graph, for all questions and threads."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._names: Memory[str] = memory_of(graph, "names", NAMES)
        self._addresses: Memory[str] = memory_of(graph, "addresses", NAMES)
        self._lists: Memory[tuple[NDArray[np.uint32], list[str]]] = memory_of(graph, "lists", LINKS, _links)

    def address(self, page: int) -> str:
        """The address of a page."""
        return self._addresses.get(page, self._graph.address)

    def of(self, page: int) -> str:
        """The title of a page, else the most frequent text of a few links to it, else nothing.

        What a page says of several links, as "Source code" or "here", is taken only if there is nothing else; of two
        that are said as often, one that shares a word with the address.
        """
        return self._names.get(page, self._read_name)

    def _read_name(self, page: int) -> str:
        title = self._graph.title(page)
        if title or not len(self._graph.array("anchors.pages")):
            return title
        said: Counter[str] = Counter()
        repeated: Counter[str] = Counter()
        for parent in self._parents(page):
            on_page = self._lists.get(parent, self._read_list)[1]
            for text in self._texts(parent, page):
                if text:
                    (said if on_page.count(text) == 1 else repeated)[text] += 1
        texts = said or repeated
        address = self._graph.address(page).lower() if len(texts) > 1 else ""
        return max(texts, key=lambda text: (texts[text], _names(text, address)), default="")

    def _parents(self, page: int) -> list[int]:
        graph, ready = self._graph, self._graph.best_parents(page)
        parents = graph.links_to(page) if ready is None else ready
        found: list[int] = parents[graph.out_degree[parents] <= LONGEST][:ASKED].tolist()
        return found

    def _texts(self, parent: int, page: int) -> list[str]:
        targets, texts = self._lists.get(parent, self._read_list)
        return [texts[place] for place in np.flatnonzero(targets == page).tolist()]

    def _read_list(self, parent: int) -> tuple[NDArray[np.uint32], list[str]]:
        return self._graph.links_from(parent).targets, self._graph.anchors(parent)


def _links(read: tuple[NDArray[np.uint32], list[str]]) -> int:
    return len(read[0]) + 1


def _names(text: str, address: str) -> bool:
    return any(len(word) > 2 and word in address for word in text.lower().split())


def title_of(graph: Graph, page: int) -> str:
    """What to call one page."""
    return Titles(graph).of(page)
