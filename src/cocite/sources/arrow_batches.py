"""Arrow batches of page records: convert any batch to `records.SCHEMA`, and merge small batches.

Spark, DuckDB, pandas and Polars write columns in any order, and in any of Arrow's string, list and number types. A
column of an unsupported type is counted and dropped. A record without an address is counted and skipped.
Dictionary-encoded addresses stay encoded, so that each text is handled once.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cocite.sources.escapes import ESCAPE_SEQUENCE
from cocite.sources.records import ADDRESS_FIELDS, LINK, SCHEMA, Page, ReadReport, batches, raw_texts, trimmed

MAX_INT32 = 2**31 - 1
SMALL_BATCH_ITEMS, SMALL_BATCH_BYTES = 20_000, 4 << 20
"""Batches below these sizes are merged: each batch costs the builder milliseconds and files, whatever it holds."""

Mask = np.ndarray[Any, np.dtype[np.bool_]]


def to_schema(batch: pa.RecordBatch, report: ReadReport, name: str = "", dictionaries: bool = True) -> pa.RecordBatch:
    """Convert a batch to `SCHEMA`. With `dictionaries`, addresses may stay dictionary-encoded."""
    given = {field.name: _storage(batch.column(i)) for i, field in enumerate(batch.schema)}
    columns = []
    for field in SCHEMA:
        column = given.get(field.name, pa.nulls(batch.num_rows))
        if field.name == "links":
            made = _links(column, report, name, dictionaries)
        else:
            made = _converted(column, field.type, dictionaries and field.name == "url")
        if made is None:
            made = _lost(column, field, "field", report, name)
        columns.append(trimmed(made) if field.name in ADDRESS_FIELDS else made)
    whole = pa.RecordBatch.from_arrays(columns, names=SCHEMA.names)
    empty = _is_empty(whole.column("url"))
    if empty.any():
        report.skip("record without url", name, int(empty.sum()))
        whole = whole.filter(pa.array(~empty))
    return whole


def have_address(url: pa.Array) -> Mask:
    """Return which records have an address, so that `to_schema` keeps them."""
    made = _converted(_storage(url), pa.string())
    return np.zeros(len(url), np.bool_) if made is None else ~_is_empty(trimmed(made))


def _links(column: pa.Array, report: ReadReport, name: str, dictionaries: bool) -> pa.Array | None:
    """Convert lists of link objects or of addresses. Links without an address are counted and skipped."""
    parts = list_parts(column)
    if parts is None:
        return None
    offsets, items = parts
    given = {"url": items}
    if pa.types.is_struct(items.type):  # flatten, unlike field, gives the fields of a null object as nulls
        given = dict(zip([field.name for field in items.type], items.flatten(), strict=True))
    url = _converted(_storage(given["url"]), pa.string(), dictionaries) if "url" in given else None
    if url is None:
        return None
    url = trimmed(url)
    fields = [url, *(_link_field(given.get(field.name), field, len(items), report, name) for field in list(LINK)[1:])]
    empty = _is_empty(url)
    if empty.any():
        report.skip("link without url", name, int(empty.sum()))
        keep = pa.array(~empty)
        fields = [array.filter(keep) for array in fields]
        offsets = np.concatenate([[0], np.cumsum(~empty)])[offsets]
    links = pa.StructArray.from_arrays(fields, names=[field.name for field in LINK])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), links)


def _link_field(column: pa.Array | None, field: pa.Field, count: int, report: ReadReport, name: str) -> pa.Array:
    column = pa.nulls(count) if column is None else _storage(column)
    made = _converted(column, field.type)
    if made is None:
        return _lost(column, field, "link field", report, name)
    if field.name == "weight" and made.null_count < len(made):
        valid = pc.and_(pc.greater(made, 0), pc.less_equal(made, 1))
        made = pc.if_else(pc.fill_null(valid, False), made, pa.scalar(None, field.type))
    lost = made.null_count - column.null_count
    if lost > 0:
        report.skip(f"link field {field.name!r} out of range", name, lost)
    return made


def _lost(column: pa.Array, field: pa.Field, what: str, report: ReadReport, name: str) -> pa.Array:
    """Count the values of a column of the wrong type. Some writers give an empty column a number type: no loss."""
    if lost := len(column) - int(column.null_count):
        report.skip(f"{what} {field.name!r} of the wrong type", f"{name}: {column.type}", lost)
    return pa.nulls(len(column), field.type)


def list_parts(column: pa.Array) -> tuple[np.ndarray[Any, np.dtype[np.int64]], pa.Array] | None:
    """Return the offsets and items of lists of any Arrow type. A null list counts as empty."""
    kinds = pa.types
    if kinds.is_list_view(column.type) or kinds.is_large_list_view(column.type):
        column = column.cast(pa.large_list(column.type.value_type))
    if not (kinds.is_list(column.type) or kinds.is_large_list(column.type) or kinds.is_fixed_size_list(column.type)):
        return None
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    offsets = np.zeros(len(column) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets, _storage(column.flatten())


def _converted(column: pa.Array, wanted: pa.DataType, keep_dictionary: bool = False) -> pa.Array | None:
    """Convert a column to a type, or return None if its own type does not fit. Numbers out of range become nulls."""
    if pa.types.is_dictionary(column.type):
        if keep_dictionary and not column.dictionary.null_count:
            texts = _converted(column.dictionary, wanted)
            return None if texts is None else pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), texts)
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_null(kind):
        return pa.nulls(len(column), wanted)
    try:
        if pa.types.is_list(wanted):
            parts = list_parts(column)
            texts = None if parts is None else _converted(parts[1], pa.string())
            if parts is None or texts is None:
                return None
            return pa.ListArray.from_arrays(pa.array(parts[0], pa.int32()), pc.fill_null(texts, ""))
        if wanted == pa.string():
            return as_texts(column)
        if wanted == pa.bool_():
            return column.cast(wanted) if pa.types.is_boolean(kind) or pa.types.is_integer(kind) else None
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            return None
        if pa.types.is_floating(wanted):
            return column.cast(wanted, safe=False)
        if kind == wanted and (pc.min(column).as_py() or 0) >= 0:  # nearly always, and rounding takes eight passes
            return column
        whole = pc.round(column.cast(pa.float64(), safe=False))  # doubles hold every 32-bit integer
        valid = pc.fill_null(pc.and_(pc.greater_equal(whole, 0), pc.less_equal(whole, MAX_INT32)), False)
        return pc.if_else(valid, whole, pa.scalar(None, pa.float64())).cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def as_texts(column: pa.Array) -> pa.Array | None:
    """Convert strings and bytes, and dates and times to ISO 8601. Bytes that are not UTF-8 are replaced."""
    kind, kinds = column.type, pa.types
    if kinds.is_timestamp(kind):
        seconds = column.cast(pa.timestamp("s", kind.tz), safe=False).cast(pa.int64()).cast(pa.timestamp("s"))
        return pc.strftime(seconds, format="%Y-%m-%dT%H:%M:%S")
    if kinds.is_date(kind):
        return column.cast(pa.date32()).cast(pa.string())
    is_binary = kinds.is_binary(kind) or kinds.is_large_binary(kind) or kinds.is_binary_view(kind)
    if not (is_binary or kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind)):
        return None
    try:
        texts = column.cast(pa.string())
        if not is_binary:
            _check_texts(texts)
        return texts
    except pa.ArrowInvalid:
        raw = column.cast(pa.large_binary()).to_pylist()
        return pa.array([None if item is None else item.decode("utf-8", "replace") for item in raw], pa.string())


def _check_texts(texts: pa.Array) -> None:
    """Raise ArrowInvalid unless texts are UTF-8, which Parquet readers don't check. ASCII takes a tenth of the time."""
    texts.validate()
    data, offsets = raw_texts(texts)
    is_ascii = data[offsets[0] : offsets[-1]].max(initial=0) < 128
    if not is_ascii or (offsets[1:] < offsets[:-1]).any():
        texts.validate(full=True)


