"""Groups: pages that stand in the same sections come together, under the words of these sections."""

from __future__ import annotations

from collections import Counter
from math import log
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadParameter
from cocite.operations.pages.cluster import Cluster
from cocite.related.methods import method
from cocite.results import groups
from cocite.results.ask import ask, question
from cocite.results.groups import by_sections, cluster, group_pages, grouped, silhouette
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
    found = grouped(web, answers).groups
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
    monkeypatch.setattr(groups, "MAX_PAGES", 2)
    with pytest.raises(BadParameter, match="cannot group 3 pages: give at most 2"):
        group_pages(web, [0, 1, 2])


def at(*sections: tuple[int, int]) -> Any:
    return SimpleNamespace(sections=list(sections), pages=sorted({page for page, _ in sections}))


def test_a_small_topic_is_not_lost_among_a_large_one() -> None:
    """Forty pages of one section, two of another: four fifths of all squares are in the first dimension."""
    alike = by_sections([*[at((1, 0), (2, 0), (3, 0))] * 40, *[at((9, 0))] * 2])
    assert np.allclose(alike.diagonal(), 1)
    assert abs(alike[0, -1]) < 1e-9
    labels = cluster(1 - alike, 12)
    assert len(set(labels[:40])) == 1
    assert set(labels[:40]).isdisjoint(labels[40:])
    assert labels[40] == labels[41]


def test_pages_that_share_nothing() -> None:
    assert not by_sections([at((1, 0)), at((2, 0)), at()]).any()
    alike = by_sections([at((1, 0)), at((1, 0)), at((2, 0)), at()])
    assert np.allclose(alike, np.outer([1, 1, 0, 0], [1, 1, 0, 0]))


def dense(cited: list[Any]) -> Any:
    """The same by a decomposition of the whole matrix, all its dimensions."""
    own = [{*each.sections, *((page, -1) for page in each.pages)} for each in cited]
    columns = Counter(column for each in own for column in each)
    shared = [column for column, count in columns.items() if count > 1]
    weights = [(1.0 if block >= 0 else 0.3) * log(1 + len(cited) / columns[(page, block)]) for page, block in shared]
    matrix = np.array([[column in each for column in shared] for each in own]) * weights
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    u, singular, _ = np.linalg.svd(matrix / np.where(lengths > 0, lengths, 1), full_matrices=False)
    return u * singular


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 2)), max_size=4, unique=True), min_size=2, max_size=8
    )
)
def test_cosines_are_those_of_the_dense_matrix_cut_at_some_rank(sections: list[list[tuple[int, int]]]) -> None:
    """Every cut that leaves half of each row and four fifths in all is fair; equal singular values are not parted."""
    cited = [at(*((page, block) for page, block in each if block >= 0)) for each in sections]
    for one, each in zip(cited, sections, strict=True):
        one.pages = sorted({page for page, _ in each})
    alike = by_sections(cited)
    if not alike.any():
        return
    rows = dense(cited)
    lengths = np.linalg.norm(rows, axis=0)
    for k in range(1, rows.shape[1] + 1):
        kept = rows[:, :k]
        part, whole = (kept**2).sum(axis=1), (rows**2).sum(axis=1)
        last = k == rows.shape[1] or lengths[k - 1] ** 2 - lengths[k] ** 2 > 1e-7
        if last and part.sum() >= 0.8 * whole.sum() - 1e-9 and (part >= 0.5 * whole - 1e-9).all():
            unit = kept / np.where(part > 1e-18, np.sqrt(part), 1)[:, None]
            assert np.allclose(alike, unit @ unit.T, atol=1e-6)
            return


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
    assert cluster(np.array([[0.0, 0.9], [0.9, 0.0]]), 12).tolist() == [0, 1]
    assert cluster(np.array([[0.0, 0.2], [0.2, 0.0]]), 12).tolist() == [0, 0]


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
    assert {group.name for group in found} == {"unnamed group"}


def test_by_integrated_similarity(web: Web) -> None:
    """All pages have the same parents: words of their sections, a half of the similarity, tell topics apart."""
    names = [name for topic in ("Cars", "Museums") for name in TOPICS[topic]]
    found = group_pages(web, [web.graph.find(url(name)) for name in names], by="integrated")
    got = {frozenset(web.graph.address(page) for page in group.pages) for group in found}
    assert got == {frozenset(map(url, TOPICS[topic])) for topic in ("Cars", "Museums")}
    assert group_pages(web, [], by="integrated") == []


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ({"most": 0}, "most must be a whole number from 2 to 100, not 0"),
        ({"most": "many"}, "most must be a whole number"),
        ({"most": None}, "most must be a whole number"),
        ({"by": "colour"}, "by must be one of lli, integrated, not 'colour'"),
        ({"by": 3}, "by must be one of"),
    ],
)
def test_wrong_questions(given_: dict[str, Any], says: str) -> None:
    with pytest.raises(BadParameter, match=says):
        Cluster(urls=("a.com", "b.com", "c.com"), **given_)
