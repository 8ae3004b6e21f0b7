"""What a page is called: its title, or what links to it say."""

from __future__ import annotations

from pathlib import Path

from cocite.graph.store import Graph
from cocite.results.naming import titles_of
from cocite.sources.records import Link, Page
from tests.graph.webs import make, page

TITLED, LINKED, LOOSE, POPULAR = (f"https://{name}.example/" for name in ("titled", "linked", "loose", "popular"))


def test_titles_and_texts_of_links(place: Path) -> None:
    pages = [
        Page(TITLED, "Its title", links=[Link(LINKED, "here"), Link(LOOSE)]),
        Page("https://a.example/", links=[Link(TITLED, "another"), Link(LINKED, "The News")]),
        Page("https://b.example/", links=[Link("https://a.example/", "A"), Link(LINKED, "The News"), Link(LOOSE, "")]),
    ]
    make(place / "s", pages)
    graph = Graph(place / "s")
    named = {url: titles_of(graph).of(graph.find(url)) for url in (TITLED, LINKED, LOOSE)}
    assert named == {TITLED: "Its title", LINKED: "The News", LOOSE: ""}


def test_of_many_parents_the_stored_best_ones_are_read(place: Path) -> None:
    """Of 300 parents, the three of highest in-degree say its name; one with too long a list is passed over."""
    long = [f"https://x.example/{n}" for n in range(2049)]
    parents = [f"https://parent{n:03}.example/" for n in range(300)]
    pages = [Page(url, links=[Link(POPULAR, f"text {n}")]) for n, url in enumerate(parents)]
    pages[200].links = [Link(POPULAR, "of the long list"), *map(Link, long)]
    fans = [page(f"https://fan{n}.example/", *(parents[i] for i in (200, 100, 101)[: n + 1])) for n in range(3)]
    pages[101].links = [Link(POPULAR, "text 100")]
    make(place / "s", [*pages, *fans])
    graph = Graph(place / "s")
    assert titles_of(graph).of(graph.find(POPULAR)) == "text 100"


def test_a_store_without_texts(place: Path) -> None:
    make(place / "s", [Page(TITLED, "T", links=[Link(LINKED, "said")])], anchors=False)
    graph = Graph(place / "s")
    assert [titles_of(graph).of(graph.find(url)) for url in (TITLED, LINKED)] == ["T", ""]


def test_a_text_shared_by_several_links_is_not_a_name(place: Path) -> None:
    """Two lists say "Source code" of everything, a third its name; where nobody says more, that has to do."""
    lists = [Page(f"https://list{n}.example/", links=[Link(LINKED, "Source code"), Link(LOOSE, "Source code")])
             for n in range(2)]  # fmt: skip
    make(place / "s", [*lists, Page("https://list2.example/", links=[Link(LINKED, "Flask")])])
    graph = Graph(place / "s")
    assert titles_of(graph).of(graph.find(LINKED)) == "Flask"
    assert titles_of(graph).of(graph.find(LOOSE)) == "Source code"
