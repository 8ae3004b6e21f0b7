"""Markdown's blocks."""

from __future__ import annotations

import pytest

from cocite.sources.markdown.blocks import Leaf, blocks


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("a\nb\n\nc", [Leaf("a\nb"), Leaf("c")]),
        ("# A #\n## B ##x\n#C\n####### D", [Leaf("A", 1), Leaf("B ##x", 2), Leaf("#C\n####### D")]),
        ("A\n===\nB\nb\n---\n---\nc", [Leaf("A", 1), Leaf("B\nb", 2), Leaf("c")]),
        ("a\n***\n- - -\nb", [Leaf("a"), Leaf("b")]),
        ("- a\n  b\n- c\n\n  d\n\ne", [Leaf("a\nb"), Leaf("c"), Leaf("d"), Leaf("e")]),
        ("1. a\n2) b\n10. c", [Leaf("a"), Leaf("b"), Leaf("c")]),
        ("- a\n    - b\n        - c", [Leaf("a"), Leaf("b"), Leaf("c")]),
        ("a\n2. b\n-\n1. c", [Leaf("a\n2. b", 2), Leaf("c")]),
        ("> a\nlazy\n> > b\n\nc", [Leaf("a\nlazy"), Leaf("b"), Leaf("c")]),
        ("```\nx\n\n~~~\n```\na\n~~~ x\ny", [Leaf("a")]),
        ("- ```\n  x\n- a\n\n      y", [Leaf("a")]),
        ("    x\n\n\tx\na\n    b", [Leaf("a\nb")]),
        ("<div>\na\n\nb", [Leaf("<div>\na", html=True), Leaf("b")]),
        ("<!-- a\n\nb -->\nc", [Leaf("<!-- a\n\nb -->", html=True), Leaf("c")]),
        ("<pre>\n\nx\n</pre>\na\n<span>\nb", [Leaf("<pre>\n\nx\n</pre>", html=True), Leaf("a\n<span>\nb")]),
        ("a | b\n--|--\nc | d\n\ne", [Leaf("a | b"), Leaf("c | d"), Leaf("e")]),
        ("a\r\nb\r\n", [Leaf("a\nb")]),
        ("", []),
    ],
)
def test_leaves(text: str, leaves: list[Leaf]) -> None:
    assert blocks(text).leaves == leaves


def test_reference_definitions() -> None:
    made = blocks(
        "[A b]: <x y> 'title'\n[a  B]: second\n[c]:\n  z&amp;\\*\n[d]: e f\n\n> [q]: w\n\ntext\n[no]: n\n\n[^f]: note"
    )
    assert made.references == {"a b": "x y", "c": "z&*", "q": "w"}
    assert made.leaves == [Leaf("[d]: e f"), Leaf("text\n[no]: n"), Leaf("[^f]: note")]
    assert blocks("[a]: b\n===\nc").leaves == [Leaf("===\nc")]
