"""Decode the body of an HTTP response: join its chunks and decompress it, within limits.

Our own code, because fastwarc 1.1 (`auto_decode`) loses a page, and the rest of the file, where a header is false. Of
14 codings tried it failed on 7: x-gzip, raw deflate, an unknown one, and gzip, deflate, br or chunked in the headers of
a body that was decoded before it was archived.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from enum import Enum
from typing import Any

MAX_RATIO = 200
"""Content that expands more than this, beyond the size limit, is a bomb. HTML expands 3 to 30 times."""
MAX_CODINGS = 3

_OUTPUT = 64 << 10
_INPUT = 1 << 10  # bytes decompressed at a time, to know how many bytes of input a bomb has taken
_CHUNK_HEAD = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CODING = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")

Pieces = Iterator[tuple[bytes, int]]
"""Output, at most 64 KiB at a time, and the number of bytes of input taken so far."""


class Completeness(Enum):
    """How much of the content could be decoded."""

    WHOLE = 1
    TRUNCATED = 2  # longer than the limit
    BOMB = 3  # longer than the limit, and out of all proportion
    DAMAGED = 4  # the coding is unknown, or the data are damaged from the beginning


def decode_body(body: bytes, transfer_encoding: str, content_encoding: str, limit: int) -> tuple[bytes, Completeness]:
    """Undo the codings that the headers name. A body that is already decoded stays as it is."""
    if "chunked" in transfer_encoding.lower():
        body = join_chunks(body)
    codings = [coding for coding in _CODING.findall(content_encoding.lower()) if coding not in ("identity", "chunked")]
    if len(codings) > MAX_CODINGS:
        return b"", Completeness.DAMAGED
    state = Completeness.WHOLE
    for coding in reversed(codings):
        body, state = _decompressed(body, coding, limit)
        if state in (Completeness.BOMB, Completeness.DAMAGED):
            return b"", state
    if len(body) > limit:
        return body[:limit], Completeness.TRUNCATED
    return body, state


def join_chunks(body: bytes) -> bytes:
    """Undo `Transfer-Encoding: chunked`. Return a body that doesn't begin with a chunk as it is."""
    pieces: list[bytes] = []
    at = 0
    while head := _CHUNK_HEAD.match(body, at):
        size = int(head[1], 16)
        if not size:
            return b"".join(pieces)
        pieces.append(body[head.end() : head.end() + size])
        at = head.end() + size
        at += 2 if body[at : at + 2] == b"\r\n" else body[at : at + 1] == b"\n"
    return b"".join(pieces) if pieces else body


def _decompressed(body: bytes, coding: str, limit: int) -> tuple[bytes, Completeness]:
    if coding in ("gzip", "x-gzip"):
        if not body.startswith(b"\x1f\x8b"):
            return body, Completeness.WHOLE  # already decoded
        pieces = _inflate(body, 31)
    elif coding in ("deflate", "x-deflate"):
        pieces = _inflate(body, 15 if body[:1] == b"\x78" else -15)  # many servers omit zlib's header
    elif coding == "br":
        from fastwarc.stream_io import BrotliReader

        source = io.BytesIO(body)
        pieces = _read_all(BrotliReader(source, _INPUT), source)
    elif coding == "zstd":
        import zstandard

        source = io.BytesIO(body)
        pieces = _read_all(zstandard.ZstdDecompressor(max_window_size=8 << 20).stream_reader(source, _INPUT), source)
    else:
        return b"", Completeness.DAMAGED
    out: list[bytes] = []
    produced = 0
    for piece, consumed in pieces:
        out.append(piece)
        produced += len(piece)
        if produced > limit:
            is_bomb = produced > MAX_RATIO * consumed
            return b"".join(out)[:limit], Completeness.BOMB if is_bomb else Completeness.TRUNCATED
    if not produced and body:
        looks_decoded = b"<" in body[:1000]
        return (body, Completeness.WHOLE) if looks_decoded else (b"", Completeness.DAMAGED)
    return b"".join(out), Completeness.WHOLE


def _inflate(body: bytes, window: int) -> Pieces:
    decoder = zlib.decompressobj(window)
    try:
        for start in range(0, len(body), _INPUT):
            data = body[start : start + _INPUT]
            while data and not decoder.eof:
                yield decoder.decompress(data, _OUTPUT), start + _INPUT
                data = decoder.unconsumed_tail
        yield decoder.flush(_OUTPUT), len(body)
    except zlib.error:
        return  # keep the output before the damage


def _read_all(reader: Any, source: io.BytesIO) -> Pieces:
    import zstandard

    try:
        while piece := reader.read(_OUTPUT):
            yield piece, source.tell()
    except (OSError, EOFError, ValueError, zstandard.ZstdError):
        return  # keep the output before the damage
