"""What is this path or address, and who reads it? Every source becomes a stream of record batches.

A source is recognised by its content where that is telling, else by its name; `kind` overrules both. Readers are
imported when they are used.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from cocite.errors import BadSource
from cocite.sources.gather import gathered
from cocite.sources.link_list import checked_base, files, is_store, under
from cocite.sources.recognise import KINDS, recognise, recognised
from cocite.sources.records import Page, ReadReport, cut

Items = Iterator[Page] | Iterator[pa.RecordBatch] | Iterator[Page | pa.RecordBatch]
Reader = Callable[[Path, ReadReport, str | None, bool], Items]

WHOLE_FOLDERS = ("html", "markdown", "webgraph")
"""Kinds whose readers find their files in a folder themselves."""

_WEB = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """One source, recognised but not yet read."""

    spec: str
    kind: str
    size_bytes: int  # 0 where it is not known
    report: ReadReport = field(repr=False)
    read: Callable[[], Items] = field(repr=False)
    text: bool = True  # whether the pages' main texts are wanted
    _began: list[int] = field(default_factory=list, repr=False)

    def records(self) -> Iterator[pa.RecordBatch]:
        """The source's records, in batches of bounded size."""
        self._began[:] = [self.report.read["bytes"]]
        yield from gathered(self.read(), self.text)

    def progress(self) -> float | None:
        """The part of the source that has been read, from 0 to 1; None where that is not known."""
        read = self.report.read["bytes"] - self._began[0] if self._began else 0
        return min(1.0, read / self.size_bytes) if read and self.size_bytes else None


def open_source(
    spec: str, report: ReadReport, *, base: str | None = None, kind: str | None = None, text: bool = True
) -> Source:
    """Recognise a source: a file, a folder, `-` for standard input, or the address of a page to crawl from.

    `base` is the address of what has none of its own (HTML and Markdown folders, bookmarks, OPML).
    """
    if not spec.strip():
        raise BadSource("a source without a name: give a file, a folder or an address")
    if kind is not None and kind not in KINDS:
        raise BadSource(f"no kind of source is called {cut(kind)!r}: choose one of {', '.join(KINDS)}")
    base = None if base is None else checked_base(base)
    if kind == "crawl" or (kind is None and _WEB.match(spec)):
        return Source(spec, "crawl", 0, report, lambda: _crawl(spec, report, text), text)
    path = Path(spec)
    try:
        return _open_path(spec, path, report, base, kind, text)
    except OSError as error:
        raise BadSource(f"cannot look at {cut(spec)}: {error.strerror}; check the path and its permissions") from error


def _open_path(spec: str, path: Path, report: ReadReport, base: str | None, kind: str | None, text: bool) -> Source:
    if spec == "-" or path.is_fifo():
        if kind not in (None, "records"):
            raise BadSource(f"only page records can be read from a pipe: write the {KINDS[kind]} to a file first")
        return Source(spec, "records", 0, report, lambda: _read_stream(path, report), text)
    if path.is_dir():
        return _open_folder(spec, path, report, base, kind, text)
    if path.exists() and not path.is_file():
        raise BadSource(f"{spec} is neither a file nor a folder: give one of these")
    found = kind if kind and (kind == "webgraph" or path.is_file()) else recognise(path)
    size = path.stat().st_size if path.is_file() else 0
    return Source(spec, found, size, report, lambda: READERS[found](path, report, base, text), text)


# Folders


def _open_folder(spec: str, path: Path, report: ReadReport, base: str | None, kind: str | None, text: bool) -> Source:
    """A folder is read file by file, whatever kinds are in it."""
    store = next((place for place in (path, path.resolve().parent) if is_store(place)), None)
    if store is not None:
        raise BadSource(
            f"{spec} is a cocite store: write its records by cocite export --format records -o pages.parquet"
            f" -i {shlex.quote(str(store))}"
            " and give these, or name it by -i to cocite add"
        )
    size, known = 0, kind is not None
    for file in files(path):
        size += file.stat().st_size
        known = known or recognised(file) is not None
    if not size:
        raise BadSource(f"{spec} is an empty folder: give one that holds a source")
    if not known:
        raise BadSource(f"{spec} holds no file of a known kind: say what its files are by --kind ({', '.join(KINDS)})")
    if kind in WHOLE_FOLDERS:
        return Source(spec, kind, size, report, lambda: READERS[kind](path, report, base, text), text)
    return Source(spec, kind or "folder", size, report, lambda: _read_folder(path, report, base, kind, text), text)


