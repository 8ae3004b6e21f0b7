"""From a question to a reply: from the cache, from the same question in progress, or computed in a thread.

Limits follow the load (Dean & Henzinger 1999, §4.3), which the queue shows: nobody waits and a thread is free (idle),
somebody may wait (normal), many wait (busy), half of the queue is full (swamped). The cache has an answer under the
limits that it was computed with. A fuller answer from the cache is sent at any load; a poorer one never replaces it.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from cocite.budget import Budget, budget_for, cancel, limited
from cocite.errors import BadStore, CociteError, TooMuchWork, UnknownPage, UnknownWord
from cocite.http.cache import AnswerKeys, Cache
from cocite.http.metrics import Metrics
from cocite.http.questions import BUSY, IDLE, LOAD_LEVELS, NORMAL, SWAMPED, HttpQuestion, Key, OperationQuestion, routes
from cocite.http.responses import Reply, etag, matches, reply_to
from cocite.http.settings import MAX_READ_AT_ONCE_BYTES, Settings
from cocite.http.slow import NICE, SlowProcess, Work
from cocite.http.watcher import StoreWatcher
from cocite.kernels.interpreted import Workload, expect, interpreting
from cocite.log import Log
from cocite.operations import DEFAULT_METHOD
from cocite.operations.pages.related import Related
from cocite.serving.mapped import MappedFiles
from cocite.serving.threads import Output, Pause, RefusedRequest, WorkQueue, wait_for
from cocite.snapshot import Snapshot

if TYPE_CHECKING:
    from cocite.http.writes import Writes

BUSY_WAITING_PER_THREAD = 8
"""A server with this many waiting questions per thread is busy."""
COMPRESS_IN_THREAD_BYTES = 1 << 15
"""Larger answers are compressed in the thread: the event loop would be held up."""
MAX_WARM_UP_QUESTIONS, MAX_WARM_UP_SECONDS, MAX_SECONDS_AFTER_COMMIT = 200, 10.0, 0.5
"""Recent questions that a new snapshot answers before it replaces the current one. A commit may come every second."""
RENEWING_PAUSE = 4.0
"""Time asleep ÷ time working while they are asked beside new questions, which the current snapshot answers."""


@dataclass(eq=False)
class Pending:
    """A question that is being answered, for some requests. When the last of them has gone, it is cancelled."""

    task: asyncio.Task[Reply]
    budget: Budget
    requests: int = 0

    def leave(self) -> bool:
        """One request less; returns whether the question is cancelled."""
        self.requests -= 1
        if self.requests or self.task.done():
            return False
        cancel(self.budget)
        self.task.cancel()
        return True


class Renewed(NamedTuple):
    """The answer of a new snapshot to a question: the request that asks it, if it is known, and all of its keys."""

    request: bytes
    keys: AnswerKeys
    tag: bytes
    reply: Reply


class Service:
    """Answers questions in one worker. It belongs to the event loop that made it."""

    def __init__(self, settings: Settings, metrics: Metrics, log: Log) -> None:
        self.settings, self.metrics, self.log = settings, metrics, log
        self.cache = Cache(settings.cache)
        threads, waiting = settings.max_threads, settings.max_waiting
        self.quick = WorkQueue("quick", threads, waiting)
        self.slow = WorkQueue("slow", max(1, threads // 2), max(1, waiting // 4), NICE, first=self.quick)
        self._pending: dict[bytes, Pending] = {}
        self._recent: OrderedDict[bytes, HttpQuestion] = OrderedDict()
        self._renewed: list[Renewed] = []  # answers of the next snapshot
        self.watcher = StoreWatcher(settings.store, log, self.warming, self._replaced)
        self._workload = Workload(self.web.graph.items)
        self.slow_process: SlowProcess | None = None  # which answers slow questions
        self.writes: Writes | None = None  # if the server may be written to
        self.stopping = False

    @property
    def web(self) -> Snapshot:
        """The current snapshot of the store."""
        return self.watcher.current

    def refuse_damaged(self) -> None:
        """Raise RefusedRequest if the store is damaged: wrong answers are worse than none."""
        if refused := self.watcher.refused:
            raise RefusedRequest(503, "BadStore", refused, "Run cocite check; build the store again, or copy it", 60)

    def load(self) -> int:
        """The load level of this worker."""
        queue = self.quick
        if not self.settings.adapt:
            return NORMAL
        if queue.waiting >= queue.queue // 2:
            return SWAMPED
        if queue.waiting >= BUSY_WAITING_PER_THREAD * queue.threads:
            return BUSY
        return IDLE if not queue.waiting and queue.running < queue.threads else NORMAL

    def cached(self, request: bytes) -> tuple[str, Reply] | None:
        """The route and the reply of a request whose bytes were seen before, if the cache has the reply."""
        keys = self.cache.keys_of(request)
        if keys is None or keys.edition != self.web.edition:
            return None
        found = self._fullest(keys, self.load())
        return None if found is None else (keys.route, found)

    def _fullest(self, keys: AnswerKeys, load: int) -> Reply | None:
        """The fullest answer in the cache, at least as full as the load asks for."""
        for tag in dict.fromkeys(keys.keys[: load + 1]):
            found = self.cache.get(tag)
            if found is not None:
                return found
        return None

    def refusing(self, request: bytes, client: str) -> WorkQueue | None:
        """The queue that refuses a request before it is read, if one does. A long request is read by the slow one."""
        if self.slow.must_wait(client):
            return self.slow
        first = self.slow if len(request) > MAX_READ_AT_ONCE_BYTES else self.quick
        return first if first.must_wait(client) or first.refuses(client) else None

    def start_slow_process(self) -> None:
        """From the first slow question on, have a process answer them."""
        recording = self.settings.record_clicks
        self.slow_process = SlowProcess(self.settings.store, self.slow.threads, recording, self.log)

    async def read(self, read: Callable[[], Output], size: int, client: str) -> Output:
        """What a function reads of a request of some size. 60 kB take 0.1 s, so they wait with slow questions."""
        if size <= MAX_READ_AT_ONCE_BYTES:
            return read()
        found: Output = await self._with_slow(partial(_without_store, read), client)
        return found

    async def _with_slow(self, work: Work, client: str, web: Snapshot | None = None) -> Any:
        """Read something in the queue of slow questions: quick ones never wait for it. Raises RefusedRequest and errors
        of `work`."""
        budget = budget_for(self.settings.timeout)
        try:
            return await self.slow.run(partial(self._do_slow, work, web, budget), self.settings.timeout, client)
        except TimeoutError:
            raise self.slow.refusal(client) from None

    def _do_slow(self, work: Work, web: Snapshot | None, budget: Budget) -> Any:
        """In a thread: have work done by the process for slow questions, or do it here."""
        if self.slow_process is not None:
            done = self.slow_process.run(work, web, budget)
            if done is not None:
                return done[0]
        return self._do(work, web or self.web, budget)

    def _do(self, work: Work, web: Snapshot, budget: Budget) -> Any:
        """In a thread: do work for somebody who waits. While kernels are compiled, those of a small store are
        interpreted."""
        self._workload.count_question()
        with interpreting(self._workload), limited(budget):
            return work(web, self.watcher.mapped, self.log)

    async def answer(
        self, question: HttpQuestion, request: bytes = b"", if_none_match: bytes = b"", client: str = "",
        lost: asyncio.Future[None] | None = None,
    ) -> Reply:  # fmt: skip
        """The reply to a question; `request` are the bytes that ask it, if they say everything.

        `lost` is done when the client has gone away. Raises RefusedRequest.
        """
        web, load = self.web, self.load()
        self.refuse_damaged()
        long = len(request) > MAX_READ_AT_ONCE_BYTES
        keys = await self._with_slow(partial(_keys_of, question), client, web) if long else question.keys(web)
        every = self._keys(question, keys, web)
        if request:
            self.cache.remember(request, every)
        found = self._fullest(every, load)
        if found is not None:
            self.metrics.count("cache_hits")
            return found
        named = if_none_match.strip() not in (b"", b"*")  # "*" names no answer: it must be computed
        for tag in dict.fromkeys(every.keys[: load + 1]) if named else ():
            if matches(if_none_match, tag):  # the client has this answer, whether or not the cache does
                self.metrics.count("not_modified")
                return Reply(304, b"", etag=tag)
        tag = every.keys[min(load, len(keys) - 1)]
        pending = self._pending.get(tag)
        self.metrics.count("cache_misses" if pending is None else "shared")
        if pending is None:
            budget = budget_for(self.settings.timeout)
            task = asyncio.create_task(self._compute(question, web, load, tag, budget, client))
            pending = self._pending[tag] = Pending(task, budget)
            task.add_done_callback(partial(self._forget, tag))
        pending.requests += 1
        watched: tuple[asyncio.Future[Any], ...] = (pending.task,) if lost is None else (pending.task, lost)
        try:
            done = await wait_for(watched, self.settings.timeout)
        finally:
            if pending.leave():
                self._pending.pop(tag, None)  # at once: who asks now begins anew
        if pending.task in done:
            return pending.task.result()
        if done:
            raise RefusedRequest(400, "Gone", "The client went away before the answer was ready", "Ask again")
        self.metrics.count("timeouts")
        raise self._timed_out(question)

    def _keys(self, question: HttpQuestion, keys: tuple[Key, ...], web: Snapshot) -> AnswerKeys:
        tags = {key: etag(web.edition, key) for key in keys}  # the cache keeps these: a key may have 60 kB
        return AnswerKeys(question.route, web.edition, tuple(tags[key] for key in keys))

    async def _compute(
        self, question: HttpQuestion, web: Snapshot, load: int, tag: bytes, budget: Budget, client: str
    ) -> Reply:
        queue, edition = self.slow if question.slow else self.quick, web.edition
        do = self._do_slow if question.slow else self._do
        work: Callable[[], Reply] = partial(do, partial(reply_of, question, load, tag), web, budget)
        try:
            reply = await queue.run(work, self.settings.timeout, client)
        except TimeoutError:
            raise self._timed_out(question) from None
        except RefusedRequest:
            self.metrics.count("shed")
            raise
        if reply.etag and edition == self.web.edition:
            self.cache.put(tag, reply)
            if not question.slow:  # the latest quick questions, which are about one page, warm up a new snapshot
                self._recent[tag] = question
                self._recent.move_to_end(tag)
                if len(self._recent) > MAX_WARM_UP_QUESTIONS:
                    self._recent.popitem(last=False)
        self.metrics.count(LOAD_LEVELS[load])
        return reply

    def _timed_out(self, question: HttpQuestion) -> RefusedRequest:
        after = max((self.slow if question.slow else self.quick).retry_after(), 2)
        message = f"Not answered within {self.settings.timeout:g} s"
        return RefusedRequest(503, "Timeout", message, f"Try again in {after} s, or ask for less", after)

    def _forget(self, tag: bytes, task: asyncio.Task[Reply]) -> None:
        if tag in self._pending and self._pending[tag].task is task:
            del self._pending[tag]
        if not task.cancelled():
            task.exception()  # marks it as retrieved, if nobody waits for it any more

    def warming(self) -> Callable[[Snapshot], None]:
        """A function that asks a new snapshot the latest questions; at the start, the default ones.

        Requests that came again are answered from the cache after the switch, too: their answers are made anew before.
        A commit comes every second or so, and needs no more than these.
        """
        again, before, renewed = self.cache.take_asked_again(), self.web.base, list[Renewed]()
        recent, self._renewed = list(self._recent.values())[::-1], renewed

        def warm(web: Snapshot) -> None:
            follows = web is not self.web and web.base == before
            until = time.monotonic() + (MAX_SECONDS_AFTER_COMMIT if follows else MAX_WARM_UP_SECONDS)
            asked: dict[HttpQuestion, bytes] = {}
            for request in again:
                if (known := question_of(request)) and not known.slow:
                    asked.setdefault(known, request)
            for question in recent[:1] if follows else recent or first_questions(web):
                asked.setdefault(question, b"")
            pause = Pause(RENEWING_PAUSE if web is not self.web else 0)
            for question, request in asked.items():
                if time.monotonic() > until:
                    break
                with suppress(Exception):  # a page may be gone; other errors show when somebody asks
                    renewed.append(self._renew(question, request, web))
                pause()

        return warm

    def _renew(self, question: HttpQuestion, request: bytes, web: Snapshot) -> Renewed:
        """The answer of a new snapshot to a question."""
        every = self._keys(question, question.keys(web), web)
        tag = every.keys[min(NORMAL, len(every.keys) - 1)]
        with limited(budget_for(self.settings.timeout)):
            return Renewed(request, every, tag, reply_of(question, NORMAL, tag, web, self.watcher.mapped, self.log))

    def _replaced(self) -> None:
        self.cache.clear()
        self._workload.expect(items := self.web.graph.items)  # a store may have grown
        expect(items)
        renewed, self._renewed = self._renewed, []
        for each in renewed:
            if each.keys.edition == self.web.edition and each.request and each.reply.etag:
                self.cache.put(each.tag, each.reply)
                self.cache.remember(each.request, each.keys)
        self.metrics.count("switches")

    def measure(self) -> None:
        """Update the gauges."""
        self.metrics.set("cache_bytes", self.cache.bytes)
        self.metrics.set("cache_answers", len(self.cache))
        self.metrics.set("running", self.quick.running + self.slow.running)
        self.metrics.set("waiting", self.quick.waiting + self.slow.waiting)
        self.metrics.count("cache_evictions", self.cache.evictions)
        self.cache.evictions = 0
        if self.slow_process is not None:
            self.slow_process.look()
            self.metrics.beside = self.slow_process.used
        self.metrics.update_process()

    def close(self) -> None:
        """Start nothing any more."""
        self.stopping = self.watcher.stopping = True
        self.quick.close()
        self.slow.close()
        if self.slow_process is not None:
            self.slow_process.close()
        if self.writes is not None:
            self.writes.close()


def _without_store(read: Callable[[], Output], *_: Any) -> Output:
    return read()


def _keys_of(question: HttpQuestion, web: Snapshot, *_: Any) -> tuple[Key, ...]:
    return question.keys(web)


def reply_of(question: HttpQuestion, load: int, tag: bytes, web: Snapshot, mapped: MappedFiles, log: Log) -> Reply:
    """In a thread or in the process for slow questions: the answer, or the error of the question."""
    try:
        reply = question.work(web, load)
        if lost := mapped.lost:  # it may have read zeros
            raise BadStore(f"{lost[0]} was changed while it was served")
        reply.etag = tag
    except CociteError as error:
        reply = reply_to(error)
        if isinstance(error, UnknownPage | UnknownWord | TooMuchWork):
            reply.etag = etag("missing", tag)  # cached, as it costs as much as an answer; but never a 304
        if isinstance(error, BadStore):
            log.write("cannot answer", "error", route=question.route, why=str(error))
    if len(reply.body) >= COMPRESS_IN_THREAD_BYTES:
        reply.compress()
    return reply


def question_of(request: bytes) -> OperationQuestion | None:
    """The question that a request to the API asks; None if it asks none."""
    path, _, query = request.partition(b"?")
    operation = routes().get(path.decode("latin-1"))
    try:
        return None if operation is None else OperationQuestion.read(operation, query)
    except CociteError:
        return None


def first_questions(web: Snapshot) -> list[OperationQuestion]:
    """Questions about the most-linked page, before anybody has asked."""
    if not web.graph.pages:
        return []
    best = web.graph.address(int(web.graph.in_degree.argmax()))
    calls = dict.fromkeys((DEFAULT_METHOD, "companion"))
    return [OperationQuestion.of(Related(urls=(best,), method=call)) for call in calls]
