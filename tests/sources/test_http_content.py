"""Chunks and compression of HTTP bodies, and their limits."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.sources.archives.http_content import Whole, content_of, joined_chunks


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=6), st.sampled_from([b"\r\n", b"\n"]))
def test_chunks_are_joined(chunks: list[bytes], end: bytes) -> None:
    body = b"".join(b"%x%s%s%s" % (len(chunk), end, chunk, end) for chunk in chunks) + b"0" + end + end
    assert joined_chunks(body) == b"".join(chunks)


def test_bodies_that_are_not_chunked_or_not_to_the_end() -> None:
    assert joined_chunks(b"<html>") == b"<html>"
    assert joined_chunks(b"3\r\nabc\r\nthen this") == b"abc"
    assert joined_chunks(b"ff\r\nabc") == b"abc"
    assert joined_chunks(b"") == b""


@given(st.binary(max_size=300))
def test_any_bytes_in_any_coding(body: bytes) -> None:
    for coding in ("gzip", "deflate", "br", "zstd", "gzip, deflate"):
        content, whole = content_of(body, "chunked", coding, 1000)
        assert len(content) <= 1000
        assert isinstance(whole, Whole)


@pytest.mark.parametrize("limit", [0, 1, 999, 1000, 1001])
def test_the_limit(limit: int) -> None:
    data = bytes(range(250)) * 4
    for body, coding in ((data, ""), (gzip.compress(data), "gzip"), (zlib.compress(data), "deflate")):
        assert content_of(body, "", coding, limit) == (data[:limit], Whole.YES if limit >= 1000 else Whole.CUT)


def test_bombs_in_bombs() -> None:
    bomb = gzip.compress(gzip.compress(bytes(50 << 20)))
    assert content_of(bomb, "", "gzip, gzip", 1 << 20) == (b"", Whole.BOMB)
