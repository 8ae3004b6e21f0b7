"""Connections of strangers: a time limit in every state, and limits on bytes, on waiting requests and on their number.

uvicorn's own connection has one timer, for the time between requests, and any byte stops it. Here a connection is
always in one state, and each state has a deadline: waiting for a request, reading its head, reading its body,
answering it, or idle afterwards. One sweep a second closes those that are late.

Who opens connections too quickly is refused at the door, before a parser is made. Who should wait and asks again
is refused when the head of its request is read, without a task, and its connection is closed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from cocite.log import Log
from cocite.serving.threads import compiling
from cocite.system import raise_file_limit

HEAD_SECONDS, BODY_SECONDS, IDLE_SECONDS = 10.0, 12.0, 30.0
"""For the head of a request; for its body, a little more than the reader of bodies has; between two requests."""
ANSWER_MARGIN_SECONDS = 15.0
"""Beyond the time limit of a question: reading its body, and sending the answer to a client that reads slowly."""
MAX_QUERY_BYTES = 1 << 16
"""Of path and query string together."""
MAX_HEAD_BYTES = MAX_QUERY_BYTES + (16 << 10)
"""Of request line and headers. Also of anything else that isn't a body: empty lines, chunk sizes, trailers."""
MAX_HEADERS = 200
MAX_PIPELINED_REQUESTS = 32
"""Requests of one connection that may wait while an earlier one is answered."""
MAX_CLIENT_CONNECTIONS, MAX_CONNECTIONS = 100, 4096
"""Of one client, and in total; in each worker."""
NEW_CONNECTIONS_PER_SECOND, NEW_CONNECTIONS_BURST_SECONDS = 20.0, 10.0
"""Of one client: 200 at once, if it was quiet for ten seconds. A browser opens six."""
MAX_RATED_CLIENTS = 20_000
RESERVED_FILES, MAX_FILES = 512, 1 << 16
"""Files for the store, and for its next generation; the most that a worker asks the system for."""
SWEEP_SECONDS = 1.0
MAX_LOGGED_CLIENTS = 5
UNREADABLE = {"kind": "BadRequest", "message": "Not an HTTP request, or too long"}
UNREADABLE |= {"hint": "Ask about fewer pages at once"}
CROWDED = {"kind": "Busy", "message": "Too many connections", "hint": "Close idle connections, or try again in 10 s"}
HURRIED = {"kind": "TooManyRequests", "message": "Too many new connections from this client"}
HURRIED |= {"hint": "Keep connections open for several requests; try again in 10 s"}


def last_response(status: bytes, error: dict[str, str], *headers: bytes) -> bytes:
    """A response in the usual shape, after which the connection is closed."""
    body = orjson.dumps({"error": error})
    lines = (b"HTTP/1.1 " + status, *headers, b"content-type: application/json", b"connection: close")
    return b"\r\n".join((*lines, b"content-length: %d" % len(body), b"", body))


UNREADABLE_RESPONSE = last_response(b"400 Bad Request", UNREADABLE)
CROWDED_RESPONSE = last_response(b"503 Service Unavailable", CROWDED, b"retry-after: 10")
HURRIED_RESPONSE = last_response(b"429 Too Many Requests", HURRIED, b"retry-after: 10")


def allowed_connections() -> int:
    """How many connections fit beside the store's files. Raises the limit of open files as far as it may."""
    return max(16, min(MAX_CONNECTIONS, raise_file_limit(MAX_FILES) - RESERVED_FILES))


