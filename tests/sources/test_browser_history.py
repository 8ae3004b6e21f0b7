"""Histories of browsers, in databases with the published schemas; locked, damaged and of other versions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cocite.errors import BadSource
from cocite.sources.kinds import detect_kind
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from tests.sources.timing import without_collection

FIREFOX = """
PRAGMA user_version = 77;
CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR, rev_host LONGVARCHAR,
 visit_count INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0 NOT NULL, typed INTEGER DEFAULT 0 NOT NULL,
 frecency INTEGER DEFAULT -1 NOT NULL, last_visit_date INTEGER, guid TEXT, foreign_count INTEGER DEFAULT 0 NOT NULL,
 url_hash INTEGER DEFAULT 0 NOT NULL, description TEXT, preview_image_url TEXT, site_name TEXT, origin_id INTEGER);
CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY, from_visit INTEGER, place_id INTEGER, visit_date INTEGER,
 visit_type INTEGER, session INTEGER, source INTEGER DEFAULT 0 NOT NULL, triggeringPlaceId INTEGER);
"""
CHROMIUM = """
CREATE TABLE meta(key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR);
INSERT INTO meta VALUES ('version', '66');
CREATE TABLE urls(id INTEGER PRIMARY KEY AUTOINCREMENT, url LONGVARCHAR, title LONGVARCHAR,
 visit_count INTEGER DEFAULT 0 NOT NULL, typed_count INTEGER DEFAULT 0 NOT NULL, last_visit_time INTEGER NOT NULL,
 hidden INTEGER DEFAULT 0 NOT NULL);
CREATE TABLE visits(id INTEGER PRIMARY KEY AUTOINCREMENT, url INTEGER NOT NULL, visit_time INTEGER NOT NULL,
 from_visit INTEGER, transition INTEGER DEFAULT 0 NOT NULL, segment_id INTEGER,
 visit_duration INTEGER DEFAULT 0 NOT NULL);
