"""Communities as a page and as GEXF: what is drawn, and what strangers' titles cannot do."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import pytest

import cocite
from cocite.operations.words.communities import CommunitiesFound
from cocite.results.pictures.communities import communities_page
from cocite.sources.records import Link, Page
from tests.graph.webs import make
from tests.operations.test_communities import PAGES, site

HOSTILE = (
    "<script>alert(1)</script>",
    "]]> </svg></style><img src=x onerror=alert(1)>",
    "\" onmouseover='alert(1)' \"",
    "a\x00b\x07c\x1b[31m\x9b\u2028d\ufffe",
    "\u202egnp.exe\u2066 \u200fabc",
    "{{7*7}} <!-- &lt;b&gt; &#x3c;",
)
NAMES = ("name:javascript:alert(1)", "name:data:text/html,<script>alert(2)</script>", "name:a\nb\t\u202ec",
         "name:http://[\u202e<b>")  # fmt: skip


class Reader(HTMLParser):
    """Every element with its attributes, and all texts; tags have to match."""

    VOID = ("meta", "path", "circle")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        return [
            attrs
            for name, attrs in self.elements
            if name == tag and all(attrs.get(key.rstrip("_")) == value for key, value in wanted.items())
        ]


@pytest.fixture(scope="module")
def papers(fast_root: Path) -> CommunitiesFound:
    """Three lists of the same three papers, two of cars; eight pages of noise that link to one of the papers."""
    path = fast_root / "drawn" / "web.cocite"
    path.parent.mkdir()
    make(path, PAGES)
    names = ("papers0", "papers1", "papers2", "post", "times", "cars0", "cars1", "fast", "slow")
    return cocite.open(path).communities(pages=list(map(site, names)), k=5, basis="root")


@pytest.fixture(scope="module")
def hostile(fast_root: Path) -> CommunitiesFound:
    """Lists whose titles, headings and link texts are hostile, of pages with hostile names."""
    path = fast_root / "hostile" / "web.cocite"
    path.parent.mkdir()
    targets = [site(f"t{n}") for n in range(len(HOSTILE))] + list(NAMES)
    texts = [*HOSTILE, *[""] * len(NAMES)]
    links = [Link(target, text, block=0) for target, text in zip(targets, texts, strict=True)]
    lists = [Page(site(f"l{n}"), title, links=links, headings=[title]) for n, title in enumerate(HOSTILE)]
    make(path, lists)
    return cocite.open(path).communities(pages=[page.url for page in lists], k=20, unit="none", window=0)


def test_pages_and_links_are_drawn(papers: CommunitiesFound) -> None:
    text = papers.to_html()
    assert text == papers.to_html()
    read = Reader(text)
    assert len(papers) == 2 and papers.eliminated == 8
    assert len(read.all("section")) == 3  # two communities, and what was left out
    # Three lists link to three papers, two lists to two makers of cars.
    assert len(read.all("path")) == 3 * 3 + 2 * 2
    assert sorted(attrs["class"] for attrs in read.all("path"))[:3] == ["h0 a0", "h0 a0", "h0 a1"]
    assert [(circle["cx"], circle["cy"]) for circle in read.all("circle")[:6]] == [
        (x, y) for x in ("0", "100%") for y in ("16.67%", "50.00%", "83.33%")
    ]
    assert text.index('class="side hubs"') < text.index("<svg role") < text.index('class="side authorities"')
    for title in ("List of Newspapers", "List of Makers of cars", "Buy now", "times daily"):
        assert title in read.texts
    assert any("linked with 1 of 9 root pages" in each for each in read.texts)
    assert "8 noise pages linked with it (first 5)" in read.texts


def test_weights_are_sizes_and_root_pages_are_full(papers: CommunitiesFound) -> None:
    kinds = [circle["class"] for circle in Reader(papers.to_html()).all("circle")]
    # Hubs, then authorities, times first as noise links to it too: globe alone was not given.
    assert kinds == ["full"] * 3 + ["full", "hollow", "full"] + ["full"] * 4
    sizes = {circle["r"] for circle in Reader(papers.to_html()).all("circle", cx="0")}
    assert sizes == {"7.0"}  # all hubs of one community weigh the same


def test_what_no_link_joins_is_not_drawn(papers: CommunitiesFound) -> None:
    """Of three hubs and three authorities the links (1, 0) and (1, 2) are left: a hub and two authorities."""
    one = replace(papers[0], links=((1, 0), (1, 2)))
    read = Reader(replace(papers, communities=(one,)).to_html())
    assert [path["class"] for path in read.all("path")] in (["h0 a0", "h0 a1"], ["h0 a1", "h0 a0"])
    assert [(circle["cx"], circle["cy"]) for circle in read.all("circle")] == [
        ("0", "50.00%"), ("100%", "25.00%"), ("100%", "75.00%"),
    ]  # fmt: skip


def test_without_npea_noise_is_marked(papers: CommunitiesFound) -> None:
    store = cocite.open(papers.found.base.view.graph.path)
    plain = store.communities(pages=list(papers.pages), k=5, npea="off")
    read = Reader(communities_page(papers, plain, ["<section id=more></section>"]))
    assert read.all("section", id="without") and read.all("section", id="more")
    assert read.texts.count("noise") > 0
    assert "noise" not in Reader(papers.to_html()).texts


def test_strangers_can_do_nothing(hostile: CommunitiesFound) -> None:
    text = hostile.to_html()
    read = Reader(text)
    tags = {tag for tag, _ in read.elements}
    assert tags <= {
        "html", "head", "meta", "title", "style", "body", "header", "p", "h1", "h2", "h3", "bdi", "b", "span", "main",
        "section", "ul", "ol", "li", "figure", "div", "svg", "path", "circle", "a", "small", "footer", "nav",
    }  # fmt: skip
    for _, attrs in read.elements:
        assert not any(name.startswith("on") or name in ("src", "srcset", "xlink:href", "action") for name in attrs)
    links = [attrs for attrs in read.all("a") if not attrs["href"].startswith("#")]
    assert len(links) == 13  # the lists, the pages that have addresses, and a name that looks like one; others do not
    assert all(re.match("https?://", attrs["href"]) and attrs["rel"] == "noreferrer noopener" for attrs in links)
    (policy,) = (attrs["content"] for attrs in read.all("meta") if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert text.count("<style>") == text.count("</style>") == 1
    for letter in text:
        assert unicodedata.category(letter) not in ("Cc", "Cf", "Cn", "Cs") or letter in "\n\u200c\u200d"
    assert HOSTILE[0] in read.texts and "javascript:alert(1)" in read.texts  # as text


def test_nothing_is_loaded_from_other_hosts(papers: CommunitiesFound) -> None:
    text = papers.to_html()
    assert "url(" not in text and "@import" not in text and "<script" not in text and "<link" not in text


def graph_of(found: CommunitiesFound) -> Any:
    return nx.read_gexf(BytesIO(found.to_gexf().encode()), version="1.3")


def test_gexf_is_read_back(papers: CommunitiesFound) -> None:
    graph = graph_of(papers)
    assert graph.is_directed()
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (papers.base, papers.links)
    told = {data["url"]: data for _, data in graph.nodes(data=True)}
    times, spam, cars = told[site("times")], told[site("spam3")], told[site("cars0")]
    assert (times["community"], times["root"], times["noise"], times["hub"]) == ("principal", True, False, 0.0)
    assert times["authority"] == pytest.approx(3**-0.5, abs=1e-6)
    assert (spam["noise"], spam["community"], spam["label"]) == (True, "", "Buy now")
    assert cars["community"] == "vector 2, positive end" and "cars" in cars["keywords"]
    assert cars["hub"] == pytest.approx(2**-0.5, abs=1e-6)
    # Hubs left, authorities right, noise beyond; the second community below the first.
    places = [each["viz"]["position"] for each in (cars, times, spam)]
    assert places[0]["x"] < places[1]["x"] < places[2]["x"] and places[0]["y"] < places[1]["y"]
    assert times["viz"]["color"] != cars["viz"]["color"] != spam["viz"]["color"]
    number = {data["url"]: node for node, data in graph.nodes(data=True)}
    assert graph.has_edge(number[site("cars0")], number[site("fast")])


def test_gexf_of_strangers(hostile: CommunitiesFound) -> None:
    graph = graph_of(hostile)
    labels = {data["label"] for _, data in graph.nodes(data=True)}
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[2]} <= labels
    root = ElementTree.fromstring(hostile.to_gexf())
    assert root.tag == "{http://gexf.net/1.3}gexf" and root.get("version") == "1.3"
    for letter in hostile.to_gexf():
        assert unicodedata.category(letter) not in ("Cc", "Cf", "Cn", "Cs") or letter in "\n\u200c\u200d"


def test_nothing_to_draw(papers: CommunitiesFound) -> None:
    store = cocite.open(papers.found.base.view.graph.path)
    none = store.communities(pages=[site("fast")], in_links=0)
    assert len(none) == 0
    assert Reader(none.to_html()).all("section") == []
    assert graph_of(none).number_of_edges() == 0
