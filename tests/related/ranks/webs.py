"""Webs for ranks: any graph of numbered pages."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from cocite.graph.store import Graph
from tests.related.ranks.naive_ranks import Matrix


def matrix_of(graph: Graph) -> Matrix:
    """The links, dense."""
    links = np.zeros((graph.pages, graph.pages))
    for page in range(graph.pages):
        links[page, graph.links_from(page).targets] = 1
    return links


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    """(Pages, links): sparse, dense, with dead ends, pages nobody links to, and none at all."""
    pages = draw(st.integers(1, 30))
    ends = st.integers(0, pages - 1)
    links = draw(st.lists(st.tuples(ends, ends), max_size=draw(st.sampled_from([0, pages, 4 * pages]))))
    return pages, [(a, b) for a, b in links if a != b]
