"""Every call that can fail, fails once: opening, syncing, renaming and removing files, and allocating memory.

    python -m tests.faults.failing [--every 1] [JOB]...

A job runs once to count its calls. Then it runs again for each of them, and that call raises an error. It must end with
one clear line, or succeed all the same, and the store must be old or new, as after a kill.
"""

from __future__ import annotations

import argparse
import builtins
import errno
import io
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.faults.dying import WRONG, finished, fork, in_child
from tests.faults.jobs import Job, jobs, trial
from tests.faults.model import with_store
from tests.graph.webs import long_lists

MEMORY = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
SITES: dict[str, tuple[Any, tuple[str, ...], Callable[[], BaseException]]] = {
    "input and output": (
        os,
        ("open", "fsync", "rename", "replace", "unlink", "rmdir", "mkdir", "stat", "scandir"),
        lambda: OSError(errno.EIO, os.strerror(errno.EIO)),
    ),
    "opening files": (io, ("open",), lambda: OSError(errno.EMFILE, os.strerror(errno.EMFILE))),
    "memory": (np, ("empty", "zeros", "full", "concatenate", "memmap"), lambda: MemoryError("no memory")),
}


class Failed(NamedTuple):
    """One line of the log."""

    job: str
    what: str
    calls: int
    failures: int  # that were injected
    refused: int  # the job ended with a message
    succeeded: int  # it did without
    old_state_after: int
    new_state_after: int


def install(what: str, place: Path, act: Callable[[], None]) -> None:
    """Call `act` before each call of a kind. Calls about files elsewhere, such as modules, don't count."""
    owner, names, _ = SITES[what]
    for name in names:
        call = getattr(owner, name)

        def replaced(*args: Any, call: Any = call, **options: Any) -> Any:
            about = args[0] if args else ""
            elsewhere = isinstance(about, str | os.PathLike) and not str(about).startswith(str(place))
            if owner is np or not elsewhere:
                act()
            return call(*args, **options)

        setattr(owner, name, replaced)
        if owner is io:
            builtins.open = replaced


def count_calls(job: Job, what: str, place: Path) -> int:
    """How many calls of a kind a job makes."""

    def counted() -> int:
        made = [0]
        install(what, place, lambda: made.__setitem__(0, made[0] + 1))
        try:
            job.work(place)()
        except SystemExit as end:
            assert not end.code, end.code
        return made[0]

    return int(in_child(counted))


def fail_at(job: Job, what: str, place: Path, number: int) -> int:
    """Run a job whose call of this number fails; returns its exit code."""
    left, error = [number], SITES[what][2]

    def act() -> None:
        left[0] -= 1
        if left[0] == -1:
            raise error()

    return finished(fork(job.work(place), lambda: install(what, place, act)))


def fail_everywhere(job: Job, what: str, model: Path, every: int) -> Failed:
    """Let each call of a kind fail, or each `every`-th. Raises AssertionError for a bad end or a damaged store."""
    with trial(model) as place:
        old = job.before(place)
        calls = count_calls(job, what, place)
        new = job.before(place)
    kept: Counter[str] = Counter()
    for number in range(0, calls, every):
        with trial(model) as place:
            code = fail_at(job, what, place, number)
            assert code in (0, WRONG), f"{job.name}, {what}, call {number} of {calls}: ended with {code}"
            kept["refused" if code else "succeeded"] += 1
            try:
                state = job.kept(job.before(place), old, new)
            except AssertionError as error:
                raise AssertionError(f"{job.name}, {what}, call {number} of {calls}: {error}") from error
            assert code or state == "new", f"{job.name}, {what}, call {number}: it ended well and did nothing"
            kept[state] += 1
    failures = kept["refused"] + kept["succeeded"]
    return Failed(job.name, what, calls, failures, kept["refused"], kept["succeeded"], kept["old"], kept["new"])


def fail_all(model: Path, names: list[str], every: int) -> Iterator[Failed]:
    """All kinds of failures in all chosen jobs."""
    for job in jobs():
        for what in SITES if job.name in names else ():
            yield fail_everywhere(job, what, model, every)


def main() -> None:
    """Run the trials, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", nargs="*", help="all, if none is given")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="cocite-failing-", dir=MEMORY) as folder, long_lists():
        model = Path(folder) / "model"
        model.mkdir()
        with_store(model)
        for job in jobs():
            for what in SITES if not options.job or job.name in options.job else ():
                try:
                    print(fail_everywhere(job, what, model, options.every), end=" ")
                except AssertionError as error:
                    print(f"FAILED {str(error)[-600:]}", end=" ")
                print(f"{time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
