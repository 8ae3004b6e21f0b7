"""Side data: kept beside a store, checked with it, never in its way."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cocite.errors import BadStore
from cocite.graph.check import check
from cocite.graph.side import drop_side, faults_of_sides, is_left_over, read_side, remove_replaced, write_side
from cocite.graph.store import Graph
from tests.graph.webs import make, page


@pytest.fixture
def graph(place: Path) -> Graph:
    make(place / "web.cocite", [page("https://a.example/", "https://b.example/")])
    return Graph(place / "web.cocite")


def keep(graph: Graph) -> None:
    def write(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        (folder / "index.dat").write_bytes(b"whatever its maker likes")
        (folder / "its.lock").touch()
        return {"made": "by hand"}, {"numbers": np.arange(100, dtype=np.uint32)}

    write_side(graph, "thing", write)
    side = read_side(graph, "thing", "make thing")
    assert side is not None
    assert list(side.files) == ["index.dat"]
    assert side.files["index.dat"][0] == len(b"whatever its maker likes")


def test_kept_and_read_back(graph: Graph) -> None:
    assert read_side(graph, "thing", "make thing") is None
    keep(graph)
    (graph.path / "side" / ".thing.json.12345").touch()  # by a process that was killed before it gave it its name
    keep(graph)  # the older one goes, and so does that
    assert len(list((graph.path / "side").glob("thing-*"))) == 1
    assert not list((graph.path / "side").glob(".thing.json*"))
    side = read_side(graph, "thing", "make thing")
    assert side is not None
    assert side.about == {"made": "by hand"}
    assert side.array("numbers").tolist() == list(range(100))
    assert side.whole()
    assert check(graph.path) == []


def test_check_finds_one_changed_byte_in_any_file(graph: Graph) -> None:
    keep(graph)
    for file in (graph.path / "side").rglob("*.*"):
        if file.is_dir() or file.suffix == ".lock":
            continue
        whole = file.read_bytes()
        file.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
        faults = check(graph.path)
        assert [fault.where for fault in faults] == ["side/thing"], file
        file.write_bytes(whole[:-1])
        assert [fault.where for fault in check(graph.path)] == ["side/thing"], file
        file.unlink()
        assert len(check(graph.path)) == (0 if file.suffix == ".json" else 1), file  # without it there are no such data
        file.write_bytes(whole)
    assert check(graph.path) == []


def test_stale_data_are_refused_and_no_fault(graph: Graph) -> None:
    keep(graph)
    make(graph.path, [page("https://c.example/", "https://d.example/")])
    with pytest.raises(BadStore, match="made before the store was changed: make it again with make thing"):
        read_side(Graph(graph.path), "thing", "make thing")
    assert check(graph.path) == []


def test_damage_of_stale_data_is_found(graph: Graph) -> None:
    """Clicks are read though they are stale."""
    keep(graph)
    make(graph.path, [page("https://c.example/", "https://d.example/")])
    file = next((graph.path / "side").glob("thing-*")) / "numbers.bin"
    file.write_bytes(b"\1" + file.read_bytes()[1:])
    assert [fault.where for fault in check(graph.path)] == ["side/thing"]


def test_a_path_with_damaged_in_its_name_is_not_damage(place: Path) -> None:
    """A message has the path in it."""
    path = place / "damaged, not there" / "web.cocite"
    make(path, [page("https://a.example/", "https://b.example/")])
    keep(Graph(path))
    make(path, [page("https://c.example/", "https://d.example/")])
    assert check(path) == []


def test_leftovers_of_a_killed_command(graph: Graph) -> None:
    assert not is_left_over(graph, "thing")
    keep(graph)
    assert not is_left_over(graph, "thing")
    make(graph.path, [page("https://c.example/", "https://d.example/")])
    changed = Graph(graph.path)
    assert is_left_over(changed, "thing"), "of another generation"
    (graph.path / "side" / "thing.json").unlink()
    assert is_left_over(changed, "thing"), "a folder that nothing names"
    drop_side(changed, "thing", "the thing")
    assert not is_left_over(changed, "thing")
    assert not list((graph.path / "side").glob("thing*"))


def test_what_newer_data_have_replaced_is_removed(graph: Graph) -> None:
    """A command may be killed when it has named the new folder, and the old one is still there."""
    keep(graph)
    kept, left = [*(graph.path / "side").glob("thing-*")], graph.path / "side" / "thing-0123abcd"
    left.mkdir()
    (left / "words.bin").write_bytes(b"of a page that was removed")
    remove_replaced(graph)
    assert [*(graph.path / "side").glob("thing-*")] == kept and kept != [left]


def test_reading_while_it_is_made_again(graph: Graph) -> None:
    """Its description may name a folder that is gone by the time that it is looked for: then there is another."""
    keep(graph)
    done = threading.Event()

    def look() -> int:
        times = 0
        while not done.is_set() or not times:
            assert read_side(graph, "thing", "make thing") is not None
            assert list(faults_of_sides(graph)) == []
            times += 1
        return times

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        for _ in range(40):
            keep(graph)
        done.set()
        assert looking.result() > 0


def test_a_failed_write_keeps_the_old_data(graph: Graph) -> None:
    keep(graph)

    def fail(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        (folder / "index.dat").write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_side(graph, "thing", fail)
    side = read_side(graph, "thing", "make thing")
    assert side is not None
    assert len(side.array("numbers")) == 100
    assert len(list((graph.path / "side").glob("thing-*"))) == 1
