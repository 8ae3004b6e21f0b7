"""Pictures: what is on them, where it stands, and the file for other programs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.related.methods import method
from cocite.results.answer import Answer, Answers
from cocite.results.ask import ask, question
from cocite.results.pictures.gexf import picture_gexf
from cocite.results.pictures.neighbourhood import (
    CITED,
    CITING,
    QUERY,
    RELATED,
    Node,
    Picture,
    curves,
    picture_of,
    positions,
    rows,
)
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.graph.webs import make

BIRDS = [f"https://{name}.example/" for name in ("robin", "wren", "finch", "heron")]
ROBIN, WREN, FINCH, HERON = BIRDS


@pytest.fixture(scope="module")
def web(fast_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Web:
    """Three lists, one with all birds, two with some of them; robin and wren link to the same page."""
    lists = {1: BIRDS, 2: BIRDS[:2], 3: [ROBIN, FINCH, "https://other.example/"]}
    pages = [
        Page(
            f"https://list{n}.example/",
            f"List {n}",
            links=[Link(url, url[8:12], 0) for url in urls],
            headings=["Birds"],
        )
        for n, urls in lists.items()
    ]
    pages += [Page(url, links=[Link("https://food.example/")]) for url in (ROBIN, WREN)]
    path = tmp_path_factory.mktemp("picture") / "web.cocite"
    make(path, pages)
    return Web(path)


def answers_of(web: Web, *urls: str, k: int = 10) -> Answers:
    return ask(web, question(web.graph, urls or (ROBIN,)), method("cocitation(unit=none, merge=false)"), k)


def test_it_has_query_pages_results_and_pages_that_join_them(web: Web) -> None:
    drawn = picture_of(web.graph, answers_of(web))
    urls = {kind: [drawn.nodes[at].url for at in drawn.of(kind)] for kind in (QUERY, RELATED, CITING, CITED)}
    assert urls[QUERY] == [ROBIN]
    assert set(urls[RELATED]) >= {WREN, FINCH, HERON}
    assert set(urls[CITING]) == {f"https://list{n}.example/" for n in (1, 2, 3)}
    assert urls[CITED] == ["https://food.example/"]
    links = {(drawn.nodes[a].url, drawn.nodes[b].url) for a, b in drawn.links}
    assert {("https://list2.example/", ROBIN), ("https://list2.example/", WREN)} <= links
    assert {(ROBIN, "https://food.example/"), (WREN, "https://food.example/")} <= links
    assert ("https://list2.example/", FINCH) not in links


def test_few_pages_are_between_and_first_those_that_join_most(web: Web) -> None:
    drawn = picture_of(web.graph, answers_of(web), max_citing=1)
    assert [drawn.nodes[at].url for at in drawn.of(CITING)] == ["https://list1.example/"]
    assert drawn.of(CITED) == []


def test_only_links_between_query_pages_and_results_are_drawn(web: Web) -> None:
    drawn = picture_of(web.graph, answers_of(web))
    for a, b in drawn.links:
        kinds = {drawn.nodes[a].kind, drawn.nodes[b].kind}
        assert len(kinds) == 2
    for at in (*drawn.of(CITING), *drawn.of(CITED)):
        assert {drawn.nodes[end].kind for end in drawn.linked_with(at)} == {QUERY, RELATED}


@given(st.integers(1, 2), st.integers(1, 40), st.integers(0, 32), st.randoms(use_true_random=False))
def test_three_columns_without_overlaps(asked: int, related: int, between: int, random: object) -> None:
    nodes = [Node(QUERY, n, f"a{n}", "", n) for n in range(1, asked + 1)]
    nodes += [Node(RELATED, 100 + n, f"r{n}", "", n) for n in range(1, related + 1)]
    nodes += [Node(CITING, 200 + n, f"c{n}", "", n) for n in range(1, between + 1)]
    links = [
        (at, end)
        for at in range(asked + related, len(nodes))
        for end in range(asked + related)
        if random.random() < 0.4  # type: ignore[attr-defined]
    ]
    drawn = Picture(tuple(nodes), tuple(links))
    stand = positions(drawn)
    for column, kind, many in ((0, QUERY, asked), (1, CITING, between), (2, RELATED, related)):
        heights = sorted(stand[at].height for at in drawn.of(kind))
        assert all(stand[at].column == column for at in drawn.of(kind))
        assert all(b - a > 0.99 / many for a, b in pairwise(heights))
        assert all(0 < height < 1 for height in heights)
    assert [drawn.nodes[at].rank for at in sorted(drawn.of(RELATED), key=lambda at: stand[at].height)] == [
        *range(1, related + 1)
    ]
    lines = [*curves(drawn, (0, 1)), *curves(drawn, (1, 2))]
    assert {(line.end, line.start) if line.start < asked else (line.start, line.end) for line in lines} == set(links)


def test_lists_are_near_their_results() -> None:
    """One list has the first results, the other the last."""
    nodes = [Node(QUERY, 0, "a", "", 1), *(Node(RELATED, n, f"r{n}", "", n) for n in range(1, 7))]
    nodes += [Node(CITING, 7, "c1", "", 1), Node(CITING, 8, "c2", "", 2)]
    drawn = Picture(tuple(nodes), ((7, 4), (7, 5), (7, 6), (8, 1), (8, 2), (8, 3), (7, 0), (8, 0)))
    assert rows(drawn) == [8, 7]


def test_the_file_is_read_by_others(web: Web) -> None:
    answers = answers_of(web)
    drawn = picture_of(web.graph, answers)
    space = {"g": "http://gexf.net/1.3"}
    tree = ElementTree.fromstring(picture_gexf(answers, drawn))
    assert len(tree.findall(".//g:node", space)) == len(drawn.nodes)
    assert len(tree.findall(".//g:edge", space)) == len(drawn.links)
    evil = Answer(1, "https://x.example/?a=1&b=<2>", "\x00\x1b<b>\"'\ud7ff", 1.0)
    bad = Picture((Node(RELATED, 1, evil.url, evil.title, 1),), ())
    ElementTree.fromstring(picture_gexf(answers, bad))
