"""A size-bounded LRU cache of replies. Only the event loop uses it.

A reply is found by its ETag, a digest of the edition of the store and of everything that the answer depends on. A
request that was answered before is found by its bytes, which lead to the ETags of its answers: asking again costs no
parsing. Nothing else is kept, so the size is that of the bodies, of the requests, and of a fixed part for each.
"""

from collections import OrderedDict
from typing import NamedTuple

from cocite.http.responses import Reply

ENTRY_BYTES = 1000
"""What an entry takes beside its body or request: objects, headers, ETags. tests/http/test_cache.py measures it."""
MAX_REMEMBERED_REQUEST_BYTES = 4096
"""A longer request is parsed again when it comes again; its answer is cached all the same."""
MAX_SHARE = 8
"""One reply may take 1/8 of the cache."""
MAX_ASKED_AGAIN = 200
"""The latest requests that came again; others are forgotten."""


class AnswerKeys(NamedTuple):
    """The ETags of a request's answers: one for each load level, the fullest answer first, or one for all."""

    route: str
    edition: str
    keys: tuple[bytes, ...]


class Cache:
    """Replies by key, and keys by the bytes of requests."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self.bytes, self.evictions = max_bytes, 0, 0
        self._replies: OrderedDict[bytes, Reply] = OrderedDict()
        self._requests: OrderedDict[bytes, AnswerKeys] = OrderedDict()
        self._asked_again: OrderedDict[bytes, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, key: bytes) -> Reply | None:
        """The reply with a key."""
        found = self._replies.get(key)
        if found is not None:
            self._replies.move_to_end(key)
        return found

    def put(self, key: bytes, reply: Reply) -> None:
        """Add a reply."""
        if size_of(reply) * MAX_SHARE > self._max_bytes:
            return
        if key in self._replies:
            self._uncount(self._replies.pop(key))
        self._replies[key] = reply
        reply.cached = True
        self._grow(size_of(reply))

    def add_bytes(self, reply: Reply, by: int) -> None:
        """Count the gzip form of a reply, if the cache has it."""
        if reply.cached:
            self._grow(by)

    def keys_of(self, request: bytes) -> AnswerKeys | None:
        """The keys of a request that was answered before."""
        found = self._requests.get(request)
        if found is not None:
            self._requests.move_to_end(request)
            self._asked_again[request] = None
            self._asked_again.move_to_end(request)
            if len(self._asked_again) > MAX_ASKED_AGAIN:
                self._asked_again.popitem(last=False)
        return found

    def take_asked_again(self) -> list[bytes]:
        """The requests that came again since the last time, the latest first. They may have been dropped since."""
        found = list(self._asked_again)[::-1]
        self._asked_again.clear()
        return found

    def remember(self, request: bytes, keys: AnswerKeys) -> None:
        """Remember the keys of a request, unless it is long."""
        if len(request) > MAX_REMEMBERED_REQUEST_BYTES:
            return
        added = 0 if request in self._requests else len(request) + ENTRY_BYTES
        self._requests[request] = keys
        self._requests.move_to_end(request)
        self._grow(added)

    def clear(self) -> None:
        """Drop everything."""
        for reply in self._replies.values():
            reply.cached = False
        self._replies.clear()
        self._requests.clear()
        self.bytes = 0

    def _grow(self, by: int) -> None:
        self.bytes += by
        while self.bytes > self._max_bytes and (self._replies or self._requests):
            if len(self._requests) > 2 * len(self._replies):  # many spellings of few questions
                self.bytes -= len(self._requests.popitem(last=False)[0]) + ENTRY_BYTES
            else:
                self._uncount(self._replies.popitem(last=False)[1])
                self.evictions += 1

    def _uncount(self, reply: Reply) -> None:
        self.bytes -= size_of(reply)
        reply.cached = False


def size_of(reply: Reply) -> int:
    """The bytes that a reply takes."""
    return len(reply.body) + len(reply.gzipped or b"") + ENTRY_BYTES
