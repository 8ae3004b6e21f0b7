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
from pathlib import Path
from typing import Any

from cocite.budget import Budget, cancel, limited, new_budget
from cocite.errors import BadStore, CociteError, TooMuchWork, UnknownPage, UnknownWord
from cocite.graph.side import FOLDER
from cocite.http.cache import AnswerKeys, Cache
from cocite.http.metrics import Metrics
from cocite.http.questions import BUSY, IDLE, LOAD_LEVELS, NORMAL, SWAMPED, HttpQuestion, OperationQuestion
from cocite.http.responses import RefusedRequest, Reply, etag, matches, reply_to
from cocite.http.settings import Settings
from cocite.http.threads import Output, WorkQueue, run_in_thread
from cocite.log import Log
from cocite.operations import DEFAULT_METHOD
from cocite.operations.pages.related import Related
from cocite.snapshot import Snapshot, pointer_of, stamp_of

BUSY_WAITING_PER_THREAD = 8
"""A server with this many waiting questions per thread is busy."""
COMPRESS_IN_THREAD_BYTES = 1 << 15
"""Larger answers are compressed in the thread: the event loop would be held up."""
MAX_READ_AT_ONCE_BYTES = 1 << 11
"""Longer requests are read in a thread."""
MAX_WARM_UP_QUESTIONS, MAX_WARM_UP_SECONDS = 200, 10.0
"""Recent questions that a new snapshot answers before it replaces the current one."""
VERIFY_PAUSE, VERIFY_PAUSE_BEFORE_SWITCH = 40.0, 1.0
"""Verifying sleeps so many times as long as it reads: it takes 1/41 of a core while serving, at most 2.5 %."""
MAX_INDEX_WAIT_SECONDS = 300.0
"""How long a new generation may lack the search index that the previous one had."""


@dataclass(frozen=True)
class Asker:
    """Who waits for an answer: the client, and what is done when it goes away."""

    client: str = ""
    lost: asyncio.Future[None] | None = None


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


