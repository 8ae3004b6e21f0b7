"""The tokenizer against a browser's: the same links in whatever is thrown at both."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resiliparse.parse.html import HTMLTree

from cocite.sources.html.tokens import attribute_text, attributes, raw_content, tokens

BITS = (
    *(
        "<a href=/1>",
        '<a href="/2">t</a>',
        "<A HREF='/3' x>",
        '<a x="<" href=/4 href=/5>',
        "</a>",
        "<!--",
        "-->",
        "--!>",
    ),
    *(
        "->",
        "--",
        "-",
        "!",
        ">",
        "<",
        "/",
        "=",
        '"',
        "'",
        " ",
        "\n",
        "<script>",
        "</script>",
        "</script ",
        '<SCRIPT x="',
    ),
    *(
        "<title>",
        "</title>",
        "<textarea>",
        "</textarea>",
        "<style>",
        "</style>",
        "<iframe>",
        "</iframe>",
        "<xmp>",
        "</xmp",
    ),
    *("<b", "<b ", "</b>", "</", "<!", "<?", "<!doctype", "a", "b=c", "href", "&amp", "&lt;", "</td>", "</td> ", "<i>"),
    *(
        "<noframes>",
        "</noframes>",
        "<plaintext>",
        "<a/href=/7>",
        "<a href = /8 >",
        "<a =x href=/9>",
        '<a href="/10" "=">',
    ),
    *('<a "href"=1 href=/11>', '<a href="/6?a=1&copy=2&amp;b&lt=3&notit;&#65;&#x42">q</a>'),
)


def hrefs(source: str) -> list[str]:
    """The addresses of all links, by our tokens."""
    found = []
    for parts in tokens(source):
        take = iter(parts)
        next(take)
        for href, _, _, _, name, attribute_source, _ in zip(*[take] * 7, strict=True):
            if href is not None:
                found.append(attribute_text(href))
            elif name in ("a", "A") and "href" in attributes(attribute_source or ""):
                found.append(attributes(attribute_source or "")["href"])
    return found


def browser_hrefs(source: str) -> list[str]:
    nodes = HTMLTree.parse(source).document.query_selector_all("a[href]")
    try:
        return [node.getattr("href") for node in nodes]
    except RuntimeError:  # how this library says that there are none
        return []


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(BITS), max_size=12).map("".join))
def test_links_are_those_of_a_browser(source: str) -> None:
    source = "<!doctype html><body>" + source
    # the tree repeats links that are never closed: compared without repeats
    assert list(dict.fromkeys(hrefs(source))) == list(dict.fromkeys(browser_hrefs(source)))


def test_parts() -> None:
    (parts,) = tokens('a<B x=1>b</b><!-- c --><a href="/d" rel=e>f<a href="/g" rel="h">i</a><script>"</b>"</script>j')
    assert parts == [
        *("a", None, None, None, None, "B", " x=1"),
        *("b", None, None, None, None, "/b", None),
        *("", None, None, None, None, None, None),
        *("", None, None, None, None, "a", ' href="/d" rel=e'),
        *("f", "/g", ' rel="h"', "i", None, None, None),
        *("", None, None, None, 'script>"</b>"', None, None),
        *("", None, None, None, None, "/script", None),
        "j",
    ]


def test_long_sources_come_in_several_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "<b>x" * 10
    whole = list(tokens(source))
    monkeypatch.setattr("cocite.sources.html.tokens._CHUNK_TOKENS", 3)
    pieces = list(tokens(source))
    assert len(whole) == 1
    assert len(pieces) == 4
    joined = [part for parts in pieces for part in parts[:-1]] + pieces[-1][-1:]
    assert [part for part in joined if part] == [part for part in whole[0] if part]


def test_attributes() -> None:
    source = " HREF='a' href=b c d=\"&lt;&copy;&copy=&copyx &#65 e\" f = g/h i= checked/>"
    assert attributes(source) == {
        **{"href": "a", "c": "", "d": "<©&copy=&copyx A e", "f": "g/h", "i": "checked/"},
    }


def test_raw_content() -> None:
    assert raw_content("title x='>'>A &amp; <b>") == "A & <b>"
    assert raw_content("title x='") == ""
