"""Web graphs as page records."""

from __future__ import annotations

import gzip
import random
import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cocite.errors import BadSource
from cocite.sources import compressed
from cocite.sources.records import SCHEMA, ReadReport
from cocite.sources.webgraphs import webgraph
from cocite.sources.webgraphs.webgraph import ISOLATED, read_webgraph_release, recognises
from tests.sources.bvgraph_writer import write_graph

CNR = Path(__file__).parents[3] / "shared" / "data" / "webgraph" / "cnr-2000"

VERTICES = b"0\tcom.example\t3\n1\tcom.example.blog\t1\n2\torg.python.docs\t1\n3\tuk.co.bbc\t2\n4\tfr.alone\t1\n"
EDGES = b"0\t1\n0\t2\n1\t0\n3\t0\n3\t1\n3\t2\n"
LISTS = [[1, 2], [0], [], [0, 1, 2], []]
EXPECTED = {
    "https://example.com/": ["https://blog.example.com/", "https://docs.python.org/"],
    "https://blog.example.com/": ["https://example.com/"],
    "https://bbc.co.uk/": ["https://example.com/", "https://blog.example.com/", "https://docs.python.org/"],
}


def rows(batches: Iterable[pa.RecordBatch]) -> list[dict[str, object]]:
    found = []
    for batch in batches:
        batch.validate(full=True)
        assert batch.schema.names == SCHEMA.names
        found += batch.to_pylist()
    return found


