"""Clicks on results, recorded as usage: only with `cocite serve --record-clicks`, and only those of this machine.

The web page says which result was opened, and which page it was related to. Both have to be in the store. Clicks are
collected for some seconds, then counted into the store as `cocite clicks` does. Nothing else is kept: no client, no
time.
"""

import asyncio
import secrets
import tempfile
from collections import Counter
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from cocite.errors import BadAddress, CociteError
from cocite.graph.store import Graph
from cocite.http.access import LOOPBACK_HOSTS
from cocite.http.writes import WRITTEN_FILES, Writes
from cocite.serving.threads import RefusedRequest

FLUSH_SECONDS = 10.0
MAX_PAIRS = 10_000
"""Different pairs that are collected: more than anybody opens in some seconds."""


class ClickRecorder:
    """Collects the clicks of one worker. It belongs to an event loop."""

    def __init__(self, writes: Writes) -> None:
        self._writes = writes
        self._clicks: Counter[tuple[str, str]] = Counter()
        self._task: asyncio.Task[None] | None = None

    def record(self, graph: Graph, source: str, target: str) -> bool:
        """Note a click; returns whether it counts: both pages are known, and they differ."""
        try:
            pages = [graph.get(url) for url in (source, target)]
        except BadAddress:
            return False
        if None in pages or pages[0] == pages[1] or len(self._clicks) >= MAX_PAIRS:
            return False
        self._clicks[graph.address(int(pages[0] or 0)), graph.address(int(pages[1] or 0))] += 1
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._flush())
        return True

    async def _flush(self) -> None:
        """Soon, count what was collected into the store. What can't be written is dropped; the log says so."""
        await asyncio.sleep(FLUSH_SECONDS)
        clicks, self._clicks = self._clicks, Counter()
        with tempfile.TemporaryDirectory(prefix="cocite-") as folder:
            file = Path(folder) / WRITTEN_FILES["clicks"]
            file.write_text("".join(f"{a}\t{b}\t{times}\n" for (a, b), times in clicks.items()), "utf-8")
            try:
                await self._writes.write("clicks", str(file), file.stat().st_size, secrets.token_bytes(16))
            except (CociteError, OSError, RefusedRequest):
                return


def may_record(client: str, headers: dict[bytes, bytes]) -> bool:
    """Whether a request is from this machine, and from a page of this server: other web pages could post here, too.

    Behind a proxy on this machine every client would be local, if the proxy doesn't say for whom it asks. So the page
    must have been opened at a loopback address: a browser names it as the origin of every POST.
    """
    origin, host = headers.get(b"origin", b"").partition(b"://")[2], headers.get(b"host", b"")
    if headers.get(b"sec-fetch-site", b"same-origin") != b"same-origin" or not origin or origin != host:
        return False
    return is_local(client) and is_local(urlsplit(f"//{host.decode('latin-1')}").hostname or "")


def is_local(name: str) -> bool:
    """Whether an address, or a name, is that of this machine alone."""
    try:
        return name in LOOPBACK_HOSTS or ip_address(name).is_loopback
    except ValueError:
        return False
