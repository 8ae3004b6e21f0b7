"""Noise in every array of a store, under checksums that fit, never crashes the process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import THOROUGH, long
from tests.graph.damage import layered_web, rich_history, rich_web
from tests.graph.webs import make, tight
from tests.kernel_cache import BOUNDS_CACHE, ROOT

STORES: dict[str, Callable[[Path], object]] = {
    "plain": lambda path: make(path, rich_web()),
    "layers": layered_web,
    "history": lambda path: make(path, rich_history(), history=True),
}


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("checked", [False, pytest.param(True, marks=long)])
def test_noise(place: Path, kind: str, checked: bool) -> None:
    """In a process of its own; with bounds checked, everything is compiled again."""
    with tight():
        STORES[kind](place / "whole.cocite")
    seed, rounds = (random.randrange(10**9), 20) if THOROUGH else (8, 1)
    bounds = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(BOUNDS_CACHE)} if checked else {}
    command = [sys.executable, "-m", "tests.graph.damage", place / "whole.cocite", str(seed), str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **bounds})
    assert done.returncode == 0, f"seed {seed}: {done.stderr[-3000:]}"
    faults = json.loads(done.stdout.splitlines()[-1])
    assert faults == [], f"seed {seed}, {len(faults)} faults: " + "\n".join(faults[:3])
