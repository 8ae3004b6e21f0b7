"""The body of an HTTP response as it was sent → its content: chunks joined, compression undone, both within limits."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from enum import Enum
from typing import Any

MAX_RATIO = 200
"""Content that expands more than this and goes on beyond the limit is a bomb; HTML expands 3 to 30 times."""

_FEED = 64 << 10
_READ = 1 << 10  # of compressed input at a time, so that we know what a bomb is made of
_CHUNK_HEAD = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_TOKEN = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")


class Whole(Enum):
    """How much of the content there is."""

    YES = 1
    CUT = 2  # longer than the limit
    BOMB = 3  # longer than the limit, and out of all proportion
    BROKEN = 4  # the coding is unknown or the data damaged before anything could be read


def content_of(body: bytes, transfer_encoding: str, content_encoding: str, limit: int) -> tuple[bytes, Whole]:
    """Undo the codings that the headers name. Archives often keep headers that are no longer true: then the body is
    taken as it is, and of damaged data what could be read is given."""
    if "chunked" in transfer_encoding.lower():
        body = joined_chunks(body)
    codings = [coding for coding in _TOKEN.findall(content_encoding.lower()) if coding not in ("identity", "chunked")]
    if len(codings) > 3:
        return b"", Whole.BROKEN
    whole = Whole.YES
    for coding in reversed(codings):
        body, whole = _decoded(body, coding, limit)
        if whole in (Whole.BOMB, Whole.BROKEN):
            return b"", whole
    if len(body) > limit:
        return body[:limit], Whole.CUT
    return body, whole


def joined_chunks(body: bytes) -> bytes:
    """Undo `Transfer-Encoding: chunked`; a body that does not begin with a chunk is given as it is."""
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


def _decoded(body: bytes, coding: str, limit: int) -> tuple[bytes, Whole]:
    if coding in ("gzip", "x-gzip"):
        if not body.startswith(b"\x1f\x8b"):
            return body, Whole.YES  # decoded already
        pieces = _inflated(body, 31)
    elif coding in ("deflate", "x-deflate"):
        # Meant to have zlib's frame; many servers sent none.
        pieces = _inflated(body, 15 if body[:1] == b"\x78" else -15)
    elif coding == "br":
        pieces = _unbrotlied(body)
    elif coding == "zstd":
        pieces = _unzstandarded(body)
    else:
        return b"", Whole.BROKEN
    out: list[bytes] = []
    produced = 0
    for piece, consumed in pieces:
        out.append(piece)
        produced += len(piece)
        if produced > limit:
            return b"".join(out)[:limit], Whole.BOMB if produced > MAX_RATIO * consumed else Whole.CUT
    if not produced and body:
        looks_decoded = b"<" in body[:1000]
        return (body, Whole.YES) if looks_decoded else (b"", Whole.BROKEN)
    return b"".join(out), Whole.YES


Pieces = Iterator[tuple[bytes, int]]
"""Output, no more than 64 KiB at a time, and how many bytes of input it has taken so far."""


def _inflated(body: bytes, window: int) -> Pieces:
    decoder = zlib.decompressobj(window)
    try:
        for start in range(0, len(body), _READ):
            data = body[start : start + _READ]
            while data and not decoder.eof:
                yield decoder.decompress(data, _FEED), start + _READ
                data = decoder.unconsumed_tail
        yield decoder.flush(_FEED), len(body)
    except zlib.error:
        return  # damaged: what came before is good


def _unbrotlied(body: bytes) -> Pieces:
    from fastwarc.stream_io import BrotliReader

    source = io.BytesIO(body)
    yield from _read_out(BrotliReader(source, _READ), source)


def _unzstandarded(body: bytes) -> Pieces:
    import zstandard

    source = io.BytesIO(body)
    decoder = zstandard.ZstdDecompressor(max_window_size=8 << 20)
    yield from _read_out(decoder.stream_reader(source, _READ), source)


def _read_out(reader: Any, source: io.BytesIO) -> Pieces:
    import zstandard

    try:
        while piece := reader.read(_FEED):
            yield piece, source.tell()
    except (OSError, EOFError, ValueError, zstandard.ZstdError):
        return  # damaged: what came before is good
