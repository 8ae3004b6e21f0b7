"""Decode the body of an HTTP response: join its chunks and decompress it, within limits.

FastWARC decompresses, but its `auto_decode` loses a page, and the rest of the file, where a header is false. Of 14
codings tried with version 1.1 it failed on 7: x-gzip, raw deflate, an unknown one, and gzip, deflate, br or chunked in
the headers of a body that was decoded before it was archived.
"""

import io
import re
from enum import Enum
from typing import Any

MAX_RATIO = 200  # content that expands more than this, beyond the size limit, is a bomb; HTML expands 3 to 30 times
MAX_CODINGS = 3

_OUTPUT_BYTES = 64 << 10
_INPUT_BYTES = 1 << 10  # decompressed at a time, to measure how much input a bomb has taken
_CHUNK_HEAD = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CODING = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")


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
        body, state = _decompressed(body, coding.removeprefix("x-"), limit)
        if state in (Completeness.BOMB, Completeness.DAMAGED):
            return b"", state
    return body[:limit], Completeness.TRUNCATED if len(body) > limit else state


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
    import zstandard
    from fastwarc.stream_io import BrotliReader, GzipReader

    source = io.BytesIO(body)
    reader: Any
    if coding == "gzip":
        if not body.startswith(b"\x1f\x8b"):
            return body, Completeness.WHOLE  # already decoded
        reader = GzipReader(source, _INPUT_BYTES)
    elif coding == "deflate":
        if body[:1] != b"\x78":  # many servers omit zlib's header
            source = io.BytesIO(b"\x78\x9c" + body)
        reader = GzipReader(source, _INPUT_BYTES, zlib=True)
    elif coding == "br":
        reader = BrotliReader(source, _INPUT_BYTES)
    elif coding == "zstd":
        reader = zstandard.ZstdDecompressor(max_window_size=8 << 20).stream_reader(source, _INPUT_BYTES)
    else:
        return b"", Completeness.DAMAGED
    out = bytearray()
    try:
        while len(out) <= limit and (piece := reader.read(_OUTPUT_BYTES)):
            out += piece
    except (OSError, EOFError, ValueError, zstandard.ZstdError):
        pass  # keep the output before the damage
    if len(out) > limit:
        consumed = getattr(reader, "inner_tell", source.tell)()  # FastWARC's readers buffer their source
        is_bomb = len(out) > MAX_RATIO * consumed
        return bytes(out[:limit]), Completeness.BOMB if is_bomb else Completeness.TRUNCATED
    if not out and body:
        looks_decoded = b"<" in body[:1000]
        return (body, Completeness.WHOLE) if looks_decoded else (b"", Completeness.DAMAGED)
    return bytes(out), Completeness.WHOLE
