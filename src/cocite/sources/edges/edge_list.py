"""Read edge lists as page records: TSV, CSV, columns separated by spaces (SNAP, KONECT) and Parquet.

One row is one link. Consecutive rows with the same source become one record. Records are `partial`: those of one page
add up. Ids and names become opaque names (`name:42`), a host with a known suffix but without a scheme becomes
`host:nytimes.com`, and addresses stay as they are.

Arrow parses whole columns, 2 million rows a second. Only the rows that it rejects go through Python, one by one.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cocite.errors import BadSource
from cocite.pages.site import is_under_icann
from cocite.sources.arrow_batches import as_texts
from cocite.sources.compressed import head, line_blocks
from cocite.sources.edges.layout import COMMENTS, TYPE_NAMES, Layout, are_named, layout, pick_columns
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind, content_suffix, kind_choices
from cocite.sources.page_records import first_record
from cocite.sources.parquet import open_parquet, parquet_columns, row_groups
from cocite.sources.records import ReadReport, expect_some, link_batch, trimmed

BATCH_ROWS = 1 << 17
EDGE_SUFFIXES = (".edges", ".edgelist", ".el")
TABLE_SUFFIXES = (".tsv", ".csv", ".tab", *EDGE_SUFFIXES)
OTHER_SUFFIXES = (".txt", ".net", ".dat", "")

_HOST = r"^(?:[a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{0,62}(?:[/?#][!-~]*)?$"

Columns = list[pa.Array]  # source, target, and weight if there is one
_UNDIRECTED = ["undirected", "mutual", "false"]  # of a column of types, or of one called directed


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is an edge list. Raise BadSource for a table that doesn't look like links."""
    if head.startswith(b"PAR1"):
        _check_names(path, parquet_columns(path))
        return True
    suffix = content_suffix(path)
    is_table = suffix in TABLE_SUFFIXES or (suffix in OTHER_SUFFIXES and b"\0" not in head)
    if not is_table or first_record(head):  # JSON has commas too
        return False
    try:
        form = layout(head, path.name, strict=True)
    except BadSource as error:
        if suffix in TABLE_SUFFIXES:
            raise BadSource(f"{error}; to read it as an edge list, use --kind edges") from error
        raise BadSource(f"Cannot recognise {path}: it looks like plain text; use --kind ({kind_choices()})") from error
    if form.names:
        _check_names(path, form.names)
    if form.looks and suffix not in EDGE_SUFFIXES:
        raise BadSource(f"{path.name} looks like {form.looks}, not like links; to read it as links, use --kind edges")
    return True


def _check_names(path: Path, names: Sequence[str]) -> None:
    if not are_named(names):
        hint = "name two of them source and target, or use --kind edges to read the first two"
        raise BadSource(f"{path.name} has the columns {', '.join(names[:8])}: {hint}")


