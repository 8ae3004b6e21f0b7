"""A store with history gives, as of any date, the store that a build from the captures of then gives."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cocite.errors import BadParameter, BadSource, BadStore, UnknownPage
from cocite.graph.arrays import IN_MEMORY, Arrays
from cocite.graph.build import captures as captures_module
from cocite.graph.build import name_pieces
from cocite.graph.build.maintain import compact, remove
from cocite.graph.build.passes import BuildOptions, Past, build_in_memory
from cocite.graph.changes import dates as kept_dates
from cocite.graph.changes import history as history_module
from cocite.graph.changes.history import MAX_DAY, CaptureHistory, history_of
from cocite.graph.check import check
from cocite.graph.generation import read_current, remove_unnamed
from cocite.graph.store import Graph
from cocite.sources.records import Page, ReadReport, batch
from cocite.web import Web
from tests.graph.damage import rewrite_manifest
from tests.graph.webs import extend, files_of, make, page, records

DAYS = ["", "2001-02-03", "2005-06-07", "2005-06-07T05:00:00", "2010-01-01T12:00:00Z", "2020-05-05T05:05:05+02:00"]
CODED = {f"{direction}.{part}" for direction in ("out", "in") for part in ("words", "bounds", "far", "code")}
CODED |= {"history.edit", "history.start"}
"""Their bits depend on links that a page repeats in one section, which a history doesn't keep: lists are compared."""
LISTS = ["https://list.example/", "https://other.example/"]
OLD, NEW = ["https://a.example/", "https://b.example/"], ["https://b.example/", "https://c.example/"]


def built(pages: list[Page], history: bool = False, past: Past | None = None) -> Arrays:
    """The arrays of a store of these records, or of captures of the past."""
    options, batches = BuildOptions(threads=0, history=history), [batch(pages)] if pages else []
    return build_in_memory(batches, ReadReport(), options, past=past)


