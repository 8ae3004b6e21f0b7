"""Work for threads: so much at once, so much waiting, the rest is sent away.

Work that has begun cannot be stopped: the compiled loops do not look up. Whoever waits for it may give up, but its
thread counts as busy until it is done.

Short questions are mostly Python, of which one thread runs at a time, and compiled loops of microseconds: two threads
that hand the interpreter to and fro for them got through half as many as one alone (67 to 90 a second instead of 119,
on a busy machine). So a further thread begins only when those at work have been so for a while: theirs are long
questions, and long questions are compiled loops, which run side by side.
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

from cocite.http.replies import Refused

T = TypeVar("T")
A_WHILE = 0.01
"""Seconds after which a question is a long one."""
LEARNING = 0.05
"""How much the latest question counts in the mean time that one takes."""
LONGEST_ADVICE = 60
"""Seconds after which somebody who was sent away is told to come back, at most."""


class Gate:
    """A number of threads and a queue before them. Only the event loop uses it."""

    def __init__(self, name: str, threads: int, queue: int) -> None:
        self.threads, self.queue = threads, queue
        self.running = 0
        self.seconds = 0.005  # that a question takes, in the mean
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._latest = 0.0  # when a thread last began
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        for number in range(threads):
            Thread(target=_do, args=(self._jobs,), name=f"cocite-{name}-{number}", daemon=True).start()

    @property
    def waiting(self) -> int:
        """Questions that wait for a thread."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether the next question is sent away."""
        return self.waiting >= self.queue

    def retry_after(self) -> int:
        """Seconds until those who wait now should be served."""
        return min(LONGEST_ADVICE, max(1, ceil(self.waiting * self.seconds / self.threads)))

    def refusal(self) -> Refused:
        """The way to send somebody away."""
        after = self.retry_after()
        return Refused(503, "Busy", "too many questions are waiting", f"try again in {after} s", after)

    async def run(self, work: Callable[[], T], patience: float) -> T:
        """Have work done by a thread. Raises Refused if too many wait, TimeoutError if its turn does not come."""
        await self._turn(patience)
        if self._closed:
            self._next()
            raise Refused(503, "Stopping", "this server is shutting down", "try again in a moment", 1)
        future: asyncio.Future[tuple[T, float]] = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(work, future, self._next))
        result, took = await asyncio.shield(future)  # whoever gives up, the thread does not
        self.seconds += LEARNING * (took - self.seconds)
        return result

    async def _turn(self, patience: float) -> None:
        """Wait for a free thread."""
        if self._may_begin():
            self._begin()
            return
        if self.full:
            raise self.refusal()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._look_later()
        try:
            async with asyncio.timeout(patience):
                await turn
        except BaseException:
            if turn.done() and not turn.cancelled():  # it came while giving up: it goes to the next one
                self._next()
            else:
                with suppress(ValueError):
                    self._waiting.remove(turn)
            raise

    def _may_begin(self) -> bool:
        """Whether a thread is free, and those at work have been so for a while."""
        return not self.running or (self.running < self.threads and time.monotonic() - self._latest >= A_WHILE)

    def _begin(self) -> None:
        self.running += 1
        self._latest = time.monotonic()

    def _next(self) -> None:
        """A question is done: who has waited longest may go on, in its place."""
        self.running -= 1
        self._let_in()

    def _look_later(self) -> None:
        """Look again when those at work may have been so for a while."""
        if self._timer is None and self._waiting and self.running < self.threads:
            after = max(0.0, A_WHILE - (time.monotonic() - self._latest))
            self._timer = asyncio.get_running_loop().call_later(after, self._looked)

    def _looked(self) -> None:
        self._timer = None
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and self._may_begin():
            turn = self._waiting.popleft()
            if not turn.done():
                self._begin()
                turn.set_result(None)
        self._look_later()

    def close(self) -> None:
        """Begin nothing any more."""
        self._closed = True
        for _ in range(self.threads):
            self._jobs.put(None)


class Job(NamedTuple):
    """Work for a thread, who waits for it, and what is to happen in the event loop when it is done."""

    work: Callable[[], Any]
    future: asyncio.Future[Any]
    done: Callable[[], None]


def _do(jobs: SimpleQueue[Job | None]) -> None:
    """What a thread does until there is nothing more to do.

    It is a daemon: a program that is to end does not wait for a loop that has minutes to go.
    """
    while (job := jobs.get()) is not None:
        began = time.monotonic()
        try:
            outcome: Any = (job.work(), time.monotonic() - began)
            error = None
        except BaseException as raised:
            outcome, error = None, raised
        with suppress(RuntimeError):  # the event loop is closed: nobody waits any more
            job.future.get_loop().call_soon_threadsafe(_told, job, outcome, error)
        del job, outcome, error  # or an old store is held until the next question


def _told(job: Job, outcome: Any, error: BaseException | None) -> None:
    job.done()
    if job.future.done():
        return
    if error is None:
        job.future.set_result(outcome)
    else:
        job.future.set_exception(error)


async def aside(work: Callable[[], T]) -> T:
    """Have long work done by a thread of its own, for which the end of the program does not wait."""
    jobs: SimpleQueue[Job | None] = SimpleQueue()
    future: asyncio.Future[tuple[T, float]] = asyncio.get_running_loop().create_future()
    jobs.put(Job(work, future, lambda: None))
    jobs.put(None)
    Thread(target=_do, args=(jobs,), name="cocite-aside", daemon=True).start()
    return (await future)[0]
