"""What all tests share: no stale compiled code, Hypothesis profiles, places for data."""

from __future__ import annotations

import atexit
import gc
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from cocite.kernels import interpreted, jit
from tests.kernel_cache import ROOT as ROOT
from tests.kernel_cache import changed_since, forget_stale_kernels, write_stamp

MANY_FILES = 2000
if os.environ.get("COCITE_INTERPRET"):  # the same tests without compiling: see kernels/interpreted.py
    interpreted.is_active, jit._is_on_disk = lambda: True, lambda *_: False
OPENED = Path("/proc/self/fd")
if "PYTEST_XDIST_WORKER" not in os.environ:  # once, before the processes that run tests
    forget_stale_kernels()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before several processes run all tests, compile every kernel once: else each compiles for itself."""
    stamp, config = ROOT / ".pytest_cache" / "warm", session.config
    some_only = config.args_source == pytest.Config.ArgsSource.ARGS
    if some_only or "PYTEST_XDIST_WORKER" in os.environ or not getattr(config.option, "numprocesses", None):
        return
    if changed_since(stamp):
        print("Compiling all kernels, once: a minute or two", flush=True)
        subprocess.run([sys.executable, "-c", "from cocite.cli import main; main()", "warm", "--quiet"], check=True)
        write_stamp(stamp)


# `make test` tries a few examples of each property, `make trials` as many as the test asks for, always the same ones.
# `HYPOTHESIS_PROFILE=thorough` tries many more, and others each time.
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
RUN_LONG = bool(os.environ.get("COCITE_LONG"))
MAX_EXAMPLES = 1000 if THOROUGH else 50 if RUN_LONG else 12
settings.register_profile(
    "cocite",
    deadline=None,
    derandomize=not THOROUGH,
    max_examples=MAX_EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("cocite")

long, smoke = pytest.mark.long, pytest.mark.smoke
"""`long` marks a test, or a whole file, as too long for `make test`, which takes five minutes. `make trials` sets
COCITE_LONG=1 and runs it. `smoke` marks the tests of such a file that `make test` runs all the same."""
LONG_TIMEOUT = 1800  # seconds; other tests have the timeout of pyproject.toml


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give long tests more time; in a short run, limit the examples of properties that ask for more."""
    for item in items:
        if item.get_closest_marker("long") and not item.get_closest_marker("smoke"):
            item.add_marker(pytest.mark.skipif(not RUN_LONG, reason="long: make trials"))
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(LONG_TIMEOUT))
        function = getattr(item, "function", None)
        own = getattr(function, "_hypothesis_internal_use_settings", None)
        if own is not None and own.max_examples > MAX_EXAMPLES and not RUN_LONG:
            function._hypothesis_internal_use_settings = settings(own, max_examples=MAX_EXAMPLES)


def pytest_collection_finish() -> None:
    """Keep the garbage collector away from what was imported: it would look at all of it again and again."""
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # else libraries report leaks


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


@pytest.fixture(scope="session")
def collect_at() -> list[int]:
    """The number of open files at which garbage is collected."""
    return [0]


@pytest.fixture(autouse=True)
def few_open_files(collect_at: list[int]) -> Iterator[None]:
    """Collect garbage when tests have opened many files: a store keeps one open for each of its arrays.

    Some stores stay open, and a collection can take half a second. So the next one waits for as many new files.
    """
    yield
    if OPENED.is_dir() and len(list(OPENED.iterdir())) > collect_at[0]:
        gc.enable()
        gc.collect()
        opened, (limit, _) = len(list(OPENED.iterdir())), resource.getrlimit(resource.RLIMIT_NOFILE)
        collect_at[0] = opened + min(MANY_FILES, max(0, limit - opened) // 2 if limit > 0 else MANY_FILES)


@pytest.fixture
def place(fast_root: Path) -> Iterator[Path]:
    """An empty folder of its own for each test."""
    folder = Path(tempfile.mkdtemp(dir=fast_root))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
