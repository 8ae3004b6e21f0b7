"""What all tests share: no stale compiled code, Hypothesis profiles, places for data."""

from __future__ import annotations

import gc
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
MANY_FILES = 2000
BOUNDS_CACHE = ROOT / ".pytest_cache" / "bounds-checked"
"""Compiled code with NUMBA_BOUNDSCHECK=1: Numba's cache does not tell it from the other."""


def forget_stale_kernels() -> None:
    """Remove all compiled code if any source is newer than some of it.

    Numba notices when a kernel's own file changes, but not when a function that was inlined into it does.
    """
    sources = [file for folder in ("src/cocite", "bench", "tests") for file in (ROOT / folder).rglob("*.py")]
    kernels = [file for file in sources if re.search(rb"^@(kernel|inline)\b", file.read_bytes(), re.MULTILINE)]
    newest = max(file.stat().st_mtime for file in [*kernels, ROOT / "src/cocite/kernels/jit.py"])
    for folders in ((ROOT / "src" / "cocite", ROOT / "bench", ROOT / "tests"), (BOUNDS_CACHE,)):
        compiled = [file for folder in folders for ending in ("nbi", "nbc") for file in folder.rglob(f"*.{ending}")]
        if compiled and min(file.stat().st_mtime for file in compiled) < newest:
            for file in compiled:
                file.unlink(missing_ok=True)


if "PYTEST_XDIST_WORKER" not in os.environ:  # once, before the processes that run tests
    forget_stale_kernels()

# The default run is the same every time; `HYPOTHESIS_PROFILE=thorough` looks further, and elsewhere each time.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("thorough", settings.get_profile("default"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

long = pytest.mark.skipif(not os.environ.get("COCITE_LONG"), reason="a long trial: make trials")
"""Marks what would take the quarter of an hour that a test run may take; COCITE_LONG=1 has it run."""
LONG_TIMEOUT = 1800  # seconds, with what a trial needs built before it; other tests have those of pyproject.toml


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long trials may take long."""
    for item in items:
        if long.mark in item.iter_markers("skipif") and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LONG_TIMEOUT))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Data that are kept beside the checkout."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"needs data in {folder}")
    return folder


@pytest.fixture(scope="session")
def fast_root() -> Iterator[Path]:
    """A folder in memory where there is one: a build waits for the disk some fifty times, which tests need not."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="cocite-tests-", dir=memory if os.access(memory, os.W_OK) else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def few_open_files() -> Iterator[None]:
    """A store has a file open for each of its arrays, and tests open thousands of stores: what waits in circles of
    references for a collection must not use up all files that a process may have open."""
    yield
    opened = Path("/proc/self/fd")
    if opened.is_dir() and sum(1 for _ in opened.iterdir()) > MANY_FILES:
        gc.enable()
        gc.collect()


@pytest.fixture
def place(fast_root: Path) -> Iterator[Path]:
    """An empty folder of its own for each test."""
    folder = Path(tempfile.mkdtemp(dir=fast_root))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
