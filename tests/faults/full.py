"""Every job that writes, on a disk that has less and less room: it ends, says why, and nothing is lost.

    python -m tests.faults.full FOLDER [--times 20] [--seed 1] [JOB]...

FOLDER is on a small file system of its own, which `on_a_small_disk` makes. Rows are printed as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.faults.dying import WRONG, finished, fork
from tests.faults.jobs import Job, jobs, trial, undisturbed
from tests.faults.model import with_store
from tests.graph.webs import long_lists

ROOT = Path(__file__).parents[2]
SIZE = "256m"
MIN_BYTES, MAX_BYTES = 1 << 12, 1 << 27
FULL_DISK_WORDS = ("full", "space", "room")


class Refused(NamedTuple):
    """One line of the log."""

    job: str
    disks: int
    sufficient_bytes: int  # with these it succeeded
    failed: int
    old_state_after: int
    new_state_after: int


def on_a_small_disk(arguments: Sequence[object] = ()) -> list[Refused]:
    """All trials in a process that has a small file system to itself; RuntimeError where none can be made."""
    with tempfile.TemporaryDirectory(prefix="cocite-full-") as folder:
        words = " ".join(map(str, arguments))
        job = (
            f'mount -t tmpfs -o size={SIZE} none "{folder}" && exec "{sys.executable}" -m {__name__} "{folder}" {words}'
        )
        try:
            done = subprocess.run(["unshare", "-rm", "sh", "-c", job], capture_output=True, text=True, cwd=ROOT)
        except FileNotFoundError as error:
            raise RuntimeError("needs unshare") from error
    if done.returncode and done.stderr.startswith(("mount", "unshare")):
        raise RuntimeError(f"cannot make a small file system here: {done.stderr.splitlines()[0]}")
    if done.returncode:
        raise AssertionError(done.stderr[-3000:])
    return [Refused(*row) for row in json.loads(done.stdout)]


def with_less_room(job: Job, model: Path, folder: Path, times: int, seed: int) -> Refused:
    """The job with room enough, found by doubling, and with random sizes up to a quarter more."""
    old, new, names, _ = undisturbed(job, model)
    enough = MIN_BYTES
    while True:
        with trial(model) as place:
            with leaving(enough, folder):
                code, _ = run(job, place)
            job.prove(place, old, new, names)
            if not code:
                break
        enough *= 2
        if enough > MAX_BYTES:
            raise AssertionError(f"{job.name} does not succeed with {MAX_BYTES:,} bytes")
    kept: Counter[str] = Counter()
    refused = 0
    chosen = random.Random(seed)
    for room in [0, *(chosen.randrange(enough * 5 // 4) for _ in range(times - 1))]:
        with trial(model) as place:
            with leaving(room, folder):
                code, said = run(job, place)
            if code not in (0, WRONG) or (code and not any(word in said for word in FULL_DISK_WORDS)):
                raise AssertionError(f"{job.name} with {room:,} bytes ended with {code}: {said}")
            refused += code != 0
            content = job.prove(place, old, new, names)
            if not code and content != "new":
                raise AssertionError(f"{job.name} with {room:,} bytes said that it succeeded, and did not")
            kept[content] += 1
    return Refused(job.name, times, enough, refused, kept["old"], kept["new"])


@contextmanager
def leaving(room: int, folder: Path) -> Iterator[None]:
    """Leave this number of bytes free, in whole pages."""
    filler = folder / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, shutil.disk_usage(folder).free - room))
    try:
        yield
    finally:
        filler.unlink()


def run(job: Job, place: Path) -> tuple[int, str]:
    """The job to its end: its exit code and what it said, which stands on another disk."""
    with tempfile.NamedTemporaryFile("r", dir="/dev/shm") as said:

        def prepare() -> None:
            os.dup2(os.open(said.name, os.O_WRONLY), 2)

        return finished(fork(job.work(place), prepare)), said.read().strip()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trials and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("job", nargs="*")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    model = options.folder / "model"
    model.mkdir()
    chosen = [job for job in jobs() if not options.job or job.name in options.job]
    with long_lists():
        with_store(model)
        rows = [with_less_room(job, model, options.folder, options.times, options.seed) for job in chosen]
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
