"""Requests that are odd in themselves."""

from __future__ import annotations

import http.client

import pytest

from tests.attack.conftest import ATTACKER, Honest, Target
from tests.conftest import long

pytestmark = long
PATHS = ["/", "/healthz", "/docs", "/metrics", "/methods", "/static/cocite.css", "/robots.txt", "/nothing",
         "/api/related?url=robin.example", "/api/related?url=", "/api/nothing", "/openapi.json"]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_head_keeps_the_connection(target: Target, honest: Honest, path: str) -> None:
    """HEAD is GET without a body, and the same connection goes on."""
    connection = http.client.HTTPConnection(*target.place, 20, (ATTACKER, 0))
    for _ in range(3):
        connection.request("GET", path)
        whole = connection.getresponse()
        body = whole.read()
        connection.request("HEAD", path)
        head = connection.getresponse()
        assert head.read() == b""
        assert head.status == whole.status
        assert abs(int(head.headers["content-length"]) - len(body)) < 200 or path == "/metrics"
    connection.close()
    assert not [line for line in target.log if line["event"] == "fault"]
