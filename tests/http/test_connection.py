"""Heads of requests that are too long, or never end."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn

from cocite.http import run
from cocite.http.run import MAX_HEAD_BYTES, LimitedConnection


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Says hello."""
    headers = [(b"content-length", b"5")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"hello"})


def served(talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]]) -> bytes:
    """Talk with a server over one connection."""

    async def both() -> bytes:
        config = uvicorn.Config(application, http=LimitedConnection, lifespan="off", log_config=None, port=0)
        server = uvicorn.Server(config)
        config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup()
        port = server.servers[0].sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            return await asyncio.wait_for(talk(reader, writer), 20)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            await server.shutdown()

    return asyncio.run(both())


def test_ordinary_requests_over_one_connection() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        found = b""
        for _ in range(3):
            writer.write(b"GET /" + b"x" * 5000 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
            found += (await reader.readuntil(b"\r\n\r\n"))[:12] + await reader.readexactly(5)
        return found

    assert served(talk) == b"HTTP/1.1 200hello" * 3


@pytest.mark.parametrize("start", [b"GET /?", b"GET / HTTP/1.1\r\nA: ", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 30_000])
def test_an_endless_head_is_refused(start: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        with contextlib.suppress(OSError):
            writer.write(start)
            for _ in range(3 * MAX_HEAD_BYTES // 1000):
                writer.write(b"x" * 1000)
                await writer.drain()
            writer.write(b" HTTP/1.1\r\n\r\n")
        try:
            return (await reader.read()) or b"closed"
        except OSError:
            return b"closed"

    found = served(talk)
    if found != b"closed":  # the rest of what was sent may have cut the connection before the answer was read
        assert found.startswith(b"HTTP/1.1 400")
        assert json.loads(found.partition(b"\r\n\r\n")[2])["error"]["kind"] == "BadRequest"


def test_an_invalid_request_gets_an_error() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        return await reader.read()

    head, _, body = served(talk).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert set(json.loads(body)["error"]) == {"kind", "message", "hint"}


@pytest.mark.parametrize("start", [b"", b"GET / HTTP/1.1\r\nHost:", b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET"])
def test_a_request_head_that_never_ends_times_out(start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "HEAD_SECONDS", 0.1)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(start)
        return await reader.read()  # until it is closed

    assert served(talk)[:12] in (b"", b"HTTP/1.1 200")
