"""The texts of links, by target."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from cocite.graph.store import Graph
from cocite.sources.records import Link, Page
from cocite.words import documents
from cocite.words.documents import MAX_LINE_CHARACTERS, MAX_TEXTS, NO_LINK_TEXTS, LinkTexts, link_texts
from tests.graph.webs import examples, make
from tests.words.naive_words import texts_of
from tests.words.webs import webs


def silent(*_: object) -> None:
    """No progress."""


def gathered(graph: Graph, memory: int = 1 << 30) -> dict[int, LinkTexts]:
    with tempfile.TemporaryDirectory() as folder:
        found = list(link_texts(graph, Path(folder), memory, silent))
        assert not list(Path(folder).iterdir())
    assert [page for page, _ in found] == sorted({page for page, _ in found})
    return dict(found)


@examples(15)
@given(webs())
def test_equals_the_slow_truth_in_one_range_and_in_many(fast_root: Path, pages: list[Page]) -> None:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder, pytest.MonkeyPatch.context() as patch:
        make(Path(folder) / "w", pages)
        graph = Graph(Path(folder) / "w")
        found = gathered(graph)
        for page in range(graph.pages):
            one = found.get(page, NO_LINK_TEXTS)
            expected = [{text[:MAX_LINE_CHARACTERS]: n for text, n in texts.items()} for texts in texts_of(graph, page)]
            assert [dict(one.anchors), dict(one.contexts), dict(one.headings)] == expected
        patch.setattr(documents, "RANGE_PAGES", 1)
        patch.setattr(documents, "DEGREE_PAGES", 2)
        patch.setattr(documents, "CHUNK_LINKS", 2)
        patch.setattr(documents, "CHUNK_PAGES", 2)
        assert gathered(graph, memory=1) == found


def test_the_most_frequent_texts_first_and_not_too_many(place: Path) -> None:
    target = "https://target.example/"
    texts = ["often"] * 3 + ["Twice", "twice "] + [f"once {i:03d}" for i in range(100)]
    make(place / "w", [Page(f"https://s{i}.example/", links=[Link(target, text)]) for i, text in enumerate(texts)])
    graph = Graph(place / "w")
    anchors = gathered(graph)[graph.find(target)].anchors
    assert anchors[:3] == [("often", 3), ("twice", 2), ("once 000", 1)]
    assert len(anchors) == MAX_TEXTS["anchors"]


def test_a_page_with_very_many_links_in_is_sampled(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = "https://target.example/"
    make(place / "w", [Page(f"https://s{i}.example/", links=[Link(target, "x")]) for i in range(400)])
    graph = Graph(place / "w")
    monkeypatch.setattr(documents, "SAMPLE_LINKS", 20)  # one of 400 // 20 + 1 links
    ((_, count),) = gathered(graph)[graph.find(target)].anchors
    assert 8 <= count <= 40
    assert gathered(graph)[graph.find(target)].anchors == [("x", count)]


def test_a_store_without_link_texts(place: Path) -> None:
    make(place / "w", [Page("https://a.example/", links=[Link("https://b.example/")])])
    assert gathered(Graph(place / "w")) == {}
