"""Some of the fault trials; `make faults` makes them all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from unittest.mock import patch

import pytest

from cocite.graph.store import Graph
from cocite.sources.records import Link, Page
from tests.conftest import long
from tests.faults.damaged import Damaged, damage_all
from tests.faults.dying import finished, fork
from tests.faults.failing import SITES as CALL_SITES
from tests.faults.failing import fail_everywhere
from tests.faults.flips import flip_all
from tests.faults.full import on_a_small_disk
from tests.faults.jobs import Job, jobs, trial
from tests.faults.model import ABSENT, STALE, content, empty_arrays, names_of, store, with_store
from tests.faults.power import Lost, lose_power
from tests.faults.trials import at_every_call, at_random
from tests.graph.webs import long_lists, make


@pytest.fixture(scope="module")
def model(fast_root: Path) -> Iterator[Path]:
    place = fast_root / "faults" / "model"
    place.mkdir(parents=True)
    with long_lists():
        with_store(place)
        yield place


def test_every_array_has_something(model: Path) -> None:
    """Else trials would not see it: nothing of it can be half written or changed."""
    assert empty_arrays(store(model)) == set()
    for name, may_be_empty in (
        ("build", {"removed", "removed.digest"}),
        ("add", set()),
    ):  # sources know nothing of what was removed
        with trial(model) as place:
            assert finished(fork(next(job for job in jobs() if job.name == name).work(place))) == 0
            assert empty_arrays(store(place)) == may_be_empty


OTHERWISE = {
    "title": "B", "text": "B", "headings": ["B"], "status": 410, "captured": "2020-01-01", "lang": "de",
    "noindex": True, "redirect": "https://c.example/", "canonical": "https://a.example/proper",
}  # fmt: skip
LINK_OTHERWISE = {
    "url": "https://c.example/", "text": "B", "block": 1, "context": "B", "rel": "nofollow", "weight": 0.5,
    "boilerplate": True,
}  # fmt: skip


def test_all_fields_of_records_are_compared(place: Path) -> None:
    """Stores of one record, which differs in one field each: each has a content and an id of its own."""
    link = Link("https://b.example/", "A", 0, "A")
    page = Page(
        "https://a.example/", "A", "A", [link, Link("https://c.example/")], ["A"], 200, "", "", "2019-01-01", "en"
    )
    assert {*OTHERWISE, "url", "links", "partial"} == {field.name for field in fields(Page)}, "partial isn't a fact"
    assert {*LINK_OTHERWISE} == {field.name for field in fields(Link)}
    again = replace(link, block=3)
    pages = [page, replace(page, url="https://d.example/"), replace(page, links=[*page.links, again])]
    pages += [replace(page, **{name: value}) for name, value in OTHERWISE.items()]
    pages += [
        replace(page, links=[replace(link, **{name: value}), *page.links[1:]]) for name, value in LINK_OTHERWISE.items()
    ]
    graphs = [Graph(make(place / f"{number}.cocite", [each]).path) for number, each in enumerate(pages)]
    assert len({json.dumps(content(graph, names_of(graph))) for graph in graphs}) == len(pages)
    assert len({graph.manifest["id"] for graph in graphs}) == len(pages)


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(job, id=job.name, marks=long if job.name == "add" else ())
        for job in jobs()
        if job.name in ("add", "tsv")
    ],
)
def test_killed_at_some_calls(model: Path, job: Job) -> None:
    """Before every hundredth call, and after the first rename; whatever is wrong is raised."""
    rows = at_every_call(job, model, every=100)
    assert all(row.kills > 0 for row in rows)
    assert rows[0].old_state_after > 0, "before its first call nothing of it is to be seen"


def test_killed_at_some_times(model: Path) -> None:
    row = at_random(next(job for job in jobs() if job.name == "add"), model, 1, seed=5)
    assert row.old_state_after + row.new_state_after == 1 >= row.kills


@long
def test_changed_bytes(model: Path) -> None:
    """One file in fifteen."""
    rows = flip_all(model, flips=1, seed=3, every=15)
    assert sum(row.flips for row in rows) == sum(row.found + row.harmless for row in rows) > 5
    rest = [row for row in rows if row.files != "layers"]  # which have zeros between their arrays
    assert sum(row.harmless for row in rest) == 0, "every byte of these is of use"
    assert next(row for row in rows if row.files == "arrays").failed_adds > 0


@pytest.mark.parametrize("part", ["clicks", "search", "content"])
def test_a_state_that_is_neither_old_nor_new_is_reported(part: str) -> None:
    """Beside new content: clicks that are gone, a search of old pages; and content that is half of each."""
    job = jobs()[0]
    old = {"content": [1], "clicks": [1], "search": [1], "pagerank": [1]}
    new = {"content": [2], "clicks": [2], "search": [2], "pagerank": STALE}
    assert [job.kept(content, old, new) for content in (old, new, {**new, "search": ABSENT})] == ["old", "new", "new"]
    wrong = {"clicks": {**new, "clicks": ABSENT}, "search": {**new, "search": [1]}, "content": {**new, "content": [1]}}
    with pytest.raises(AssertionError, match=f"neither old nor new.*{part}"):
        job.kept(wrong[part], old, new)


@long
def test_a_full_disk() -> None:
    """Ranks; tests/graph/test_failing.py fills the disk of a build, `make faults` that of every job."""
    try:
        rows = on_a_small_disk(["rank", "--times", 2])
    except RuntimeError as error:
        pytest.skip(str(error))
    assert [row.job for row in rows] == ["rank"]
    assert all(row.failed > 0 for row in rows), "there is none with no room at all"


@long
@pytest.mark.parametrize("name", ["add", "clicks", "rank", "batch", "site", "study", "evaluate", "install"])
def test_power_loss(model: Path, name: str) -> None:
    (row,) = lose_power(model, [name], 300, seed=4)
    assert isinstance(row, Lost), row
    assert row.old_state_after > 0 and row.new_state_after > 0


@long
def test_power_loss_finds_side_data_that_is_not_synced(model: Path) -> None:
    with patch("cocite.graph.side.sync_folder", lambda _: None):
        assert [type(row) for row in lose_power(model, ["rank"], 400, seed=4)] == [str]


@long
def test_power_loss_finds_a_file_that_is_not_synced(model: Path) -> None:
    """Exports and lists of sites were written without it."""
    with patch("cocite.system.sync_folder", lambda _: None):
        assert [type(row) for row in lose_power(model, ["export"], 100, seed=4)] == [str]


@long
def test_commands_on_changed_bits(model: Path) -> None:
    rows = list(damage_all(model, 1, 5, ["related -m cocitation"], every=4))
    assert [type(row) for row in rows] == [Damaged], rows[0]
    assert rows[0].refused > 0 and rows[0].answered > 0  # type: ignore[union-attr]


@long
@pytest.mark.parametrize("what", CALL_SITES)
def test_failures_at_some_calls(model: Path, what: str) -> None:
    row = fail_everywhere(next(job for job in jobs() if job.name == "rank"), what, model, every=9)
    assert row.call_sites > 0
