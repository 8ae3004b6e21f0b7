"""The tutorial and the guides: their commands run in order in an empty folder, and print what the page shows.

A page may have a file that the reader saves (`<!-- file: NAME -->` and a block), commands (a block of `sh`) and, right
below, what they print (a block of `text`). There, … is anything, and addresses of results may be missing.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import plain_surroundings, run
from tests.conftest import ROOT, long

__all__ = ["plain_surroundings"]
DOCS = ROOT / "docs"
ARCHIVES = ROOT.parent / "shared" / "data" / "warc"
PAGES = ["tutorial.md", "history.md", *sorted(f"guides/{page.name}" for page in (DOCS / "guides").glob("*.md"))]
BLOCK = re.compile(r"(?:<!-- file: (\S+) -->\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ELSEWHERE = ("pip ", "python3 -m venv", "curl ", "cocite serve", "cocite mcp", "cocite reproduce", "make ", "uv ")
"""Lines that install, serve or ask a server: tests of the package, of http/ and of mcp/ do that."""
NOTES = {
    "notes/storage.md": "# Storage\n[SQLite](https://www.sqlite.org/) in [a file](ideas/files.md)\n",
    "notes/ideas/files.md": "# Files\nStorage in files: [SQLite](https://www.sqlite.org/) and [DuckDB](https://duckdb.org/)\n",
    "notes/search.md": "# Search\nIn [files](ideas/files.md), [SQLite](https://www.sqlite.org/), [DuckDB](https://duckdb.org/)\n",
    "bookmarks.html": "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>Data</H3><DL><DT>"
    '<A HREF="https://duckdb.org/">DuckDB</A></DL></DL>',
    "feeds.opml": '<opml version="2.0"><body><outline text="Data" htmlUrl="https://www.sqlite.org/"/></body></opml>',
}
"""What a reader has."""


def prepare(folder: Path, page: str) -> None:
    """The data that the reader of a page has already."""
    if page == "guides/note-taker.md":
        for name, text in NOTES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    if page == "guides/archivist.md":
        if not ARCHIVES.is_dir():
            pytest.skip(f"needs the archives of {ARCHIVES}")
        for place, name in (("crawl", "pywb__iana.warc.gz"), ("more", "whirlwind-python__whirlwind.warc.gz")):
            (folder / place).mkdir()
            shutil.copy(ARCHIVES / name, folder / place)


def is_printed(shown: str, printed: str) -> str:
    """The first word of a block that isn't printed in this order; empty if all are."""
    rest = iter(printed.split())
    for word in shown.split():
        if not word.startswith(("http://", "https://", "…")) and word not in rest:
            return word
    return ""


@pytest.mark.parametrize(
    "page", [pytest.param(each, marks=() if each in ("tutorial.md", "history.md") else long) for each in PAGES]
)
def test_commands_run_and_print_what_the_page_shows(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path, page)
    monkeypatch.chdir(tmp_path)
    printed, python = "", {}
    for name, kind, text in BLOCK.findall((DOCS / page).read_text("utf-8")):
        if name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, "utf-8")
        elif kind == "python":
            exec(text, python)
        elif kind == "text":
            missing = is_printed(text, printed)
            assert not missing, f"{missing!r} of\n{text}\nisn't printed there:\n{printed}"
        elif kind != "js":  # for programs that we don't have, such as Obsidian
            assert kind == "sh", f"a block of {kind or 'no kind'}"
            printed = ""
            for line in text.splitlines():
                if line and not line.startswith(("#", *ELSEWHERE)):
                    command = shlex.split(line, comments=True)
                    assert command[0] == "cocite", line
                    ran = run(*command[1:])
                    assert ran.code == 0, f"{line}: {ran.out[-500:]} {ran.err[-1500:]}"
                    printed += ran.out


def test_what_is_not_printed_is_noticed() -> None:
    assert is_printed("1 a  https://a.example/\n  Listed on 2 of 3 …", "1 0.5 a Listed on 2 of 3 pages") == ""
    assert is_printed("1 a\n  Listed on 2 of 4", "1 0.5 a Listed on 2 of 3 pages") == "4"
