"""Any Arrow batch of page records → one of `records.SCHEMA`, whatever wrote it (Spark, DuckDB, pandas, Polars).

Columns may come in any order and in any of Arrow's string, list and number types; missing ones become nulls. A field
of a type that cannot be meant is counted and left out, its record is kept; a record without an address is counted and
left out. Dictionary-encoded addresses stay so: their texts are then handled once each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cocite.sources.records import ADDRESSES, LINK, SCHEMA, ReadReport, trimmed

LARGEST = 2**31 - 1


def conform(batch: pa.RecordBatch, report: ReadReport, name: str = "", dictionaries: bool = True) -> pa.RecordBatch:
    """The records of a batch in the shape of `SCHEMA`; with `dictionaries`, addresses may stay dictionary-encoded."""
    given = {field.name: batch.column(i) for i, field in enumerate(batch.schema)}
    columns = []
    for field in SCHEMA:
        column = _storage(given[field.name]) if field.name in given else pa.nulls(batch.num_rows)
        made: pa.Array | None = None
        if pa.types.is_null(column.type):
            made = pa.nulls(batch.num_rows, field.type)
        elif field.name == "links":
            made = _links(column, report, name, dictionaries)
        elif field.name == "headings":
            made = _headings(column)
        elif field.name == "url" and dictionaries:
            made = _addresses(column)
        else:
            made = _plain(column, field.type)
        if made is None:
            _count_lost(column, f"field {field.name!r} of the wrong type", report, name)
            made = pa.nulls(batch.num_rows, field.type)
        columns.append(trimmed(made) if field.name in ADDRESSES else made)
    whole = pa.RecordBatch.from_arrays(columns, names=SCHEMA.names)
    blank = _blank(whole.column("url"))
    if blank.any():
        report.skip("record without url", name, int(blank.sum()))
        whole = whole.filter(pa.array(~blank))
    return whole


def usable(url: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which records have an address, so that `conform` keeps them."""
    made = _plain(_storage(url), pa.string())
    return np.zeros(len(url), np.bool_) if made is None else ~_blank(trimmed(made))


def _links(column: pa.Array, report: ReadReport, name: str, dictionaries: bool) -> pa.Array | None:
    """Lists of link objects or of bare addresses; links without an address are counted and left out."""
    parts = list_parts(column)
    if parts is None:
        return None
    offsets, items = parts
    items = _storage(items)
    if pa.types.is_struct(items.type):
        # flatten, unlike field, gives the fields of a null object as nulls
        given = dict(zip([field.name for field in items.type], items.flatten(), strict=True))
    else:
        given = {"url": items}
    if "url" not in given:
        return None
    address = _storage(given["url"])
    url = _addresses(address) if dictionaries else _plain(address, pa.string())
    if url is None:
        return None
    url = trimmed(url)
    fields = [url, *(_link_field(given.get(field.name), field, len(items), report, name) for field in list(LINK)[1:])]
    blank = _blank(url)
    if blank.any():
        report.skip("link without url", name, int(blank.sum()))
        keep = pa.array(~blank)
        fields = [array.filter(keep) for array in fields]
        offsets = np.concatenate([[0], np.cumsum(~blank)])[offsets]
    links = pa.StructArray.from_arrays(fields, names=[field.name for field in LINK])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), links)


def _link_field(column: pa.Array | None, field: pa.Field, count: int, report: ReadReport, name: str) -> pa.Array:
    if column is None or pa.types.is_null(column.type):
        return pa.nulls(count, field.type)
    column = _storage(column)
    made = _plain(column, field.type)
    if made is None:
        _count_lost(column, f"link field {field.name!r} of the wrong type", report, name)
        return pa.nulls(count, field.type)
    if field.name == "weight":
        good = pc.and_(pc.greater(made, 0), pc.less_equal(made, 1))
        made = pc.if_else(pc.fill_null(good, False), made, pa.scalar(None, field.type))
    lost = len(column) - column.null_count - (len(made) - made.null_count)
    if lost > 0:
        report.skip(f"link field {field.name!r} out of range", name, lost)
    return made


