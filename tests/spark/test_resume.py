"""An interrupted job continues where it was, with the same result."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cocite.errors import BadParameter, BadSource
from cocite.sources.folders import PAGES_DONE, WORK
from cocite.spark.outputs import JobFolder
from cocite.spark.pages import write_pages
from cocite.spark.rank import RANK_DONE, write_rank
from cocite.spark.related import RELATED_DONE, write_related
from cocite.spark.store import SHARDS_DONE, write_store
from tests.conftest import long
from tests.spark.test_pages import one_machine
from tests.spark.webs import table


class Stopped(Exception):
    """Ctrl-C, a lost driver, a full disk."""


class Until:
    """Stops a job when it starts a step."""

    def __init__(self, last: str = "") -> None:
        self.last = last
        self.told: list[str] = []

    def __call__(self, step: str) -> None:
        if step == self.last:
            raise Stopped
        self.told.append(step)


@long
@pytest.mark.parametrize("last", ["in", "lists", "pages", "out"])
def test_a_store(spark: Any, records: Path, shards: Path, place: Path, last: str) -> None:
    first, again = Until(last), Until()
    with pytest.raises(Stopped):
        write_store(spark, str(records), str(place / "shards"), first)
    write_store(spark, str(records), str(place / "shards"), again)
    assert "keyed" in first.told
    assert set(first.told) & set(again.told) <= {"pages"}, "nothing is done twice; a step and a result have that name"
    assert last in again.told
    assert_alike(place / "shards", shards)


@long
def test_skipped_input_is_counted_again_if_the_count_was_lost(
    spark: Any, records: Path, shards: Path, place: Path
) -> None:
    with pytest.raises(Stopped):
        write_store(spark, str(records), str(place / "shards"), Until("lists"))
    (place / "shards" / WORK / "read.json").unlink()
    again = Until()
    write_store(spark, str(records), str(place / "shards"), again)
    assert "keyed" in again.told
    assert_alike(place / "shards", shards)


@long
def test_answers(spark: Any, shards: Path, place: Path) -> None:
    def answer(name: str, until: Until) -> None:
        write_related(spark, str(shards), str(place / name), "cocitation", k=5, relations=600, links=400, on_step=until)

    whole, first, again = Until(), Until("wanted-1"), Until()
    answer("whole", whole)
    with pytest.raises(Stopped):
        answer("twice", first)
    answer("twice", again)
    assert whole.told[:4] == ["answers", "pools", "wanted-0", "wanted-1"]
    assert first.told == whole.told[:3]
    assert again.told == ["answers", *whole.told[3:]], "only the step within which it was stopped is begun again"
    assert table(place / "twice" / "related").to_pylist() == table(place / "whole" / "related").to_pylist()


# What is left to do when a job is done is to remove its steps. They go file by file.

Job = Callable[[Any, Path, str, Until], Any]
FACTS = {"pages": 7, "links": 9, "read": {"records": 3}, "skipped": {"nothing": 1}, "example": {}}
JOBS: dict[str, tuple[str, Job]] = {
    "pages": (PAGES_DONE, lambda spark, at, to, tell: write_pages(spark, [str(at)], to, on_step=tell)),
    "store": (SHARDS_DONE, lambda spark, at, to, tell: write_store(spark, str(at), to, tell)),
    "rank": (RANK_DONE, lambda spark, at, to, tell: write_rank(spark, str(at), to, on_step=tell)),
    "related": (RELATED_DONE, lambda spark, at, to, tell: write_related(spark, str(at), to, on_step=tell)),
}


@pytest.mark.parametrize("name", JOBS)
def test_a_finished_job_does_not_read_its_remaining_steps(
    spark: Any, records: Path, shards: Path, place: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted, job = JOBS[name]
    source, output = records if name in ("pages", "store") else shards, place / "output"
    plans: list[dict[str, Any]] = []

    def stop(self: JobFolder, plan: Mapping[str, Any], done: str) -> None:
        assert done == noted
        plans.append(dict(plan))
        raise Stopped

    with monkeypatch.context() as patch, pytest.raises(Stopped):
        patch.setattr(JobFolder, "claim", stop)
        job(spark, source, str(output), Until())
    (output / WORK / "lists").mkdir(parents=True)
    (output / WORK / "plan.json").write_text(json.dumps(plans[0]))
    (output / WORK / "lists" / "_SUCCESS").write_text("")  # but no rows any more
    (output / noted).write_text(json.dumps(FACTS))
    again = Until()
    found = job(spark, source, str(output), again)
    assert found == FACTS
    assert not again.told and not (output / WORK).exists()
    with pytest.raises(BadParameter, match="exists already"):
        job(spark, source, str(output), again)
    assert json.loads((output / noted).read_text()) == FACTS


def test_a_plan_is_removed_after_the_steps(spark: Any, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output, plan = JobFolder(spark, str(place / "output")), {"job": "any"}
    assert output.claim(plan, "_any.json") is None
    output.write_json(f"{WORK}/a/read.json", {})
    output.write_json(f"{WORK}/z/read.json", {})
    removed: list[str] = []
    remove = JobFolder.remove

    def noting(self: JobFolder, name: str) -> None:
        removed.append(name)
        remove(self, name)

    monkeypatch.setattr(JobFolder, "remove", noting)
    output.finish("_any.json", {"is": "done"})
    assert sorted(removed[1:3]) == [f"{WORK}/a", f"{WORK}/z"] and removed[3:] == [f"{WORK}/plan.json", WORK]
    assert output.read_json("_any.json") == {"is": "done"}


def test_a_job_that_stopped_before_its_first_step(spark: Any, place: Path) -> None:
    (place / "output" / WORK).mkdir(parents=True)
    (place / "output" / WORK / "plan.json.new").write_text("{")
    output = JobFolder(spark, str(place / "output"))
    assert output.claim({"job": "other"}, "_any.json") is None
    output.write_json(f"{WORK}/groups.json", {"size": 3})
    assert output.claim({"job": "any"}, "_any.json") is None  # the other made nothing
    assert not output.exists(f"{WORK}/groups.json")
    (place / "output" / WORK / "keyed").mkdir()
    assert output.claim({"job": "any"}, "_any.json") is None  # goes on
    with pytest.raises(BadParameter, match="exists already"):
        output.claim({"job": "other"}, "_any.json")
    (place / "file").write_text("")
    with pytest.raises(BadParameter, match="exists already"):
        JobFolder(spark, str(place / "file")).claim({"job": "any"}, "_any.json")


@long
def test_a_store_that_stopped_while_it_removed_its_steps(
    spark: Any, records: Path, shards: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = place / "shards"

    def clean(self: JobFolder) -> None:
        for step in ("lists", "pages"):
            for file in (output / WORK / step).glob("*.parquet"):
                file.unlink()
        raise Stopped

    with monkeypatch.context() as patch, pytest.raises(Stopped):
        patch.setattr(JobFolder, "_clean", clean)
        write_store(spark, str(records), str(output))
    assert (output / WORK / "lists" / "_SUCCESS").exists()
    again = Until()
    write_store(spark, str(records), str(output), again)
    assert not again.told
    assert_alike(output, shards)


# Pages


@pytest.fixture
def sources(place: Path) -> list[Path]:
    """Three sources. The second has an unusable line."""
    found = []
    for number in range(3):
        found.append(place / f"{number}.jsonl")
        lines = [json.dumps({"url": f"https://s{number}.example/{n}", "links": ["https://t.example/"]}) for n in "ab"]
        found[-1].write_text("\n".join([*lines, *(["no JSON"] if number == 1 else [])]))
    return found


def test_pages(spark: Any, sources: list[Path], place: Path) -> None:
    output = place / "pages"
    first, again, names = Until("group=00001"), Until(), list(map(str, sources))
    with pytest.raises(Stopped):
        write_pages(spark, names, str(output), group=1, on_step=first)
    with pytest.raises(BadSource, match="is incomplete"):
        write_store(spark, str(output), str(place / "shards"))
    assert not (place / "shards").exists()
    with pytest.raises(BadParameter, match="exists already"):
        write_pages(spark, names[:2], str(output), group=1)
    done = write_pages(spark, names, str(output), group=2, on_step=again)  # groups stay as they were begun
    assert (first.told, again.told) == (["group=00000"], ["group=00001", "group=00002"])
    assert table(output).to_pylist() == one_machine(*sources) == one_machine(output)
    assert (done["read"]["records"], done["read"]["sources"], sum(done["skipped"].values())) == (6, 3, 1)
    assert json.loads((output / PAGES_DONE).read_text()) == done
    assert sorted(each.name for each in output.iterdir() if each.is_dir()) == [f"group=0000{n}" for n in range(3)]


@long
def test_pages_whose_count_was_lost_are_read_again(spark: Any, sources: list[Path], place: Path) -> None:
    output, again, names = place / "pages", Until(), list(map(str, sources))
    with pytest.raises(Stopped):
        write_pages(spark, names, str(output), group=2, on_step=Until("group=00001"))
    (output / WORK / "group=00000.json").unlink()  # stopped after the rows were there
    done = write_pages(spark, names, str(output), group=2, on_step=again)
    assert again.told == ["group=00000", "group=00001"]
    assert table(output).to_pylist() == one_machine(*sources)
    assert (done["read"]["records"], sum(done["skipped"].values())) == (6, 1)


@long
def test_a_store_of_pages_in_groups(spark: Any, records: Path, shards: Path, place: Path) -> None:
    """Groups, files and rows are read in the order of the sources: of several captures the last counts."""
    write_pages(spark, [str(records)], str(place / "pages"), group=2)
    write_store(spark, str(place / "pages"), str(place / "shards"))
    assert_alike(place / "shards", shards)


def assert_alike(one: Path, other: Path) -> None:
    """Both have the same rows and facts, and no steps."""
    for name in ("pages", "out", "in"):
        assert table(one / name).to_pylist() == table(other / name).to_pylist()
    noted = [json.loads((each / "_store.json").read_text()) for each in (one, other)]
    assert noted[0] == noted[1]
    assert noted[0]["skipped"]
    assert not (one / WORK).exists()
