"""Graphs in memory: the same bytes as stores, without a disk."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from cocite.errors import BadSource
from cocite.graph.arrays import IN_MEMORY
from cocite.graph.build.passes import build_in_memory
from cocite.graph.store import Graph
from cocite.sources.records import Page, ReadReport, batch
from tests.graph.webs import examples, files_of, make, page, tight, webs


def in_memory(pages: list[Page], per_batch: int = 1000) -> Graph:
    """A graph of pages, read `per_batch` at a time."""
    parts = (batch(pages[start : start + per_batch]) for start in range(0, len(pages), per_batch))
    return Graph(build_in_memory(parts, ReadReport()))


def assert_same_bytes(graph: Graph, store: Path) -> None:
    """Every array of a store, and what its manifest says of the content."""
    assert {f"{name}.bin": values.tobytes() for name, values in graph.arrays.items()} == files_of(store)
    opened = Graph(store)
    for entry in ("id", "pages", "links", "aliases", "names", "sites", "hosts", "skipped", "arrays"):
        assert graph.manifest[entry] == opened.manifest[entry], entry
    assert {name: values.dtype for name, values in graph.arrays.items()} == {
        name: values.dtype for name, values in opened.arrays.items()
    }
    assert not any(values.flags.writeable for values in graph.arrays.values())


@examples(40)
@given(webs)
def test_the_same_bytes_as_a_store(fast_root: Path, pages: list[Page]) -> None:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        store = Path(folder) / "web.cocite"
        try:
            make(store, pages, per_batch=10)
        except BadSource as error:
            with pytest.raises(BadSource) as caught:
                in_memory(pages, 10)
            assert str(caught.value) == str(error)
        else:
            assert_same_bytes(in_memory(pages, 10), store)


@examples(10)
@given(webs)
def test_the_same_bytes_under_tight_limits(fast_root: Path, pages: list[Page]) -> None:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder, tight():
        store = Path(folder) / "web.cocite"
        try:
            make(store, pages, per_batch=10)
        except BadSource:
            return
        assert_same_bytes(in_memory(pages, 10), store)


def test_a_graph_of_links() -> None:
    a, b, c = "https://a.example/", "https://b.example/x", "name:c"
    graph = Graph.from_links([(a, b, 1), (a, c), (b, a)], titles={a: "A page", "https://d.example/": "Alone"})
    assert (graph.pages, len(graph.links), graph.path) == (4, 3, IN_MEMORY)
    links = graph.links_from(graph.find(a))
    assert [graph.address(int(target)) for target in links.targets] == [b, "c"]
    assert links.blocks.tolist() == [1, -1]
    assert graph.links_to(graph.find(a)).tolist() == [graph.find(b)]
    assert [graph.title(graph.find(url)) for url in (a, b, "d.example")] == ["A page", "", "Alone"]


def test_a_graph_in_memory_travels_to_processes() -> None:
    graph = Graph.from_records([page("https://a.example/", "https://b.example/", title="A")])
    other = pickle.loads(pickle.dumps(graph))
    assert (other.manifest, other.title(0), other.links_from(0).targets.tolist()) == (graph.manifest, "A", [1])
    assert other.find("a.example") == 0


def test_nothing_to_build() -> None:
    with pytest.raises(BadSource, match="Nothing to index"):
        Graph.from_records([])


def test_a_graph_of_arrays() -> None:
    graph = Graph.from_links(
        [("https://a.example/", "https://b.example/"), ("https://a.example/", "https://c.example/")]
    )
    again = Graph.from_arrays(dict(graph.arrays))
    assert (again.pages, len(again.links), again.path) == (3, 2, IN_MEMORY)
    assert again.links_from(again.find("a.example")).targets.tolist() == [1, 2]
    assert (len(Graph.from_arrays({})), len(Graph.from_arrays({}).links)) == (0, 0)
