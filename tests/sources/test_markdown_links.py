"""Links, headings and text of Markdown, by worked examples and with hostile input."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocite.sources.collections.markdown import MarkdownLink, read_blocks

REFERENCES = "\n\n[r]: ref\n[two words]: words\n"


def links_of(text: str) -> list[MarkdownLink]:
    return [item for block in read_blocks(text) for item in block.items if isinstance(item, MarkdownLink)]


def texts_of(text: str) -> list[str]:
    return [block.text for block in read_blocks(text)]


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
        ("x <!-- [a](u) <a href='v'> --> [b](w)", [("w", "b")]),
        ("1 < 2 [a](u) 3 > 2 & <b [c](v)", [("u", "a"), ("v", "c")]),
    ],
)
def test_links(text: str, links: list[tuple[str, str]]) -> None:
    assert [(link.url, link.text) for link in links_of(text + REFERENCES)] == links


def test_plain_text_and_context() -> None:
    text = "**A** [b](u): first *words* [c](v) ![img](i) - last"
    assert texts_of(text) == ["A b: first words c - last"]
    assert [link.context for link in links_of(text)] == ["first words", "last"]
    assert links_of("[a](u) " + "word " * 60)[0].context == ("word " * 24).strip()
    assert texts_of("![only](i)") == ["only"]
    assert texts_of("2 * 3 * 4 and C*") == ["2 * 3 * 4 and C*"]
    assert texts_of("a <script>b</script> c") == ["a c"]


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("a\nb\n\nc", ["a b", "c"]),
        ("# A #\n## B ##x\n#C", ["A", "B ##x", "#C"]),
        ("A\n===\nB\nb\n---\n---\nc", ["A", "B b", "c"]),
        ("- a\n  b\n- c\n\n  d\n\ne", ["a b", "c", "d", "e"]),
        ("- a\n    - b\n        - c", ["a", "b", "c"]),
        ("> a\nlazy\n> > b\n\nc", ["a lazy", "b", "c"]),
        ("```\nx\n\n~~~\n```\na\n~~~ x\ny", ["a"]),
        ("    x\n\n\tx\na\n    b", ["a b"]),
        ("<div>\na\n\nb", ["a", "b"]),
        ("<!-- a\n\nb -->\nc", ["", "c"]),
        ("a | b\n--|--\nc | d\n\ne", ["a b", "c d", "e"]),
        ("[^f]: https://a.org note\n\nsee [^f]", ["[^f]: https://a.org note", "see [^f]"]),
        ("", []),
    ],
)
def test_text_by_block(text: str, texts: list[str]) -> None:
    assert texts_of(text) == texts


def test_links_of_a_very_long_paragraph() -> None:
    assert len(links_of("[some text](https://example.org/x) and more\n" * 10_000)) == 10_000
    assert len(links_of("[t](https://example.org/x) " * 10_000)) == 10_000


@given(st.text(alphabet="[]()!<>`*_~\\&;#-=|'\" \n\tahref:/x1.", max_size=200))
@settings(max_examples=100, deadline=None)
def test_no_text_breaks_the_reader(text: str) -> None:
    for block in read_blocks(text):
        for item in block.items:
            assert len(item.text) <= 1000


HOSTILE = {
    "brackets": "[" * 10**6,
    "parentheses": "(" * 10**6,
    "closing": "]" * 10**5,
    "images": "![" * 20_000 + "a" * 20_000 + "](x)" * 20_000,
    "closed brackets": "[" * 10**5 + "]" * 10**5,
    "brackets in words": "[a *b _c " * 10**5,
    "many small brackets": ("[" * 90 + " ") * 10**4,
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


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_takes_bounded_time(text: str) -> None:
    started = time.process_time()
    assert list(read_blocks(text)) is not None
    assert time.process_time() - started < 20