class Service:
    """Answers questions in one worker. It belongs to the event loop that made it."""

    def __init__(self, settings: Settings, metrics: Metrics, log: Log) -> None:
        self.settings, self.metrics, self.log = settings, metrics, log
        self.cache = Cache(settings.cache)
        threads, waiting = settings.max_threads, settings.max_waiting
        self.quick = WorkQueue("quick", threads, waiting)
        self.slow = WorkQueue("slow", max(1, threads // 2), max(1, waiting // 4))
        self._pending: dict[bytes, Pending] = {}
        self._recent: OrderedDict[bytes, HttpQuestion] = OrderedDict()
        self.watcher = StoreWatcher(settings.store, log, self.warming, self._replaced)
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

    async def in_thread(self, work: Callable[[], Output], size: int, client: str) -> Output:
        """Read a request of some size: a long one in a thread, as 60 kB of addresses take 0.1 s.

        Raises RefusedRequest, and what `work` raises.
        """
        if size <= MAX_READ_AT_ONCE_BYTES:
            return work()
        try:
            return await self.quick.run(work, self.settings.timeout, client)
        except TimeoutError:
            raise self.quick.refusal() from None

    async def answer(
        self, question: HttpQuestion, request: bytes = b"", if_none_match: bytes = b"", asker: Asker | None = None
    ) -> Reply:
        """The reply to a question; `request` are the bytes that ask it, if they say everything.

        Raises RefusedRequest.
        """
        asker = asker or Asker()
        web, load = self.web, self.load()
        self.refuse_damaged()
        keys = await self.in_thread(partial(question.keys, web), len(request), asker.client)
        tags = {key: etag(web.edition, key) for key in keys}  # the cache keeps these: a key may have 60 kB
        every = AnswerKeys(question.route, web.edition, tuple(tags[key] for key in keys))
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
            budget = new_budget(self.settings.max_links)
            task = asyncio.create_task(self._compute(question, web, load, tag, budget, asker.client))
            pending = self._pending[tag] = Pending(task, budget)
            task.add_done_callback(partial(self._forget, tag))
        pending.requests += 1
        watched = (pending.task,) if asker.lost is None else (pending.task, asker.lost)
        try:
            done, _ = await asyncio.wait(watched, timeout=self.settings.timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if pending.leave():
                self._pending.pop(tag, None)  # at once: who asks now begins anew
        if pending.task in done:
            return pending.task.result()
        if done:
            raise RefusedRequest(400, "Gone", "The client went away before the answer was ready", "Ask again")
        self.metrics.count("timeouts")
        raise self._timed_out(question)

    async def _compute(
        self, question: HttpQuestion, web: Snapshot, load: int, tag: bytes, budget: Budget, client: str
    ) -> Reply:
        queue, edition = self.slow if question.slow else self.quick, web.edition
        work = partial(self._reply, question, web, load, tag, budget)
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

    def _reply(self, question: HttpQuestion, web: Snapshot, load: int, tag: bytes, budget: Budget) -> Reply:
        """In a thread: the answer, or the error of the question."""
        try:
            with limited(budget):
                reply = question.work(web, load)
            reply.etag = tag
        except CociteError as error:
            reply = reply_to(error)
            if isinstance(error, UnknownPage | UnknownWord | TooMuchWork):
                reply.etag = etag("missing", tag)  # cached, as it costs as much as an answer; but never a 304
            if isinstance(error, BadStore):
                self.log.write("cannot answer", "error", route=question.route, why=str(error))
        if len(reply.body) >= COMPRESS_IN_THREAD_BYTES:
            reply.compress()
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
        """A function that asks a snapshot the latest questions; at the start, the default ones."""
        recent = list(self._recent.values())[::-1]

        def warm(web: Snapshot) -> None:
            until = time.monotonic() + MAX_WARM_UP_SECONDS
            for question in recent or first_questions(web):
                if time.monotonic() > until:
                    break
                with suppress(Exception):  # a page may be gone; other errors show when somebody asks
                    question.work(web, NORMAL)

        return warm

    def _replaced(self) -> None:
        self.cache.clear()
        self.metrics.count("switches")

    def measure(self) -> None:
        """Update the gauges."""
        self.metrics.set("cache_bytes", self.cache.bytes)
        self.metrics.set("cache_answers", len(self.cache))
        self.metrics.set("running", self.quick.running + self.slow.running)
        self.metrics.set("waiting", self.quick.waiting + self.slow.waiting)
        self.metrics.count("cache_evictions", self.cache.evictions)
        self.cache.evictions = 0
        self.metrics.update_process()

    def close(self) -> None:
        """Start nothing any more."""
        self.stopping = self.watcher.stopping = True
        self.quick.close()
        self.slow.close()


def first_questions(web: Snapshot) -> list[OperationQuestion]:
    """Questions about the most-linked page, before anybody has asked."""
    if not web.graph.pages:
        return []
    best = web.graph.address(int(web.graph.in_degree.argmax()))
    calls = dict.fromkeys((DEFAULT_METHOD, "companion"))
    return [OperationQuestion.of(Related(urls=(best,), method=call)) for call in calls]


class StoreWatcher:
    """Keeps the current snapshot of a store, and replaces it when the store has changed.

    It checks the store's path now and then, opens a new snapshot beside the current one, warms it up with recent
    questions, and then replaces the current one. Running questions finish on the snapshot that they started with.
    """

    def __init__(
        self, path: Path, log: Log, warming: Callable[[], Callable[[Snapshot], None]], replaced: Callable[[], None]
    ) -> None:
        """`warming` returns a function that warms a snapshot up in a thread; `replaced` is called after a change."""
        self.path, self._log, self._warming, self._replaced = path, log, warming, replaced
        self.current = Snapshot(path)
        self.current.open_parts()
        self._check = asyncio.Event()
        self._since: float | None = None  # since when the new generation has lacked a search index
        self.damage: list[str] = []  # files of the current snapshot that don't match their checksums
        self.rejected = ""  # the generation that was not opened because it is damaged
        self.stopping = False

    async def prepare(self) -> None:
        """Build what the first snapshot lacks, while it is served already."""
        await run_in_thread(partial(self.current.build_parts, self._log.write))

    async def verify(self) -> None:
        """Verify every checksum of the current snapshot, slowly; then say what is damaged."""
        current = self.current
        found = await run_in_thread(partial(current.damaged_files, VERIFY_PAUSE, lambda: self.stopping))
        if current is not self.current:
            return  # replaced meanwhile, by a verified one
        self.damage = found
        if found:
            self._log.write("damaged", "error", files=found, what="run cocite check, and build or copy the store again")
            self._replaced()  # answers in the cache may be wrong
        else:
            self._log.write("verified", files=len(current.graph.arrays))

    @property
    def refused(self) -> str:
        """Why no question can be answered: empty unless arrays are damaged. Damaged side data is only closed."""
        arrays = [name for name in self.damage if not name.startswith(f"{FOLDER}/") or name == f"{FOLDER}/clicks"]
        return f"{arrays[0]} of {self.path} does not match its checksum" if arrays else ""

    def check_now(self) -> None:
        """Check the store now."""
        self._check.set()

    async def watch(self, seconds: float) -> None:
        """Check the path forever, and reload when it has changed."""
        previous = ""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._check.wait()
            at_once = self._check.is_set()
            self._check.clear()
            stamp = await run_in_thread(lambda: stamp_of(self.path, pointer_of(self.path)))
            changed = stamp != self.current.stamp
            if changed and (stamp == previous or at_once):  # the same twice: whoever writes there has finished
                await self.reload()
                changed = False
            previous = stamp if changed else ""

    async def reload(self) -> None:
        """Replace the current snapshot by a new one; after any error the current one stays."""
        began = time.monotonic()
        try:
            fresh = await run_in_thread(partial(self._open, self._warming()))
        except Exception as error:  # whatever is wrong with the new one: go on with the current one
            self._log.write("reload failed", "error", why=str(error) or type(error).__name__)
            return
        if fresh is None:
            return
        self.current, self.damage, self.rejected = fresh, [], ""
        self._replaced()
        facts: dict[str, Any] = {"edition": fresh.edition, "pages": fresh.graph.pages, "links": len(fresh.graph.links)}
        self._log.write("reloaded", seconds=round(time.monotonic() - began, 3), **facts)

    def _open(self, warm: Callable[[Snapshot], None]) -> Snapshot | None:
        fresh = Snapshot(self.path)
        fresh.open_parts()
        fresh.build_parts(self._log.write)
        if self.current.has("search") and not fresh.has("search"):
            self._since = self._since or time.monotonic()
            if time.monotonic() - self._since < MAX_INDEX_WAIT_SECONDS:  # `cocite add` is still building it
                self._log.write("waiting", what="search index of the new generation")
                return None
        self._since = None
        damage = fresh.damaged_files(VERIFY_PAUSE_BEFORE_SWITCH, lambda: self.stopping)
        if damage:
            self.rejected = str(fresh.graph.manifest["id"])
            raise BadStore(f"{damage[0]} of the new generation doesn't match its checksum: the current one stays")
        warm(fresh)
        return fresh
