"""The crawling process's messages to the reader of the pages: one line of JSON each."""

from __future__ import annotations

import json
import os
import queue
import threading
import traceback
from dataclasses import fields
from typing import Any

from cocite.sources.records import Link, Page

BACKLOG = 64 << 20  # bytes of pages that may wait for the reader before no more are fetched

_PAGE_FIELDS = [f.name for f in fields(Page) if f.name != "links"]
_LINK_FIELDS = [f.name for f in fields(Link)]


class Output:
    """Messages to the reader, written by a thread of its own so that a slow reader does not stop the network."""

    def __init__(self, descriptor: int) -> None:
        self._queue: queue.SimpleQueue[tuple[dict[str, Any], int] | None] = queue.SimpleQueue()
        self._put = 0  # bytes, counted by the network's thread
        self._written = 0  # bytes, counted by the writing thread: two counters need no lock
        self._stream = os.fdopen(descriptor, "wb")
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def full(self) -> bool:
        return self._put - self._written > BACKLOG

    def page(self, page: Page, size: int = 1_000) -> None:
        record = {name: getattr(page, name) for name in _PAGE_FIELDS}
        record["links"] = [[getattr(link, name) for name in _LINK_FIELDS] for link in page.links]
        self._send({"page": record}, size)

    def skip(self, reason: str, example: str, count: int = 1) -> None:
        self._send({"skip": reason, "example": example[:500], "count": count}, 1_000)

    def end(self, left: int) -> None:
        """The crawl has come to its end; `left` addresses were known but beyond its limits."""
        self._send({"left": left}, 0)

    def close(self) -> None:
        """Write what is still waiting."""
        self._queue.put(None)
        self._thread.join()

    def _send(self, message: dict[str, Any], size: int) -> None:
        self._put += size
        self._queue.put((message, size))

    def _write(self) -> None:
        try:
            while (item := self._queue.get()) is not None:
                self._stream.write(json.dumps(item[0]).encode() + b"\n")
                self._stream.flush()
                self._written += item[1]
        except BrokenPipeError:
            os._exit(0)  # nobody reads any more
        except BaseException:
            traceback.print_exc()
            os._exit(1)  # without this thread nothing could be delivered
