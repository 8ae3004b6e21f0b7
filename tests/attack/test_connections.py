"""Connections that do nothing, go on forever, or come in hundreds."""

from __future__ import annotations

import socket
import time
from contextlib import suppress

import pytest

from cocite.serving.connections import BODY_SECONDS, HEAD_SECONDS, IDLE_SECONDS, MAX_CLIENT_CONNECTIONS, MAX_HEAD_BYTES
from tests.attack.conftest import ATTACKER, Honest, Target, read_all
from tests.conftest import long

pytestmark = long
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /api/related HTTP/1.1\r\nHost: localhost\r\n"
STALLS = {
    "nothing at all": (b"", HEAD_SECONDS),
    "half a head": (GET, HEAD_SECONDS),
    "a request and one extra line end": (GET + b"\r\n\r\n", IDLE_SECONDS),
    "a body that never comes": (POST + b"Content-Length: 10\r\n\r\n", BODY_SECONDS),
    "a body to a route that reads none": (GET + b"Content-Length: 10\r\n\r\n", BODY_SECONDS),
    "a chunk that never ends": (POST + b"Transfer-Encoding: chunked\r\n\r\nffff\r\nx", BODY_SECONDS),
    "a second request that never ends": (GET + b"\r\n" + GET, IDLE_SECONDS),
}
TRICKLES = {
    "line ends between requests": (GET + b"\r\n", b"\r\n", IDLE_SECONDS),
    "a header, byte by byte": (GET + b"X: ", b"x", HEAD_SECONDS),
    "a body, byte by byte": (POST + b"Content-Length: 99999\r\n\r\n", b"x", BODY_SECONDS),
    "bytes of no request": (b"", b"\r\n", HEAD_SECONDS),
}


@pytest.mark.parametrize("name", STALLS)
def test_919_stalled_connections(target: Target, honest: Honest, name: str) -> None:
    """The limit per client holds back most; what remains is closed in time, and the log says so."""
    start, seconds = STALLS[name]
    before = len(target.log)
    opened: list[socket.socket] = []
    for _ in range(919):
        connection = target.connect()
        opened.append(connection)
        with suppress(OSError):  # refused already
            connection.sendall(start)
    closed = target.wait_for_closed(before)
    assert closed["clients"][ATTACKER] > 0 and closed["open"] <= MAX_CLIENT_CONNECTIONS + 10
    until = time.monotonic() + seconds + 5
    for connection in opened:
        connection.settimeout(max(0.1, until - time.monotonic()))
        read_all(connection)  # a time-out fails
        connection.close()


@pytest.mark.parametrize("name", TRICKLES)
def test_a_trickle_does_not_keep_a_connection(target: Target, honest: Honest, name: str) -> None:
    start, more, seconds = TRICKLES[name]
    began = time.monotonic()
    with target.connect() as connection:
        connection.sendall(start)
        connection.settimeout(0.5)
        try:
            while time.monotonic() - began < seconds + 10:
                connection.sendall(more)
                try:
                    if not connection.recv(1 << 16):
                        break
                except TimeoutError:
                    pass
            else:
                raise AssertionError("it was kept")
        except (ConnectionResetError, BrokenPipeError):
            pass


@pytest.mark.parametrize(
    "start",
    [b"GET /?", GET + b"X: ", GET + b"X", b"\r\n" * 10, POST + b"Transfer-Encoding: chunked\r\n\r\n1;",
     POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", GET + b"\r\nGET /?"],
)  # fmt: skip
def test_an_endless_line(target: Target, honest: Honest, start: bytes) -> None:
    """Refused after 80 kB, whatever the line belongs to."""
    logged, before, sent = len(target.log), target.memory, 0
    with target.connect() as connection:
        try:
            connection.sendall(start)
            while sent < 60 << 20:
                connection.sendall((b"\r\n" if start.startswith(b"\r") else b"xx") * 500)
                sent += 1000
        except OSError:
            pass
    assert sent < 60 << 20
    assert target.memory - before < 30 << 20
    target.wait_for_closed(logged, "unreadable")


def test_a_head_of_less_than_80_kb_is_answered(target: Target) -> None:
    head = GET + b"Connection: close\r\nX: "
    head += b"x" * (MAX_HEAD_BYTES - 5 - len(head)) + b"\r\n\r\n"
    assert len(head) == MAX_HEAD_BYTES - 1
    assert target.ask(head).startswith(b"HTTP/1.1 200")


def test_thousands_of_pipelined_requests(target: Target, honest: Honest) -> None:
    logged = len(target.log)
    for _ in range(20):
        with suppress(OSError):
            target.ask((GET + b"\r\n") * 10_000)
    target.wait_for_closed(logged, "unreadable")


def test_a_few_pipelined_requests_are_answered(target: Target) -> None:
    found = target.ask((GET + b"\r\n") * 9 + GET + b"Connection: close\r\n\r\n")
    assert found.count(b"HTTP/1.1 200") == 10


def test_a_client_that_never_reads(target: Target, honest: Honest) -> None:
    """Answers that nobody reads are dropped at the time limit."""
    before, opened = len(target.log), []
    for _ in range(20):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.bind((ATTACKER, 0))
        connection.connect(target.place)
        opened.append(connection)
    for _ in range(8):  # more than the system itself keeps for a slow reader
        for connection in opened:
            with suppress(OSError):
                connection.send(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 10)
        time.sleep(1)
    target.wait_for_closed(before, "too slow")
    assert not [line for line in target.log if line["event"] == "fault"]
    for connection in opened:
        connection.close()
