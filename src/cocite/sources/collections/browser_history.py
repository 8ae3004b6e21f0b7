"""Read the history of a browser: Firefox's `places.sqlite`, and `History` of Chromium, Chrome, Edge, Brave and others.

A page is a page that was visited, with its title and the date of the last visit. A link is a click from one page to
another; addresses that were typed, bookmarks and reloads are no links. A page that only ever redirected is an alias.

A copy is read, with the changes that the browser has not yet merged (`-wal`): the browser's own file is never locked.
Databases come from strangers, too: only plain tables are read, and the work is bounded by the size of the file.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from cocite.errors import BadSource
from cocite.sources.json_items import as_text
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import Link, Page, ReadReport, expect_some

SQLITE = b"SQLite format 3\0"
STEPS, STEPS_PER_BYTE = 50_000_000, 100  # of SQLite's machine, for one question
MAX_TITLE = 1000
_STEPS_PER_LOOK = 100_000
_COPIES = 3


class _Schema(NamedTuple):
    """The tables of a browser: their columns that are needed, and the questions."""

    browser: str
    tables: dict[str, tuple[str, ...]]
    version: str
    pages: str  # id, address, title, seconds of the last visit; sorted by id
    clicks: str  # id of the page, id of the next, whether it is a redirect; sorted by the first
    urls: str  # the address of an id


_FIREFOX = _Schema(
    "Firefox",
    {
        "moz_places": ("id", "url", "title", "last_visit_date", "visit_count"),
        "moz_historyvisits": ("id", "from_visit", "place_id", "visit_type"),
    },
    "PRAGMA user_version",
    "SELECT CAST(id AS INTEGER), url, title, last_visit_date / 1000000 FROM moz_places"
    " WHERE visit_count > 0 ORDER BY 1",
    "SELECT CAST(a.place_id AS INTEGER), b.place_id, min(b.visit_type IN (5, 6)) FROM moz_historyvisits b"
    " JOIN moz_historyvisits a ON a.id = b.from_visit WHERE b.visit_type IN (1, 5, 6) AND a.place_id <> b.place_id"
    " GROUP BY 1, 2 ORDER BY 1, min(b.id)",
    "SELECT url FROM moz_places WHERE id = ?",
)
_CHROMIUM = _Schema(
    "Chromium",
    {
        "urls": ("id", "url", "title", "last_visit_time", "visit_count"),
        "visits": ("id", "url", "from_visit", "transition"),
    },
    "SELECT value FROM meta WHERE key = 'version'",
    "SELECT CAST(id AS INTEGER), url, title, last_visit_time / 1000000 - 11644473600 FROM urls"
    " WHERE visit_count > 0 ORDER BY 1",
    # The lowest byte is the kind of transition: 0 is a link, 7 a form. The two highest bits mark redirects.
    "SELECT CAST(a.url AS INTEGER), b.url, min(b.transition & 0xC0000000 <> 0 AND b.transition & 0x10000000 = 0)"
    " FROM visits b JOIN visits a ON a.id = b.from_visit WHERE b.transition & 255 IN (0, 7) AND a.url <> b.url"
    " GROUP BY 1, 2 ORDER BY 1, min(b.id)",
    "SELECT url FROM urls WHERE id = ?",
)


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is the history of a browser. Raise BadSource, with what to do, for other databases."""
    if not head.startswith(SQLITE):
        return False
    with _opened(path.absolute().as_uri() + "?mode=ro&immutable=1", path) as database:  # reads without a lock
        return _schema(database, path) is not None


