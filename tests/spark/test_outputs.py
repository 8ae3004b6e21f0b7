"""Where jobs write and read: any name of a folder, one job at a time, nothing inside what is read."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from cocite.errors import BadParameter, BadSource
from cocite.spark.outputs import JobFolder, open_shards
from cocite.spark.rank import write_rank
from cocite.spark.store import write_store

NAME = "a [1] {x,y} ü*?"


def test_any_name_of_a_folder(spark: Any, place: Path) -> None:
    output = JobFolder(spark, str(place / NAME))
    assert output.claim({"job": "any"}, "_any.json") is None
    assert output.step("rows", lambda: spark.range(3)).count() == 3
    assert output.step("rows", lambda: spark.range(4)).count() == 3, "it exists"
    output.finish("_any.json", {})
    assert sorted(each.name for each in (place / NAME).iterdir() if each.suffix != ".crc") == ["_any.json", "rows"]


def test_shards_in_a_folder_of_any_name(spark: Any, shards: Path, place: Path) -> None:
    shutil.copytree(shards, place / NAME)
    facts, pages, out, into = open_shards(spark, str(place / NAME))
    assert [pages.count(), out.count(), into.count()] == [facts["pages"], facts["lists"], facts["links"]]


@pytest.mark.parametrize("folder", ["pages", "out", "in"])
def test_shards_that_lost_a_file_are_refused(spark: Any, shards: Path, place: Path, folder: str) -> None:
    shutil.copytree(shards, place / "shards")
    files = sorted((place / "shards" / folder).glob("*.parquet"))
    files[0].unlink()
    why = rf"\({folder} has [\d,]+ rows of [\d,]+\): make them" if len(files) > 1 else "it has no Parquet files"
    with pytest.raises(BadSource, match=why):
        write_rank(spark, str(place / "shards"), str(place / "rank"))
    assert not (place / "rank").exists()
    shutil.rmtree(place / "shards" / folder)
    with pytest.raises(BadSource, match="has no shards: the folder does not exist"):
        write_rank(spark, str(place / "shards"), str(place / "rank"))


def test_one_job_at_a_time(spark: Any, place: Path) -> None:
    """A process that writes the folder has a lock on it until it ends."""
    (place / "output").mkdir()
    held = os.open(place / "output", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    output = JobFolder(spark, str(place / "output"))
    with pytest.raises(BadParameter, match="Another job is writing"):
        output.claim({"job": "any"}, "_any.json")
    os.close(held)
    assert output.claim({"job": "any"}, "_any.json") is None
    held = os.open(place / "output", os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    output.finish("_any.json", {})
    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(held)


def test_a_disk_without_locks(spark: Any, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    output = JobFolder(spark, str(place / "output"))
    assert output.claim({"job": "any"}, "_any.json") is None
    output.finish("_any.json", {})


def test_an_output_inside_a_source_is_refused(spark: Any, records: Path, place: Path) -> None:
    inside = records / "shards"
    with pytest.raises(BadParameter, match=r"is inside the source .*: choose a place beside it"):
        write_store(spark, str(records), str(inside))
    assert not inside.exists()
    JobFolder(spark, str(records) + "-beside").refuse_inside(str(records))


def test_records_are_identified_by_their_size(spark: Any, place: Path) -> None:
    """A job that continues must have the records with which it started."""
    output = JobFolder(spark, str(place / "records"))
    assert output.size() == []
    (place / "records" / "group=0").mkdir(parents=True)
    (place / "records" / "group=0" / "one.parquet").write_bytes(b"12345")
    (place / "records" / "two.parquet").write_bytes(b"678")
    assert output.size() == [2, 8]
