"""What layers change in words: the pages whose words are made again when a store has got layers, and their texts.

These are the pages whose own texts or facts changed, and those that they link to, or linked to: their anchor texts
changed. A page with many in-links waits until their number has grown by a twentieth. Its words hardly change with one
link more, and it takes a pass over all its parents to make them. When pages were removed, no page waits: their words
must not stay.
"""

from functools import cached_property
from math import log2
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import Arrays
from cocite.graph.changes.layers import Layer, layers_since, pages_in
from cocite.graph.store import Graph
from cocite.words.documents import LinkTexts, texts_of_some

FEW_LINKS = 16  # words of pages with no more in-links follow with every link
MAX_CHANGED_SHARE = 4  # if more than a quarter of all pages changed, everything is made anew


class ChangedPages:
    """The pages whose words changed since an older state of a store."""

    def __init__(self, graph: Graph, layers: list[Layer]) -> None:
        self.graph, self._layers = graph, layers

    @classmethod
    def since(cls, graph: Graph, state: str) -> Self | None:
        """What changed since a state, by its id; None if words have to be made anew."""
        layers = layers_since(graph.arrays, state)
        if layers is None:
            return None
        changed = cls(graph, layers)
        return changed if len(changed.pages) * MAX_CHANGED_SHARE <= graph.pages else None

    @cached_property
    def pages(self) -> NDArray[np.int64]:
        """These pages, ascending; some may be gone."""
        graph, layers = self.graph, self._layers
        own = pages_in(layers, "record.page", "fact.page", "alias.page")
        sources = pages_in(layers, "record.page", "out.page").astype(np.int64)
        _, targets, _ = graph.links.read_some(graph.out, sources, attributes=False)
        linked = np.union1d(targets, pages_in(layers, "in.page"))
        if not any("removed" in layer.arrays for layer in layers):
            now = graph.in_degree[linked]
            few = now <= FEW_LINKS
            old = older(graph.arrays, layers)
            for at in np.flatnonzero(~few).tolist():
                few[at] = growth_level(int(now[at])) != growth_level(in_degree_in(old, int(linked[at])))
            linked = linked[few]
        return np.union1d(own, linked).astype(np.int64)

    @cached_property
    def texts(self) -> list[tuple[int, dict[str, str], LinkTexts]]:
        """(page, its own texts, those of links to it, with the languages of lists) of those that have words, ascending.

        Some kinds of words don't need the languages; but reading the texts twice would take longer.
        """
        return list(texts_of_some(self.graph, self.pages))


def growth_level(degree: int) -> int:
    """A number that changes when a page's in-links have grown by a twentieth."""
    return degree if degree <= FEW_LINKS else int(FEW_LINKS * log2(degree / FEW_LINKS)) + FEW_LINKS


def older(arrays: Arrays, newer: list[Layer]) -> list[Any]:
    """The base and the layers that came before others, newest first."""
    return [*reversed(arrays.layers[: len(arrays.layers) - len(newer)]), arrays.base]


def in_degree_in(older_first: list[Any], page: int) -> int:
    """The in-links that a page had."""
    *layers, base = older_first
    for layer in layers:
        at = int(np.searchsorted(layer["in.page"], page))
        if at < len(layer["in.page"]) and layer["in.page"][at] == page:
            return int(layer["in.degree"][at])
    return int(base["in.degree"][page]) if page < base.pages else 0
