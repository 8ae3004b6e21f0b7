"""Pictures: what is on them, where it stands, and the file for other programs."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import hypot
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.related.methods import method
from cocite.results.answer import Answer, Answers
from cocite.results.ask import ask, question
from cocite.results.naming import MAX_EXCERPT_LINKS, excerpt
from cocite.results.pictures.gexf import picture_gexf
from cocite.results.pictures.neighbourhood import (
    CITED,
    CITING,
    QUERY,
    RELATED,
    Frame,
    Node,
    Picture,
    labels,
    picture_of,
    positions,
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


def test_several_pages_are_in_the_middle(web: Web) -> None:
    drawn = picture_of(web.graph, answers_of(web, ROBIN, WREN))
    stand = positions(drawn)
    assert len(drawn.of(QUERY)) == 2
    assert all(hypot(*stand[at]) < 0.2 for at in drawn.of(QUERY))


@given(st.integers(1, 40), st.integers(0, 8), st.randoms(use_true_random=False))
def test_no_two_pages_overlap(related: int, between: int, random: object) -> None:
    """Whatever the links: all within the circle, related pages at different heights on each side, all of them apart."""
    nodes = [Node(QUERY, 0, "a", "", 1)]
    nodes += [Node(RELATED, n, f"r{n}", "", n) for n in range(1, related + 1)]
    nodes += [Node(CITING, 100 + n, f"c{n}", "", n) for n in range(1, between + 1)]
    links = [
        (at, end)
        for at in range(1 + related, len(nodes))
        for end in range(1 + related)
        if random.random() < 0.4  # type: ignore[attr-defined]
    ]
    drawn = Picture(tuple(nodes), tuple(links))
    stand = positions(drawn)
    assert stand == positions(drawn)
    assert all(abs(place.x) <= 1 and abs(place.y) <= 1 for place in stand)
    assert stand[0] == (0, 0)
    for side in (1, -1):
        heights = sorted(place.y for place in stand[1 : related + 1] if side * place.x > 0)
        assert all(b - a > 1.9 / len(heights) for a, b in pairwise(heights))
    for a, b in combinations([at for at in range(len(nodes)) if nodes[at].kind == CITING], 2):
        assert hypot(stand[a].x - stand[b].x, stand[a].y - stand[b].y) > 0.2


def test_pages_listed_together_are_side_by_side() -> None:
    """1, 3, 5 are cited by one page and 2, 4, 6 by another: each three stand next to each other."""
    nodes = [Node(QUERY, 0, "a", "", 1), *(Node(RELATED, n, f"r{n}", "", n) for n in range(1, 7))]
    nodes += [Node(CITING, 7, "c1", "", 1), Node(CITING, 8, "c2", "", 2)]
    drawn = Picture(tuple(nodes), ((7, 1), (7, 3), (7, 5), (8, 2), (8, 4), (8, 6)))
    stand = positions(drawn)
    sides = [{at for at in range(1, 7) if side * stand[at].x > 0} for side in (1, -1)]
    assert sides == [{1, 3, 5}, {2, 4, 6}]


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


def test_excerpts_show_the_links_around_both(web: Web) -> None:
    graph = web.graph
    first, robin, heron = (graph.find(url) for url in ("https://list1.example/", ROBIN, HERON))
    assert [line.text for line in excerpt(graph, first, robin, heron)] == ["robi", "wren", "finc", "hero"]
    assert [line.page for line in excerpt(graph, first, robin, heron)] == [graph.find(url) for url in BIRDS]
    second = graph.find("https://list2.example/")
    assert excerpt(graph, second, robin, heron) == []


def test_excerpts_of_long_lists_have_gaps(tmp_path: Path) -> None:
    names = [f"https://p{n:02d}.example/" for n in range(30)]
    blocks = [0] * 15 + [1] * 15
    links = [Link(url, url[8:11], block) for url, block in zip(names, blocks, strict=True)]
    make(tmp_path / "web.cocite", [Page("https://list.example/", links=links, headings=["A", "B"])])
    graph = Web(tmp_path / "web.cocite").graph
    page = {url[8:11]: graph.find(url) for url in names}
    found = excerpt(graph, graph.find("https://list.example/"), page["p00"], page["p20"])
    assert [line.text or "…" for line in found] == ["p00", "p01", "…", "p19", "p20", "p21"]
    across = excerpt(graph, graph.find("https://list.example/"), page["p14"], page["p15"])
    assert [line.text for line in across] == ["p13", "p14", "p15", "p16"]
    assert len(names) <= MAX_EXCERPT_LINKS


FRAME = Frame("test", 400, 200, 100, 50, 24, 18)


def called(node: Node, longest: int) -> str:
    return "x" * longest


def written(*spots: tuple[float, float], frame: Frame = FRAME) -> list[tuple[int, float]]:
    picture = Picture(tuple(Node(CITING, at, "", "", at + 1) for at in range(len(spots))), ())
    return [(len(name.text), name.y) for name in labels(picture, spots, frame, called)]


def test_names_give_way() -> None:
    """Eighteen letters are 126 wide, nine of them half. Names in the upper half stand above if they can."""
    assert written((100, 50), (300, 50)) == [(18, 33), (18, 33)]
    assert written((100, 50), (150, 50)) == [(18, 33), (18, 77)]
    assert written((100, 50), (150, 50), (200, 50)) == [(18, 33), (18, 77), (9, 33)]
    assert written((100, 50), (110, 50), (120, 50))[2] == (9, 33)  # no room at all
    assert written((100, 50), (110, 50), frame=FRAME._replace(linking_chars=0)) == [(0, 33), (0, 33)]
