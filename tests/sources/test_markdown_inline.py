"""Inline Markdown, by worked examples, against markdown-it, and with hostile input."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cocite.sources.markdown.blocks import blocks
from cocite.sources.markdown.html import InlineLink
from cocite.sources.markdown.inline import scan

REFERENCES = {"r": "ref", "two words": "words"}


def found(text: str) -> list[tuple[str, str]]:
    return [(item.url, item.text) for item in scan(text, REFERENCES).items if isinstance(item, InlineLink)]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[a](u)", [("u", "a")]),
        ("[a](u 'title') [b]( <u v> \"t\" )", [("u", "a"), ("u v", "b")]),
        ("[a](u(1)(2)) [b](u\\)x) [c]()", [("u(1)(2)", "a"), ("u)x", "b"), ("", "c")]),
        ("[a](u v) [b](u", []),
        (
            "[r] [R][] [text][r] [text][Two\n  Words] [nope][x] [^r]",
            [("ref", "r"), ("ref", "R"), ("ref", "text"), ("words", "text")],
        ),
        ("[a [b] c](u) [a [b](v) c](u)", [("u", "a [b] c"), ("v", "b")]),
        ("![a](u) [![b](i)](v) [![b](i) text](w)", [("v", "b"), ("w", "text")]),
        ("![a [b](c) d](e)", []),
        ("`[a](u)` ``[b](u) ` `` [c`](u)`](v)", [("v", "c](u)")]),
        ("\\[a](u) [b\\](v)](w)", [("w", "b](v)")]),
        ("[**bold** _it_ snake_case ~~no~~ `co*de` &amp; &#65;](u)", [("u", "bold it snake_case no co*de & A")]),
        ("[a](u&amp;v&copy;)", [("u&v©", "a")]),
        ("<https://a.org/x> <mailto:x@y> <not a link>", [("https://a.org/x",) * 2, ("mailto:x@y",) * 2]),
        (
            "https://a.org/x_(y), (see https://b.org/z). xhttps://c.org",
            [("https://a.org/x_(y)",) * 2, ("https://b.org/z",) * 2],
        ),
        ("[https://a.org](u) [see https://b.org]", [("u", "https://a.org"), ("https://b.org",) * 2]),
        ("https:// http://. **https://a.org**", [("https://a.org",) * 2]),
        (
            '<a href="u">x <i>y</i></a> <A HREF=v>z</A> <a name="n">w</a> <a title="href=t">q</a>',
            [("u", "x y"), ("v", "z")],
        ),
        (
            '<a href="u"><img src="i" alt="pic"></a> <a href="v">https://a.org</a>',
            [("u", "pic"), ("v", "https://a.org")],
        ),
        ("<!-- [a](u) <a href='v'> --> [b](w)", [("w", "b")]),
        ("1 < 2 [a](u) 3 > 2 & <b [c](v)", [("u", "a"), ("v", "c")]),
    ],
)
def test_links(text: str, links: list[tuple[str, str]]) -> None:
    assert found(text) == links


def test_plain_text_and_context() -> None:
    made = scan("**A** [b](u): first *words* [c](v) ![img](i) - last", {})
    assert made.text == "A b: first words c - last"
    assert [item.context for item in made.items if isinstance(item, InlineLink)] == ["first words", "last"]
    long = scan("[a](u) " + "word " * 60, {}).items[0]
    assert isinstance(long, InlineLink)
    assert long.context == ("word " * 24).strip()
    assert scan("![only](i)", {}).text == "only"
    assert scan("2 * 3 * 4 and C*", {}).text == "2 * 3 * 4 and C*"


def truth(text: str) -> list[str]:
    parser = MarkdownIt("commonmark")
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    inline = [token for token in parser.parse(text) if token.type == "inline"]
    return [str(child.attrs["href"]) for token in inline for child in token.children or () if child.type == "link_open"]


def ours(text: str) -> list[str]:
    made = blocks(text)
    scanned = [scan(leaf.text, made.references, leaf.html) for leaf in made.leaves]
    return [item.url for inline in scanned for item in inline.items if isinstance(item, InlineLink)]


PIECES = [
    *("[", "]", "(", ")", "!", "*", "**", "_", "`", "``", "\\", "\\[", "&amp;", "&", "<", ">", "a", "text ", " ", "\t"),
    *(
        "[a](u1)",
        "[b](<u 2>)",
        "![i](im)",
        "[![x](im)](u3)",
        "[n [m](u5) o](u6)",
        "[q](u7 'x')",
        "[q]( u8 )",
        "[z](u(9)x)",
    ),
    *(
        "[r] ",
        "[r][] ",
        "[t][r] ",
        '(u4 "t")',
        "<x:auto>",
        "\n",
        "\n\n",
        "- ",
        "  - ",
        "1. ",
        "2. ",
        "    ",
        "> ",
        "# ",
    ),
    *("## h\n", "---\n", "===\n", "```\n", "~~~\n", "<div>\n", "</div>", "<!-- ", " -->", "<pre>", "</pre>", "<b>"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join))
@settings(max_examples=100, deadline=None)
def test_the_same_links_as_markdown_it(text: str) -> None:
    text += "\n\n[r]: /ref\n"
    assert ours(text) == truth(text)


@given(st.text(alphabet="[]()!<>`*_~\\&;#-=|'\" \n\tahref:/x1.", max_size=200))
@settings(max_examples=100, deadline=None)
def test_no_text_breaks_the_scanner(text: str) -> None:
    made = blocks(text)
    for leaf in made.leaves:
        for item in scan(leaf.text, made.references, leaf.html).items:
            assert len(item.text) <= 1000


HOSTILE = {
    "brackets": "[" * 10**6,
    "parentheses": "(" * 10**6,
    "closing": "]" * 10**5,
    "images": "![" * 20_000 + "a" * 20_000 + "](x)" * 20_000,
    "nested links": "[" * 20_000 + "a" + "](x)" * 20_000,
    "destinations": "[a](" * 20_000,
    "pointed": "[a](<b" * 20_000,
    "titles": '[a](b "' * 20_000,
    "tags": '<a b="' * 20_000,
    "comments": "<!--" * 20_000,
    "code": "".join("`" * n + "x" for n in range(1, 400)),
    "emphasis": "*a _b " * 20_000,
    "entities": "&" * 10**5,
    "addresses": "http://a" + ")" * 10**6,
    "quotations": "> " * 20_000 + "\n" * 20_000,
    "items": "- " * 20_000 + "\n" * 20_000,
    "indents": "".join(" " * n + "- x\n" for n in range(400)),
    "definitions": "[a]: b\n" * 20_000,
    "references": "[a]: x\n\n" + "[a]" * 20_000,
    "anchors": "<a href=x>" * 20_000,
    "table": "a|b\n-|-\n" + "|" * 10**6,
    "spaces": " " * 10**6 + "x",
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_is_linear(text: str) -> None:
    made = blocks(text)
    for leaf in made.leaves:
        assert scan(leaf.text, made.references, leaf.html) is not None
