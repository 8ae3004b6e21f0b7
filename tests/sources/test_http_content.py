"""Chunks and compression of HTTP bodies, and their limits."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.sources.archives.warc import Completeness, decode_body, join_chunks


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=6), st.sampled_from([b"\r\n", b"\n"]))
def test_chunks_are_joined(chunks: list[bytes], end: bytes) -> None:
    body = b"".join(b"%x%s%s%s" % (len(chunk), end, chunk, end) for chunk in chunks) + b"0" + end + end
    assert join_chunks(body) == b"".join(chunks)


def test_bodies_that_are_not_chunked_or_not_to_the_end() -> None:
    assert join_chunks(b"<html>") == b"<html>"
    assert join_chunks(b"3\r\nabc\r\nthen this") == b"abc"
    assert join_chunks(b"ff\r\nabc") == b"abc"
    assert join_chunks(b"") == b""


@given(st.binary(max_size=300))
def test_any_bytes_in_any_coding(body: bytes) -> None:
    for coding in ("gzip", "deflate", "br", "zstd", "gzip, deflate"):
        content, state = decode_body(body, "chunked", coding, 1000)
        assert len(content) <= 1000
        assert isinstance(state, Completeness)


@pytest.mark.parametrize("limit", [0, 1, 999, 1000, 1001])
def test_the_limit(limit: int) -> None:
    data = bytes(range(250)) * 4
    for body, coding in ((data, ""), (gzip.compress(data), "gzip"), (zlib.compress(data), "deflate")):
        assert decode_body(body, "", coding, limit) == (
            data[:limit],
            Completeness.WHOLE if limit >= 1000 else Completeness.TRUNCATED,
        )


def test_bombs_in_bombs() -> None:
    bomb = gzip.compress(gzip.compress(bytes(50 << 20)))
    assert decode_body(bomb, "", "gzip, gzip", 1 << 20) == (b"", Completeness.BOMB)
