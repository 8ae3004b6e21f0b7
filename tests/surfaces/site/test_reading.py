"""One page of a site: words, links, what is navigation, what its head says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.site.reading import IN_HEADING, IN_TITLE, normal, path_of, read_page

HERE = "https://example.org/docs/guide/a.html"
PAGE = b"""<!doctype html><html lang="en-GB"><head><title>Robins &amp; wrens</title>
<meta name="cocite:pin" content="b.html, /c.html"><link rel="canonical" href="https://example.org/docs/guide/a"></head>
<body><nav><a href="/menu.html">Menu</a> navigational</nav><div class="sidebar"><a href="/side.html">Side</a></div>
<h1>Robins<a class="headerlink" href="#robins">\xc2\xb6</a></h1>
<p>A robin sings beside <a href="b.html#song">another robin</a>.</p>
<ul><li><a href="../c/">C</a><li><a href="https://example.org/d/index.html?x=1">D</a></ul>
<h2>Nests</h2><p>nests nests</p><svg><text>diagram</text></svg>
<a href="https://elsewhere.example/">out</a> <a href="mailto:x@y.z">mail</a> <a href="a.html">self</a>
<script>var scripted = 1;</script><footer>copyright <a href="/imprint.html">Imprint</a></footer></body></html>"""


def test_a_page() -> None:
    read = read_page(PAGE, HERE)
    assert (read.title, read.heading, read.lang) == ("Robins & wrens", "Robins", "en")
    assert read.leads_to == "/docs/guide/a" and not read.noindex
    assert read.said == {"pin": "b.html, /c.html"}
    assert [(path, text) for path, text, _ in read.links] == [
        ("/docs/guide/b.html", "another robin"),
        ("/docs/c/", "c"),
        ("/d/", "d"),
    ]
    assert len({group for _, _, group in read.links}) == 2  # a paragraph, and a list
    assert read.words["nests"] == 3 + IN_HEADING
    assert read.words["robins"] == 1 + IN_TITLE + IN_HEADING
    assert not {"menu", "navigational", "side", "diagram", "scripted", "copyright"} & set(read.words)


def test_text_outside_of_main_does_not_count() -> None:
    text = b"word " * 100
    read = read_page(
        b"<body><p>before <a href=x.html>x</a></p><main>" + text + b"<a href=y.html>y</a></main></body>", HERE
    )
    assert "before" not in read.words and [path for path, _, _ in read.links] == ["/docs/guide/y.html"]


def test_a_page_of_navigation_alone_is_read_all_the_same() -> None:
    assert read_page(b"<nav>only <a href=x.html>this</a></nav>", HERE).words == {"only": 1, "this": 1}


def test_what_was_put_into_a_page_is_not_read() -> None:
    inserted = b"<p>own</p><!-- cocite:related --><ul><li><a href=x.html>stranger</a></ul><!-- /cocite:related -->"
    plain = b"<p>own</p><!-- cocite:related -->"
    assert read_page(inserted, HERE) == read_page(plain, HERE)


def test_head_of_a_page_that_leads_on() -> None:
    moved = b'<meta http-equiv="refresh" content="0; url=../new.html"><meta name=robots content="noindex,follow">'
    read = read_page(moved, HERE)
    assert read.leads_to == "/docs/new.html" and read.noindex


@pytest.mark.parametrize(
    ("href", "path"),
    [
        ("b.html", "/docs/guide/b.html"),
        ("./b.html#part", "/docs/guide/b.html"),
        ("../", "/docs/"),
        ("/", "/"),
        ("/x/index.html", "/x/"),
        ("//example.org/x", "/x"),
        ("HTTPS://EXAMPLE.org/%C3%A9.html", "/é.html"),
        ("../../../../up.html", "/up.html"),
        ("http://other.example/", None),
        ("javascript:void(0)", None),
        ("#top", None),
        ("?page=2", None),
        ("https://[", None),
        ("", None),
    ],
)
def test_where_references_lead(href: str, path: str | None) -> None:
    assert path_of(href, HERE) == path


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("/other/", "/other/b.html"),
        ("../", "/docs/b.html"),
        ("https://example.org/x/y", "/x/b.html"),
        ("http://[", "/docs/guide/b.html"),
        ("data:,x", "/docs/guide/b.html"),
        ("", "/docs/guide/b.html"),
    ],
)
def test_references_begin_where_the_page_says(base: str, path: str) -> None:
    read = read_page(f'<base href="{base}"><p>word <a href="b.html">b</a></p>'.encode(), HERE)
    assert [found for found, _, _ in read.links] == [path]


@given(st.text(max_size=60))
def test_paths_have_one_spelling(path: str) -> None:
    once = normal(path)
    assert once.startswith("/") and normal(once) == once and "/./" not in once


@given(st.binary(max_size=300) | st.text(alphabet="<>ap/hdivmetanvsg ='\"cocite:!-ul", max_size=300).map(str.encode))
def test_nothing_breaks_it(content: bytes) -> None:
    read = read_page(content, HERE)
    assert 0 <= read.linked <= 1 and all(path.startswith("/") for path, _, _ in read.links)


def test_a_long_page_takes_no_longer_than_its_length() -> None:
    links = b"".join(b"word <a href=%d.html>b</a>" % at for at in range(20_000))
    read = read_page(b"<div>" * 50_000 + links, HERE)
    assert len(read.links) == 2000 and "word" in read.words
