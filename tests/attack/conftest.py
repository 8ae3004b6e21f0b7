"""A server in a process of its own, an honest client beside the attacker, and connections of attackers."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.http.conftest import made, own  # noqa: F401 - fixtures
from tests.http.test_run import Process, serving

HONEST_SECONDS = 5.0
"""An honest client that waits longer than this has noticed the attack."""
ATTACKER = "127.0.0.66"


class Target:
    """A server under attack."""

    def __init__(self, process: Process, log: Path) -> None:
        self.process, self._log = process, log
        host, port = process.address.removeprefix("http://").split(":")
        self.place = host, int(port)

    def connect(self, source: str = ATTACKER, timeout: float = 30.0) -> socket.socket:
        """A connection of an attacker."""
        return socket.create_connection(self.place, timeout, (source, 0))

    def ask(self, raw: bytes, source: str = ATTACKER, timeout: float = 30.0) -> bytes:
        """Send bytes, and read until the server closes."""
        with self.connect(source, timeout) as connection:
            connection.sendall(raw)
            return read_all(connection)

    def get(self, target: str, source: str = "127.0.0.1", timeout: float = 30.0, **headers: str) -> tuple[int, bytes]:
        """Status and body."""
        connection = http.client.HTTPConnection(*self.place, timeout, (source, 0))
        try:
            connection.request("GET", target, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    @property
    def log(self) -> list[dict[str, Any]]:
        """The lines of the log."""
        written = self._log.read_text().rpartition("\n")[0]  # the last line may be half written
        return [json.loads(line) for line in written.splitlines() if line.startswith("{")]

    @property
    def memory(self) -> int:
        """Resident bytes."""
        return int(psutil.Process(self.process.process.pid).memory_info().rss)

    def wait_for_closed(self, since: int, reason: str = "", seconds: float = 60.0) -> dict[str, Any]:
        """The first line after some lines of the log that says why connections of the attacker were closed."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for line in self.log[since:]:
                if line["event"] == "closed connections" and any(why.startswith(reason) for why in line["why"]):
                    return line
            time.sleep(0.1)
        raise AssertionError(f"the log never said {reason!r}")


def read_all(connection: socket.socket) -> bytes:
    """What arrives until the other side closes."""
    found = b""
    try:
        while part := connection.recv(1 << 16):
            found += part
    except ConnectionResetError:
        pass
    return found


@pytest.fixture(scope="session")
def target(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:  # noqa: F811
    """One server for all attacks: what one attack leaves behind, the next would meet."""
    if sys.platform != "linux":
        pytest.skip("attackers come from 127.0.0.66, which only Linux has")
    with serving(made, tmp_path_factory.mktemp("attack"), "--timeout", "5") as (process, log):
        yield Target(process, log)


class Honest(threading.Thread):
    """Asks a few times a second, some of it never asked before; `wrong` is whatever wasn't an answer."""

    def __init__(self, target: Target) -> None:
        super().__init__(daemon=True)
        self._target, self.ending = target, threading.Event()
        self.wrong: list[str] = []
        self.seconds: list[float] = []

    def run(self) -> None:
        asked = 0
        while not self.ending.wait(0.1):
            asked += 1
            for path in ("/healthz", f"/api/related?url=robin.example&k={1 + asked % 100}", "/"):
                began = time.monotonic()
                try:
                    status, body = self._target.get(path, timeout=HONEST_SECONDS)
                except OSError as error:
                    self.wrong.append(f"{path}: {error!r}")
                    continue
                self.seconds.append(time.monotonic() - began)
                if status != 200:
                    self.wrong.append(f"{path}: {status} {body[:200]!r}")


@contextmanager
def honest_client(target: Target) -> Iterator[Honest]:
    """An honest client while something happens; fails if it noticed."""
    client = Honest(target)
    client.start()
    try:
        yield client
        time.sleep(0.3)
    finally:
        client.ending.set()
        client.join(4 * HONEST_SECONDS)
    assert client.wrong == []
    assert client.seconds, "the honest client was never answered"


@pytest.fixture
def honest(target: Target) -> Iterator[Honest]:
    """An honest client during a whole test."""
    with honest_client(target) as client:
        yield client
