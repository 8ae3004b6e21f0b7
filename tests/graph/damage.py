"""Damaging stores, and reading everything of them: also run as a program, so that a crash cannot hide.

`python -m tests.graph.damage STORE SEED ROUNDS` fills arrays of copies of a store with noise, makes checksums fit, and
prints every failure other than the documented errors. Of a store with layers, these are damaged; of one that keeps all
captures, the arrays of the history.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from cocite.errors import CociteError
from cocite.graph import check as check_module
from cocite.graph.build import passes as build_module
from cocite.graph.build.maintain import compact, remove
from cocite.graph.changes.history import history_of
from cocite.graph.check import check
from cocite.graph.generation import LAYER_HEADER_BYTES, digest, read_layer_manifest, read_pointer
from cocite.graph.store import Graph
from cocite.sources.records import Link, Page
from tests.graph.webs import ADDRESSES, THOROUGH, extend, make, page, tight

PROBES = [
    "example.com",
    "https://example.com/a",
    "github.com/ann",
    "12",
    "Ada, Countess",
    "localhost",
    "x.unknown.example/a/b",
]


class ArrayPlace(NamedTuple):
    """An array of a store: bytes [start, stop) of a file."""

    name: str
    file: Path
    start: int
    stop: int

    def change(self, change: Callable[[bytes], bytes]) -> None:
        """Put other bytes in the place of the array's, as many as these."""
        raw = self.file.read_bytes()
        own = change(raw[self.start : self.stop])
        assert len(own) == self.stop - self.start
        self.file.write_bytes(raw[: self.start] + own + raw[self.stop :])


def array_places(store: Path) -> list[ArrayPlace]:
    """All arrays of a store that have any bytes, and those of its layers."""
    folder, manifest, layers = read_pointer(store)
    found = []
    for name in manifest["arrays"]:
        file = folder / f"{name}.bin"
        found.append(ArrayPlace(name, file, 0, file.stat().st_size))
    for layer in layers:
        for name, entry in read_layer_manifest(store, layer)["arrays"].items():
            size = entry["length"] * np.dtype(entry["type"]).itemsize
            found.append(ArrayPlace(name, store / layer.file, entry["offset"], entry["offset"] + size))
    return [place for place in found if place.start < place.stop]


def layered_web(store: Path) -> None:
    """Make a store of a rich web with two layers, which have something in every array of a layer."""
    pages = rich_web()
    make(store, pages[::2])
    extend(store, pages[1::2])
    more = [Link(url, "a", 1, "of a layer", weight=0.5) for url in ADDRESSES[3:30]]
    again = Page("https://example.com/", "Other", "Other", [*more, Link(ADDRESSES[3], block=4)], captured="2026-01-01")
    remove([ADDRESSES[5]], store)
    extend(store, [page("https://new.example/", *ADDRESSES[:20]), again])


def rich_history() -> list[Page]:
    """Captures of several years."""
    dice, found = random.Random(6), []
    for year in (2005, 2010, 2015):
        for each in rich_web():
            links = [link for link in each.links if dice.random() < 0.8]
            day = f"{year}-01-0{dice.randrange(1, 9)}"
            found.append(
                Page(each.url, each.title + str(year), each.text, links, each.headings, each.status, captured=day)
                if each.links
                else each
            )
    return found


