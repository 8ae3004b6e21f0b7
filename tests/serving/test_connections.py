"""Connections that are too long, too slow, or too many. tests/attack/ has the same against a server of its own."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import uvicorn

from cocite.log import Log
from cocite.serving import connections as module
from cocite.serving.connections import MAX_HEAD_BYTES, Connections, Door, allowed_connections, client_of

GET, POST = b"GET / HTTP/1.1\r\nHost: a\r\n", b"POST / HTTP/1.1\r\nHost: a\r\n"
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]]


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Says hello, or waits for the client to go away."""
    if scope["path"] == "/lost":
        await scope["connection"].lost
    headers = [(b"content-length", b"5")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"hello"})


class Talking:
    """A server, and what it logged."""

    def __init__(self, maximum: int = 100) -> None:
        self._written = io.BytesIO()
        self.connections = Connections(Log(self._written), 1.0, maximum=maximum)
        self.port = 0

    @property
    def reasons(self) -> dict[str, int]:
        """Why connections were closed."""
        lines = [json.loads(line) for line in self._written.getvalue().splitlines()]
        return {why: count for line in lines for why, count in line["why"].items()}

    def run(self, talk: Talk) -> bytes:
        """Talk with the server over one connection."""

        async def both() -> bytes:
            protocol: Any = partial(Door, self.connections)
            config = uvicorn.Config(application, http=protocol, lifespan="off", log_config=None, port=0)
            server = uvicorn.Server(config)
            config.load()
            server.lifespan = config.lifespan_class(config)
            await server.startup()
            self.port = server.servers[0].sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                return await asyncio.wait_for(talk(reader, writer), 20)
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
                for _ in range(200):
                    await asyncio.sleep(0.01)
                    if not self.connections.number and self.connections._timer is None:
                        break
                await server.shutdown()

        found = asyncio.run(both())
        assert self.connections.number == 0, "a connection is still counted"
        return found


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweep often."""
    monkeypatch.setattr(module, "SWEEP_SECONDS", 0.02)


def test_ordinary_requests_over_one_connection() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        found = b""
        for _ in range(3):
            writer.write(b"GET /" + b"x" * 5000 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
            found += (await reader.readuntil(b"\r\n\r\n"))[:12] + await reader.readexactly(5)
        return found

    server = Talking()
    assert server.run(talk) == b"HTTP/1.1 200hello" * 3
    assert server.reasons == {}


def test_a_body_larger_than_a_head_may_be() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(POST + b"Content-Length: 300000\r\n\r\n" + b"x" * 300_000 + GET + b"Connection: close\r\n\r\n")
        return await reader.read()

    assert Talking().run(talk).count(b"HTTP/1.1 200") == 2


ENDLESS = [
    b"GET /?",
    GET + b"A: ",
    GET + b"A",
    GET + b"A: b\r\n" * 30_000,
    b"\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n1;",
    POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nA: ",
    GET + b"\r\n" + GET + b"A: ",
]


@pytest.mark.parametrize("start", ENDLESS)
def test_an_endless_line_is_refused(start: bytes) -> None:
    sent = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        nonlocal sent
        with contextlib.suppress(OSError):
            writer.write(start)
            while sent < 200 * MAX_HEAD_BYTES and not reader.at_eof():
                writer.write((b"\r\n" if start == b"\r\n" else b"xx") * 500)
                sent += 1000
                await writer.drain()
                await asyncio.sleep(0)
        try:
            return await reader.read()
        except OSError:
            return b""

    server = Talking()
    found = server.run(talk)
    assert sent < 200 * MAX_HEAD_BYTES, "it was never refused"
    assert server.reasons == {"unreadable": 1}
    if start == b"GET /?" and found:  # else the rest of what was sent may have cut the connection before
        assert found.startswith(b"HTTP/1.1 400")
        assert json.loads(found.partition(b"\r\n\r\n")[2])["error"]["kind"] == "BadRequest"


def test_an_invalid_request_gets_an_error() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        return await reader.read()

    head, _, body = Talking().run(talk).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert set(json.loads(body)["error"]) == {"kind", "message", "hint"}


STALLS = {
    b"": "too slow: waiting",
    GET: "too slow: head",
    GET + b"\r\n": None,
    GET + b"\r\n\r\n": None,
    GET + b"\r\n" + GET: "too slow: head",
    GET + b"Content-Length: 5\r\n\r\n": "too slow: body",
    POST + b"Content-Length: 5\r\n\r\n": "too slow: body",
    POST + b"Transfer-Encoding: chunked\r\n\r\nffff\r\nx": "too slow: body",
}


@pytest.mark.parametrize("start", STALLS)
def test_every_state_has_a_time_limit(start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "IDLE_SECONDS"):
        monkeypatch.setattr(module, name, 0.1)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(start)
        await writer.drain()
        return await reader.read()  # until it is closed

    server = Talking()
    assert server.run(talk)[:12] in (b"", b"HTTP/1.1 200")
    reason = STALLS[start]
    if start.count(b"GET") == 2:
        assert set(server.reasons) <= {"too slow: head"}  # the first answer may come before or after the second head
    else:
        assert server.reasons == ({reason: 1} if reason else {})


def test_a_trickle_does_not_move_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.1)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(GET + b"\r\n")
        for _ in range(1000):
            writer.write(b"\r\n")
            await asyncio.sleep(0.01)
            if reader.at_eof() or writer.is_closing():
                return b"closed"
        return b"kept"

    assert Talking().run(talk) == b"closed"


def test_an_answer_that_takes_too_long_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(GET.replace(b"/", b"/lost", 1) + b"\r\n")
        return await reader.read()

    server = Talking()
    server.connections.answer_seconds = 0.1
    assert server.run(talk) == b""  # the application waited for the client to go away, and the server cut it
    assert server.reasons == {"too slow: answer": 1}


def test_pipelined_requests_are_bounded() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write((GET + b"\r\n") * 10 + GET + b"Connection: close\r\n\r\n")
        return await reader.read()

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write((GET + b"\r\n") * 5000)
        with contextlib.suppress(OSError):
            return await reader.read()
        return b""

    assert Talking().run(talk).count(b"hello") == 11
    server = Talking()
    assert server.run(flood).count(b"hello") < 5000
    assert server.reasons == {"unreadable": 1}


@pytest.mark.parametrize("mine", [3, 100])
def test_a_client_and_all_together_have_so_many_connections(mine: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest idle connection makes room; if all are busy, the newest is refused."""
    monkeypatch.setattr(module, "MAX_CLIENT_CONNECTIONS", mine)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        more = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(3)]
        assert await reader.read() == b""  # the first
        for _, other in more:
            other.write(GET.replace(b"/", b"/lost", 1) + b"\r\n")
        await asyncio.sleep(0.1)
        busy, last = await asyncio.open_connection("127.0.0.1", server.port)
        found = await busy.read()
        for each in (*(other for _, other in more), last):
            each.close()
        return found

    server = Talking(maximum=1000 if mine == 3 else 3)
    assert server.run(talk).startswith(b"HTTP/1.1 503")
    assert server.reasons == {"too many connections": 1, "refused: too many connections": 1}


