"""Exports: what each file holds, worked out by hand, and page records that give back the store they came from."""

from __future__ import annotations

import csv
import gzip
import json
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from hypothesis import given

from cocite.errors import BadParameter, BadSource
from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.export import FORMATS, export, format_of
from cocite.graph.export.libraries import to_igraph, to_networkx, to_scipy
from cocite.graph.store import Graph
from cocite.sources.open_source import open_source
from cocite.sources.records import Link, Page, ReadReport
from tests.graph.webs import examples, files_of, make, webs

A, B, C = (f"https://{name}.example/" for name in "abc")
NASTY = 'a <b> & "c" \x1b[31m\x07\ufffe]]>'
SMALL = [
    Page(
        A,
        NASTY,
        links=[Link(B, "b", 0, weight=0.5), Link(C, "c", 1, rel="nofollow", boilerplate=True)],
        headings=["H", ""],
    ),
    Page(C, links=[Link(A)]),
]
# In the order of their keys a, b, c are pages 0, 1, 2.


@pytest.fixture(scope="module")
def small(fast_root: Path) -> Iterator[Graph]:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        make(Path(folder) / "web.cocite", SMALL)
        yield Graph(Path(folder) / "web.cocite")


def rebuilt(source: Path, path: Path) -> Graph:
    report = ReadReport()
    build([open_source(str(source), report)], path, report, BuildOptions(threads=2))
    assert not report.skipped
    return Graph(path)


def whole(graph: Graph, page: int) -> dict[str, Any]:
    """Everything that a store says of a page, with addresses instead of numbers."""
    links, facts = graph.links_from(page), graph.facts
    _, again, attributes = graph.links.read_repeats(np.array([page]))
    return {
        "again": [graph.canonical(int(target)) for target in again],
        "again in": attributes.tolist(),
        "address": graph.address(page),
        "leads": graph.canonical(graph.alias_target(page)),
        "links": [graph.canonical(int(target)) for target in links.targets],
        "blocks": links.blocks.tolist(),
        "flags": links.flags.tolist(),
        "weights": graph.weights_from(page).tolist(),
        "anchors": graph.anchors(page),
        "contexts": graph.contexts(page),
        "headings": graph.headings(page),
        "texts": [graph.title(page), graph.text(page)],
        "facts": [facts.status(page), facts.captured(page), facts.language(page)],
        "kind": int(graph.array("page.kind")[page]),
        "representative": graph.canonical(facts.representative(page)),
    }


@examples(8)
@given(webs)
def test_exported_records_rebuild_the_store(fast_root: Path, pages: list[Page]) -> None:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        place = Path(folder)
        try:
            make(place / "web.cocite", pages)
        except BadSource:  # none of the pages can be used
            return
        graph = Graph(place / "web.cocite")
        for name in ("records.parquet", "records.jsonl.gz"):
            export(graph, place / name, "records")
            again = rebuilt(place / name, place / f"{name}.cocite")
            assert [whole(again, page) for page in range(again.pages)] == [
                whole(graph, page) for page in range(graph.pages)
            ], name


def test_exported_records_rebuild_every_byte_of_a_common_store(small: Graph, place: Path) -> None:
    export(small, place / "pages.parquet", "records")
    assert files_of(rebuilt(place / "pages.parquet", place / "again.cocite").path) == files_of(small.path)


def test_edges(small: Graph, place: Path) -> None:
    assert export(small, place / "links.tsv.gz") == 3
    assert (
        gzip.decompress((place / "links.tsv.gz").read_bytes()).decode() == f"{A}\t{B}\t0.5\n{A}\t{C}\t1\n{C}\t{A}\t1\n"
    )
    again = rebuilt(place / "links.tsv.gz", place / "again.cocite")
    assert again.weights_from(0).tolist() == [0.5, 1.0]
    assert again.links_from(0).targets.tolist() == [1, 2]


def test_edges_of_names_and_hosts_are_read_as_such(place: Path) -> None:
    pages = [Page("name:Ada\tLovelace", links=[Link("name:7"), Link("host:nytimes.com/a")]), Page("name:7")]
    make(place / "web.cocite", pages)
    graph = Graph(place / "web.cocite")
    export(graph, place / "links.tsv")
    lines = (place / "links.tsv").read_text().splitlines()
    assert lines == ["Ada Lovelace\t7", "Ada Lovelace\tnytimes.com/a"], "a tab would make a third column"
    again = rebuilt(place / "links.tsv", place / "again.cocite")
    assert {again.canonical(page) for page in range(3)} == {"name:7", "name:Ada Lovelace", "nytimes.com/a"}


