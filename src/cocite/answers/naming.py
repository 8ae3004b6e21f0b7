"""What to call a page: its title or, as most pages of a link graph were never fetched, what links to it say."""

from __future__ import annotations

from collections import Counter

import numpy as np

from cocite.graph.store import Graph
from cocite.kernels.look_up import find_position

ASKED = 3
"""Parents whose links are looked at: one may say "here" or "link"."""
LONGEST = 2048
"""Lists of more links are not read for a name."""
FEW = 256
"""Links in that are read for a name; a page with more has parents kept ready."""


def title_of(graph: Graph, page: int) -> str:
    """The title of a page, else the most frequent text of a few links to it, else nothing."""
    title = graph.title(page)
    if title or not len(graph.array("anchors.pages")):
        return title
    texts = Counter(text for parent in _parents(graph, page) for text in _texts(graph, parent, page) if text)
    return texts.most_common(1)[0][0] if texts else ""


def _parents(graph: Graph, page: int) -> list[int]:
    degree = int(graph.in_degree[page])
    if degree <= FEW:
        parents = graph.links_to(page)
    else:
        ready, best = graph.array("best.page"), graph.array("best.parent")
        row, kept = int(find_position(ready, page)), len(best) // max(1, len(ready))
        parents = best[row * kept : (row + 1) * kept] if row >= 0 else best[:0]
    return [int(parent) for parent in parents if graph.out_degree[parent] <= LONGEST][:ASKED]


def _texts(graph: Graph, parent: int, page: int) -> list[str]:
    places = np.flatnonzero(graph.links_from(parent).targets == page)
    texts = graph.anchors(parent)
    return [texts[place] for place in places]