@lru_cache(maxsize=4096)
def client_of(address: str) -> str:
    """Who counts as one client: an IPv4 address, or the /64 network of an IPv6 address."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
    return address


class Rate:
    """Events per second of each client, by the generic cell rate algorithm: one number per client."""

    def __init__(self, per_second: float, burst_seconds: float) -> None:
        """A client that was quiet may have the events of `burst_seconds` at once."""
        self._interval = 1 / per_second
        self._slack = max(burst_seconds - self._interval, 0.0)
        self._due: dict[str, float] = {}  # when the next event of a client would come at an even pace

    def wait(self, client: str, now: float) -> float:
        """Count an event; or, if there were too many, the seconds until the next."""
        due = max(self._due.get(client, now), now)
        if due - now > self._slack:
            return due - now - self._slack
        self._due[client] = due + self._interval
        if len(self._due) > MAX_RATED_CLIENTS:
            recent = {client: due for client, due in self._due.items() if due > now + self._slack / 2}
            self._due = recent if len(recent) <= MAX_RATED_CLIENTS // 2 else {}
        return 0.0


class Connections:
    """All connections of one worker, by client. It belongs to an event loop."""

    def __init__(
        self, log: Log, answer_seconds: float = 10.0, proxies: Any = (), maximum: int = MAX_CONNECTIONS
    ) -> None:
        """Clients in `proxies` pass on requests of many others: only the total limits them."""
        self.answer_seconds = answer_seconds + ANSWER_MARGIN_SECONDS
        self._log, self._maximum, self.proxies = log, maximum, proxies
        self._clients: dict[str, set[Connection]] = {}
        self.number = 0
        self._notes: Counter[tuple[str, str]] = Counter()  # (reason, client) → connections, until the next sweep
        self._timer: asyncio.TimerHandle | None = None
        self._rate = Rate(NEW_CONNECTIONS_PER_SECOND, NEW_CONNECTIONS_BURST_SECONDS)
        self.refuse_unread: Callable[[str, bytes, bytes], bytes | None] = lambda _client, _method, _url: None
        """The response to a client that should wait, given the method and the target of its request."""

    def client_key(self, peer: str) -> str:
        """Who counts as one client; empty for a proxy."""
        return "" if peer in self.proxies else client_of(peer)

    def is_hurried(self, client: str, loop: asyncio.AbstractEventLoop) -> bool:
        """Count a new connection; whether the client opens them too quickly."""
        if not client or not self._rate.wait(client, loop.time()):
            return False
        self._notes["refused: too many new connections", client] += 1
        self._watch(loop)
        return True

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is None:
            self._timer = loop.call_later(SWEEP_SECONDS, self._sweep, loop)

    def add(self, connection: Connection) -> bool:
        """Add a connection; False if there is no room. The longest idle one of the busiest client makes room."""
        own = self._clients.setdefault(connection.client_key, set())
        busiest = own if len(own) >= MAX_CLIENT_CONNECTIONS and connection.client_key else None
        if busiest is None and self.number >= self._maximum:
            busiest = max((each for client, each in self._clients.items() if client), key=len, default=own)
        own.add(connection)
        self.number += 1
        self._watch(connection.loop)
        if busiest is None:
            return True
        waiting = [each for each in busiest if each.state in ("waiting", "head", "idle") and each is not connection]
        if not waiting:
            return False
        self.close(min(waiting, key=lambda each: each.since), "too many connections")
        return True

    def discard(self, connection: Connection) -> None:
        """Forget a connection that has ended."""
        own = self._clients.get(connection.client_key, set())
        if connection in own:
            own.remove(connection)
            self.number -= 1
        if not own:
            self._clients.pop(connection.client_key, None)

    def close(self, connection: Connection, why: str) -> None:
        """Close a connection without waiting for its client; the log will say why."""
        self.note(connection, why)
        self.discard(connection)
        connection.transport.abort()

    def note(self, connection: Connection, why: str) -> None:
        """Have the next sweep log why a connection was closed."""
        self._notes[why, connection.client_key] += 1

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close connections that are late, and write one line about all that were closed since the last sweep."""
        now = loop.time()
        late = [each for own in self._clients.values() for each in own if each.deadline < now]
        if compiling.is_under_way:  # the first questions wait for that
            late = [each for each in late if each.state != "answer"]
        for connection in late:
            if connection.state == "idle" and not connection.transport.get_write_buffer_size():
                self.discard(connection)  # as usual
                connection.transport.abort()
            else:
                self.close(connection, f"too slow: {connection.state}")
        if self._notes:
            reasons, clients = Counter[str](), Counter[str]()
            for (why, client), count in self._notes.items():
                reasons[why] += count
                clients[client] += count
            most = dict(clients.most_common(MAX_LOGGED_CLIENTS))
            self._log.write("closed connections", "warning", why=dict(reasons), clients=most, open=self.number)
            self._notes.clear()
        self._timer = loop.call_later(SWEEP_SECONDS, self._sweep, loop) if self._clients else None


