"""Blocks, headings, boilerplate and context: what a reader sees as one group of links."""

from __future__ import annotations

import pytest

from cocite.sources.html.blocks import is_boilerplate
from cocite.sources.html.page import read_html
from cocite.sources.records import Page

HERE = "https://example.org/"


def page(source: str) -> Page:
    return read_html(source.encode(), HERE)


def groups(source: str) -> list[tuple[str, str]]:
    """The heading and the anchor texts of every block, the latter as one string; boilerplate marked by `*`."""
    found = page(source)
    made = [(heading, "") for heading in found.headings]
    for link in found.links:
        assert link.block is not None
        heading, texts = made[link.block]
        made[link.block] = (heading, f"{texts} {link.text}{'*' if link.boilerplate else ''}".strip())
    return made


def links(text: str) -> str:
    """A link for every letter."""
    return " ".join(f'<a href="/{letter}">{letter}</a>' for letter in text)


def items(text: str) -> str:
    return "".join(f'<li><a href="/{letter}">{letter}</a></li>' for letter in text)


# Headings, paragraphs, lists


def test_a_heading_begins_a_block_and_its_list_belongs_to_it() -> None:
    source = f"<h2>Dailies</h2><ul>{items('ab')}</ul><h2>Weeklies</h2><p>Few:</p><ul>{items('cd')}</ul>"
    assert groups(source) == [("Dailies", "a b"), ("Weeklies", "c d")]


def test_paragraphs_under_one_heading_are_one_block() -> None:
    assert groups(f"{links('a')}<h1>Top</h1><p>One {links('b')}.</p><p>Two {links('c')}.</p>") == [
        ("", "a"),
        ("Top", "b c"),
    ]


def test_a_list_belongs_to_the_words_before_it_and_words_after_it_begin_another() -> None:
    source = f"""<h2>Tools</h2><p>Editors {links("a")}:</p><ul>{items("bc")}</ul>
        <p>Compilers:</p><ul>{items("de")}</ul><ul>{items("f")}</ul><p>{links("g")}</p>"""
    assert groups(source) == [("Tools", "a b c"), ("Tools", "d e f g")]


def test_lists_in_lists_are_one_block_unless_headings_divide_them() -> None:
    inner = f"<ul>{items('bc')}</ul>"
    assert groups(f"<h2>All</h2><ul><li>{links('a')}{inner}</li>{items('d')}</ul>") == [("All", "a b c d")]
    divided = f"<ul><li><h3>B</h3>{inner}</li><li><h3>D</h3><ul>{items('de')}</ul></li></ul><p>{links('f')}</p>"
    assert groups(f"<h2>All</h2>{divided}") == [("B", "b c"), ("D", "d e"), ("All", "f")]


def test_linked_titles_of_items_divide_nothing() -> None:
    cards = "".join(f"<li><h3><a href=/{n}>{n}</a></h3><p>teaser</p></li>" for n in "abc")
    assert groups(f"<h2>News</h2><ul>{cards}</ul>") == [("News", "a b c")]


def test_entries_with_linked_headings_are_one_block() -> None:
    entries = "".join(f"<div><h3><a href=/{n}>{n}</a></h3><p>teaser {links('m')}</p></div>" for n in "abc")
    assert groups(f"<h2>News</h2>{entries}<h2>More</h2>{links('x')}") == [("News", "a m b m c m"), ("More", "x")]
    assert groups("<h3><a href=/a>a</a></h3><p>teaser") == [("a", "a")]


def test_linked_headings_of_lists_each_begin_a_block() -> None:
    source = "".join(f"<h3><a href=/{n}>{n}</a></h3><ul>{items(n * 3)}</ul>" for n in "ab")
    assert groups(f"<h2>Directory</h2>{source}") == [("a", "a a a a"), ("b", "b b b b")]


def test_a_rule_divides() -> None:
    assert groups(f"<h2>X</h2>{links('ab')}<hr>{links('cd')}") == [("X", "a b"), ("X", "c d")]