def read_edge_list(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[pa.RecordBatch]:
    """Yield the records of an edge list."""
    rows = (_parquet_rows if head(path).startswith(b"PAR1") else _text_rows)(path, report)
    if options.undirected:
        rows = (both_ways(columns) for columns in rows)
    batches = (edge_records(columns, report, path.name) for columns in rows)
    return expect_some(filter(None, batches), report, path.name)


def _text_rows(path: Path, report: ReadReport) -> Iterator[Columns]:
    first = head(path)
    if not first.strip():
        return
    form = layout(first, path.name)
    header = form.header
    for block in line_blocks(path, report):
        if form.delimiter == " ":
            block = _single_spaces(block)
        if header:
            if form.comments:
                block = re.sub(rb"(?m)^[#%][^\n]*\n", b"", block)
            block = block.lstrip(b"\r\n").partition(b"\n")[2]
            header = False
        if block[:100].strip() or block.strip():
            yield from _parse(block, form, report, path.name)


def _single_spaces(block: bytes) -> bytes:
    block = block.replace(b"\t", b" ").replace(b"\r", b"")
    if b"  " in block:
        block = re.sub(rb" ++", b" ", block)
    if b" \n" in block or b"\n " in block:
        block = block.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return block.lstrip(b" ")


def _parse(block: bytes, form: Layout, report: ReadReport, name: str) -> Iterator[Columns]:
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        example = block[max(0, error.start - 20) : error.end + 20].decode("utf-8", "replace")
        report.skip("part of an edge list with bytes that are not UTF-8 (replaced)", f"{name}: {example}")
        block = block.decode("utf-8", "replace").encode()
    rejected: list[str] = []
    quoted = form.quoted
    try:
        table = _read_csv(block, form, rejected, quoted)
    except pa.ArrowInvalid:  # an unclosed quotation mark
        rejected.clear()
        quoted = False
        table = _read_csv(block, form, rejected, quoted)
    used = form.used
    arrays = [_whole(table.column(str(column))) for column in used]
    if form.quoted and not quoted:
        arrays = [pc.ascii_trim(array, '"') for array in arrays]
    if form.comments and len(arrays[0]):
        # Searching this column for comments takes a tenth of the time of searching the bytes.
        first = _whole(table.column("0"))
        comment = pc.or_(*(pc.starts_with(first, mark) for mark in COMMENTS))
        if pc.any(comment).as_py():
            arrays = [array.filter(pc.invert(comment)) for array in arrays]
    if len(arrays[0]):
        yield _typed(arrays, form.type is not None)
    if rejected:
        yield from (_typed(arrays, form.type is not None) for arrays in _rejected_rows(rejected, form, used, report))


def _typed(columns: Columns, has_type: bool) -> Columns:
    """Return source, target and weight. Rows whose type is undirected are there in both directions."""
    if not has_type:
        return columns
    types = pc.utf8_lower(pc.utf8_trim_whitespace(pc.fill_null(columns.pop(), "")))
    return both_ways(columns, pc.is_in(types, pa.array(_UNDIRECTED)))


def both_ways(columns: Columns, some: pa.Array | None = None) -> Columns:
    """Return the rows, followed by all or some of them in the other direction, sorted by source."""
    source, target, *weight = columns if some is None else [column.filter(some) for column in columns]
    order = pc.sort_indices(target)
    back = [column.take(order) for column in (target, source, *weight)]
    return [pa.concat_arrays(pair) for pair in zip(columns, back, strict=True)]


def _read_csv(block: bytes, form: Layout, rejected: list[str], quoted: bool) -> pa.Table:
    from pyarrow import csv

    def reject(row: Any) -> str:
        rejected.append(row.text or "")
        return "skip"

    names = [str(column) for column in range(form.width)]
    used = {0, *form.used}
    return csv.read_csv(
        pa.BufferReader(block),
        csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names),
        csv.ParseOptions(delimiter=form.delimiter, quote_char='"' if quoted else False, invalid_row_handler=reject),
        csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=[str(column) for column in used],
            check_utf8=False,
        ),
    )


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _rejected_rows(rejected: list[str], form: Layout, used: list[int], report: ReadReport) -> Iterator[Columns]:
    """Parse rows with more or fewer fields than most, and keep those with a source and a target."""
    # An unclosed quotation mark joins lines.
    lines = [line for text in rejected for line in text.split("\n") if line.strip()]
    rows = [form.fields(line) for line in lines if not (form.comments and line.startswith(COMMENTS))]
    whole = [row for row in rows if len(row) > max(used[:2])]
    if short := len(rows) - len(whole):
        example = next(row for row in rows if len(row) <= max(used[:2]))
        report.skip("row with fewer than two columns", " ".join(example), short)
    if whole:
        yield [pa.array([row[c] if c < len(row) else "" for row in whole], pa.string()) for c in used]


def _parquet_rows(path: Path, report: ReadReport) -> Iterator[Columns]:
    with open_parquet(path) as file:
        fields = [field for field in file.schema_arrow if _is_name(field.type) and not field.name.startswith("__")]
        names = [field.name for field in fields]
        if len(names) < 2:
            raise BadSource(f"{path.name} has fewer than two columns of numbers or texts: links need source and target")
        source, target, weight = pick_columns(names)
        kind = next((i for i, name in enumerate(names) if TYPE_NAMES.fullmatch(name.lower())), None)
        kind = None if kind in (source, target, weight) else kind
        wanted = [names[each] for each in (source, target, weight, kind) if each is not None]
        for batch in row_groups(file, path, wanted, BATCH_ROWS, report):
            yield _typed([as_text(batch.column(column)) for column in wanted], kind is not None)


