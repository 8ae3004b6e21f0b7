"""Builds that fail: the old store stays, or nothing does; the next build works."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cocite.errors import BadSource, BadStore
from cocite.graph import generation
from cocite.graph.build import number
from cocite.graph.build.maintain import add
from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.check import check
from cocite.graph.generation import Writer, new_generation
from cocite.graph.store import Graph
from cocite.sources.records import Page, ReadReport, batch
from tests.conftest import ROOT
from tests.graph.webs import Records, make, page

A, B, C = (f"https://{name}.example/" for name in "abc")


class Failing:
    """A source that gives some records and then fails."""

    spec, kind = "failing", "test"

    def __init__(self, error: BaseException, batches: int = 3) -> None:
        self.error = error
        self.batches = batches

    def records(self) -> Iterator[pa.RecordBatch]:
        for i in range(self.batches):
            yield batch([page(f"https://new{i}.example/", A)])
        raise self.error


def assert_untouched(path: Path) -> None:
    """The store is the one that `make` made, and nothing lies about."""
    graph = Graph(path)
    assert [graph.address(i) for i in range(graph.pages)] == [A, B]
    assert check(path) == []
    assert sorted(file.name for file in path.iterdir()) == ["CURRENT", "g000001", "lock"]


@pytest.fixture
def store(place: Path) -> Path:
    make(place / "web.cocite", [page(A, B)])
    return place / "web.cocite"


@pytest.mark.parametrize(
    "error", [RuntimeError("no more"), BadSource("bad"), KeyboardInterrupt(), MemoryError(), OSError("x")]
)
@pytest.mark.parametrize("batches", [0, 1, 9])
def test_a_source_that_fails(store: Path, error: BaseException, batches: int) -> None:
    for run in (build, add):
        with pytest.raises(type(error)):
            run([Records([page(C, A)]), Failing(error, batches)], store, ReadReport(), BuildOptions(threads=2))
        assert_untouched(store)
    with pytest.raises(type(error)):
        build([Failing(error, batches)], store.parent / "fresh", ReadReport())
    assert not (store.parent / "fresh").exists()


def test_strict_stops_at_the_first_bad_record(store: Path) -> None:
    with pytest.raises(BadSource, match="strict"):
        build([Records([page(C, A), Page("mailto:x")])], store, ReadReport(strict=True))
    assert_untouched(store)


STAGES = [
    "build.passes.number_pages", "build.resolve.NumberedSpill.number", "build.resolve.NumberedSpill.choose_records",
    "build.sort_links.LinkSorter.sort", "build.passes.derive", "build.passes.gather_texts", "generation.publish",
    "generation.sync_folder", "generation.write_synced",
]  # fmt: skip


@pytest.mark.parametrize("stage", STAGES)
def test_a_full_disk_at_every_stage(store: Path, stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(f"cocite.graph.{stage}", full)
    with pytest.raises(BadStore, match="full"):
        build([Records([page(C, A)])], store, ReadReport())
    with pytest.raises(BadStore, match="full"):
        build([Records([page(C, A)])], store.parent / "fresh", ReadReport())
    monkeypatch.undo()
    assert [Graph(store).address(i) for i in range(2)] == [A, B]
    assert check(store) == []
    for path in (store, store.parent / "fresh"):
        make(path, [page(C, A)])
        assert Graph(path).pages == 2
        assert sorted(file.name for file in path.iterdir() if not file.name.startswith("g")) == ["CURRENT", "lock"]


def test_a_disk_that_fills_up_while_arrays_are_written(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = 0
    append = Writer.append

    def fill(self: Writer, name: str, values: Any) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        append(self, name, values)

    for calls in range(1, 60, 7):
        left = calls
        monkeypatch.setattr(Writer, "append", fill)
        with pytest.raises(BadStore, match="full"):
            build([Records([Page(C, "Title", "Text", [])])], store, ReadReport(), BuildOptions(threads=2))
        monkeypatch.undo()
        assert_untouched(store)


FULL_DISK = """
import sys
from pathlib import Path
from cocite.errors import BadStore
from cocite.graph.check import check
from cocite.graph.store import Graph
from tests.graph.webs import make, page

path = Path(sys.argv[1]) / "web.cocite"
make(path, [page("https://a.example/", "https://b.example/")])
links = [f"https://site{k * k}.example/" for k in range(1000)]
web = [page(f"https://site{i}.example/{i}", *links[i % 97 :: 97], text=f"{i}" * 999) for i in range(1000)]
refused = 0
for free in SIZES:
    filler = Path(sys.argv[1]) / "filler"
    room = __import__("shutil").disk_usage(path).free
    filler.write_bytes(bytes(max(0, room - free)))
    try:
        make(path, web, 100)
    except BadStore as error:
        assert "full" in str(error) or "room" in str(error), error
        refused += 1
        assert Graph(path).pages == 2, free
        assert check(path) == []
        assert not list(path.glob("work-*"))
    filler.unlink()
