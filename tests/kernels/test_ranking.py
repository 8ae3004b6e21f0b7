"""Loops over blocks of lists, against lists read one by one."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.store import Graph
from cocite.kernels.codec.lists import Lists
from cocite.kernels.ranks import PREFETCH_LINKS, DividedLinks, add_up, block_bounds, divide
from cocite.sources.records import Page
from tests.graph.webs import examples, make, webs


def room_for(pages: int, links: int) -> DividedLinks:
    """Arrays for the links of a block."""
    starts = np.empty((2, pages + 1), np.uint32)
    return DividedLinks(
        starts[0], np.empty(links + 1, np.uint16), starts[1], np.empty(links + PREFETCH_LINKS + 1, np.uint32)
    )


def divided(lists: Lists, first: int, last: int, room: int) -> DividedLinks | None:
    """The links of a block; None if they are refused."""
    links, starts = room_for(last - first, room), np.empty(last - first + 1, np.int64)
    if not divide(lists, first, last, starts, np.empty(room, np.uint32), links):
        return None
    near, far = int(links.near_starts[-1]), int(links.far_starts[-1])
    return links._replace(near=links.near[:near], far=links.far[: far + PREFETCH_LINKS])


@examples(25)
@given(web=webs, limit=st.integers(1, 60))
def test_sums_over_lists_with_blocks_and_flags(fast_root: Path, web: list[Page], limit: int) -> None:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        make(Path(folder) / "web.cocite", [Page("https://example.com/"), *web])
        graph = Graph(Path(folder) / "web.cocite")
    given = np.random.default_rng(1).random(graph.pages)
    for lists, read in ((graph.out, lambda page: graph.links_from(page).targets), (graph.into, graph.links_to)):
        bounds = block_bounds(lists.degree, limit).tolist()
        room, found = max(limit, int(lists.degree.max(initial=0))), np.full(graph.pages, np.nan)
        for first, last in pairwise(bounds):
            links = divided(lists, first, last, room)
            assert links is not None
            for page in range(first, last):
                near = links.near[slice(*links.near_starts[page - first :][:2])].astype(np.int64) + first
                far = links.far[slice(*links.far_starts[page - first :][:2])].astype(np.int64)
                own = read(page).astype(np.int64)
                inside = (own >= first) & (own < last)
                assert near.tolist() == own[inside].tolist()
                assert far.tolist() == own[~inside].tolist()
            add_up(links, first, given, found)
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
    assert divided(graph.into, 0, 4, 0) is not None
    lying = graph.into._replace(degree=np.ones(4, np.uint32))
    assert divided(lying, 0, 4, 0) is None
    assert divided(lying, 0, 4, 4) is None
