"""Power loss: nothing acknowledged is lost, and a program that forgets to sync is found out."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.faults.power import Disk, reachable, recorded, torn


def replace_file(folder: Path, careful: bool) -> None:
    """Replace a file; without care, nothing is synced."""
    (folder / "new").write_bytes(b"new" * 1000)
    if careful:
        with (folder / "new").open("rb+") as file:
            os.fsync(file.fileno())
    (folder / "new").replace(folder / "file")
    if careful:
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


@pytest.mark.parametrize("careful", [True, False])
def test_a_file_that_is_replaced_with_care_is_old_or_new(tmp_path: Path, careful: bool) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "file").write_bytes(b"old" * 1000)
    disk = Disk(recorded(lambda: replace_file(place, careful), place))
    states, ended = set(), set()
    for number in range(400):
        at = number % len(disk)
        tree = disk.crash(at, random.Random(number))
        states.add(tree["file"])
        if at == len(disk) - 1:
            ended.add(tree["file"])
    whole = {b"old" * 1000, b"new" * 1000}
    assert (states == whole) is careful
    assert (ended == {b"new" * 1000}) is careful


def test_torn_blocks() -> None:
    dice = random.Random(1)
    made = {torn(b"a" * 1024, b"b" * 1000, dice) for _ in range(200)}
    assert len(made) == 9
    assert all(len(each) == 1000 and set(each) <= set(b"ab\0") for each in made)


def test_what_nobody_reads_does_not_matter() -> None:
    tree = {"web/CURRENT": b"g000002 x\ng000002-000001.layer y\n", "web/g000002-000001.layer": b"5", "web/lock": b""}
    tree |= {"web/g000002/a.bin": b"1", "web/g000001/a.bin": b"2"}
    tree |= {"web/side/clicks.json": b"clicks-0123abcd", "web/side/clicks-0123abcd/page.bin": b"3"}
    same = {**tree, "web/g000001/a.bin": b"9", "web/work-7/b": b"", "web/side/clicks-99999999/page.bin": b"4"}
    same["web/g000002-000002.layer"] = b"6"
    assert reachable(same) == reachable(tree)
    for name in (
        "web/CURRENT",
        "web/g000002/a.bin",
        "web/g000002-000001.layer",
        "web/side/clicks-0123abcd/page.bin",
    ):
        assert reachable({**tree, name: b"other g000002"}) != reachable(tree)
