"""Some of the fault trials; `make faults` makes them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.flips import flip_all
from tests.faults.full import on_a_small_disk
from tests.faults.jobs import Job, jobs
from tests.faults.model import ABSENT, STALE, with_store
from tests.faults.trials import at_every_call, at_random


@pytest.fixture(scope="module")
def model(fast_root: Path) -> Path:
    place = fast_root / "faults" / "model"
    place.mkdir(parents=True)
    with_store(place)
    return place


@pytest.mark.parametrize("job", [job for job in jobs() if job.name in ("add", "tsv")], ids=lambda job: job.name)
def test_killed_at_some_calls(model: Path, job: Job) -> None:
    """Before every hundredth call, and after the first rename; whatever is wrong is raised."""
    rows = at_every_call(job, model, every=100)
    assert all(row.trials > 0 for row in rows)
    assert rows[0].old > 0, "before its first call nothing of it is to be seen"


def test_killed_at_some_times(model: Path) -> None:
    row = at_random(next(job for job in jobs() if job.name == "add"), model, 1, seed=5)
    assert row.old + row.new == 1 >= row.trials


def test_changed_bytes(model: Path) -> None:
    """One file in fifteen."""
    rows = flip_all(model, flips=1, seed=3, every=15)
    assert sum(row.flips for row in rows) == sum(row.found + row.harmless for row in rows) > 5
    assert sum(row.harmless for row in rows) == 0, "every byte of these is of use"
    assert next(row for row in rows if row.files == "arrays").refused > 0


@pytest.mark.parametrize("told", ["clicks", "search", "content"])
def test_what_is_neither_old_nor_new_is_noticed(told: str) -> None:
    """Beside new content: clicks that are gone, a search of old pages; and content that is half of each."""
    job = jobs()[0]
    old = {"content": [1], "clicks": [1], "search": [1], "pagerank": [1]}
    new = {"content": [2], "clicks": [2], "search": [2], "pagerank": STALE}
    assert [job.kept(held, old, new) for held in (old, new, {**new, "search": ABSENT})] == ["old", "new", "new"]
    wrong = {"clicks": {**new, "clicks": ABSENT}, "search": {**new, "search": [1]}, "content": {**new, "content": [1]}}
    with pytest.raises(AssertionError, match=f"neither old nor new.*{told}"):
        job.kept(wrong[told], old, new)


def test_a_full_disk() -> None:
    """Ranks; tests/graph/test_failing.py fills the disk of a build, `make faults` that of every job."""
    try:
        rows = on_a_small_disk(["rank", "--times", 2])
    except RuntimeError as error:
        pytest.skip(str(error))
    assert [row.job for row in rows] == ["rank"]
    assert all(row.refused > 0 for row in rows), "there is none with no room at all"
