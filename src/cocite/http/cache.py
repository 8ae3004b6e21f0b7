"""Answers that were given, kept within so many bytes; what was asked for longest ago goes first.

An answer is found by its key, which holds the edition of the store and all that the answer depends on. A request that
was answered is found by its very bytes: these lead to the keys that would answer it, the best first, so that asking
again costs no parsing. Only the event loop uses a cache.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import NamedTuple

from cocite.http.replies import Reply

Key = Hashable
OVERHEAD = 600
"""Bytes that an entry takes beside its body: objects, headers, its key. Measured with tracemalloc: 480 to 700."""
LARGEST_PART = 8
"""One answer may take this part of the cache at most."""


class Way(NamedTuple):
    """Where a request leads: for each level of load the key of its answer, the fullest first, or one for all."""

    route: str
    edition: str
    keys: tuple[Key, ...]


class Cache:
    """Answers by key, and requests by their bytes."""

    def __init__(self, most: int) -> None:
        self._most, self.bytes, self.evictions = most, 0, 0
        self._answers: OrderedDict[Key, Reply] = OrderedDict()
        self._ways: OrderedDict[bytes, Way] = OrderedDict()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: Key) -> Reply | None:
        """The answer with a key."""
        found = self._answers.get(key)
        if found is not None:
            self._answers.move_to_end(key)
        return found

    def put(self, key: Key, reply: Reply) -> None:
        """Keep an answer."""
        size = _size(reply)
        if size * LARGEST_PART > self._most:
            return
        before = self._answers.pop(key, None)
        if before is not None:
            self._dropped(before)
        self._answers[key] = reply
        reply.kept = True
        self.bytes += size
        self._shrink()

    def grown(self, reply: Reply, by: int) -> None:
        """An answer has got a compressed form too, of so many bytes; one that is not kept does not count."""
        if reply.kept:
            self.bytes += by
            self._shrink()

    def way(self, request: bytes) -> Way | None:
        """Where a request leads, if it was met before."""
        found = self._ways.get(request)
        if found is not None:
            self._ways.move_to_end(request)
        return found

    def remember(self, request: bytes, way: Way) -> None:
        """Note where a request leads."""
        if request not in self._ways:
            self.bytes += len(request) + OVERHEAD
        self._ways[request] = way
        self._ways.move_to_end(request)
        self._shrink()

    def keys(self) -> list[Key]:
        """The keys of all answers, the latest first."""
        return list(reversed(self._answers))

    def forget(self) -> None:
        """Drop everything: the store has changed."""
        for reply in self._answers.values():
            reply.kept = False
        self._answers.clear()
        self._ways.clear()
        self.bytes = 0

    def _shrink(self) -> None:
        while self.bytes > self._most and (self._answers or self._ways):
            if len(self._ways) > 2 * len(self._answers):  # many spellings of few requests
                request, _ = self._ways.popitem(last=False)
                self.bytes -= len(request) + OVERHEAD
            else:
                self._dropped(self._answers.popitem(last=False)[1])
                self.evictions += 1

    def _dropped(self, reply: Reply) -> None:
        self.bytes -= _size(reply)
        reply.kept = False


def _size(reply: Reply) -> int:
    return len(reply.body) + len(reply.packed or b"") + OVERHEAD
