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
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cocite.graph.store import Graph
from cocite.operations.pages.batch import batch, linked_pages
from tests.faults.dying import WRONG, command, duration, end_all, finished, fork, in_child
from tests.faults.living import look_at_all_dates, merging
from tests.faults.model import ABSENT, ADDED, REMOVED, SITES, STALE, archive, empty, look, other, store, unindexed, word

PART = 50
UNKNOWN = 3  # what was removed is not there to be removed again
Content = dict[str, Any]
"""What a place holds: its content, and by name what is kept beside that."""


@dataclass(frozen=True)
class Job:
    """Something that writes, where it writes, and what is proven after it died and after it was run again."""

    name: str
    work: Callable[[Path], Callable[[], object]]
    look: Callable[[Path], Content]
    leftovers: Callable[[Path], list[str]]  # names that a complete run leaves
    so_far: Callable[[Path], list[Any]] = lambda place: []  # what is there of the new, if it comes in parts
    finished: Callable[[Path], dict[str, int]] = lambda place: {}  # parts that another run must not make again
    done: tuple[int, ...] = (0,)  # how another run may end after one that had done everything
    brings_clicks: bool = False  # from another store, which keeps them: another run brings them, too

    def before(self, place: Path) -> Content:
        """What a place holds, found out in a process of its own."""
        content: Content = in_child(lambda: self.look(place))
        return content

    def prove(self, place: Path, old: Content, new: Content, names: list[str]) -> str:
        """After a death: the old or the new, never something between; after another run: the new, and no litter."""
        kept = self.kept(self.before(place), old, new)
        if any(each not in new["content"] for each in in_child(lambda: self.so_far(place))):
            raise AssertionError(f"{self.name}: a part that is there is not right")
        parts = self.finished(place)
        code = finished(fork(self.work(place)))
        if not parts.items() <= self.finished(place).items():
            raise AssertionError(f"{self.name}: another run made finished parts again")
        if code not in (self.done if kept == "new" else (0,)):
            raise AssertionError(f"{self.name}: running it again ended with {code}")
        if differing := [name for name, value in self.before(place).items() if value != new[name]]:
            raise AssertionError(f"{self.name}: another run does not give what an undisturbed one gives: {differing}")
        litter = self.leftovers(place)
        if code:  # it had nothing to do and wrote nothing: what the dead one left is for the next that writes
            litter = [name for name in litter if not name.startswith("work-")]
        if litter != names:
            unlike = {name: litter.count(name) - names.count(name) for name in {*litter, *names}}
            raise AssertionError(f"{self.name}: left behind { ({name: n for name, n in unlike.items() if n}) }")
        return kept

    def kept(self, content: Content, old: Content, new: Content) -> str:
        """Whether all is old or new. Beside new content nothing may be old: it is new, or said to be stale or absent;
        but clicks, which nobody can work out again, are there."""
        for kept, whole in (("new", new), ("old", old)):
            if content == whole:
                return kept
        differing = [name for name in content if content[name] != new[name]]
        if self.brings_clicks and content["clicks"] == old["clicks"]:
            differing = [name for name in differing if name != "clicks"]
        if any(content[name] not in (STALE, ABSENT) or name == "clicks" for name in differing):
            raise AssertionError(f"{self.name}: neither old nor new: {differing}")
        return "new"


def jobs() -> list[Job]:
    """All of them."""
    return [
        Job("build", lambda place: command("build", place / "new.jsonl", "-o", store(place), "-q"), look, names_in),
        Job("first", lambda place: command("build", place / "new.jsonl", "-o", store(empty(place)), "-q"),
            lambda place: look(empty(place)), lambda place: names_in(empty(place))),
        Job("add", lambda place: command("add", place / "new.jsonl", "-i", store(place), "-q"), look, names_in),
        Job("remove", lambda place: command("remove", f"site{REMOVED}.example", "-i", store(place), "-q"),
            look, names_in, done=(UNKNOWN,)),
        Job("compact", lambda place: command("compact", "-i", store(place), "-q"), look, names_in),
        Job("merge", lambda place: merging(command("add", place / "new.jsonl", "-i", store(place), "-q")),
            look, names_in),
        Job("history", lambda place: command("build", place / "captures.jsonl", "--history", "-o", store(empty(place)),
                                             "-q"),
            lambda place: look_at_all_dates(empty(place)), lambda place: names_in(empty(place))),
        Job("history_add", lambda place: command("add", place / "more-captures.jsonl", "-i", store(archive(place)),
                                                 "-q"),
            lambda place: look_at_all_dates(archive(place)), lambda place: names_in(archive(place))),
        Job("rank", lambda place: command("rank", "--by", "hits", "-i", store(place), "-q"), look, names_in),
        Job("clicks", lambda place: command("clicks", place / "new-clicks.tsv", "--anew", "-i", store(place), "-q"),
            look, names_in),
        Job("keywords", lambda place: command("keywords", "--make", "--per-page", 1, "-i", store(place), "-q"),
            look, names_in),
        Job("search", lambda place: command("search", "--make", "-i", store(unindexed(place)), "-q"),
            lambda place: look(unindexed(place)), lambda place: names_in(unindexed(place))),
        Job("batch", lambda place: answering(place, "parquet"), answers_of, names_out, rows_of, parts_of),
        Job("tsv", lambda place: answering(place, "tsv"), lines_of, names_out, lines_so_far, done=(0, WRONG)),
        Job("install", lambda place: command("install", store(place), store(other(place)), "-q"),
            lambda place: look(other(place)), lambda place: names_in(other(place)), brings_clicks=True),
        Job("export", lambda place: command("export", "-o", place / "out.jsonl", "-i", store(place), "-q"),
            written("out.jsonl"), names_out),
        Job("matrix", lambda place: command("export", "-o", place / "out.npz", "-i", store(place), "-q"),
            written("out.npz", "out.pages.txt.gz"), names_out, files_so_far),
        Job("site", making_lists, written("out.json", *(f"out.lists/page{n}.html" for n in range(6))), names_out,
            files_so_far),
        Job("study", lambda place: command("study", "new", place / "out.study", "https://site1.example/",
                                           "https://site2.example/", "-m", "cocitation", "-i", store(place)),
            written("out.study/rate.html", "out.study/ratings.csv", "out.study/study.json"), names_out, files_so_far,
            done=(WRONG,)),
        Job("evaluate", lambda place: command("evaluate", "-j", place / "judged.tsv", "-m", "cocitation", "--save",
                                              place / "out.runs", "-i", store(place), "--json"),
            written("out.runs/01-cocitation.tsv"), names_out),
    ]  # fmt: skip


