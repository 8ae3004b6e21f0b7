"""What to call a page, and the links around two pages on a list.

Most pages of a link graph were never fetched, so a page without a title is named by the text of links to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.results.memory import Memory, memory_of

MAX_PARENTS = 3
"""Parents whose link text is read for a name."""
MAX_NAME_LINKS = 2048
"""Longer lists are not read for a name."""
CACHED_LINKS, CACHED_NAMES = 500_000, 1 << 16
"""Links (in lists) and names cached with a graph, about 60 MB at most: results share lists, and recur. Without the
cache, naming ten results took 2.1 ms, a third of a query on real link lists."""
MAX_EXCERPT_LINKS = 5000
"""Longer lists are not read for an excerpt: 5,000 links with their text take 3 ms."""
MAX_GAP_LINKS = 6
"""If two links are further apart, an excerpt shows only the neighbours of each."""
CONTEXT_LINKS = 1
"""Links shown before the first and after the last of the two."""


class LinkList(NamedTuple):
    """The links of a page, in order."""

    targets: NDArray[np.uint32]
    sections: NDArray[np.int32]
    texts: list[str]


def _list_of(graph: Graph, page: int) -> LinkList:
    lists: Memory[LinkList] = memory_of(graph, "lists", CACHED_LINKS, lambda read: len(read.targets) + 1)

    def read(page: int) -> LinkList:
        links = graph.links_from(page)
        return LinkList(links.targets, links.blocks, graph.anchors(page))

    return lists.get(page, read)


class Titles:
    """Names of the pages of a graph, cached with the graph for all queries and threads."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._names: Memory[str] = memory_of(graph, "names", CACHED_NAMES)
        self._addresses: Memory[str] = memory_of(graph, "addresses", CACHED_NAMES)

    def address(self, page: int) -> str:
        """The address of a page."""
        return self._addresses.get(page, self._graph.address)

    def of(self, page: int) -> str:
        """The title of a page, else the most frequent text of some links to it, else an empty text.

        A text that its list uses for several links, such as "Source code", is used only if there is no other.
        Of equally frequent texts, one that shares a word with the address wins.
        """
        return self._names.get(page, self._read_name)

    def _read_name(self, page: int) -> str:
        title = self._graph.title(page)
        if title or not len(self._graph.array("anchors.pages")):
            return title
        unique: Counter[str] = Counter()
        repeated: Counter[str] = Counter()
        for parent in self._parents(page):
            read = _list_of(self._graph, parent)
            for text in (read.texts[place] for place in np.flatnonzero(read.targets == page).tolist()):
                if text:
                    (unique if read.texts.count(text) == 1 else repeated)[text] += 1
        texts = unique or repeated
        address = self._graph.address(page).lower() if len(texts) > 1 else ""
        return max(texts, key=lambda text: (texts[text], _shares_word(text, address)), default="")

    def _parents(self, page: int) -> list[int]:
        graph, best = self._graph, self._graph.best_parents(page)
        parents = graph.links_to(page) if best is None else best
        found: list[int] = parents[graph.out_degree[parents] <= MAX_NAME_LINKS][:MAX_PARENTS].tolist()
        return found


def _shares_word(text: str, address: str) -> bool:
    return any(len(word) > 2 and word in address for word in text.lower().split())


def title_of(graph: Graph, page: int) -> str:
    """What to call one page."""
    return Titles(graph).of(page)


class ExcerptLine(NamedTuple):
    """A link of a list: its text and its target; -1 marks a gap."""

    text: str
    page: int


class Excerpts:
    """The links around two pages on a list, to show why they are related."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._titles = graph, Titles(graph)

    def around(self, citing: int, first: int, second: int) -> list[ExcerptLine]:
        """The links around two pages on a page that links to both; empty if one is missing, or the list too long."""
        if self._graph.out_degree[citing] > MAX_EXCERPT_LINKS:
            return []
        read = _list_of(self._graph, citing)
        ones, others = np.flatnonzero(read.targets == first), np.flatnonzero(read.targets == second)
        if not len(ones) or not len(others):
            return []
        distance = np.abs(ones[:, None] - others[None, :])
        one, other = np.unravel_index(int(distance.argmin()), distance.shape)
        return self._lines(read, *sorted((int(ones[one]), int(others[other]))))

    def _lines(self, read: LinkList, low: int, high: int) -> list[ExcerptLine]:
        """The two links, their neighbours in the same sections, and gaps."""
        places: Iterable[int]
        if high - low <= MAX_GAP_LINKS:
            places = range(low - CONTEXT_LINKS, high + CONTEXT_LINKS + 1)
        else:
            places = [place + step for place in (low, high) for step in range(-CONTEXT_LINKS, CONTEXT_LINKS + 1)]
        own = {int(read.sections[low]), int(read.sections[high])}
        found: list[ExcerptLine] = []
        last = -1
        for place in places:
            if 0 <= place < len(read.targets) and (int(read.sections[place]) in own or place in (low, high)):
                if last >= 0 and place > last + 1:
                    found.append(ExcerptLine("", -1))
                page = int(read.targets[place])
                found.append(
                    ExcerptLine(read.texts[place] or self._titles.of(page) or self._titles.address(page), page)
                )
                last = place
        return found
