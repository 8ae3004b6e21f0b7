"""Answers, comparisons, communities and stores in a notebook, and as objects of other libraries."""

from __future__ import annotations

import sys
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import networkx as nx
import pandas as pd
import pytest

from cocite.errors import BadParameter
from cocite.operations.words.communities import find
from cocite.python import Store
from cocite.related import methods
from cocite.results.answer import Answer, Answers, Reason
from cocite.results.ask import ask, question
from cocite.results.pictures.notebook import html, svg
from cocite.web import Web
from tests.results.conftest import FOUR, NASTY

PLAIN = {"div", "table", "caption", "tr", "th", "td", "a", "br", "small", "details", "summary"}
DRAWN = {"svg", "g", "path", "rect", "circle", "text", "title"}
CLEAN = '[31m<script>alert("1")</script> &amp; a, "b" tab line'


class Tags(HTMLParser):
    """All tags and attributes of a document."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.words = ""
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.words += data


def answers_of(*found: Answer) -> Answers:
    return Answers((NASTY,), "proximity", {}, ("x",), found, {}, 1.25)


@pytest.fixture(scope="module")
def store(web: Web) -> Store:
    return Store(web.graph.path)


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://a.example/", True),
        ('https://a.example/"onclick="alert(1)', True),
        ("https://a.example/'><script>alert(1)</script>", True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt:alert(1)", False),
        ("data:text/html,<script>", False),
        ("a name <b>", False),
    ],
)
def test_a_table_of_hostile_titles_and_addresses(url: str, linked: bool) -> None:
    reason = Reason(kind="cited together", by=url, title=NASTY, block="<b>", distance=1)
    for title in (NASTY, ""):
        page = Tags(html(answers_of(Answer(1, url, title, 0.5, (reason,)))))
        assert {tag for tag, _ in page.tags} <= PLAIN
        anchors = [dict(attributes) for tag, attributes in page.tags if tag == "a"]
        assert anchors == ([{"href": url, "rel": "noreferrer noopener"}] if linked else [])
        assert all({name for name, _ in attributes} <= {"style"} for tag, attributes in page.tags if tag != "a")
        assert (CLEAN if title else url) in page.words
        assert not set(page.words) & set("\x1b\x9b\u202e\r\n")


def test_answers_of_a_store_are_drawn(store: Store) -> None:
    answers = store.related("q.example", "proximity", 3)
    page = Tags(answers._repr_html_())
    assert [dict(attributes)["href"] for tag, attributes in page.tags if tag == "a"] == FOUR[:3]
    assert 'Listed next to each other on First under "Things"' in page.words
    drawing = ElementTree.fromstring(svg(store.graph, answers))  # it is XML, whatever titles say
    assert {each.tag.rpartition("}")[2] for each in drawing.iter()} <= DRAWN
    assert {name for each in drawing.iter() for name in each.attrib if name.startswith("on")} == set()
    titles = [each.text for each in drawing.iter("{http://www.w3.org/2000/svg}title")]
    assert titles[0] == "https://q.example/" and f"{CLEAN} {FOUR[2]}" in titles
    assert {tag for tag, _ in page.tags} <= PLAIN | DRAWN
    plain = ask(store, question(store.graph, ["q.example"]), methods.method("proximity"), 3)
    assert "svg" not in plain._repr_html_()  # asked elsewhere, they know no graph
    assert plain == replace(answers, milliseconds=plain.milliseconds)


def test_nothing_related(store: Store) -> None:
    assert store.related("q.example", site=["list9.example"])._repr_html_().endswith("nothing</p>")
    assert store.related("q.example", site=["list9.example"]).to_frame().shape == (0, 6)
    assert store.related("q.example", site=["list9.example"]).to_frame("polars").shape == (0, 6)


def test_frames(store: Store) -> None:
    answers = store.related("q.example", "proximity", 4)
    table, other = answers.to_frame(), answers.to_frame("polars")
    assert list(table.columns) == other.columns == ["rank", "url", "title", "score", "why", "reasons"]
    assert table["url"].tolist() == other["url"].to_list() == FOUR
    assert pd.api.types.is_integer_dtype(table["rank"]) and table["score"].dtype == float
    assert table["why"][0] == 'Listed together on 2 of 2 pages, e.g. First under "Things"'
    assert table["reasons"][0] == [reason.to_dict() for reason in answers[0].reasons]
    kinds = [[reason["kind"] for reason in reasons] for reasons in other["reasons"].to_list()]
    assert kinds == [[reason.kind for reason in answer.reasons] for answer in answers]
    with pytest.raises(BadParameter, match="pandas or polars"):
        answers.to_frame("dask")


def test_a_library_that_is_not_installed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = store.related("q.example", k=2)
    for name in ("pandas", "polars", "networkx", "igraph"):
        monkeypatch.setitem(sys.modules, name, None)
    for needed, extra in (
        (answers.to_frame, "frames"),
        (lambda: answers.to_frame("polars"), "polars"),
        (answers.to_networkx, "graphs"),
        (answers.to_igraph, "graphs"),
        (store.graph.to_frame, "frames"),
    ):
        with pytest.raises(BadParameter, match=rf"is not installed: pip install \"cocite\[{extra}\]\""):
            needed()


def test_the_neighbourhood_as_a_graph(store: Store) -> None:
    answers = store.related("q.example", "proximity", 3)
    graph, other = answers.to_networkx(), answers.to_igraph()
    kinds = nx.get_node_attributes(graph, "kind")
    assert kinds["https://q.example/"] == "asked"
    assert [url for url, kind in kinds.items() if kind == "related"] == FOUR[:3]
    assert graph.nodes[FOUR[0]]["rank"] == 1 and graph.nodes[FOUR[0]]["score"] == answers[0].score
    assert graph.has_edge("https://list1.example/", FOUR[0])
    edges = {(other.vs[a]["name"], other.vs[b]["name"]) for a, b in other.get_edgelist()}
    assert edges == set(graph.edges) and other.vs["kind"] == list(kinds.values())
    with pytest.raises(BadParameter, match="have no store to read links from"):
        answers_of().to_networkx()


def test_the_store_as_a_table_and_as_graphs(store: Store) -> None:
    graph = store.graph
    first = graph.find("list1.example")
    for name in ("pandas", "polars"):
        some = graph.to_frame([first], name)
        assert list(some["target"]) == [
            "https://q.example/",
            *FOUR,
            *(f"https://other{n}.example/" for n in range(3)),
        ]
        assert set(some["source"]) == {"https://list1.example/"} and set(some["block"]) == {0}
        assert len(graph.to_frame(library=name)) == len(graph.links)
        assert list(graph.to_frame([], name).columns) == list(some.columns)
    assert graph.to_networkx([first, graph.find("q.example")]).number_of_edges() == 1
    assert graph.to_igraph().ecount() == graph.to_scipy().nnz == len(graph.links)


def test_a_large_store_is_not_made_into_objects(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocite.graph.export.libraries.MAX_LINKS", 3)
    for make in (store.graph.to_frame, store.graph.to_networkx):
        with pytest.raises(BadParameter, match="too many for this: give the pages"):
            make()
        make([0])


def test_a_store_is_shown(store: Store) -> None:
    page = Tags(store._repr_html_())
    assert page.words == Tags(store.graph._repr_html_()).words
    assert {tag for tag, _ in page.tags} <= PLAIN | DRAWN
    assert f"{store.graph.pages:,}" in page.words and FOUR[0] in page.words
    assert "2 pages with 8 to 15" in page.words  # links out of two lists


def test_a_comparison_is_shown(store: Store) -> None:
    found = store.compare("q.example", ["proximity", "walk"], 3)
    page = Tags(found._repr_html_())
    assert {tag for tag, _ in page.tags} <= PLAIN and "proximity" in page.words
    table = found.to_frame()
    assert table[table["method"] == "proximity"]["url"].tolist() == FOUR[:3]
    assert found.to_frame("polars").columns == ["method", "rank", "url", "title", "score"]


def test_communities_are_shown_where_nothing_runs(store: Store) -> None:
    found = find(store, "", ["q.example"], methods.method("community").params, 3)
    (tag, attributes), *rest = Tags(found._repr_html_()).tags
    assert (tag, rest) == ("iframe", [])
    assert dict(attributes)["sandbox"] is None and dict(attributes)["srcdoc"] == found.to_html()
    assert str(found).splitlines()[0] == "communities on q.example"
