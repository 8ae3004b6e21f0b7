"""Commands that die: in a process of their own, by SIGKILL, at a chosen fsync or rename, or at any time."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import Any

from cocite.errors import CociteError

WRONG = 2  # what a command ends with when something outside of cocite is wrong
VISIBLE = ("rename", "replace")
CALLS = ("fsync", *VISIBLE, "unlink", "rmdir")
"""What makes writing durable or visible, or undoes it. What pathlib does comes here, too; what a whole folder holds is
removed by other calls, and only the last of them counts."""


def fork(work: Callable[[], object], prepare: Callable[[], None] = lambda: None) -> int:
    """Start `work` in a process and a session of its own, silent; returns its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        prepare()
        work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except (OSError, CociteError, MemoryError) as refused:  # work that isn't a command raises instead
        sys.stderr.write(str(refused))
        code = WRONG
    finally:
        sys.stderr.flush()
        os._exit(code)


def finished(child: int) -> int:
    """Wait for a process; its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def end_all(child: int) -> int:
    """Kill a process with all that it has started, and wait for it."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:  # it has not made its session yet
        os.kill(child, signal.SIGKILL)
    return finished(child)


def in_child(work: Callable[[], Any], what: str = "it") -> Any:
    """What `work` returns, as JSON has it: in a process of its own, so that libraries leave no threads and no mappings
    behind in this one, and a crash is seen as what it is."""
    with tempfile.TemporaryFile("w+") as note:

        def noted() -> None:
            try:
                found = {"value": work()}
            except Exception:
                found = {"error": traceback.format_exc(limit=-5)}
            json.dump(found, note)
            note.flush()

        code = finished(fork(noted))
        note.seek(0)
        said = json.loads(note.read() or "{}")
    if "value" not in said:
        raise AssertionError(said.get("error", f"looking at {what} ended with {code}"))
    return said["value"]


def count_calls(work: Callable[[], object]) -> list[str]:
    """Run `work` to its end and tell, in order, which of the calls it made; it must succeed."""
    made: list[str] = []

    def noted() -> list[str]:
        for name in CALLS:
            _replace(name, lambda name, call, *args, **options: (made.append(name), call(*args, **options))[1])
        try:
            work()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"it ended with {end.code} though nobody killed it") from end
        return made

    return list(in_child(noted))


def killed_at(work: Callable[[], object], number: int, after: bool) -> int:
    """Run `work`, to be killed before or after its call of this number; returns its exit code."""
    left = [number]

    def die(name: str, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        left[0] -= 1
        now = left[0] < 0
        if now and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = call(*args, **options)
        if now:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    def prepare() -> None:
        for name in CALLS:
            _replace(name, die)

    return finished(fork(work, prepare))


def killed_after(work: Callable[[], object], seconds: float) -> int:
    """Run `work`, and kill it with all its processes after some seconds; returns its exit code."""
    child = fork(work)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return end_all(child)


def duration(work: Callable[[], object]) -> float:
    """Seconds that `work` takes when nobody kills it."""
    started = time.perf_counter()
    code = finished(fork(work))
    if code:
        raise RuntimeError(f"it ended with {code} though nobody killed it")
    return time.perf_counter() - started


def moments(count: int, longest: float, seed: int) -> list[float]:
    """Uniformly random times."""
    chosen = random.Random(seed)
    return [chosen.uniform(0, longest) for _ in range(count)]


def command(*words: object) -> Callable[[], None]:
    """A command of cocite, to be run inside this process."""

    def run() -> None:
        from cocite.cli import main

        sys.argv = ["cocite", *map(str, words)]
        main()

    return run


def _replace(name: str, how: Callable[..., Any]) -> None:
    call = getattr(os, name)

    def replaced(*args: Any, **options: Any) -> Any:
        within = options.get("dir_fd") is not None  # of a folder that is being removed
        return call(*args, **options) if within else how(name, call, *args, **options)

    setattr(os, name, replaced)