def test_edges_to_standard_output(small: Graph, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    export(small, Path("-"), "edges")
    assert capfdbinary.readouterr().out.decode().split("\n")[0] == f"{A}\t{B}\t0.5"
    with pytest.raises(BadParameter, match="Only edges and csv"):
        export(small, Path("-"), "records")


def test_comma_separated_edges(small: Graph, place: Path) -> None:
    assert export(small, place / "links.csv") == 3
    assert (place / "links.csv").read_text() == (
        f'source,target,weight\n"{A}","{B}",0.5\n"{A}","{C}",1\n"{C}","{A}",1\n'
    )
    again = rebuilt(place / "links.csv", place / "again.cocite")
    assert again.weights_from(0).tolist() == [0.5, 1.0]
    assert again.links_from(0).targets.tolist() == [1, 2]


def test_commas_and_quotation_marks_in_names(place: Path) -> None:
    names = ['Ada, "Countess"', "https://a.example/x,y", "7"]
    make(place / "web.cocite", [Page("name:" + names[0], links=[Link(names[1]), Link("name:7")])])
    export(Graph(place / "web.cocite"), place / "links.csv.gz")
    with gzip.open(place / "links.csv.gz", "rt") as file:
        assert list(csv.reader(file)) == [["source", "target"], names[:2], [names[0], names[2]]]
    again = rebuilt(place / "links.csv.gz", place / "again.cocite")
    assert {again.address(page) for page in range(3)} == set(names)


def test_parquet_edges(small: Graph, place: Path) -> None:
    assert export(small, place / "links.parquet") == 3
    rows = pq.read_table(place / "links.parquet").to_pylist()
    assert rows[0] == {
        "source": A, "target": B, "position": 0, "block": 0, "boilerplate": False, "nofollow": False, "weight": 0.5,
    }  # fmt: skip
    assert rows[1] == {
        "source": A, "target": C, "position": 1, "block": 1, "boilerplate": True, "nofollow": True, "weight": 1.0,
    }  # fmt: skip
    assert rows[2]["block"] is None
    again = rebuilt(place / "links.parquet", place / "again.cocite")
    assert again.links_to(0).tolist() == [2]
    assert again.weights_from(0).tolist() == [0.5, 1.0]


def test_json_records(small: Graph, place: Path) -> None:
    assert export(small, place / "pages.jsonl") == 2
    first, second = (json.loads(line) for line in (place / "pages.jsonl").read_text().splitlines())
    assert first["links"][1] == {"url": C, "text": "c", "block": 1, "rel": "nofollow", "boilerplate": True}
    assert second == {"url": C, "links": [{"url": A}]}


def test_scipy_matrix(small: Graph, place: Path) -> None:
    assert export(small, place / "links.npz") == 3
    expected = [[0, 0.5, 1], [0, 0, 0], [1, 0, 0]]
    for matrix in (scipy.sparse.load_npz(place / "links.npz"), to_scipy(small)):
        assert matrix.toarray().tolist() == expected
        assert matrix.has_canonical_format
        assert matrix.format == "csr"
    assert gzip.decompress((place / "links.pages.txt.gz").read_bytes()).decode().split() == [A, B, C]


def test_scipy_matrix_without_weights(place: Path) -> None:
    targets = [f"https://{name}.example/" for name in "zmay"]
    make(place / "web.cocite", [Page(B, links=[Link(target) for target in targets])])
    matrix = to_scipy(Graph(place / "web.cocite"))
    assert matrix.dtype == np.int8
    assert matrix.indices.tolist() == [0, 2, 3, 4], "ascending, as SciPy's algorithms like it; b itself is page 1"
    assert matrix.sum() == 4


def check_graph(found: nx.DiGraph, url: str) -> None:
    assert sorted((found.nodes[a][url], found.nodes[b][url]) for a, b in found.edges) == [(A, B), (A, C), (C, A)]


def test_graphml(small: Graph, place: Path) -> None:
    assert export(small, place / "links.graphml.gz") == 3
    found = nx.read_graphml(place / "links.graphml.gz")
    check_graph(found, "url")
    title = found.nodes["n0"]["title"]
    assert title == 'a <b> & "c" [31m ]]>', "building made control characters a space; U+FFFE is for XML alone to drop"
    assert found.edges["n0", "n1"] == {"block": 0, "weight": 0.5}
    assert found.edges["n0", "n2"] == {"block": 1, "weight": 1.0, "boilerplate": True, "nofollow": True}
    export(small, place / "links.graphml")
    other = igraph.Graph.Read_GraphML(str(place / "links.graphml"))
    assert (other.vcount(), other.ecount(), other.is_directed()) == (3, 3, True)


def test_gexf(small: Graph, place: Path) -> None:
    export(small, place / "links.gexf")
    found = nx.read_gexf(place / "links.gexf", version="1.3")
    check_graph(found, "url")
    assert found.nodes["1"]["label"] == B, "a page without a title is called by its address"
    assert found.edges["0", "1"]["block"] == 0
    assert found.edges["0", "1"]["weight"] == 0.5
    ElementTree.parse(place / "links.gexf")


def test_networkx(small: Graph) -> None:
    found = to_networkx(small)
    assert set(found.edges) == {(A, B), (A, C), (C, A)}
    assert found.nodes[C]["page"] == 2
    assert found.edges[A, C] == {"block": 1, "weight": 1.0, "boilerplate": True, "nofollow": True}
    some = to_networkx(small, [0, 2, 2])
    assert set(some.edges) == {(A, C), (C, A)}
    with pytest.raises(BadParameter, match="no page 3"):
        to_networkx(small, [3])


def test_igraph(small: Graph) -> None:
    found = to_igraph(small)
    assert found.get_edgelist() == [(0, 1), (0, 2), (2, 0)]
    assert found.vs["name"] == [A, B, C]
    assert found.es["weight"] == [0.5, 1.0, 1.0]
    assert found.es["block"] == [0, 1, -1]
    assert found.es["nofollow"] == [False, True, False]


@pytest.mark.parametrize("convert", [to_scipy, to_networkx, to_igraph])
def test_a_missing_library_is_named(small: Graph, monkeypatch: pytest.MonkeyPatch, convert: Any) -> None:
    for name in ("scipy.sparse", "networkx", "igraph"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(BadParameter, match=r'is not installed: pip install "cocite\[graphs\]"'):
        convert(small)


def test_xml_of_a_large_store_is_refused(small: Graph, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "gexf", FORMATS["gexf"]._replace(max_links=2))
    with pytest.raises(BadParameter, match="--force"):
        export(small, place / "links.gexf")
    assert export(small, place / "links.gexf", force=True) == 3


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.tsv", "edges"),
        ("A.TSV.GZ", "edges"),
        ("a.b.parquet", "parquet"),
        ("a.npz", "npz"),
        ("a.jsonl.zst", "records"),
    ],
)
def test_formats_by_name(name: str, form: str) -> None:
    assert format_of(Path(name)) == form