def rich_web() -> list[Page]:
    """A small web with something in every array of a store."""
    dice = random.Random(5)
    pages = []
    for i, url in enumerate(ADDRESSES):
        chosen = dice.sample(ADDRESSES, dice.choice([0, 3, 12, 20]))
        links = [
            Link(u, f"to {k}", k // 4 or None, f"near {k}", "nofollow" if k % 5 == 0 else "", 1 - k / 50)
            for k, u in enumerate(chosen)
        ]
        pages.append(Page(url, f"Title {i}", f"Text {i} " * 20, links, ["One", "Two"], 200, "", "", "2020-01-01", "en"))
    copies = [page(f"https://copy{i}.example/", *ADDRESSES[:15]) for i in range(4)]
    moved = [
        Page("https://old.example/", redirect="https://example.com/"),
        Page("https://older.example/", redirect="https://old.example/"),
    ]
    return [*pages, *copies, *moved]


def read_all(graph: Graph) -> Iterator[str]:
    """Everything that a Graph offers for every page; yields what raised anything but a CociteError."""

    def attempt(name: str, *arguments: object) -> Iterator[str]:
        try:
            attrgetter(name)(graph)(*arguments)
        except CociteError:
            pass
        except Exception:
            yield f"{name}{arguments}: {traceback.format_exc(limit=-3)}"

    for number in range(graph.pages):
        for name in (
            "links_from", "links_to", "weights_from", "canonical", "address", "alias_target", "site", "title", "text",
            "headings", "anchors", "contexts", "facts.fetched", "facts.noindex", "facts.status", "facts.captured",
            "facts.language", "facts.representative", "facts.near_duplicates", "best_parents",
        ):  # fmt: skip
            yield from attempt(name, number)
    for probe in PROBES:
        for name in ("find", "get", "names.pages_under", "names.nearest"):
            yield from attempt(name, probe)
    for unit in ("host", "domain", "site"):
        yield from attempt("units", unit)
    try:
        for _ in graph.links.iter_all(7):
            pass
    except CociteError:
        pass
    except Exception:
        yield f"iter_all: {traceback.format_exc(limit=-3)}"


def reseal(store: Path) -> None:
    """Make the checksums of a store fit whatever its files hold, and those of its layers."""
    base, *layers = (store / "CURRENT").read_text().splitlines()
    for at, line in enumerate(layers):
        file = store / line.split()[0]
        layers[at] = f"{file.name} {reseal_layer(file)}"
    (store / "CURRENT").write_text("".join(f"{line}\n" for line in (base, *layers)))
    name = base.split()[0]
    manifest = json.loads((store / name / "manifest.json").read_bytes())
    for array, entry in manifest["arrays"].items():
        entry["digest"] = digest((store / name / f"{array}.bin").read_bytes())
    rewrite_manifest(store, manifest)


def rewrite_manifest(store: Path, manifest: dict[str, object]) -> None:
    """Put a manifest in the place of the current one."""
    base, *layers = (store / "CURRENT").read_text().splitlines(keepends=True)
    name = base.split()[0]
    raw = json.dumps(manifest).encode()
    (store / name / "manifest.json").write_bytes(raw)
    (store / "CURRENT").write_text("".join((f"{name} {digest(raw)}\n", *layers)))


def reseal_layer(file: Path) -> str:
    """Make the checksums of a layer's arrays fit; returns the digest of its manifest, which stays as long as it was."""
    raw = bytearray(file.read_bytes())
    start, size = LAYER_HEADER_BYTES, int.from_bytes(raw[8:LAYER_HEADER_BYTES], "little")
    manifest = json.loads(raw[start : start + size])
    for entry in manifest["arrays"].values():
        end = entry["offset"] + entry["length"] * np.dtype(entry["type"]).itemsize
        entry["digest"] = digest(raw[entry["offset"] : end])
    text = json.dumps(manifest, sort_keys=True).encode()
    assert len(text) == size
    with file.open("r+b") as own:  # it may be mapped
        own.seek(start)
        own.write(text)
    return digest(text)


def make_noise(file: Path, dice: random.Random) -> None:
    """Change the bytes of a file, not their number."""
    file.write_bytes(noise(file.read_bytes(), dice))


def noise(raw: bytes, dice: random.Random) -> bytes:
    """Other bytes, as many as these."""
    data = np.frombuffer(raw, np.uint8).copy()
    kind = dice.randrange(5)
    if kind == 0:
        data[:] = np.frombuffer(dice.randbytes(len(data)), np.uint8)
    elif kind == 1:
        data[:] = dice.choice([0, 255, 1, 128])
    elif kind == 2:
        for _ in range(4):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    elif kind == 3:  # a stretch of noise
        start = dice.randrange(len(data))
        data[start : start + 16] = dice.randrange(256)
    else:  # in another order
        dice.shuffle(data)  # type: ignore[arg-type]
    return data.tobytes()


def trials(store: Path, seed: int, rounds: int) -> Iterator[str]:
    """Damage arrays of copies of a store, `rounds` times each; yields what went wrong."""
    _, manifest, layers = read_pointer(store)
    dice = random.Random(seed)
    for each in array_places(store):
        if (layers and each.file.suffix == ".bin") or ("history" in manifest and not each.name.startswith("history.")):
            continue  # these are damaged in a store that has nothing else
        for _ in range(rounds):
            with tempfile.TemporaryDirectory(dir=store.parent) as place:
                copy = Path(place) / "copy"
                shutil.copytree(store, copy)
                each._replace(file=copy / each.file.relative_to(store)).change(lambda raw: noise(raw, dice))
                reseal(copy)
                yield from (f"{each.name}: {fault}" for fault in use(copy, dice.randrange(6) == 0))


@contextmanager
def nothing_derived() -> Iterator[None]:
    """Leave out what is derived from links that were found whole: noise cannot reach it, and it takes half a minute to
    compile with bounds checked."""
    nothing = patch.object(check_module, "_check_derived", lambda *_: iter(()))
    with nothing, patch.object(build_module, "derive", lambda *_: iter(())):
        yield


def use(store: Path, adding: bool) -> Iterator[str]:
    """Open, read and check a store, and add to it."""
    try:
        graph = Graph(store)
    except CociteError:
        return
    yield from read_all(graph)
    works: list[Callable[[], object]] = [lambda: check(store), lambda: read_history(graph)]
    if adding:
        works.append(lambda: extend(store, [page("https://example.com/a", "https://new.example/")]))
        works += [lambda: remove([ADDRESSES[9]], store), lambda: compact(store)] if graph.arrays.layers else []
    for work in works:
        try:
            work()
        except CociteError:
            pass
        except Exception:
            yield traceback.format_exc(limit=-4)


def read_history(graph: Graph) -> None:
    """All captures of a store, as of each day and all of them."""
    history = history_of(graph)
    for until in range(-1, len(history.days)) if history is not None else ():
        for rows in history.read(until):  # type: ignore[union-attr]
            for name in ("title", "anchors"):
                column = history.text_column(name)  # type: ignore[union-attr]
                if column is not None:
                    column.of(rows, np.full(len(rows.row), -1))


if __name__ == "__main__":
    with tight(), nullcontext() if THOROUGH else nothing_derived():
        faults = list(trials(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
    print(json.dumps(faults))
