"""Page records that Spark reads are those that one machine reads, from disks, object storage and web servers."""

from __future__ import annotations

import gzip
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cocite.errors import BadParameter, BadSource
from cocite.sources.arrow_batches import to_schema
from cocite.sources.open_source import open_source
from cocite.sources.records import SCHEMA, ReadReport
from cocite.spark import pages
from cocite.spark.pages import expand, on_disk, read_list, write_pages
from tests.conftest import long
from tests.spark.webs import table

EDGES = "".join(f"https://a{n}.example/\thttps://b{n % 7}.example/\n" for n in range(40))


def one_machine(*sources: Path) -> list[dict[str, Any]]:
    """The records of sources, one after another."""
    report = ReadReport()
    batches = (batch for source in sources for batch in open_source(str(source), report).records())
    whole = (to_schema(batch, report, dictionaries=False).cast(SCHEMA) for batch in batches)
    return [row for batch in whole for row in batch.to_pylist()]


@long
def test_records_are_alike(spark: Any, shared: Path, place: Path) -> None:
    warc = shared / "data" / "warc" / "whirlwind-python__whirlwind.warc.gz"
    (place / "in").mkdir()
    (place / "in" / "1-edges.tsv").write_text(EDGES)
    (place / "in" / "2-page.jsonl").write_text(
        '{"url": "https://x.example/", "links": ["https://y.example/"]}\nno JSON\n'
    )
    (place / "in" / "3-unknown.bin").write_bytes(b"\0\1\2")
    done = write_pages(spark, [str(warc), str(place / "in")], str(place / "pages"))
    expected = one_machine(warc, place / "in" / "1-edges.tsv", place / "in" / "2-page.jsonl")
    assert table(place / "pages").to_pylist() == expected
    assert (done["read"]["sources"], done["read"]["records"]) == (3, len(expected))
    assert sum(done["skipped"].values()) == 1
    with pytest.raises(BadParameter, match="exists already"):
        write_pages(spark, [str(warc)], str(place / "pages"))


def test_files_that_belong_together_are_one_task(place: Path) -> None:
    (place / "index.html").write_text("<html><a href='b.html'>b</a></html>")
    (place / "b.html").write_text("<html><a href='index.html'>a</a></html>")
    assert expand([str(place)]) == [str(place)]


def test_object_storage_is_listed_and_copied(place: Path) -> None:
    (place / "x").mkdir()
    for name in ("b.tsv", "a.tsv", "_SUCCESS", "empty"):
        (place / "x" / name).write_text("" if name == "empty" else EDGES)
    listed = expand([f"file://{place}/x"])
    assert [name.rpartition("/")[2] for name in listed] == ["a.tsv", "b.tsv"]
    with on_disk(listed[0]) as copy:
        assert Path(copy).read_text() == EDGES
        assert Path(copy).parent != place / "x"
    assert not Path(copy).exists()
    with pytest.raises(BadSource, match="does not exist"):
        expand([f"file://{place}/y"])


@pytest.mark.parametrize(
    "names",
    [
        ["web-vertices.txt.gz", "web-edges.txt.gz"],
        ["vertices/part-0.gz", "edges/part-0.gz"],
        ["web-vertices.paths.gz", "web-edges.paths.gz"],
        ["web.graph", "web.properties"],
    ],
)
def test_a_web_graph_in_object_storage_is_refused(place: Path, names: list[str]) -> None:
    for name in names:
        (place / "x" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "x" / name).write_text("0\t1\n")
    with pytest.raises(BadSource, match="copy it to a disk"):
        expand([f"file://{place}/x"])
    with pytest.raises(BadSource, match="copy it to a disk"):
        expand([f"file://{place}/x/{names[1].replace('.properties', '.graph')}"])
    with pytest.raises(BadSource, match="copy it to a disk"):
        expand([f"https://graphs.example/{names[0]}"])
    assert expand([f"file://{place}/x"], "edges") == [f"file://{place}/x/{name}" for name in sorted(names)]


def test_edges_without_vertices_are_a_list_of_links(place: Path) -> None:
    (place / "edges").mkdir()
    for name in ("edges.tsv", "edges/a.tsv", "other-vertices.txt"):
        (place / name).write_text(EDGES)
    assert expand([f"file://{place}/edges.tsv"]) == [f"file://{place}/edges.tsv"]
    assert expand([f"file://{place}/edges"]) == [f"file://{place}/edges/a.tsv"]
    assert expand(["https://graphs.example/edges.tsv"]) == ["https://graphs.example/edges.tsv"]
    with pytest.raises(BadSource, match="copy it to a disk"):
        expand([f"file://{place}/edges.tsv"], "webgraph")


def test_files_behind_a_web_server(place: Path) -> None:
    (place / "a.tsv").write_text(EDGES)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(place)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    try:
        with gzip.open(place / "paths.gz", "wt") as names:
            names.write("# a comment\na.tsv\n\nb.tsv\n")
        listed = read_list(str(place / "paths.gz"), address)
        assert listed == [f"{address}a.tsv", f"{address}b.tsv"]
        with on_disk(listed[0]) as copy:
            assert Path(copy).read_text() == EDGES
        with pytest.raises(BadSource, match="Cannot read"), on_disk(listed[1]):
            pass
    finally:
        server.shutdown()
        server.server_close()


def test_a_request_that_fails_once_is_repeated(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Busy(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if len(asked) == 1:
                self.send_error(503)
            else:
                super().do_GET()

    (place / "a.tsv").write_text(EDGES)
    monkeypatch.setattr(pages, "RETRY_SECONDS", (0, 0))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Busy, directory=str(place)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    try:
        with on_disk(f"{address}a.tsv") as copy:
            assert Path(copy).read_text() == EDGES
        with pytest.raises(BadSource, match="404"), on_disk(f"{address}b.tsv"):
            pass
        assert asked == ["/a.tsv", "/a.tsv", "/b.tsv"]
    finally:
        server.shutdown()
        server.server_close()


def test_no_sources() -> None:
    with pytest.raises(BadSource, match="No source"):
        expand([])
