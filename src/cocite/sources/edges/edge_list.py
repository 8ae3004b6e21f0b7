"""Edge lists → page records: TSV, CSV, columns parted by spaces (SNAP, KONECT), Parquet; with a header or without.

One row is one link. Rows of one source page that follow each other become one record; records are `partial`, so those
of one page add up. Bare ids and names become opaque names (`name:42`), a host with a known suffix but without a scheme
becomes `host:nytimes.com`, addresses stay. Everything is done on whole columns: 2 M rows a second and more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cocite.errors import BadSource
from cocite.sources.compressed import head, open_bytes
from cocite.sources.edges.layout import COMMENTS, Layout, layout, pick_columns
from cocite.sources.edges.names import addresses
from cocite.sources.page_records import EMPTY
from cocite.sources.records import LINK, SCHEMA, ReadReport, trimmed

BLOCK = 4 << 20
"""Bytes parsed at a time; 4 MiB stay in the cache, 16 MiB took longer. A longer line is counted and left out."""

PARQUET_ROWS = 1 << 17


def read_edge_list(
    path: Path, report: ReadReport, *, columns: Sequence[str | int] | None = None
) -> Iterator[pa.RecordBatch]:
    """The records of an edge list; `columns` says which columns are source, target and, if any, weight."""
    found = False
    rows = _parquet_rows if _is_parquet(path) else _text_rows
    for source, target, weight in rows(path, report, columns):
        if batch := _records(source, target, weight, report, path.name):
            found = True
            yield batch
    if not found:
        report.skip(EMPTY, path.name)


Rows = tuple[pa.Array, pa.Array, pa.Array | None]


def _is_parquet(path: Path) -> bool:
    return head(path).startswith(b"PAR1")


# Text


def _text_rows(path: Path, report: ReadReport, columns: Sequence[str | int] | None) -> Iterator[Rows]:
    first = head(path)
    if not first.strip():
        return
    form = layout(first, columns, path.name)
    header = form.header
    for block in _blocks(path, report):
        if form.delimiter == " ":
            block = _single_spaces(block)
        if header:
            if form.comments:
                block = re.sub(rb"(?m)^[#%][^\n]*\n", b"", block)
            block = block.lstrip(b"\r\n").partition(b"\n")[2]
            header = False
        if block[:100].strip() or block.strip():
            yield from _parse(block, form, report, path.name)


def _blocks(path: Path, report: ReadReport) -> Iterator[bytes]:
    """Blocks of whole lines, each with its line end."""
    with open_bytes(path, report) as stream:
        rest = b""
        dropping = False
        first = True
        while piece := stream.read(BLOCK):
            if first:
                piece, first = piece.removeprefix(b"\xef\xbb\xbf"), False
            end = piece.rfind(b"\n") + 1
            if dropping:
                start = piece.find(b"\n") + 1
                piece, end, dropping = piece[start:], end - start, not start
            if dropping or (not end and len(rest) + len(piece) > BLOCK):
                if not dropping:
                    report.skip(f"line longer than {BLOCK >> 20} MiB", path.name)
                dropping, rest = True, b""
            elif end:
                yield b"".join((rest, memoryview(piece)[:end]))
                rest = piece[end:]
            else:
                rest += piece
        if rest and not dropping:
            yield rest + b"\n"


def _single_spaces(block: bytes) -> bytes:
    block = block.replace(b"\t", b" ").replace(b"\r", b"")
    if b"  " in block:
        block = re.sub(rb" ++", b" ", block)
    if b" \n" in block or b"\n " in block:
        block = block.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return block.lstrip(b" ")


def _parse(block: bytes, form: Layout, report: ReadReport, name: str) -> Iterator[Rows]:
    if not block.isascii():
        block = _utf8(block, report, name)
    odd: list[str] = []
    quoted = form.quoted
    try:
        table = _read_csv(block, form, odd, quoted)
    except pa.ArrowInvalid:  # a quotation mark that nothing closes
        odd.clear()
        quoted = False
        table = _read_csv(block, form, odd, quoted)
    used = [form.source, form.target] + ([] if form.weight is None else [form.weight])
    arrays = [_whole(table.column(str(column))) for column in used]
    if form.quoted and not quoted:
        arrays = [pc.ascii_trim(array, '"') for array in arrays]
    if form.comments and len(arrays[0]):
        # Looking for comments here takes a tenth of the time of looking for them in the bytes.
        first = _whole(table.column("0"))
        comment = pc.or_(*(pc.starts_with(first, mark) for mark in COMMENTS))
        if pc.any(comment).as_py():
            arrays = [array.filter(pc.invert(comment)) for array in arrays]
    if len(arrays[0]):
        yield arrays[0], arrays[1], arrays[2] if len(arrays) > 2 else None
    if odd:
        yield from _odd_rows(odd, form, used, report)


def _read_csv(block: bytes, form: Layout, odd: list[str], quoted: bool) -> pa.Table:
    from pyarrow import csv

    def gather(row: Any) -> str:
        odd.append(row.text or "")
        return "skip"

    names = [str(column) for column in range(form.width)]
    used = {0, form.source, form.target} | (set() if form.weight is None else {form.weight})
    return csv.read_csv(
        pa.BufferReader(block),
        csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names),
        csv.ParseOptions(delimiter=form.delimiter, quote_char='"' if quoted else False, invalid_row_handler=gather),
        csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=[str(column) for column in used],
            check_utf8=False,
        ),
    )


def _utf8(block: bytes, report: ReadReport, name: str) -> bytes:
    try:
        block.decode("utf-8")
        return block
    except UnicodeDecodeError as error:
        example = block[max(0, error.start - 20) : error.end + 20].decode("utf-8", "replace")
        report.skip("part of an edge list with bytes that are not UTF-8 (replaced)", f"{name}: {example}")
        return block.decode("utf-8", "replace").encode()


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _odd_rows(odd: list[str], form: Layout, used: list[int], report: ReadReport) -> Iterator[Rows]:
    """Rows with more or fewer fields than most: used if source and target are there."""
    lines = [line for text in odd for line in text.split("\n") if line.strip()]  # a stray quotation mark joins lines
    rows = [form.fields(line) for line in lines if not (form.comments and line.startswith(COMMENTS))]
    whole = [row for row in rows if len(row) > max(used[:2])]
    if short := len(rows) - len(whole):
        example = next(row for row in rows if len(row) <= max(used[:2]))
        report.skip("row with fewer than two columns", " ".join(example), short)
    if whole:
        arrays = [pa.array([row[c] if c < len(row) else "" for row in whole], pa.string()) for c in used]
        yield arrays[0], arrays[1], arrays[2] if len(arrays) > 2 else None


# Parquet


def _parquet_rows(path: Path, report: ReadReport, columns: Sequence[str | int] | None) -> Iterator[Rows]:
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20, page_checksum_verification=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadSource(f"{path.name} is not a whole Parquet file: write or copy it again") from error
    with file:
        fields = [field for field in file.schema_arrow if _usable(field.type) and not field.name.startswith("__")]
        names = [field.name for field in fields]
        if len(names) < 2:
            raise BadSource(f"{path.name} has no two columns of numbers or texts: an edge list needs source and target")
        source, target, weight = pick_columns(names, len(names), columns, path.name)
        wanted = [names[source], names[target]] + ([] if weight is None else [names[weight]])
        share = path.stat().st_size / max(1, file.metadata.num_rows)
        for group in range(file.metadata.num_row_groups):
            try:
                for batch in file.iter_batches(PARQUET_ROWS, row_groups=[group], columns=wanted, use_threads=False):
                    report.read["bytes"] += int(batch.num_rows * share)
                    arrays = [_as_text(batch.column(column)) for column in wanted]
                    yield arrays[0], arrays[1], arrays[2] if weight is not None else None
            except (pa.ArrowException, OSError, ValueError) as error:
                report.skip("damaged row group of a Parquet file", f"{path.name}: {' '.join(str(error).split())}")


def _usable(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    texts = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary())
    return kind in texts or bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _as_text(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):  # pandas makes floats of whole numbers with gaps
        try:
            column = column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column.cast(pa.string())
    if not pa.types.is_integer(column.type):
        try:
            return column.cast(pa.large_binary()).cast(pa.string())  # this way UTF-8 is checked
        except pa.ArrowInvalid:
            texts = column.cast(pa.large_binary()).to_pylist()
            return pa.array([None if text is None else text.decode("utf-8", "replace") for text in texts], pa.string())
    return column.cast(pa.string())


# Columns → records


def _records(
    source: pa.Array, target: pa.Array, weight: pa.Array | None, report: ReadReport, name: str
) -> pa.RecordBatch | None:
    source, target = (trimmed(pc.fill_null(column, "")) for column in (source, target))
    whole = pc.and_(pc.greater(pc.binary_length(source), 0), pc.greater(pc.binary_length(target), 0))
    if empty := len(whole) - (pc.sum(whole).as_py() or 0):
        report.skip("row with an empty source or target", name, empty)
        source, target = source.filter(whole), target.filter(whole)
        weight = None if weight is None else weight.filter(whole)
    if not len(source):
        return None
    changes = pc.not_equal(source[1:], source[:-1]).to_numpy(zero_copy_only=False)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    offsets = np.append(starts, len(source))
    texts = pa.nulls(len(target), pa.string())
    values = {"url": addresses(target), "text": texts, "context": texts, "rel": texts}
    if weight is not None:
        values["weight"] = _weights(weight, report, name)
    links = pa.StructArray.from_arrays(
        [values[field.name] if field.name in values else pa.nulls(len(target), field.type) for field in LINK],
        fields=list(LINK),
    )
    made = {
        "url": addresses(source.take(pa.array(starts))),
        "links": pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), links, type=SCHEMA.field("links").type),
        "partial": pa.array(np.ones(len(starts), np.bool_)),
    }
    columns = [made[f.name] if f.name in made else pa.nulls(len(starts), f.type) for f in SCHEMA]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _weights(texts: pa.Array, report: ReadReport, name: str) -> pa.Array:
    """Probabilities; what is not in (0, 1], such as a count or a time, is counted and read as 1."""
    texts = trimmed(pc.fill_null(texts, ""))
    number = pc.match_substring_regex(texts, r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$")
    values = pc.if_else(number, texts, pa.scalar(None, pa.string())).cast(pa.float32())
    good = pc.fill_null(pc.and_(pc.greater(values, 0), pc.less_equal(values, 1)), False)
    bad = pc.and_(pc.invert(good), pc.greater(pc.binary_length(texts), 0))
    if count := pc.sum(bad).as_py():
        report.skip("weight that is not in (0, 1] (read as 1)", f"{name}: {texts.filter(bad)[0]}", count)
    return pc.if_else(good, values, pa.scalar(None, pa.float32()))