def _read_folder(
    path: Path, report: ReadReport, base: str | None, kind: str | None, text: bool
) -> Iterator[Page | pa.RecordBatch]:
    """All that can be read; what cannot is counted, unless nothing can."""
    whole: set[object] = set()  # what has been read as one although it is many files
    found = False
    failure: BadSource | None = None
    for file in files(path):
        if "html" in whole and file.suffix.lower() in (".html", ".htm", ".xhtml"):
            continue
        what = kind or recognised(file)
        if what is None:
            report.read["file of no known kind"] += 1
            report.read["bytes"] += file.stat().st_size
            continue
        try:
            for item in _read_file(file, what, path, report, base, text, whole):
                found = True
                yield item
        except BadSource as error:
            if report.strict:
                raise
            failure = failure or error
            report.skip("file that cannot be read", str(error))
    if failure is not None and not found:
        raise failure


def _read_file(
    file: Path, what: str, folder: Path, report: ReadReport, base: str | None, text: bool, whole: set[object]
) -> Items:
    """One file of a folder, or all that belongs to it if that is not in `whole` yet."""
    address = None if base is None else under(base, folder, file)
    key: object = file
    if what == "html":
        file, address, key = folder, base, "html"
    elif what == "webgraph":
        key = _release(file)
    if key in whole:
        return iter(())
    whole.add(key)
    return READERS[what](file, report, address, text)


def _release(file: Path) -> object:
    from cocite.sources.webgraphs.files import find_release

    release = find_release(file)
    return release.base, tuple(release.edges)


# Readers


def _read_records(path: Path, report: ReadReport, base: str | None, text: bool) -> Items:
    from cocite.sources import page_records
    from cocite.sources.recognise import is_parquet

    if is_parquet(path):
        return page_records.read_parquet(path, report, text=text)
    return page_records.read_jsonl(path, report)


def _read_stream(path: Path, report: ReadReport) -> Iterator[Page]:
    from cocite.sources.page_records import read_jsonl

    if str(path) == "-":
        yield from read_jsonl(sys.stdin.buffer, report)
    else:
        with path.open("rb") as stream:
            yield from read_jsonl(stream, report)


def _read_edges(path: Path, report: ReadReport, base: str | None, text: bool) -> Items:
    from cocite.sources.edges.edge_list import read_edge_list

    return read_edge_list(path, report)


def _read_warc(path: Path, report: ReadReport, base: str | None, text: bool) -> Items:
    from cocite.sources.archives.warc import read_warc

    return read_warc(path, report, text=text)


def _read_wat(path: Path, report: ReadReport, base: str | None, text: bool) -> Items:
    from cocite.sources.archives.wat import read_wat

    return read_wat(path, report)


def _read_html(path: Path, report: ReadReport, base: str | None, text: bool) -> Items:
    from cocite.sources.html.folder import read_html_folder

    return read_html_folder(path, report, base=base, text=text)


def _read_markdown(path: Path, report: ReadReport, base: str | None, text: bool) -> Items:
    from cocite.sources.markdown.page import read_markdown

    return read_markdown(path, report, base=base)


def _read_bookmarks(path: Path, report: ReadReport, base: str | None, text: bool) -> Items:
    from cocite.sources.collections.bookmarks import read_bookmarks

    return read_bookmarks(path, report, base=base)


def _read_opml(path: Path, report: ReadReport, base: str | None, text: bool) -> Items:
    from cocite.sources.collections.opml import read_opml

    return read_opml(path, report, base=base)


def _read_webgraph(path: Path, report: ReadReport, base: str | None, text: bool) -> Items:
    from cocite.sources.webgraphs.webgraph import read_webgraph_release

    return read_webgraph_release(path, report)


def _crawl(spec: str, report: ReadReport, text: bool) -> Iterator[Page]:
    from cocite.sources.crawl.start import crawl

    return crawl([spec], report, text=text)


READERS: dict[str, Reader] = {
    "records": _read_records,
    "edges": _read_edges,
    "warc": _read_warc,
    "wat": _read_wat,
    "html": _read_html,
    "markdown": _read_markdown,
    "bookmarks": _read_bookmarks,
    "opml": _read_opml,
    "webgraph": _read_webgraph,
}
