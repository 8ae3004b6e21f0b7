"""Which lists are copies: the kernel finds what a comparison of all pairs finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.store import Graph
from cocite.kernels.related.independence import originals
from cocite.kernels.related.likeness import Around, read_around
from cocite.kernels.related.texts import SameNamePages
from cocite.related.neighbourhood.likeness import COPIES, LikenessParams, around_limits, likeness_web
from cocite.related.neighbourhood.view import NO_PAGES, GraphView
from cocite.sources.records import Link, Page
from tests.graph.webs import examples
from tests.related.methods.naive_web import NaiveWeb, View

U = "https://u.example/"
OTHERS = [f"https://o{n}.example/" for n in range(14)]
EDITS = st.lists(st.tuples(st.sampled_from(["swap", "move", "drop", "section"]), st.integers(0, 13)), max_size=2)
"""How a list differs from the first one."""
NO_NAMES = SameNamePages(NO_PAGES, np.zeros(0))


def look_around(view: GraphView, page: int, params: LikenessParams, names: SameNamePages = NO_NAMES) -> Around:
    """What is read around a page."""
    state, around = read_around(likeness_web(view, params), page, names, around_limits(params))
    view.check(state)
    found: Around = around
    return found


def edited(links: list[Link], edits: list[tuple[str, int]], number: int) -> list[Link]:
    """A list with some links changed; u stays."""
    found = list(links)
    for edit, at in edits:
        at %= len(found)
        if found[at].url == U:
            continue
        if edit == "swap":
            found[at] = Link(f"https://new{number}{at}.example/", block=found[at].block)
        elif edit == "move":
            found.append(found.pop(at))
        elif edit == "drop":
            del found[at]
        else:
            found[at] = Link(found[at].url, block=1 - (found[at].block or 0))
    return found


@given(
    length=st.integers(2, 14),
    place=st.integers(0, 13),
    lists=st.lists(EDITS, min_size=1, max_size=6),
    fans=st.lists(st.integers(0, 6), max_size=4),
    copies=st.sampled_from(list(COPIES)),
    sites=st.integers(1, 7),
)
@examples(200)
def test_copies_are_those_that_a_comparison_of_all_pairs_finds(
    length: int, place: int, lists: list[list[tuple[str, int]]], fans: list[int], copies: str, sites: int
) -> None:
    first = [Link(url, block=0) for url in OTHERS[:length]]
    first.insert(place % (length + 1), Link(U, block=0))
    pages = [
        Page(f"https://site{n % sites}.example/{n}", links=edited(first, edits, n), headings=["One", "Two"])
        for n, edits in enumerate([[], *lists])
    ]
    pages += [Page(f"https://fan{n}.example/", links=[Link(pages[to % len(pages)].url)]) for n, to in enumerate(fans)]
    graph = Graph.from_records(pages)
    page, params = graph.find(U), LikenessParams(copies=copies)
    around = look_around(GraphView(graph, [page], params), page, params)
    view = View(NaiveWeb.from_graph(graph), [], "site")
    expected = view.originals(page, view.parents(page), 2000, copies == "sections")
    counted = {parent for parent in expected if copies == "none" or expected[parent] == parent}
    assert {
        int(parent) for parent, weight in zip(around.parents.pages, around.weights, strict=True) if weight
    } == counted


@given(
    lists=st.lists(st.tuples(*[st.sampled_from([0, 0, 0, 1, 2])] * 6), min_size=2, max_size=40),
    sites=st.integers(1, 3),
    copies=st.sampled_from(["lists", "sections"]),
)
@examples(200)
def test_many_sections_that_share_halves(lists: list[tuple[int, ...]], sites: int, copies: str) -> None:
    """At each of six places a section has one of three links: many are the same, or the same but for one link."""
    pages = []
    for number, chosen in enumerate(lists):
        links = [Link(f"https://o{at}-{one}.example/", block=0) for at, one in enumerate(chosen)]
        url = f"https://site{number % sites}.example/{number}"
        pages.append(Page(url, headings=["One"], links=[Link(U, block=0), *links]))
    graph = Graph.from_records([*pages, Page("https://far.example/", links=[Link(U)])])
    page, params = graph.find(U), LikenessParams(copies=copies)
    seen = GraphView(graph, [page], params)
    parents = look_around(seen, page, params).parents
    found = originals(
        parents, np.ones(len(parents.pages)), seen.counted._replace(copies=COPIES[copies]), graph.into.order
    )
    view = View(NaiveWeb.from_graph(graph), [], "site")
    expected = view.originals(page, view.parents(page), 2000, copies == "sections")
    assert dict(zip(parents.pages.tolist(), parents.pages[found].tolist(), strict=True)) == expected


def test_a_list_with_a_same_name_page_counts_once_for_chance() -> None:
    """It is a parent of both pages, and shows once what is listed by chance."""
    lists = [[U, "https://code.example/u", *OTHERS[n % 7 : n % 7 + 3], "https://portal.example/"] for n in range(30)]
    others = [[OTHERS[n % 7], "https://portal.example/"] for n in range(20)]
    pages = [
        Page(f"https://list{n}.example/", links=[Link(url, block=0) for url in links], headings=["Links"])
        for n, links in enumerate([*lists, *others])
    ]
    graph = Graph.from_records(pages)
    page, params = graph.find(U), LikenessParams(merge=False)
    view = GraphView(graph, [page], params)
    named = SameNamePages(np.array([graph.find("https://code.example/u")], np.uint32), np.array([0.5]))
    alone, both = (look_around(view, page, params, names) for names in (NO_NAMES, named))
    assert both.listing.pages.tolist() == alone.parents.pages.tolist()
    assert both.weights.tolist() == alone.weights.tolist() and 0 < min(alone.weights) < max(alone.weights) < 1
    assert both.reliability == alone.reliability
