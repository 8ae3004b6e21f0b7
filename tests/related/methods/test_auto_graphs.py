"""Auto on plain graphs of every shape: what is near comes first, equals are equal, and popular pages gain nothing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

import numpy as np
import pytest

from cocite.graph.store import Graph
from cocite.related.methods import method
from cocite.web import Web
from tests.related.methods.naive_auto import auto
from tests.related.methods.naive_web import NaiveWeb

Links = Iterable[tuple[object, object]]


@pytest.mark.parametrize(("pages", "share"), [(45, 0.3), (80, 0.05)])
def test_the_slow_truth_where_there_are_enough_pages_for_chance(pages: int, share: float) -> None:
    """Popular pages have more in-links than chance gives; so some of what is shared isn't explained."""
    random = np.random.default_rng(3)
    popular = random.random(pages) ** 2
    links = [(a, b) for a, b in permutations(range(pages), 2) if random.random() < 2 * share * popular[b]]
    graph = Graph.from_links([(f"name:{source:02}", f"name:{target:02}") for source, target in links])
    truth = NaiveWeb.from_graph(graph)
    for page in range(0, len(graph), 7):
        found = method("auto").relate(Web(graph), [page]).ranked(graph.in_degree)
        expected = dict(auto(truth, [page]))
        assert dict(found) == pytest.approx(expected, rel=1e-5, abs=1e-9)


def ranked(links: Links, page: object) -> list[tuple[str, float]]:
    """The results for a page of a plain edge list, with their scores."""
    graph = Graph.from_links([(f"name:{source}", f"name:{target}") for source, target in links])
    found = method("auto").relate(Web(graph), [graph.find(f"name:{page}")])
    return [(graph.address(one), score) for one, score in found.ranked(graph.in_degree)]


def test_complete_graph() -> None:
    """Everybody is as near as anybody."""
    found = ranked(permutations(range(10), 2), 0)
    assert sorted(page for page, _ in found) == sorted(map(str, range(1, 10)))
    assert len({score for _, score in found}) == 1


@pytest.mark.parametrize("into", [False, True])
def test_star(into: bool) -> None:
    """The leaves are equally like a leaf, and more than the hub."""
    links = [(leaf, "hub") if into else ("hub", leaf) for leaf in range(30)]
    *leaves, (last, score) = ranked(links, 3)
    assert len({score for _, score in leaves}) == 1 and len(leaves) == 29
    assert last == "hub" and score < leaves[0][1]
    assert len({score for _, score in ranked(links, "hub")}) == 1


def test_path() -> None:
    """The nearest are first."""
    found = ranked([(n, n + 1) for n in range(20)], 5)
    assert [page for page, _ in found] == ["4", "6", "3", "7"]


def test_two_components() -> None:
    """Nothing leads from one to the other."""
    links = [(f"{side}{a}", f"{side}{b}") for side in "xy" for a, b in permutations(range(5), 2)]
    assert {page for page, _ in ranked(links, "x0")} == {f"x{n}" for n in range(1, 5)}


@pytest.mark.parametrize("side", "lr")
def test_bipartite_graph(side: str) -> None:
    """Pages of the same side are first."""
    found = ranked([(f"l{a}", f"r{b}") for a in range(6) for b in range(6)], f"{side}0")
    assert {page for page, _ in found[:5]} == {f"{side}{n}" for n in range(1, 6)}


def test_links_to_itself_say_nothing() -> None:
    assert ranked([(0, 0), (1, 2)], 0) == []
    assert ranked([(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)], 0) == ranked([(0, 1), (2, 0), (2, 1)], 0)


def test_a_page_that_everybody_links_to_is_not_related_to_everybody() -> None:
    """Fifty pairs of pages; a list of each has both, and all lists link to a popular page. The other of a pair wins."""
    links = [(f"list{n}.{copy}", to) for n in range(50) for copy in range(2) for to in (f"a{n}", f"b{n}", "popular")]
    for n in (0, 17):
        (first, best), *rest = ranked(links, f"a{n}")
        assert first == f"b{n}"
        assert best > 3 * dict(rest)["popular"]


@pytest.mark.parametrize("everybody", [100, 3000])
def test_lists_of_a_page_and_what_everybody_links_to_say_nothing(everybody: int) -> None:
    """Two lists have the page and nothing else but a page that all others have as well."""
    links = [*((f"list{n}", "popular") for n in range(everybody)), ("list3", "page"), ("list4", "page")]
    (first, best), (second, _), *rest = ranked(links, "page")
    assert {first, second} == {"list3", "list4"}
    assert dict(rest).get("popular", 0.0) < best / 10


def test_all_links_both_ways() -> None:
    """Two cliques joined by one link: all of the page's own clique come before the other's."""
    cliques = [(f"{side}{a}", f"{side}{b}") for side in "xy" for a, b in permutations(range(5), 2)]
    found = ranked([*cliques, ("x0", "y0"), ("y0", "x0")], "x1")
    assert {page for page, _ in found[:4]} == {"x0", "x2", "x3", "x4"}
