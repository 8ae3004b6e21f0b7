"""Writing while serving: page records, removals and clicks, each on disk before it is acknowledged.

A body is spooled to a file, so memory doesn't grow with it. What waits is committed together, in a process of low
priority (writer.py); then the server switches to the new generation. If too much waits, requests are refused, unread.
Layers that have become large are compacted by another such process, beside commits.
"""

import asyncio
import hashlib
import itertools
import subprocess
import sys
import tempfile
import time
import zlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice, takewhile
from math import ceil
from pathlib import Path

from starlette.requests import Request

from cocite.errors import CociteError, LockedStore
from cocite.graph.build.compaction import is_compacting
from cocite.graph.build.maintain import is_compaction_due
from cocite.http.front import receiving
from cocite.http.writer import PRIORITY, Counts, StoreWriter
from cocite.log import Log
from cocite.serving.threads import MAX_RETRY_SECONDS, Output, RefusedRequest, run_in_thread

MAX_WRITE_BYTES = 32 << 20
"""Of one request, unpacked."""
WRITTEN_FILES = {"pages": "pages.jsonl", "clicks": "clicks.tsv"}
"""The name of the spooled file, which readers recognise."""
MAX_UNPACKED_AT_ONCE = 1 << 20
MAX_WAITING_REQUESTS, MAX_WAITING_BYTES = 2048, 256 << 20
MAX_COMMITTED_TOGETHER = 100
GATHER_FACTOR, MAX_GATHER_SECONDS, GATHER_STEP_SECONDS = 2.0, 0.5, 0.02
"""Where several requests came during a commit, the next one waits this many times as long as it took, for more of them:
a commit of 500 pages takes three times as long as one of 100."""
MAX_WAITING_SECONDS = 20.0
"""How long requests may wait beyond the next commit: clients that wait for a minute give up, and send theirs again."""
ANSWER_SECONDS = 900.0
"""How long the connection of a request stays open that is written: others may have locked the store, and large ones
with a history are rewritten."""
REPLY_PAUSE_SECONDS = 0.003
"""Between the replies to several requests: each takes the interpreter for a millisecond, and questions their turn."""
RETRY_SECONDS = 5
NEWEST_WEIGHT = 0.2
"""Weight of the latest commit in the mean time of a request."""
COMPACT_PAUSE_SECONDS = 600.0
"""How long compaction isn't tried again after it failed."""
LOCKED_SECONDS, LOCKED_PAUSE_SECONDS = 600.0, 0.05
"""How long a commit waits for whoever else writes the store, and how often it looks."""
COMPACTING = f"import os; getattr(os, 'nice', lambda _: None)({PRIORITY}); from cocite.cli import main; main()"
"""As low as that of commits: they wait while it locks the store, at its end."""
SLOW_COMMIT_SECONDS = 60.0
"""How often the log says that a commit still goes on."""
MAX_WHY_CHARACTERS = 500


@dataclass(eq=False)
class Write:
    """A request to write: the file that was sent, or the address to remove."""

    kind: str
    item: str
    size: int
    request_id: bytes
    done: asyncio.Future[Counts]


