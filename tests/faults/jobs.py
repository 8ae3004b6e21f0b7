"""The jobs that are killed, and what must be true afterwards."""

from __future__ import annotations

import re
import shutil
import socket
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cocite.answers.batch import batch, linked_pages
from cocite.graph.check import check
from cocite.graph.store import Graph
from cocite.ranks import rank
from tests.faults.dying import command, duration, end_all, finished, fork

SITES, LINKS, PART = 40, 6, 50
UNKNOWN = 3  # what was removed is not there to be removed again
LOADED = ("rich.progress", "cocite.sources.open_source", "cocite.sources.html", "cocite.words.make_vectors")
for _name in (*LOADED, "cocite.surfaces.cli.build"):
    import_module(_name)  # before processes are forked: else each of hundreds would take seconds for it


@dataclass(frozen=True)
class Job:
    """Something that writes, where it writes, and what is proven after it died and after it was run again."""

    name: str
    work: Callable[[Path], Callable[[], object]]
    before: Callable[[Path], Any]  # what a place holds; equal before and after the death, or `after`
    leftovers: Callable[[Path], list[str]]  # names that a complete run leaves
    so_far: Callable[[Path], list[Any]] = lambda place: []  # what is there of the new, if it comes in parts
    finished: Callable[[Path], dict[str, int]] = lambda place: {}  # parts that another run must not make again
    done: int = 0  # how another run ends after one that had done everything

    def prove(self, place: Path, old: Any, new: Any, names: list[str]) -> str:
        """After a death: the old or the new, never something between; after another run: the new, and no litter."""
        held = self.before(place)
        if held not in (old, new):
            raise AssertionError(f"{self.name}: neither old nor new")
        kept = "new" if held == new else "old"
        if any(each not in new for each in self.so_far(place)):
            raise AssertionError(f"{self.name}: a part that is there is not right")
        parts = self.finished(place)
        code = finished(fork(self.work(place)))
        if not parts.items() <= self.finished(place).items():
            raise AssertionError(f"{self.name}: another run made finished parts again")
        if code != (self.done if kept == "new" else 0):
            raise AssertionError(f"{self.name}: running it again ended with {code}")
        if self.before(place) != new:
            raise AssertionError(f"{self.name}: another run does not give what an undisturbed one gives")
        litter = self.leftovers(place)
        if code:  # it had nothing to do and wrote nothing: what the dead one left is for the next that writes
            litter = [name for name in litter if not name.startswith("work-")]
        if litter != names:
            raise AssertionError(f"{self.name}: left behind {sorted(set(litter) - set(names))}")
        return kept


def jobs() -> list[Job]:
    """All of them."""
    return [
        Job("build", lambda place: command("build", place / "new.tsv", "-o", store(place), "-q"),
            links_of, names_in),
        Job("add", lambda place: command("add", place / "new.tsv", "-i", store(place), "-q"),
            links_of, names_in),
        Job("remove", lambda place: command("remove", "site3.example", "-i", store(place), "-q"),
            links_of, names_in, done=UNKNOWN),
        Job("rank", lambda place: command("rank", "-i", store(place), "-q"), rank_of, names_in),
        Job("batch", answering, answers_of, names_out, rows_of, parts_of),
    ]  # fmt: skip


def store(place: Path) -> Path:
    """The store of a trial."""
    return place / "web.cocite"


def with_store(place: Path) -> None:
    """A store of some sites' links, and a file of more of them."""
    for name, first in (("old", 0), ("new", 5)):
        rows = [
            f"https://site{n}.example/\thttps://site{(n * 7 + k * k + first) % SITES}.example/page{k}\n"
            for n in range(first, SITES) for k in range(1, LINKS)
        ]  # fmt: skip
        (place / f"{name}.tsv").write_text("".join(rows))
    code = finished(fork(command("build", place / "old.tsv", "-o", store(place), "-q")))
    assert code == 0


def links_of(place: Path) -> list[tuple[str, str]]:
    """All links of a whole store, which is checked."""
    faults = check(store(place))
    if faults:
        raise AssertionError(f"check: {faults[0]}")
    graph = Graph(store(place))
    names = [graph.address(page) for page in range(graph.pages)]
    return [(names[page], names[int(to)]) for page in range(graph.pages) for to in graph.links_from(page).targets]


def rank_of(place: Path) -> list[float] | None:
    """The kept rank, if there is one; the store is checked."""
    links_of(place)
    kept = rank("pagerank").kept(Graph(store(place)))
    return None if kept is None else [round(float(value), 12) for value in kept.values]


def answering(place: Path) -> Callable[[], object]:
    """Answers for all pages, in parts of a few."""
    return lambda: batch(Graph(store(place)), "cocitation", place / "out.parquet", part=PART, processes=1)


def rows_of(place: Path) -> list[Any]:
    """The rows of all parts that are there, each of which can be read."""
    parts = sorted((place / "out.parquet").glob("part-*.parquet"))
    return [row for part in parts for row in pq.read_table(part, use_threads=False).to_pylist()]


def parts_of(place: Path) -> dict[str, int]:
    """Every part that is there, by the number of its file: one that is made again is another file."""
    return {part.name: part.stat().st_ino for part in (place / "out.parquet").glob("part-*.parquet")}


def answers_of(place: Path) -> list[Any] | None:
    """The rows of a complete batch; None if it is not complete."""
    parts = -(-len(linked_pages(Graph(store(place)))) // PART)
    return rows_of(place) if len(list((place / "out.parquet").glob("part-*.parquet"))) == parts else None


def names_in(place: Path) -> list[str]:
    """Names in the store's folder, without what differs from run to run."""
    found = [each.relative_to(store(place)) for each in store(place).rglob("*")]
    return sorted({re.sub(r"g0\d+", "generation", re.sub(r"-[0-9a-f]{8}\b", "", str(each))) for each in found})


def names_out(place: Path) -> list[str]:
    """Names in the folder of answers."""
    return sorted(each.name for each in (place / "out.parquet").iterdir())


@contextmanager
def trial(model: Path, folder: Path | None = None) -> Iterator[Path]:
    """A place as it is before a job, a copy of the model."""
    with tempfile.TemporaryDirectory(prefix="cocite-fault-", dir=folder) as temporary:
        place = Path(temporary) / "place"
        shutil.copytree(model, place)
        yield place


def undisturbed(job: Job, model: Path) -> tuple[Any, Any, list[str], float]:
    """What the place holds before, and after the job has run to its end; the names then; the seconds it took."""
    with trial(model) as place:
        old = job.before(place)
        took = duration(job.work(place))
        return old, job.before(place), job.leftovers(place), took


def serve_and_kill(place: Path, seconds: float) -> None:
    """A server that is killed while it answers and while the store changes under it; another one then serves."""
    port = free_port()
    server = fork(command("serve", "-i", store(place), "--port", port))
    try:
        wait_for(port)
        adding = fork(command("add", place / "new.tsv", "-i", store(place), "-q"))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ask(port)
    finally:
        end_all(server)
    code = finished(adding)
    assert code == 0, f"adding ended with {code}"
    links_of(place)
    again = fork(command("serve", "-i", store(place), "--port", port))
    try:
        wait_for(port)
        ask(port)
    finally:
        end_all(again)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def ask(port: int) -> None:
    """One question."""
    address = f"http://127.0.0.1:{port}/api/related?url=https://site1.example/page1&method=cocitation"
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert answer.status == 200


def wait_for(port: int) -> None:
    """Until a server answers."""
    end = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
