"""The store that is served, and how a new generation replaces it.

`StoreWatcher` checks the store's path now and then. When it has changed, it opens a new snapshot beside the current
one, warms it up with recent questions, and then replaces the current one. Running questions finish on the snapshot
that they started with.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocite.http.threads import run_in_thread
from cocite.snapshot import Snapshot, pointer_of, stamp_of

if TYPE_CHECKING:
    from cocite.log import Log

MAX_INDEX_WAIT_SECONDS = 300.0
"""How long a new generation may lack the search index that the previous one had."""


class StoreWatcher:
    """Keeps the current snapshot of a store."""

    def __init__(
        self, path: Path, log: Log, warming: Callable[[], Callable[[Snapshot], None]], replaced: Callable[[], None]
    ) -> None:
        """`warming` returns a function that warms a snapshot up in a thread; `replaced` is called after a change."""
        self.path, self._log, self._warming, self._replaced = path, log, warming, replaced
        self.current = Snapshot(path)
        self.current.open_parts()
        self._check = asyncio.Event()
        self._since: float | None = None  # since when the new generation has lacked a search index

    async def prepare(self) -> None:
        """Build what the first snapshot lacks, while it is served already."""
        await run_in_thread(partial(self.current.build_parts, self._log.write))

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
        self.current = fresh
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
        warm(fresh)
        return fresh
