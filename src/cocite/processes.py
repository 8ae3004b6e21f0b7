"""Processes that work for this one, and end with it: also when it is killed.

Those of `in_processes` are children of `multiprocessing`, so a script that needs them has `if __name__ == "__main__"`.
Others are programs, started with a pipe as their standard input.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")
_work: Callable[[Any], Any] = repr  # what a process of `in_processes` does
_between_items = threading.Lock()
"""Held by such a process but while it works on an item. Of a result that is sent in part, the pool would wait for the
rest forever."""


def in_processes(work: Callable[[Item], Made], items: Iterable[Item], count: int) -> Generator[tuple[int, Made]]:
    """Yield (number of the item, what `work` makes of it) as they are done, by `count` processes; 1 is this process.

    Each process gets one copy of `work`. Only this process handles Ctrl-C. Raises BrokenProcessPool if one is killed.
    """
    if count == 1:
        yield from enumerate(map(work, items))
        return
    waiting, context = enumerate(items), get_context("spawn")
    stop = context.RawValue("b", 0)  # without a lock, which a killed process might hold
    pool = ProcessPoolExecutor(count, context, _begin, (work, stop))
    running: dict[Future[Made], int] = {}
    try:
        while True:
            with interrupts_blocked():
                for number, item in islice(waiting, 2 * count - len(running)):
                    running[pool.submit(_do, item)] = number
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        stop.value = 1
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(work: Callable[[Any], Any], stop: Any) -> None:
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _between_items.acquire()
    end_with_parent(stop)


def _do(item: Any) -> Any:
    _between_items.release()
    try:
        return _work(item)
    finally:
        _between_items.acquire()


def end_with_parent(stop: Any = None) -> None:
    """From now on, end this process as soon as its parent is gone, or `stop` is set while it works on an item.

    A pool would wait for what its processes do now, and forever if a killed one held the lock of the queue.
    """

    def watch() -> None:
        parent = parent_process()
        if parent is None:  # a program: its standard input ends with the parent
            sys.stdin.buffer.read()
        while parent and parent.is_alive() and not (stop and stop.value and _between_items.acquire(blocking=False)):
            parent.join(0.1 if stop else None)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class WithoutPandas:
    """A finder of modules that hides pandas from pyarrow, in programs of cocite's own.

    To see whether a list is a column of pandas, pyarrow would import pandas, which takes 0.15 s of each process.
    """

    @classmethod
    def install(cls) -> None:
        """Install it in this process."""
        sys.meta_path.insert(0, cls)

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Find nothing, and refuse pandas."""
        if name == "pandas":
            raise ModuleNotFoundError("pandas isn't needed here")


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C while processes are started: they inherit that, and this process handles it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
