"""Wikitext: links, sections and text, compared with mwparserfromhell, and in time that grows with the text."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.sources.wikis.wikitext import WikiText, parse
from tests.graph.webs import examples
from tests.sources.timing import without_collection


def read(text: str) -> WikiText:
    return parse(text, silent=lambda title: title.startswith("File:"))


def targets(text: str) -> list[str]:
    return [link.target for link in read(text).links]


WORDS = st.sampled_from(["a", "river", "Bern", "in", "12", "the café", "x - y"])
TITLES = st.sampled_from(["Bern", "Aare (river)", "Category:Towns", "de:Bern", "A&B", ":File:x", "Bern#History"])


def joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(parts, min_size=0, max_size=4).map(" ".join)


LINKS = st.builds(lambda title, text: f"[[{title}|{text}]]", TITLES, WORDS) | TITLES.map(lambda title: f"[[{title}]]")
SITES = st.builds(lambda text: f"[https://x.example/a?b=c {text}]", joined(WORDS))
INLINE = st.recursive(
    WORDS | LINKS | SITES,
    lambda inner: st.one_of(
        joined(inner).map(lambda text: f"{{{{t|{text}|k={text}}}}}"),
        joined(inner).map(lambda text: f"<ref name=x>{text}</ref>").filter(lambda text: text.count("<ref") == 1),
        joined(inner).map(lambda text: f"[[File:x.jpg|thumb|{text}]]").filter(lambda text: "[https" not in text),
        st.just("'''bold'''"),
        st.just('<ref name="x" />'),
        st.just("<!-- [[not a link]] -->"),
        st.just("<nowiki>[[not a link]]</nowiki>"),
    ),
    max_leaves=12,
)
LINES = joined(INLINE) | st.builds(
    lambda level, text: f"{'=' * level} {text} {'=' * level}", st.integers(1, 6), WORDS | LINKS
)


@given(st.lists(LINES, max_size=6).map("\n".join))
@examples(150)
def test_the_same_as_mwparserfromhell(text: str) -> None:
    library = pytest.importorskip("mwparserfromhell")
    code = library.parse(text)

    def hidden(node: object) -> bool:
        above = code.get_ancestors(node)
        return any(isinstance(each, library.nodes.Template) or str(getattr(each, "tag", "")) == "ref" for each in above)

    found = read(text)
    links = [link for link in found.links if not link.external]
    expected = [(str(node.title), hidden(node)) for node in code.filter_wikilinks()]
    assert [(link.target, link.hidden) for link in links] == expected
    sites = [(str(node.url), hidden(node)) for node in code.filter_external_links() if node.brackets]
    assert [(link.target, link.hidden) for link in found.links if link.external] == sites
    headings = [node.title.strip_code().strip() for node in code.filter_headings()]
    assert found.headings == ["", *headings]
    sections = [0] * len(links)
    for at, part in enumerate(code.get_sections(flat=True, include_lead=True)):
        for node in part.filter_wikilinks():
            sections[next(i for i, other in enumerate(code.filter_wikilinks()) if other is node)] = at
    assert [link.section for link in links] == sections


@given(st.text(alphabet="[]{}|<>=\n'ab/ref!- :h", max_size=80), st.text(alphabet="[]{}|<>=\n'", max_size=30))
@examples(200)
def test_any_marks_in_any_order(text: str, more: str) -> None:
    for source in (text, more + text, text + more):
        found = read(source)
        assert all(0 <= link.section < len(found.headings) for link in found.links)
        assert all(link.target in source for link in found.links)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[a]] [[b|c]]", ["a", "b"]),
        ("[[a|''b'' {{t}} c]]", ["a"]),
        ("[[a [[b]] c]]", ["b"]),
        ("[[a|x [[b]] c]]", ["b"]),
        ("[[a\n]] [[b]", []),
        ("[[a [[b]]", ["b"]),
        ("{{t|[[a}} [[b]]", ["b"]),
        ("{{t [[a]]", ["a"]),
        ("[[{{x}}]] [[a<br>]]", []),
        ("<nowiki>[[a]]</nowiki> [[b]] <pre>[[c]]</pre>", ["b"]),
        ("<nowiki>[[a]]", ["a"]),
        ("<math>x[[1]]</math> <nowiki/>[[a]]", ["a"]),
        ("<!-- [[a]] --> [[b]] <!-- [[c]]", ["b"]),
        ("[[a]]<ref>[[b]]</ref><ref name=x />[[c]]", ["a", "b", "c"]),
        ("[http://a.example b] [//c.example] [mailto:x y] http://bare.example", ["http://a.example", "//c.example"]),
    ],
)
def test_links(text: str, expected: list[str]) -> None:
    assert targets(text) == expected


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("{{t|[[a]]}}[[b]]", [True, False]),
        ("{{t|{{u|[[a]]}}|[[b]]}}", [True, True]),
        ("{{{p|[[a]]}}} [[b]]", [True, False]),
        ("{{{{t}}|[[a]]}} [[b]]", [True, False]),
        ("{{t|[[a]] [[b]]", [False, False]),
        ("[[File:x|[[a]]]] [[b]]", [False, False, False]),
        ("<ref>[[a]]</ref> [[b]] <ref>[[c]]", [True, False, False]),
        ("}} [[a]] {{", [False]),
    ],
)
def test_links_in_templates_and_footnotes_are_hidden(text: str, hidden: list[bool]) -> None:
    assert [link.hidden for link in read(text).links] == hidden


def test_texts_of_links() -> None:
    found = read("[[Bus]]es [[a|''b'' &amp; c]] [[d|]] [[x|y]]z [https://a.example the site] [[東京]]は")
    assert [link.text for link in found.links] == ["Buses", "b & c", "d", "yz", "the site", "東京"]


def test_sections() -> None:
    found = read(
        "[[a]]\n== ''One'' <!-- c --> ==\n[[b]]\n=== [[Two]] ===\n[[c]]\n{{t|\n== No ==\n}}\n==\n= =\n[[d]]\nx == y =="
    )
    assert found.headings == ["", "One", "Two"]
    assert [(link.target, link.section) for link in found.links] == [("a", 0), ("b", 1), ("Two", 2), ("c", 2), ("d", 2)]


def test_plain_text() -> None:
    text = read(
        "{{Infobox|x=[[y]]}}'''Bern''' is a [[city]] on the [[Aare|river]]<ref>{{cite|z}}</ref>.\n\n"
        "[[File:b.jpg|thumb|A [[bear]]]]\n== History ==\n* one\n*two &ndash; three<br />four\n"
        '{| class="x"\n|-\n! head\n| style="a" | cell || other\n|}\n__NOTOC__ end'
    ).text
    assert " ".join(text.split()) == "Bern is a city on the river. History one two – three four head cell other end"
    assert parse("text [[a]]", plain=False).text == ""


PIECES = (
    "{{", "}}", "[[", "]]", "{{a|", "[[a|", "[[a]]", "{{{", "}}}", "<ref>", "</ref>", "<nowiki>", "<pre>", "<!--", "==",
    "\n==", "\n|", "[http://a ", "'''", "{{a|[[b", "[[File:a|", "<a ", "&amp;", "__A", "{|", "\n== a ==", "[[a|''",
)  # fmt: skip


@without_collection
def seconds(text: str) -> float:
    began = time.process_time()
    read(text)
    return time.process_time() - began


@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_text(piece: str) -> None:
    """Four times the text takes four times as long; sixteen times would be quadratic."""
    once = min(seconds(piece * 20_000) for _ in range(2))
    assert min(seconds(piece * 80_000) for _ in range(2)) < 9 * once + 0.1


@pytest.mark.parametrize("piece", ["[[a|", "[[", "[[File:a|", "[[{{b}}|"])
def test_links_inside_each_other_take_time_and_memory_by_the_text(piece: str) -> None:
    """An article of a megabyte once took fifty gigabytes."""
    shallow, deep = (piece * count + "]]" * count for count in (20_000, 80_000))
    once = min(seconds(shallow) for _ in range(2))
    assert min(seconds(deep) for _ in range(2)) < 9 * once + 0.1
    tracemalloc.start()
    read(shallow)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500 * len(shallow)


def test_deeply_nested_templates() -> None:
    deep = 50_000
    found = read("{{a|" * deep + "[[x]]" + "}}" * deep + "[[y]]")
    assert [(link.target, link.hidden) for link in found.links] == [("x", True), ("y", False)]
    assert found.text == "y"
