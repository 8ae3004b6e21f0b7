"""Groups: pages that stand in the same sections come together, under the words of these sections."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cocite.answers import groups
from cocite.answers.ask import ask, question
from cocite.answers.groups import cluster, coordinates, group_answers, group_pages, silhouette
from cocite.errors import BadParameter
from cocite.methods import method
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.graph.webs import make

TOPICS = {
    "Newspapers": ["times", "monde", "pais"],
    "Cars": ["bmw", "audi", "fiat", "seat"],
    "Museums": ["louvre", "prado"],
}


def url(name: str) -> str:
    return f"https://{name}.example/"


@pytest.fixture(scope="module")
def web(fast_root: Path) -> Web:
    """Five lists with a section for every topic; one page alone on a list of its own."""
    lists = [
        Page(
            f"https://list{n}.example/",
            links=[
                Link(url(name), block=block)
                for block, names in enumerate(TOPICS.values())
                for name in names[n % 2 :] + names[: n % 2]
            ],
            headings=[f"{topic} we like" for topic in TOPICS],
        )
        for n in range(5)
    ]
    path = fast_root / "groups" / "web.cocite"
    path.parent.mkdir()
    make(path, [*lists, Page("https://own.example/", links=[Link(url("alone"))])])
    return Web(path)


def test_sections_become_groups(web: Web) -> None:
    names = ["louvre", "times", "bmw", "monde", "alone", "audi", "prado", "pais", "fiat", "seat", "bmw"]
    found = group_pages(web, [web.graph.find(url(name)) for name in names])
    got = [(group.name, {web.graph.address(page) for page in group.pages}) for group in found]
    assert [(name.split(", ")[0], members) for name, members in got] == [
        ("cars", {url(name) for name in TOPICS["Cars"]}),
        ("newspapers", {url(name) for name in TOPICS["Newspapers"]}),
        ("museums", {url(name) for name in TOPICS["Museums"]}),
        ("others", {url("alone")}),
    ]


def test_answers_keep_their_order_in_groups(web: Web) -> None:
    answers = ask(web, question(web.graph, [url("times")]), method("cocitation"), 20)
    found = group_answers(web, answers)
    assert sorted(each.rank for _, some in found for each in some) == [each.rank for each in answers]
    for _, some in found:
        ranks = [each.rank for each in some]
        assert ranks == sorted(ranks)
    assert found[0][1][0].rank == 1


def test_few_pages(web: Web) -> None:
    assert group_pages(web, []) == []
    page = web.graph.find(url("times"))
    assert [group.pages for group in group_pages(web, [page])] == [(page,)]
    pair = [page, web.graph.find(url("monde"))]
    assert [group.pages for group in group_pages(web, pair)] == [tuple(pair)]


def test_too_many(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MOST_PAGES", 2)
    with pytest.raises(BadParameter, match="3 pages are too many to group: give at most 2"):
        group_pages(web, [0, 1, 2])


def at(*sections: tuple[int, int]) -> Any:
    return SimpleNamespace(sections=list(sections), pages=sorted({page for page, _ in sections}))


def test_a_small_topic_is_not_lost_among_a_large_one() -> None:
    """Forty pages of one section, two of another: four fifths of all squares are in the first dimension."""
    rows = coordinates([*[at((1, 0), (2, 0), (3, 0))] * 40, *[at((9, 0))] * 2])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert abs(rows[0] @ rows[-1]) < 1e-9
    labels = cluster(rows, 12)
    assert len(set(labels[:40])) == 1
    assert set(labels[:40]).isdisjoint(labels[40:])
    assert labels[40] == labels[41]


def test_pages_that_share_nothing() -> None:
    assert not coordinates([at((1, 0)), at((2, 0)), at()]).any()


def test_silhouette() -> None:
    """Two pairs, 0.1 apart inside and 1 across: (1 − 0.1) / 1 for each."""
    distance = np.full((4, 4), 1.0)
    distance[:2, :2] = distance[2:, 2:] = 0.1
    np.fill_diagonal(distance, 0)
    assert silhouette(distance, np.array([1, 1, 2, 2])) == pytest.approx(0.9)
    assert silhouette(distance, np.array([1, 2, 1, 2])) == pytest.approx((0.55 - 1) / 1)
    assert silhouette(distance, np.array([1, 1, 1, 1])) == -1


def test_two_pages_that_have_nothing_in_common(web: Web) -> None:
    pair = [web.graph.find(url("times")), web.graph.find(url("alone"))]
    assert [group.pages for group in group_pages(web, pair)] == [(pair[0], pair[1])]
    rows = np.array([[1.0, 0.0], [0.1, 0.995]])
    assert cluster(rows, 12).tolist() == [0, 1]
    assert cluster(np.array([[1.0, 0.0], [0.8, 0.6]]), 12).tolist() == [0, 0]


def test_groups_without_words_stay_apart(fast_root: Path) -> None:
    """Sections without headings, pages without titles."""
    path = fast_root / "wordless" / "web.cocite"
    path.parent.mkdir()
    names = [f"https://{n}.example/" for n in range(8)]
    links = [Link(name, block=i // 4) for i, name in enumerate(names)]
    make(path, [Page(f"https://9{n}.example/", links=links) for n in range(4)])
    web = Web(path)
    found = group_pages(web, [web.graph.find(name) for name in names])
    assert [len(group.pages) for group in found] == [4, 4]
    assert {group.name for group in found} == {"a group without words"}
