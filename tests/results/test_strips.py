"""Strips: the links of a list around the page asked about and a result."""

from __future__ import annotations

import pytest

from cocite.graph.store import Graph
from cocite.related.methods import method
from cocite.results.ask import ask, question
from cocite.results.naming import titles_of
from cocite.results.strips import MAX_LIST_LINKS, QUERY_LINK, RESULT_LINK, read_strip, strips
from cocite.sources.records import Link, Page
from cocite.text import title_text
from cocite.web import Web


def url(name: str) -> str:
    return f"https://{name.lower()}.example/"


def listed(name: str, *entries: str | tuple[str, str], blocks: int = 99, headings: tuple[str, ...] = ()) -> Page:
    """A list of entries; `blocks` of them are in each section."""
    pairs = [each if isinstance(each, tuple) else (each, each) for each in entries]
    links = [Link(url(target), text, at // blocks) for at, (target, text) in enumerate(pairs)]
    return Page(url(name), name, links=links, headings=list(headings))


def graph_of(*pages: Page) -> Graph:
    return Graph.from_records(pages)


def shown(graph: Graph, citing: str, asked: str, result: str) -> list[str] | None:
    found = read_strip(graph, graph.find(url(citing)), (graph.find(url(asked)),), (graph.find(url(result)),))
    marks = {QUERY_LINK: "?", RESULT_LINK: "!"}
    return found and [marks.get(link.role, "") + link.text for link in found.links]


def test_neighbours_are_in_the_same_section() -> None:
    graph = graph_of(listed("L", "1Password", "Bitwarden", "KeePassXC", "Padloc", "Hugo", "Jekyll", blocks=4,
                            headings=("Password managers", "Sites")))  # fmt: skip
    assert shown(graph, "L", "KeePassXC", "Bitwarden") == ["1Password", "!Bitwarden", "?KeePassXC", "Padloc"]
    assert shown(graph, "L", "Hugo", "Jekyll") == ["?Hugo", "!Jekyll"]
    assert shown(graph, "L", "Padloc", "Hugo") == ["KeePassXC", "?Padloc", "!Hugo", "Jekyll"]
    found = read_strip(graph, graph.find(url("L")), (graph.find(url("Hugo")),), (graph.find(url("Jekyll")),))
    assert found is not None and (found.title, found.section) == ("L", "Sites")


def test_distant_links_have_a_gap() -> None:
    graph = graph_of(listed("L", *(f"p{n:02d}" for n in range(30))))
    assert shown(graph, "L", "p00", "p20") == ["?p00", "p01", "…", "p19", "!p20", "p21"]
    assert shown(graph, "L", "p00", "p04") == ["?p00", "p01", "p02", "p03", "!p04", "p05"]


def test_badges_and_second_links_of_an_entry_are_no_neighbours() -> None:
    entries = [(f"{name}{kind}", text) for name in ("a", "b", "c") for kind, text in (("", name), ("-src", "Source"))]
    graph = graph_of(listed("L", *entries))
    assert shown(graph, "L", "b", "c") == ["a", "?b", "!c"]


def test_a_list_without_one_of_them_has_no_strip() -> None:
    graph = graph_of(listed("L", "a", "b"), listed("M", "a", "c"))
    assert shown(graph, "L", "a", "c") is None
    long = graph_of(listed("L", *(f"p{n}" for n in range(MAX_LIST_LINKS + 1))))
    assert shown(long, "L", "p0", "p1") is None


def test_every_result_of_a_method_that_counts_lists_has_a_strip() -> None:
    web = Web(graph_of(*(listed(f"L{n}", "a", "b", "c", "d", headings=("All",)) for n in range(3))))
    answers = ask(web, question(web.graph, [url("a")]), method("cocitation(unit=none, merge=false)"))
    found = strips(web.graph, answers)
    assert len(found) == len(answers) == 3
    for answer, strip in zip(answers, found, strict=True):
        assert strip is not None and strip.section == "All"
        assert [link.page for link in strip.links if link.role == RESULT_LINK] == [answer.page]
        assert [link.page for link in strip.links if link.role == QUERY_LINK] == [web.graph.find(url("a"))]


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("Awesome Mac", "Awesome Mac"),
        (":rocket: Awesome :apple:", "Awesome"),
        (":octocat:", ""),
        ("🚀", ""),
        ("→", ""),
        ("C++", "C++"),
        ("R", "R"),
        ("10:30:15", "10:30:15"),
        ("::before", "::before"),
        ("日本", "日本"),
        ("", ""),
    ],
)
def test_codes_of_emoji_and_lone_symbols_are_no_titles(given: str, title: str) -> None:
    assert title_text(given) == title
    graph = graph_of(Page(url("p"), given), Page(url("L"), "L", links=[Link(url("p"), "Name")]))
    assert titles_of(graph).of(graph.find(url("p"))) == (title or "Name")
