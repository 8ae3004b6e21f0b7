"""The current snapshot of a store: verified, watched, and replaced when the store has changed."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from cocite.errors import BadStore
from cocite.log import Log
from cocite.serving.mapped import LOST_FILE_ADVICE, MappedFiles
from cocite.serving.threads import Pause, run_in_thread
from cocite.snapshot import VERIFY_PAUSE, Snapshot, pointer_of, stamp_of, why_refused

VERIFY_PAUSE_BEFORE_SWITCH = 1.0
"""Time asleep ÷ time reading while the files of a new generation are verified."""
OPENING_PAUSE = 3.0
"""Time asleep ÷ time working while a new generation is opened."""
MIN_SWITCH_SECONDS = 0.9
"""From one switch to the next: opening a snapshot takes turns with answers for some tenths of a second."""
MAX_LOGGED_FILES = 5
MAX_INDEX_WAIT_SECONDS = 300.0
"""How long a new generation may lack the search index that the previous one had."""


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
        self.mapped = MappedFiles(path)
        self.damage: list[str] = []  # files of the current snapshot that don't match their checksums
        self.rejected = ""  # the generation that was not opened because it is damaged
        self.stopping = False
        self._preparing = False
        self._opened_at = -MIN_SWITCH_SECONDS  # when a snapshot was opened last
        self._rest: asyncio.Task[None] | None = None  # builds what a new snapshot lacks
        self._verifying: asyncio.Task[None] | None = None

    async def prepare(self) -> None:
        """Build what the first snapshot lacks, while it is served already."""
        self._preparing = True
        try:
            await run_in_thread(partial(self.current.build_parts, self._log.write))
        finally:
            self._preparing = False

    def start_verifying(self) -> asyncio.Task[None]:
        """Verify the current snapshot slowly, unless one is being verified."""
        if self._verifying is None or self._verifying.done():
            self._verifying = asyncio.create_task(self.verify())
        return self._verifying

    async def verify(self, pause: float | None = None) -> None:
        """Verify every checksum of the current snapshot, slowly; then say what is damaged."""
        current, pause = self.current, VERIFY_PAUSE if pause is None else pause
        found = await run_in_thread(partial(current.damaged_files, pause, lambda: self.stopping))
        if current.base != self.current.base:
            return  # replaced meanwhile, by a verified one
        if found and current is not self.current:  # of what layers were added to since
            return await self.verify(VERIFY_PAUSE_BEFORE_SWITCH)
        self.damage = found
        if found:
            self._log.write("damaged", "error", files=found, what="run cocite check, and build or copy the store again")
            self._replaced()  # answers in the cache may be wrong
        else:
            self._log.write("verified", files=len(current.graph.arrays))

    @property
    def refused(self) -> str:
        """Why no question can be answered: empty unless arrays are damaged. Damaged side data is only closed."""
        if lost := self.mapped.lost:
            return f"{Path(lost[0]).name} of {self.path} was changed while it was served"
        return why_refused(self.path, self.damage)

    def check_now(self) -> None:
        """Check the store now."""
        self._check.set()

    async def watch(self, seconds: float) -> None:
        """Check the path forever, and reload when it has changed."""
        previous, touched, failed = "", list[str](), ""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._check.wait()
            at_once = self._check.is_set()
            self._check.clear()
            await asyncio.sleep(self._opened_at + MIN_SWITCH_SECONDS - time.monotonic())  # while commits follow closely
            before, (stamp, touched) = touched, await run_in_thread(self._look)
            if touched and touched != before:
                self._log.write("changed in place", "error", files=touched[:MAX_LOGGED_FILES], what=LOST_FILE_ADVICE)
                await self.verify(VERIFY_PAUSE_BEFORE_SWITCH)
            changed = stamp != (failed if self.refused else self.current.stamp)
            if changed and (stamp == previous or at_once):  # the same twice: whoever writes there has finished
                await self.reload()
                failed, changed = stamp if self.refused else "", False
            previous = stamp if changed else ""

    def _look(self) -> tuple[str, list[str]]:
        """A stamp of the store, and mapped files that were changed in place, which nobody should do.

        With such files, the stamp has when they were changed: a whole store may be copied over another, file by file.
        """
        stamp, touched = stamp_of(self.path, pointer_of(self.path)), self.mapped.changed()
        return (f"{stamp} {self.mapped.marks()}" if self.refused else stamp), touched

    async def reload(self) -> None:
        """Replace the current snapshot by a new one; after any error the current one stays."""
        began = self._opened_at = time.monotonic()
        try:
            opened = await run_in_thread(partial(self._open, self._warming()))
        except Exception as error:  # whatever is wrong with the new one: go on with the current one
            self._log.write("reload failed", "error", why=str(error) or type(error).__name__)
            return
        if opened is None:
            return
        fresh, mapped = opened
        self.current, self.damage, self.rejected = fresh, [], ""
        self.mapped = mapped
        self._replaced()
        facts: dict[str, Any] = {"edition": fresh.edition, "pages": fresh.graph.pages, "links": len(fresh.graph.links)}
        self._log.write("reloaded", seconds=round(time.monotonic() - began, 3), **facts)
        if not self._preparing and not fresh.is_complete:
            self._rest = asyncio.create_task(self.prepare())
        self.start_verifying()  # what it shares with the one before

    def _open(self, warm: Callable[[Snapshot], None]) -> tuple[Snapshot, MappedFiles] | None:
        """Open the store in pieces of some milliseconds: questions take their turn between them."""
        pause = Pause(OPENING_PAUSE)
        fresh = Snapshot(self.path)
        pause()
        fresh.open_parts()
        fresh.take_ranks(self.current)
        pause()
        for _ in fresh.graph.links.load():
            pause()
        fresh.build_parts(self._log.write, like=self.current)  # others are still being built, or can't be
        if self.current.has("search") and not fresh.has("search"):
            self._since = self._since or time.monotonic()
            if time.monotonic() - self._since < MAX_INDEX_WAIT_SECONDS:  # `cocite add` is still building it
                self._log.write("waiting", what="search index of the new generation")
                return None
        self._since = None
        beside = None if self.refused or self.damage else self.current  # what it has is being verified, or was
        damage = fresh.damaged_files(VERIFY_PAUSE_BEFORE_SWITCH, lambda: self.stopping, beside)
        if damage:
            self.rejected = str(fresh.graph.manifest["id"])
            raise BadStore(f"{damage[0]} of the new generation doesn't match its checksum: the current one stays")
        pause()
        warm(fresh)
        return fresh, MappedFiles(self.path)