def _is_empty(addresses: pa.Array) -> Mask:
    """Return which addresses are missing or empty."""
    if addresses.type == pa.string() and not addresses.null_count:
        _, offsets = raw_texts(addresses)
        return np.equal(offsets[1:], offsets[:-1])
    if pa.types.is_dictionary(addresses.type):
        empty = pc.equal(pc.binary_length(addresses.dictionary), 0).take(addresses.indices)
    else:
        empty = pc.equal(pc.binary_length(addresses), 0)
    return np.asarray(pc.fill_null(empty, True).to_numpy(zero_copy_only=False), np.bool_)


def _storage(column: pa.Array) -> pa.Array:
    """Return the plain array under an extension type, such as Arrow's JSON texts."""
    return column.storage if isinstance(column.type, pa.BaseExtensionType) else column


def merge_small_batches(items: Iterable[Page | pa.RecordBatch], text: bool = True) -> Iterator[pa.RecordBatch]:
    """Turn pages and batches into batches of reasonable size, in the same order, without terminal escape sequences.

    Without `text`, the texts of pages are dropped.
    """
    waiting: list[pa.RecordBatch] = []
    count = size = 0
    runs = groupby(items, lambda item: isinstance(item, Page))
    given: Any = (
        batches(page if text else replace(page, text="") for page in run) if own else run for own, run in runs
    )
    for batch in chain.from_iterable(given):
        for name in ("title", "text", "headings", "links"):
            column = batch.column(name)
            cleaned = without_escapes(column)
            if cleaned is not column:
                batch = batch.set_column(batch.schema.get_field_index(name), name, cleaned)
        batch_items = batch.num_rows + len(batch.column("links").flatten())
        small = batch_items < SMALL_BATCH_ITEMS and batch.nbytes < SMALL_BATCH_BYTES
        if small:
            waiting.append(batch)
            count, size = count + batch_items, size + batch.nbytes
        if waiting and (not small or count >= SMALL_BATCH_ITEMS or size >= SMALL_BATCH_BYTES):
            yield _merged(waiting)
            waiting, count, size = [], 0, 0
        if not small:
            yield batch
    if waiting:
        yield _merged(waiting)


def _merged(waiting: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(waiting) == 1:
        return waiting[0]
    same = [
        batch if batch.schema.equals(SCHEMA) else to_schema(batch, ReadReport(), dictionaries=False).cast(SCHEMA)
        for batch in waiting
    ]
    (whole,) = pa.Table.from_batches(same).combine_chunks().to_batches()
    return whole


def without_escapes(column: pa.Array) -> pa.Array:
    """Remove escape sequences from texts, or from lists of texts or links. Return the same object if it has none."""
    if column.null_count == len(column):
        return column
    if pa.types.is_struct(column.type):
        fields = dict(zip((field.name for field in column.type), column.flatten(), strict=True))
        cleaned = fields | {name: without_escapes(fields[name]) for name in ("text", "context")}
        if all(cleaned[name] is fields[name] for name in fields):
            return column
        return pa.StructArray.from_arrays(list(cleaned.values()), names=list(cleaned))
    if (parts := list_parts(column)) is not None:
        items = without_escapes(parts[1])
        return column if items is parts[1] else pa.ListArray.from_arrays(pa.array(parts[0], pa.int32()), items)
    found = pc.or_(pc.match_substring(column, "\x1b"), pc.match_substring(column, "\x9b"))
    return pc.replace_substring_regex(column, ESCAPE_SEQUENCE, "") if pc.any(found).as_py() else column
