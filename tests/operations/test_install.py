"""`cocite install`: a verified copy replaces a store that others may have open."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cocite.errors import BadParameter, BadStore
from cocite.graph.build.maintain import compact, remove
from cocite.graph.check import check
from cocite.graph.clicks import open_clicks
from cocite.graph.generation import digest, new_generation, no_progress, read_current, read_pointer
from cocite.graph.side import read_side, write_side
from cocite.graph.store import Graph
from cocite.operations.store.install import Install, Installed
from cocite.snapshot import pointer_of, stamp_of
from cocite.sources.clicks import Trail
from cocite.sources.records import Link, Page, ReadReport
from tests.cli.conftest import LIST, NEWS, run
from tests.graph.trails import add_clicks
from tests.graph.webs import extend, files_of, make

OTHER = [Page("https://before.example/", links=[Link("https://news.example/"), Link(LIST)])]


def install(source: Path, dest: Path) -> Installed:
    return Install(store=str(source), dest=str(dest)).do(no_progress)


@pytest.fixture
def own(store: Path, tmp_path: Path) -> Path:
    """A copy of the small store, to change."""
    return Path(shutil.copytree(store, tmp_path / "own.cocite"))


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """Another store, in its second generation, with a layer, to be replaced."""
    make(tmp_path / "served.cocite", OTHER)
    compact(tmp_path / "served.cocite")
    extend(tmp_path / "served.cocite", [Page("https://later.example/")])
    return tmp_path / "served.cocite"


def put_side(store: Path, name: str, value: int) -> None:
    def files(folder: Path) -> tuple[dict[str, int], dict[str, np.ndarray]]:
        (folder / "words.txt").write_text(f"words {value}")
        return {"value": value}, {"values": np.full(3, value, np.uint32)}

    write_side(Graph(store), name, files)


def everything(store: Path) -> dict[str, bytes]:
    return {str(file.relative_to(store)): file.read_bytes() for file in store.rglob("*") if file.is_file()}


def count_click(store: Path, source: str, target: str) -> None:
    add_clicks(Graph(store), [Trail([source, target], [(0, 1)], 3.0)], ReadReport())


def test_onto_nothing(store: Path, tmp_path: Path) -> None:
    dest = tmp_path / "new" / "web.cocite"
    ran = run("install", store, dest, "--json", "-q")
    assert ran.code == 0, ran.err
    told, manifest = json.loads(ran.out), read_current(store)[1]
    assert (told["generation"], told["pages"], told["side"]) == (1, manifest["pages"], [])
    assert files_of(dest) == files_of(store)
    assert check(dest) == []
    assert sorted(file.name for file in dest.iterdir()) == ["CURRENT", "g000001", "lock"]


def test_onto_a_store_whose_reader_keeps_its_generation(store: Path, served: Path) -> None:
    reader, stamp = Graph(served), stamp_of(served, pointer_of(served))
    assert install(store, served).generation == 3
    assert stamp_of(served, pointer_of(served)) != stamp  # servers look at this
    assert reader.links_from(reader.find("before.example")).targets.size == 2
    assert reader.get(LIST) is not None
    fresh = Graph(served)
    assert fresh.get("before.example") is None
    assert fresh.manifest["id"] == Graph(store).manifest["id"]
    assert check(served) == []
    assert [file.name for file in served.glob("[gw]*")] == ["g000003"]
    assert install(store, served).generation == 4  # the same again


def test_side_data_come_along_and_those_of_the_old_generation_go(own: Path, served: Path) -> None:
    put_side(own, "rank_a", 1)
    put_side(served, "rank_a", 2)
    put_side(served, "rank_b", 2)
    for _ in range(2):  # the second time, both have side data of one origin
        assert install(own, served).side == ["rank_a"]
        side = read_side(Graph(served), "rank_a", "")
        assert side is not None
        assert side.array("values").tolist() == [1, 1, 1]
        assert (side.folder / "words.txt").read_text() == "words 1"
        assert read_side(Graph(served), "rank_b", "", stale=True) is None
        assert len([file for file in (served / "side").iterdir() if file.is_dir()]) == 1
    put_side(served, "rank_b", 3)  # of the same generation: it stays
    install(own, served)
    assert read_side(Graph(served), "rank_b", "") is not None
    put_side(own, "words", 1)
    extend(own, OTHER)  # now the words of the source are stale: they aren't copied; its rank can still be read
    assert install(own, served).side == ["rank_a"]
    assert read_side(Graph(served), "rank_a", "", lagging=True) is not None
    assert [file.name for file in (served / "side").glob("*.json")] == ["rank_a.json"]
    compact(own)  # it is stale now: it isn't copied, and the old one goes
    assert install(own, served).side == []
    assert [file.name for file in (served / "side").glob("*.json")] == []
    assert check(served) == []


def test_layers_come_along(own: Path, served: Path) -> None:
    later = Page("https://later.example/", title="Later", links=[Link(LIST)])
    extend(own, OTHER)
    extend(own, [later])
    remove([NEWS], own)
    assert install(own, served).generation == 3
    numbers = [layer.number for layer in read_pointer(own)[2]]
    assert numbers == [1, 2, 3], "none was merged"
    assert sorted(file.name for file in served.glob("g*")) == ["g000003", *(f"g000003-{n:06d}.layer" for n in numbers)]
    installed, source = Graph(served), Graph(own)
    assert installed.manifest["id"] == source.manifest["id"] and check(served) == []
    assert (len(installed), len(installed.links)) == (len(source), len(source.links))
    assert installed.title(installed.find("later.example")) == "Later"
    assert installed.get(NEWS) is None and installed.removed == source.removed
    extend(served, [replace(later, title="Later still")])  # a copy can be changed, as any store
    assert Graph(served).title(Graph(served).find("later.example")) == "Later still" and check(served) == []
    compact(own)
    extend(own, [Page("https://last.example/")])
    assert install(own, served).generation == 4
    assert sorted(file.name for file in served.glob("g*")) == ["g000004", "g000004-000001.layer"]
    nothing = served.parent / "nothing"
    assert install(own, nothing).generation == 1 and check(nothing) == []


def test_a_damaged_layer_changes_nothing(own: Path, served: Path) -> None:
    extend(own, OTHER)
    file = next(own.glob("*.layer"))
    before, whole = everything(served), file.read_bytes()
    for at in (len(whole) - 1, 20):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(BadStore, match="damaged"):
            install(own, served)
    file.unlink()
    with pytest.raises(BadStore, match="is missing"):
        install(own, served)
    assert everything(served) == before


def test_a_source_that_changes_meanwhile(own: Path, served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extend(own, OTHER)
    before, copyfile = everything(served), shutil.copyfile

    def copy(source: Path, target: Path) -> None:
        if source.suffix == ".layer":
            compact(own)
        copyfile(source, target)

    monkeypatch.setattr(shutil, "copyfile", copy)
    with pytest.raises(BadStore, match="changed meanwhile"):
        install(own, served)
    assert everything(served) == before


def test_clicks_are_those_of_the_source_or_else_stay(own: Path, served: Path) -> None:
    count_click(served, "before.example", LIST)
    count_click(served, LIST, NEWS)
    install(own, served)
    assert open_clicks(Graph(served)).total == 3  # without those of a page that is gone
    count_click(own, NEWS, LIST)
    assert install(own, served).side == ["clicks"]
    graph = Graph(served)
    assert open_clicks(graph).after(graph.find(NEWS)).pages.tolist() == [graph.find(LIST)]
    assert open_clicks(graph).total == 3


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "array": lambda store: flip(read_current(store)[0] / "out.words.bin"),
    "missing array": lambda store: (read_current(store)[0] / "out.words.bin").unlink(),
    "manifest": lambda store: flip(read_current(store)[0] / "manifest.json"),
    "side": lambda store: flip(next(store.glob("side/rank_a-*/words.txt"))),
    "side description": lambda store: flip(store / "side/rank_a.json"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_source_changes_nothing(damage: str, own: Path, served: Path) -> None:
    put_side(own, "rank_a", 1)
    DAMAGE[damage](own)
    before = everything(served)
    with pytest.raises(BadStore, match=r"damaged|checksum|unreadable"):
        install(own, served)
    assert everything(served) == before
    nothing = served.parent / "nothing"
    with pytest.raises(BadStore):
        install(own, nothing)
    assert not nothing.exists()


def test_a_description_cannot_name_files_elsewhere(own: Path, served: Path) -> None:
    put_side(own, "rank_a", 1)
    file = own / "side" / "rank_a.json"
    body = json.loads(json.loads(file.read_bytes())["body"]) | {"folder": ".."}
    text = json.dumps(body)
    file.write_text(json.dumps({"digest": digest(text.encode()), "body": text}))
    before = everything(served)
    with pytest.raises(BadStore, match="names the folder"):
        install(own, served)
    assert everything(served) == before


def test_a_full_disk_changes_nothing(store: Path, served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(source), None, str(target))

    before = everything(served)
    monkeypatch.setattr(shutil, "copyfile", fail)
    with pytest.raises(BadStore, match=r"served.cocite is full"):
        install(store, served)
    assert everything(served) == before


def test_places_that_are_refused(store: Path, served: Path, tmp_path: Path) -> None:
    other = tmp_path / "letters"
    other.mkdir()
    (other / "letter.txt").write_text("mine")
    with pytest.raises(BadStore, match="other things in it"):
        install(store, other)
    assert [file.name for file in other.iterdir()] == ["letter.txt"]
    with pytest.raises(BadStore, match="is a file"):
        install(store, other / "letter.txt")
    with pytest.raises(BadStore, match="no store at"):
        install(tmp_path / "nowhere", served)
    (tmp_path / "link").symlink_to(store)
    for place in (store, tmp_path / "link", store / ".." / store.name):
        with pytest.raises(BadParameter, match="the store itself"):
            install(store, place)
    with pytest.raises(BadParameter, match="inside the other"):
        install(store, store / "inside")
    with new_generation(served), pytest.raises(BadStore, match="another build is writing"):
        install(store, served)
    assert run("install", store, store).code == 2
