"""Host names, read keys, rates, proxies and the port of metrics."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from cocite.cli.tasks.serve import origins
from cocite.errors import BadParameter
from cocite.http.access import BURST_SECONDS, Access, read_keys
from cocite.http.settings import Settings
from cocite.serving import connections
from cocite.serving.connections import Rate
from tests.http.conftest import Asking

KEY, OTHER = "0123456789abcdef", "fedcba9876543210"
STORE = Path("web.cocite")


def refusal(settings: Settings, path: str = "/", port: int = 80, client: str = "192.0.2.1", **headers: str) -> int:
    """The status of a refusal; 0: not refused."""
    given = {name.encode(): value.encode() for name, value in headers.items()}
    found = Access(settings).refusal(path, "GET", given, port, client)
    return found.status if found else 0


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 0), ("localhost:8000", 0), ("LOCALHOST.", 0), ("127.0.0.1:8000", 0), ("[::1]:8000", 0),
        ("192.0.2.7", 0), ("related.example.org", 0), ("Related.Example.org:443", 0),
        ("evil.example", 400), ("localhost.evil.example", 400), ("evil.example:8000", 400), ("", 400),
        ("127.0.0.1.evil.example", 400), ("[evil.example]", 400), ("evil.example/localhost", 400), ("\xff", 400),
    ],
)  # fmt: skip
def test_only_known_host_names_are_answered(host: str, status: int) -> None:
    assert refusal(Settings(STORE, names=("related.example.org",)), host=host) == status
    assert refusal(Settings(STORE, names=("*",)), host=host) == 0


def test_a_rebound_name_is_refused_everywhere(asking: Asking) -> None:
    for path in ("/", "/api/related?url=robin.example", "/healthz", "/study", "/metrics"):
        answer = asking.get(path, host="evil.example:8000")
        assert answer.status == 400
        assert answer.json["error"]["kind"] == "UnknownHost" and "--name" in answer.json["error"]["hint"]
    assert asking.get("/api/related?url=robin.example", host="localhost:8000").status == 200


def test_the_host_is_checked_before_the_cache(asking: Asking) -> None:
    target = "/api/related?url=robin.example&k=3"
    assert asking.get(target).status == 200
    assert asking.get(target, host="evil.example").status == 400


def basic(key: str) -> str:
    return "Basic " + base64.b64encode(f"anybody:{key}".encode()).decode()


def test_a_server_with_keys_answers_only_who_has_one(made: Path, place: Path) -> None:
    (place / "keys").write_text(f"# people\nanna {KEY}\n\n{OTHER}\n")
    server = Asking(made, read_keys=place / "keys")
    try:
        for path in ("/", "/api/store", "/metrics", "/docs", "/nothing"):
            answer = server.get(path)
            assert answer.status == 401 and "Basic" in answer.headers["www-authenticate"]
            assert server.get(path, authorization=f"Bearer {KEY}").status == (404 if path == "/nothing" else 200)
        assert server.get("/", authorization=basic(OTHER)).status == 200
        assert server.get("/healthz").status == 200
        for wrong in ("", "Bearer", "Bearer x", f"Bearer {KEY}x", "Basic !", basic(""), KEY, basic(KEY)[:-3]):
            assert server.get("/api/store", authorization=wrong).status == 401
        assert server.get(f"/api/store?key={KEY}").status == 401, "a key has no place in an address"
        lines = str(server.log)
        assert OTHER not in lines and basic(OTHER) not in lines and f"Bearer {KEY}" not in lines
    finally:
        server.close()


@pytest.mark.parametrize("text", ["", "# only a comment\n", "short\n", f"a b {KEY}\n", "\xff"])
def test_a_file_of_keys_is_checked(text: str, place: Path) -> None:
    (place / "keys").write_bytes(text.encode("latin-1"))
    with pytest.raises(BadParameter):
        read_keys(place / "keys")
    with pytest.raises(BadParameter):
        read_keys(place / "none")


def test_a_client_has_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    rate = Rate(10.0, BURST_SECONDS)
    asked = [rate.wait("a", 100.0) for _ in range(50)]
    assert asked[:40] == [0.0] * 40 and all(0 < wait < 0.11 for wait in asked[41:])
    assert rate.wait("b", 100.0) == 0.0
    assert rate.wait("a", 100.2) == 0.0  # time has passed
    monkeypatch.setattr(connections, "MAX_RATED_CLIENTS", 100)
    for client in range(1000):
        rate.wait(str(client), 200.0)
    assert len(rate._due) <= 101
    slow = Rate(0.1, BURST_SECONDS)
    assert [slow.wait("a", 1.0) > 0 for _ in range(2)] == [False, True]


def test_too_many_requests_are_refused_with_advice(made: Path, place: Path) -> None:
    (place / "keys").write_text(f"{KEY}\n{OTHER}\n")
    server = Asking(made, rate=1.0, read_keys=place / "keys")
    try:
        answers = [server.get("/api/store", authorization=f"Bearer {KEY}") for _ in range(8)]
        assert [each.status for each in answers] == [200] * 4 + [429] * 4
        assert answers[-1].headers["retry-after"] == "1" and answers[-1].json["error"]["kind"] == "TooManyRequests"
        assert server.get("/api/store", authorization=f"Bearer {OTHER}").status == 200, "each key has its own rate"
        assert server.get("/healthz").status == 200
    finally:
        server.close()


def test_metrics_may_have_a_port_of_their_own() -> None:
    settings = Settings(STORE, metrics_port=9000)
    assert refusal(settings, "/metrics", 80) == 404
    assert refusal(settings, "/metrics", 9000) == 0
    assert refusal(settings, "/api/store", 9000) == 404
    assert refusal(settings, "/healthz", 9000) == refusal(settings, "/api/store", 80) == 0
    assert refusal(Settings(STORE), "/metrics", 80) == 0


def test_the_client_behind_a_proxy(made: Path) -> None:
    """uvicorn reads X-Forwarded-For from trusted proxies only; this is what the server tells it."""
    from cocite.http.metrics import SharedCounters
    from cocite.http.run import Server

    server = Server(Settings(made, proxies=("192.0.2.0/24",)), SharedCounters())
    config: Any = server.config
    assert config.proxy_headers and config.forwarded_allow_ips == ["192.0.2.0/24"]


def test_origins_that_may_be_allowed() -> None:
    assert origins(["https://example.org", "app://obsidian.md", "*"]) == (
        "https://example.org",
        "app://obsidian.md",
        "*",
    )
    for wrong in ("example.org", "https://example.org/", "ftp://example.org", "app://x/y"):
        with pytest.raises(BadParameter, match="must be an origin"):
            origins([wrong])


def test_who_should_wait_is_refused_before_the_request_is_read(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Asking(made)
    try:
        known = "/api/related?url=robin.example"
        assert server.get(known).status == 200
        other = known.encode() + b"&k=9"
        assert server.front.refuse_unread("192.0.2.1", b"GET", other) is None
        monkeypatch.setattr(server.service.slow, "must_wait", "192.0.2.1".__eq__)
        assert server.front.refuse_unread("192.0.2.2", b"GET", other) is None
        for cheap in (known, "/healthz", "/static/style.css", "/api/store?"):
            assert server.front.refuse_unread("192.0.2.1", b"GET", cheap.encode()) is None, cheap
        for method, url in ((b"GET", other), (b"POST", known.encode()), (b"GET", b"/"), (b"GET", b"/none")):
            head, _, body = (server.front.refuse_unread("192.0.2.1", method, url) or b"").partition(b"\r\n\r\n")
            lines = head.decode().split("\r\n")
            assert lines[0] == "HTTP/1.1 503 Service Unavailable"
            headers = dict(line.split(": ", 1) for line in lines[1:])
            assert headers["content-length"] == str(len(body)) and headers["connection"] == "close"
            assert headers["retry-after"] == "1" and headers["x-content-type-options"] == "nosniff"
            assert json.loads(body)["error"]["kind"] == "Busy"
    finally:
        server.close()