def read_history(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the pages that were visited, with the clicks from each."""
    return expect_some(_pages(path, report), report, path.name)


def _pages(path: Path, report: ReadReport) -> Iterator[Page]:
    with _copied(path) as copy, _opened(copy.as_uri() + "?mode=ro", path) as database:
        schema = _schema(database, path)
        steps = database.execute(schema.clicks)
        groups = groupby(steps, key=lambda step: step[0])
        source, clicks = next(groups, (None, iter(())))
        for number, url, title, seconds in database.execute(schema.pages):
            if number is None:
                continue
            while source is not None and source < number:
                source, clicks = next(groups, (None, iter(())))
            found = list(clicks) if source == number else []
            if not _is_web(url):
                report.read["page of the browser itself, or a file"] += 1
                continue
            targets = [(_address(database, schema.urls, there), is_redirect) for _, there, is_redirect in found]
            if targets and targets[-1][0] and all(is_redirect for _, is_redirect in targets):
                yield Page(url, redirect=targets[-1][0])
                continue
            page = Page(url, title=" ".join(as_text(title).split())[:MAX_TITLE], captured=_date(seconds))
            page.links = [Link(there) for there, is_redirect in targets if there and not is_redirect]
            report.read["clicks"] += len(page.links)
            yield page


def _address(database: sqlite3.Connection, question: str, number: object) -> str:
    row = database.execute(question, (number,)).fetchone()
    return row[0] if row and _is_web(row[0]) else ""


def _is_web(url: object) -> bool:
    return isinstance(url, str) and url[:8].lower().startswith(("http://", "https://"))


def _date(seconds: object) -> str:
    if not isinstance(seconds, int) or not 0 < seconds < 1 << 33:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def _copied(path: Path) -> Iterator[Path]:
    """A copy of a database with its unmerged changes, made again if the browser writes meanwhile."""
    files = [path, path.with_name(path.name + "-wal")]
    with tempfile.TemporaryDirectory(prefix="cocite-history-") as folder:
        copy = Path(folder) / "history.sqlite"
        for _ in range(_COPIES):
            before = [_state(file) for file in files]
            for file, name in zip(files, (copy.name, copy.name + "-wal"), strict=True):
                (Path(folder) / name).unlink(missing_ok=True)
                if file.is_file():
                    shutil.copyfile(file, Path(folder) / name)
            if before == [_state(file) for file in files]:  # of both: changes may have moved from one to the other
                break
        yield copy


def _state(file: Path) -> tuple[int, int] | None:
    """What differs after a file was written; None without a file."""
    with suppress(OSError):
        about = file.stat()
        return about.st_mtime_ns, about.st_size
    return None


@contextmanager
def _opened(uri: str, path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database, with bounded work, and explain what is wrong with it."""
    budget = [(STEPS + STEPS_PER_BYTE * path.stat().st_size) // _STEPS_PER_LOOK]

    def count() -> bool:
        budget[0] -= 1
        return budget[0] < 0

    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=1)) as database:
            database.text_factory = lambda data: data.decode("utf-8", "replace")
            database.execute("PRAGMA trusted_schema=OFF")
            database.execute("PRAGMA cell_size_check=ON")
            database.set_progress_handler(count, _STEPS_PER_LOOK)
            yield database
    except (
        sqlite3.Error,
        UnicodeDecodeError,
        OverflowError,
        MemoryError,
    ) as error:  # all but the first: a damaged file
        if budget[0] < 0:
            raise BadSource(f"{path.name} takes too long to read: it is damaged, or not from a browser") from error
        why = str(error) or "out of memory"
        raise BadSource(f"Cannot read {path.name} ({why}): close the browser, copy the file, and try again") from error


def _schema(database: sqlite3.Connection, path: Path) -> _Schema:
    """Which browser a database is from. Raise BadSource for others, and for versions with other columns."""
    plain = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    names = {name for (name,) in database.execute(plain)}
    for schema in (_FIREFOX, _CHROMIUM):
        if next(iter(schema.tables)) not in names:
            continue
        for table, wanted in schema.tables.items():
            has = {row[1] for row in database.execute(f"PRAGMA table_info({table})")} if table in names else set()
            if missing := [column for column in wanted if column not in has]:
                version = "unknown"
                if "PRAGMA" in schema.version or "meta" in names:
                    version = next((row[0] for row in database.execute(schema.version)), version)
                raise BadSource(
                    f"{path.name} is a history of {schema.browser} in an unknown version ({version}): {table} has no"
                    f" column {missing[0]}; export the history as a list of addresses instead"
                )
        return schema
    raise BadSource(
        f"{path.name} is a SQLite database, but not the history of a browser: name its links by SQL, as in"
        f" sqlite:{path.name}:SELECT source, target FROM links"
    )


SOURCE = SourceKind("history", "browser history (Firefox, Chromium)", recognises, read_history, order=32)