def test_unsupported_exports_are_refused(small: Graph, place: Path) -> None:
    for path, form, message in (
        (place / "a.txt", None, "No format has the suffix of a.txt"),
        (place / "a.txt", "pajek", "Unknown format 'pajek'"),
    ):
        with pytest.raises(BadParameter, match=message):
            export(small, path, form)


@pytest.mark.parametrize("name", ["a.tsv.zst", "a.parquet", "a.jsonl", "a.npz", "a.graphml", "a.gexf"])
def test_an_export_that_fails_leaves_the_old_file(small: Graph, place: Path, name: str) -> None:
    (place / name).write_text("old")

    def fail(stage: str, done: int, total: int | None) -> None:
        if stage.startswith("writing"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(small, place / name, progress=fail)
    assert (place / name).read_text() == "old"
    assert [file.name for file in place.iterdir()] == [name], "nothing half-written is left"


def test_a_store_without_links(place: Path) -> None:
    make(place / "web.cocite", [Page(A)])
    graph = Graph(place / "web.cocite")
    for name in ("a.tsv", "a.parquet", "a.jsonl", "a.npz", "a.graphml", "a.gexf"):
        assert export(graph, place / name) == (1 if name == "a.jsonl" else 0)
    assert to_scipy(graph).shape == (1, 1)
    assert to_igraph(graph).ecount() == 0
    assert scipy.sparse.load_npz(place / "a.npz").nnz == 0
