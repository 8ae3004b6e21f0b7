"""tf-idf vectors against the slow truth."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.sources.records import Link, Page
from cocite.words.search import SEARCH, SearchIndex
from cocite.words.tfidf import MAX_PARENTS, TEXT_WORDS, DocumentFrequencies, TextVectors, cosine, text_vectors
from tests.graph.webs import examples, make
from tests.words import naive_words
from tests.words.webs import webs


def vectors(search: SearchIndex, pages: list[int], words: int = TEXT_WORDS) -> TextVectors:
    return text_vectors(search.graph, pages, DocumentFrequencies(search.pages_with, search.pages), words)


@examples(15)
@given(webs(), st.integers(0, 4))
def test_equals_the_slow_truth(fast_root: Path, web: list[Page], most: int) -> None:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        make(Path(folder) / "w", web)
        graph = Graph(Path(folder) / "w")
        pages = list(range(graph.pages))[::-1]
        search = SEARCH.build(graph)
        found, expected = vectors(search, pages, most), naive_words.tf_idf(search, pages, most)
        for row, vector in zip(found.matrix.toarray(), expected, strict=True):
            assert {found.words[i]: row[i] for i in np.flatnonzero(row)} == pytest.approx(vector)
        likeness = cosine(found.matrix, found.matrix)
        truth = [[naive_words.cosine(a, b) for b in expected] for a in expected]
        np.testing.assert_allclose(likeness, truth, atol=1e-12)
        assert likeness.max(initial=0) <= 1


@pytest.fixture
def graph(place: Path) -> Graph:
    pages = [
        Page("https://a.example/", "red apple", text="apple " + "tree " * 5000),
        Page("https://b.example/", "green apple", links=[Link("https://c.example/", "apple pie"), Link("https://d.example/")]),
    ]  # fmt: skip
    make(place / "w", pages)
    return Graph(place / "w")


def test_worked_out(graph: Graph) -> None:
    a, c, d = (graph.find(f"https://{name}.example/") for name in "acd")
    found = vectors(SEARCH.build(graph), [a, c, d], words=2)  # red apple apple tree; apple pie; nothing
    assert found.words == ["apple", "pie", "red", "tree"]
    rare, common = math.log(5 / 2) + 1, math.log(5 / 3) + 1  # of four pages, two have "apple" in their titles
    apple = (1 + math.log(2)) * common
    length = math.hypot(apple, rare, rare)
    expected = [
        [apple / length, 0, rare / length, rare / length],
        [common / math.hypot(common, rare), rare / math.hypot(common, rare), 0, 0],
        [0, 0, 0, 0],
    ]
    np.testing.assert_allclose(found.matrix.toarray(), expected)
    assert cosine(found.matrix, found.matrix)[2].tolist() == [0, 0, 0]


def test_no_pages_and_wrong_pages(graph: Graph) -> None:
    search = SEARCH.build(graph)
    empty = vectors(search, [])
    assert empty.matrix.shape == (0, 0)
    assert cosine(empty.matrix, empty.matrix).shape == (0, 0)
    with pytest.raises(BadParameter):
        vectors(search, [graph.pages])


def test_a_page_with_very_many_links_in(place: Path) -> None:
    target = "https://target.example/"
    make(place / "w", [Page(f"https://s{i}.example/", links=[Link(target, f"word{i}")]) for i in range(300)])
    graph = Graph(place / "w")
    assert len(vectors(SEARCH.build(graph), [graph.find(target)]).words) == MAX_PARENTS
