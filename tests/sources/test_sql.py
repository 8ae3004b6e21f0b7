"""SQL as a source: links and pages from Parquet, CSV and SQLite; what fails, and nulls."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cocite.errors import BadSource
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport


def read(spec: str, report: ReadReport | None = None, **options: Any) -> list[dict[str, Any]]:
    source = open_source(spec, report or ReadReport(strict=True), **options)
    assert source.kind == "sql"
    return [row for batch in source.records() for row in batch.to_pylist()]


def links(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["url"], link["url"]) for row in rows for link in row["links"]]


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    table = pa.table(
        {"src": ["https://a.example/", "https://b.example/"], "dst": ["https://b.example/", None], "n": [1, 2]}
    )
    pq.write_table(table, tmp_path / "links.parquet")
    (tmp_path / "links.csv").write_text("page,next\n1,2\n2,3\n")
    with closing(sqlite3.connect(tmp_path / "links.db")) as made:
        made.execute("CREATE TABLE links (a, b)")
        made.executemany(
            "INSERT INTO links VALUES (?, ?)", [("x.example", "y.example"), (1, "z"), (None, "z"), (b"q", 2.5)]
        )
        made.commit()
    return tmp_path


def test_links_of_parquet_and_csv(tables: Path) -> None:
    report = ReadReport()
    found = read(f"duckdb:SELECT src, dst FROM '{tables}/links.parquet'", report)
    assert links(found) == [("https://a.example/", "https://b.example/")]
    assert report.skipped == {"row with an empty source or target": 1}
    assert links(read(f"DuckDB: select * from '{tables}/links.csv';")) == [("name:1", "name:2"), ("name:2", "name:3")]
    both = read(f"duckdb:FROM '{tables}/links.csv' LIMIT 1", undirected=True)
    assert links(both) == [("name:1", "name:2"), ("name:2", "name:1")]


def test_links_of_sqlite(tables: Path) -> None:
    report = ReadReport()
    found = read(f"sqlite:{tables}/links.db: SELECT a, b FROM links", report)
    assert links(found) == [("name:x.example", "name:y.example"), ("name:1", "name:z"), ("name:q", "name:2.5")]
    assert report.skipped == {"row with an empty source or target": 1}


def test_pages_and_weights() -> None:
    sql = "SELECT 'https://a.example/' AS url, 'A' AS title, ['https://b.example/', NULL] AS links"
    report = ReadReport()
    (page,) = read(f"duckdb:{sql}", report)
    assert (page["title"], [link["url"] for link in page["links"]]) == ("A", ["https://b.example/"])
    assert report.skipped["link without url"] == 1
    (row,) = read("duckdb:SELECT 'https://a.example/' AS source, 0.5 AS weight, 'https://b.example/' AS target")
    assert row["links"][0]["weight"] == 0.5


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("duckdb:SELECT nope", r'SQL failed: Binder Error: .*"nope".*\(LINE 1: SELECT nope\); correct'),
        ("duckdb:SELEC 1", "not a question"),
        ("duckdb:", "not a question"),
        ("duckdb:DROP TABLE x", "not a question"),
        ("duckdb:SELECT 1 AS a", "gives one column"),
        ("duckdb:SELECT 1 AS a, 2 AS A", "two columns of one name"),
        ("duckdb:SELECT a, b FROM 'none.parquet'", "No files found"),
        ("duckdb:SELECT a, error('stopped here') FROM range(9) t(a)", "stopped here"),
        ("duckdb:SELECT {'x': 1} AS a, [1] AS b", "cast it to VARCHAR"),
        ("duckdb:FROM sqlite_scan('x.db', 'y')", "extension of DuckDB that is not installed"),
        ("sqlite:none.db:SELECT 1, 2", "none.db is not a file"),
        ("sqlite:SELECT 1", "no question"),
    ],
)  # fmt: skip
def test_what_fails_is_explained(spec: str, message: str) -> None:
    with pytest.raises(BadSource, match=message) as caught:
        read(spec)
    assert "\n" not in str(caught.value)


def test_sqlite_that_fails(tables: Path) -> None:
    with pytest.raises(BadSource, match="no such column: c"):
        read(f"sqlite:{tables}/links.db:SELECT a, c FROM links")
    with pytest.raises(BadSource, match="SQL failed"):
        read(f"sqlite:{tables}/links.csv:SELECT a, c FROM links")


def test_nothing_found() -> None:
    report = ReadReport()
    assert read("duckdb:SELECT a, a FROM range(0) t(a)", report) == []
    assert report.skipped == {"source without records": 1}


def test_only_one_question_is_asked(tmp_path: Path) -> None:
    """A second statement could write files."""
    written = tmp_path / "written.csv"
    with pytest.raises(BadSource, match="write one SELECT"):
        open_source(f"duckdb:SELECT 'a' AS source, 'b' AS target; COPY (SELECT 42) TO '{written}'", ReadReport())
    assert not written.exists()
