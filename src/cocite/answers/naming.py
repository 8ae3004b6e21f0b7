"""What to call a page: its title or, as most pages of a link graph were never fetched, what links to it say."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph

ASKED = 3
"""Parents whose links are looked at: one may say "here" or "link"."""
LONGEST = 2048
"""Lists of more links are not read for a name."""
REMEMBERED = 64
"""Lists that are kept: answers to one question stand on the same ones."""


class Titles:
    """Names pages, and remembers the lists that it read for it."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._targets = lru_cache(REMEMBERED)(self._read_targets)

    def of(self, page: int) -> str:
        """The title of a page, else the most frequent text of a few links to it, else nothing."""
        title = self._graph.title(page)
        if title or not len(self._graph.array("anchors.pages")):
            return title
        texts = Counter(text for parent in self._parents(page) for text in self._texts(parent, page) if text)
        return texts.most_common(1)[0][0] if texts else ""

    def _parents(self, page: int) -> list[int]:
        graph, ready = self._graph, self._graph.best_parents(page)
        parents = graph.links_to(page) if ready is None else ready
        return [int(parent) for parent in parents[graph.out_degree[parents] <= LONGEST][:ASKED]]

    def _texts(self, parent: int, page: int) -> list[str]:
        places = np.flatnonzero(self._targets(parent) == page)
        return [self._graph.anchor(parent, int(place)) for place in places]

    def _read_targets(self, parent: int) -> NDArray[np.uint32]:
        return self._graph.links_from(parent).targets


def title_of(graph: Graph, page: int) -> str:
    """What to call one page."""
    return Titles(graph).of(page)
