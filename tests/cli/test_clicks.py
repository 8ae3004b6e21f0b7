"""cocite clicks: what it counts, tells and refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import cocite
from cocite.graph.clicks import open_clicks
from cocite.graph.store import Graph
from tests.cli.conftest import LIST, NEWS, OTHER, run


@pytest.fixture
def own(store: Path, place: Path) -> Path:
    """A copy of the store, beside which clicks may be kept."""
    return Path(shutil.copytree(store, place / "web.cocite"))


def test_clicks(own: Path, place: Path) -> None:
    log = place / "log.tsv"
    log.write_text(f"from\tto\tcount\n{LIST}\t{NEWS}\t12\n{LIST}\thttps://nowhere.example/\t3\n{LIST}\t{OTHER}\tmany\n")
    ran = run("clicks", log, "-i", own, "-q")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == [
        f"{own}  has 12 clicks between 1 pair of pages; used 1 of 3 rows",
        "  skipped (--strict stops at the first)",
        "    1\tpage that is not in the store",
        "       such as https://nowhere.example/",
        "    1\trow with an invalid count or too many columns",
        f"       such as {LIST} {OTHER} many",
    ]
    assert (
        run("related", NEWS, "-i", own, "-m", "whats_related(links=0)", "--tsv").out.splitlines()[1].split("\t")[2]
        == LIST
    )
    assert "  clicks\t12" in run("info", own).out.splitlines()


def test_added_anew_and_as_json(own: Path, place: Path) -> None:
    log = place / "log.txt"
    log.write_text(f"{LIST};{NEWS};{OTHER};<;{LIST}\n{LIST};{LIST}\nalone\n")
    again = place / "again.txt"
    again.write_text(f"{log.read_text()}\n")
    for clicks, file, more in ((3, log, ()), (3, log, ()), (6, again, ()), (6, log, ()), (3, log, ("--anew",))):
        ran = run("clicks", file, "-i", own, "--json", *more)
        assert (ran.code, json.loads(ran.out)["clicks"]) == (0, clicks)
    found = json.loads(ran.out)
    assert found["read"]["rows"] == 3
    assert found["read"]["clicks from a page to itself"] == 1
    assert found["read"]["sessions of one page"] == 1
    assert found["skipped"] == []
    assert json.loads(run("info", own, "--json").out)["clicks"] == 3


def test_what_holds_no_clicks_changes_nothing(own: Path, place: Path) -> None:
    for content in (b"", b"\x00\x01\xff\n" * 10, b"x" * 100_000, b"prose without any click\n", b"a\tb\tc\td\n"):
        (place / "log").write_bytes(content)
        ran = run("clicks", place / "log", "-i", own, "-q")
        assert ran.code == 2
        assert ran.err.startswith("cocite: No usable click, so nothing was changed: give rows of ")
        assert ran.err.count("\n") == 1
    assert len(open_clicks(Graph(own))) == 0


def test_wrong_use(own: Path, place: Path) -> None:
    assert "Unknown file" in run("clicks", place / "none", "-i", own).err
    (place / "log").write_text("a\tb\n")
    ran = run("clicks", place / "log", "-i", own, "--kind", "links")
    assert (ran.code, ran.err) == (2, "cocite: Unknown kind of click log 'links': use transitions or sessions\n")
    ran = run("clicks", place / "log", "-i", own, "--strict", "--kind", "transitions")
    assert ran.code == 2
    assert "row without from, to and count" in ran.err
    assert run("clicks", place / "log", "-i", place / "no.cocite").code == 2


def test_from_python(own: Path, place: Path) -> None:
    (place / "log").write_text(f"{LIST}\t{NEWS}\t12\n{LIST}\tnowhere.example\t1\n")
    web = cocite.open(own)
    assert len(web.clicks) == 0
    assert web.add_clicks(place / "log") == (1, 12, 1, {"page that is not in the store": 1})
    assert web.clicks.total == 12
    assert web.add_clicks([str(place / "log")]).skipped["file that was counted before"] == 1
    (place / "more").write_text(f"{LIST}\t{NEWS}\t1\n")
    assert web.add_clicks([str(place / "log"), str(place / "more")]).clicks == 13
    assert web.add_clicks(place / "log", anew=True, kind="transitions").clicks == 12
    assert web.related(LIST, "whats_related", links=0)[0].url == NEWS


def test_clicks_stay_when_pages_are_added(own: Path, place: Path) -> None:
    (place / "log").write_text(f"{LIST}\t{NEWS}\t12\n")
    run("clicks", place / "log", "-i", own, "-q")
    (place / "more.jsonl").write_text('{"url": "https://aaa.example/", "links": ["https://bbb.example/"]}\n')
    assert run("add", place / "more.jsonl", "-i", own, "-q").code == 0
    assert open_clicks(Graph(own)).total == 12
    assert run("check", "-i", own, "-q").code == 0
    assert run("remove", NEWS, "-i", own, "-q").code == 0
    assert open_clicks(Graph(own)).total == 0
