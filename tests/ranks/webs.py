"""Webs for ranks: any graph of numbered pages as a store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from cocite.graph.store import Graph
from cocite.sources.records import Link, Page
from tests.graph.webs import make
from tests.ranks.naive_ranks import Matrix


def store_of(path: Path, pages: int, links: Iterable[tuple[int, int]]) -> Graph:
    """A store whose page n is `name:00n`: names sort as their numbers do."""
    names = [f"name:{n:05d}" for n in range(pages)]
    records = [Page(name, partial=False) for name in names]
    for source, target in links:
        records[source].links.append(Link(names[target]))
    make(path, records)
    graph = Graph(path)
    assert graph.pages == pages
    return graph


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
