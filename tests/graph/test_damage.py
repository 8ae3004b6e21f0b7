"""A damaged store: found by `check`, refused or read harmlessly, never a crash."""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from cocite.errors import BadStore, UnknownPage
from cocite.graph.arrays import TEXT_COLUMNS
from cocite.graph.build.maintain import remove
from cocite.graph.check import check
from cocite.graph.clicks import open_clicks
from cocite.graph.generation import digest, no_progress, read_current
from cocite.graph.side import read_side
from cocite.graph.store import Graph
from cocite.operations.store.build import Remove
from cocite.sources.clicks import Trail
from cocite.sources.records import ReadReport
from cocite.words.keywords import KEYWORDS
from cocite.words.search import renew_search
from tests.graph.damage import read_all, reseal, rewrite_manifest, rich_web
from tests.graph.trails import add_clicks
from tests.graph.webs import THOROUGH, extend, make, page, tight


@pytest.fixture(scope="module")
def whole(fast_root: Path) -> Iterator[Path]:
    """A store that no test may change; limits are tight while it is used, for `check` knows them."""
    path = fast_root / "whole.cocite"
    with tight():
        make(path, rich_web())
        yield path


@pytest.fixture
def store(whole: Path, place: Path) -> Path:
    """A store to damage."""
    return Path(shutil.copytree(whole, place / "web.cocite"))


def current_files(store: Path) -> list[Path]:
    folder, _ = read_current(store)
    return [store / "CURRENT", *sorted(folder.iterdir())]


def test_an_intact_store_has_no_faults(whole: Path) -> None:
    assert check(whole) == []
    assert list(read_all(Graph(whole))) == []
    empty = {name for name, entry in Graph(whole).manifest["arrays"].items() if not entry["length"]}
    far = {"out.far", "in.far", "repeat.far"}  # of thousands of pages: tests/kernels/test_list_bounds.py
    assert empty <= {"removed", "removed.digest", *far}, "the rich web has something in every array"


def test_every_flipped_byte_is_found(store: Path) -> None:
    dice = random.Random(1)
    for file in current_files(store):
        original = file.read_bytes()
        for _ in range(20 if THOROUGH else 1):
            if not original:
                continue
            data = bytearray(original)
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
            file.write_bytes(data)
            with suppress(BadStore):
                assert check(store), f"{file.name} was changed, and check did not find it"
            if THOROUGH:  # noise, read with bounds checked, tells more (test_noise.py)
                with suppress(BadStore):
                    assert list(read_all(Graph(store))) == []
        file.write_bytes(original)
    assert check(store) == []


def test_damage_is_not_hidden_by_a_change(store: Path) -> None:
    """A new generation has checksums of its own: what it is made of is verified before."""
    dice = random.Random(2)
    (known, *_) = (Graph(store).address(page) for page in range(3))
    for file in current_files(store)[1:]:
        original = file.read_bytes()
        if not original or file.name == "manifest.json":
            continue
        data = bytearray(original)
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        file.write_bytes(data)
        for change in (lambda: extend(store, [page(known, "https://new.example/")]), lambda: remove([known], store)):
            with pytest.raises(BadStore, match="damaged"):
                change()
        assert file.read_bytes() == bytes(data), "the evidence is still there"
        assert check(store)
        file.write_bytes(original)
    assert check(store) == []


def test_checking_while_the_store_changes(store: Path) -> None:
    """Each check is of the generation that it found, all of it, though that is replaced and removed meanwhile."""
    found, done = [], threading.Event()

    def look() -> None:
        while not done.is_set():
            found.append(check(store))

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        for number in range(6):
            extend(store, [page(f"https://new{number}.example/", "https://a.example/")])
        done.set()
        looking.result()
    assert found
    assert not any(found)


POINTERS = [
    "g000001 {digest}\r\n", "g000001\t{digest}\n", "g000001 {digest}", "g1 {digest}\n", "\n", "", "g000001\n",
    "g000009 {digest}\n", "../x {digest}\n", "g000001 {digest} x\n",
]  # fmt: skip


@pytest.mark.parametrize("change", POINTERS)
def test_a_damaged_pointer_is_refused(store: Path, change: str) -> None:
    digest = (store / "CURRENT").read_text().split()[1]
    (store / "CURRENT").write_bytes(change.format(digest=digest).encode())
    with pytest.raises(BadStore):
        Graph(store)
    with pytest.raises(BadStore):
        check(store)


def test_no_pointer_no_folder_no_store(store: Path, place: Path) -> None:
    (store / "CURRENT").unlink()
    with pytest.raises(BadStore, match="cocite build"):
        Graph(store)
    with pytest.raises(BadStore, match="cocite build"):
        Graph(place / "nothing")
    (place / "file").write_text("x")
    with pytest.raises(BadStore):
        Graph(place / "file")


def test_every_missing_or_cut_file_is_refused_and_named(store: Path) -> None:
    for number, file in enumerate(current_files(store)[1:]):
        original = file.read_bytes()
        changes = [None, original + b"x", *([original[:-1], b""] if original else [])]
        for data in changes if THOROUGH else changes[number % len(changes) :][:1]:
            file.unlink()
            if data is not None:
                file.write_bytes(data)
            with pytest.raises(BadStore, match=f"manifest|{file.name}|generation"):
                Graph(store)
            try:
                assert file.stem in {fault.where for fault in check(store)}
            except BadStore:
                assert file.name == "manifest.json"
            file.write_bytes(original)
    assert check(store) == []


def test_an_unexpected_file_is_found(store: Path) -> None:
    (read_current(store)[0] / "stray.bin").write_bytes(b"x")
    assert [fault.where for fault in check(store)] == ["stray.bin"]