"""
PAGES = ("https://a.example/", "https://b.example/x", "http://old.example/", "https://new.example/", "about:config")
LINK, TYPED, MOVED = 0, 1, 2
VISITS = (
    (1, 0, TYPED),
    (2, 1, LINK),
    (1, 0, TYPED),
    (2, 3, LINK),
    (3, 4, LINK),
    (4, 5, MOVED),
    (1, 6, TYPED),
    (5, 6, LINK),
)
WHEN = 1_700_000_000


def database(path: Path, browser: str, pages: Iterable[str] = PAGES, visits: Any = VISITS) -> Path:
    """A history as a browser has it. A visit is its page, the visit that it came from, and how."""
    with closing(sqlite3.connect(path)) as made:
        made.executescript(FIREFOX if browser == "firefox" else CHROMIUM)
        for number, url in enumerate(pages, 1):
            if browser == "firefox":
                row: tuple[Any, ...] = (number, url, f"Page {number}", WHEN * 1_000_000)
                made.execute(
                    "INSERT INTO moz_places (id, url, title, visit_count, last_visit_date) VALUES (?, ?, ?, 1, ?)", row
                )
            else:
                row = (number, url, f"Page {number}", (WHEN + 11_644_473_600) * 1_000_000)
                made.execute(
                    "INSERT INTO urls (id, url, title, visit_count, last_visit_time) VALUES (?, ?, ?, 1, ?)", row
                )
        for page, before, how in visits:
            if browser == "firefox":
                made.execute(
                    "INSERT INTO moz_historyvisits (from_visit, place_id, visit_date, visit_type) VALUES (?, ?, 1, ?)",
                    (before, page, {LINK: 1, TYPED: 2, MOVED: 5}[how]),
                )
            else:
                kind = {LINK: 0x30000000, TYPED: 0x30000001, MOVED: 0xA0000000 - (1 << 32)}[how]
                made.execute(
                    "INSERT INTO visits (url, visit_time, from_visit, transition) VALUES (?, 1, ?, ?)",
                    (page, before, kind),
                )
        made.commit()
    return path


def read(path: Path, report: ReadReport | None = None) -> list[dict[str, Any]]:
    batches = open_source(str(path), report or ReadReport(strict=True)).records()
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_pages_and_clicks(tmp_path: Path, browser: str) -> None:
    path = database(tmp_path / ("places.sqlite" if browser == "firefox" else "History"), browser)
    assert detect_kind(path) == "history"
    a, b, old, new = read(path)
    assert (a["url"], a["title"], a["captured"]) == (PAGES[0], "Page 1", "2023-11-14T22:13:20Z")
    assert [link["url"] for link in a["links"]] == [PAGES[1]]
    assert [link["url"] for link in b["links"]] == [PAGES[2]]
    assert (old["redirect"], new["links"]) == (PAGES[3], [])


def test_a_browser_that_runs_is_not_disturbed(tmp_path: Path) -> None:
    """The database is locked, and its last changes are in the write-ahead log."""
    path = database(tmp_path / "places.sqlite", "firefox")
    with closing(sqlite3.connect(path, isolation_level=None)) as browser:
        browser.execute("PRAGMA journal_mode=WAL")
        browser.execute("PRAGMA locking_mode=EXCLUSIVE")
        browser.execute("INSERT INTO moz_places (url, title, visit_count) VALUES ('https://latest.example/', 'L', 1)")
        browser.execute("BEGIN EXCLUSIVE")
        assert [page["url"] for page in read(path)][-1] == "https://latest.example/"
        browser.execute("UPDATE moz_places SET title = 'written'")
        browser.execute("COMMIT")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["places.sqlite"]


def test_a_browser_that_merges_its_changes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes move from the log to the database after that was copied, and before the log is."""
    path = database(tmp_path / "places.sqlite", "firefox")
    add = "INSERT INTO moz_places (url, title, visit_count) VALUES (?, ?, 1)"
    with closing(sqlite3.connect(path, isolation_level=None)) as browser:
        browser.executescript("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0")
        browser.executemany(add, [(f"https://merged.example/{number}", "M") for number in range(2000)])
        looked, is_file = list[Path](), Path.is_file

        def look_late(file: Path) -> bool:
            if file.name.endswith("-wal") and not looked:
                looked.append(file)
                browser.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                browser.execute(add, ("https://later.example/", "L"))
            return is_file(file)

        monkeypatch.setattr(Path, "is_file", look_late)
        found = [page["url"] for page in read(path)]
    assert found[-2:] == ["https://merged.example/1999", "https://later.example/"]
    assert looked


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("ALTER TABLE moz_historyvisits DROP COLUMN from_visit",
         r"unknown version \(77\): moz_historyvisits has no column from_visit"),
        ("DROP TABLE moz_historyvisits", "has no column id"),
        ("DROP TABLE moz_places", "not the history of a browser: name its links by SQL"),
        ("ALTER TABLE moz_places RENAME TO p; CREATE VIEW moz_places AS SELECT * FROM p",
         "not the history of a browser"),
    ],
)  # fmt: skip
def test_other_databases(tmp_path: Path, change: str, message: str) -> None:
    path = database(tmp_path / "places.sqlite", "firefox")
    with closing(sqlite3.connect(path)) as made:
        made.executescript(change)
    with pytest.raises(BadSource, match=message):
        read(path)


def test_damaged_databases(tmp_path: Path) -> None:
    path = database(tmp_path / "History", "chromium", [f"https://a.example/{n}" for n in range(500)])
    data = bytearray(path.read_bytes())
    for damaged in (data[:5000], data[:100] + bytes(4000) + data[4100:], data[:100]):
        path.write_bytes(damaged)
        with pytest.raises(BadSource):
            read(path)


def test_work_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database can be made so that a question takes quadratic time."""
    visits = [(n % 500 + 1, n, LINK) for n in range(20_000)]
    path = database(tmp_path / "places.sqlite", "firefox", (f"https://a.example/{n}" for n in range(500)), visits)
    assert len(read(path)) == 500
    monkeypatch.setattr("cocite.sources.collections.browser_history.STEPS", 100_000)
    monkeypatch.setattr("cocite.sources.collections.browser_history.STEPS_PER_BYTE", 0)
    with pytest.raises(BadSource, match="takes too long to read"):
        read(path)


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_time_is_linear(tmp_path: Path, browser: str) -> None:
    @without_collection
    def cost(count: int) -> float:
        visits = [(n % count + 1, n, LINK) for n in range(2 * count)]
        path = database(tmp_path / f"{count}", browser, (f"https://a.example/{n}" for n in range(count)), visits)
        began = time.process_time()
        assert len(read(path)) == count
        return time.process_time() - began

    cost(100)
    assert cost(12_000) < 9 * cost(3_000) + 0.2
