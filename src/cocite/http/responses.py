"""Replies: bytes with their headers, ETag and gzip form; errors in one shape."""

import gzip
import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cocite import errors
from cocite.errors import BadStore, CociteError, TooSoon, UnknownPage, UnknownWord
from cocite.serving.threads import RefusedRequest

JSON, HTML, PLAIN_TEXT = b"application/json", b"text/html; charset=utf-8", b"text/plain; charset=utf-8"
CSV, TSV = b"text/csv; charset=utf-8", b"text/tab-separated-values; charset=utf-8"
MIN_GZIP_BYTES = 1000
"""Smaller bodies fit into one packet anyway."""
GZIP_LEVEL = 5
"""6 kB of answers become 1.4 kB in 0.1 ms; level 9 takes twice as long for 1 % less."""
REVALIDATE, FOREVER, NO_STORE = b"no-cache", b"public, max-age=31536000, immutable", b"no-store"
Headers = tuple[tuple[bytes, bytes], ...]


@dataclass(eq=False)
class Reply(Response):
    """A response, which may be sent many times. The front sends it, and adds what every response has."""

    status: int
    body: bytes
    media: bytes = JSON
    etag: bytes = b""  # empty: nobody may cache it
    extra: Headers = ()
    cache_control: bytes = REVALIDATE
    gzipped: bytes | None = None  # None: not yet; empty: not worth it
    cached: bool = False
    background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await scope["cocite"].send(self)

    def compress(self) -> int:
        """Make the gzip form, if it is worth it; returns its size."""
        if self.gzipped is None:
            small = len(self.body) < MIN_GZIP_BYTES
            self.gzipped = b"" if small else gzip.compress(self.body, GZIP_LEVEL, mtime=0)
        return len(self.gzipped)

    def head(self, gzipped: bool) -> list[tuple[bytes, bytes]]:
        """The headers of this reply."""
        found = [(b"cache-control", self.cache_control if self.etag else NO_STORE), (b"vary", b"accept-encoding")]
        found += self.extra
        if self.status not in (204, 304):
            length = len((self.gzipped or b"") if gzipped else self.body)
            found += [(b"content-type", self.media), (b"content-length", b"%d" % length)]
        found += [(b"etag", self.etag)] if self.etag else []
        return [*found, (b"content-encoding", b"gzip")] if gzipped else found


def etag(*parts: Hashable) -> bytes:
    """An ETag from everything that an answer depends on; weak, since `milliseconds` varies."""
    digest = hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=12)
    return b'W/"%s"' % digest.hexdigest().encode()


def matches(if_none_match: bytes, etag: bytes) -> bool:
    """Whether an If-None-Match header has an ETag, in the weak comparison."""
    if not etag:
        return False
    tags = {each.strip().removeprefix(b"W/") for each in if_none_match.split(b",")}
    return tags == {b"*"} or etag.removeprefix(b"W/") in tags


def to_json(value: Any) -> bytes:
    """JSON in UTF-8; NumPy's numbers become plain ones."""
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)


ERRORS: dict[type[CociteError], tuple[int, str]] = {
    errors.BadAddress: (400, "Give the address of a web page, such as nytimes.com or https://example.org/list"),
    UnknownPage: (404, "Try a similar address, or POST a page record to /api/related"),
    UnknownWord: (404, "Try one of the nearest known words"),
    errors.UnknownMethod: (422, "See /api/methods for all methods"),
    errors.BadParameter: (422, "See /docs for the parameters of each route"),
    errors.TooMuchWork: (422, "Ask about fewer pages, or give smaller parameters"),
    TooSoon: (503, "Ask about another date, or wait"),
    errors.BadSource: (422, "Send one page record as a JSON object; /docs shows one"),
    BadStore: (503, "Try again later; the log of the server says more"),
}
"""The status and the hint of each error."""


def error_reply(status: int, kind: str, message: str, hint: str, extra: Headers = (), **more: Any) -> Reply:
    """An error in the one shape."""
    body = to_json({"error": {"kind": kind, "message": message, "hint": hint, **more}})
    return Reply(status, body, extra=extra)


INTERNAL_ERROR = error_reply(
    500, "Fault", "Internal error", "Try again; if it happens again, report it to the operator"
)
"""Details are in the log only."""


def kind_of(error: CociteError) -> type[CociteError]:
    """The kind of an error that clients know."""
    return next((each for each in type(error).__mro__ if each in ERRORS), BadStore)


def reply_to(error: CociteError | RefusedRequest) -> Reply:
    """The reply to an error. Only the log names the path of a store that can't be read."""
    if isinstance(error, RefusedRequest):
        extra = () if error.retry_after is None else ((b"retry-after", b"%d" % error.retry_after),)
        return error_reply(error.status, error.kind, error.message, error.hint, extra)
    kind = kind_of(error)
    status, hint = ERRORS[kind]
    if kind is BadStore:
        message = "This server can't answer that from its store now"
        return error_reply(status, "BadStore", message, hint, ((b"retry-after", b"30"),))
    if isinstance(error, TooSoon):
        return error_reply(status, kind.__name__, str(error), hint, ((b"retry-after", b"%d" % error.seconds),))
    more: dict[str, Any] = {"nearest": list(error.nearest)} if isinstance(error, UnknownPage | UnknownWord) else {}
    return error_reply(status, kind.__name__, str(error), hint, **more)


def status_reply(status: int, extra: Headers = ()) -> Reply:
    """The reply to a request that no route takes."""
    if status == 404:
        return error_reply(404, "NotFound", "Nothing at this address", "See /docs for all routes")
    name = HTTPStatus(status).phrase
    hint = "See /docs for all routes and their parameters"
    return error_reply(status, name.title().replace(" ", ""), name.capitalize(), hint, extra)
