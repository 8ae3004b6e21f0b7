"""Dates in the past: who asks for one more than a store keeps would make a server build them forever."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cocite.budget import budget_for, cancel
from cocite.errors import TooMuchWork
from cocite.graph.build import passes
from cocite.graph.changes import dates
from cocite.http import slow
from cocite.http.slow import SlowProcess
from cocite.log import Log
from cocite.operations.pages.related import Related
from cocite.snapshot import Snapshot
from cocite.sources.records import Link, Page
from tests.graph.webs import make
from tests.http.conftest import Asking

YEARS = range(2001, 2013)
A = "https://a.example/"
QUESTION = "/api/related?url=https://a.example/&method=cocitation"


def make_history(path: Path) -> None:
    """A store with more dates than are kept."""
    links = [Link(f"https://{name}.example/") for name in "abc"]
    pages = [Page(f"https://list{year}.example/", links=links, captured=f"{year}-03-01") for year in YEARS]
    make(path, pages, history=True)


@pytest.fixture
def asking(place: Path, monkeypatch: pytest.MonkeyPatch) -> Asking:
    """A server of a store with more dates than are kept, which counts what it builds."""
    make_history(place / "s")
    monkeypatch.setattr(Snapshot, "_build_time", dates.BuildTime(1e-6, 1e-6))
    return Asking(place / "s")


def test_dates_are_built_only_so_often(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one that is built takes all the time that there is; others wait, and nothing else does."""
    built, build = list[Path](), passes.build

    def counted(given: Any, path: Path, *args: Any, **options: Any) -> Any:
        built.append(path)
        return build(given, path, *args, **options)

    monkeypatch.setattr(passes, "build", counted)
    try:
        found = [asking.get(f"{QUESTION}&as_of={year}") for _ in range(3) for year in YEARS[:-1]]
        assert [each.status for each in found] == ([200] + [503] * (len(YEARS) - 2)) * 3
        assert {each.json["error"]["kind"] for each in found if each.status == 503} == {"TooSoon"}
        assert all(int(each.headers["retry-after"]) > 0 for each in found if each.status == 503)
        assert asking.get(QUESTION).status == asking.get(f"{QUESTION}&as_of=2012").status == 200
        assert asking.get("/api/changes?url=https://a.example/&from=2005&method=cocitation").status == 503
        assert "try again in" in asking.get("/?url=https://a.example/&method=cocitation&as_of=2005").text
    finally:
        asking.close()
    assert len(built) == len(list((asking.service.settings.store / "dates").iterdir())) == 1


def test_time_to_build_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(dates.time, "monotonic", lambda: now[0])
    allowed = dates.BuildTime(60.0, 0.2)
    for seconds in (40.0, 40.0):  # the second one begins with time left, and takes more
        with allowed.spent():
            now[0] += seconds
    with pytest.raises(dates.TooSoon, match="try again in 20 s") as raised, allowed.spent():
        pass
    now[0] += raised.value.seconds + 1
    with allowed.spent():
        pass


BUILDING_SECONDS = 4.0
LATE = f"""
import time
from cocite.graph.changes import dates
build = dates._build
dates._build = lambda *asked: time.sleep({BUILDING_SECONDS}) or build(*asked)
from cocite.http.slow import main
main()
"""
"""A process for slow questions in which a date takes long."""


def test_who_goes_away_does_not_end_a_build(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A date takes longer than a server waits for cancelled work: the process lives, and keeps the date."""
    store = place / "s"
    make_history(store)
    monkeypatch.setattr(slow, "SLOW_PROGRAM", LATE)
    monkeypatch.setattr(slow, "HUNG_SECONDS", BUILDING_SECONDS / 8)
    process = SlowProcess(store, 2, False, Log())
    try:
        assert process.run(results, None, budget_for(10.0)) == (2,)
        pid = process._running and process._running.process.pid
        gone = budget_for(10.0)
        with ThreadPoolExecutor(2) as threads:
            works = [partial(results, as_of=f"{year}-06") for year in (2004, 2005)]
            asked = [threads.submit(process.run, work, None, gone) for work in works]
            time.sleep(BUILDING_SECONDS / 4)
            cancel(gone)
            for each in asked:
                with pytest.raises(TooMuchWork, match="Cancelled"):
                    each.result(BUILDING_SECONDS / 2)
            assert not list((store / "dates").glob("*-*-*")), "it was built too soon to show anything"
            assert process.run(works[0], None, budget_for(10.0)) == (2,)
        assert process._running and process._running.process.pid == pid
    finally:
        process.close()


def results(web: Snapshot, *_: Any, as_of: str = "") -> int:
    """Work for the process: how many pages are related to one as of a date."""
    return len(Related(urls=(A,), method="cocitation").run(web.as_of(as_of)).answers)


def test_builds_come_one_at_a_time(place: Path) -> None:
    """Each is made once, whoever asks; an error is everybody's, and the next one builds again."""
    builds, go, made, most = dates.DateBuilds(), threading.Event(), list[str](), list[int]()

    def build(name: str, fails: bool = False) -> Any:
        made.append(name)
        most.append(threading.active_count())
        go.wait(60)
        if fails:
            raise ValueError(name)
        return name

    with ThreadPoolExecutor(6) as threads:
        one = [threads.submit(builds.graph, place / "1", partial(build, "1")) for _ in range(3)]
        while not builds.is_building:
            time.sleep(0.01)
        two = [threads.submit(builds.graph, place / "2", partial(build, "2", True)) for _ in range(2)]
        time.sleep(0.2)
        assert made == ["1"]
        go.set()
        assert [each.result() for each in one] == ["1"] * 3
        for each in two:
            with pytest.raises(ValueError, match="2"):
                each.result()
    assert made[0] == "1" and set(made[1:]) == {"2"}
    while builds.is_building:
        time.sleep(0.01)
    assert builds.graph(place / "2", partial(build, "2")) == "2"  # type: ignore[comparison-overlap]
