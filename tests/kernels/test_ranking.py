"""Loops over blocks of lists, against lists read one by one."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.store import Graph
from cocite.kernels.ranks import add_up, block_bounds
from cocite.sources.records import Page
from tests.graph.webs import examples, make, webs


@examples(25)
@given(web=webs, limit=st.integers(1, 60))
def test_sums_over_lists_with_blocks_and_flags(fast_root: Path, web: list[Page], limit: int) -> None:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        make(Path(folder) / "web.cocite", [Page("https://example.com/"), *web])
        graph = Graph(Path(folder) / "web.cocite")
    given = np.random.default_rng(1).random(graph.pages)
    for lists, read in ((graph.out, lambda page: graph.links_from(page).targets), (graph.into, graph.links_to)):
        bounds = block_bounds(lists.degree, limit).tolist()
        room = max(limit, int(lists.degree.max(initial=0)))
        found, starts, targets = (
            np.full(graph.pages, np.nan),
            np.empty(graph.pages + 1, np.int64),
            np.empty(room, np.uint32),
        )
        for first, last in pairwise(bounds):
            assert add_up(lists, first, last, given, found, starts, targets)
        wanted = np.array([given[read(page)].sum() for page in range(graph.pages)])
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_ranges_have_limited_links_and_pages_or_one_page() -> None:
    degree = np.array([0, 0, 3, 9, 0, 1, 1, 1], np.uint32)
    assert block_bounds(degree, 6).tolist() == [0, 3, 4, 7, 8]  # 1 + 1 + 4, 10, 1 + 2 + 2, 2
    assert block_bounds(degree, 1000).tolist() == [0, 8]
    assert block_bounds(degree[:0], 6).tolist() == [0, 0]


def test_room_that_is_too_small_is_refused(place: Path) -> None:
    make(place / "web.cocite", [Page("name:a", links=[]), *[Page(f"name:{n}", links=[]) for n in range(3)]])
    graph = Graph(place / "web.cocite")
    given, found, starts = np.ones(4), np.zeros(4), np.empty(5, np.int64)
    assert add_up(graph.into, 0, 4, given, found, starts, np.empty(0, np.uint32))
    lying = graph.into._replace(degree=np.ones(4, np.uint32))
    assert not add_up(lying, 0, 4, given, found, starts, np.empty(0, np.uint32))
    assert not add_up(lying, 0, 4, given, found, starts, np.empty(4, np.uint32))