def making_lists(place: Path) -> Callable[[], object]:
    """The related pages of a small site."""
    outputs = ("-o", place / "out.json", "--fragments", place / "out.lists", "--cache", place / "cache", "-q")
    return command("site", place / "site", "--base", "https://site.example/", *outputs)


def written(*names: str) -> Callable[[Path], Content]:
    """A look at files that a command writes: their names and bytes, or None while one is missing."""

    def look_at(place: Path) -> Content:
        files = [place / name for name in names]
        complete = all(file.exists() for file in files)
        return {"content": [[name, (place / name).read_bytes().hex()] for name in names] if complete else None}

    return look_at


def files_so_far(place: Path) -> list[Any]:
    """The names and bytes of files that are there. Hidden ones are unfinished."""
    files = sorted(file for file in place.glob("out.*/*") if not file.name.startswith("."))
    files += sorted(file for file in place.glob("out.*") if file.is_file())
    return [[str(file.relative_to(place)), file.read_bytes().hex()] for file in files]


def answering(place: Path, ending: str) -> Callable[[], object]:
    """Answers for all pages, in parts of a few."""
    return lambda: batch(Graph(store(place)), "cocitation", place / f"out.{ending}", part=PART, processes=1)


def rows_of(place: Path) -> list[Any]:
    """The rows of all parts that are there, each of which can be read."""
    parts = sorted((place / "out.parquet").glob("part-*.parquet"))
    return [row for part in parts for row in pq.read_table(part, use_threads=False).to_pylist()]


def parts_of(place: Path) -> dict[str, int]:
    """Every part that is there, by the number of its file: one that is made again is another file."""
    return {part.name: part.stat().st_ino for part in (place / "out.parquet").glob("part-*.parquet")}


def answers_of(place: Path) -> Content:
    """The rows of a complete batch; None if it is not complete."""
    parts = -(-len(linked_pages(Graph(store(place)))) // PART)
    complete = len(list((place / "out.parquet").glob("part-*.parquet"))) == parts
    return {"content": rows_of(place) if complete else None}


def lines_of(place: Path) -> Content:
    """The lines of a batch's one file; None if it is not there."""
    file = place / "out.tsv"
    return {"content": file.read_text().splitlines() if file.exists() else None}


def lines_so_far(place: Path) -> list[str]:
    """The lines of all parts that are there."""
    return [line for part in place.glob("out.tsv.parts/part-*") for line in part.read_text().splitlines()]


def names_in(place: Path) -> list[str]:
    """Names in the store's folder, without what differs from run to run."""
    found = [each.relative_to(store(place)) for each in store(place).rglob("*")]
    unlike = r"-[0-9a-f]{8}\b|\b[0-9a-f]{32}\b|-\d{6}(?=\.layer$)"
    return sorted(re.sub(r"g0\d+", "generation", re.sub(unlike, "", str(each))) for each in found)


def names_out(place: Path) -> list[str]:
    """Names of what was written beside the store. A killed command may leave a hidden file with its number in the name:
    another one could still be writing it."""
    found = [*place.glob("*out.*"), *place.glob("*out.*/**/*")]
    return sorted(str(each.relative_to(place)) for each in found if not re.fullmatch(r"\..*\.\d+\.part", each.name))


@contextmanager
def trial(model: Path) -> Iterator[Path]:
    """A place as it is before a job, a copy of the model, on the same disk."""
    with tempfile.TemporaryDirectory(prefix="cocite-fault-", dir=model.parent) as temporary:
        place = Path(temporary) / "place"
        shutil.copytree(model, place)
        yield place


def undisturbed(job: Job, model: Path) -> tuple[Content, Content, list[str], float]:
    """What the place holds before, and after the job has run to its end; the names then; the seconds it took."""
    with trial(model) as place:
        old = job.before(place)
        took = duration(job.work(place))
        new = job.before(place)
        if old == new:
            raise AssertionError(f"{job.name} changes nothing")
        if job.name == "add":
            assert all(new["search"][word(site)] for site in range(SITES, SITES + ADDED)), "new pages are found"
        if job.name == "remove":
            assert old["search"][word(REMOVED)] and not new["search"][word(REMOVED)], "removed pages are not"
        return old, new, job.leftovers(place), took


def serve_and_kill(place: Path, seconds: float) -> None:
    """A server that is killed while it answers and while the store changes under it; another one then serves."""
    port = free_port()
    server = fork(command("serve", "-i", store(place), "--port", port))
    try:
        wait_for(port)
        adding = fork(command("add", place / "new.jsonl", "-i", store(place), "-q"))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ask(port)
    finally:
        end_all(server)
    code = finished(adding)
    assert code == 0, f"adding ended with {code}"
    in_child(lambda: look(place))
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


def wait_for(port: int, seconds: float = 60.0) -> None:
    """Until a server answers."""
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