def _is_name(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    texts = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary())
    return kind in texts or bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def as_text(column: pa.Array) -> pa.Array:
    """A column of texts or numbers as texts."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        with suppress(pa.ArrowInvalid):  # pandas turns integers with gaps into floats
            column = column.cast(pa.int64())
    texts = as_texts(column)
    return column.cast(pa.string()) if texts is None else texts


def edge_records(columns: Columns, report: ReadReport, name: str) -> pa.RecordBatch | None:
    """The records of rows with source, target and perhaps weight, as texts; None if no row has both."""
    columns = [trimmed(pc.fill_null(column, "")) for column in columns]
    whole = pc.and_(*(pc.greater(pc.binary_length(column), 0) for column in columns[:2]))
    if empty := len(whole) - (pc.sum(whole).as_py() or 0):
        report.skip("row with an empty source or target", name, empty)
        columns = [column.filter(whole) for column in columns]
    source, target, *weight = columns
    if not len(source):
        return None
    changes = pc.not_equal(source[1:], source[:-1]).to_numpy(zero_copy_only=False)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    weights = _weights(weight[0], report) if weight else None
    pages = addresses(source.take(pa.array(starts)))
    return link_batch(pages, np.append(starts, len(source)), addresses(target), np.ones(len(pages), np.bool_), weights)


def _weights(texts: pa.Array, report: ReadReport) -> pa.Array:
    """Convert weights to probabilities. Values outside (0, 1], such as counts or times, are counted and read as 1."""
    number = pc.match_substring_regex(texts, r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$")
    values = pc.if_else(number, texts, pa.scalar(None, pa.string())).cast(pa.float32())
    valid = pc.fill_null(pc.and_(pc.greater(values, 0), pc.less_equal(values, 1)), False)
    invalid = pc.and_(pc.invert(valid), pc.greater(pc.binary_length(texts), 0))
    if count := pc.sum(invalid).as_py():
        report.read["weight outside (0, 1], read as 1"] += count
    return pc.if_else(valid, values, pa.scalar(None, pa.float32()))


def addresses(names: pa.Array) -> pa.Array:
    """Turn names into addresses: names with a scheme stay, hosts become `host:…`, all others `name:…`."""
    if pc.all(pc.ascii_is_decimal(names)).as_py():
        return pc.binary_join_element_wise("name:", names, "")
    whole = pc.match_substring(names, "://")
    if pc.all(whole).as_py():
        return names
    whole = pc.or_(whole, pc.starts_with(names, "name:"))
    if pc.any(pc.match_substring(names, ".")).as_py():
        host = pc.and_not(_is_host(names), whole)
        names = pc.if_else(host, pc.binary_join_element_wise("host:", names, ""), names)
        whole = pc.or_(whole, host)
    return pc.if_else(whole, names, pc.binary_join_element_wise("name:", names, ""))


def _is_host(texts: pa.Array) -> pa.Array:
    """Return which texts are hosts, with or without a path."""
    like = pc.match_substring_regex(texts, _HOST)  # 20 times as fast as extract_regex
    hosts = texts.filter(like)
    if pc.any(pc.match_substring_regex(hosts, "[/?#]")).as_py():
        hosts = pc.replace_substring_regex(hosts, "[/?#].*", "")
    endings = pc.list_element(pc.split_pattern(hosts, ".", max_splits=1, reverse=True), 1).dictionary_encode()
    # Looking up each host instead of each ending took most of the time.
    known = np.array([is_under_icann(f"a.b.c.{ending}") for ending in endings.dictionary.to_pylist()], np.bool_)
    answer = like.to_numpy(zero_copy_only=False).copy()
    answer[answer] = known[endings.indices.to_numpy(zero_copy_only=False)]
    return pa.array(answer)


SOURCE = SourceKind("edges", "edge list (TSV, CSV, Parquet)", recognises, read_edge_list, order=90)
