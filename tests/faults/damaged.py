"""Commands on stores with changed bits under checksums that fit: each ends with an answer or one line that says why.

Nothing refuses such a store at its door, so whatever decodes an array has to stay inside it. Every array of a store, of
its layers and of its side data is changed, and so are the arrays of a store that keeps all captures. Every command that
reads runs on it, in a process with limits of time and memory.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from cocite.related import methods, ranks
from tests.faults.computing import MEMORY_BYTES, changes
from tests.faults.dying import command, finished, fork
from tests.faults.model import archive, store
from tests.fuzz.store import seal
from tests.graph.damage import ArrayPlace, array_places

MAX_SECONDS = 60
NOTHING, UNKNOWN = 1, 3
A, B = "https://site1.example/", "https://site2.example/"


class Damaged(NamedTuple):
    """One line of the log."""

    command: str
    trials: int
    answered: int
    refused: int


def commands(place: Path) -> dict[str, tuple[object, ...]]:
    """Every command that reads a store, in every way that reads links."""
    of = ("-i", store(place))
    made: dict[str, tuple[object, ...]] = {
        f"related -m {name}": ("related", A, B, "-m", name, "--explain", *of) for name in methods.names()
    }
    made |= {f"rank --by {name}": ("rank", "--by", name, "-q", *of) for name in ranks.names()}
    made |= {
        "hubs": ("hubs", A, *of), "communities": ("communities", A, B, *of), "links": ("links", A, *of),
        "compare": ("compare", A, *of), "recommend": ("recommend", A, B, *of), "cluster": ("cluster", A, B, *of),
        "similarity": ("similarity", A, B, *of), "search": ("search", "page", *of), "info": ("info", *of),
        "keywords": ("keywords", "--page", A, *of), "keywords --make": ("keywords", "--make", "-q", *of),
        "search --make": ("search", "--make", "-q", *of), "check": ("check", store(place)),
        "batch": ("batch", "-m", "cocitation", "-o", place / "out.tsv", "--threads", 1, *of),
        "add": ("add", place / "new.jsonl", "-q", *of), "remove": ("remove", B, "-q", *of),
        "clicks": ("clicks", place / "new-clicks.tsv", "-q", *of),
        "install": ("install", store(place), place / "copy", "-q"),
    }  # fmt: skip
    for ending in ("tsv", "csv", "parquet", "jsonl", "npz", "graphml", "gexf"):
        made[f"export to .{ending}"] = ("export", "-o", place / f"out.{ending}", "-q", *of)
    return made


def archive_commands(place: Path) -> dict[str, tuple[object, ...]]:
    """Commands that read captures."""
    path, url = store(archive(place)), "https://list1.example/"
    of, then = ("-i", path), ("--as-of", "2020")
    return {
        "check": ("check", path), "links --as-of": ("links", url, *then, *of),
        "changes": ("changes", url, "--from", "2019", *of),
        "related --as-of": ("related", url, "-m", "cocitation", *then, *of), "compact": ("compact", "-q", *of),
        "add": ("add", place / "more-captures.jsonl", "-q", *of), "remove": ("remove", url, "-q", *of),
    }  # fmt: skip


def all_places(model: Path) -> list[ArrayPlace]:
    """Every array of a store, its layers and its side data, and of the history of another."""
    beside = [file for file in sorted((store(model) / "side").rglob("*.bin")) if file.stat().st_size]
    kept = [place for place in array_places(store(archive(model))) if place.name.startswith("history.")]
    sides = [ArrayPlace(file.stem, file, 0, file.stat().st_size) for file in beside]
    return [*array_places(store(model)), *sides, *kept]


def damage_all(model: Path, rounds: int, seed: int, names: list[str], every: int = 1) -> Iterator[Damaged | str]:
    """Change every array so often (or each `every`-th), and run some commands each time; texts say what has failed."""
    dice = random.Random(seed)
    places = all_places(model)[seed % every :: every]
    ended: Counter[tuple[str, str]] = Counter()
    for number in range(rounds):
        for each in places:
            with changed(model, each, dice) as (place, what):
                every = commands(place) if each.file.is_relative_to(store(model)) else archive_commands(place)
                chosen = [name for name in every if name in names] or dice.sample(sorted(every), 3)
                for name in chosen:
                    try:
                        ended[name, run(*every[name])] += 1
                    except AssertionError as error:
                        yield f"seed {seed}, round {number}, {what}, {name}: {error}"
    for name in sorted({name for name, _ in ended}):
        counts = ended[name, "answered"], ended[name, "refused"]
        yield Damaged(name, sum(counts), *counts)


class changed:
    """A place whose store has other bits in one array, and checksums that fit; and what was changed."""

    def __init__(self, model: Path, array: ArrayPlace, dice: random.Random) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="damaged-", dir=model.parent)
        self._place = Path(shutil.copytree(model, Path(self._folder.name) / "place", copy_function=os.link))
        own_store = store(model) if array.file.is_relative_to(store(model)) else store(archive(model))
        path, where = self._place / own_store.relative_to(model), self._place / array.file.relative_to(model)
        self._what = f"{where.relative_to(self._place).as_posix()} {array.name}"
        for each in (where, *path.rglob("*.json"), *path.glob("*.layer"), path / "CURRENT"):  # which are linked
            own = each.read_bytes()
            each.unlink(missing_ok=True)
            each.write_bytes(own)

        def flip(raw: bytes) -> bytes:
            data = bytearray(raw)
            for at, mask in changes(len(data), 4, dice):
                if at < len(data):
                    data[at] ^= mask
                    self._what += f" [{at}]^{mask:#x}"
            return bytes(data)

        array._replace(file=where).change(flip)
        seal(path, [where])

    def __enter__(self) -> tuple[Path, str]:
        return self._place, self._what[:200]

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


def run(*words: object) -> str:
    """Run a command with limits; returns how it ended."""

    def prepare() -> None:
        os.dup2(os.open(said.name, os.O_WRONLY), 2)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        signal.alarm(MAX_SECONDS)

    with tempfile.NamedTemporaryFile("r") as said:
        work: Callable[[], object] = command(*words)
        code, text = finished(fork(work, prepare)), said.read()
    assert code in (0, NOTHING, 2, UNKNOWN), f"ended with {code}: {text[-800:]}"
    assert "Traceback" not in text and "Out of memory" not in text, text[-800:]
    return "answered" if code in (0, NOTHING, UNKNOWN) else "refused"
