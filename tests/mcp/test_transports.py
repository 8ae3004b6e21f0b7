"""`cocite mcp` as a process, asked by the SDK's own client: standard input and output, and HTTP."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from mcp.client.stdio import stdio_client

from cocite.serving.connections import MAX_CLIENT_CONNECTIONS, MAX_HEAD_BYTES
from mcp import StdioServerParameters
from tests.cli.conftest import run
from tests.mcp.conftest import calls, text
from tests.mcp.test_server import ROBIN, WREN

COMMAND = ["-c", "from cocite.cli import main; main()", "mcp"]
RELATED = ("related_pages", {"urls": [ROBIN], "method": "cocitation"})
HELLO = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
    b'"capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}}}\n'
)
UNKNOWN = ("links", {"url": "robin.exampel"})


def test_by_standard_input_and_output(birds: Path) -> None:
    started = StdioServerParameters(command=sys.executable, args=[*COMMAND, "-i", str(birds)], env=dict(os.environ))
    found, unknown = calls(stdio_client(started), RELATED, UNKNOWN)
    assert not found.is_error and WREN in text(found)
    assert unknown.is_error and ROBIN in text(unknown)


@pytest.fixture(scope="module")
def address(birds: Path) -> Iterator[str]:
    """A server by HTTP, from when it listens until it has ended."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "--port", str(port), "-i", str(birds)], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        assert f"http://127.0.0.1:{port}/mcp" in process.stderr.readline()
        yield f"http://127.0.0.1:{port}/mcp"
        process.terminate()
        assert process.wait(20) in (0, -15)
    finally:
        process.kill()
        process.wait()


def test_by_http(address: str) -> None:
    found, unknown = calls(address, RELATED, UNKNOWN)
    assert not found.is_error and WREN in text(found)
    assert unknown.is_error and ROBIN in text(unknown)


def post(address: str, body: bytes = b"{}", **headers: str) -> int:
    """The status of a request made by hand."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(address, body, {"content-type": "application/json", **names})
    for _ in range(100):
        try:
            with urllib.request.urlopen(request, timeout=10) as reply:
                return int(reply.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            time.sleep(0.1)
    raise AssertionError("it does not answer")


def test_web_pages_cannot_ask_through_a_browser(address: str) -> None:
    assert post(address, host="evil.example") == 421
    assert post(address, origin="https://evil.example") == 403
    assert post(address, b"x" * (1 << 21)) == 413


def test_a_missing_package_is_reported(birds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.setitem(sys.modules, "mcp", None)
    ran = run("mcp", "-i", birds)
    assert ran.code == 2 and "cocite mcp needs mcp" in ran.err and "pip install 'cocite[mcp]'" in ran.err


def test_ctrl_c_ends_it(birds: Path) -> None:
    command = [sys.executable, *COMMAND, "-i", str(birds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(HELLO)
        process.stdin.flush()
        assert b"cocite" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130  # though standard input is still open


def test_wrong_usage_is_reported_in_one_line(birds: Path, place: Path) -> None:
    for args, words in (
        (["-i", birds, "--port", "9000"], "--host, --port and --name need --http"),
        (["-i", birds, "--http", "--host", "0.0.0.0"], "--name"),
        (["-i", place / "none.cocite"], "none.cocite"),
    ):
        ran = run("mcp", *args)
        assert ran.code == 2 and words in ran.err and len(ran.err.splitlines()) == 1


def test_connections_have_the_limits_of_the_other_server(address: str) -> None:
    """An endless line is refused, a client has so many connections, and only POST is answered."""
    place = address.removeprefix("http://").removesuffix("/mcp").split(":")

    def connect() -> socket.socket:
        return socket.create_connection((place[0], int(place[1])), 30)

    assert post(address) != 0  # it listens
    with connect() as endless:
        sent = 0
        with suppress(OSError):
            endless.sendall(b"POST /mcp HTTP/1.1\r\nX: ")
            while sent < 200 * MAX_HEAD_BYTES:
                endless.sendall(b"x" * 1000)
                sent += 1000
        assert sent < 200 * MAX_HEAD_BYTES
    with connect() as asked:
        asked.sendall(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        assert asked.recv(1 << 16).startswith(b"HTTP/1.1 405")
    opened = [connect() for _ in range(MAX_CLIENT_CONNECTIONS + 20)]
    try:
        found, _ = calls(address, RELATED, UNKNOWN)
        assert not found.is_error and WREN in text(found)
        with selectors.DefaultSelector() as watched:  # select() takes no descriptors from 1,024 on
            for each in opened:
                watched.register(each, selectors.EVENT_READ)
            assert watched.select(20), "the oldest are closed"
    finally:
        for each in opened:
            each.close()
