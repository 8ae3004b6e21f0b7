"""Answers slow questions in a second process, so that short ones needn't wait for Python's lock.

The first slow question starts it, and waits until it has opened the same store. It has a lower priority, and ends when
nobody has asked for a while. If it dies or hangs, the server goes on: the questions that it worked on are refused, and
the next one starts it again. Threads of the server answer only where it can't be started, or can't open what the server
has open: an edition that was replaced meanwhile.
"""

import faulthandler
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cocite.budget import CANCELLED, LEFT, STATE, Budget, cancel, limited, new_budget
from cocite.graph.changes.dates import BUILDS
from cocite.http.page.render import environment
from cocite.kernels.interpreted import Workload, interpreting
from cocite.log import Log
from cocite.processes import interrupts_blocked
from cocite.related.ranks import Ranked
from cocite.serving.mapped import MappedFiles, survive_lost_files
from cocite.serving.threads import RefusedRequest, compiling, stopping
from cocite.snapshot import Snapshot, pointer_of, stamp_of
from cocite.system import limit_free_memory, release_free_memory, resident_bytes

SLOW_PROGRAM = "from cocite.http.slow import main; main()"
NICE = 5
"""By how much its priority is lower than that of the server."""
OOM_SCORE = "500"
"""If memory runs out, Linux ends it before the server."""
START_SECONDS = 60.0
IDLE_SECONDS = 300.0
"""It ends when nothing was asked for this long."""
AGAIN_SECONDS = 60.0
"""When it is tried again to start it, and how long slow questions are refused if it dies twice within this time."""
CANCEL_SECONDS = 0.05
"""How soon it learns that a question was cancelled."""
HUNG_SECONDS = 30.0
"""It is killed if it is silent for this long, or doesn't end a cancelled question."""
STATUS_SECONDS, RELEASE_SECONDS = 0.5, 20.0
"""How often it says how it does, and gives free memory back to the system."""
Work = Callable[[Snapshot, MappedFiles, Log], Any]
"""What is to be done with a store. It is sent to the process, so it is a function that can be imported, or a part."""


class Beginning(NamedTuple):
    """The first message: what the process needs to know."""

    store: Path
    threads: int
    recording: bool
    worker: int  # for its log
    priority: int


class SentWork(NamedTuple):
    """Work, with an edition of the store, or any if it is empty. `ranks` are those that only the server has."""

    work: Work
    edition: str
    links: int  # of the budget
    ranks: dict[str, Ranked]


class Found(NamedTuple):
    """A result or an error."""

    result: Any = None
    error: Exception | None = None


class NotOpen(NamedTuple):
    """The process has another edition open; with ranks of the server, it may have this one."""

    lacks_ranks: bool


class Status(NamedTuple):
    """How the process does, every half second."""

    compiling: bool = True
    building: bool = False  # a date in the past
    memory: int = 0
    seconds: float = 0.0


class Ended(Exception):
    """The process ended before its answer came."""


