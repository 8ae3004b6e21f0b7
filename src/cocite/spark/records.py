"""Page records of a Parquet folder → names and captures by 64-bit fingerprint: the first pass of a build.

Files are read as `cocite build` reads them: at any depth, whatever columns each has, without names that begin with _ or
a dot. They come in the order of `sources.folders.walk_files`, since of captures with the same date the last one counts.
A batch goes through the `Spill` of a build, so addresses, dates and aliases are parsed as on one machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from cocite.errors import BadSource
from cocite.graph.build.scratch import BY_CANONICAL, MemoryScratch
from cocite.graph.build.spill import Spill
from cocite.pages.site import Sites
from cocite.sources.arrow_batches import have_address, to_schema
from cocite.sources.records import ReadReport
from cocite.spark.arrays import Batches, pack_lists, signed
from cocite.spark.outputs import Output, literal, rows_at
from cocite.spark.session import F

NAME, CAPTURE = 0, 1
SCHEMA = pa.schema(
    [
        ("what", pa.int32()),
        ("fingerprint", pa.int64()),  # of a name, or of a capture's page
        ("key", pa.binary()),
        ("order", pa.int32()),  # of spellings of one name: the smallest is shown
        ("shown", pa.string()),
        ("sequence", pa.int64()),  # of captures: the order in which one machine would read them
        ("kind", pa.int32()),
        ("alias", pa.int64()),
        ("captured", pa.int64()),
        ("loose", pa.bool_()),  # some address was named here that no page may have
        ("targets", pa.binary()),  # fingerprints, 64 bits each, 0 for what is no page
        ("attributes", pa.binary()),  # 32 bits each
    ]
)
COLUMNS = ("url", "links", "redirect", "canonical", "captured", "noindex", "partial")
ROWS = 1 << 32
"""More rows than any file has: files and rows make one number."""


def file_name(address: str) -> str:
    """An address of a file in one spelling: Spark has two."""
    return re.sub("^([a-z0-9]+):/+", r"\1:/", unquote(address))


def key_batches(
    batches: Batches, place_of: dict[str, int], tally: Callable[[ReadReport], None]
) -> Iterator[pa.RecordBatch]:
    """Names and captures of batches of page records that tell their `file` and their `row` in it.

    What cannot be used is told to `tally`, batch by batch.
    """
    sites = Sites()
    for batch in batches:
        if not batch.num_rows:
            continue
        report = ReadReport()
        file = batch.column("file").dictionary_encode()
        first = np.array([place_of[file_name(name)] * ROWS for name in file.dictionary.to_pylist()], np.int64)
        sequence = first[file.indices.to_numpy()] + batch.column("row").to_numpy()
        sequence = sequence[have_address(batch.column("url"))]
        records = to_schema(batch, report, "", dictionaries=False)
        yield from _keyed(records, sequence, report, sites)
        tally(report)


def _keyed(
    records: pa.RecordBatch,
    sequence: np.ndarray[Any, np.dtype[np.int64]],
    report: ReadReport,
    sites: Sites,
) -> Iterator[pa.RecordBatch]:
    scratch = MemoryScratch()
    no_pages = np.zeros(0, np.uint64)
    spill = Spill(scratch, report, sites, text=False, anchors=False, removed=no_pages, memory=1 << 22)
    spill.add(spill.reserve(0), records)
    spill.names.finish()
    for table in map(scratch.load_table, sorted(scratch.names(".names"))):
        for names in table.to_batches() if table is not None else ():
            yield _rows(
                NAME,
                fingerprint=pa.array(signed(names.column("fingerprint").to_numpy())),
                key=names.column("key"),
                order=names.column("order").cast(pa.int32()),
                shown=names.column("shown"),
            )
    found, links = spill.records_of(0), spill.links_of(0)
    made = np.flatnonzero(found.kind[: len(sequence)] & BY_CANONICAL)  # their aliases stand at the end
    starts = found.first_link
    yield _rows(
        CAPTURE,
        fingerprint=pa.array(signed(found.fingerprint)),
        sequence=pa.array(np.append(sequence, sequence[made])),
        kind=pa.array(found.kind.astype(np.int32)),
        alias=pa.array(signed(found.alias)),
        captured=pa.array(found.captured.astype(np.int64)),
        loose=pa.array(np.full(len(found.kind), spill.loose)),
        targets=pack_lists(links.target, starts),
        attributes=pack_lists(links.attribute, starts),
    )


def _rows(what: int, **columns: pa.Array) -> pa.RecordBatch:
    count = len(columns["fingerprint"])
    columns["what"] = pa.array(np.full(count, what, np.int32))
    return pa.RecordBatch.from_arrays(
        [columns[each.name] if each.name in columns else pa.nulls(count, each.type) for each in SCHEMA], schema=SCHEMA
    )


LINK_FIELDS = ("url", "block", "rel", "boilerplate")
EVERYWHERE = {"recursiveFileLookup": "true"}
"""Else names such as `group=00000` become columns, and files in other folders, or beside such, are passed over."""
ALL_COLUMNS = {**EVERYWHERE, "mergeSchema": "true"}
"""Else columns are those of any one file."""
AT_ONCE = 16
"""Files that are asked for their columns at the same time: most of that is waiting."""


def read_records(spark: Any, place: str) -> tuple[list[Any], dict[str, int]]:
    """Rows of all that shards are made of, with their `file` and their `row` in it; and the places of files.

    They are one table or, if columns have other types in other files, one for each kind of file.
    """
    at = literal(place) if Output(spark, place).exists() else place  # a pattern, perhaps
    try:
        columns = _wanted(rows_at(spark, at, "page records", **ALL_COLUMNS).schema)
    except BadSource as error:
        if "CANNOT_MERGE_SCHEMAS" not in str(error.__cause__):
            raise
        tables = _by_kind(spark, rows_at(spark, at, "page records", **EVERYWHERE).inputFiles())
    else:
        tables = [(columns, [at])]
    if not any("url" in columns.names for columns, _ in tables):
        raise BadSource(f"{place} has no column url: see docs/page-records.md for the fields")
    found = [_rows_of(spark, columns, files) for columns, files in tables]
    return found, places_of(name for rows in found for name in rows.inputFiles())


def places_of(files: Iterable[str]) -> dict[str, int]:
    """Files, by their one name, in the order in which a folder is read."""

    def order(name: str) -> tuple[list[tuple[bool, str]], str]:
        *folders, file = name.split("/")
        return [*((True, folder) for folder in folders), (False, file)], name

    return {name: place for place, name in enumerate(sorted(map(file_name, files), key=order))}


def _wanted(found: Any) -> Any:
    """Of all columns those that shards are made of: texts of links are not read from disk."""
    from pyspark.sql.types import ArrayType, StructField, StructType

    fields = []
    for each in found:
        if each.name not in COLUMNS:
            continue
        inner = each.dataType.elementType if isinstance(each.dataType, ArrayType) else None
        if each.name == "links" and isinstance(inner, StructType) and "url" in inner.names:
            inner = StructType([part for part in inner if part.name in LINK_FIELDS])
            each = StructField("links", ArrayType(inner))
        fields.append(each)
    return StructType(fields)


def _by_kind(spark: Any, files: Iterable[str]) -> list[tuple[Any, list[str]]]:
    """Files with the same columns of the same types together. Spark does not say which they are: each is asked."""
    names = [literal(file_name(file)) for file in files]
    kinds: dict[str, tuple[Any, list[str]]] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for name, found in zip(names, pool.map(lambda name: spark.read.parquet(name).schema, names), strict=True):
            columns = _wanted(found)
            kinds.setdefault(columns.json(), (columns, []))[1].append(name)
    return list(kinds.values())


def _rows_of(spark: Any, columns: Any, files: list[str]) -> Any:
    """The rows of files, or of folders, that have these columns or none of their names."""
    from pyspark.sql.types import StringType, StructType

    if "url" not in columns.names:  # records without an address are counted
        columns = StructType([*columns]).add("url", StringType())
    rows = spark.read.options(**EVERYWHERE).schema(columns).parquet(*files)
    return rows.select(
        *columns.names, F.col("_metadata.file_path").alias("file"), F.col("_metadata.row_index").alias("row")
    )
