"""Page records of a Parquet folder → names and captures by 64-bit tag: the first pass of a build.

Files are read as `cocite build` reads them: at any depth, whatever columns each has, without names that begin with _ or
a dot. They are in the order of `sources.folders.walk_files`, since of captures with the same date the last one counts.
A batch goes through the `Spill` of a build, so addresses, dates and aliases are parsed as on one machine. Tasks
of a job hash with the same secret key, so an address has one tag.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cocite.errors import BadSource
from cocite.graph.build.names import NameFiles, table_of_names
from cocite.graph.build.scratch import BY_CANONICAL, ScratchSpace
from cocite.graph.build.spill import Spill
from cocite.pages.site import Sites
from cocite.sources.arrow_batches import have_address, to_schema
from cocite.sources.records import ReadReport
from cocite.spark import functions as F
from cocite.spark.arrays import Integers, numbers, pack_lists, unpack_lists
from cocite.spark.batches import Batches, on_batches
from cocite.spark.outputs import JobFolder, literal, rows_at

NAME_ROWS, CAPTURE_ROWS = 0, 1
KEYED_SCHEMA = pa.schema(
    [
        ("what", pa.int32()),  # NAME_ROWS or CAPTURE_ROWS
        ("tag", pa.int64()),  # of a name, or of a capture's page
        ("key", pa.binary()),
        ("order", pa.int32()),  # of the spellings of a name: the smallest is shown
        ("shown", pa.string()),
        ("sequence", pa.int64()),  # of captures: the order in which one machine would read them
        ("kind", pa.int32()),
        ("alias", pa.int64()),
        ("captured", pa.int64()),
        ("loose", pa.bool_()),  # the batch names an address that may not be the address of any page
        ("targets", pa.binary()),  # tags, 64 bits each, 0 for other things than pages
        ("attributes", pa.binary()),  # 32 bits each
    ]
)
RECORD_COLUMNS = ("url", "links", "redirect", "canonical", "captured", "noindex", "partial")
LINK_COLUMNS = ("url", "block", "rel", "boilerplate")
NAME_TABLE_BYTES = 1 << 25  # of the names that a task has read
MAX_FILE_ROWS = 1 << 32
"""Files and rows make one number."""
SCHEMA_THREADS = 16
"""Files whose schemas are read at the same time, which is mostly waiting."""
ALL_FOLDERS = {"recursiveFileLookup": "true"}
"""Without it, Spark makes columns of names such as `group=00000`, and ignores files beside such folders."""
ALL_COLUMNS = {**ALL_FOLDERS, "mergeSchema": "true"}
"""Without it, the columns are those of any one file."""


def key_batches(
    batches: Batches, place_of: dict[str, int], secret: str, on_report: Callable[[ReadReport], None]
) -> Iterator[pa.RecordBatch]:
    """Names and captures of batches of page records, which have a `file` and a `row` in it.

    `secret` is the key of the job's hash, in hex.
    """
    sites, hash_key = Sites(), np.array([int(secret[:16], 16), int(secret[16:], 16)], np.uint64)
    seen = table_of_names(NAME_TABLE_BYTES)
    for batch in batches:
        if not batch.num_rows:
            continue
        report = ReadReport()
        file = batch.column("file").dictionary_encode()
        first = np.array([place_of[file_name(name)] * MAX_FILE_ROWS for name in file.dictionary.to_pylist()], np.int64)
        sequence = first[file.indices.to_numpy()] + batch.column("row").to_numpy()
        sequence = sequence[have_address(batch.column("url"))]
        files = NameFiles(ScratchSpace(), report, NAME_TABLE_BYTES, hash_key=hash_key, seen=seen)
        yield from _key_records(to_schema(batch, report, "", dictionaries=False), sequence, files, sites)
        on_report(report)


def _key_records(
    records: pa.RecordBatch, sequence: Integers, files: NameFiles, sites: Sites
) -> Iterator[pa.RecordBatch]:
    spill, scratch = Spill(files.scratch, files, sites, ()), files.scratch
    spill.add(spill.reserve(0), records)
    files.finish()
    for table in map(scratch.load_table, sorted(scratch.names(".names"))):
        for names in table.to_batches() if table is not None else ():
            columns = {name: names.column(name) for name in ("key", "order", "shown")}
            yield _rows(NAME_ROWS, tag=names.column("tag").to_numpy().view(np.int64), **columns)
    found, links = spill.records_of(0), spill.links_of(0)
    made = np.flatnonzero(found.kind[: len(sequence)] & BY_CANONICAL)  # their aliases are at the end
    yield _rows(
        CAPTURE_ROWS,
        tag=found.tag.view(np.int64),
        sequence=np.append(sequence, sequence[made]),
        kind=found.kind,
        alias=found.alias.view(np.int64),
        captured=found.captured,
        loose=np.full(len(found.kind), spill.loose),
        targets=pack_lists(links.target, found.first_link),
        attributes=pack_lists(links.attribute, found.first_link),
    )


def _rows(what: int, **columns: Any) -> pa.RecordBatch:
    """A batch of KEYED_SCHEMA; missing columns are null."""
    count = len(columns["tag"])
    columns["what"] = np.full(count, what)
    made = [
        pa.array(columns[each.name]).cast(each.type) if each.name in columns else pa.nulls(count, each.type)
        for each in KEYED_SCHEMA
    ]
    return pa.RecordBatch.from_arrays(made, schema=KEYED_SCHEMA)


def find_twins(keyed: Any) -> list[int]:
    """Tags that several names have by chance: about one in a web of 6 billion names."""
    names = keyed.where(F.col("what") == NAME_ROWS).select("tag", F.xxhash64("key").alias("hash"))
    found = names.groupBy("tag").agg((F.min("hash") != F.max("hash")).alias("differ")).where("differ")
    return [row[0] for row in found.select("tag").collect()]


def drop_twins(keyed: Any, twins: list[int]) -> Any:
    """Rows without names, captures and links of some tags, as a build on one machine leaves them out."""

    def work(batch: pa.RecordBatch) -> pa.RecordBatch:
        batch = batch.filter(pa.array(~np.isin(numbers(batch.column("tag")), twins)))
        columns = {name: batch.column(name) for name in batch.schema.names}
        targets, starts = unpack_lists(columns["targets"], np.int64)
        columns["targets"] = pack_lists(np.where(np.isin(targets, twins), 0, targets), starts)
        columns["alias"] = pc.if_else(pc.is_in(columns["alias"], pa.array(twins, pa.int64())), 0, columns["alias"])
        columns["loose"] = pa.array(np.ones(len(batch), np.bool_))  # what only dropped captures name isn't a page
        return pa.record_batch(columns)

    return keyed.mapInArrow(on_batches(work), keyed.schema)


def read_records(spark: Any, place: str) -> tuple[list[Any], dict[str, int]]:
    """The columns that shards are made of, with the `file` of each row and its `row` there; and the order of files.

    They are one table or, if columns have different types in different files, one for each schema.
    """
    at = literal(place) if JobFolder(spark, place).exists() else place  # perhaps a pattern
    try:
        tables = [(_wanted(rows_at(spark, at, "page records", **ALL_COLUMNS).schema), [at])]
    except BadSource as error:
        if "CANNOT_MERGE_SCHEMAS" not in str(error.__cause__):
            raise
        tables = _by_schema(spark, rows_at(spark, at, "page records", **ALL_FOLDERS).inputFiles())
    if not any("url" in columns.names for columns, _ in tables):
        raise BadSource(f"{place} has no column url: see docs/page-records.md for the fields")
    found = [_rows_of(spark, columns, files) for columns, files in tables]
    return found, places_of(name for rows in found for name in rows.inputFiles())


def file_name(address: str) -> str:
    """The address of a file in one spelling: Spark has two."""
    return re.sub("^([a-z0-9]+):/+", r"\1:/", unquote(address))


def places_of(files: Iterable[str]) -> dict[str, int]:
    """The place of each file in the reading order of a folder."""

    def order(name: str) -> tuple[list[tuple[bool, str]], str]:
        *folders, file = name.split("/")
        return [*((True, folder) for folder in folders), (False, file)], name

    return {name: place for place, name in enumerate(sorted(map(file_name, files), key=order))}


def _wanted(schema: Any) -> Any:
    """The columns that shards are made of; the texts of links are not read from disk."""
    from pyspark.sql.types import ArrayType, StructField, StructType

    fields = []
    for field in schema:
        inner = field.dataType.elementType if isinstance(field.dataType, ArrayType) else None
        if field.name == "links" and isinstance(inner, StructType) and "url" in inner.names:
            field = StructField("links", ArrayType(StructType([each for each in inner if each.name in LINK_COLUMNS])))
        if field.name in RECORD_COLUMNS:
            fields.append(field)
    return StructType(fields)


def _by_schema(spark: Any, files: Iterable[str]) -> list[tuple[Any, list[str]]]:
    """Files with the same columns of the same types together. Spark doesn't list them, so each file is opened."""
    names = [literal(file_name(file)) for file in files]
    groups: dict[str, tuple[Any, list[str]]] = {}
    with ThreadPoolExecutor(SCHEMA_THREADS) as pool:
        for name, schema in zip(names, pool.map(lambda name: spark.read.parquet(name).schema, names), strict=True):
            columns = _wanted(schema)
            groups.setdefault(columns.json(), (columns, []))[1].append(name)
    return list(groups.values())


def _rows_of(spark: Any, columns: Any, files: list[str]) -> Any:
    """The rows of files, or of folders, with these columns and an address, which may be missing."""
    if "url" not in columns.names:
        columns = type(columns)([*columns]).add("url", "string")
    rows = spark.read.options(**ALL_FOLDERS).schema(columns).parquet(*files)
    file, row = F.col("_metadata.file_path").alias("file"), F.col("_metadata.row_index").alias("row")
    return rows.select(*columns.names, file, row)
