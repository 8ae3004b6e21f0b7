"""Parts of relating a site: what is navigation, a table of contents, a title; and where references lead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.store import Graph
from cocite.site.overrides import Wishes
from cocite.site.read import in_chunks, normal_path, path_of, read_page
from cocite.site.relate import (
    Relater,
    contents_pages,
    mark_navigation,
    own_title,
    shared_title_parts,
    well_known_pages,
)
from cocite.sources.records import Link, Page

AT = "https://a.example/docs/guide/install.html"


def site(pages: int, *links: Link) -> list[Page]:
    return [Page(f"https://a.example/{n}", links=[Link(x.url, x.text, x.block) for x in links]) for n in range(pages)]


def marked(page: Page) -> list[str]:
    return [link.url for link in page.links if link.boilerplate]


def test_links_that_recur_are_navigation() -> None:
    pages = site(6, Link("/next", "Next", 0))
    pages[0].links.append(Link("/own", "own", 0))
    mark_navigation(pages)
    assert [marked(page) for page in pages] == [["/next"]] * 6


def test_links_of_few_pages_are_not() -> None:
    pages = site(3, Link("/a", "a", 0), Link("/b", "b", 0))
    mark_navigation(pages)
    assert [marked(page) for page in pages] == [[], [], []]


def test_a_group_of_links_on_three_pages_is_a_side_bar() -> None:
    pages = site(3, *(Link(f"/{name}", name, 1) for name in "abc"))
    mark_navigation(pages)
    assert [marked(page) for page in pages] == [["/a", "/b", "/c"]] * 3


def test_tables_of_contents_unless_there_is_nothing_else() -> None:
    contents = Page("/", text="x" * 100, links=[Link(f"/{n}", "y" * 15) for n in range(5)])
    article = Page("/a", text="x" * 100, links=[Link("/b", "b")])
    assert contents_pages([contents, article, article]) == {0}
    assert contents_pages([contents, contents, article]) == set()


def test_titles_without_the_name_of_the_site() -> None:
    titles = ["Robin | Birds", "Wren | Birds", "Owl | Birds"]
    shared = shared_title_parts(titles)
    assert [own_title(Page("/", title), shared, "/p") for title in titles] == ["Robin", "Wren", "Owl"]
    assert own_title(Page("/", "Birds", headings=["", "Owls"]), shared, "/p") == "Owls"
    assert own_title(Page("/", ""), shared, "/p") == "/p"


@pytest.mark.parametrize(
    ("href", "path"),
    [
        ("", "/docs/guide/install.html"),
        ("other.html", "/docs/guide/other.html"),
        ("../", "/docs/"),
        ("../index.html#top", "/docs/"),
        ("/a%20b.html?x=1", "/a b.html"),
        ("https://A.example/x", "/x"),
        ("https://b.example/x", None),
        ("mailto:a@a.example", None),
        ("http://[", None),
    ],
)
def test_where_references_lead(href: str, path: str | None) -> None:
    assert path_of(href, AT) == path


@given(st.text("/.ab", max_size=20))
def test_paths_have_one_spelling(path: str) -> None:
    once = normal_path(path)
    assert once.startswith("/") and "//" not in once and normal_path(once) == once


def test_wishes_in_a_page_and_lists_that_were_inserted() -> None:
    page = read_page(
        b"<title>A</title><meta name='cocite:pin' content='b.html'><META content=true name=cocite:none>"
        b"<p>words <!-- cocite:related --><a href=x>other</a><!-- /cocite:related --> more</p>",
        AT,
    )
    assert page.wishes == {"pin": "b.html", "none": "true"}
    assert page.record.links == [] and "other" not in page.record.text and "more" in page.record.text


@given(st.binary(max_size=300))
def test_nothing_breaks_reading(content: bytes) -> None:
    read_page(b"<meta name=cocite:" + content, AT)


def test_pages_that_everybody_links_to_count_half() -> None:
    glossary = Page("https://a.example/glossary")
    pages = [Page(f"https://a.example/{n}", links=[Link(glossary.url, f"term {n}", 0)]) for n in range(20)]
    assert well_known_pages([*pages, glossary]) == {20}
    assert well_known_pages([*pages[:15], glossary]) == set(), "too few pages link to it"
    for page in pages[:5]:
        page.links[0].boilerplate = True
    assert well_known_pages([*pages, glossary]) == set(), "navigation doesn't count"


def test_well_known_pages_are_ranked_by_half_their_score() -> None:
    words = [f"{letter}{n}" for letter in "abcd" for n in range(10)]
    pages = [Page(f"https://a.example/{n}", text=" ".join(words[:30])) for n in range(2)]
    pages.append(Page("https://a.example/other", text=" ".join(words[10:40])))
    pages += [Page(f"https://a.example/far{n}", text=f"x{n} y{n} z{n}") for n in range(20)]
    relater = Relater(Graph.from_records(pages), pages, [Wishes() for _ in pages], 5)
    before = relater.related_to(0)
    assert [each.page for each in before] == [1, 2]
    relater.well_known = {1}
    after = {each.page: each.score for each in relater.related_to(0)}
    assert after == {1: before[0].score / 2, 2: before[1].score}


def test_unlinked_pages_need_similar_text() -> None:
    texts = [[f"{letter}{n}" for n in range(40)] + ["common"] for letter in "abc"]
    pages = [Page(f"https://a.example/{at}", text=" ".join(words)) for at, words in enumerate(texts)]
    pages[0].links.append(Link(pages[2].url, "two", 0))
    relater = Relater(Graph.from_records(pages), pages, [Wishes() for _ in pages], 5)
    assert [each.page for each in relater.related_to(0)] == [2], "one word in common is not enough without a link"
    assert relater.related_to(1) == []


def test_processes_relate_pages_alike() -> None:
    words = [f"w{n}" for n in range(60)]
    pages = [Page(f"https://a.example/{n}", text=" ".join(words[n : n + 30])) for n in range(12)]
    relater = Relater(Graph.from_records(pages), pages, [Wishes() for _ in pages], 3)
    every = list(range(len(pages)))
    assert in_chunks(relater.lists, every, "relating", 0, 2, lambda *_: None) == relater.lists(every)
    assert all(relater.lists(every))
