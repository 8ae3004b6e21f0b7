"""Damaging stores, and reading everything of them: also run as a program, so that a crash cannot hide.

`python -m tests.graph.damage STORE SEED ROUNDS` fills arrays of copies of a store with noise, makes checksums fit, and
prints every failure other than the documented errors.
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
from unittest.mock import patch

import numpy as np

from cocite.errors import CociteError
from cocite.graph import check as check_module
from cocite.graph.build import passes as build_module
from cocite.graph.check import check
from cocite.graph.generation import digest, read_current
from cocite.graph.store import Graph
from cocite.sources.records import Link, Page
from tests.graph.webs import ADDRESSES, THOROUGH, extend, page, tight

PROBES = [
    "example.com",
    "https://example.com/a",
    "github.com/ann",
    "12",
    "Ada, Countess",
    "localhost",
    "x.unknown.example/a/b",
]


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
    """Make the checksums of a store fit whatever its files hold."""
    name = (store / "CURRENT").read_text().split()[0]
    manifest = json.loads((store / name / "manifest.json").read_bytes())
    for array, entry in manifest["arrays"].items():
        entry["digest"] = digest((store / name / f"{array}.bin").read_bytes())
    rewrite_manifest(store, manifest)


def rewrite_manifest(store: Path, manifest: dict[str, object]) -> None:
    """Put a manifest in the place of the current one."""
    name = (store / "CURRENT").read_text().split()[0]
    raw = json.dumps(manifest).encode()
    (store / name / "manifest.json").write_bytes(raw)
    (store / "CURRENT").write_text(f"{name} {digest(raw)}\n")


def make_noise(file: Path, dice: random.Random) -> None:
    """Change the bytes of a file, not their number."""
    data = np.frombuffer(file.read_bytes(), np.uint8).copy()
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
    file.write_bytes(data.tobytes())


def trials(store: Path, seed: int, rounds: int) -> Iterator[str]:
    """Damage each array of a copy of a store, `rounds` times; yields what went wrong."""
    folder, manifest = read_current(store)
    dice = random.Random(seed)
    for name in manifest["arrays"]:
        if not (folder / f"{name}.bin").stat().st_size:
            continue
        for _ in range(rounds):
            with tempfile.TemporaryDirectory(dir=store.parent) as place:
                copy = Path(place) / "copy"
                shutil.copytree(store, copy)
                make_noise(copy / folder.name / f"{name}.bin", dice)
                reseal(copy)
                yield from (f"{name}: {fault}" for fault in use(copy, dice.randrange(6) == 0))


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
    works: list[Callable[[], object]] = [lambda: check(store)]
    if adding:
        works.append(lambda: extend(store, [page("https://example.com/a", "https://new.example/")]))
    for work in works:
        try:
            work()
        except CociteError:
            pass
        except Exception:
            yield traceback.format_exc(limit=-4)


if __name__ == "__main__":
    with tight(), nullcontext() if THOROUGH else nothing_derived():
        faults = list(trials(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
    print(json.dumps(faults))