def _headings(column: pa.Array) -> pa.Array | None:
    parts = list_parts(column)
    if parts is None:
        return None
    offsets, items = parts
    texts = _plain(_storage(items), pa.string())
    if texts is None:
        return None
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pc.fill_null(texts, ""))


def list_parts(column: pa.Array) -> tuple[np.ndarray[Any, np.dtype[np.int64]], pa.Array] | None:
    """Offsets and items of a list of any kind; a null list is an empty one."""
    kinds = pa.types
    if kinds.is_list_view(column.type) or kinds.is_large_list_view(column.type):
        column = column.cast(pa.large_list(column.type.value_type))
    if not (kinds.is_list(column.type) or kinds.is_large_list(column.type) or kinds.is_fixed_size_list(column.type)):
        return None
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    offsets = np.zeros(len(column) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets, column.flatten()


def _addresses(column: pa.Array) -> pa.Array | None:
    """Texts, dictionary-encoded if they came so."""
    if not pa.types.is_dictionary(column.type) or column.dictionary.null_count:
        return _plain(column, pa.string())
    dictionary = _plain(column.dictionary, pa.string())
    if dictionary is None:
        return None
    return pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), dictionary)


def _plain(column: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """A column as `wanted`; None if its type cannot be meant. Numbers out of range become nulls."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_null(kind):
        return pa.nulls(len(column), wanted)
    try:
        if wanted == pa.string():
            return _texts(column)
        if wanted == pa.bool_():
            return column.cast(wanted) if pa.types.is_boolean(kind) or pa.types.is_integer(kind) else None
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            return None
        if pa.types.is_floating(wanted):
            return column.cast(wanted, safe=False)
        whole = pc.round(column.cast(pa.float64(), safe=False))  # every 32-bit integer is a double
        good = pc.fill_null(pc.and_(pc.greater_equal(whole, 0), pc.less_equal(whole, LARGEST)), False)
        return pc.if_else(good, whole, pa.scalar(None, pa.float64())).cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _texts(column: pa.Array) -> pa.Array | None:
    """Strings of any kind, and dates and times in ISO 8601; bytes that are not UTF-8 are replaced."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        seconds = column.cast(pa.timestamp("s", kind.tz), safe=False).cast(pa.int64()).cast(pa.timestamp("s"))
        return pc.strftime(seconds, format="%Y-%m-%dT%H:%M:%S")
    if pa.types.is_date(kind):
        return column.cast(pa.date32()).cast(pa.string())
    if not (_is_string(kind) or _is_binary(kind)):
        return None
    try:
        if _is_binary(kind):
            return column.cast(pa.string())
        column = column.cast(pa.string())
        column.validate(full=True)  # Parquet readers do not look whether a text is UTF-8
        return column
    except pa.ArrowInvalid:
        raw = column.cast(pa.large_binary()).to_pylist()
        return pa.array([None if item is None else item.decode("utf-8", "replace") for item in raw], pa.string())


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind))


def _blank(addresses: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which addresses are missing or empty."""
    if pa.types.is_dictionary(addresses.type):
        empty = pc.equal(pc.binary_length(addresses.dictionary), 0).to_numpy(zero_copy_only=False)
        missing = pc.is_null(addresses.indices).to_numpy(zero_copy_only=False)
        if not empty.any():
            return np.asarray(missing, np.bool_)
        codes = pc.fill_null(addresses.indices, 0).to_numpy(zero_copy_only=False)
        return np.asarray(missing | empty[codes], np.bool_)
    lengths = pc.fill_null(pc.binary_length(addresses), 0).to_numpy(zero_copy_only=False)
    return np.asarray(lengths == 0, np.bool_)


def _count_lost(column: pa.Array, reason: str, report: ReadReport, name: str) -> None:
    """Count what a column of the wrong type holds: of an empty one nothing is lost, and some write them as numbers."""
    if lost := len(column) - int(column.null_count):
        report.skip(reason, f"{name}: {column.type}", lost)


def _storage(column: pa.Array) -> pa.Array:
    """The plain array under an extension type, such as Arrow's JSON texts."""
    return column.storage if isinstance(column.type, pa.BaseExtensionType) else column
