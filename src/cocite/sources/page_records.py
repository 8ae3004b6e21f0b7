"""Page records as files: JSON Lines (plain, gzip, Zstandard) and Parquet; `docs/page-records.md` is their description.

Both are read leniently and in bounded memory. Writing is atomic: a killed writer leaves the old file or none.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import zstandard

from cocite.errors import BadSource
from cocite.sources.compressed import open_lines
from cocite.sources.conform import conform
from cocite.sources.json_record import page_of, record_of
from cocite.sources.link_list import PARQUET, files
from cocite.sources.records import SCHEMA, Page, ReadReport

EMPTY = "source that holds no records"


# JSON Lines


def read_jsonl(path: Path | IO[bytes], report: ReadReport) -> Iterator[Page]:
    """The pages of a JSON Lines file or stream, one record per line."""
    found = False
    for number, line in enumerate(open_lines(path, report), 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        page = page_of(line, number, report)
        if page is not None:
            found = True
            yield page
    if not found:
        report.skip(EMPTY, _name(path))


def write_jsonl(pages: Iterable[Page], path: Path) -> int:
    """Write pages as JSON Lines, compressed if the name ends in .gz or .zst; returns their number."""
    count = 0
    with _replacing(path) as temporary, temporary.open("wb") as file, _compressing(file, path.suffix) as out:
        for page in pages:
            line = json.dumps(record_of(page), ensure_ascii=False, separators=(",", ":"))
            out.write(line.encode("utf-8", "replace") + b"\n")
            count += 1
    return count


@contextmanager
def _compressing(file: IO[bytes], suffix: str) -> Iterator[Any]:
    if suffix == ".gz":
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            yield packed
    elif suffix == ".zst":
        with zstandard.ZstdCompressor(level=10).stream_writer(file, closefd=False) as packed:
            yield packed
    else:
        yield file


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` that takes its place at the end, and is gone if anything went wrong."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


# Parquet

ROWS_PER_BATCH = 1 << 16
LINKS_PER_BATCH = 200_000
ENCODED_PER_BATCH = 4 << 20
"""Bytes of a row group, encoded but not compressed, that are read at a time: 70,000 plain links, or up to some millions
where a dictionary makes an address two bytes or less, which then take 100 MB."""


def read_parquet(path: Path, report: ReadReport, *, text: bool = True) -> Iterator[pa.RecordBatch]:
    """The records of a Parquet file, or of a folder of part files, in batches of bounded size.

    Without `text` the pages' texts are not read from disk.
    """
    rows = 0
    for part in _parts(path):
        try:
            for batch in _read_part(part, report, text):
                rows += batch.num_rows
                if batch.num_rows:
                    yield batch
        except BadSource as error:
            if part == path:
                raise
            report.skip("part file that cannot be read", str(error))
    if not rows:
        report.skip(EMPTY, path.name)


def _parts(path: Path) -> list[Path]:
    """The Parquet files of a folder, in the order in which every folder is read."""
    return [part for part in files(path) if part.name.endswith(PARQUET)] if path.is_dir() else [path]


def _read_part(path: Path, report: ReadReport, text: bool) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    try:
        # Buffered reading without pre_buffer holds pages, not whole column chunks, of a row group in memory.
        file = pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20, page_checksum_verification=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadSource(f"{path.name} is not a whole Parquet file ({_line(error)}): write or copy it again") from error
    with file:
        wanted = [name for name in file.schema_arrow.names if name in SCHEMA.names and (text or name != "text")]
        if "url" not in wanted:
            columns = ", ".join(file.schema_arrow.names[:8])
            raise BadSource(f"{path.name} has no column url but {columns}: see docs/page-records.md for the fields")
        share = path.stat().st_size / max(1, file.metadata.num_rows)
        for group in range(file.metadata.num_row_groups):
            rows = _rows_at_a_time(file.metadata.row_group(group))
            try:
                for batch in file.iter_batches(rows, row_groups=[group], columns=wanted, use_threads=False):
                    report.read["bytes"] += int(batch.num_rows * share)
                    yield from _portions(conform(batch, report, path.name))
            except (pa.ArrowException, OSError, ValueError) as error:
                report.skip("damaged row group of a Parquet file", f"{path.name}: {_line(error)}")


def _rows_at_a_time(group: Any) -> int:
    """How many rows of a row group make a batch of bounded size.

    The counts of the single columns would tell more, but asking a damaged file for them ends the process.
    """
    encoded = max(1, group.total_byte_size / max(1, group.num_rows))
    return max(1, min(ROWS_PER_BATCH, int(ENCODED_PER_BATCH / encoded)))


def _portions(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in parts of not too many links."""
    parts = 1 + len(batch.column("links").flatten()) // LINKS_PER_BATCH
    rows = max(1, batch.num_rows // parts)
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def write_parquet(batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """Write batches of page records as one Parquet file; returns the number of records."""
    import pyarrow.parquet as pq

    rows = 0
    with (
        _replacing(path) as temporary,
        pq.ParquetWriter(temporary, SCHEMA, compression="zstd", write_page_checksum=True) as writer,
    ):
        for batch in batches:
            plain = conform(batch, ReadReport(), dictionaries=False)
            writer.write_batch(plain.cast(SCHEMA))
            rows += plain.num_rows
    return rows


def _name(path: Path | IO[bytes]) -> str:
    return path.name if isinstance(path, Path) else "standard input"


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:150]
