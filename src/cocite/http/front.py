"""What every request meets first, and every response last.

A request that was met before is answered from the cache here, without any parsing: some 25 µs instead of 250. One that
asks something goes to the service without the application, whose way through FastAPI takes 0.2 ms. The rest goes there.
Whatever comes of it gets the security headers, is counted, and gets its line in the log. A fault of the server is told
as an error of the usual shape, and in full in the log only.
"""

from __future__ import annotations

import re
import time
import traceback
from typing import TYPE_CHECKING, Any

from cocite.errors import CociteError
from cocite.http.replies import FAULT, Refused, Reply, error_reply, holds, reply_to
from cocite.http.routes import ROUTES, Route
from cocite.http.service import Service
from cocite.http.settings import LONGEST_QUERY
from cocite.http.taken import read

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY = [
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
ASKING = {route.path: route for route in ROUTES}
WORKED = ("/api/related", "/api/compare", "/api/hubs", "/api/communities", "/api/keywords", "/api/search", "/api/links")
"""Routes that need a thread, unless the answer is kept."""
GZIP = re.compile(rb"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
"""In Accept-Encoding: gzip is taken, and not refused by a weight of 0."""
SHOWN = 300
"""Characters of a query that the log shows."""


class Front:
    """The application that a server runs."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service
        self._cors = frozenset(origin.encode() for origin in service.settings.cors)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        seen = Seen(scope, send, self._service, self._cors)
        try:
            reply = self._at_once(seen)
            if reply is None and seen.method in ("GET", "HEAD") and seen.path in ASKING:
                reply = await answered(self._service, ASKING[seen.path], seen)
            if reply is not None:
                await seen.send(reply)
            else:
                scope["cocite"] = seen
                if seen.method == "HEAD":
                    scope["method"] = "GET"
                await self._app(scope, receive, seen.passed_on)
        except Exception as error:
            await self._fault(seen, error)
        finally:
            seen.finish()

    def _at_once(self, seen: Seen) -> Reply | None:
        """The reply to what needs no application."""
        service = self._service
        if seen.method in ("GET", "HEAD"):
            kept = service.kept(seen.key)
            if kept is not None:
                seen.cached = True
                seen.route, reply = kept
                service.metrics.count("cache_hits")
                return reply
            if service.overfull() and seen.path in WORKED:
                seen.route = seen.path[len("/api/") :]
                service.metrics.count("shed")
                return service.quick.refusal().reply()
        if len(seen.key) > LONGEST_QUERY:
            return error_reply(400, "TooLarge", "the request is too long", "ask about fewer pages at once")
        if seen.method == "OPTIONS" and seen.allowed:
            return Reply(204, b"", extra=(
                (b"access-control-allow-methods", b"GET, POST"),
                (b"access-control-allow-headers", b"content-type"),
                (b"access-control-max-age", b"86400"),
            ))  # fmt: skip
        return None

    async def _fault(self, seen: Seen, error: Exception) -> None:
        service = self._service
        service.metrics.count("failures")
        told = "".join(traceback.format_exception(error))
        service.log.say("fault", "error", path=seen.path, query=seen.shown_query(), trace=told)
        if not seen.begun:
            await seen.send(FAULT)


async def answered(service: Service, route: Route, seen: Seen) -> Reply:
    """The reply to a question that is asked by its address."""
    try:
        question = route.asks(read(route.takes, seen.scope["query_string"]))
        seen.route = question.route
        return await service.answer(question, seen.key, seen.if_none_match)
    except CociteError as error:
        return reply_to(error)
    except Refused as error:
        return error.reply()


class Seen:
    """One request, and what becomes of it."""

    __slots__ = (
        "_send", "_service", "allowed", "began", "begun", "bytes", "cached", "if_none_match", "key", "method", "packs",
        "path", "route", "scope", "status",
    )  # fmt: skip

    def __init__(self, scope: Scope, send: Send, service: Service, cors: frozenset[bytes]) -> None:
        self.began = time.perf_counter()
        self.scope, self._send, self._service = scope, send, service
        self.path: str = scope["path"]
        self.method: str = scope["method"]
        self.key: bytes = scope["raw_path"] + b"?" + scope["query_string"]
        self.route, self.status, self.bytes = "other", 0, 0
        self.begun = self.cached = self.packs = False
        self.if_none_match = self.allowed = b""
        for name, value in scope["headers"]:
            if name == b"accept-encoding":
                self.packs = GZIP.search(value) is not None
            elif name == b"if-none-match":
                self.if_none_match = value
            elif name == b"origin" and cors and (value in cors or b"*" in cors):
                self.allowed = value

    async def send(self, reply: Reply) -> None:
        """Send a reply: nothing but its ETag if that is what was had before, else packed if that is taken."""
        if reply.etag and self.if_none_match and reply.status == 200 and holds(self.if_none_match, reply.etag):
            self._service.metrics.count("not_modified")
            reply = Reply(304, b"", reply.media, reply.etag, b"", reply.keep)
        packed = self.packs and reply.status != 304 and self._packed(reply)
        headers = [*SECURITY, *reply.headers(packed), *self._crossed()]
        if reply.status in (204, 304):
            headers = [each for each in headers if each[0] not in (b"content-length", b"content-type")]
        body = (reply.packed or b"") if packed else reply.body
        self.begun, self.status, self.bytes = True, reply.status, len(body)
        await self._send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": b"" if self.method == "HEAD" else body})

    def _packed(self, reply: Reply) -> bool:
        if reply.packed is None:
            self._service.cache.grown(reply, reply.pack())
        return bool(reply.packed)

    def _crossed(self) -> list[tuple[bytes, bytes]]:
        if not self._service.settings.cors:
            return []
        vary = [(b"vary", b"origin")]  # also for others: or what is kept for them would be given to those allowed
        return [(b"access-control-allow-origin", self.allowed), *vary] if self.allowed else vary

    async def passed_on(self, message: Any) -> None:
        """What the application sends by itself: its headers are joined by those that every response has."""
        if message["type"] == "http.response.start":
            self.begun, self.status = True, message["status"]
            message = {**message, "headers": [*message["headers"], *SECURITY, *self._crossed()]}
        elif message["type"] == "http.response.body":
            self.bytes += len(message.get("body", b""))
            message = {**message, "body": b""} if self.method == "HEAD" else message
        await self._send(message)

    def finish(self) -> None:
        """Count it, and write it down."""
        service, seconds = self._service, time.perf_counter() - self.began
        service.metrics.request(self.route, self.status or 500, seconds)
        if service.settings.quiet and self.status < 400:
            return
        client = self.scope.get("client") or ("",)
        facts = {"method": self.method, "path": self.path[:SHOWN], "query": self.shown_query(), "status": self.status}
        done = {"ms": round(seconds * 1e3, 3), "bytes": self.bytes, "cached": self.cached, "client": client[0]}
        service.log.note("request", "error" if self.status >= 500 and self.status != 503 else "info", **facts, **done)

    def shown_query(self) -> str:
        """The query for the log."""
        return str(self.scope["query_string"][:SHOWN], "latin-1")
