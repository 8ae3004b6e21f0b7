"""Replies: bytes with their headers, ETag and gzip form; errors in the one shape."""

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
MIN_GZIP_BYTES = 1000
"""Smaller bodies fit into one packet anyway."""
GZIP_LEVEL = 5
"""6 kB of answers become 1.4 kB in 0.1 ms; level 9 takes twice as long for 1 % less."""
REVALIDATE, FOREVER, NO_STORE = b"no-cache", b"public, max-age=31536000, immutable", b"no-store"


@dataclass(slots=True)
class Reply:
    """A response, which may be sent many times."""

    status: int
    body: bytes
    media: bytes = JSON
    etag: bytes = b""  # empty: nobody may cache it
    gzipped: bytes | None = None  # None: not yet; empty: not worth it
    cache_control: bytes = REVALIDATE
    extra: tuple[tuple[bytes, bytes], ...] = ()
    cached: bool = False

    def compress(self) -> int:
        """Make the gzip form, if it is worth it; returns its size."""
        if self.gzipped is None:
            small = len(self.body) < MIN_GZIP_BYTES
            self.gzipped = b"" if small else gzip.compress(self.body, GZIP_LEVEL, mtime=0)
        return len(self.gzipped)

    def headers(self, gzipped: bool) -> list[tuple[bytes, bytes]]:
        """The headers of this reply."""
        found = [
            (b"content-type", self.media),
            (b"content-length", b"%d" % len((self.gzipped or b"") if gzipped else self.body)),
            (b"cache-control", self.cache_control if self.etag else NO_STORE),
            (b"vary", b"accept-encoding"),
            *self.extra,
        ]
        if self.etag:
            found.append((b"etag", self.etag))
        if gzipped:
            found.append((b"content-encoding", b"gzip"))
        return found


def etag(*parts: Hashable) -> bytes:
    """An ETag from everything that an answer depends on; weak, since `milliseconds` varies."""
    return (
        b'W/"'
        + hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest().encode()
        + b'"'
    )


def matches(if_none_match: bytes, etag: bytes) -> bool:
    """Whether an If-None-Match header has an ETag, in the weak comparison."""
    if not etag:
        return False
    opaque = etag.removeprefix(b"W/")
    return if_none_match.strip() == b"*" or any(
        each.strip().removeprefix(b"W/") == opaque for each in if_none_match.split(b",")
    )


def json_reply(value: Any, tag: bytes = b"", status: int = 200) -> Reply:
    """A reply of JSON."""
    return Reply(status, to_json(value), JSON, tag)


def to_json(value: Any) -> bytes:
    """JSON in UTF-8; NumPy's numbers become plain ones."""
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
    BadAddress: "Give the address of a web page, such as nytimes.com or https://example.org/list",
    UnknownPage: "Try one of the nearest known addresses, or POST a page record to /api/related",
    UnknownWord: "Try one of the nearest known words",
    UnknownMethod: "See /api/methods for all methods",
    BadParameter: "See /docs for the parameters of each route",
    BadSource: "Send one page record as a JSON object; /docs shows one",
    BadStore: "Try again later; the log of the server says more",
}


class Refused(Exception):
    """A request that the server refuses for a reason of its own."""

    def __init__(self, status: int, kind: str, message: str, hint: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.kind, self.message, self.hint, self.retry_after = status, kind, message, hint, retry_after

    def reply(self) -> Reply:
        """The error as a reply."""
        extra = () if self.retry_after is None else ((b"retry-after", b"%d" % self.retry_after),)
        return error_reply(self.status, self.kind, self.message, self.hint, extra=extra)


def error_body(kind: str, message: str, hint: str, **more: Any) -> bytes:
    """An error in the one shape."""
    return to_json({"error": {"kind": kind, "message": message, "hint": hint, **more}})


def error_reply(
    status: int, kind: str, message: str, hint: str, extra: tuple[tuple[bytes, bytes], ...] = (), **more: Any
) -> Reply:
    """An error as a reply."""
    return Reply(status, error_body(kind, message, hint, **more), JSON, extra=extra)


FAULT = error_reply(500, "Fault", "Internal error", "Try again; if it happens again, report it to the operator")
"""Details are in the log only."""


def reply_to(error: CociteError) -> Reply:
    """The reply to an error. Only the log names the path of a store that can't be read."""
    kind = next((each for each in type(error).__mro__ if each in STATUS), BadStore)
    status = STATUS[kind]
    if kind is BadStore:
        return error_reply(status, "BadStore", "This server can't answer that from its store now", HINT[BadStore],
                           extra=((b"retry-after", b"30"),))  # fmt: skip
    nearest = list(getattr(error, "nearest", []))
    more: dict[str, Any] = {"nearest": nearest} if isinstance(error, UnknownPage | UnknownWord) else {}
    return error_reply(status, kind.__name__, str(error), HINT[kind], **more)


def phrase(status: int) -> str:
    """The name of a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"
