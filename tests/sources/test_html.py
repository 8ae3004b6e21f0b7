"""One document → one page: addresses, anchor texts, what the head says, encodings, strange input."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import can_ada
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cocite.errors import BadSource
from cocite.sources.html import page as html
from cocite.sources.html.encoding import decode
from cocite.sources.html.page import read_html, recognises
from cocite.sources.records import Page, ReadReport
from tests.sources.html_strategies import PAGES, SOUP
from tests.sources.slow_html import slow_read

HERE = "https://example.org/dir/page.html"
ARCHIVES = Path(__file__).parents[3] / "shared" / "data" / "warc"

GERMAN = """Wer eine Seite gefunden hat, die ihm gefällt, sucht oft nach weiteren Seiten dieser Art. Früher fragte man
dazu einen Bibliothekar oder blätterte in gedruckten Verzeichnissen; heute gibt es Listen, die Liebhaber eines Gebiets
mit viel Geduld zusammengetragen haben. Stehen zwei Seiten auf vielen solchen Listen nebeneinander, so haben sie wohl
etwas miteinander zu tun, auch wenn keine der beiden die andere erwähnt. Auf diesem einfachen Gedanken beruht das ganze
Verfahren: Es zählt, wie häufig zwei Seiten gemeinsam genannt werden, und gibt denen den Vorzug, die im selben Abschnitt
stehen. Wörter spielen dabei zunächst keine Rolle, und deshalb funktioniert es in jeder Sprache gleich gut."""


def page(source: str, **more: object) -> Page:
    return read_html(source.encode(), HERE, **more)  # type: ignore[arg-type]


def urls(source: str) -> list[str]:
    return [link.url for link in page(source).links]


def texts(source: str) -> list[str]:
    return [link.text for link in page(source).links]


# Addresses


def test_addresses_are_resolved_as_in_a_browser() -> None:
    source = """<a href="a.html">1</a> <a href=/b>2</a> <a href='../c?x=1&amp;y=2#z'>3</a>
        <a href="//other.example">4</a> <a href="?q=1">5</a> <a href="#top">6</a>
        <a href=" HTTP://Other.Example:80/A b ">7</a> <a href="">8</a>"""
    assert urls(source) == [
        "https://example.org/dir/a.html",
        "https://example.org/b",
        "https://example.org/c?x=1&y=2#z",
        "https://other.example/",
        "https://example.org/dir/page.html?q=1",
        "https://example.org/dir/page.html#top",
        "http://other.example/A%20b",
        "https://example.org/dir/page.html",
    ]


def test_the_first_base_with_an_address_counts() -> None:
    source = (
        '<a href="x">1</a><base target="_top"><base href="/sub/"><base href="http://other.example/"><a href="y">2</a>'
    )
    assert urls(source) == ["https://example.org/sub/x", "https://example.org/sub/y"]
    assert urls('<base href="http://[bad"><a href="x">1</a>') == ["https://example.org/dir/x"]


def test_only_links_to_web_pages_are_kept() -> None:
    report = ReadReport()
    source = """<a href="javascript:void(0)">1</a><a href="mailto:a@example.org">2</a><a href="tel:1">3</a>
        <a name="here">4</a><a href="ftp://example.org/">5</a><a href="http://[bad">6</a><a href="//exa mple.org/">7</a>
        <a href="/good">8</a>"""
    found = read_html(source.encode(), HERE, report=report)
    assert [link.url for link in found.links] == ["https://example.org/good"]
    assert report.skipped == {"link with an invalid address": 2}
    assert report.example == {"link with an invalid address": f"http://[bad on {HERE}"}
    with pytest.raises(BadSource, match=r"link with an invalid address: 'http://\[bad on"):
        read_html(source.encode(), HERE, report=ReadReport(strict=True))


def test_escape_sequences_are_taken_out_whole() -> None:
    red, title, link = "\x1b[1;31m", "\x1b]0;owned\x07", "\x1b]8;;http://x.example/\x1b\\"
    source = f"""<title>A {red}title{title}</title><h2>Head{red}ing</h2>
        <p>words {title} before <a href=/a>an{red}chor{link} here</a> {red} and after</p>"""
    found = read_html(source.encode(), HERE)
    assert (found.title, found.headings) == ("A title", ["Heading"])
    assert found.links[0].text == "anchor here"
    assert found.links[0].context == "words before anchor here and after"
    assert found.text == "Heading words before anchor here and after"


@given(st.text(alphabet="/ab.%2eE?=&'~;:@#\\é|^ +$!()*,-_[]", max_size=10))
def test_the_short_way_to_an_address_is_right(rest: str) -> None:
    href = "/" + rest
    base = can_ada.parse("http://example.org:8080/x/y?z")
    if html._FROM_ROOT.fullmatch(href) and "/." not in href:
        assert base.origin + href == str(base + href)


# Anchor texts and attributes


def test_anchor_texts() -> None:
    source = """<a href=1>  a \n <b>b</b>c </a><a href=2><img alt="a picture" src=x></a><a href=3 title="the title"></a>
        <a href=4 title=no aria-label="the label"><i class=icon></i></a>
        <a href=5 title=no><img alt=" "><img alt=yes></a><a href=6><svg><title>drawn</title><path d=""/></svg></a>
        <a href=7>&lt;x&gt; &amp;&nbsp;y</a><area href=8 alt="the map">
        <a href=9><script>no()</script>yes<style>no</style><noscript>no <img alt=no></noscript></a>"""
    expected = ["a bc", "a picture", "the title", "the label", "yes", "drawn", "<x> & y", "the map", "yes"]
    assert texts(source) == expected


def test_a_link_round_a_heading_is_named_by_it() -> None:
    link = page("<a href=/x><h3>A title</h3><p>What it is about.</p></a>").links[0]
    assert (link.text, link.context) == ("A title", "What it is about.")


def test_rel_is_kept_and_the_page_may_add_to_it() -> None:
    source = '<a href=1 rel="External  NOOPENER">1</a><a href=2>2</a><a href=3 rel=nofollow>3</a>'
    assert [link.rel for link in page(source).links] == ["external noopener", "", "nofollow"]
    tagged = page('<meta name="ROBOTS" content="index, NoFollow">' + source)
    assert [link.rel for link in tagged.links] == ["external noopener nofollow", "nofollow", "nofollow"]
    assert not tagged.noindex


def test_of_two_attributes_of_one_name_the_first_counts() -> None:
    assert urls('<a HREF="/one" href="/two">x</a>') == ["https://example.org/one"]


def test_links_end_where_they_must() -> None:
    source = (
        "<ul><li><a href=1>one<li><a href=2>two</ul><table><tr><td><a href=3>three<td>no</table><a href=4>a<a href=5>b"
    )
    assert texts(source) == ["one", "two", "three", "a", "b"]


def test_comments_and_scripts_have_no_links() -> None:
    hidden = '<a href="/no">no</a>'
    for source in (
        f"<!-- {hidden} -->",
        f"<script>document.write('{hidden}')</script>",
        f"<script><!-- <script> {hidden} </script> {hidden} --></script>",
        f"<style>{hidden}</style>",
        f"<textarea>{hidden}</textarea>",
        f"<title>{hidden}</title>",
        f"<template>{hidden}</template>",
        f"<noscript>{hidden}</noscript>",
        f"<iframe>{hidden}</iframe>",
        f"<p title='{hidden}'>",
        f'<p title="{hidden.replace(chr(34), "")}">',
        f"<select><option>{hidden.replace('<a ', '<b ')}</select>",
        hidden.replace("<", "&lt;"),
        '<a href="/no',
        "<a href=/no",
        '<a href="/no" title="cut>',
    ):
        assert urls(source + '<a href="/yes">yes</a>' * ("cut" not in source and not source.endswith("no"))) in (
            ["https://example.org/yes"],
            [],
        ), source
        assert "https://example.org/no" not in urls(source)
    assert urls('<a title="a > b" href=/yes>x</a>') == ["https://example.org/yes"]


# The head


def test_title_canonical_language() -> None:
    found = page(
        '<html LANG="pt-BR"><title> A &amp; <b>B</b>\n</title><title>second</title>'
        '<link rel="alternate" href="/x"><link rel="shortlink CANONICAL" href="/proper"><body>x'
    )
    assert (found.title, found.canonical, found.lang) == ("A & <b>B</b>", "https://example.org/proper", "pt")
    assert page("<svg><title>drawing</title></svg><title>page</title>").title == "page"
    assert page('<link rel=canonical href="">').canonical == ""


def test_robots() -> None:
    assert page('<meta name=robots content="noindex">').noindex
    assert page('<meta content="NONE" name=robots>').noindex
    assert not page('<meta name=googlebot content="noindex">').noindex


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/new", "https://example.org/new"),
        ("5;URL='http://new.example/'", "http://new.example/"),
        (" 3 , /new ", "https://example.org/new"),
        ("0.5; url=new", "https://example.org/dir/new"),
        ("6; url=/new", ""),
        ("0", ""),
        ("0; url=page.html#x", ""),
        ("x; url=/new", ""),
        ("99999999999999999999; url=/new", ""),
        ("0; url='", ""),
    ],
)
def test_refresh_is_a_redirect_if_it_is_soon_and_leads_elsewhere(content: str, target: str) -> None:
    assert page(f'<meta http-equiv="Refresh" content="{content}">').redirect == target


def test_refresh_for_browsers_without_scripts_is_none() -> None:
    assert page('<noscript><meta http-equiv=refresh content="0; url=/nojs"></noscript>').redirect == ""


def test_language_is_detected_in_long_texts() -> None:
    assert page(f"<p>{GERMAN}").lang == "de"
    assert page(f"<p>{GERMAN[:300]}").lang == ""
    assert page(f"<p>{' '.join(f'{n:x}' for n in range(3000, 4000, 7))}" * 3).lang == ""


# Text


def test_main_text_leaves_boilerplate_out() -> None:
    source = """<header><a href=/>Home</a></header><nav>menu</nav><main><h1>Title</h1><p>First <b>bold</b>.</p>
        <ul><li>one<li>two</ul><table><tr><td>a<td>b</table></main><div class="sidebar">side</div><footer>foot</footer>
        <script>no</script>"""
    assert page(source).text == "Title First bold. one two a b"
    assert page(source, text=False).text == ""


# Encodings


def test_order_of_encodings() -> None:
    word = "Größe ¥"
    as_latin, as_utf = word.encode("latin-1"), word.encode()
    said = '<meta http-equiv="Content-Type" content="text/html; charset={}">'
    assert decode(b"\xef\xbb\xbf" + as_utf, "latin-1") == word
    assert decode(word.encode("utf-16")) == word
    assert decode(as_latin, "ISO-8859-1") == word
    assert decode(as_utf, " UTF-8 ") == word
    assert decode(said.format("iso-8859-1").encode() + as_latin).endswith(word)
    assert decode(b'<?xml version="1.0" encoding="latin1"?>' + as_latin).endswith(word)
    assert decode(said.format("utf-16").encode() + as_utf).endswith(word)  # it cannot be, if that could be read
    assert decode(as_utf) == word
    assert decode(said.format("utf-8").encode() + as_latin * 10).endswith(word)  # it says so, but it is not
    assert decode(b"abc" + "Größe".encode()[:4], "utf-8") == "abcGr\ufffd"[:5] + decode("Größe".encode()[2:4], "utf-8")
    assert decode("日本語のページです。文字コードを調べます。".encode("shift_jis") * 5).startswith("日本語")
    assert decode(b"\x81\xff", "no-such-encoding") != ""


# Limits and strange input


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocite.sources.html.running_text.MAX_LINKS", 3)
    found = page("<a href=/x>y</a>" * 5 + "<a href=/x><b>y</b></a><area href=/x>" + f"<h2>{'word ' * 100}</h2>")
    assert len(found.links) == 3
    long = page(f"<h2>{'word ' * 100}</h2><a href=/x>{'word ' * 200}</a><p>{'text ' * 60_000}")
    assert len(long.links[0].text) <= 500
    assert len(long.headings[0]) <= 300
    assert 199_990 < len(long.text) <= 200_000


@pytest.mark.parametrize(
    "unit", ["<div>", "<ul><li>", "<table><tr><td>", "<dl><dt>x<dd>", "<b>", "<template>", "<section>", "<h1>"]
)
def test_deep_nesting(unit: str) -> None:
    assert len(page(unit * 10_000 + "<a href=/x>y</a>" + "</div></ul></table>" * 100).links) == (unit != "<template>")


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        "<a ",
        "<a '",
        '<a "x',
        "<a x=",
        "<!--",
        "<!",
        "</",
        "<script>",
        "<title>",
        "&",
        "&#",
        "\0",
        "</td>",
        "<base>",
    ],
)
def test_half_a_million_of_anything_is_read_in_one_pass(unit: str) -> None:
    assert page(unit * (500_000 // len(unit))).links == []


def test_a_page_of_many_links() -> None:
    found = page("<p>" + "<a href=/x>y</a> " * 20_000)
    assert len(found.links) == 20_000
    assert {link.block for link in found.links} == {0}


def test_xml_has_its_own_way_of_closing() -> None:
    source = '<?xml version="1.0"?><html><script src="x"/><a id="a"/><td/><br/><a href="/x">y</a></html>'
    assert urls(source) == ["https://example.org/x"]


def test_not_html_at_all() -> None:
    assert page("just words").text == "just words"
    assert page("") == Page(HERE)
    assert read_html(bytes(range(256)) * 10, HERE).links == []
    assert read_html(b"<a href=/x>y</a>", "no address").links == []


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.one_of(SOUP.map(str.encode), SOUP.map(lambda text: text.encode("utf-16")), st.binary(max_size=200)))
def test_anything_gives_a_page_that_holds_together(content: bytes) -> None:
    found = read_html(content, HERE)
    for link in found.links:
        assert link.url.startswith(("http:", "https:"))
        assert link.text == " ".join(link.text.split())
        assert link.block is not None
        assert 0 <= link.block < len(found.headings)
        assert len(link.context) <= 400
    first_seen = list(dict.fromkeys(link.block for link in found.links))
    assert first_seen == list(range(len(found.headings)))
    assert "\0" not in found.text + found.title + "".join(found.headings)


# The slow truth


def rows(found: Page) -> list[tuple[str, str, int | None, str, bool]]:
    return [(link.url, link.text, link.block, link.rel, link.boilerplate) for link in found.links]


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(PAGES)
def test_made_up_pages_read_as_by_a_browser(source: str) -> None:
    source = "<!doctype html><body>" + source
    slow, headings, _ = slow_read(source, HERE)
    found = read_html(source.encode(), HERE)
    assert rows(found) == slow
    assert found.headings == headings


def real_pages() -> Iterator[tuple[str, bytes, str | None]]:
    from cocite.sources.archives.archive_records import open_records
    from cocite.sources.archives.warc import decode_body

    for path in sorted(ARCHIVES.glob("*.warc*")):
        for record in open_records(path, ReadReport()):
            if "html" in record.http.get("content-type", "") and record.url and record.status == 200:
                content, _ = decode_body(record.body(), record.http.get("transfer-encoding", ""), "", 1 << 20)
                yield record.url, content, None


def test_real_pages_read_as_by_a_browser() -> None:
    if not ARCHIVES.exists():
        pytest.skip(f"{ARCHIVES} is not there")
    compared = left_open = 0
    for url, content, hint in real_pages():
        if len(content) > 60_000:
            continue  # the slow truth is slow
        slow, headings, _ = slow_read(decode(content, hint), url)
        found = read_html(content, url)
        if len(slow) != len(found.links):  # the tree repeats links that were never closed
            left_open += 1
            without_repeats = list(dict.fromkeys(row[0] for row in slow))
            assert list(dict.fromkeys(link.url for link in found.links)) == without_repeats
            continue
        compared += 1
        assert rows(found) == slow, url
        assert found.headings == headings, url
    assert compared > 110
    assert left_open < 12


# Recognition


def test_recognises() -> None:
    path = Path("x")
    assert recognises(path, b"\xef\xbb\xbf\n<!DOCTYPE html><p>x")
    assert recognises(path, b"<!-- note --><html>")
    assert recognises(path, b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html>')
    assert not recognises(path, b"<!DOCTYPE NETSCAPE-Bookmark-file-1><META><TITLE>Bookmarks</TITLE>")
    assert not recognises(path, b"<opml version='2.0'>")
    assert not recognises(path, b"# <p> in Markdown")
    assert not recognises(path, gzip.compress(b"<html>"))
