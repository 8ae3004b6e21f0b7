"""Threads that answer questions, with a bounded, fair queue before them; what doesn't fit is rejected.

The next question is one of the client that has used least time of the threads lately. If the queue is full, whoever
has most questions in it loses the newest, and learns when to try again. If it keeps asking, it is rejected unread,
as long as half of the queue is full: reading them would cost others more than the questions that wait. A client may
give up waiting, but the thread counts as busy until it is done.

Short questions are mostly Python, which runs in one thread at a time: two threads that take turns answered 67 to 90 of
them a second, one alone 119. So another thread starts only when the running ones have worked for a while: theirs are
long questions, which are mostly kernels, and kernels run in parallel.
"""

import asyncio
import atexit
import gc
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from queue import SimpleQueue
from threading import Event, Thread, get_native_id
from typing import Any, TypeVar

from numba.core import event

from cocite.budget import step_aside

Output = TypeVar("Output")
LONG_QUESTION_SECONDS = 0.01
NEWEST_WEIGHT = 0.05
"""Weight of the latest question in the mean time of a question."""
MAX_RETRY_SECONDS = 60
USE_HALF_LIFE_SECONDS = 10.0
"""After this time, half of the time that a client has used is forgotten."""
MAX_REMEMBERED_CLIENTS = 10_000
MAX_REFUSALS = 3
"""A client that was refused this often before the time when it should try again is refused unread."""


class Compiling(event.Listener):
    """Counts the threads that compile kernels, or load them from disk.

    Each kernel leaves thousands of objects, which stay. The garbage collector searched them all again and again, and
    stopped all threads for up to half a second. So what a loaded kernel leaves is set aside once, for good.
    """

    threads = 0
    elsewhere: Callable[[], bool] = staticmethod(lambda: False)
    """Whether another process of this server does that."""
    _new = True  # something was loaded since the last time

    def on_start(self, event: Any) -> None:
        self.threads += 1  # Numba holds its compiler lock

    def on_end(self, event: Any) -> None:
        self.threads -= 1
        self._new = True

    @property
    def is_under_way(self) -> bool:
        """Whether this process or another one of this server does that: meanwhile, time doesn't count."""
        return self.threads > 0 or self.elsewhere()

    def set_aside(self) -> None:
        """Let the garbage collector forget what is there now, if kernels were loaded since the last time."""
        if self._new and not self.threads:
            self._new = False
            gc.collect(1)
            gc.freeze()


compiling = Compiling()
atexit.register(gc.unfreeze)  # else libraries count what was set aside as leaked, and write that to the log
event.register("numba:compiler_lock", compiling)  # type: ignore[no-untyped-call]


