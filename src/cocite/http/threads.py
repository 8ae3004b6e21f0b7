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
from dataclasses import dataclass
from math import ceil
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from cocite.http.responses import RefusedRequest

Output = TypeVar("Output")
LONG_QUESTION_SECONDS = 0.01
NEWEST_WEIGHT = 0.05
"""Weight of the latest question in the mean time of a question."""
MAX_RETRY_SECONDS = 60


@dataclass(eq=False)
class ThreadJob:
    """Work for a thread, the future of its result, and what the event loop calls with the seconds that it took."""

    work: Callable[[], Any]
    future: asyncio.Future[Any]
    done: Callable[[float], None]
    started: bool = False

    def run(self) -> None:
        """In a thread: work, and give the outcome to the event loop."""
        began, outcome, error = time.monotonic(), None, None
        try:
            outcome = self.work()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the event loop is closed: nobody waits
            loop = self.future.get_loop()
            loop.call_soon_threadsafe(self._finish, time.monotonic() - began, outcome, error)
        del outcome, error  # an error refers to this frame: together they would keep an old store open

    def _finish(self, seconds: float, outcome: Any, error: BaseException | None) -> None:
        self.done(seconds)
        if not self.future.done():
            self.future.set_result(outcome) if error is None else self.future.set_exception(error)


class WorkQueue:
    """Threads and the queue before them. Only the event loop uses it."""

    def __init__(self, name: str, threads: int, queue: int) -> None:
        self.threads, self.queue = threads, queue
        self.running = 0
        self.seconds = 0.005  # mean time of a question
        self._waiting: deque[ThreadJob] = deque()
        self._latest = 0.0  # when a thread last started work
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._jobs: SimpleQueue[ThreadJob | None] = SimpleQueue()
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

    def refusal(self) -> RefusedRequest:
        """The error for a question that doesn't fit."""
        after = self.retry_after()
        return RefusedRequest(503, "Busy", "Too many questions are waiting", f"Try again in {after} s", after)

    async def run(self, work: Callable[[], Output], timeout: float) -> Output:
        """Run work in a thread. Raises RefusedRequest if the queue is full, TimeoutError if it waits too long."""
        if self._closed:
            raise stopping()
        if self.full and not self._may_start():
            raise self.refusal()
        job = ThreadJob(work, asyncio.get_running_loop().create_future(), self._done)
        self._waiting.append(job)
        self._start_waiting()
        try:
            if not job.started:
                await asyncio.wait((job.future,), timeout=timeout)
        finally:
            if not job.started:
                self._waiting.remove(job)
        if not job.started:
            raise TimeoutError
        result: Output = await asyncio.shield(job.future)  # the client may give up, the thread doesn't
        return result

    def _may_start(self) -> bool:
        """Whether a thread is free, and the running ones have worked for a while."""
        return not self.running or (
            self.running < self.threads and time.monotonic() - self._latest >= LONG_QUESTION_SECONDS
        )

    def _start_waiting(self) -> None:
        """Start the questions that have waited longest; check again when the running ones have worked for a while."""
        while self._waiting and self._may_start():
            self.running += 1
            self._latest = time.monotonic()
            job = self._waiting.popleft()
            job.started = True
            self._jobs.put(job)
        if self._timer is None and self._waiting and self.running < self.threads:
            after = max(0.0, LONG_QUESTION_SECONDS - (time.monotonic() - self._latest))
            self._timer = asyncio.get_running_loop().call_later(after, self._check)

    def _check(self) -> None:
        self._timer = None
        self._start_waiting()

    def _done(self, seconds: float) -> None:
        self.running -= 1
        self.seconds += NEWEST_WEIGHT * (seconds - self.seconds)
        self._start_waiting()

    def close(self) -> None:
        """Start nothing any more."""
        self._closed = True
        while self._waiting:
            job = self._waiting.popleft()
            job.started = True
            job.future.set_exception(stopping())
        for _ in range(self.threads):
            self._jobs.put(None)


def stopping() -> RefusedRequest:
    """The error for a question after the end."""
    return RefusedRequest(503, "Stopping", "This server is shutting down", "Try again in a moment", 1)


def _do_jobs(jobs: SimpleQueue[ThreadJob | None]) -> None:
    while (job := jobs.get()) is not None:
        job.run()
        del job  # or it would keep an old store open until the next question


async def run_in_thread(work: Callable[[], Output]) -> Output:
    """Run long work in a thread of its own, for which the end of the program doesn't wait."""
    job = ThreadJob(work, asyncio.get_running_loop().create_future(), lambda _: None)
    Thread(target=job.run, name="cocite-background", daemon=True).start()
    result: Output = await job.future
    return result
