"""Answers for parts of a batch, in several processes.

They map the same store, so they share its memory, and not a lock. Ctrl-C is for the process that started them; when it
stops, or is killed, they end.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore, CociteError
from cocite.related.methods import Method
from cocite.related.methods import method as method_of
from cocite.related.neighbourhood.view import with_stop_pages
from cocite.results.filters import NO_FILTERS, Filters, best_answers
from cocite.web import Web

AT_ONCE, ANSWERS_AT_ONCE = 4096, 1 << 22
"""Pages that are answered together, and answers to them at most: their parents, and room for all, are in memory."""


class Part(NamedTuple):
    """The answers to some pages: `counts[i]` of them for page i."""

    counts: NDArray[np.int32]
    pages: NDArray[np.uint32]
    scores: NDArray[np.float64]


class Task(NamedTuple):
    """What all processes of a batch are told."""

    store: Path
    generation: str
    call: str
    stop: NDArray[np.uint32]  # the pages of the method's stop list: found once, so that all have the same
    k: int
    filters: Filters


def answer_parts(
    task: Task, parts: list[tuple[int, NDArray[np.uint32]]], processes: int | None
) -> Generator[tuple[int, Part], None, None]:
    """Every part's answers, in the order in which they are ready."""
    count = min(processes or os.cpu_count() or 1, len(parts))
    if count == 1:
        opened = open_task(task)
        for i, pages in parts:
            yield i, answer(*opened, pages, task.k, task.filters)
        return
    waiting, context = iter(parts), get_context("spawn")
    stop = context.RawValue("b", 0)  # without a lock, which a process that is killed might hold
    pool = ProcessPoolExecutor(count, context, _begin, (stop,))
    running: dict[Future[Part], int] = {}
    try:
        while True:
            with _uninterrupted():
                for i, pages in islice(waiting, 2 * count - len(running)):
                    running[pool.submit(_answer, task, pages)] = i
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    except BrokenProcessPool as error:
        raise CociteError(
            "a process of this batch was ended from outside, perhaps for want of memory: the parts that are ready are "
            "kept, run it again, with fewer threads"
        ) from error
    finally:
        stop.value = 1
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes started here do not hear Ctrl-C: what is to be done then, this one knows. It hears of it afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def answer(web: Web, method: Method, pages: NDArray[np.uint32], k: int, filters: Filters = NO_FILTERS) -> Part:
    """The k best answers for every page."""
    step = max(1, min(AT_ONCE, ANSWERS_AT_ONCE // max(1, k)))
    parts = [_answer_some(web, method, pages[at : at + step], k, filters) for at in range(0, len(pages), step)]
    return Part(*(np.concatenate(column) for column in zip(gathered([]), *parts, strict=True)))


def _answer_some(web: Web, method: Method, pages: NDArray[np.uint32], k: int, filters: Filters) -> Part:
    """All at once where the method can, and one by one what is left: pages that may be chopped."""
    best = method.best_of_each(web, pages, k) if filters == NO_FILTERS else None
    left = np.arange(len(pages)) if best is None else np.flatnonzero(~best.enough)
    one_by_one = gathered(
        best_answers(web.graph, method.relate(web, [page]), [page], k, filters) for page in pages[left].tolist()
    )
    if best is None:
        return one_by_one
    counts, found, scores = best.counts.copy(), *(np.split(each, np.cumsum(best.counts)[:-1]) for each in best[1:3])
    ends = np.cumsum(one_by_one.counts)
    for at, end, count in zip(left.tolist(), ends.tolist(), one_by_one.counts.tolist(), strict=True):
        counts[at] = count
        found[at], scores[at] = one_by_one.pages[end - count : end], one_by_one.scores[end - count : end]
    return Part(counts, np.concatenate(found), np.concatenate(scores))


def gathered(answers: Iterable[Iterable[tuple[int, float]]]) -> Part:
    """The answers to some pages, one page after another."""
    counts: list[int] = []
    found: list[tuple[int, float]] = []
    for some in answers:
        before = len(found)
        found.extend(some)
        counts.append(len(found) - before)
    return Part(
        np.array(counts, np.int32),
        np.array([page for page, _ in found], np.uint32),
        np.array([score for _, score in found], np.float64),
    )


def open_task(task: Task) -> tuple[Web, Method]:
    """The store, as it was when the batch began, and the method."""
    web, method = Web(task.store), method_of(task.call)
    if str(web.graph.manifest["id"]) != task.generation:
        raise BadStore(
            f"{task.store} was changed meanwhile by another command: start the batch again, in another place"
        )
    return web, replace(method, params=with_stop_pages(web.graph, method.params, task.stop))


# In a process of its own

_opened: tuple[Web, Method] | None = None


def _begin(stop: Any) -> None:
    threading.Thread(target=_watch, args=(stop,), daemon=True).start()


def _watch(stop: Any) -> None:
    """End this process when nobody waits for it any more.

    The pool would wait for it to finish its part, and for ever if another process was killed while it held the lock of
    their queue; and it would not end by itself if the one that started it was killed.
    """
    parent = parent_process()
    assert parent is not None
    while parent.is_alive() and not stop.value:
        parent.join(0.1)
    os._exit(1)


def _answer(task: Task, pages: NDArray[np.uint32]) -> Part:
    global _opened
    _opened = _opened or open_task(task)
    return answer(*_opened, pages, task.k, task.filters)
