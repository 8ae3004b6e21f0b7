"""Every call site that can fail, fails once: opening, syncing, renaming and removing files, and allocating memory.

A job runs once to list its call sites: the call, and the lines of our code that lead to it. Then it runs again for each
of them, and the first call there raises an error. It must end with one clear line, or succeed all the same, and the
store must be old or new, as after a kill.
"""

from __future__ import annotations

import builtins
import errno
import io
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cocite
from tests.faults.dying import WRONG, command, finished, fork, in_child
from tests.faults.jobs import Job, free_port, jobs, lines_of, names_in, names_out, rows_of, trial, wait_for
from tests.faults.model import look, store, word
from tests.faults.power import reachable
from tests.faults.source_forms import FORMS, build_of

SOURCE = str(Path(cocite.__file__).parent)
NO_OUTPUT, BAD_INPUT = OSError(errno.EIO, os.strerror(errno.EIO)), OSError(errno.EMFILE, os.strerror(errno.EMFILE))
SITES: dict[str, tuple[Any, tuple[str, ...], BaseException]] = {
    "input and output": (
        os,
        ("open", "fsync", "rename", "replace", "unlink", "rmdir", "mkdir", "stat", "scandir", "listdir", "chmod"),
        NO_OUTPUT,
    ),
    "opening files": (io, ("open",), BAD_INPUT),
    "mapping files": (mmap, ("mmap",), OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))),
    "starting processes": (subprocess, ("Popen",), OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))),
    "memory": (np, ("empty", "zeros", "full", "concatenate", "memmap", "arange", "fromfile"), MemoryError("no memory")),
}
SITE_LINES = 3
LEFT_OUT = "that can't be "
"""In the reasons of a build why it skipped files and folders."""
Site = tuple[str, ...]


class Failed(NamedTuple):
    """One line of the log."""

    job: str
    what: str
    call_sites: int
    refused: int  # the job ended with a message
    succeeded: int  # it did without
    old_state_after: int
    new_state_after: int


def site_of(name: str) -> Site:
    """Where a call comes from: the last lines of our code on the way to it; empty for other code."""
    lines, frame = [], sys._getframe(2)
    while frame is not None and len(lines) < SITE_LINES:
        if frame.f_code.co_filename.startswith(SOURCE):
            lines.append(f"{frame.f_code.co_filename[len(SOURCE) + 1 :]}:{frame.f_lineno}")
        frame = frame.f_back  # type: ignore[assignment]
    return (name, *lines) if lines else ()


def install(what: str, place: Path, act: Callable[[Site], None]) -> None:
    """Call `act` before each call of a kind. Calls about files elsewhere, such as modules, don't count."""
    owner, names, _ = SITES[what]
    for name in names:
        call = getattr(owner, name)

        def replaced(*args: Any, call: Any = call, name: str = name, **options: Any) -> Any:
            about = args[0] if args else ""
            elsewhere = isinstance(about, str | os.PathLike) and not str(about).startswith(str(place))
            if (owner not in (os, io) or not elsewhere) and (site := site_of(name)):
                act(site)
            return call(*args, **options)

        if isinstance(call, type):  # others inherit from it

            class Failing(call):  # type: ignore[misc]
                def __new__(cls, *args: Any, name: str = name, **options: Any) -> Any:
                    if site := site_of(name):
                        act(site)
                    new = super().__new__
                    return new(cls) if new is object.__new__ else new(cls, *args, **options)

            setattr(owner, name, Failing)
        else:
            setattr(owner, name, replaced)
        if owner is io:
            builtins.open = replaced


def call_sites(job: Job, what: str, place: Path) -> list[Site]:
    """The call sites of a job."""

    def noted() -> list[Site]:
        found: dict[Site, None] = {}
        install(what, place, lambda site: found.setdefault(site))
        try:
            job.work(place)()
        except SystemExit as end:
            assert not end.code, end.code
        return list(found)

    return [tuple(site) for site in in_child(noted)]


def fail_at(job: Job, what: str, place: Path, chosen: Site) -> tuple[int, str, str]:
    """Run a job whose first call at a site fails; returns its exit code, its errors, and its output."""
    failed, error = [False], SITES[what][2]

    def act(site: Site) -> None:
        if site == chosen and not failed[0]:
            failed[0] = True
            raise error

    with tempfile.NamedTemporaryFile("r") as said, tempfile.NamedTemporaryFile("r") as shown:

        def prepare() -> None:
            os.dup2(os.open(said.name, os.O_WRONLY), 2)
            os.dup2(os.open(shown.name, os.O_WRONLY), 1)
            install(what, place, act)

        return finished(fork(job.work(place), prepare)), said.read(), shown.read()


