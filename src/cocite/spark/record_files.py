"""The page records of a Parquet folder, as `cocite build` reads them: files at any depth, whatever columns each has.

Names that begin with _ or a dot are not data, and names of folders (`group=00000`) say nothing of the records. Files
come in the order of `sources.folders.walk_files`, those of a folder before those of its folders: of captures of the
same date the last counts, which is to be the same one.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cocite.errors import BadSource
from cocite.spark.keyed import COLUMNS, file_name
from cocite.spark.outputs import Output, literal, rows_at

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
    found = [_rows(spark, columns, files) for columns, files in tables]
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


def _rows(spark: Any, columns: Any, files: list[str]) -> Any:
    """The rows of files, or of folders, that have these columns or none of their names."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructType

    if "url" not in columns.names:  # records without an address are counted
        columns = StructType([*columns]).add("url", StringType())
    rows = spark.read.options(**EVERYWHERE).schema(columns).parquet(*files)
    return rows.select(
        *columns.names, F.col("_metadata.file_path").alias("file"), F.col("_metadata.row_index").alias("row")
    )
