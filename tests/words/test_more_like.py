"""Pages whose words are similar to a page's."""

from __future__ import annotations

from collections import Counter
from math import log
from pathlib import Path

import pytest

from cocite.graph.store import Graph
from cocite.sources.records import Link, Page
from cocite.words.search import SEARCH
from cocite.words.tfidf import MAX_QUERY_WORDS, more_like, page_words, shared_words, strongest_words
from tests.graph.webs import make


def test_the_words_of_a_page_and_of_links_to_it(place: Path) -> None:
    make(
        place / "web.cocite",
        [
            Page("https://a.example/", "Tortoises", text="tortoises eat leaves", headings=["Food"]),
            Page("https://b.example/", "Leaves", links=[Link("https://a.example/", "slow animals")]),
            Page("https://c.example/", "Leaves and food", links=[Link("https://d.example/", "slow leaves")]),
            Page("https://empty.example/"),
        ],
    )
    graph = Graph(place / "web.cocite")
    SEARCH.build(graph)
    search, a, b, c, d, empty = SEARCH.open(graph), *(graph.find(f"{n}.example") for n in ("a", "b", "c", "d", "empty"))
    counts = page_words(graph, a)
    assert counts == {"tortoises": 2, "eat": 1, "leaves": 1, "food": 1, "slow": 1, "animals": 1}
    strongest = strongest_words(search, counts)
    # Of five pages two have leaves in the title, and links to two say slow; food is in one title and one heading.
    assert strongest == pytest.approx({"leaves": log(6 / 3) + 1, "slow": log(6 / 3) + 1}, abs=1e-6)
    found = more_like(graph, search, a, 10)
    assert {page for page, _ in found} == {b, c, d}
    assert found[0][0] == d  # slow leaves
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert len(more_like(graph, search, a, 1)) == 1
    assert more_like(graph, search, empty, 10) == []


def test_shared_words_are_named_without_stop_words() -> None:
    page = Counter({"a": 3, "video": 2, "player": 1, "the": 9})
    assert shared_words(["video", "a", "streams", "player"], page) == ("video", "player")
    assert shared_words(["the", "who"], page) == ("the",), "a text of stop words still has a reason"


def test_limits(place: Path) -> None:
    pages = [
        Page(f"https://p{n}.example/", text="the " + " ".join(f"w{k}" for k in range(n, n + 60))) for n in range(120)
    ]
    make(place / "web.cocite", pages)
    graph = Graph(place / "web.cocite")
    SEARCH.build(graph)
    search = SEARCH.open(graph)
    strongest = strongest_words(search, Counter({"the": 50, "w0": 1, "w1": 1, "w2": 2, "unknown": 9}))
    assert list(strongest) == ["w2", "w1"]  # `the` is on all pages, w0 and unknown on no other than one
    assert len(strongest_words(search, page_words(graph, graph.find("p0.example")))) <= MAX_QUERY_WORDS
