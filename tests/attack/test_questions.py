"""Questions that take long, and that go round the cache."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from urllib.parse import quote

import pytest

from tests.attack.conftest import ATTACKER, Honest, Target
from tests.conftest import long

pytestmark = long
OTHER_ATTACKER = "127.0.0.67"  # who has not opened 200 connections a moment ago
EXPENSIVE = ["walk(least=1e-6,restart=0.05)", "prank(rounds=40)", "simrank(draws=200000,rounds=40)"]


@pytest.mark.parametrize("method", EXPENSIVE)
def test_expensive_questions_from_one_client(target: Target, honest: Honest, method: str) -> None:
    """Each ends in an answer, in 422 or in 503."""
    found: list[int] = []

    def ask(number: int) -> None:
        path = f"/api/related?url=robin.example&k={number + 1}&method={quote(method)}"
        with suppress(OSError):
            found.append(target.get(path, ATTACKER)[0])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 40 and set(found) <= {200, 422, 503}


def test_clients_that_ask_and_go_away(target: Target, honest: Honest) -> None:
    for number in range(200):
        with target.connect() as connection:
            path = f"/api/related?url=robin.example&k={number + 1}&method={quote(EXPENSIVE[0])}"
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            connection.shutdown(socket.SHUT_WR)
    path = "/api/related?url=robin.example&k=7&method=walk"
    target.process.wait_for(lambda: target.get(path, ATTACKER)[0] == 200)  # their questions leave the queue


def test_60_kb_of_addresses(target: Target, honest: Honest) -> None:
    path = "/api/related?" + "&".join(f"url=https://x{n}.example/" + "a/" * 550 for n in range(50))
    assert len(path) < 1 << 16
    assert {target.get(path + str(n), OTHER_ATTACKER)[0] for n in range(20)} <= {200, 400, 404, 422, 503}
