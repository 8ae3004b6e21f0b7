"""Files that are cut while they are mapped: the process goes on, knows which, and says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cocite.serving.mapped import MappedFiles, mappings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what is mapped")
READ = """
import hashlib, os, sys, threading
from pathlib import Path
import numpy as np
from cocite.log import Log
from cocite.serving.mapped import MappedFiles, survive_lost_files

survive_lost_files(Log())
file, seen = Path(sys.argv[1]), []
before, elsewhere = MappedFiles(file.parent), MappedFiles(Path("/nowhere"))
arrays = [np.memmap(file, np.uint8, mode="r") for _ in range(3)]
os.truncate(file, 4096)
threads = [threading.Thread(target=lambda: seen.append(int(arrays[0].sum()))),
           threading.Thread(target=lambda: seen.append(int(np.add.reduce(arrays[1])))),
           threading.Thread(target=lambda: seen.append(len(hashlib.sha256(arrays[2].data).digest())))]
for each in threads:
    each.start()
    each.join()
assert before.lost == [str(file)] * 3 and not MappedFiles(file.parent).lost, before.lost
assert elsewhere.lost == []
print(seen)
"""
WRITE = """
import mmap, os, sys
from cocite.log import Log
from cocite.serving.mapped import survive_lost_files

survive_lost_files(Log())
with open(sys.argv[1], "r+b") as file:
    mapped = mmap.mmap(file.fileno(), 0)
    os.truncate(sys.argv[1], 0)
    print(mapped[5000])
"""


def run(code: str, file: Path) -> subprocess.CompletedProcess[str]:
    file.write_bytes(b"\1" * (1 << 20))
    return subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True)


def test_a_file_that_is_cut_becomes_zeros(place: Path) -> None:
    ran = run(READ, place.resolve() / "a b.bin")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == [4096, 4096, 32]
    lines = [json.loads(line) for line in ran.stderr.splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [("file lost", "error")] * 3
    assert lines[0]["file"] == str(place.resolve() / "a b.bin") and "cocite install" in lines[0]["what"]


def test_what_is_no_file_of_a_store_ends_the_process(place: Path) -> None:
    """A mapping that can be written to is none of ours."""
    ran = run(WRITE, place / "other.bin")
    assert ran.returncode == -7 and json.loads(ran.stderr.splitlines()[0])["event"] == "bus error"


def test_files_changed_in_place(place: Path) -> None:
    for name in ("same", "cut", "written", "replaced", "removed"):
        (place / name).write_bytes(bytes(9000))
    arrays = [np.memmap(each, np.uint8, mode="r") for each in place.iterdir()]
    assert {Path(each.file).name for each in mappings()} >= {"same", "cut"}
    assert {Path(each.file).name for each in mappings(str(place.resolve()))} == {each.name for each in place.iterdir()}
    assert not [*mappings(str(place.resolve())[:-1])], "the beginning of a folder's name is another folder"
    seen = MappedFiles(place)
    assert seen.changed() == [] and len(seen.marks()) == len(arrays)
    os.truncate(place / "cut", 10)
    (place / "written").write_bytes(bytes(9000))
    os.utime(place / "written", ns=(1, 1))
    (place / "new").write_bytes(bytes(9000))
    (place / "new").replace(place / "replaced")
    (place / "removed").unlink()
    assert sorted(Path(file).name for file in seen.changed()) == ["cut", "written"]