class Running:
    """The process, as the server sees it."""

    def __init__(self, beginning: Beginning) -> None:
        with interrupts_blocked():  # Ctrl-C is for the server
            self.process = subprocess.Popen(
                [sys.executable, "-c", SLOW_PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        self.status, self.heard, self.ended = Status(), time.monotonic(), False
        self._numbers, self._sending = itertools.count(1), threading.Lock()
        self._waiting: dict[int, Future[Found | NotOpen]] = {0: Future()}  # 0: until it is ready
        threading.Thread(target=self._read, name="cocite-slow-answers", daemon=True).start()
        ready = self._waiting[0]
        try:
            self._send(beginning)
        except Ended:
            self.process.kill()
        self._ready = ready

    def wait(self) -> None:
        """Wait until it is ready; raises Ended or TimeoutError."""
        self._ready.result(START_SECONDS)

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self.ended or self.process.poll() is not None  # the thread may not have seen the end yet

    @property
    def is_idle(self) -> bool:
        """Whether it has nothing to do."""
        return not self._waiting

    def ask(self, asked: SentWork, budget: Budget) -> Found | NotOpen:
        """What comes back; raises Ended. Until then, the question can be cancelled."""
        sent, number, future = pickle.dumps(asked), next(self._numbers), Future[Found | NotOpen]()
        self._waiting[number] = future
        if self.ended:  # before it could be told to this one
            raise Ended
        self._send((number, sent))
        cancelled = 0.0
        while True:
            with suppress(TimeoutError):
                return future.result(CANCEL_SECONDS)
            if budget[STATE] == CANCELLED and not cancelled:
                cancelled = time.monotonic()
                self._send((number, b""))
            if cancelled and time.monotonic() - cancelled > HUNG_SECONDS and not self.status.compiling:
                self.process.kill()

    def _send(self, message: Any) -> None:
        assert self.process.stdin is not None
        try:
            with self._sending:
                pickle.dump(message, self.process.stdin)
                self.process.stdin.flush()
        except (OSError, ValueError):
            raise Ended from None

    def _read(self) -> None:
        """In a thread: give answers to those who wait, until the process ends."""
        assert self.process.stdout is not None
        with suppress(Exception):  # it has ended, or sends what can't be read
            while True:
                number, found = pickle.load(self.process.stdout)
                self.heard = time.monotonic()
                if number is None:
                    self.status = found
                else:
                    self._waiting.pop(number).set_result(found)
        self.ended = True
        self.process.kill()
        self.process.wait()
        while self._waiting:
            self._waiting.popitem()[1].set_exception(Ended())


class SlowProcess:
    """Answers slow questions for the threads of a server."""

    def __init__(self, store: Path, threads: int, recording: bool, log: Log) -> None:
        priority = os.getpriority(os.PRIO_PROCESS, os.getpid()) if hasattr(os, "getpriority") else 0
        self._beginning = Beginning(store, threads, recording, log.worker, priority)
        self._log, self._lock = log, threading.Lock()
        self._running: Running | None = None  # also while it starts
        self._ready = False
        self._start_at = self._refuse_until = self._used_at = 0.0
        self._died_at, self._closed = -AGAIN_SECONDS, False
        self._seconds_before = 0.0  # processor time of earlier processes
        compiling.elsewhere = self._is_loading

    def run(self, work: Work, web: Snapshot | None, budget: Budget) -> tuple[Any] | None:
        """Have work done with what the server has open of the store, or with any edition; raises its errors.

        Returns None if the process can't do that: whoever asks does it then. Raises RefusedRequest if the process ends:
        the server should not try what has killed it.
        """
        running = self._started()
        if running is None:
            return None
        asked = SentWork(work, "" if web is None else web.edition, int(budget[LEFT]), {})
        try:
            found = running.ask(asked, budget)
            if isinstance(found, NotOpen) and found.lacks_ranks and web is not None:
                found = running.ask(asked._replace(ranks=web.ranks), budget)
        except (pickle.PicklingError, AttributeError, TypeError):  # of a plugin, which can't be imported by name
            return None
        except Ended:
            raise self._lost(running) from None
        finally:
            self._used_at = time.monotonic()
        if isinstance(found, NotOpen):
            return None
        if found.error is not None:
            raise found.error
        return (found.result,)

    def _started(self) -> Running | None:
        """The process, ready; None if it can't be started. Raises RefusedRequest while questions are refused."""
        with self._lock:
            now = self._used_at = time.monotonic()
            if self._running is not None and self._running.is_gone:  # while nobody asked
                self._forget("its process died")
            if self._running is None:
                if self._closed:
                    raise stopping()
                if now < self._refuse_until:
                    raise refusal(self._refuse_until - now)
                if now < self._start_at:
                    return None
                self._start()
            return self._running

    def _start(self) -> None:
        began, why = time.monotonic(), ""
        try:
            self._running = running = Running(self._beginning)
            running.wait()
        except (OSError, TimeoutError, Ended) as error:
            why = str(error) or type(error).__name__
        if why or self._closed:
            if self._running is not None:
                self._running.process.kill()
            self._running, self._start_at = None, time.monotonic() + AGAIN_SECONDS
            if not self._closed:
                self._log.write("slow questions", "warning", why=f"no process for them could be started: {why}")
            return
        self._ready = True
        self._log.write("slow questions", process=running.process.pid, seconds=round(time.monotonic() - began, 3))

    def _lost(self, running: Running) -> RefusedRequest:
        """Note that the process ended while it worked; returns what to tell whoever waited."""
        with self._lock:
            now = time.monotonic()
            if self._running is running:
                self._forget("its process died while it worked")
                if now - self._died_at < AGAIN_SECONDS:
                    self._refuse_until = now + AGAIN_SECONDS
                self._died_at = now
            return refusal(max(1.0, self._refuse_until - now))

    def _forget(self, why: str = "") -> None:
        """The process has ended, or shall."""
        running, self._running, self._ready = self._running, None, False
        if running is not None:
            self._seconds_before += running.status.seconds
            running.process.kill()
            if why and not self._closed:
                self._log.write("slow questions", "error", why=why, status=running.process.wait())

    def look(self) -> None:
        """End the process if nobody has asked for a while, or if it hangs. The event loop calls this now and then."""
        running, now = self._running, time.monotonic()
        if running is None or not self._ready or not self._lock.acquire(blocking=False):
            return
        try:
            if running.is_idle and not running.status.building and now - self._used_at > IDLE_SECONDS:
                self._forget()
            elif now - running.heard > HUNG_SECONDS:
                running.process.kill()  # whoever waits learns that it ended
        finally:
            self._lock.release()

    def _is_loading(self) -> bool:
        """Whether the process starts, or compiles or loads kernels: meanwhile, time doesn't count."""
        running = self._running
        return running is not None and running.status.compiling and time.monotonic() - running.heard < HUNG_SECONDS

    @property
    def used(self) -> tuple[int, float]:
        """Bytes of memory, and seconds of processor time."""
        status = Status() if self._running is None else self._running.status
        return status.memory, self._seconds_before + status.seconds

    def close(self) -> None:
        """End it for good. It only reads: nothing is lost."""
        self._closed, compiling.elsewhere = True, bool
        if (running := self._running) is not None:
            running.process.kill()


def refusal(seconds: float) -> RefusedRequest:
    """The error for a question whose process ended, or that isn't tried for some seconds."""
    what = "The process that answers slow questions ended"
    return RefusedRequest(503, "Busy", what, f"Try again in {seconds:.0f} s, or ask for less", int(seconds) or 1)


# ------------------------------------------------------------------------------------------------------ in the process


class _Store:
    """The store, opened; a new edition replaces the one before."""

    def __init__(self, path: Path, log: Log) -> None:
        self._path, self._lock, self.log = path, threading.Lock(), log
        self._other = ""  # an edition that isn't this one, even with ranks of the server
        self._open()

    def _open(self) -> None:
        opened = Snapshot(self._path)
        opened.open_parts()
        self.web, self.mapped = opened, MappedFiles(self._path)
        self.workload = Workload(opened.graph.items)

    def _open_edition(self, asked: SentWork) -> NotOpen | None:
        """Open an edition of the store, if it isn't open."""
        stamp, edition = stamp_of(self._path, pointer_of(self._path)), asked.edition
        if self.mapped.lost or (self.web.stamp != stamp and edition != self.web.edition):
            try:
                self._open()
            except Exception as error:  # the server may still have it
                self.log.write("cannot open", "warning", why=str(error) or type(error).__name__)
                return NotOpen(False)
        if asked.ranks:
            self.web.set_ranks(asked.ranks)
        if edition in ("", self.web.edition):
            return None
        if asked.ranks:
            self._other = edition
            self.log.write("other edition", "warning", what="slow questions are answered by threads of the server")
        return NotOpen(self._other != edition)

    def do(self, sent: bytes, budget: Budget) -> Found | NotOpen:
        """What is sent back for work."""
        try:
            asked: SentWork = pickle.loads(sent)
            budget[LEFT] = asked.links
            with self._lock:
                if refused := self._open_edition(asked):
                    return refused
                web, mapped = self.web, self.mapped
            self.workload.count_question()
            with limited(budget), interpreting(self.workload):
                return Found(asked.work(web, mapped, self.log))
        except Exception as error:
            return Found(error=error)


def _sendable(number: int, found: Found | NotOpen) -> bytes:
    """The message with what was found; an error with the lines that raised it."""
    error = found.error if isinstance(found, Found) else None
    try:
        if error is not None:
            error.add_note("".join(traceback.format_exception(error)))
            pickle.loads(pickle.dumps(error))
        return pickle.dumps((number, found))
    except Exception as unsendable:
        trace = "".join(traceback.format_exception(error or unsendable))
        return pickle.dumps((number, Found(error=RuntimeError(trace))))


def main() -> None:
    """Answer what comes from the standard input until that ends."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name, signal.SIGTERM), signal.SIG_IGN)  # they are for the server
    answers, lock = os.fdopen(os.dup(1), "wb"), threading.Lock()
    os.dup2(2, 1)  # whatever else is printed would be read as an answer
    beginning: Beginning = pickle.load(sys.stdin.buffer)
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, 0, beginning.priority + NICE)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE)
    faulthandler.enable()
    limit_free_memory()
    log = Log(worker=beginning.worker)
    survive_lost_files(log)
    environment().globals["recording"] = beginning.recording
    store, budgets = _Store(beginning.store, log), dict[int, Budget]()

    def send(message: bytes) -> None:
        try:
            with lock:
                answers.write(message)
                answers.flush()
        except OSError:  # the server has gone
            os._exit(0)

    def answer(number: int, sent: bytes) -> None:
        try:
            message = _sendable(number, store.do(sent, budgets[number]))
            del budgets[number]
            send(message)
        except BaseException as error:  # lack of memory, say: else somebody would wait forever
            log.write("slow questions", "error", why=f"{type(error).__name__}: {error}")
            os._exit(1)

    def tell() -> None:
        released = time.monotonic()
        while True:
            status = Status(compiling.threads > 0, BUILDS.is_building, resident_bytes(), time.process_time())
            send(pickle.dumps((None, status)))
            time.sleep(STATUS_SECONDS)
            if time.monotonic() - released > RELEASE_SECONDS:
                release_free_memory()
                released = time.monotonic()

    send(pickle.dumps((0, NotOpen(False))))
    threading.Thread(target=tell, daemon=True).start()
    pool = ThreadPoolExecutor(beginning.threads)
    with suppress(EOFError):
        while True:
            number, sent = pickle.load(sys.stdin.buffer)
            if sent:
                budgets[number] = new_budget(0)
                pool.submit(answer, number, sent)
            elif (budget := budgets.get(number)) is not None:
                cancel(budget)
    os._exit(0)
