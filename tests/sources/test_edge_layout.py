"""Which tables without a header are believed to be edge lists."""

from __future__ import annotations

import pytest

from cocite.sources.edges.layout import layout, looks_like


@pytest.mark.parametrize(
    "content",
    [
        "1 2\n",
        "1,2,0.5,1700000000\n2,3,0.5,1700000001\n",
        "1.0,2.0\n2.0,3.0\n",
        "a.org,b.org\n",
        "n1 n2\nn3 n4\n",
        "/home /about\n/home /contact\n",
        "alice,https://b.example/\nbob,https://c.example/\n",
        "New York\tParis\nBerlin\tRome\n",
        "New York,Paris\nParis,Rome\nRome,Oslo\n",
        "alice bob\nbob carol\n",
        "from,to\nmilk,eggs\nbread,jam\n",
    ],
)
def test_links(content: str) -> None:
    assert layout(content.encode(), strict=True).looks == ""


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        ("milk, eggs\nbread, jam\n", "a table of 2 columns separated by commas"),
        ("hello world\n" * 10, "text with 2 words on every line"),
        ("Chapter 1\nChapter 2\nChapter 3\n", "text with 2 words"),
        ("12:30 13:45\n14:10 15:00\n", "text with 2 words"),
        ("0.12;0.55\n0.13;0.61\n", "a table of 2 columns separated by semicolons"),
        ("0.12,0.55\n0.55,0.12\n", "a table of 2 columns"),
        ("5,3,1,9,2\n1,5,5,2,3\n", "a table of 5 columns"),
        ("very very\nmuch much\n", "text with 2 words"),
        ("Yes,yes\nNo,no\n", "a table of 2 columns"),
        ("a\tb\tc\td\te\n" * 3, "a table of 5 columns separated by tabs"),
    ],
)
def test_no_links(content: str, looks: str) -> None:
    assert layout(content.encode(), strict=True).looks.startswith(looks)
    assert layout(content.encode()).looks == ""  # asked for by name, it is read


def test_a_few_names_on_both_sides_may_be_chance() -> None:
    pairs = [(f"word{'x' * n}", f"other{'x' * n}") for n in range(40)]
    assert looks_like(" ", 2, [*pairs, ("otherx", "wordx")]) == "text with 2 words on every line"
    assert looks_like(",", 2, [*pairs, ("otherx", "wordx")]) != "", "2 of 41 is below 5 %"
    assert looks_like(",", 2, [*pairs, ("otherx", "wordx"), ("otherxx", "wordxx")]) == ""
