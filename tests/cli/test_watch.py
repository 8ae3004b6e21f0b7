"""cocite watch: a saved note is in the store soon, Ctrl-C loses nothing, and the next start goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cocite.graph.store import Graph

BASE = "https://notes.example/"
COMMAND = [sys.executable, "-c", "from cocite.cli import main; main()", "watch"]


def arguments(folder: Path, store: Path, *more: str) -> list[str]:
    return [*COMMAND, str(folder), "--base", BASE, "-o", str(store), "--no-text", *more]


def links(store: Path, name: str) -> list[str]:
    graph = Graph(store)
    targets = graph.links_from(graph.find(BASE + name)).targets
    return [graph.address(int(page)).removeprefix(BASE) for page in targets]


@pytest.fixture
def vault(place: Path) -> Path:
    folder = place / "vault"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n[[b]]")
    (folder / "b.md").write_text("# B\n[[a]] [[c]]")
    return folder


@pytest.mark.timeout(60)
def test_changes_arrive_and_nothing_is_lost(vault: Path, place: Path) -> None:
    store = place / "notes.cocite"
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(arguments(vault, store), stderr=subprocess.PIPE, text=True, env=environment) as watch:
        assert watch.stderr is not None

        def until(part: str) -> str:
            for line in watch.stderr or ():
                if part in line:
                    return line
                assert "Built" in line or "Watching" in line, line
            raise AssertionError(f"ended before {part!r}")

        try:
            until("Watching")
            assert links(store, "b.md") == ["a.md", "c.md"]
            (vault / "c.md").write_text("# C\n[[a]]")
            until("1 page read")
            assert links(store, "c.md") == ["a.md"]
            (vault / "a.md").unlink()
            until("1 gone")
            graph = Graph(store)
            assert graph.array("page.status")[graph.find(f"{BASE}a.md")] == 410
        finally:
            watch.send_signal(signal.SIGINT)
        assert "Stopped; " in until("Stopped")
        assert watch.wait(20) == 0
    (vault / "a.md").write_text("# A again\n[[c]]")
    done = subprocess.run(
        arguments(vault, store, "--once"), capture_output=True, text=True, env=environment, check=True
    )
    assert "1 page read" in done.stderr
    assert links(store, "a.md") == ["c.md"]
    graph = Graph(store)
    assert graph.array("page.status")[graph.find(f"{BASE}a.md")] != 410
    assert json.loads((place / "notes.cocite.watch.json").read_text())["base"] == BASE
    again = subprocess.run(
        arguments(vault, store, "--once"), capture_output=True, text=True, env=environment, check=True
    )
    assert "read" not in again.stderr


def test_wrong_folders(place: Path) -> None:
    for folder, message in ((place / "none", "is not a folder"), (place, "is the folder that is watched")):
        done = subprocess.run(arguments(folder, place), capture_output=True, text=True)
        assert (done.returncode, message in done.stderr) == (2, True)