def differences(found: Arrays, wanted: Arrays) -> list[str]:
    """What differs between two stores: arrays, the decoded lists, the days of captures."""

    def values(arrays: Arrays, name: str) -> list[object]:
        if name == "page.captured":
            return list(arrays[name] // 86_400)
        every = arrays[name].tolist()
        no_texts = name.endswith((".first", ".offset")) and not any(every)
        return [] if no_texts or (name.endswith(".weight") and set(every) == {1.0}) else every

    different = [name for name in sorted({*found, *wanted} - CODED) if values(found, name) != values(wanted, name)]
    if found.pages == wanted.pages:
        one, other = Graph(found), Graph(wanted)
        for number in range(one.pages):
            same = [part.tolist() for part in one.links_from(number)] == [p.tolist() for p in other.links_from(number)]
            different += [] if same else [f"links from {number}"]
            different += [] if one.links_to(number).tolist() == other.links_to(number).tolist() else [f"to {number}"]
    return different


def captures(history: CaptureHistory) -> list[list[object]]:
    """All captures of a history."""
    return [[part.tolist() for part in rows.captures] for rows in history.read()]


def tight() -> ExitStack:
    """Ranges of pages and entry points so small that a web of some pages has several."""
    patches = ExitStack()
    for module in (history_module, captures_module):
        patches.enter_context(patch.object(module, "CHUNK_PAGES", 16))
    patches.enter_context(patch.object(captures_module, "MIN_BUCKET_LINKS", 8))
    patches.enter_context(patch.object(captures_module, "BYTES_PER_LINK", 1 << 40))
    patches.enter_context(patch.object(name_pieces, "MIN_NAMES", 16))
    return patches


captured = st.builds(
    lambda page, day, number: replace(page, captured=day, partial=not number and not page.redirect),
    records(),
    st.sampled_from(DAYS),
    st.integers(0, 7),
)


@settings(max_examples=40, phases=[Phase.explicit, Phase.generate], database=None)  # shrinking one takes minutes
@given(st.lists(captured, min_size=1, max_size=20))
def test_as_of_any_date_is_a_store_built_from_the_captures_of_then(pages: list[Page]) -> None:
    with tight():
        try:
            whole, plain = built(pages, history=True), built(pages)
        except BadSource:  # no record that can be used
            return
        assert [name for name in plain if not np.array_equal(plain[name], whole[name])] == []
        history = CaptureHistory(Graph(whole))
        for index, date in enumerate(history.dates, 1):
            then = [each for each in pages if not each.captured or each.captured[:10] <= date]
            try:
                wanted = built(then)
            except BadSource:
                continue
            assert differences(built([], past=Past(history, index)), wanted) == []
        again = built([], history=True, past=Past(history))
        assert differences(again, whole) == []
        assert captures(CaptureHistory(Graph(again))) == captures(history)


def lists(year: str, targets: list[str], **fields: str) -> list[Page]:
    """Two pages with the same links, captured in a year."""
    return [page(url, *targets, captured=f"{year}-03-01", title=f"In {year}", **fields) for url in LISTS]


def archive(path: Path) -> Path:
    """A store with captures of 2005 and 2015."""
    make(path, [*lists("2005", OLD), *lists("2015", NEW)], history=True)
    return path


def test_a_store_without_history_says_how_to_build_one(place: Path) -> None:
    make(place / "s", lists("2005", OLD))
    assert Web(place / "s").dates == []
    with pytest.raises(BadParameter, match=r"Dates need a store with history.*cocite build SOURCE\.\.\. --history"):
        Web(place / "s").as_of("2010")


def test_dates_before_between_and_after_the_captures(place: Path) -> None:
    web = Web(archive(place / "s"))
    assert web.dates == ["2005-03-01", "2015-03-01"]
    with pytest.raises(BadParameter, match=r"first capture in this store is of 2005-03-01, after 2005-02-28"):
        web.as_of("2005-02")
    assert web.as_of("2005-03") is web.as_of("2015-02-28")
    assert web.as_of("2015-03-01") is web.as_of("2031") is web.as_of("") is web
    old = web.as_of("2010").graph
    assert old.title(old.find(LISTS[0])) == "In 2005"
    assert old.get(NEW[1]) is None
    assert [old.address(int(target)) for target in old.links_from(old.find(LISTS[0])).targets] == OLD
    assert web.graph.get(OLD[0]) is None


def test_captures_without_a_date_are_the_oldest_and_odd_dates_are_counted(place: Path) -> None:
    pages = [page(LISTS[0], *OLD), page(LISTS[0], *NEW, captured="2015-03-01"), page(LISTS[1], *NEW, captured="soon")]
    report = make(place / "s", [*pages, page(LISTS[1], *OLD, captured="2099-01-01")], history=True).report
    assert report.skipped["capture date in the future, kept as it is"] == 1
    assert report.skipped["capture date is not an ISO date, taken as unknown"] == 1
    assert report.read["captures without a date, which count as the oldest"] == 2
    graph = Web(place / "s").as_of("2020").graph
    assert [len(graph.links_from(graph.find(url)).targets) for url in LISTS] == [2, 2]
    assert graph.get(OLD[0]) is None
    make(place / "t", [page(LISTS[0], *OLD)], history=True)
    with pytest.raises(BadParameter, match="No capture in this store has a date"):
        Web(place / "t").as_of("2020")


def test_redirects_change_with_time(place: Path) -> None:
    moved = [page(OLD[0], NEW[1], captured="2005-03-01"), Page(OLD[0], redirect=NEW[1], captured="2015-03-01")]
    make(place / "s", [*moved, *lists("2005", OLD), *lists("2020", OLD)], history=True)
    web = Web(place / "s")
    then = web.as_of("2010").graph
    assert web.graph.find(OLD[0]) == web.graph.find(NEW[1])
    assert then.find(OLD[0]) != then.find(NEW[1])
    assert then.links_from(then.find(OLD[0])).targets.tolist() == [then.find(NEW[1])]


def test_addresses_are_spelled_as_then(place: Path) -> None:
    pages = [page(LISTS[0], "http://a.example/", "http://c.example/X Y", captured="2005-03-01")]
    pages += [page(LISTS[0], "https://a.example/", "https://c.example/X%20Y", captured="2015-03-01")]
    make(place / "s", pages, history=True)
    web = Web(place / "s")
    for graph, scheme in ((web.graph, "https"), (web.as_of("2010").graph, "http")):
        assert graph.address(graph.find("a.example")) == f"{scheme}://a.example/"
        assert graph.address(graph.find("c.example/X%20Y")).startswith(f"{scheme}://c.example/X")
    compact(place / "s", BuildOptions(threads=2))
    graph = Web(place / "s").as_of("2010").graph
    assert graph.address(graph.find("a.example")) == "http://a.example/"
    assert check(place / "s") == []


def test_a_date_is_kept_and_few_are(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place / "s"
    years = [f"{year}" for year in range(2001, 2007)]
    make(path, [each for year in years for each in lists(year, OLD)], history=True)
    monkeypatch.setattr(kept_dates, "MAX_DATES", 3)
    web = Web(path)
    for year in years[:-1]:
        assert web.as_of(year).graph.path.name.endswith(f"-{year}-03-01")
    assert len(list((path / "dates").iterdir())) == 3
    monkeypatch.setattr(kept_dates, "_build", None)  # it is opened, not built
    assert Web(path).as_of("2005").graph.manifest["as_of"] == "2005-03-01"
    assert check(path) == []


def test_a_damaged_date_is_built_again(place: Path) -> None:
    web = Web(archive(place / "s"))
    kept = web.as_of("2010").graph.path
    (kept / "CURRENT").write_text("nothing")
    graph = Web(place / "s").as_of("2010").graph
    assert graph.title(graph.find(LISTS[0])) == "In 2005"


def test_a_store_that_cannot_be_written_is_asked_in_memory(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(place / "s")
    monkeypatch.setattr(kept_dates.os, "access", lambda *_: False)
    monkeypatch.setattr(kept_dates, "only_one", lambda *_: (_ for _ in ()).throw(BadStore("read-only")))
    graph = Web(path).as_of("2010").graph
    assert str(graph.path) == "(in memory)"
    assert graph.title(graph.find(LISTS[0])) == "In 2005"


def test_add_and_compact_keep_the_history(place: Path) -> None:
    pages = [*lists("2005", OLD), *lists("2015", NEW), *lists("2010", [*OLD, *NEW])]
    make(place / "all", pages, history=True)
    make(place / "s", pages[:2], history=True)
    extend(place / "s", pages[2:4])
    extend(place / "s", pages[4:])
    compact(place / "s", BuildOptions(threads=2))
    assert files_of(place / "s") == files_of(place / "all")
    assert Web(place / "s").dates == ["2005-03-01", "2010-03-01", "2015-03-01"]


def test_adding_the_same_captures_again_changes_nothing(place: Path) -> None:
    """Nor does a capture that was captured again on the same day count on any date."""
    pages = [*lists("2005", OLD), *lists("2015", NEW)]
    path = make(place / "s", pages, history=True).path
    before = files_of(path)
    extend(path, pages)
    assert files_of(path) == before
    again = replace(pages[0], title="Again")
    extend(path, [again])
    assert Web(path).as_of("2005").graph.title(Web(path).as_of("2005").graph.find(LISTS[0])) == "Again"
    assert Graph(path).manifest["history"]["captures"] == len(pages)


def test_an_added_page_without_a_date_is_of_today(place: Path) -> None:
    extend(archive(place / "s"), [page(LISTS[0], "https://today.example/")])
    web = Web(place / "s")
    assert len(web.dates) == 3
    assert web.graph.get("https://today.example/") is not None
    assert web.as_of("2016").graph.get("https://today.example/") is None


def test_a_date_that_a_change_removes_at_once_is_built_in_memory(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever changes a store removes its dates, also one that another process has just built."""
    path, build_date = archive(place / "s"), kept_dates._build

    def built_and_removed(*given: Any) -> Graph:
        found = build_date(*given)
        remove_unnamed(path)
        return found

    monkeypatch.setattr(kept_dates, "_build", built_and_removed)
    assert Web(path).as_of("2010").graph.path == IN_MEMORY


def test_removed_pages_are_gone_from_all_dates(place: Path) -> None:
    path = archive(place / "s")
    assert Web(path).as_of("2010").graph.get(OLD[0]) is not None
    remove([OLD[0]], path)  # only captures of 2005 have it
    web = Web(path)
    assert web.as_of("2010").graph.get(OLD[0]) is None
    assert not any(b"a.example" in data for data in files_of(path).values())
    remove([LISTS[0]], path)
    assert Web(path).as_of("2010").graph.get(LISTS[0]) is None
    with pytest.raises(UnknownPage):
        remove(["https://never.example/"], path)
    assert check(path) == []


def test_captures_in_an_older_code_are_refused_with_advice(place: Path) -> None:
    path = archive(place / "s")
    rewrite_manifest(path, read_current(path)[1] | {"format": 5})
    for work in (Graph, lambda path: remove([OLD[0]], path)):
        with pytest.raises(BadStore, match=r"keeps captures in format 5.* from 6 on: build the store again with --his"):
            work(path)


def test_damage_is_found_and_never_crashes(place: Path) -> None:
    arrays = built([*lists("2005", OLD), *lists("2010", [*OLD, *NEW]), *lists("2015", NEW)], history=True)
    draw = np.random.default_rng(1)
    for name in [name for name in arrays if name.startswith("history.") and arrays[name].nbytes]:
        for _ in range(20):
            changed = {each: values.copy() for each, values in arrays.items()}
            raw = changed[name].view(np.uint8)
            raw[draw.integers(len(raw))] ^= np.uint8(1 << draw.integers(8))
            try:
                for rows in CaptureHistory(Graph(Arrays(changed, arrays.manifest))).read():
                    assert len(rows.captures.page) <= 6
            except (BadStore, ValueError):
                pass
    odd_borders = {"history.start": [1], "history.first": [1], "history.link": [2**63], "history.crawl": [0, 0]}
    shape = [int(each) for each in arrays["history.shape"]]
    odd_shapes = [[*shape[:at], number, *shape[at + 1 :]] for at in range(4) for number in (2**40, 2**63, 2**64 - 1)]
    for name, values in [*odd_borders.items(), *(("history.shape", each) for each in odd_shapes)]:
        other = Arrays({**arrays, name: np.array(values, arrays[name].dtype)}, arrays.manifest)
        with pytest.raises(BadStore):
            list(CaptureHistory(Graph(other)).read())
    for day in (MAX_DAY + 1, 0xFFFFFFFF):
        days = arrays["history.day"].copy()
        days[-1] = day
        with pytest.raises(BadStore):
            _ = CaptureHistory(Graph(Arrays({**arrays, "history.day": days}, arrays.manifest)))
    path = archive(place / "s")
    file = next(path.glob("g*/history.edit.bin"))
    file.write_bytes(bytes([file.read_bytes()[0] ^ 1, *file.read_bytes()[1:]]))
    with pytest.raises(BadStore, match=r"damaged|checksum"):
        history_of(Graph(path))


def test_captures_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than there is room for, or those of one page: the same as all at once, on every day."""
    urls = [f"https://list{n}.example/" for n in range(7)]
    pages = [page(url, *OLD[: 1 + n % 2], *NEW[: k % 3], captured=f"20{10 + k}-01-02") for n, url in enumerate(urls)
             for k in range(n)]  # fmt: skip
    history = CaptureHistory(Graph(built(pages, history=True)))

    def read(until: int) -> list[list[Any]]:
        found = list(history.read(until))
        rows = [[part.tolist() for part in (rows.row, rows.first_row, rows.first_link)] for rows in found]
        captures = [[part.tolist() for part in rows.captures] for rows in found]
        for each in captures:
            assert not room or len(each[0]) <= room or len(set(each[0])) == 1
        sizes = [np.diff(each[5]).tolist() for each in captures]
        columns = [[value for each in captures for value in each[part]] for part in (0, 1, 2, 3, 4, 6, 7)]
        joined = [[value for each in rows for value in each[part]] for part in range(3)]
        return [*joined, *columns, [size for each in sizes for size in each]]

    room, days = 0, range(-1, len(history.days))
    whole = [read(until) for until in days]
    assert any(map(len, whole))
    for name, room in (("ROOM_CAPTURES", 3), ("ROOM_CAPTURES", 8), ("ROOM_LINKS", 6)):
        with monkeypatch.context() as context:
            context.setattr(history_module, name, room)
            assert len(list(history.read())) > 1
            assert [read(until) for until in days] == whole


def test_more_captures_of_a_page_than_can_be_read_are_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [page(LISTS[0], *OLD, captured=f"20{n}-01-02") for n in range(10, 15)]
    for name, limit in (("MAX_PAGE_CAPTURES", 5), ("MAX_PAGE_LINKS", 10)):
        with monkeypatch.context() as context:
            context.setattr(captures_module, name, limit)
            assert "history.edit" in built(pages, history=True)
            context.setattr(captures_module, name, limit - 1)
            with pytest.raises(BadSource, match="A page has 5 captures, or 10 links in them together; a history keeps"):
                built(pages, history=True)


def test_more_captures_than_days_and_kinds_are_damage(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As somebody might write them with checksums that fit: a few bytes that say any number of captures."""
    monkeypatch.setattr(captures_module.CaptureWriter, "_counting", lambda _self, _column, order: order)
    days = [*["2010-01-02"] * 5000, "2012-01-02"]
    make(place / "s", [page(LISTS[0], *OLD, captured=day) for day in days], history=True)
    assert sum(file.stat().st_size for file in place.rglob("history.*.bin")) < 1000
    assert [fault.where for fault in check(place / "s")] == ["history"]
    with pytest.raises(BadStore, match="is damaged"):
        Web(Graph(place / "s")).as_of("2010")
