"""Recognising sources, and reading them as batches."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cocite.errors import BadSource
from cocite.operations.store.build import Build
from cocite.parameters import parameters_of
from cocite.sources import kinds
from cocite.sources.declared import declared_kinds
from cocite.sources.kinds import ReadOptions, SourceKind, source_kinds
from cocite.sources.open_source import Source, open_source
from cocite.sources.page_records import write_jsonl, write_parquet
from cocite.sources.records import SCHEMA, Link, Page, ReadReport, batches
from tests.sources.test_warc import record

DATA = Path(__file__).parents[3] / "shared" / "data"
PAGE = Page("https://a.example/", text="words", links=[Link("https://b.example/"), Link("https://c.example/")])
RECORD = json.dumps({"url": "https://a.example/", "links": ["https://b.example/"]})
BOOKMARKS = "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF='https://b.example/'>B</A></DL>"
OPML = '<?xml version="1.0"?><opml><body><outline text="B" htmlUrl="https://b.example/"/></body></opml>'
HTML = "<!doctype html><html><head><title>T</title></head><body><p><a href='https://b.example/'>B</a></p></body></html>"


def counts(source: Source) -> tuple[int, int]:
    """Numbers of records and links."""
    pages = links = 0
    for batch in source.records():
        assert batch.schema.names == SCHEMA.names
        pages += batch.num_rows
        links += len(batch.column("links").flatten())
    return pages, links


FILES: list[tuple[str, bytes, str]] = [
    ("pages.jsonl", RECORD.encode(), "records"),
    ("pages", b"\xef\xbb\xbf\n" + RECORD.encode(), "records"),
    ("pages.json.gz", gzip.compress(RECORD.encode(), mtime=0), "records"),
    ("broken.jsonl", b"{broken\n" + RECORD.encode(), "records"),
    ("links.tsv", b"1\t2\n2\t3\n", "edges"),
    ("links.csv.gz", gzip.compress(b"from,to\na.org,b.org\n", mtime=0), "edges"),
    ("soc-net.txt", b"# Nodes: 3\n1 2\n2 3\n", "edges"),
    ("notes.md", b"[b](https://b.example/)", "markdown"),
    ("notes.markdown", b"{curly} [b](https://b.example/)", "markdown"),
    ("favourites.html", BOOKMARKS.encode(), "bookmarks"),
    ("feeds.xml", OPML.encode(), "opml"),
    ("page.html", HTML.encode(), "html"),
]


@pytest.mark.parametrize(("name", "content", "kind"), FILES, ids=[name for name, _, _ in FILES])
def test_files_are_recognised(tmp_path: Path, name: str, content: bytes, kind: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    source = open_source(str(path), ReadReport(), base="https://me.example/notes/")
    assert (source.kind, source.size_bytes, source.spec) == (kind, len(content), str(path))
    pages, links = counts(source)
    assert pages >= 1
    assert links >= 1


def test_parquet_is_recognised_by_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write_parquet(batches([PAGE]), path)
    source = open_source(str(path), ReadReport())
    assert source.kind == "records"
    assert counts(source) == (1, 2)
    pq.write_table(pa.table({"url": ["https://a.example/"], "target": ["x"]}), path)
    assert open_source(str(path), ReadReport()).kind == "records"
    pq.write_table(pa.table({"src": [1], "dst": [2]}), path)
    assert counts(open_source(str(path), ReadReport())) == (1, 1)
    pq.write_table(pa.table({"x": [1], "y": [2]}), path)
    with pytest.raises(
        BadSource, match="has the columns x, y: name two of them source and target, or use --kind edges"
    ):
        open_source(str(path), ReadReport())
    assert counts(open_source(str(path), ReadReport(), kind="edges")) == (1, 1)
    path.write_bytes(b"PAR1")
    with pytest.raises(BadSource, match="incomplete or damaged Parquet file"):
        open_source(str(path), ReadReport())


def test_texts_can_be_skipped(tmp_path: Path) -> None:
    write_jsonl([PAGE], tmp_path / "x.jsonl")
    write_parquet(batches([PAGE]), tmp_path / "x.parquet")
    for name, without in (("x.jsonl", ""), ("x.parquet", None)):
        for text, expected in ((True, "words"), (False, without)):
            (batch,) = open_source(str(tmp_path / name), ReadReport(), text=text).records()
            assert batch.column("text").to_pylist() == [expected]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.md", "# T\nwords", "T\nwords"),
        ("x.html", "<!doctype html><title>T</title><p>words <a href='/b'>b</a>", "words b"),
        ("x.jsonl", '{"url": "https://a.example/", "text": "words"}', "words"),
        ("x.warc", None, "words b"),
        ("x.wet", None, "words"),
    ],
)
def test_every_reader_can_skip_texts(tmp_path: Path, name: str, content: str | None, words: str) -> None:
    page = b"<p>words <a href='/b'>b</a>"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n".encode()
    warc = record("response", "http://a.example/", head + page, "application/http; msgtype=response")
    made = {"x.warc": warc, "x.wet": record("conversion", "http://a.example/", b"words", "text/plain")}
    (tmp_path / name).write_bytes(made[name] if content is None else content.encode())
    for place in (tmp_path / name, tmp_path):
        for text in (True, False):
            source = open_source(str(place), ReadReport(), base="https://me.example/", text=text)
            assert [row["text"] for batch in source.records() for row in batch.to_pylist()] == [words if text else ""]


def test_main_text_is_extracted_only_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.html").write_text("<!doctype html><html lang=en><p>words")
    monkeypatch.setattr("cocite.sources.html.page._main_text", lambda pieces: pytest.fail("main text was made"))
    assert counts(open_source(str(tmp_path), ReadReport(), base="https://me.example/", text=False)) == (1, 0)


def test_progress(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes(b"1\t2\n" * 1000)
    report = ReadReport()
    source = open_source(str(path), report)
    assert report.read["bytes"] == 0
    counts(source)
    assert report.read["bytes"] == source.size_bytes


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.jsonl", None, r"does not exist: check the path$"),
        ("none", None, "does not exist: check the path$"),
        ("empty.tsv", b"", "is empty"),
        ("x.bin", b"\x7fELF" + bytes(100), r"Cannot recognise .*x.bin: use --kind \(webgraph, wat"),
        ("x.tar", bytes(257) + b"ustar" + bytes(100), "is a tar archive: unpack it, and"),
        ("x.json", b'[{"url": "https://a.example/"}]', "a single JSON document: write one record per line"),
        ("x.json", b'{\n  "url": "https://a.example/"\n}', "a single JSON document"),
        ("x.jsonl", b'{"id": 1}', "records without url: docs/page-records.md lists"),
        ("x.txt", b'{"from": "https://a.example/", "to": "https://b.example/"}\n' * 9, "records without url"),
        ("nodes.tsv", b"id\tlabel\n1\tx\n2\ty\n", "has the columns id, label: name two of them source and target"),
        ("paths.tsv", b"1 2 3\n1 2\n4 5 6 7\n1 2 3 4 5\n", "lines with different numbers of columns.*use --kind edges"),
        ("words.csv", b"one\ntwo\n", "a single column"),
        (
            "prose.txt",
            b"Some words stand here,\nand in the next line there are more.\n",
            "it looks like plain text; use --kind",
        ),
        ("a" * 150 + ".x", None, r"/a+… does not exist: check the path"),
        (
            "list.txt",
            b"milk, eggs\nbread, jam\n",
            "list.txt looks like a table of 2 columns separated by commas, without a name",
        ),
        (
            "list.csv",
            b"milk, eggs\nbread, jam\n",
            "that is in both, not like links; to read it as links, use --kind edges",
        ),
        (
            "words",
            b"hello world\n" * 10,
            "words looks like text with 2 words on every line, not like links; to read it as links, use --kind edges",
        ),
    ],
)
def test_an_unreadable_source_is_one_clear_line(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadSource, match=message) as caught:
        open_source(str(path), ReadReport())
    assert "\n" not in str(caught.value)


def test_a_zip_is_to_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w"):
        pass
    with pytest.raises(BadSource, match="empty zip archive: unpack it, and"):
        open_source(str(path), ReadReport())


def test_a_kind_can_be_forced(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("[b](https://b.example/)")
    source = open_source(str(path), ReadReport(), kind="markdown", base="https://a.example/")
    assert (source.kind, counts(source)) == ("markdown", (1, 1))
    with pytest.raises(BadSource, match="Unknown kind of source 'xml': choose one of webgraph, wat, warc"):
        open_source(str(path), ReadReport(), kind="xml")
    with pytest.raises(BadSource, match="Invalid --base"):
        open_source(str(path), ReadReport(), base="example")
    with pytest.raises(BadSource, match="does not exist"):
        open_source(str(tmp_path / "none"), ReadReport(), kind="edges")
    with pytest.raises(BadSource, match="neither a file nor a folder"):
        open_source("/dev/null", ReadReport())


@pytest.mark.parametrize("content", ["milk, eggs\nbread, jam\n", "hello world\nbread and butter\nbye now\n"])
def test_prose_can_be_forced_to_be_an_edge_list(tmp_path: Path, content: str) -> None:
    path = tmp_path / "list.txt"
    path.write_text(content)
    with pytest.raises(BadSource, match="--kind"):
        open_source(str(path), ReadReport())
    records = [
        row for batch in open_source(str(path), ReadReport(), kind="edges").records() for row in batch.to_pylist()
    ]
    assert {(row["url"], row["links"][0]["url"]) for row in records} == {
        tuple(f"name:{word}" for word in line.replace(",", "").split()[:2]) for line in content.splitlines()
    }
    assert counts(open_source(str(tmp_path), ReadReport(), kind="edges"))[0] == len(records)


def test_a_store_is_refused_as_source(tmp_path: Path) -> None:
    store = tmp_path / "web.cocite"
    (store / "g000001").mkdir(parents=True)
    (store / "CURRENT").write_text(f"g000001 {'0a' * 16}\n")
    (store / "g000001" / "pages.jsonl").write_text(RECORD)
    for path in (store, store / "g000001"):
        with pytest.raises(
            BadSource, match=r"is a cocite store: .*cocite export --format records .*web\.cocite"
        ) as caught:
            open_source(str(path), ReadReport())
        assert "-i to cocite add" in str(caught.value)
    with pytest.raises(BadSource, match="is an empty folder"):  # a store beside nothing
        open_source(str(tmp_path), ReadReport())
    (tmp_path / "pages.jsonl").write_text(RECORD)
    report = ReadReport()
    assert counts(open_source(str(tmp_path), report)) == (1, 1)
    assert report.read["file of an unsupported type"] == 0
    (store / "CURRENT").unlink()
    os.mkfifo(store / "CURRENT")  # never opened
    assert counts(open_source(str(store), ReadReport())) == (1, 1)


def test_every_kind_is_a_choice_on_the_command_line() -> None:
    [kind] = [each for each in parameters_of(Build) if each.name == "kind"]
    assert kind.help.endswith(f": {', '.join(sorted(source_kinds()))}")
    assert all(kind.description for kind in source_kinds().values())


@pytest.mark.parametrize(
    "declaration",
    [
        'SOURCE = SourceKind("mine", "…", recognises, read)',
        'SOURCE: SourceKind = SourceKind(\n    "mine",\n)',
        "SOURCE: Final[SourceKind] = SourceKind(name='mine', description='…')",
    ],
)
def test_a_declared_kind_is_found_in_the_text_of_its_module(tmp_path: Path, declaration: str) -> None:
    (tmp_path / "family").mkdir()
    (tmp_path / "family" / "reader.py").write_text(f"import x\n\n{declaration}\n")
    (tmp_path / "other.py").write_text("SOURCES = 3\nprint('SOURCE = 3')\n")
    assert declared_kinds(tmp_path) == {"mine": "family.reader"}


def test_a_declaration_without_a_plain_name_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text("SOURCE = made_elsewhere()\n")
    with pytest.raises(ValueError, match=r"reader\.py: begin the declaration with SOURCE = SourceKind"):
        declared_kinds(tmp_path)


def test_a_kind_that_cannot_read_a_file_does_not_keep_it_from_later_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.json").write_text('[{"url": "https://a.example/"}]')
    last = SourceKind("arrays", "JSON arrays", lambda path, head: head.startswith(b"[{"), lambda *_: iter(()), order=99)
    monkeypatch.setattr(kinds, "source_kinds", lambda: {**source_kinds(), "arrays": last})
    assert kinds.detect_kind(tmp_path / "x.json") == "arrays"
    (tmp_path / "x.json").write_text("[1, 2]")
    with pytest.raises(BadSource, match="is a single JSON document"):
        kinds.detect_kind(tmp_path / "x.json")


def plugged(recognises: Callable[[Path, bytes], bool]) -> SourceKind:
    """The example in the docstring of `cocite.sources`."""

    def read(path: Path, report: ReadReport, options: ReadOptions) -> Iterator[Page]:
        yield Page(options.base or "https://x.example/", links=[Link(x) for x in path.read_text().split()])

    return SourceKind("addresses", "one per line", recognises, read)


def test_a_plugin_adds_a_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added = plugged(lambda path, head: head.startswith(b"https://"))
    monkeypatch.setattr(kinds, "all_loaded", lambda kind: {"addresses": added} if kind == "sources" else {})
    source_kinds.cache_clear()
    try:
        (tmp_path / "list.txt").write_text("https://a.example/\nhttps://b.example/\n")
        source = open_source(str(tmp_path / "list.txt"), ReadReport())
        assert (source.kind, counts(source)) == ("addresses", (1, 2))
        assert counts(open_source(str(tmp_path), ReadReport())) == (1, 2)
    finally:
        source_kinds.cache_clear()


def test_a_plugin_that_fails_on_a_file_is_not_its_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(kinds, "all_loaded", lambda kind: {"addresses": plugged(lambda path, head: 1 / 0 > 1)})
    source_kinds.cache_clear()
    try:
        (tmp_path / "edges.tsv").write_text("a\tb\nb\tc\n")
        assert open_source(str(tmp_path / "edges.tsv"), ReadReport()).kind == "edges"
        assert "The plugin addresses failed on" in caplog.text and "ZeroDivisionError" in caplog.text
    finally:
        source_kinds.cache_clear()


def test_an_address_is_crawled() -> None:
    source = open_source("HTTPS://a.example/list", ReadReport())
    assert (source.kind, source.size_bytes) == ("crawl", 0)


def test_standard_input_and_pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(RECORD.encode()))))
    source = open_source("-", ReadReport())
    assert counts(source) == (1, 1)
    assert source.size_bytes == 0
    with pytest.raises(BadSource, match="Only page records can come from a pipe"):
        open_source("-", ReadReport(), kind="edges")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    source = open_source(str(pipe), ReadReport())
    with subprocess.Popen(["sh", "-c", f"echo '{RECORD}' > '{pipe}'"]):
        assert counts(source) == (1, 1)


def test_a_mixed_folder_is_read_file_by_file_and_its_notes_together(tmp_path: Path) -> None:
    for name, content in {
        "a/links.tsv": "source\ttarget\n1\t2\n",
        "a/nodes.tsv": "id\tname\n1\tx\n2\ty\n",
        "b/pages.jsonl": RECORD,
        "b/_SUCCESS": "",
        "b/_index.md": "[i](https://i.example/)",
        "c/README.md": "[r](https://r.example/)",
        "c/list.html": BOOKMARKS,
        "c/subs.opml": OPML,
        "logo.png": "x",
        "prose.txt": "Some words stand here,\nand in the next line there are more.\n",
        ".hidden.jsonl": RECORD,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    report = ReadReport()
    source = open_source(str(tmp_path), report, base="https://me.example")
    assert source.kind == "folder"
    urls = [url for batch in source.records() for url in batch.column("url").to_pylist()]
    assert urls == [
        "name:1",
        "https://me.example/b/_index.md",
        "https://me.example/c/README.md",
        "https://a.example/",
        "https://me.example/c/list.html",
        "https://me.example/c/subs.opml",
    ]
    assert report.read["file of an unsupported type"] == 3
    assert report.read["bytes"] >= source.size_bytes
    report = ReadReport()
    urls = [url for batch in open_source(str(tmp_path), report).records() for url in batch.column("url").to_pylist()]
    assert [url.endswith(".example/") for url in urls] == [False, True, True, True]
    assert report.skipped == {"file that can't be read": 2}
    assert "--base" in report.example["file that can't be read"]


def test_folders_with_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="is an empty folder"):
        open_source(str(tmp_path), ReadReport())
    (tmp_path / "x.bin").write_bytes(b"\0\1\2")
    with pytest.raises(BadSource, match="has no files of a supported type: use --kind"):
        open_source(str(tmp_path), ReadReport())
    (tmp_path / "x.md").write_text("text")
    with pytest.raises(BadSource, match=r"x\.md has no address"):
        list(open_source(str(tmp_path), ReadReport()).records())
    assert counts(open_source(str(tmp_path), ReadReport(), kind="markdown", base="https://a.example/")) == (1, 0)
    (tmp_path / "x.md").write_text("1 2\n1 3\n")
    report = ReadReport()
    assert counts(open_source(str(tmp_path), report, kind="edges")) == (1, 2)
    assert report.skipped == {"file that can't be read": 1}


def test_a_folder_of_html_is_read_as_one_site(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(HTML)
    (tmp_path / "sub" / "page.html").write_text(HTML)
    (tmp_path / "links.csv").write_text("from,to\n1,2\n")
    report = ReadReport()
    assert counts(open_source(str(tmp_path), report, base="https://me.example/")) == (3, 3)


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("webkb", "folder", (877 + 1584, 1608)),
        ("wikispeedia", "folder", (4587, 119_882)),
        ("citations", "folder", (1925 + 2104, 5278 + 4552)),
        ("polblogs", "folder", (1067, 19_090)),
    ],
)
def test_real_sources(name: str, kind: str, expected: tuple[int, int]) -> None:
    if not DATA.exists():
        pytest.skip("the shared data are not beside the checkout")
    report = ReadReport()
    source = open_source(str(DATA / name), report)
    assert (source.kind, counts(source)) == (kind, expected)
    assert not report.skipped


def test_web_archives_are_recognised() -> None:
    if not DATA.exists():
        pytest.skip("the shared data are not beside the checkout")
    kinds = {path.name: open_source(str(path), ReadReport()).kind for path in sorted((DATA / "warc").iterdir())}
    assert len(kinds) == 10
    assert {name for name, kind in kinds.items() if kind == "wat"} == {"whirlwind-python__whirlwind.warc.wat.gz"}
    assert set(kinds.values()) == {"warc", "wat"}


def test_web_graphs_are_recognised_by_any_of_their_files(tmp_path: Path) -> None:
    if not DATA.exists():
        pytest.skip("the shared data are not beside the checkout")
    for name in ("cnr-2000", "cnr-2000.graph", "cnr-2000.properties"):
        assert open_source(str(DATA / "webgraph" / name), ReadReport()).kind == "webgraph"
    (tmp_path / "x-vertices.txt").write_text("0\tcom.example\n1\torg.example\n")
    (tmp_path / "x-edges.txt").write_text("0\t1\n")
    (tmp_path / "links.tsv").write_text("1\t2\n")
    assert counts(open_source(str(tmp_path), ReadReport())) == (2, 2)


def test_nothing_slow_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys\n"
        "from cocite.sources.open_source import open_source\n"
        "slow = {'numba', 'fastwarc', 'resiliparse', 'warcio', 'scrapy', 'duckdb', 'pyarrow.parquet'}\n"
        "assert not slow & set(sys.modules), slow & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_spark_writes_beside_records_is_neither_read_nor_counted(tmp_path: Path) -> None:
    folder = tmp_path / "group=00000"
    folder.mkdir()
    write_parquet(batches([PAGE]), folder / "part-0.parquet")
    (folder / "_SUCCESS").touch()
    (tmp_path / "_pages.json").write_text('{"url": "https://no.example/"}')
    for kind in (None, "records"):
        report = ReadReport()
        assert counts(open_source(str(tmp_path), report, kind=kind)) == (1, 2)
        assert not report.skipped and not report.read["file of an unsupported type"]


def test_a_folder_that_is_still_written_is_refused(tmp_path: Path) -> None:
    write_parquet(batches([PAGE]), tmp_path / "part-0.parquet")
    (tmp_path / "_temporary" / "0").mkdir(parents=True)
    write_parquet(batches([PAGE]), tmp_path / "_temporary" / "0" / "part-1.parquet")
    with pytest.raises(BadSource, match="is incomplete"):
        open_source(str(tmp_path), ReadReport())


def test_pages_below_names_with_an_underscore_are_read(tmp_path: Path) -> None:
    (tmp_path / "_modules").mkdir()
    for name in ("index.html", "_modules/a.html"):
        (tmp_path / name).write_text(HTML)
    assert counts(open_source(str(tmp_path), ReadReport(), base="https://me.example/")) == (2, 2)
