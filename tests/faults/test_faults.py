"""Some of the fault trials; `make faults` makes them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.full import on_a_small_disk
from tests.faults.jobs import Job, jobs, with_store
from tests.faults.trials import at_every_call, at_random


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("faults")
    with_store(place)
    return place


@pytest.mark.parametrize("job", [job for job in jobs() if job.name in ("add", "batch")], ids=lambda job: job.name)
def test_killed_at_some_calls(model: Path, job: Job) -> None:
    """Before and after every fiftieth call; whatever is wrong is raised."""
    rows = at_every_call(job, model, every=50)
    assert all(row.trials > 0 for row in rows)
    assert rows[0].old > 0, "before its first call nothing of it is to be seen"


def test_killed_at_some_times(model: Path) -> None:
    row = at_random(next(job for job in jobs() if job.name == "add"), model, 2, seed=5)
    assert row.old + row.new == 2 >= row.trials


def test_a_full_disk() -> None:
    """Ranks and answers; tests/graph/test_failing.py fills the disk of a build, `make faults` that of every job."""
    try:
        rows = on_a_small_disk(["rank", "batch", "--times", 2])
    except RuntimeError as error:
        pytest.skip(str(error))
    assert [row.job for row in rows] == ["rank", "batch"]
    assert all(row.refused > 0 for row in rows), "there is none with no room at all"
