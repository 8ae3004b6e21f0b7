"""From a question to a reply: from the cache, from the same question under way, or worked out by a thread.

Limits follow the load (Dean & Henzinger 1999, §4.3). How loaded a server is, its queue tells: nobody waits and a thread
is free (idle), somebody may wait (usual), many wait (busy), half of the queue is full (swamped). An answer that is
worked out under limits is kept under these limits: a fuller one is given to whoever asks in a quieter time, and a full
one that is kept is given whatever the load.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from cocite.errors import BadStore, CociteError, UnknownPage, UnknownWord
from cocite.http.cache import Cache, Way
from cocite.http.gate import Gate
from cocite.http.holding import Holder, Served
from cocite.http.log import Log
from cocite.http.metrics import Metrics
from cocite.http.questions import BUSY, IDLE, LOAD, SWAMPED, USUAL, Question, Related
from cocite.http.replies import Refused, Reply, etag, holds, reply_to
from cocite.http.settings import Settings
from cocite.results import DEFAULT_METHOD

MANY = 8
"""Questions that wait for each thread from which on a server is busy."""
LARGE = 1 << 15
"""Bytes from which on an answer is compressed by the thread that made it, lest the event loop be held up."""
RECENT, WARMING = 200, 10.0
"""Questions that a new generation is asked before it takes over, and the seconds that this may take."""
Key = tuple[str, tuple[Any, ...]]


class Service:
    """All that answers questions in one worker. It belongs to the event loop that made it."""

    def __init__(self, settings: Settings, metrics: Metrics, log: Log) -> None:
        self.settings, self.metrics, self.log = settings, metrics, log
        self.cache = Cache(settings.cache)
        threads = settings.working
        self.quick = Gate("quick", threads, settings.waiting)
        self.slow = Gate("slow", max(1, threads // 2), max(1, settings.waiting // 4))
        self._pending: dict[Key, asyncio.Task[Reply]] = {}
        self._recent: OrderedDict[tuple[Any, ...], Question] = OrderedDict()
        self.holder = Holder(settings.store, log, self._warming, self._placed)
        self.stopping = False

    @property
    def web(self) -> Served:
        """The store as it is now."""
        return self.holder.current

    def load(self) -> int:
        """How loaded this worker is."""
        gate = self.quick
        if not self.settings.adapt:
            return USUAL
        if gate.waiting >= gate.queue // 2:
            return SWAMPED
        if gate.waiting >= MANY * gate.threads:
            return BUSY
        return IDLE if not gate.waiting and gate.running < gate.threads else USUAL

    def kept(self, request: bytes) -> tuple[str, Reply] | None:
        """The route of a request whose very bytes were met before, and its reply, if that is still kept."""
        way = self.cache.way(request)
        if way is None or way.edition != self.web.edition:
            return None
        found = self._fullest(way, self.load())
        return None if found is None else (way.route, found)

    def _fullest(self, way: Way, load: int) -> Reply | None:
        """The fullest answer that is kept, as far as the load asks for one."""
        for key in dict.fromkeys(way.keys[: load + 1]):
            found = self.cache.get((way.edition, key))
            if found is not None:
                return found
        return None

    def overfull(self) -> bool:
        """Whether a question that needs work would be sent away."""
        return self.quick.full

    async def answer(self, asked: Question, request: bytes = b"", if_none_match: bytes = b"") -> Reply:
        """The reply to a question; `request` are the bytes that ask it, if they say all of it. Raises Refused."""
        web, load = self.web, self.load()
        keys = asked.keys(web)
        way = Way(asked.route, web.edition, keys)
        if request:
            self.cache.remember(request, way)
        found = self._fullest(way, load)
        if found is not None:
            self.metrics.count("cache_hits")
            return found
        own = keys[min(load, len(keys) - 1)]
        named = if_none_match.strip() not in (b"", b"*")  # "*" names no answer: whether there is one is to be seen
        for key in dict.fromkeys(keys[: load + 1]) if named else ():
            tag = etag(web.edition, key)
            if holds(if_none_match, tag):  # what is had already is the answer, whether it is still kept here or not
                self.metrics.count("not_modified")
                return Reply(304, b"", etag=tag)
        return await self._worked_out(asked, web, load, own)

    async def _worked_out(self, asked: Question, web: Served, load: int, key: tuple[Any, ...]) -> Reply:
        full = (web.edition, key)
        task = self._pending.get(full)
        if task is None:
            self.metrics.count("cache_misses")
            task = asyncio.create_task(self._work(asked, web, load, full))
            self._pending[full] = task
            task.add_done_callback(lambda done: self._done(full, done))
        else:
            self.metrics.count("shared")
        done, _ = await asyncio.wait((task,), timeout=self.settings.timeout)
        if not done:
            self.metrics.count("timeouts")
            raise self._late(asked)
        return task.result()

    async def _work(self, asked: Question, web: Served, load: int, full: Key) -> Reply:
        gate = self.slow if asked.heavy else self.quick
        try:
            reply = await gate.run(lambda: self._reply(asked, web, load, full), self.settings.timeout)
        except TimeoutError:
            raise self._late(asked) from None
        except Refused:
            self.metrics.count("shed")
            raise
        if reply.etag and full[0] == self.web.edition:
            self.cache.put(full, reply)
            self._remember(asked, full)
        self.metrics.answered(LOAD[load])
        return reply

    def _reply(self, asked: Question, web: Served, load: int, full: Key) -> Reply:
        """In a thread: the answer, or what is wrong with the question."""
        try:
            made = asked.work(web, load)
        except (UnknownPage, UnknownWord) as error:
            reply = reply_to(error)
            reply.etag = etag("missing", *full)  # as dear as an answer, and as lasting; but no answer, so never a 304
            return reply
        except BadStore as error:
            self.log.say("cannot answer", "error", route=asked.route, why=str(error))
            return reply_to(error)
        except CociteError as error:
            return reply_to(error)
        reply = Reply(made.status, made.body, made.media, etag(*full), extra=made.extra)
        if len(made.body) >= LARGE:
            reply.pack()
        return reply

    def _late(self, asked: Question) -> Refused:
        seconds = self.settings.timeout
        after = max((self.slow if asked.heavy else self.quick).retry_after(), 2)
        message = f"not answered within {seconds:g} s"
        return Refused(503, "Timeout", message, f"try again in {after} s, or ask for less", after)

    def _done(self, full: Key, task: asyncio.Task[Reply]) -> None:
        self._pending.pop(full, None)
        if not task.cancelled():
            task.exception()  # whoever waits for it has it; if nobody does any more, nothing is to be said

    def _remember(self, asked: Question, full: Key) -> None:
        """Keep the latest quick questions: a new generation is warmed with them."""
        if not asked.heavy:
            self._recent[full[1]] = asked
            self._recent.move_to_end(full[1])
            while len(self._recent) > RECENT:
                self._recent.popitem(last=False)

    def warm_up(self) -> None:
        """Have the loops compiled, or loaded, that most questions need."""
        self._warming()(self.web)

    def _warming(self) -> Callable[[Served], None]:
        """What asks a store, in a thread, what was asked last; at the start, the usual of its best-cited page."""
        recent = list(self._recent.values())[::-1]

        def warm(web: Served) -> None:
            until = time.monotonic() + WARMING
            for asked in recent or first_questions(web):
                if time.monotonic() > until:
                    break
                with suppress(Exception):  # a page may be no longer there; a fault shows when somebody asks
                    asked.work(web, USUAL)

        return warm

    def _placed(self) -> None:
        self.cache.forget()
        self.metrics.count("switches")

    def measure(self) -> None:
        """Note how things are."""
        self.metrics.set("cache_bytes", self.cache.bytes)
        self.metrics.set("cache_answers", len(self.cache))
        self.metrics.set("running", self.quick.running + self.slow.running)
        self.metrics.set("waiting", self.quick.waiting + self.slow.waiting)
        self.metrics.count("cache_evictions", self.cache.evictions)
        self.cache.evictions = 0
        self.metrics.update_process()

    def close(self) -> None:
        """Begin nothing any more."""
        self.stopping = True
        self.quick.close()
        self.slow.close()


def first_questions(web: Served) -> list[Question]:
    """What a store is asked before anybody has asked it."""
    if not web.graph.pages:
        return []
    best = web.graph.address(int(web.graph.in_degree.argmax()))
    return [Related((best,), call=call) for call in dict.fromkeys((DEFAULT_METHOD, "companion"))]