def test_lines_in_bold_type_are_headings() -> None:
    source = f"<p><b>News</b></p>{links('ab')}<br><b>Sport:</b><br>{links('cd')}<p><b>Read this.</b></p>{links('e')}"
    assert groups(source) == [("News", "a b"), ("Sport:", "c d e")]
    assert groups(f"<ul><li><b>Bold</b><br>{links('a')}<li><b>Type</b> {links('b')}</ul>") == [("", "a b")]
    assert groups(f"<p><b>Bold</b> and not</p>{links('a')}") == [("", "a")]


def test_terms_with_several_links_are_headings() -> None:
    source = (
        f"<dl><dt>Dailies<dd>{links('ab')}<dt>Weeklies<dd>{links('cd')}</dl><dl><dt>{links('e')}<dd>{links('f')}</dl>"
    )
    assert groups(source) == [("Dailies", "a b"), ("Weeklies", "c d"), ("", "e f")]


def test_summaries_and_legends_are_headings_of_what_they_open() -> None:
    source = f"<h2>Top</h2><details><summary>More</summary>{links('ab')}</details>{links('c')}"
    assert groups(source) == [("More", "a b"), ("Top", "c")]
    assert groups(f"<fieldset><legend>Choose</legend>{links('a')}</fieldset>") == [("Choose", "a")]
    nested = f"<details><summary>{links('s')}<h3>Title</h3></summary>{links('a')}</details>"
    assert groups(nested) == [("Title", "s a")]


def test_signs_after_headings_are_dropped() -> None:
    assert groups('<h2>Title<a href="#t">¶</a></h2>' + links("a"))[0] == ("Title", "¶ a")
    wiki = '<h2>History <span>[<a href="/edit">edit</a> | <a href="/source">source</a>]</span></h2>'
    assert groups(wiki + links("a")) == [("History", "edit source a")]


def test_a_section_keeps_its_headings_to_itself() -> None:
    source = f"<h1>Page</h1><section><h2>A</h2>{links('a')}</section><p>{links('b')}</p>"
    assert groups(source) == [("A", "a"), ("Page", "b")]


def test_a_division_with_many_links_ends_a_block() -> None:
    source = f"<div><h3>Box</h3>{links('abcde')}</div><div>{links('fgh')}</div>"
    assert groups(source) == [("Box", "a b c d e"), ("", "f g h")]
    assert groups(f"<div><h3>Box</h3></div><div>{links('abc')}</div><div>{links('de')}</div>") == [("Box", "a b c d e")]


# Tables


def test_a_table_is_one_block() -> None:
    rows = "".join(f"<tr><td>{links(n)}</td><td><b>{n}</b><br>{links(n)}</td></tr>" for n in "abc")
    source = f"<h2>Results</h2><p>See {links('x')}.</p><table>{rows}</table>{links('y')}"
    assert groups(source) == [("Results", "x"), ("Results", "a a b b c c"), ("Results", "y")]


def test_a_crowded_cell_is_a_block_of_its_own() -> None:
    source = f"<table><tr><td>{links('abcdef')}<td><h2>Main</h2>{links('g')}<td>{links('h')}</table>"
    assert groups(source) == [("", "a b c d e f"), ("Main", "g"), ("", "h")]


def test_head_cells_name_the_crowds_in_their_rows() -> None:
    source = (
        f"<table><tr><th>Europe<td>{links('abcde')}<tr><th>Asia<td>{links('fghij')}<tr><td>{links('klmno')}</table>"
    )
    assert groups(source) == [("Europe", "a b c d e"), ("Asia", "f g h i j"), ("", "k l m n o")]


def test_a_caption_names_its_table() -> None:
    assert groups(f"<h2>H</h2><table><caption>Cap</caption><tr><td>{links('ab')}</table>{links('c')}") == [
        ("Cap", "a b"),
        ("H", "c"),
    ]


def test_tables_in_tables() -> None:
    inner = f"<table><tr><td>{links('bc')}</table>"
    assert groups(f"<table><tr><td>{links('a')}{inner}<td>{links('d')}</table>") == [("", "a d"), ("", "b c")]


# Boilerplate