def test_a_client_is_an_address_or_a_network() -> None:
    assert client_of("192.0.2.7") == client_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert client_of("2001:db8:1:2::1") == client_of("2001:db8:1:2:ffff::9%eth0") == "2001:db8:1:2::/64"
    assert client_of("2001:db8:1:3::1") != client_of("2001:db8:1:2::1")
    assert client_of("unix") == "unix"


def test_connections_leave_files_for_the_store() -> None:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert 16 <= allowed_connections() <= max(16, module.MAX_CONNECTIONS)
    raised, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert raised == resource.RLIM_INFINITY or raised >= soft


def test_a_client_that_opens_connections_too_quickly_is_refused_at_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = module.Connection.connection_made
    monkeypatch.setattr(
        module.Connection, "connection_made", lambda self, transport: (made.append("one"), real(self, transport))[1]
    )
    server = Talking()
    server.connections._rate = module.Rate(0.5, 10.0)  # five at once

    async def talk(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> bytes:
        found = b""
        for _ in range(8):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            with contextlib.suppress(OSError):
                writer.write(GET + b"Connection: close\r\n\r\n")
                found += (await reader.read())[:12]
            writer.close()
        await asyncio.sleep(0.1)  # a sweep
        return found

    found = server.run(talk)
    assert found.count(b"HTTP/1.1 200") == 4 and len(made) == 5, "the first connection is that of `run`"
    assert server.reasons == {"refused: too many new connections": 4}


def test_proxies_may_open_connections_quickly() -> None:
    connections = Connections(Log(io.BytesIO()), proxies=("10.0.0.1",))
    connections._rate = module.Rate(0.001, 1.0)
    loop = asyncio.new_event_loop()
    assert not any(connections.is_hurried(connections.client_key("10.0.0.1"), loop) for _ in range(9))
    assert [connections.is_hurried(connections.client_key("10.0.0.2"), loop) for _ in range(3)] == [False, True, True]
    loop.close()


def test_who_should_wait_is_refused_before_its_body_is_read() -> None:
    asked: list[tuple[str, bytes, bytes]] = []
    server = Talking()

    def refuse(client: str, method: bytes, url: bytes) -> bytes | None:
        asked.append((client, method, url))
        return b"HTTP/1.1 503 Wait\r\n\r\n" if url == b"/refused?a=b" else None

    server.connections.refuse_unread = refuse

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(GET + b"\r\n")
        first = (await reader.readuntil(b"\r\n\r\n"))[:12] + await reader.readexactly(5)
        writer.write(b"POST /refused?a=b HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx" + GET + b"\r\n")
        return first + await reader.read()

    assert server.run(talk) == b"HTTP/1.1 200helloHTTP/1.1 503 Wait\r\n\r\n"
    assert asked == [("127.0.0.1", b"GET", b"/"), ("127.0.0.1", b"POST", b"/refused?a=b")]
    assert server.reasons == {"refused: asked again too soon": 1}
