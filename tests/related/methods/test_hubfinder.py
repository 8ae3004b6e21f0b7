"""HubFinder against the slow truth, sizes worked by hand, and what it does with a criterion."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, hypot, log, log10
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.related.methods import method
from cocite.related.methods.hubfinder import Params, explore, kept, likeness
from cocite.sources.records import Link, Page
from cocite.web import Web
from cocite.words.search import SEARCH
from tests.graph.webs import examples, make, page
from tests.related.methods import naive_hubfinder
from tests.related.methods.naive import NaiveWeb
from tests.related.methods.webs import webs
from tests.webs import make_web


def by_number(web: Web, pages: NDArray[np.uint32]) -> NDArray[np.float64]:
    """A criterion that ties some pages and orders the others strangely."""
    return ((pages.astype(np.int64) * 7919) % 13).astype(np.float64)


@given(pages=webs(), data=st.data())
@examples(40)
def test_the_slow_truth(pages: list[Page], data: st.DataObject) -> None:
    web = make_web(pages)
    truth = NaiveWeb.from_graph(web.graph)
    values = dict(enumerate(by_number(web, np.arange(web.graph.pages, dtype=np.uint32)).tolist()))
    for _ in range(8):
        seeds = data.draw(st.lists(st.integers(0, web.graph.pages - 1), min_size=1, max_size=3, unique=True))
        chosen = data.draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "kind": st.sampled_from(["hubs", "authorities"]),
                    "rounds": st.integers(0, 5),
                    "in_links": st.sampled_from([0, 1, 2, 50]),
                    "alpha": st.sampled_from([0.0, 1.0, 10.0]),
                    "filter_degree": st.booleans(),
                    "trim": st.booleans(),
                },
            )
        )
        expected, steps = naive_hubfinder.hubfinder(truth, seeds, values, **chosen)
        found = explore(web, seeds, Params(**chosen), by_number)
        assert dict(zip(found.pages.tolist(), found.values.tolist(), strict=True)) == expected
        assert [(step["met"], step["passed"], step["explored"]) for step in found.steps] == steps
        for answer in found.pages.tolist()[:5]:
            way = found.path(answer)
            assert way[0] in seeds and way[-1] == answer
            for a, b in pairwise(way):
                assert b in web.graph.links_from(a).targets or a in web.graph.links_from(b).targets


@pytest.mark.parametrize(
    ("old", "distance", "alpha", "expected"),
    [
        (100, 2, 1.0, 40),  # (100 - 20) / 2 = 40 %
        (1000, 2, 1.0, 350),  # (100 - 30) / 2 = 35 %
        (1000, 3, 1.0, 234),  # 70 / 3 = 23.33 %, rounded up
        (1000, 3, 0.0, 700),  # no degeneration: 70 %
        (10, 4, 1.0, 3),  # 90 / 4 = 22.5 %
        (1, 6, 1.0, 1),  # 100 / 6 = 16.7 % of one page, at least 1
        (10**10, 2, 1.0, 1),  # 100 - 100 = 0 %
        (0, 2, 1.0, 0),
    ],
)
def test_trimmed_sizes(old: int, distance: int, alpha: float, expected: int) -> None:
    assert kept(old, distance, alpha) == expected
    if old:
        assert expected >= ceil(max(0, 100 - 10 * log10(old)) / (1 + alpha * (distance - 1)) * old / 100 - 1e-9)


@pytest.fixture
def chain() -> Web:
    """start → a1 … a4; a1 → b1 … b10, each of which links to c0 … c(i + 2)."""
    pages = [page("https://start.example/", *(f"https://a{i}.example/" for i in range(1, 5)))]
    pages += [page("https://a1.example/", *(f"https://b{i}.example/" for i in range(1, 11)))]
    pages += [page(f"https://b{i}.example/", *(f"https://c{j}.example/" for j in range(i + 3))) for i in range(1, 11)]
    return make_web(pages)


def test_hubs_need_links_out_the_more_the_further(chain: Web) -> None:
    """At distance 1 a hub needs min(2 + 1, 10) = 3 links: a1 has 10, a2 to a4 have none. At distance 2 it needs 4: b1
    has 4, so all ten pass; 90 / 2 = 45 % of them, 5 rounded up, are kept (Chirita, Olmedilla & Nejdl 2004, §4)."""
    start = chain.graph.find("start.example")
    found = explore(chain, [start], Params(rounds=1, alpha=1, criterion="out_degree"))
    assert [tuple(step.values()) for step in found.steps] == [
        (1, 4, 1, 1),
        (2, 10, 10, 5),
    ]
    names = [chain.graph.canonical(answer) for answer in found.pages]
    assert sorted(names) == [
        "a1.example",
        *(f"b{i}.example" for i in (10, 6, 7, 8, 9)),
    ]
    best = method("hubfinder(criterion=out_degree)").relate(chain, [start])
    ranked = [chain.graph.canonical(answer) for answer, _ in best.ranked(chain.graph.in_degree)]
    assert ranked[:3] == ["b10.example", "b9.example", "b8.example"]


def test_words_are_as_rare_as_in_the_store(place: Path) -> None:
    """IDF(i) estimates how rare a term is on the whole Web (§4), not among the pages that were found.

    Of seven pages, start, a and b have "star", as do two others; start and a also have "quasar", which no other has.
    """
    far = [Page(f"https://far{i}.example/", text="star") for i in range(2)]
    near = [Page("https://a.example/", text="star quasar"), Page("https://b.example/", text="star nova")]
    start = Page("https://start.example/", text="star quasar", links=[Link(each.url) for each in near])
    hub = Page("https://hub.example/", links=[Link(each.url) for each in (start, *near)])
    records = [start, *near, *far, hub, Page("https://other.example/", text="nova")]
    make(place / "w", records)
    SEARCH.ready(Graph(place / "w"))
    quasar, star, nova = (log((1 + 7) / (1 + having)) + 1 for having in (2, 5, 2))
    expected = [1.0, star**2 / hypot(star, quasar) / hypot(star, nova)]
    for web in (Web(place / "w"), make_web(records)):
        pages = [web.graph.find(each.url) for each in (start, *near)]
        assert likeness(web, pages[:1], np.array(pages[1:], np.uint32)).tolist() == pytest.approx(expected)


def test_a_criterion_must_give_numbers(chain: Web) -> None:
    with pytest.raises(BadParameter, match="one finite number"):
        explore(chain, [0], Params(rounds=0), lambda web, pages: np.full(len(pages), np.nan))


@pytest.mark.parametrize("given", [None, "abc", [1.0], np.zeros((2, 2)), [[1], [2, 3]]], ids=str)
def test_a_criterion_that_gives_something_else(chain: Web, given: Any) -> None:
    with pytest.raises(BadParameter, match="one finite number for every page"):
        explore(chain, [chain.graph.find("start.example")], Params(rounds=1), lambda web, pages: given)


def test_a_wrong_rank_names_those_there_are(chain: Web) -> None:
    with pytest.raises(Exception, match="pagerank"):
        method("hubfinder(criterion=beauty)").relate(chain, [0])