def test_boilerplate_elements() -> None:
    source = f"""<header>{links("a")}</header><nav aria-label="Site">{links("b")}</nav>
        <main><header>{links("c")}</header>
        <article><header>{links("d")}</header>{links("e")}<footer>{links("f")}</footer></article></main>
        <aside>{links("g")}</aside><footer>{links("h")}</footer>"""
    marked = {link.text: link.boilerplate for link in page(source).links}
    assert [name for name, marks in marked.items() if marks] == ["a", "b", "f", "g", "h"]
    assert page(source).headings[1] == "Site"


def test_a_side_bar_does_not_divide_the_text_around_it() -> None:
    source = f"<h2>T</h2><p>{links('a')}</p><aside><h3>Box</h3>{links('b')}</aside><p>{links('c')}</p>"
    assert groups(source) == [("T", "a c"), ("Box", "b*")]


def test_cells_and_lists_may_be_boilerplate() -> None:
    assert groups(f"<table><tr><td id=nav>{links('ab')}<td>{links('c')}</table>") == [("", "a* b*"), ("", "c")]
    assert groups(f'<ul class="breadcrumb">{items("ab")}</ul>{links("c")}') == [("", "a* b*"), ("", "c")]


@pytest.mark.parametrize(
    "source",
    [
        'class="menu"',
        'class="x main-menu y"',
        "id=leftNav",
        'id="site-footer"',
        "class='sidebar-left'",
        'class="breadcrumbs"',
        "role=navigation",
        "ROLE='Banner'",
        "id=header",
        'class="nav navbar-top"',
        "class=vector-menu",
        "class=pagination",
    ],
)
def test_names_of_boilerplate(source: str) -> None:
    assert is_boilerplate(" " + source)


@pytest.mark.parametrize(
    "source",
    [
        'class="has-sidebar"',
        'class="no-sidebar content"',
        'class="menu-item-page"',
        'class="canvas"',
        'class="header"',  # of a card, an entry, a table
        "id=content",
        "role=main",
        'class="navy"',
        'title="menu"',
        'class="footnotes"',
        "id=renavigate",
    ],
)
def test_names_that_only_sound_like_it(source: str) -> None:
    assert not is_boilerplate(" " + source)


# Context


def contexts(source: str) -> list[str]:
    return [link.context for link in page(source).links]


def test_context_is_what_follows_a_link_that_begins_an_item() -> None:
    assert contexts('<ul><li><a href="/a">A</a> - a tool for  this.<li><a href="/b">B</a></ul>') == [
        "a tool for this.",
        "",
    ]
    assert contexts('<ul><li><a href="/a">A</a><br>It is <i>good</i></ul>') == ["It is good"]
    assert contexts('<li><h3><a href="/a">A</a></h3><p>About A</p></li><td>no') == [""]
    assert contexts('<ul><li><h3><a href="/a">A</a></h3><p>About A</p></li></ul>') == ["About A"]


def test_context_of_lines_is_within_the_line() -> None:
    source = '<p><a href="/a">A</a> first one<br><a href="/b">B</a> second one<br>and more</p>'
    assert contexts(source) == ["first one", "second one and more"]


def test_context_in_running_text_is_around_the_link() -> None:
    source = f"<p>{'far away ' * 9}The paper <a href=/a>Times</a>, and others, {'go on and on ' * 9}</p>"
    (context,) = contexts(source)
    assert context == (
        "far away far away far away The paper Times, and others, go on and on go on and on go on and on go on and on "
        "go on and on"
    )


def test_rows_of_links_have_no_context() -> None:
    assert contexts(f"<p>{links('ab')} | {links('c')}</p>") == ["", "", ""]
    assert contexts('<p>See: <a href="/a">a long title</a> | <a href="/b">another long title</a></p>') == ["", ""]
    assert contexts("<td><a href=/a>A</a></td><td>no</td>") == [""]


def test_long_items_are_cut_between_words() -> None:
    (context,) = contexts(f'<li><a href="/a">A</a> {"word " * 60}</li>')
    assert context == ("word " * 24).strip()