def links(batches: Iterable[pa.RecordBatch], whole: bool = True) -> dict[str, list[str]]:
    """Each page's links; with `whole`, every page has one record, and it is not partial."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows(batches):
        assert not (whole and (row["partial"] or row["url"] in found))
        found[str(row["url"])] += [link["url"] for link in row["links"]]  # type: ignore[attr-defined]
    return dict(found)


def release(folder: Path, vertices: bytes = VERTICES, edges: bytes = EDGES) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "cc-host-vertices.txt.gz").write_bytes(gzip.compress(vertices))
    (folder / "cc-host-edges.txt.gz").write_bytes(gzip.compress(edges))
    return folder


# Text


def test_a_release_of_text(tmp_path: Path) -> None:
    report = ReadReport()
    assert links(read_webgraph_release(release(tmp_path), report)) == EXPECTED
    assert report.skipped == {}
    assert (report.read["links"], report.read[ISOLATED]) == (6, 1)


def test_records_have_addresses_only(tmp_path: Path) -> None:
    row = rows(read_webgraph_release(release(tmp_path), ReadReport()))[1]
    blank = dict.fromkeys(SCHEMA.names)
    link = {"text": None, "block": None, "context": None, "rel": None, "weight": None, "boilerplate": None}
    assert row == blank | {
        "url": "https://blog.example.com/",
        "links": [{"url": "https://example.com/"} | link],
        "partial": False,
    }


def test_lines_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    edges = b"0\t1\nrubbish\n0\t2\n1\t0\n1\t9\n77\t0\n3\t0\n3\t1\n3\t2\n"
    vertices = VERTICES.replace(b"uk.co.bbc", b"")
    report = ReadReport()
    assert links(read_webgraph_release(release(tmp_path, vertices, edges), report)) == {
        page: EXPECTED[page] for page in list(EXPECTED)[:2]
    }
    assert report.skipped == {
        "vertex without a valid name": 1,
        "line that is not an edge": 1,
        "link from or to a vertex without a name": 5,
    }
    assert report.example["link from or to a vertex without a name"] == "1 → 9"
    assert report.read[ISOLATED] == 1


def test_strict_stops_at_the_first(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="line that is not an edge: 'rubbish'"):
        rows(read_webgraph_release(release(tmp_path, edges=b"0\t1\nrubbish\n"), ReadReport(strict=True)))


def test_invalid_edges(tmp_path: Path) -> None:
    for edges in (b"", b"from\tto\na\tb\n"):
        with pytest.raises(BadSource, match="has no edges"):
            rows(read_webgraph_release(release(tmp_path, edges=edges), ReadReport()))


def test_unsorted_edges_make_partial_records(tmp_path: Path) -> None:
    edges = b"3\t0\n0\t1\n3\t1\n1\t0\n0\t2\n3\t2\n"
    assert links(read_webgraph_release(release(tmp_path, edges=edges), ReadReport()), whole=False) == EXPECTED
    assert all(row["partial"] for row in rows(read_webgraph_release(tmp_path, ReadReport())))


def test_parts_of_edges_make_partial_records(tmp_path: Path) -> None:
    for kind, parts in (("vertices", [VERTICES]), ("edges", [b"0\t1\n3\t0\n", b"0\t2\n1\t0\n3\t1\n3\t2\n"])):
        (tmp_path / kind).mkdir()
        for i, part in enumerate(parts):
            (tmp_path / kind / f"part-{i:05d}.txt.gz").write_bytes(gzip.compress(part))
    assert links(read_webgraph_release(tmp_path, ReadReport()), whole=False) == EXPECTED
    assert all(row["partial"] for row in rows(read_webgraph_release(tmp_path, ReadReport())))


@given(
    st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), min_size=1, max_size=150, unique=True).map(sorted),
    st.integers(8, 200),
    st.integers(1, 30),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_release_comes_back_whatever_the_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edges: list[tuple[int, int]], block: int, longest: int
) -> None:
    monkeypatch.setattr(compressed, "BLOCK_BYTES", block)
    monkeypatch.setattr(webgraph, "CHUNK_LINKS", longest)
    vertices = b"".join(b"%d\tcom.v%d\n" % (i, i) for i in range(30))
    release(tmp_path, vertices, b"".join(b"%d\t%d\n" % edge for edge in edges))
    expected = defaultdict(list)
    for source, target in edges:
        expected[f"https://v{source}.com/"].append(f"https://v{target}.com/")
    report = ReadReport()
    found = rows(read_webgraph_release(tmp_path, report))
    assert links(read_webgraph_release(tmp_path, ReadReport()), whole=False) == expected
    pieces = defaultdict(list)
    for row in found:
        pieces[row["url"]].append(row["partial"])
    assert all(flags == [False] or all(flags) for flags in pieces.values())
    assert report.read[ISOLATED] == 30 - len({number for edge in edges for number in edge})


def test_one_dictionary_serves_all_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "BLOCK_BYTES", 8)
    batches = list(read_webgraph_release(release(tmp_path), ReadReport()))
    assert len(batches) > 1
    places = set()
    for batch in batches:
        for column in (batch.column("url"), batch.column("links").values.field("url")):
            assert column.type == pa.dictionary(pa.int32(), pa.string())
            places.add(tuple(buffer.address for buffer in column.dictionary.buffers() if buffer))
    assert len(places) == 1


def test_a_truncated_file_is_read_up_to_its_end(tmp_path: Path) -> None:
    choice = random.Random(7)
    edges = b"".join(b"%d\t%d\n" % (i // 9, choice.randrange(5)) for i in range(45))
    packed = gzip.compress(edges)
    release(tmp_path)
    (tmp_path / "cc-host-edges.txt.gz").write_bytes(packed[:-12])
    report = ReadReport()
    found = links(read_webgraph_release(tmp_path, report))
    assert 1 <= len(found) <= 5
    assert any("truncated" in reason for reason in report.skipped)


# BVGraph


def test_a_graph_with_vertices(tmp_path: Path) -> None:
    write_graph(LISTS, tmp_path / "cc-host")
    (tmp_path / "cc-host-vertices.txt.gz").write_bytes(gzip.compress(VERTICES))
    report = ReadReport()
    assert links(read_webgraph_release(tmp_path, report)) == EXPECTED
    assert (report.read["links"], report.read[ISOLATED]) == (6, 1)
    assert links(read_webgraph_release(tmp_path / "cc-host.graph", ReadReport())) == EXPECTED


def test_a_graph_without_names(tmp_path: Path) -> None:
    write_graph(LISTS, tmp_path / "g")
    assert links(read_webgraph_release(tmp_path / "g", ReadReport())) == {
        "name:0": ["name:1", "name:2"],
        "name:1": ["name:0"],
        "name:3": ["name:0", "name:1", "name:2"],
    }


def test_a_graph_whose_vertices_lack_names(tmp_path: Path) -> None:
    write_graph([[0, 1], [2], [1], [0], []], tmp_path / "g")
    (tmp_path / "g.urls").write_bytes(b"http://a.it/\n\nhttp://c.it/\nhttp://d.it/\nhttp://e.it/\n")
    report = ReadReport()
    assert links(read_webgraph_release(tmp_path, report)) == {
        "http://a.it/": ["http://a.it/"],
        "http://d.it/": ["http://a.it/"],
    }
    assert report.skipped == {"vertex without a valid name": 1, "link from or to a vertex without a name": 3}
    assert report.read[ISOLATED] == 2


def test_vertices_of_another_graph(tmp_path: Path) -> None:
    write_graph([[1], []], tmp_path / "cc-host")
    (tmp_path / "cc-host-vertices.txt.gz").write_bytes(gzip.compress(VERTICES))
    with pytest.raises(BadSource, match="has 5 names for the 2 vertices of cc-host"):
        rows(read_webgraph_release(tmp_path, ReadReport()))


def test_cnr_2000_as_records() -> None:
    if not CNR.with_suffix(".graph").exists():
        pytest.skip("the graph cnr-2000 is not in ../shared/data/webgraph")
    report = ReadReport()
    pages = counted = 0
    for batch in read_webgraph_release(CNR.parent, report):
        pages += batch.num_rows
        counted += len(batch.column("links").values)
    assert counted == report.read["links"] == 3_216_152
    assert pages == 325_557 - 78_056
    assert report.read[ISOLATED] == 0


# Recognition


def test_recognises_graphs(tmp_path: Path) -> None:
    write_graph(LISTS, tmp_path / "cc-host")
    for name in ("cc-host.graph", "cc-host.properties", "cc-host.offsets", "cc-host"):
        assert recognises(tmp_path / name, b"")
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(tmp_path / "cc-host.properties", alone)
    shutil.copy(tmp_path / "cc-host.graph", alone / "other.graph")
    assert recognises(alone / "cc-host.properties", (alone / "cc-host.properties").read_bytes())
    assert not recognises(alone / "other.graph", b"")
    assert not recognises(alone / "nothing", b"")


def test_recognises_text_releases(tmp_path: Path) -> None:
    release(tmp_path)
    assert recognises(tmp_path / "cc-host-vertices.txt.gz", VERTICES)
    assert recognises(tmp_path / "cc-host-edges.txt.gz", EDGES)
    assert not recognises(tmp_path / "cc-host-edges.txt.gz", b"from,to\na,b\n")
    (tmp_path / "cc-host-vertices.txt.gz").unlink()
    assert not recognises(tmp_path / "cc-host-edges.txt.gz", EDGES)  # an edge list like any other
    (tmp_path / "page.html").write_text("<p>")
    assert not recognises(tmp_path / "page.html", b"<p>")
