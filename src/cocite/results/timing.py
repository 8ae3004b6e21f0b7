"""How long a question takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event


@contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """A function that gives the milliseconds since.

    The time in which Numba compiles loops, or loads those that it keeps on disk, is left out: it is spent once by a
    process, 0.1 to 20 s with the first question, which by itself takes a few milliseconds. Numba holds its lock for it.
    """
    waiting = event.TimingListener()  # type: ignore[no-untyped-call]
    with event.install_listener("numba:compiler_lock", waiting):
        began = time.perf_counter()

        def passed() -> float:
            waited = waiting.duration if waiting.done else 0.0
            return max(0.0, time.perf_counter() - began - waited) * 1e3

        yield passed
