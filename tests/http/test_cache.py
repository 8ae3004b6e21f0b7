"""The cache of replies stays within its size."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from cocite.http.cache import ENTRY_BYTES, AnswerKeys, Cache
from cocite.http.responses import Reply, etag


def reply(size: int) -> Reply:
    return Reply(200, b"x" * size, etag=b"e")


def test_the_least_recently_used_entry_is_dropped_first() -> None:
    cache = Cache(10 * (1000 + ENTRY_BYTES))
    for key in range(10):
        cache.put(key, reply(1000))
    assert cache.get(0) is not None  # used again, so that 1 is the oldest
    cache.put(10, reply(1000))
    assert [cache.get(key) is not None for key in (0, 1, 2, 10)] == [True, False, True, True]
    assert (len(cache), cache.evictions) == (10, 1)


def test_one_answer_does_not_fill_the_cache() -> None:
    cache = Cache(8 * 2000)
    cache.put("small", reply(100))
    cache.put("large", reply(2001))
    assert (cache.get("large"), len(cache)) == (None, 1)


def test_requests_lead_to_keys_and_are_counted() -> None:
    cache = Cache(20_000)
    keys = AnswerKeys("related", "edition", (b"a",))
    cache.remember(b"/x?y", keys)
    assert cache.keys_of(b"/x?y") == keys
    assert cache.keys_of(b"/x?z") is None
    assert cache.bytes == 4 + ENTRY_BYTES
    for n in range(1000):
        cache.remember(b"/x?%d" % n, keys)
    assert cache.bytes <= 20_000


def test_uncached_answers_do_not_count() -> None:
    """It is packed when it is sent, whether the cache took it, has dropped it since, or was emptied."""
    cache, large, gone = Cache(8 * 3000), reply(5000), reply(1200)
    cache.put("large", large)
    cache.put("gone", gone)
    cache.clear()
    for each in (large, gone, reply(1200)):
        cache.add_bytes(each, each.compress())
    assert (cache.bytes, len(cache)) == (0, 0)
    cache.put("gone", gone)
    before = cache.bytes
    cache.put("gone", reply(1200))  # in its place
    cache.add_bytes(gone, 100)
    assert cache.bytes == before - len(gone.gzipped or b"")


@given(
    st.lists(st.tuples(st.sampled_from(["put", "get", "remember", "grow"]), st.integers(0, 20), st.integers(0, 3000)))
)
def test_bytes_are_the_sum_of_the_entries(steps: list[tuple[str, int, int]]) -> None:
    cache = Cache(20_000)
    for what, key, size in steps:
        if what == "put":
            cache.put(key, reply(size))
        elif what == "remember":
            cache.remember(b"x" * size, AnswerKeys("related", "e", (key,)))
        else:
            found = cache.get(key)
            if what == "grow" and found is not None and found.gzipped is None:
                cache.add_bytes(found, found.compress())
        held = sum(len(each.body) + len(each.gzipped or b"") + ENTRY_BYTES for each in cache._replies.values())
        assert cache.bytes == held + sum(len(each) + ENTRY_BYTES for each in cache._requests)
        assert cache.bytes <= 20_000
    cache.clear()
    assert (cache.bytes, len(cache)) == (0, 0)


def test_no_more_memory_is_held_than_counted() -> None:
    """By tracemalloc: small answers, long requests with several keys, and errors."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        cache = Cache(2 << 20)
        for n in range(6000):
            tags = tuple(etag("edition", n, load) for load in range(4))
            cache.put(tags[0], Reply(404 if n % 2 else 200, b"%06d" % n * 20, etag=etag("missing", n)))
            cache.remember(b"/api/related?url=%d" % n + b"x" * (n % 3000), AnswerKeys("related", "edition", tags))
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(cache) > 200 and cache.evictions > 1000
    assert held <= cache.bytes <= 2 << 20
