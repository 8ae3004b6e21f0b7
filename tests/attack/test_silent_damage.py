"""Damage that decodes: opening a store finds it in small arrays, and a server finds it anywhere, soon."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cocite.errors import BadStore
from cocite.graph import arrays
from cocite.graph.check import check
from cocite.graph.generation import read_current, read_layer_manifest, read_pointer
from cocite.graph.store import Graph
from cocite.http import watcher
from cocite.mcp import server
from tests.http.conftest import Asking
from tests.http.test_store import RELATED, add_eagle


@pytest.fixture
def unverified(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Opening a store verifies no array, as if all were large; verifying doesn't sleep."""
    monkeypatch.setattr(arrays, "VERIFIED_BYTES", 0)
    monkeypatch.setattr(watcher, "VERIFY_PAUSE", 0.0)
    yield


def flip(file: Path, at: int | None = None) -> None:
    """Change one bit in place, as a disk does: whoever has the file mapped sees it."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2 if at is None else at] ^= 1
    with file.open("r+b") as opened:
        opened.write(data)


def test_opening_verifies_small_arrays(own: Path) -> None:
    flip(read_current(own)[0] / "out.degree.bin")
    with pytest.raises(BadStore, match=r"cocite check.*out\.degree doesn't match its checksum"):
        Graph(own)
    assert [fault.where for fault in check(own)] == ["out.degree"]


def test_small_arrays_are_the_smallest(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph(own)
    monkeypatch.setattr(arrays, "VERIFIED_BYTES", 600)
    chosen = arrays.small_arrays(graph.arrays)
    assert sum(values.nbytes for values in chosen.values()) <= 600
    others = [values.nbytes for name, values in graph.arrays.items() if name not in chosen]
    assert max(values.nbytes for values in chosen.values()) <= min(others)


@pytest.mark.usefixtures("unverified")
def test_a_server_refuses_when_an_array_is_damaged(own: Path) -> None:
    asking = Asking(own)
    assert asking.get(RELATED).status == 200
    asking.run(asking.service.watcher.verify())
    assert asking.get("/healthz").json["status"] == "ok"
    flip(read_current(own)[0] / "shown.data.bin")
    assert asking.get(RELATED).status == 200  # nobody has looked yet
    asking.run(asking.service.watcher.verify())
    for path in (RELATED, "/healthz"):
        answer = asking.get(path)
        assert answer.status == 503
        assert answer.json["error"]["kind"] == "BadStore"
        assert "shown.data" in answer.json["error"]["message"]
        assert "cocite check" in answer.json["error"]["hint"]
    assert [line["files"] for line in asking.log if line["event"] == "damaged"] == [["shown.data"]]
    asking.close()


@pytest.mark.usefixtures("unverified")
def test_damaged_side_data_is_closed(own: Path) -> None:
    asking = Asking(own)
    assert asking.get("/api/search?q=robin").status == 200
    flip(next((own / "side").glob("search-*/*.store")))
    asking.run(asking.service.watcher.verify())
    health = asking.get("/healthz")
    assert (health.status, health.json["status"], health.json["damaged"]) == (200, "degraded", ["side/search"])
    refused = asking.get("/api/search?q=robin")
    assert (refused.status, refused.json["error"]["kind"]) == (503, "BadStore")
    assert asking.get(RELATED).status == 200
    asking.close()


@pytest.mark.usefixtures("unverified")
def test_a_damaged_new_generation_does_not_replace_a_good_one(own: Path) -> None:
    asking = Asking(own)
    before = asking.get(RELATED).json["answers"]
    add_eagle(own)
    _, _, [layer] = read_pointer(own)
    flip(own / layer.file, int(read_layer_manifest(own, layer)["arrays"]["in.words"]["offset"]))
    asking.run(asking.service.watcher.reload())
    assert asking.get(RELATED).json["answers"] == before
    health = asking.get("/healthz")
    assert (health.status, health.json["status"]) == (200, "degraded")
    assert health.json["rejected"] == read_current(own)[1]["id"]
    assert [line["event"] for line in asking.log if line["event"] == "reload failed"]
    asking.close()


@pytest.mark.usefixtures("unverified")
def test_what_a_new_state_shares_with_the_old_one_is_verified_slowly(own: Path) -> None:
    """Commits follow each other closely, so a base isn't read again before each switch, but after it."""
    asking = Asking(own)
    assert asking.get(RELATED).status == 200
    add_eagle(own)
    flip(read_current(own)[0] / "shown.data.bin")

    async def switched() -> None:
        await asking.service.watcher.reload()
        assert asking.service.watcher.damage == []
        assert asking.service.watcher._verifying is not None
        await asking.service.watcher._verifying

    asking.run(switched())
    assert asking.get(RELATED).status == 503
    assert [line["files"] for line in asking.log if line["event"] == "damaged"] == [["shown.data"]]
    asking.close()


@pytest.mark.usefixtures("unverified")
def test_assistants_are_refused_when_an_array_is_damaged(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "VERIFY_PAUSE", 0.0)
    flip(read_current(own)[0] / "shown.data.bin")
    store = server.CurrentStore(own)
    until = time.monotonic() + 60
    with pytest.raises(BadStore, match=r"shown\.data.*does not match its checksum: run cocite check"):
        while time.monotonic() < until:
            store.ask(lambda web: web.graph.pages)
            time.sleep(0.05)
