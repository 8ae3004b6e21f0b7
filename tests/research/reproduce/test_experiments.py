"""What experiments are made of, worked out by hand; and those that need no data, run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cocite.errors import BadSource
from cocite.evaluate.evaluation import Evaluation
from cocite.evaluate.judgements import Judgements, Run
from cocite.sources.records import Link, Page
from research.reproduce import chirita, hou_2002, hou_2003, zhao
from research.reproduce.claims import HELD, read_claims
from research.reproduce.data import (
    Beside,
    Data,
    canonical_or_none,
    correlation,
    farmed,
    forgotten,
    mirrored,
    shuffled,
    straight,
)
from research.reproduce.run import run


@pytest.fixture
def data(tmp_path: Path) -> Data:
    return Data(tmp_path / "data", tmp_path / "stores")


def test_claims_that_need_no_data(data: Data) -> None:
    """Fig. 3 of the one paper and Table 1 of another are worked examples."""
    known = read_claims()
    found = list(run([*known.of("hou_2003-shield"), *known.of("zhao-example")], data))
    assert [outcome.verdict for outcome in found] == [HELD, HELD]
    assert zhao.example(data)["value"] == pytest.approx((0.7 + 0.6 + 0.7 + 0.6) / 4)


def test_planted_noise(data: Data) -> None:
    """The claims that docs/lab/communities.md says hold."""
    found = hou_2002.table_1(data)
    assert found["avg_large_npfr"] > 0.95
    assert found["max_large_npfr"] == 1
    assert found["min_large_npfr"] < found["avg_large_npfr"]
    assert hou_2002.drifting(data) == {"before": pytest.approx(1, abs=0.1), "after": 0}


@pytest.mark.parametrize("name", ["awesome", "cnr", "shuffled", "webkb"])
def test_data_that_are_not_there(data: Data, name: str) -> None:
    with pytest.raises(BadSource, match="give the folder that has"):
        data.web(name)


def test_two_methods_beside_each_other() -> None:
    """Over q and r the first has P@10 (0.1 + 0.1) / 2, the second 0.1 / 2; AP 1 and 1/2 against 1 and 0."""
    judged = Judgements({"q": {"a": 1}, "r": {"a": 1}})
    one = Evaluation(judged, [Run("one", {"q": ["a"], "r": ["b", "a"]})])
    other = Evaluation(judged, [Run("other", {"q": ["a"]})])
    found = Beside.of(one, other).named("first", "second")
    assert found == {"first": pytest.approx(0.1), "second": pytest.approx(0.05), "gap": 0.25, "p": 1}
    assert Beside.of(one, other, ["q"]).gap == 0


def pages_of_links(*counts: int) -> list[Page]:
    return [
        Page(f"https://list{n}.example/", links=[Link(f"https://{i}.example/", block=0) for i in range(count)])
        for n, count in enumerate(counts)
    ]


def test_shuffled_pages_have_the_same_links() -> None:
    (page,) = shuffled(pages_of_links(50))
    assert [link.url for link in page.links] != [f"https://{i}.example/" for i in range(50)]
    assert {link.url for link in page.links} == {f"https://{i}.example/" for i in range(50)}
    assert {link.block for link in page.links} == {None}


def test_mirrored_pages() -> None:
    """The long ones, each copied to several sites."""
    pages = pages_of_links(5, 30, 40)
    found = mirrored(pages, lists=2, copies=3)
    assert found[:3] == pages
    assert {page.url for page in found[3:]} == {f"https://mirror{c}.example/{at}" for at in (0, 1) for c in range(3)}
    assert sorted(len(page.links) for page in found[3:]) == [30, 30, 30, 40, 40, 40]


def test_link_farms() -> None:
    """Each farm is a site of several different pages, with links to the list's pages and, between them, to adverts."""
    pages = pages_of_links(5, 30)
    found = farmed(pages, lists=1, copies=3, adverts=2)
    assert found[:2] == pages
    assert [page.url for page in found[2:]] == [f"https://farm0.example/{n}" for n in range(3)]
    links = [[link.url for link in page.links] for page in found[2:]]
    assert len({*map(tuple, links)}) == 3
    for of in links:
        assert {*of[::2]} < {link.url for link in pages[1].links}
        assert {*of[1::2]} == {"https://0-0.advert.example/", "https://0-1.advert.example/"}


def test_forgotten_pages() -> None:
    """A quarter of the judged pages, all below a host, have no links any more."""
    names = ["a.example/x", "a.example/y", "b.example", "c.example"]
    pages = [Page("https://list.example/", links=[Link(f"https://www.{name}") for name in (*names, "d.example/z")])]
    (page,) = forgotten(pages, names, 0.25)
    left = {canonical_or_none(link.url) for link in page.links}
    assert {"b.example", "c.example", "d.example/z"} < left
    assert len(left & {"a.example/x", "a.example/y"}) == 1
    assert canonical_or_none("mailto:x") is None


def test_lines_and_correlations() -> None:
    assert straight([1, 2, 3], [5, 7, 9]) == pytest.approx(1)
    assert straight([1, 2, 3, 4], [1, -1, -1, 1]) == pytest.approx(0)
    assert correlation([1, 2, 3], [1, 10, 100]) == pytest.approx(1)
    assert correlation([1, 1, 1], [1, 2, 3]) == 0


def test_agreement_of_figures() -> None:
    """Of the pairs a > b, a > c and b > c by the first, the second has a > b, a = c (half) and b < c."""
    by, value = np.array([3.0, 2.0, 1.0]), np.array([2.0, 1.0, 2.0])
    assert hou_2003.agreement(by, value) == (pytest.approx(1.5 / 3), 3)
    assert hou_2003.agreement(by, value, np.array([1.0, 1.0, 2.0])) == (1.0, 1)
    assert hou_2003.agreement(np.ones(3), value) == (0.0, 0)


def test_places_by_rank() -> None:
    """The second and third share the places 1 and 2 of four, from 0."""
    assert chirita.places(np.array([5.0, 3.0, 3.0, 1.0])).tolist() == [0, 1.5 / 4, 1.5 / 4, 3 / 4]


def test_links_one_way() -> None:
    found = zhao.one_way(np.array([[2, 0, 0], [0, 2, 1]]), 3)
    assert found.starts.tolist() == [0, 2, 2, 3]
    assert found.columns.tolist() == [1, 2, 0]