class Door(asyncio.Protocol):
    """The first look at a connection: it is refused, or handed on to a `Connection`."""

    def __init__(self, connections: Connections, **more: Any) -> None:
        self._all, self._more = connections, more

    def connection_made(self, transport: Any) -> None:
        peer = transport.get_extra_info("peername")
        client = self._all.client_key(peer[0]) if peer else ""
        loop = self._more.get("_loop") or asyncio.get_running_loop()
        if self._all.is_hurried(client, loop):
            transport.write(HURRIED_RESPONSE)
            transport.close()
            return
        connection = Connection(self._all, **self._more)
        transport.set_protocol(connection)
        connection.connection_made(transport)


class Connection(HttpToolsProtocol):
    """One connection, with limits."""

    state, deadline, since = "waiting", 0.0, 0.0
    _unread_bytes = 0  # since the last head, part of a body, or end of a request
    _pending = 0  # requests that aren't answered yet
    _lost: asyncio.Future[None] | None = None
    _running: RequestResponseCycle | None = None

    def __init__(self, connections: Connections, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._all = connections
        self.client_key = ""  # empty: a proxy

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        peer = self.client[0] if self.client else ""
        self.client_key = self._all.client_key(peer)
        self._enter("waiting", HEAD_SECONDS)
        if not self._all.add(self):
            self._all.note(self, "refused: too many connections")
            self._send_last(CROWDED_RESPONSE)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.discard(self)
        if self._lost is not None and not self._lost.done():
            self._lost.set_result(None)
        for cycle in (self._running, *(waiting for waiting, _ in self.pipeline)):
            if cycle is not None:  # uvicorn tells only the newest
                cycle.disconnected = True
                cycle.message_event.set()
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    @property
    def lost(self) -> asyncio.Future[None]:
        """Done when the client has gone away."""
        if self._lost is None:
            self._lost = self.loop.create_future()
        return self._lost

    def data_received(self, data: bytes) -> None:
        """Read some bytes; what is neither head nor body yet is counted, whatever it is."""
        while data and not self.transport.is_closing():
            room = MAX_HEAD_BYTES - self._unread_bytes
            part, data = data[:room], data[room:]
            self._unread_bytes += len(part)
            super().data_received(part)
            if self._unread_bytes >= MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("")

    def on_message_begin(self) -> None:
        if self._pending > MAX_PIPELINED_REQUESTS:
            raise ValueError("too many requests at once")  # uvicorn answers with 400
        super().on_message_begin()
        self.scope["connection"] = self  # type: ignore[typeddict-unknown-key]
        if not self._pending:
            self._enter("head", HEAD_SECONDS)

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= MAX_HEADERS:
            raise ValueError("too many headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self.client_key and not self._pending:
            refusal = self._all.refuse_unread(self.client_key, self.parser.get_method(), self.url)
            if refusal is not None:
                self._all.note(self, "refused: asked again too soon")
                self._send_last(refusal)
                raise ValueError("nothing more is read")
        super().on_headers_complete()
        self._pending += 1
        self._unread_bytes = 0
        self._enter("body", BODY_SECONDS)

    def on_body(self, body: bytes) -> None:
        self._unread_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._unread_bytes = 0
        self._enter_next()

    def on_response_complete(self) -> None:
        self._pending -= 1
        super().on_response_complete()
        if self.state != "body":  # its body goes on, whether or not somebody reads it
            self._enter_next()

    def allow(self, seconds: float) -> None:
        """Give the answer to the request at hand this long, from now on."""
        self.deadline = max(self.deadline, self.loop.time() + seconds)

    def _enter_next(self) -> None:
        """The state after a request, or after its answer."""
        self._enter("answer", self._all.answer_seconds) if self._pending else self._enter("idle", IDLE_SECONDS)

    def _enter(self, state: str, seconds: float) -> None:
        self.state, self.since = state, self.loop.time()
        self.deadline = self.since + seconds

    def send_400_response(self, msg: str) -> None:
        """Answer an unreadable request with an error in the usual shape, unless another answer is on its way."""
        if self.transport.is_closing():
            return
        if self._pending:
            self._all.close(self, "unreadable")
            return
        self._all.note(self, "unreadable")
        self._send_last(UNREADABLE_RESPONSE)

    def _send_last(self, response: bytes) -> None:
        self.transport.write(response)
        self.transport.close()
