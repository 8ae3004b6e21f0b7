"""Threads that answer questions, with a bounded queue before them; what doesn't fit is rejected.

Kernels can't be cancelled: a client may give up waiting, but the thread counts as busy until it is done.

Short questions are mostly Python, which runs in one thread at a time: two threads that take turns answered 67 to 90 of
them a second, one alone 119. So another thread starts only when the running ones have worked for a while: theirs are
long questions, which are mostly kernels, and kernels run in parallel.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from math import ceil
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from cocite.http.responses import Refused

T = TypeVar("T")
LONG_QUESTION_SECONDS = 0.01
NEWEST_WEIGHT = 0.05
"""Weight of the latest question in the mean time of a question."""
MAX_RETRY_SECONDS = 60


class WorkQueue:
    """Threads and the queue before them. Only the event loop uses it."""

    def __init__(self, name: str, threads: int, queue: int) -> None:
        self.threads, self.queue = threads, queue
        self.running = 0
        self.seconds = 0.005  # mean time of a question
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._latest = 0.0  # when a thread last started work
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        for number in range(threads):
            Thread(target=_do_jobs, args=(self._jobs,), name=f"cocite-{name}-{number}", daemon=True).start()

    @property
    def waiting(self) -> int:
        """Questions waiting for a thread."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether the next question is rejected."""
        return self.waiting >= self.queue

    def retry_after(self) -> int:
        """Seconds until the waiting questions should be answered."""
        return min(MAX_RETRY_SECONDS, max(1, ceil(self.waiting * self.seconds / self.threads)))

    def refusal(self) -> Refused:
        """The error for a question that doesn't fit."""
        after = self.retry_after()
        return Refused(503, "Busy", "Too many questions are waiting", f"Try again in {after} s", after)

    async def run(self, work: Callable[[], T], timeout: float) -> T:
        """Run work in a thread. Raises Refused if the queue is full, TimeoutError if it waits too long."""
        await self._wait_for_thread(timeout)
        if self._closed:
            self._next()
            raise Refused(503, "Stopping", "This server is shutting down", "Try again in a moment", 1)
        future: asyncio.Future[tuple[T, float]] = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(work, future, self._next))
        result, took = await asyncio.shield(future)  # the client may give up, the thread doesn't
        self.seconds += NEWEST_WEIGHT * (took - self.seconds)
        return result

    async def _wait_for_thread(self, timeout: float) -> None:
        """Wait for a free thread."""
        if self._may_start():
            self._start()
            return
        if self.full:
            raise self.refusal()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._check_later()
        try:
            async with asyncio.timeout(timeout):
                await turn
        except BaseException:
            if turn.done() and not turn.cancelled():  # its turn came while it gave up: pass it on
                self._next()
            else:
                with suppress(ValueError):
                    self._waiting.remove(turn)
            raise

    def _may_start(self) -> bool:
        """Whether a thread is free, and the running ones have worked for a while."""
        return not self.running or (
            self.running < self.threads and time.monotonic() - self._latest >= LONG_QUESTION_SECONDS
        )

    def _start(self) -> None:
        self.running += 1
        self._latest = time.monotonic()

    def _next(self) -> None:
        """A question is done: start the one that has waited longest."""
        self.running -= 1
        self._start_waiting()

    def _check_later(self) -> None:
        """Check again when the running threads have worked for a while."""
        if self._timer is None and self._waiting and self.running < self.threads:
            after = max(0.0, LONG_QUESTION_SECONDS - (time.monotonic() - self._latest))
            self._timer = asyncio.get_running_loop().call_later(after, self._check)

    def _check(self) -> None:
        self._timer = None
        self._start_waiting()

    def _start_waiting(self) -> None:
        while self._waiting and self._may_start():
            turn = self._waiting.popleft()
            if not turn.done():
                self._start()
                turn.set_result(None)
        self._check_later()

    def close(self) -> None:
        """Start nothing any more."""
        self._closed = True
        for _ in range(self.threads):
            self._jobs.put(None)


class Job(NamedTuple):
    """Work for a thread, the future of its result, and what the event loop calls when it is done."""

    work: Callable[[], Any]
    future: asyncio.Future[Any]
    done: Callable[[], None]


def _do_jobs(jobs: SimpleQueue[Job | None]) -> None:
    """Do jobs until there are no more. The thread is a daemon: the end of the program doesn't wait for it."""
    while (job := jobs.get()) is not None:
        began = time.monotonic()
        try:
            outcome: Any = (job.work(), time.monotonic() - began)
            error = None
        except BaseException as raised:
            outcome, error = None, raised
        with suppress(RuntimeError):  # the event loop is closed: nobody waits
            job.future.get_loop().call_soon_threadsafe(_finish, job, outcome, error)
        del job, outcome, error  # or they would keep an old store open until the next question


def _finish(job: Job, outcome: Any, error: BaseException | None) -> None:
    job.done()
    if job.future.done():
        return
    if error is None:
        job.future.set_result(outcome)
    else:
        job.future.set_exception(error)


async def run_in_thread(work: Callable[[], T]) -> T:
    """Run long work in a thread of its own, for which the end of the program doesn't wait."""
    jobs: SimpleQueue[Job | None] = SimpleQueue()
    future: asyncio.Future[tuple[T, float]] = asyncio.get_running_loop().create_future()
    jobs.put(Job(work, future, lambda: None))
    jobs.put(None)
    Thread(target=_do_jobs, args=(jobs,), name="cocite-background", daemon=True).start()
    return (await future)[0]
