"""Open a source: recognise what a path or address is, and read it as a stream of record batches."""

import logging
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pyarrow as pa

from cocite.errors import BadSource
from cocite.sources import kinds
from cocite.sources.arrow_batches import merge_small_batches
from cocite.sources.edges.sql import is_sql, parse_sql
from cocite.sources.folders import address_under, checked_base, is_store, walk_files, walk_names
from cocite.sources.kinds import Items, ReadOptions, SourceFolder, SourceKind
from cocite.sources.page_records import read_jsonl
from cocite.sources.records import UNREADABLE_FILE, UNSUPPORTED_FILE, ReadReport, expect_readable, shorten

_WEB_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """A source that is recognised but not yet read."""

    spec: str
    kind: str
    size_bytes: int  # 0 where it is not known
    report: ReadReport = field(repr=False)
    read: Callable[[], Items] = field(repr=False)
    text: bool = True  # whether the texts of pages are wanted

    def records(self) -> Iterator[pa.RecordBatch]:
        """Yield the records in batches of bounded size."""
        yield from merge_small_batches(self.read(), self.text)


def open_source(
    spec: str, report: ReadReport, *, base: str | None = None, kind: str | None = None, text: bool = True,
    undirected: bool = False, see_also: IO[str] | None = None, categories: bool = False,
    mentions: bool = False,
) -> Source:  # fmt: skip
    """Recognise a source: a file, a folder, `-` for standard input, SQL, or the address of a page to crawl from.

    `base` is the address of sources without addresses of their own: HTML and Markdown files, bookmarks, OPML.
    """
    if not spec.strip():
        raise BadSource("The name of a source is empty: give a file, a folder or an address")
    if kind is not None and kind not in kinds.source_kinds():
        raise BadSource(f"Unknown kind of source {shorten(kind)!r}: choose one of {kinds.kind_choices()}")
    address = None if base is None else checked_base(base)
    options = ReadOptions(address, text, undirected, see_also, categories, mentions)
    try:
        name, size, read = _reader(spec, Path(spec), report, kind, options)
    except OSError as error:
        raise BadSource(f"Cannot open {shorten(spec)}: {error.strerror}; check the path and its permissions") from error
    logging.getLogger("cocite.sources").info("%s: %s, %s bytes", spec, name, size or "unknown")
    return Source(spec, name, size, report, read, text)


def _reader(
    spec: str, path: Path, report: ReadReport, kind: str | None, options: ReadOptions
) -> tuple[str, int, Callable[[], Items]]:
    """Return the kind of a source, its size in bytes, and what reads it."""
    if kind == "crawl" or (kind is None and _WEB_ADDRESS.match(spec)):
        return "crawl", 0, lambda: kinds.source_kinds()["crawl"].read(spec, report, options)
    if kind == "sql" or (kind is None and is_sql(spec)):
        query = parse_sql(spec)
        return "sql", 0, lambda: kinds.source_kinds()["sql"].read(query, report, options)
    if spec == "-" or path.is_fifo():
        if kind not in (None, "records"):
            raise BadSource(f"Only page records can come from a pipe: write the {kind} source to a file first")
        return "records", 0, lambda: read_jsonl(sys.stdin.buffer if spec == "-" else path, report)
    if path.is_dir():
        size = _check_folder(spec, path, kind)
        chosen = kinds.source_kinds()[kind] if kind else None
        if chosen is not None and chosen.reads_folders:
            return chosen.name, size, lambda: chosen.read(path, report, options)
        return (
            kind or "folder",
            size,
            lambda: expect_readable(_read_folder(path, report, chosen, options), report, spec),
        )
    if path.exists() and not path.is_file():
        raise BadSource(f"{spec} is neither a file nor a folder: give a file or a folder")
    found = kinds.source_kinds()[kind if kind and (kind == "webgraph" or path.is_file()) else kinds.detect_kind(path)]
    return found.name, path.stat().st_size if path.is_file() else 0, lambda: found.read(path, report, options)


def _check_folder(spec: str, path: Path, kind: str | None) -> int:
    """Return the size of a folder's files in bytes. Raise BadSource, with what to do, if none can be read."""
    store = next((place for place in (path, path.resolve().parent) if is_store(place)), None)
    if store is not None:
        raise BadSource(
            f"{spec} is a cocite store: export it (cocite export --format records -o pages.parquet"
            f" -i {shlex.quote(str(store))}) and give the file, or pass the store as -i to cocite add"
        )
    size, recognised = 0, kind is not None
    for file in walk_files(path):
        size += file.stat().st_size
        recognised = recognised or kinds.kind_of(file) is not None
    if not size:
        raise BadSource(f"{spec} is an empty folder: give a folder with sources")
    if not recognised:
        raise BadSource(f"{spec} has no files of a supported type: use --kind ({kinds.kind_choices()})")
    return size


def _read_folder(path: Path, report: ReadReport, kind: SourceKind | None, options: ReadOptions) -> Items:
    """Read the files of a folder, whatever their kinds. Files that can't be read are counted."""
    units, folder = set[object](), SourceFolder(path)
    known_suffixes: tuple[str, ...] = ()
    for below in walk_names(path, report):
        if below.lower().endswith(known_suffixes):
            continue
        file = path / below
        name = kind.name if kind else kinds.kind_of(file)
        if name is None:
            report.read[UNSUPPORTED_FILE] += 1
            report.read["bytes"] += file.stat().st_size
            continue
        try:
            chosen = kinds.source_kinds()[name]
            unit, identity = chosen.unit(file, path) if chosen.unit else (file, file)
            if identity in units:
                continue
            units.add(identity)
            known_suffixes += chosen.suffixes if unit == path else ()
            base = options.base if unit == path or options.base is None else address_under(options.base, path, file)
            yield from chosen.read(unit, report, options._replace(base=base, folder=folder))
        except BadSource as error:
            if report.strict:
                raise
            report.skip(UNREADABLE_FILE, str(error))
