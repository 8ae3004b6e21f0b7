"""The outermost layer: every request arrives here, and every response leaves here.

A request that was answered before is answered from the cache without any parsing: 25 µs instead of 250. A question of
the API goes to the service without FastAPI, which takes 0.2 ms. Every response gets the security headers, is counted,
and is logged. An internal error is sent in the usual shape; its details go to the log only.
"""

from __future__ import annotations

import re
import time
import traceback
from typing import TYPE_CHECKING, Any

from cocite.errors import CociteError
from cocite.http.api import question_of, routes
from cocite.http.responses import FAULT, Refused, Reply, error_reply, matches, reply_to
from cocite.http.service import Service
from cocite.http.settings import MAX_QUERY_BYTES
from cocite.operations.declare import Operation

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
CHEAP_ROUTES = ("/api/methods", "/api/store")
"""Routes that are answered even when the queue is full."""
GZIP = re.compile(rb"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
"""In Accept-Encoding: gzip is accepted, with a weight above 0."""
MAX_LOGGED_LENGTH = 300


class Front:
    """The ASGI application that a server runs."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service, self._routes = app, service, routes()
        self._cors = frozenset(origin.encode() for origin in service.settings.cors)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        exchange = Exchange(scope, send, self._service, self._cors)
        try:
            reply = self._at_once(exchange)
            if reply is None and exchange.method in ("GET", "HEAD") and exchange.path in self._routes:
                reply = await answered(self._service, self._routes[exchange.path], exchange)
            if reply is not None:
                await exchange.send(reply)
            else:
                scope["cocite"] = exchange
                if exchange.method == "HEAD":
                    scope["method"] = "GET"
                await self._app(scope, receive, exchange.send_from_app)
        except Exception as error:
            await self._fault(exchange, error)
        finally:
            exchange.finish()

    def _at_once(self, exchange: Exchange) -> Reply | None:
        """The reply from the cache, or to a request that is rejected."""
        service = self._service
        if exchange.method in ("GET", "HEAD"):
            cached = service.cached(exchange.key)
            if cached is not None:
                exchange.cached = True
                exchange.route, reply = cached
                service.metrics.count("cache_hits")
                return reply
            if service.quick.full and exchange.path in self._routes and exchange.path not in CHEAP_ROUTES:
                exchange.route = exchange.path[len("/api/") :]
                service.metrics.count("shed")
                return service.quick.refusal().reply()
        if len(exchange.key) > MAX_QUERY_BYTES:
            return error_reply(400, "TooLarge", "The request is too long", "Ask about fewer pages at once")
        if exchange.method == "OPTIONS" and exchange.allowed:
            return Reply(204, b"", extra=(
                (b"access-control-allow-methods", b"GET, POST"),
                (b"access-control-allow-headers", b"content-type"),
                (b"access-control-max-age", b"86400"),
            ))  # fmt: skip
        return None

    async def _fault(self, exchange: Exchange, error: Exception) -> None:
        service = self._service
        service.metrics.count("failures")
        trace = "".join(traceback.format_exception(error))
        service.log.write("fault", "error", path=exchange.path, query=exchange.logged_query(), trace=trace)
        if not exchange.started:
            await exchange.send(FAULT)


async def answered(service: Service, operation: type[Operation], exchange: Exchange) -> Reply:
    """The reply to a question of the API."""
    try:
        question = question_of(operation, exchange.scope["query_string"])
        exchange.route = question.route
        return await service.answer(question, exchange.key, exchange.if_none_match)
    except CociteError as error:
        return reply_to(error)
    except Refused as error:
        return error.reply()


class Exchange:
    """One request and its response."""

    __slots__ = (
        "_send",
        "_service",
        "accepts_gzip",
        "allowed",
        "bytes",
        "cached",
        "if_none_match",
        "key",
        "method",
        "path",
        "route",
        "scope",
        "started",
        "started_at",
        "status",
    )  # fmt: skip

    def __init__(self, scope: Scope, send: Send, service: Service, cors: frozenset[bytes]) -> None:
        self.started_at = time.perf_counter()
        self.scope, self._send, self._service = scope, send, service
        self.path: str = scope["path"]
        self.method: str = scope["method"]
        self.key: bytes = scope["raw_path"] + b"?" + scope["query_string"]
        self.route, self.status, self.bytes = "other", 0, 0
        self.started = self.cached = self.accepts_gzip = False
        self.if_none_match = self.allowed = b""
        for name, value in scope["headers"]:
            if name == b"accept-encoding":
                self.accepts_gzip = GZIP.search(value) is not None
            elif name == b"if-none-match":
                self.if_none_match = value
            elif name == b"origin" and cors and (value in cors or b"*" in cors):
                self.allowed = value

    async def send(self, reply: Reply) -> None:
        """Send a reply: 304 if the client has it, else compressed if the client accepts that."""
        if reply.etag and self.if_none_match and reply.status == 200 and matches(self.if_none_match, reply.etag):
            self._service.metrics.count("not_modified")
            reply = Reply(304, b"", reply.media, reply.etag, b"", reply.cache_control)
        gzipped = self.accepts_gzip and reply.status != 304 and self._compress(reply)
        headers = [*SECURITY, *reply.headers(gzipped), *self._cors_headers()]
        if reply.status in (204, 304):
            headers = [each for each in headers if each[0] not in (b"content-length", b"content-type")]
        body = (reply.gzipped or b"") if gzipped else reply.body
        self.started, self.status, self.bytes = True, reply.status, len(body)
        await self._send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": b"" if self.method == "HEAD" else body})

    def _compress(self, reply: Reply) -> bool:
        if reply.gzipped is None:
            self._service.cache.add_bytes(reply, reply.compress())
        return bool(reply.gzipped)

    def _cors_headers(self) -> list[tuple[bytes, bytes]]:
        if not self._service.settings.cors:
            return []
        vary = [(b"vary", b"origin")]  # for every origin, or a cache would mix them up
        return [(b"access-control-allow-origin", self.allowed), *vary] if self.allowed else vary

    async def send_from_app(self, message: Any) -> None:
        """Send what the application sends by itself, with the headers that every response has."""
        if message["type"] == "http.response.start":
            self.started, self.status = True, message["status"]
            message = {**message, "headers": [*message["headers"], *SECURITY, *self._cors_headers()]}
        elif message["type"] == "http.response.body":
            self.bytes += len(message.get("body", b""))
            message = {**message, "body": b""} if self.method == "HEAD" else message
        await self._send(message)

    def finish(self) -> None:
        """Count and log the request."""
        service, seconds = self._service, time.perf_counter() - self.started_at
        service.metrics.request(self.route, self.status or 500, seconds)
        if service.settings.quiet and self.status < 400:
            return
        client = self.scope.get("client") or ("",)
        facts = {
            "method": self.method,
            "path": self.path[:MAX_LOGGED_LENGTH],
            "query": self.logged_query(),
            "status": self.status,
        }
        done = {"ms": round(seconds * 1e3, 3), "bytes": self.bytes, "cached": self.cached, "client": client[0]}
        service.log.buffer("request", "error" if self.status >= 500 and self.status != 503 else "info", **facts, **done)

    def logged_query(self) -> str:
        """The query string for the log."""
        return str(self.scope["query_string"][:MAX_LOGGED_LENGTH], "latin-1")