def fail_everywhere(job: Job, what: str, model: Path, every: int = 1, known: set[Site] | None = None) -> Failed:
    """Let each call site of a kind fail, or each `every`-th, unless it is known; then it is. Raises AssertionError with
    all that ended badly."""
    known = set() if known is None else known
    with trial(model) as place:
        old = job.before(place)
        found = call_sites(job, what, place)
        new, states = job.before(place), {files_in(place): "new"}
    sites = [site for site in found if site not in known][::every]
    known.update(sites)
    kept: Counter[str] = Counter()
    wrong = []
    for site in sites:
        with trial(model) as place:
            states.setdefault(files_in(place), "old")
            code, said, shown = fail_at(job, what, place, site)
            try:
                clear(code, said)
                kept["refused" if code else "succeeded"] += 1
                if (files := files_in(place)) not in states:
                    content = job.before(place)
                    left_out = not code and LEFT_OUT in shown and content != old  # a file, which it counted
                    states[files] = "new" if left_out else job.kept(content, old, new)
                assert code or states[files] == "new" or old == new, "it ended well and did nothing"
                kept[states[files]] += 1
            except AssertionError as error:
                wrong.append(f"{job.name}, {what}, {' < '.join(site)}: {str(error)[-900:]}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(sites)}:", *wrong])
    counts = (kept["refused"], kept["succeeded"], kept["old"], kept["new"])
    return Failed(job.name, what, len(sites), *counts)


def files_in(place: Path) -> str:
    """A digest of what anybody would read here: equal ones need not be looked at twice."""
    files = sorted(file for file in place.rglob("*") if file.is_file())
    return reachable({str(file.relative_to(place)): file.read_bytes() for file in files})


def clear(code: int, said: str) -> None:
    """A command may succeed; else it says why on one line."""
    assert code in (0, WRONG), f"ended with {code}: {said[-1000:]}"
    assert "Traceback" not in said, f"ended with {code}: {said[-1000:]}"
    lines = [line for line in said.splitlines() if line.strip()]
    assert not code or (lines and len(lines[-1]) > 10), f"ended with {code} and said {said!r}"


def serving(place: Path) -> Callable[[], object]:
    """A server that ends when it answers."""

    def run() -> None:
        port = free_port()

        def stop() -> None:
            with suppress(OSError):
                wait_for(port, 20)
            time.sleep(0.3)  # it verifies the store in the background
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=stop, daemon=True).start()
        command("serve", "-i", store(place), "--port", port, "--threads", 1)()

    return run


def failing_jobs() -> list[Job]:
    """All that write, builds from every kind of source, and commands that only read."""
    reading = [Job(f"build of {name}", build_of(form), look, names_in) for name, form in FORMS.items()]
    one, other = "https://site1.example/", "https://site2.example/"
    asked: dict[str, tuple[str, ...]] = {
        "related": (one,), "hubs": (one,), "info": (), "links": (one,), "communities": ("site1.example",),
        "compare": ("site1.example",), "search for": (word(1),), "similarity": (one, other),
        "recommend": (one, other), "keywords of": ("--page", one),
    }  # fmt: skip
    asking = [
        Job(name, lambda place, words=words: command(*words, "-i", store(place)), look, names_in)
        for name, words in ((name, (name.split()[0], *more)) for name, more in asked.items())
    ]
    answers = [
        Job(
            "batch",
            lambda place: batch_into(place, "out.parquet"),
            lambda place: {"content": rows_of(place)},
            names_out,
        ),
        Job("tsv", lambda place: batch_into(place, "out.tsv"), lines_of, names_out),
    ]  # the others call a function, to have several parts, and only a command says why it ends
    writing = [job for job in jobs() if job.name not in ("batch", "tsv")]
    checking = Job("check", lambda place: command("check", store(place)), look, names_in)
    return [*writing, *answers, *reading, *asking, checking, Job("serve", serving, look, names_in)]


def batch_into(place: Path, name: str) -> Callable[[], object]:
    """Answers for all pages, by the command."""
    return command("batch", "-m", "cocitation", "--threads", 1, "-o", place / name, "-i", store(place), "-q")


def fail_all(model: Path, names: list[str], every: int, known: set[Site]) -> Iterator[Failed | str]:
    """All kinds of failures in all chosen jobs, at each call site once; texts say what ended badly."""
    for job in failing_jobs():
        for what in SITES if not names or job.name in names else ():
            try:
                yield fail_everywhere(job, what, model, every, known)
            except AssertionError as error:
                yield f"{job.name}, {what}: {error}"
