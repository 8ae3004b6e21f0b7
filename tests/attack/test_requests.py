"""Requests that are odd in themselves."""

from __future__ import annotations

import http.client
import time

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


@pytest.mark.parametrize("path", ["/", "/api/related?url=robin.example", "/study", "/healthz"])
def test_dns_rebinding(target: Target, honest: Honest, path: str) -> None:
    """A name that a stranger makes lead here is refused, also for answers in the cache."""
    status, body = target.get(path, ATTACKER, Host="evil.example:8000", Origin="http://evil.example:8000")
    assert status == 400 and b"UnknownHost" in body


def test_only_proxies_say_who_asks(target: Target) -> None:
    for source in ("127.0.0.1", ATTACKER):
        target.get(f"/api/links?url=robin.example&k={len(source)}", source, **{"X-Forwarded-For": "203.0.113.9"})
    time.sleep(0.5)  # the log is written a few times a second
    asked = {line["client"] for line in target.log if line["event"] == "request" and line["path"] == "/api/links"}
    assert asked == {"203.0.113.9", ATTACKER}
