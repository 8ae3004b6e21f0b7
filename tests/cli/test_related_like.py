"""`cocite related --like` with a collection."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import LIST, NEWS, OTHER, run

FILE = f"""<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><H3>Pap\x07ers</H3><DL><p>
<DT><A HREF="{NEWS}">News</A><DT><A HREF="https://unknown.example/">?</A></DL><p></DL>"""


@pytest.fixture
def bookmarks(place: Path) -> Path:
    (place / "bookmarks.html").write_text(FILE)
    return place / "bookmarks.html"


def test_folders_with_their_answers(store: Path, bookmarks: Path) -> None:
    ran = run("related", "--like", bookmarks, "-i", store, "-m", "cocitation(unit=none)")
    assert ran.code == 0
    first, *rows, last = ran.out.splitlines()
    assert first == "Papers  near 1 of 2 pages" and last.endswith("ms by cocitation")
    assert {row.split("\t")[2] for row in rows} >= {LIST, OTHER}
    assert "Not in this store: 1 of 2 pages" in ran.err and "https://unknown.example/" in ran.err
    assert "\x07" not in ran.out


def test_as_json(store: Path, bookmarks: Path) -> None:
    found = json.loads(run("related", "--like", bookmarks, "-i", store, "--json", "-k", "1").out)
    assert set(found) == {"collection", "method", "params", "store", "folders", "milliseconds"}
    assert found["collection"]["unknown"] == ["https://unknown.example/"]
    (folder,) = found["folders"]
    assert (folder["pages"], folder["known"], len(folder["answers"])) == (2, 1, 1)


def test_explained(store: Path, bookmarks: Path) -> None:
    ran = run("related", "--like", bookmarks, "-i", store, "-m", "cocitation(unit=none)", "--explain")
    assert any(line.startswith("     ") for line in ran.out.splitlines())


def test_a_plain_list_still_is_one(store: Path, place: Path) -> None:
    (place / "list.txt").write_text(f"# mine\n{NEWS}\n")
    ran = run("related", "--like", place / "list.txt", "-i", store)
    assert ran.code == 0 and LIST in ran.out


@pytest.mark.parametrize("option", [[NEWS], ["--group"], ["--csv"], ["--tsv"]])
def test_options_that_exclude_like(store: Path, bookmarks: Path, option: list[str]) -> None:
    ran = run("related", *option, "--like", bookmarks, "-i", store)
    assert ran.code == 2 and "is a question of its own: remove addresses" in ran.err


def test_nothing_known_and_nothing_related(store: Path, bookmarks: Path) -> None:
    bookmarks.write_text(FILE.replace(NEWS, "https://also-unknown.example/"))
    assert run("related", "--like", bookmarks, "-i", store).code == 3
    bookmarks.write_text(FILE.replace(NEWS, "https://lonely.example/"))
    ran = run("related", "--like", bookmarks, "-i", store, "-m", "companion")
    assert ran.code == 1 and "Nothing is related" in ran.err