assert refused == len(SIZES), refused
make(path, web[:50], 10)
assert Graph(path).pages > 50
print("whole")
"""


def test_a_disk_that_is_really_full(place: Path) -> None:
    """A file system of a few megabytes, with less and less room."""
    code = FULL_DISK.replace("SIZES", "[0, 60_000, 200_000]")
    command = f'mount -t tmpfs -o size=24m none "{place}" && exec "{sys.executable}" -c "$CODE" "{place}"'
    try:
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", command],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, "CODE": code},
        )
    except FileNotFoundError:
        pytest.skip("needs unshare")
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"cannot make a small file system here: {done.stderr.splitlines()[0]}")
    assert done.stdout.strip() == "whole", done.stderr[-3000:]


KILLED = """
import sys, time
from pathlib import Path
from cocite.graph.build.passes import BuildOptions, build
from cocite.sources.records import ReadReport, batch
from tests.graph.webs import page

class Slow:
    spec, kind = "slow", "test"
    def records(self):
        for i in range(10**6):
            yield batch([page(f"https://new{i}.example/", "https://a.example/")])
            print("ready" if i == 20 else "", flush=True)
            time.sleep(0.001)

build([Slow()], Path(sys.argv[1]), ReadReport(), BuildOptions(threads=2))
"""


def test_a_killed_build_leaves_the_old_store(store: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(store)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    assert any("ready" in line for line in process.stdout)
    work = set(store.glob("work-*"))
    with pytest.raises(BadStore, match="another build"):
        make(store, [page(C, A)])
    assert set(store.glob("work-*")) == work, "a build that is under way is left alone"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert list(store.glob("work-*")), "it was killed in the middle"
    graph = Graph(store)
    assert [graph.address(i) for i in range(graph.pages)] == [A, B]
    assert check(store) == []
    make(store, [page(C, A)])
    assert Graph(store).get(C) is not None
    assert sorted(file.name for file in store.iterdir()) == ["CURRENT", "g000002", "lock"]


def test_a_build_killed_before_its_pointer_was_swapped(store: Path) -> None:
    shutil.copytree(store / "g000001", store / "g000002")
    (store / "CURRENT.new").write_text("g0000")
    assert [Graph(store).address(i) for i in range(2)] == [A, B]
    make(store, [page(C, A)])
    assert Graph(store).manifest["generation"] == 3
    assert sorted(file.name for file in store.iterdir()) == ["CURRENT", "g000003", "lock"]


def test_two_builds_into_one_place(store: Path) -> None:
    with new_generation(store), pytest.raises(BadStore, match="another build"):
        make(store, [page(C, A)])
    assert_untouched(store)
    with new_generation(store.parent / "fresh"), pytest.raises(BadStore, match="another build"):
        make(store.parent / "fresh", [page(C, A)])
    assert not (store.parent / "fresh").exists()


def test_folders_that_are_not_stores(place: Path) -> None:
    (place / "file").write_text("mine")
    with pytest.raises(BadStore, match="is a file"):
        make(place / "file", [page(A, B)])
    assert (place / "file").read_text() == "mine"
    for names in (
        ["notes.txt"],
        ["CURRENT", "LOG", "MANIFEST-000001"],
        ["lock", "work-notes"],
        ["lock", "g1", "thesis.tex"],
    ):
        folder = place / "folder"
        folder.mkdir()
        for name in names:
            (folder / name).write_text("mine")
        with pytest.raises(BadStore, match="other things"):
            make(folder, [page(A, B)])
        assert sorted(file.name for file in folder.iterdir()) == sorted(names)
        assert {file.read_text() for file in folder.iterdir()} == {"mine"}
        shutil.rmtree(folder)
    (place / "empty").mkdir()
    make(place / "empty", [page(A, B)])
    make(place / "a" / "b" / "c", [page(A, B)])
    assert Graph(place / "a" / "b" / "c").pages == Graph(place / "empty").pages == 2


def test_a_place_that_cannot_be_written(place: Path) -> None:
    (place / "file").write_text("x")
    with pytest.raises(BadStore, match="cannot write"):
        make(place / "file" / "web.cocite", [page(A, B)])


def test_a_damaged_store_can_be_built_again(store: Path) -> None:
    (store / "CURRENT").write_text("nonsense")
    make(store, [page(C, A)])
    assert Graph(store).get(C) is not None
    shutil.rmtree(next(store.glob("g*")))
    with pytest.raises(BadStore):
        Graph(store)
    make(store, [page(C, B)])
    assert Graph(store).get(B) is not None


def test_names_that_cannot_be_sorted(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number, "MIN_SORT_BYTES", 0)
    monkeypatch.setattr(number, "FEW_NAMES", 0)  # few names need no DuckDB
    with pytest.raises(BadStore, match="memory"):
        make(store, [page(C, A)], memory=1)
    assert_untouched(store)


def test_an_array_keeps_its_type(place: Path) -> None:
    writer = Writer(place)
    writer.append("x", np.zeros(3, np.uint32))
    with pytest.raises(TypeError):
        writer.append("x", np.zeros(3, np.uint64))
    writer.append("x", np.arange(2, dtype=np.uint32))
    assert writer.map("x").tolist() == [0, 0, 0, 0, 1]
    writer.close()
    assert writer.arrays["x"] == {
        "type": "<u4",
        "length": 5,
        "digest": generation.digest((place / "x.bin").read_bytes()),
    }
