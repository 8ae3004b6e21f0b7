"""The outermost layer: every request arrives here, and every response leaves here.

A request that was answered before is answered from the cache without any parsing: 25 µs instead of 250. A question of
the API goes to the service without FastAPI, which takes 0.2 ms. Every response gets the security headers, is counted,
and is logged. An internal error is sent in the usual shape; its details go to the log only.
"""

import asyncio
import re
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache, partial
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from cocite.errors import CociteError
from cocite.http.access import Access
from cocite.http.questions import HttpQuestion, OperationQuestion, route_name, routes
from cocite.http.responses import INTERNAL_ERROR, Reply, error_reply, matches, reply_to
from cocite.http.service import Service
from cocite.http.settings import MAX_BODY_BYTES
from cocite.operations.declare import Operation
from cocite.serving.connections import MAX_QUERY_BYTES, client_of
from cocite.serving.threads import Output, RefusedRequest, too_busy

POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = [
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),  # for browsers that don't know frame-ancestors
    (b"x-xss-protection", b"0"),  # the filters of old browsers could be turned against pages
]
PREFLIGHT_HEADERS = (
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"authorization, content-type"),
    (b"access-control-max-age", b"86400"),
)
CHEAP_ROUTES = ("/api/methods", "/api/store")
"""Routes that are answered even when the queue is full."""
CHEAP_PATHS = frozenset({*CHEAP_ROUTES, "/healthz", "/metrics", "/docs", "/openapi.json", "/robots.txt"})
"""Paths that a client may also ask for while it should wait with its questions."""
GZIP = re.compile(rb"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
"""In Accept-Encoding: gzip is accepted, with a weight above 0."""
MAX_LOGGED_LENGTH = 300
BODY_SECONDS = 10.0


class Front:
    """The ASGI application that a server runs."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service, self._routes = app, service, routes()
        self._cors = frozenset(origin.encode() for origin in service.settings.cors)
        self._access = Access(service.settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        exchange = Exchange(scope, send, self._service, self._cors)
        try:
            reply = self._at_once(exchange)
            if reply is None and exchange.is_read and exchange.path in self._routes:
                reply = await exchange.ask(self._routes[exchange.path])
            if reply is not None:
                await exchange.send(reply)
            else:
                # A copy: uvicorn looks into its own when it sends, and must see HEAD there.
                seen = {**scope, "cocite": exchange, "method": "GET" if exchange.is_read else exchange.method}
                await self._app(seen, receive, exchange.send_from_app)
        except Exception as error:
            self._service.metrics.count("failures")
            trace = "".join(traceback.format_exception(error))
            self._service.log.write("fault", "error", path=exchange.path, query=exchange.logged_query, trace=trace)
            if not exchange.started:
                await exchange.send(INTERNAL_ERROR)
        finally:
            exchange.finish()

    def refuse_unread(self, client: str, method: bytes, url: bytes) -> bytes | None:
        """The response to a client that should wait and asks again, before its request is read; or None.

        Through uvicorn, a task and this class a refusal takes half a millisecond of the event loop, this way 20 µs.
        """
        service = self._service
        queue = next((each for each in (service.slow, service.quick) if each.must_wait(client)), None)
        if queue is None:
            return None
        path, _, query = url.partition(b"?")
        if path.decode("latin-1") in CHEAP_PATHS or path.startswith(b"/static/"):
            return None
        if method in (b"GET", b"HEAD") and service.cached(path + b"?" + query) is not None:
            return None
        service.metrics.count("shed")
        service.metrics.request("other", 503, 0.0)
        return whole_response(queue.refusal(client).retry_after or 1)

    def _at_once(self, exchange: "Exchange") -> Reply | None:
        """The reply from the cache, or to a request that is rejected."""
        service = self._service
        port = (exchange.scope.get("server") or ("", 0))[1]
        refused = self._access.refusal(exchange.path, exchange.method, exchange.headers, port, exchange.client)
        if refused is not None:
            return refused
        if exchange.is_read:
            cached = service.cached(exchange.key)
            if cached is not None:
                exchange.cached = True
                exchange.route, reply = cached
                service.metrics.count("cache_hits")
                return reply
            is_costly = exchange.path in self._routes and exchange.path not in CHEAP_ROUTES
            refusing = service.refusing(exchange.key, exchange.client) if is_costly else None
            if refusing is not None:
                exchange.route = route_name(self._routes[exchange.path])
                service.metrics.count("shed")
                return reply_to(refusing.refusal(exchange.client))
        if len(exchange.key) > MAX_QUERY_BYTES:
            return error_reply(400, "TooLarge", "The request is too long", "Ask about fewer pages at once")
        if exchange.method == "OPTIONS" and exchange.allowed:
            return Reply(204, b"", extra=PREFLIGHT_HEADERS)
        return None


class Exchange:
    """One request and its response."""

    __slots__ = (
        "_send", "_service", "accepts_gzip", "allowed", "bytes", "cached", "client", "headers", "if_none_match",
        "is_read", "key", "method", "path", "route", "scope", "started", "started_at", "status",
    )  # fmt: skip

    def __init__(self, scope: Scope, send: Send, service: Service, cors: frozenset[bytes]) -> None:
        self.started_at = time.perf_counter()
        self.scope, self._send, self._service = scope, send, service
        self.path: str = scope["path"]
        self.method: str = scope["method"]
        self.is_read = self.method in ("GET", "HEAD")
        self.key: bytes = scope["raw_path"] + b"?" + scope["query_string"]
        self.route, self.status, self.bytes = "other", 0, 0
        self.started = self.cached = False
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.client = client_of(scope["client"][0]) if scope.get("client") else ""
        self.accepts_gzip = GZIP.search(self.headers.get(b"accept-encoding", b"")) is not None
        self.if_none_match = self.headers.get(b"if-none-match", b"")
        origin = self.headers.get(b"origin", b"")
        self.allowed = origin if cors and (origin in cors or b"*" in cors) else b""

    async def ask(self, operation: type[Operation]) -> Reply:
        """The reply to a question of the API."""
        try:
            return await self.answer(await self.read(partial(OperationQuestion.read, operation)))
        except (CociteError, RefusedRequest) as error:
            return reply_to(error)

    async def read(self, reader: Callable[[bytes], Output], body: int = 0) -> Output:
        """What a reader makes of the query string; raises RefusedRequest."""
        query = self.scope["query_string"]
        return await self._service.read(partial(reader, query), max(len(query), body), self.client)

    def refuse_if_busy(self) -> None:
        """Raise RefusedRequest before a body is read, if the question would be refused."""
        if (queue := self._service.refusing(self.key, self.client)) is not None:
            raise queue.refusal(self.client)

    async def answer(self, question: HttpQuestion) -> Reply:
        """The reply to a question; raises RefusedRequest."""
        self.route = question.route
        connection = self.scope.get("connection")
        lost = connection.lost if connection is not None else None
        key = self.key if self.is_read else b""
        return await self._service.answer(question, key, self.if_none_match, self.client, lost)

    async def send(self, reply: Reply) -> None:
        """Send a reply: 304 if the client has it, else compressed if the client accepts that."""
        if reply.etag and self.if_none_match and reply.status == 200 and matches(self.if_none_match, reply.etag):
            self._service.metrics.count("not_modified")
            reply = Reply(304, b"", reply.media, reply.etag, cache_control=reply.cache_control)
        if self.accepts_gzip and reply.gzipped is None:
            self._service.cache.add_bytes(reply, reply.compress())
        gzipped = self.accepts_gzip and bool(reply.gzipped)
        body = (reply.gzipped or b"") if gzipped else reply.body
        self.started, self.status, self.bytes = True, reply.status, len(body)
        headers = [*SECURITY_HEADERS, *reply.head(gzipped), *self._cors_headers()]
        await self._send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": b"" if self.method == "HEAD" else body})

    def _cors_headers(self) -> list[tuple[bytes, bytes]]:
        if not self._service.settings.cors:
            return []
        vary = [(b"vary", b"origin")]  # for every origin, or a cache would mix them up
        return [(b"access-control-allow-origin", self.allowed), *vary] if self.allowed else vary

    async def send_from_app(self, message: Any) -> None:
        """Send what the application sends by itself, with the headers that every response has."""
        if message["type"] == "http.response.start":
            self.started, self.status = True, message["status"]
            message = {**message, "headers": [*message["headers"], *SECURITY_HEADERS, *self._cors_headers()]}
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
        service.log.buffer(
            "request", "error" if self.status >= 500 and self.status != 503 else "info",
            method=self.method, path=self.path[:MAX_LOGGED_LENGTH], query=self.logged_query, status=self.status,
            ms=round(seconds * 1e3, 3), bytes=self.bytes, cached=self.cached,
            client=self.client,
        )  # fmt: skip

    @property
    def logged_query(self) -> str:
        """The query string for the log; empty for a study, whose links have the tokens of raters."""
        return "" if self.path.startswith("/study") else str(self.scope["query_string"][:MAX_LOGGED_LENGTH], "latin-1")


@lru_cache(maxsize=128)
def whole_response(seconds: int) -> bytes:
    """All bytes of the response to a client that should have waited for some more seconds."""
    reply = reply_to(too_busy(seconds))
    headers = [*SECURITY_HEADERS, *reply.head(gzipped=False), (b"connection", b"close")]
    lines = (b"HTTP/1.1 503 Service Unavailable", *(b"%s: %s" % each for each in headers), b"", reply.body)
    return b"\r\n".join(lines)


async def body_of(request: Request) -> bytes:
    """The body of a request, if it arrives in time and is not too large; raises RefusedRequest."""
    parts, size = [], 0
    async with receiving("Send it again"):
        async for part in request.stream():
            size += len(part)
            if size > MAX_BODY_BYTES:
                raise RefusedRequest(400, "TooLarge", f"The body has more than {MAX_BODY_BYTES:,} bytes", "Send less")
            parts.append(part)
    return b"".join(parts)


@asynccontextmanager
async def receiving(hint: str) -> AsyncIterator[None]:
    """Raise RefusedRequest, with a hint, if a body doesn't arrive in time."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            yield
    except ClientDisconnect:
        raise RefusedRequest(400, "Gone", "The connection ended before the body did", "Send it again") from None
    except TimeoutError:
        raise RefusedRequest(400, "TooSlow", f"The body did not arrive within {BODY_SECONDS:g} s", hint) from None