class Writes:
    """The requests to write of one worker. It belongs to an event loop."""

    def __init__(self, store: Path, log: Log, written: Callable[[], None]) -> None:
        """`written` is called after each commit."""
        self._store, self._log, self._written = store, log, written
        self._writer = StoreWriter(store)
        self._spool = tempfile.TemporaryDirectory(prefix="cocite-write-", ignore_cleanup_errors=True)
        self._numbers = itertools.count()
        self._waiting: deque[Write] = deque()
        self._bytes = 0
        self._seconds = 0.0  # mean time of a commit
        self._began = 0.0  # when the one under way began, or its first request came
        self._task: asyncio.Task[None] | None = None
        self._replying: asyncio.Task[None] | None = None
        self._compaction: asyncio.Task[None] | None = None
        self._compact_from = 0.0  # when compaction may be tried again

    def start(self) -> None:
        """Start the process that writes: it loads for a second or two, beside which the first questions would wait."""
        self._writer.start()

    def new_file(self, name: str) -> Path:
        """A name for what is sent, in a folder of this process. It ends as given: readers go by that."""
        return Path(self._spool.name) / f"{next(self._numbers)}-{name}"

    def refuse_if_full(self, size: int = 0) -> None:
        """Raise RefusedRequest if too much waits: before a body is read, that costs little."""
        waiting = len(self._waiting)
        under_way = time.monotonic() - self._began if waiting else 0.0  # perhaps somebody else has locked the store
        seconds = max(ceil(waiting / MAX_COMMITTED_TOGETHER) * self._seconds, under_way)
        is_long = waiting >= MAX_COMMITTED_TOGETHER and seconds > MAX_WAITING_SECONDS
        if is_long or waiting >= MAX_WAITING_REQUESTS or self._bytes + size > MAX_WAITING_BYTES:
            after = max(RETRY_SECONDS, min(MAX_RETRY_SECONDS, ceil(seconds)))
            raise RefusedRequest(503, "Busy", "Too many writes are waiting", f"Try again in {after} s", after)

    async def write(self, kind: str, item: str, size: int = 0, request_id: bytes = b"") -> Counts:
        """Write, and return when it is on disk what it has. Raises RefusedRequest, or a CociteError.

        Clicks of an id that was written before count as written; without one, those of the same content.
        """
        self.refuse_if_full(size)
        write = Write(kind, item, size, request_id, asyncio.get_running_loop().create_future())
        self._began = self._began if self._waiting else time.monotonic()
        self._waiting.append(write)
        self._bytes += size
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._commit_waiting())
        return await asyncio.shield(write.done)  # what was accepted is written, though the client may go away

    def close(self) -> None:
        """Start nothing any more."""
        self._writer.close()
        self._spool.cleanup()

    async def _compact(self) -> None:
        """Compact the store in a process of its own, if it is due. Commits go on beside it."""
        began = time.monotonic()
        try:
            if began >= self._compact_from and await run_in_thread(self._must_compact):
                await self._compact_now(began)
        except (CociteError, OSError) as error:  # another process may have changed the store
            self._compact_from = time.monotonic() + COMPACT_PAUSE_SECONDS
            self._log.write("not compacted", "warning", why=str(error)[:MAX_WHY_CHARACTERS])

    def _must_compact(self) -> bool:
        """Whether layers are large, and no other worker or command compacts them already."""
        return is_compaction_due(self._store) and not is_compacting(self._store)

    async def _compact_now(self, began: float) -> None:
        command = [sys.executable, "-c", COMPACTING, "compact", "-i", str(self._store), "--quiet"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, said = await run_in_thread(process.communicate)
        finally:
            if process.poll() is None:  # the server stops: a compaction that dies leaves the store as it was
                process.kill()
        seconds = round(time.monotonic() - began, 3)
        if process.returncode:
            self._compact_from = time.monotonic() + COMPACT_PAUSE_SECONDS
            why = said.decode("utf-8", "replace").strip()[-MAX_WHY_CHARACTERS:]
            self._log.write("not compacted", "warning", seconds=seconds, why=why)
        else:
            self._log.write("compacted", seconds=seconds)
            self._written()

    async def _commit_waiting(self) -> None:
        while self._waiting:
            first = self._waiting[0].kind
            same = takewhile(lambda each, kind=first: each.kind == kind, self._waiting)  # type: ignore[misc]
            group, began = list(islice(same, MAX_COMMITTED_TOGETHER)), time.monotonic()
            self._began = began
            outcomes = await self._outcomes(first, group)
            self._written()
            committed = time.monotonic()
            for each in group:
                self._waiting.popleft()
                self._bytes -= each.size
                if isinstance(outcomes, Exception) and len(group) > 1:  # one of them is to blame
                    alone = await self._outcomes(first, [each])
                    self._written()
                    self._settle(each, alone if isinstance(alone, Exception) else alone[0])
            if not isinstance(outcomes, Exception):
                self._replying = asyncio.create_task(self._reply(group, outcomes, self._replying))
            elif len(group) == 1:
                self._settle(group[0], outcomes)
            if self._compaction is None or self._compaction.done():
                self._compaction = asyncio.create_task(self._compact())
            await asyncio.sleep(0)  # questions take their turn
            if len(group) > 1:
                await self._gather(committed, committed - began)
            self._seconds += NEWEST_WEIGHT * (time.monotonic() - began - self._seconds)

    async def _gather(self, committed: float, took: float) -> None:
        """Wait for more requests, after a commit of several, unless there are enough for the next one."""
        until = committed + min(MAX_GATHER_SECONDS, GATHER_FACTOR * took)
        while len(self._waiting) < MAX_COMMITTED_TOGETHER and time.monotonic() < until:
            await asyncio.sleep(GATHER_STEP_SECONDS)

    async def _reply(
        self, group: Sequence[Write], outcomes: Sequence[Counts | CociteError], before: asyncio.Task[None] | None
    ) -> None:
        """Tell requests what became of them, one by one, after those `before`: the next commit goes on meanwhile."""
        if before is not None:
            await before
        for write, outcome in zip(group, outcomes, strict=True):
            self._settle(write, outcome)
            await asyncio.sleep(REPLY_PAUSE_SECONDS if len(group) > 1 else 0)

    def _settle(self, write: Write, outcome: Counts | Exception) -> None:
        if isinstance(outcome, Exception):
            write.done.set_exception(outcome)
            write.done.exception()  # marks it as retrieved, if nobody waits for it any more
        else:
            write.done.set_result(outcome)

    async def _outcomes(self, kind: str, group: Sequence[Write]) -> list[Counts | CociteError] | Exception:
        """Commit a group: what each request has, or what is wrong with it; or why none of them was written."""
        ids = {each.item: each.request_id for each in group if each.request_id}
        work = partial(self._writer.commit, kind, [each.item for each in group], ids)
        until = time.monotonic() + LOCKED_SECONDS
        try:
            while True:
                try:
                    outcomes = await self._reported(asyncio.create_task(run_in_thread(work)), kind, len(group))
                    break
                except LockedStore:  # another worker, or a command, writes or compacts it
                    if time.monotonic() > until:
                        raise
                    await asyncio.sleep(LOCKED_PAUSE_SECONDS)
        except Exception as error:
            level = "warning" if isinstance(error, CociteError) else "error"
            self._log.write("not written", level, kind=kind, requests=len(group), why=str(error) or repr(error))
            return error
        self._log.write("written", kind=kind, requests=len(group))
        return outcomes

    async def _reported(self, commit: asyncio.Task[Output], kind: str, requests: int) -> Output:
        """What a commit returns; the log has a line each minute, since its process may hang."""
        began = time.monotonic()
        while not (await asyncio.wait([commit], timeout=SLOW_COMMIT_SECONDS))[0]:
            seconds = round(time.monotonic() - began)
            self._log.write("still writing", "warning", kind=kind, requests=requests, seconds=seconds)
        return commit.result()


def keep_connected(request: Request) -> None:
    """Let the client of a request wait for its commit longer than for an answer to a question."""
    if (connection := request.scope.get("connection")) is not None:
        connection.allow(ANSWER_SECONDS)


# ------------------------------------------------------------------------------------------------ what was sent


@asynccontextmanager
async def spooled(request: Request, file: Path) -> AsyncIterator[int]:
    """Write the body of a request to a file, unpacked; gives its size. Raises RefusedRequest.

    The disk is only touched in threads: creating a file waits for as long as another process syncs one.
    """
    size, parts = 0, bytearray()
    packed = request.headers.get("content-encoding", "identity").strip().lower()
    if packed not in ("identity", "gzip"):
        message = f"Unknown Content-Encoding {packed!r:.50}"
        raise RefusedRequest(415, "UnknownEncoding", message, "Send gzip, or plain")
    try:
        async with receiving("Send it in parts"):
            unpack = Unpacking() if packed == "gzip" else None
            async for part in request.stream():
                for plain in unpack.send(part) if unpack else (part,):
                    size += len(plain)
                    if size > MAX_WRITE_BYTES:
                        message = f"The body has more than {MAX_WRITE_BYTES:,} bytes, unpacked"
                        raise RefusedRequest(413, "TooLarge", message, "Send it in parts")
                    parts += plain
                    if len(parts) >= MAX_UNPACKED_AT_ONCE:
                        await run_in_thread(partial(append, file, bytes(parts)))
                        parts.clear()
                    await asyncio.sleep(0)  # other requests take their turn
            if unpack is not None and not unpack.is_whole:
                raise RefusedRequest(400, "BadEncoding", "The body ends within its gzip data", "Send all of it again")
        await run_in_thread(partial(append, file, bytes(parts)))
        yield size
    except zlib.error as error:
        raise RefusedRequest(400, "BadEncoding", f"The body is not gzip ({error})", "Send it again") from None
    finally:
        await run_in_thread(partial(file.unlink, missing_ok=True))


def append(file: Path, data: bytes) -> None:
    """Write bytes to the end of a file, which needn't be there."""
    with file.open("ab") as out:
        out.write(data)


def request_id(request: Request) -> bytes:
    """The digest of the Idempotency-Key of a request, if it has one."""
    given = request.headers.get("idempotency-key", "")
    return hashlib.blake2b(given.encode(), digest_size=16, key=b"request").digest() if given else b""


class Unpacking:
    """Unpacks gzip, of one or several members, in small parts."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(31)

    @property
    def is_whole(self) -> bool:
        """Whether the last member has ended, with the right checksum."""
        return self._inner.eof

    def send(self, data: bytes) -> Iterator[bytes]:
        """What some bytes unpack to."""
        while data:
            if self._inner.eof:
                self._inner = zlib.decompressobj(31)
            yield self._inner.decompress(data, MAX_UNPACKED_AT_ONCE)
            data = self._inner.unconsumed_tail or self._inner.unused_data
