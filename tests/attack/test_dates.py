"""Dates in the past: who asks for one more than a store keeps would make a server build them forever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cocite.graph.build import passes
from cocite.graph.changes import dates
from cocite.snapshot import Snapshot
from cocite.sources.records import Link, Page
from tests.graph.webs import make
from tests.http.conftest import Asking

YEARS = range(2001, 2013)
QUESTION = "/api/related?url=https://a.example/&method=cocitation"


@pytest.fixture
def asking(place: Path, monkeypatch: pytest.MonkeyPatch) -> Asking:
    """A server of a store with more dates than are kept, which counts what it builds."""
    links = [Link(f"https://{name}.example/") for name in "abc"]
    pages = [Page(f"https://list{year}.example/", links=links, captured=f"{year}-03-01") for year in YEARS]
    make(place / "s", pages, history=True)
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