def test_the_error_for_a_newer_format_has_advice(store: Path) -> None:
    manifest = read_current(store)[1]
    rewrite_manifest(store, manifest | {"format": 99})
    with pytest.raises(BadStore, match=r"format 99.*upgrade"):
        Graph(store)
    with pytest.raises(BadStore, match="format 99"):
        check(store)


@pytest.mark.parametrize("field", ["pages", "links"])
@pytest.mark.parametrize("value", [0, 1, 10**9])
def test_a_manifest_that_contradicts_its_arrays(store: Path, field: str, value: int) -> None:
    rewrite_manifest(store, read_current(store)[1] | {field: value})
    with suppress(BadStore):
        assert check(store)


def test_a_manifest_whose_arrays_have_other_lengths_or_types(store: Path) -> None:
    manifest = read_current(store)[1]
    for name, entry in manifest["arrays"].items():
        size = int(entry["length"]) * int(entry["type"][2:])
        for kind in ("|u1", "<u2", "<i4", "<u4", "<u8", "<f8"):
            if kind == entry["type"] or size % int(kind[2:]) or not size:
                continue
            other = {**entry, "type": kind, "length": size // int(kind[2:])}
            rewrite_manifest(store, manifest | {"arrays": manifest["arrays"] | {name: other}})
            with pytest.raises(BadStore):
                Graph(store)
        rest = {other: value for other, value in manifest["arrays"].items() if other != name}
        rewrite_manifest(store, manifest | {"arrays": rest})
        with suppress(BadStore):
            assert list(read_all(Graph(store))) == [], name


def test_damage_that_checksums_cannot_find(store: Path) -> None:
    """A store written wrong, its checksums right."""
    folder, manifest = read_current(store)
    unnoticed = []
    for name, entry in manifest["arrays"].items():
        file = folder / f"{name}.bin"
        original = file.read_bytes()
        if not original or name in MEANINGLESS:
            continue
        width = int(entry["type"][2:])
        data = bytearray(original)
        data[-width] ^= 1  # the last value's lowest bit
        file.write_bytes(data)
        reseal(store)
        try:
            if not check(store):
                unnoticed.append(name)
        except BadStore:
            pass
        file.write_bytes(original)
        reseal(store)
    assert unnoticed == []


MEANINGLESS = {
    "name.spelling", "out.weight", "page.captured", "page.status", "page.language", "page.kind", "page.site",
    "removed", "removed.digest", "site.page", "host.domain", "alias.target",
    *(f"{name}.{part}" for name in TEXT_COLUMNS for part in ("pages", "data")),
}  # fmt: skip
"""Arrays whose values are right or wrong by nothing else in the store."""


@pytest.mark.parametrize(
    "nonsense", [b"\xff", b"", b"[]", b"7", b'{"format": "x"}', b'{"format": []}', b'{"arrays": 7}']
)
def test_an_empty_manifest(store: Path, nonsense: bytes) -> None:
    """With a checksum that fits: somebody has made it so."""
    folder, _ = read_current(store)
    (folder / "manifest.json").write_bytes(nonsense)
    (store / "CURRENT").write_text(f"{folder.name} {digest(nonsense)}\n")
    for open_it in (Graph, check):
        with pytest.raises(BadStore):
            open_it(store)


def test_a_remove_that_died_is_finished_by_the_next(store: Path) -> None:
    """Its layer was current: older ones, unfinished work, and clicks and words of the page were still there."""
    gone, other, *_ = (graph := Graph(store)).address(0), graph.address(1)
    add_clicks(graph, [Trail([other, gone], [(0, 1)], 5), Trail([gone, other], [(0, 1)], 2)], ReadReport())
    renew_search(store, wanted=True)
    KEYWORDS.build(Graph(store))
    before = side_folders(store)
    assert {name.partition("-")[0] for name in before} == {"clicks", "search", "vectors", "keywords"}
    with patch("cocite.graph.build.maintain.renew_clicks", side_effect=KeyboardInterrupt), suppress(KeyboardInterrupt):
        Remove(urls=(gone,), index=str(store)).do(no_progress)
    assert Graph(store).get(gone) is None and side_folders(store) == before, "it died when its layer was written"
    shutil.copy(store / "g000001-000001.layer", store / "g000001-000007.layer")  # of a merge, for example
    shutil.copytree(store / "g000001", store / "g000002")
    (store / "work-1").mkdir()
    with pytest.raises(UnknownPage, match="removed already"):
        Remove(urls=(gone,), index=str(store)).do(no_progress)
    left = ["CURRENT", "g000001", "g000001-000001.layer", "lock", "side"]
    assert sorted(each.name for each in store.iterdir()) == left
    after = side_folders(store)
    assert not after & before and {name.partition("-")[0] for name in after} == {"clicks", "search", "vectors"}
    graph = Graph(store)
    for name in ("clicks", "search", "vectors"):
        assert read_side(graph, name, "") is not None, "it is of the store as it is now"
    assert open_clicks(graph).total == 0
    assert check(store) == []


def test_an_add_of_nothing_new_removes_what_a_killed_command_left(store: Path) -> None:
    new = [page("https://new.example/", "https://newer.example/")]
    extend(store, new)
    shutil.copy(store / "g000001-000001.layer", store / "g000001-000002.layer")
    shutil.copytree(store / "g000001", store / "g000002")
    extend(store, new)
    names = ["CURRENT", "g000001", "g000001-000001.layer", "lock"]
    assert sorted(each.name for each in store.iterdir()) == names


def side_folders(store: Path) -> set[str]:
    return {each.name for each in (store / "side").iterdir() if each.is_dir()}