class RefusedRequest(Exception):
    """A request that the server refuses for a reason of its own, with the status that HTTP has for it."""

    def __init__(self, status: int, kind: str, message: str, hint: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.kind, self.message, self.hint, self.retry_after = status, kind, message, hint, retry_after


@dataclass(eq=False)
class ThreadJob:
    """Work for a thread, the future of its result, and what the event loop calls with the seconds that it took."""

    work: Callable[[], Any]
    future: asyncio.Future[Any]
    done: "Callable[[ThreadJob, float], None]"
    client: str = ""
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
        self.done(self, seconds)
        if not self.future.done():
            self.future.set_result(outcome) if error is None else self.future.set_exception(error)
            self.future.exception()  # marks it as retrieved, if nobody waits for it any more


class WorkQueue:
    """Threads and the queue before them. Only the event loop uses it."""

    def __init__(self, name: str, threads: int, queue: int, nice: int = 0, first: "WorkQueue | None" = None) -> None:
        """Threads with a positive `nice` let others go first: to the processors (on Linux) and to the interpreter,
        there those of the queue `first`."""
        self.threads, self.queue = threads, queue
        self.running = 0
        self.seconds = 0.005  # mean time of a question
        self._waiting: deque[ThreadJob] = deque()
        self._used: dict[str, tuple[float, float]] = {}  # client → seconds of threads, as of a time
        self._again: dict[str, tuple[float, int]] = {}  # client → when it should try again, refusals
        self._latest = 0.0  # when a thread last started work
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._jobs: SimpleQueue[ThreadJob | None] = SimpleQueue()
        self._idle = Event()  # no thread works
        self._idle.set()
        wait = (lambda _: None) if first is None else first._idle.wait
        for number in range(threads):
            Thread(target=_do_jobs, args=(self._jobs, nice, wait), name=f"cocite-{name}-{number}", daemon=True).start()

    @property
    def waiting(self) -> int:
        """Questions waiting for a thread."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether the next question is rejected."""
        return self.waiting >= self.queue

    def refuses(self, client: str) -> bool:
        """Whether the next question of a client is rejected: the queue is full, and nobody has more in it."""
        return self.full and self._largest(client) is None

    def must_wait(self, client: str) -> bool:
        """Whether a client was refused several times, should try again later than now, and many still wait."""
        until, refusals = self._again.get(client, (0.0, 0))
        return 2 * self.waiting >= self.queue and refusals >= MAX_REFUSALS and until > time.monotonic()

    def _largest(self, client: str) -> ThreadJob | None:
        """The newest question of the client with most questions, if it has more than another client would."""
        counts = Counter(job.client for job in self._waiting)
        most, number = counts.most_common(1)[0] if counts else ("", 0)
        newest = (job for job in reversed(self._waiting) if job.client == most)
        return next(newest) if number > counts[client] + 1 else None

    def retry_after(self) -> int:
        """Seconds until the waiting questions should be answered."""
        return min(MAX_RETRY_SECONDS, max(1, ceil(self.waiting * self.seconds / self.threads)))

    def refusal(self, client: str = "") -> RefusedRequest:
        """The error for a question that doesn't fit. It says when to try again, and that is remembered."""
        now = time.monotonic()
        until, refusals = self._again.get(client, (0.0, 0))
        if until <= now:
            until, refusals = now + self.retry_after(), 0
            if len(self._again) > MAX_REMEMBERED_CLIENTS:
                self._again = {each: known for each, known in self._again.items() if known[0] > now}
        self._again[client], after = (until, refusals + 1), ceil(until - now)
        return too_busy(after)

    async def run(self, work: Callable[[], Output], timeout: float, client: str = "") -> Output:
        """Run work in a thread. Raises RefusedRequest if the queue is full, TimeoutError if it waits too long."""
        if self._closed:
            raise stopping()
        if self.full and not self._may_start():
            largest = self._largest(client)
            if largest is None:
                raise self.refusal(client)
            self._waiting.remove(largest)
            largest.started = True
            largest.future.set_exception(self.refusal(largest.client))
        job = ThreadJob(work, asyncio.get_running_loop().create_future(), self._done, client)
        self._waiting.append(job)
        self._start_waiting()
        try:
            if not job.started:
                await wait_for((job.future,), timeout)
        finally:
            if not job.started:
                self._waiting.remove(job)
        if not job.started:
            raise TimeoutError
        result: Output = await asyncio.shield(job.future)  # the client may give up, the thread doesn't
        return result

    def _may_start(self) -> bool:
        """Whether a thread is free, and the running ones have worked for a while."""
        is_long = time.monotonic() - self._latest >= LONG_QUESTION_SECONDS
        return not self.running or (self.running < self.threads and is_long)

    def _start_waiting(self) -> None:
        """Start waiting questions, in turn; check again when the running ones have worked for a while."""
        while self._waiting and self._may_start():
            self.running += 1
            self._idle.clear()
            self._latest = time.monotonic()
            job = self._next()
            self._waiting.remove(job)
            job.started = True
            self._jobs.put(job)
        if self._timer is None and self._waiting and self.running < self.threads:
            after = max(0.0, LONG_QUESTION_SECONDS - (time.monotonic() - self._latest))
            self._timer = asyncio.get_running_loop().call_later(after, self._check)

    def _next(self) -> ThreadJob:
        """The question that has waited longest, of the client that has used least time."""
        if not self._used or len(self._waiting) == 1:
            return self._waiting[0]
        now = time.monotonic()
        use = {client: self._use_of(client, now) for client in {job.client for job in self._waiting}}
        return min(self._waiting, key=lambda job: use[job.client])

    def _use_of(self, client: str, now: float) -> float:
        seconds, at = self._used.get(client, (0.0, now))
        return float(seconds * 0.5 ** ((now - at) / USE_HALF_LIFE_SECONDS))

    def _check(self) -> None:
        self._timer = None
        self._start_waiting()

    def _done(self, job: ThreadJob, seconds: float) -> None:
        self.running -= 1
        now = time.monotonic()
        self._used[job.client] = self._use_of(job.client, now) + seconds, now
        if len(self._used) > MAX_REMEMBERED_CLIENTS:
            least = sorted(self._used, key=lambda client: self._use_of(client, now))
            for client in least[: MAX_REMEMBERED_CLIENTS // 2]:
                del self._used[client]
        self.seconds += NEWEST_WEIGHT * (seconds - self.seconds)
        self._start_waiting()
        if not self.running:
            self._idle.set()

    def close(self) -> None:
        """Start nothing any more."""
        self._closed = True
        while self._waiting:
            job = self._waiting.popleft()
            job.started = True
            job.future.set_exception(stopping())
        for _ in range(self.threads):
            self._jobs.put(None)


async def wait_for(futures: Sequence[asyncio.Future[Any]], timeout: float) -> set[asyncio.Future[Any]]:
    """The futures that are done in time. While kernels are compiled, once on a machine, time doesn't count."""
    while True:
        done, _ = await asyncio.wait(futures, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if done or not compiling.is_under_way:
            return done


def too_busy(seconds: int) -> RefusedRequest:
    """The error for a question that doesn't fit now."""
    return RefusedRequest(503, "Busy", "Too many questions are waiting", f"Try again in {seconds} s", seconds)


def stopping() -> RefusedRequest:
    """The error for a question after the end."""
    return RefusedRequest(503, "Stopping", "This server is shutting down", "Try again in a moment", 1)


def _do_jobs(jobs: SimpleQueue[ThreadJob | None], nice: int, wait_for_others: Callable[[float], object]) -> None:
    if nice:
        step_aside(wait_for_others)
    if nice and sys.platform == "linux":  # elsewhere a priority belongs to a process, and a thread has no number of one
        os.setpriority(os.PRIO_PROCESS, get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + nice)
    while (job := jobs.get()) is not None:
        job.run()
        del job  # or it would keep an old store open until the next question


class Pause:
    """Sleeps a multiple of the time since the last time: a thread that works in Python lets others work meanwhile."""

    def __init__(self, factor: float) -> None:
        self._factor, self._last = factor, time.monotonic()

    def __call__(self) -> None:
        time.sleep(self._factor * (time.monotonic() - self._last))
        self._last = time.monotonic()


async def run_in_thread(work: Callable[[], Output]) -> Output:
    """Run long work in a thread of its own, for which the end of the program doesn't wait."""
    job = ThreadJob(work, asyncio.get_running_loop().create_future(), lambda *_: None)
    Thread(target=job.run, name="cocite-background", daemon=True).start()
    result: Output = await job.future
    return result
