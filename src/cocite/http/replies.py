"""Answers as bytes: JSON with its ETag and, once somebody takes it, its compressed form. Errors of one shape."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson

from cocite.errors import (
    BadAddress,
    BadParameter,
    BadSource,
    BadStore,
    CociteError,
    UnknownMethod,
    UnknownPage,
    UnknownWord,
)

JSON, HTML, TEXT = b"application/json", b"text/html; charset=utf-8", b"text/plain; charset=utf-8"
CSV, TSV = b"text/csv; charset=utf-8", b"text/tab-separated-values; charset=utf-8"
SMALLEST_PACKED = 1000
"""Bytes below which compressing gains nothing: one packet carries them anyway."""
PACKED = 5
"""The level of gzip: 6 kB of answers become 1.4 kB in 0.1 ms; level 9 takes twice as long for 1 % less."""
NO_CACHE, KEPT, NOT_KEPT = b"no-cache", b"public, max-age=31536000, immutable", b"no-store"


@dataclass(slots=True)
class Reply:
    """A response, which may be given many times."""

    status: int
    body: bytes
    media: bytes = JSON
    etag: bytes = b""  # empty: it is not to be kept by anybody
    packed: bytes | None = None  # by gzip; None: not yet
    keep: bytes = NO_CACHE
    extra: tuple[tuple[bytes, bytes], ...] = ()
    kept: bool = False  # whether the cache holds it

    def pack(self) -> int:
        """Make the compressed form, if it is worth it; returns its bytes."""
        if self.packed is None:
            small = len(self.body) < SMALLEST_PACKED
            self.packed = b"" if small else gzip.compress(self.body, PACKED, mtime=0)
        return len(self.packed)

    def headers(self, packed: bool) -> list[tuple[bytes, bytes]]:
        """The headers of this answer, which the security headers join."""
        found = [
            (b"content-type", self.media),
            (b"content-length", b"%d" % len((self.packed or b"") if packed else self.body)),
            (b"cache-control", self.keep if self.etag else NOT_KEPT),
            (b"vary", b"accept-encoding"),
            *self.extra,
        ]
        if self.etag:
            found.append((b"etag", self.etag))
        if packed:
            found.append((b"content-encoding", b"gzip"))
        return found


def etag(*parts: Hashable) -> bytes:
    """A weak ETag of all that an answer depends on; weak, since milliseconds differ from time to time."""
    return (
        b'W/"'
        + hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest().encode()
        + b'"'
    )


def holds(asked: bytes, etag: bytes) -> bool:
    """Whether an If-None-Match names an ETag, weakly compared."""
    if not etag:
        return False
    opaque = etag.removeprefix(b"W/")
    return asked.strip() == b"*" or any(each.strip().removeprefix(b"W/") == opaque for each in asked.split(b","))


def json_reply(value: Any, tag: bytes = b"", status: int = 200) -> Reply:
    """An object as JSON."""
    return Reply(status, to_json(value), JSON, tag)


def to_json(value: Any) -> bytes:
    """JSON in UTF-8; what NumPy left in is written as plain numbers."""
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)


STATUS: dict[type[CociteError], int] = {
    BadAddress: 400,
    UnknownPage: 404,
    UnknownWord: 404,
    UnknownMethod: 422,
    BadParameter: 422,
    BadSource: 422,
    BadStore: 503,
}
HINT: dict[type[CociteError], str] = {
    BadAddress: "give the address of a web page, such as nytimes.com or https://example.org/list",
    UnknownPage: "try one of the nearest known addresses, or POST a page record to /api/related",
    UnknownWord: "try one of the nearest known words",
    UnknownMethod: "/api/methods lists all of them",
    BadParameter: "/docs says what may be given",
    BadSource: "send one page record as a JSON object; /docs shows one",
    BadStore: "try again later; the log of the server says more",
}


class Refused(Exception):
    """A request that is refused for a reason of the server's own."""

    def __init__(self, status: int, kind: str, message: str, hint: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.kind, self.message, self.hint, self.retry_after = status, kind, message, hint, retry_after

    def reply(self) -> Reply:
        """As every error is told."""
        extra = () if self.retry_after is None else ((b"retry-after", b"%d" % self.retry_after),)
        return error_reply(self.status, self.kind, self.message, self.hint, extra=extra)


def error_body(kind: str, message: str, hint: str, **more: Any) -> bytes:
    """The one shape of errors."""
    return to_json({"error": {"kind": kind, "message": message, "hint": hint, **more}})


def error_reply(
    status: int, kind: str, message: str, hint: str, extra: tuple[tuple[bytes, bytes], ...] = (), **more: Any
) -> Reply:
    """An error as a response."""
    return Reply(status, error_body(kind, message, hint, **more), JSON, extra=extra)


FAULT = error_reply(
    500, "Fault", "a fault of the server itself", "try again; if it stays, tell whoever runs this server"
)
"""What went wrong is in the log, and nowhere else."""


def reply_to(error: CociteError) -> Reply:
    """What a user can act on, told so. Of a store that cannot be read only the log says where it is."""
    kind = next((each for each in type(error).__mro__ if each in STATUS), BadStore)
    status = STATUS[kind]
    if kind is BadStore:
        return error_reply(status, "BadStore", "this server cannot answer that from its store now", HINT[BadStore],
                           extra=((b"retry-after", b"30"),))  # fmt: skip
    nearest = list(getattr(error, "nearest", []))
    more: dict[str, Any] = {"nearest": nearest} if isinstance(error, UnknownPage | UnknownWord) else {}
    return error_reply(status, kind.__name__, str(error), HINT[kind], **more)


def phrase(status: int) -> str:
    """What a status is called."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"
