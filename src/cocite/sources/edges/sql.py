"""Read the result of a question in SQL: `duckdb:SELECT …` over files, or `sqlite:FILE:SELECT …` over a SQLite file.

DuckDB reads Parquet, CSV and JSON by name (`FROM 'links/*.parquet'`). A column `url` makes the rows page records, with
the other fields of records where there are columns of their names. Else the rows are links: from the first column to
the second, or the columns that are named as such, with a `weight` if there is one. Rows with nulls in them are counted.

Nothing is downloaded: an extension of DuckDB that isn't installed is an error. That is why SQLite files have a way of
their own, with Python's sqlite3.
"""

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from cocite.errors import BadSource
from cocite.sources.arrow_batches import to_schema
from cocite.sources.edges.edge_list import as_text, both_ways, edge_records
from cocite.sources.edges.layout import are_named, pick_columns
from cocite.sources.kinds import Items, ReadOptions, SourceKind
from cocite.sources.records import ReadReport, expect_some, shorten

BATCH_ROWS = 50_000
_SPEC = re.compile(r"(duckdb|sqlite):(.*)", re.IGNORECASE | re.DOTALL)
_SQLITE = re.compile(r"(.+?):\s*((?:select|with|values)\b.*)", re.IGNORECASE | re.DOTALL)
_SELECTS = re.compile(r"\s*(?:select|with|from|values|pivot|summarize|table|\()", re.IGNORECASE)


class Query(NamedTuple):
    """A question, and the SQLite file that it is asked, if any."""

    sql: str
    file: Path | None = None


def is_sql(spec: str) -> bool:
    """Return whether the name of a source is SQL."""
    return _SPEC.match(spec) is not None


def parse_sql(spec: str) -> Query:
    """Return the question in the name of a source. It is checked, so that a mistake shows before any work is done."""
    found = _SPEC.match(spec)
    if not found:
        raise BadSource(f"{shorten(spec)} is not SQL: write duckdb:SELECT … or sqlite:FILE:SELECT …")
    query = Query(found[2].strip().rstrip(";").strip())
    if found[1].lower() == "sqlite":
        parts = _SQLITE.match(found[2])
        if not parts:
            raise BadSource(f"{shorten(spec)} has no question: write sqlite:FILE:SELECT source, target FROM …")
        query = Query(parts[2].strip().rstrip(";"), Path(parts[1].strip()))
        if not query.file or not query.file.is_file():
            raise BadSource(f"{shorten(str(query.file))} is not a file: check the path")
    if not _SELECTS.match(query.sql):
        raise BadSource(f"{shorten(spec)} is not a question: write duckdb:SELECT source, target FROM …")
    with closing(_connect(query)) as connection:
        try:
            if query.file is None:
                statements = connection.extract_statements(query.sql)
                if [each.type.name for each in statements] != ["SELECT"]:  # others could write files
                    raise BadSource(f"{shorten(spec)} is not one question: write one SELECT")
            connection.execute(f"EXPLAIN {query.sql}")
        except BadSource:
            raise
        except Exception as error:
            raise _failure(error) from error
    return query


def _connect(query: Query) -> Any:
    if query.file is not None:
        connection = sqlite3.connect(f"{query.file.absolute().as_uri()}?mode=ro", uri=True)
        connection.execute("PRAGMA trusted_schema=OFF")
        return connection
    import duckdb

    place = {"temp_directory": tempfile.gettempdir()}  # default: the current folder
    return duckdb.connect(config={"autoinstall_known_extensions": "false", **place})


def _failure(error: Exception) -> BadSource:
    """What to say about a question that failed, with the place that DuckDB marks."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    if "Extension" in str(error) and "INSTALL" in str(error):
        hint = "install it in DuckDB yourself (INSTALL …), or for SQLite files write sqlite:FILE:SELECT …"
        return BadSource(f"SQL needs an extension of DuckDB that is not installed: {hint}")
    near = next((line.strip().replace(": EXPLAIN ", ": ") for line in lines if line.startswith("LINE ")), "")
    why = " ".join(lines[0].split()) if lines else type(error).__name__
    return BadSource(f"SQL failed: {shorten(why, 300)}{f' ({shorten(near)})' if near else ''}; correct the question")


def read_sql(query: Query, report: ReadReport, options: ReadOptions) -> Items:
    """Yield the result as records. A question that fails ends the work with an error."""
    return expect_some(_records(query, report, options), report, shorten(query.sql))


def _records(query: Query, report: ReadReport, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    name = shorten(query.sql)
    for batch in _batches(query):
        names = [field.lower() for field in batch.schema.names]
        if len(set(names)) < len(names):
            raise BadSource("SQL gives two columns of one name: name them apart with AS")
        batch = batch.rename_columns(names)
        report.read["rows"] += batch.num_rows
        if "url" in names:
            yield to_schema(batch, report, name)
            continue
        if len(names) < 2:
            raise BadSource("SQL gives one column: links need two (source and target), pages need a column url")
        chosen: tuple[int | None, ...] = (0, 1, names.index("weight") if "weight" in names else None)
        if are_named(names):
            chosen = pick_columns(names)
        columns = [_texts(batch.column(each), names[each]) for each in chosen if each is not None]
        columns = both_ways(columns) if options.undirected else columns
        if (made := edge_records(columns, report, name)) is not None:
            yield made


def _texts(column: pa.Array, name: str) -> pa.Array:
    try:
        return as_text(column)
    except (pa.ArrowException, ValueError) as error:
        raise BadSource(f"SQL gives {name} as {column.type}: cast it to VARCHAR") from error


def _batches(query: Query) -> Iterator[pa.RecordBatch]:
    with closing(_connect(query)) as connection:
        try:
            if query.file is None:
                found = connection.sql(query.sql)
                is_new = hasattr(found, "to_arrow_reader")  # since version 1.4 of DuckDB
                yield from (found.to_arrow_reader if is_new else found.fetch_arrow_reader)(BATCH_ROWS)
                return
            cursor = connection.execute(query.sql)
            names = [column[0] for column in cursor.description]
            while rows := cursor.fetchmany(BATCH_ROWS):
                columns = zip(*rows, strict=True)
                yield pa.RecordBatch.from_arrays([_column(values) for values in columns], names)
        except BadSource:
            raise
        except Exception as error:  # DuckDB and sqlite3 have errors of many types
            raise _failure(error) from error


def _column(values: tuple[Any, ...]) -> pa.Array:
    """A column of SQLite, whose rows may have values of different types."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        texts = (value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values)
        return pa.array([None if value is None else str(value) for value in texts], pa.string())


SOURCE = SourceKind(
    "sql",
    "SQL (duckdb:SELECT …)",
    recognises=lambda path, head: False,  # `open_source` recognises it by its name
    read=read_sql,
    order=101,
)
