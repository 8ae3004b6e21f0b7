"""Clicks on results are recorded where that is switched on: whose, which, and when they count."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from cocite.graph.clicks import open_clicks
from cocite.graph.store import Graph
from cocite.http import recording
from cocite.http.recording import may_record
from tests.http.conftest import Asking

ROBIN, WREN = "https://robin.example/", "https://wren.example/"
OWN = {"origin": "http://localhost", "host": "localhost"}
CLICK = f"/clicked?from={ROBIN}&to={WREN}"


@pytest.fixture
def server(own: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asking]:
    monkeypatch.setattr(recording, "FLUSH_SECONDS", 0.05)
    found = Asking(own, record_clicks=True, timeout=60.0)
    found.client = "127.0.0.1"
    yield found
    found.close()
    Asking(own).close()  # other tests' pages don't record


def test_a_click_counts(own: Path, server: Asking) -> None:
    page = server.get(f"/?url={ROBIN}")
    assert f'data-clicked-from="{ROBIN}"' in page.text
    for _ in range(3):
        reply = server.run(server.ask("POST", CLICK, **OWN))
        assert (reply.status, reply.json) == (200, {"recorded": True})
    server.run(asyncio.sleep(0.05))
    for _ in range(600):
        graph = Graph(own)
        if open_clicks(graph).total:
            break
        server.run(asyncio.sleep(0.1))
    after = open_clicks(graph).after(graph.find(ROBIN))
    assert dict(zip(after.pages.tolist(), after.steps.tolist(), strict=True)) == {graph.find(WREN): 3.0}


@pytest.mark.parametrize("pair", [(ROBIN, ROBIN), (ROBIN, "https://no.example/"), ("", WREN), ("ftp://x", WREN)])
def test_clicks_that_do_not_count(own: Path, server: Asking, pair: tuple[str, str]) -> None:
    reply = server.run(server.ask("POST", f"/clicked?from={pair[0]}&to={pair[1]}", **OWN))
    assert reply.json == {"recorded": False}
    assert not open_clicks(Graph(own)).total


def test_other_web_pages_can_not_click(server: Asking) -> None:
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {}):
        reply = server.run(server.ask("POST", CLICK, **{"host": "localhost", **headers}))
        assert reply.status == 403
    assert server.run(server.ask("POST", f"{CLICK}&client=x", **OWN)).status == 422


def test_whose_clicks_count() -> None:
    own = {b"origin": b"http://localhost:8000", b"host": b"localhost:8000"}
    assert may_record("127.0.0.1", own)
    assert may_record("::1", own | {b"sec-fetch-site": b"same-origin"})
    assert may_record("127.0.0.1", {b"origin": b"http://[::1]:8000", b"host": b"[::1]:8000"})
    assert not may_record("127.0.0.1", own | {b"sec-fetch-site": b"same-site"})
    assert not may_record("192.0.2.1", own)
    assert not may_record("", own)


@pytest.mark.parametrize("host", ["web.example", "127.0.0.1:8000", "[", ""])
def test_behind_a_proxy_that_names_no_client_nobody_is_local(host: str) -> None:
    """A proxy on this machine passes on the name of the site, or its own idea of it."""
    browser = {b"origin": b"https://web.example", b"sec-fetch-site": b"same-origin"}
    assert not may_record("127.0.0.1", browser | {b"host": host.encode()})


def test_it_is_off_unless_switched_on(asking: Asking) -> None:
    assert asking.run(asking.ask("POST", CLICK, **OWN)).status in (404, 405)
    assert "data-clicked-from" not in asking.get(f"/?url={ROBIN}").text


def test_the_same_click_later_counts_again(own: Path, server: Asking) -> None:
    for total in (1, 2):
        server.run(server.ask("POST", CLICK, **OWN))
        for _ in range(600):
            server.run(asyncio.sleep(0.1))
            if open_clicks(Graph(own)).total == total:
                break
        assert open_clicks(Graph(own)).total == total
