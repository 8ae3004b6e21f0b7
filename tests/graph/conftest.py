"""The longest test of stores, begun first: it runs beside the others, in a process of its own."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import BOUNDS_CACHE, ROOT
from tests.graph.damage import rich_web
from tests.graph.webs import THOROUGH, make, tight


class Noise:
    """`tests/graph/damage.py` under way."""

    def __init__(self, folder: Path, checked: bool) -> None:
        with tight():
            make(folder / "whole.cocite", rich_web())
        self.seed = random.randrange(10**9) if THOROUGH else 8
        rounds, self.errors = "20" if THOROUGH else "1", folder / "errors"
        environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(BOUNDS_CACHE)}
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.graph.damage", folder / "whole.cocite", str(self.seed), rounds],
                stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT, env=environment if checked else None,
            )  # fmt: skip

    def result(self) -> str:
        """What it printed, once it has ended."""
        return self.process.communicate()[0]

    def end(self) -> None:
        """Stop it, if it has not ended."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture(scope="session", autouse=True)
def checked_noise(request: pytest.FixtureRequest, fast_root: Path) -> Iterator[Noise | None]:
    """The process with bounds checked: on a machine where nothing is compiled yet, it compiles for long."""
    if not any(item.path.name == "test_noise.py" for item in request.session.items):
        yield None
        return
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        noise = Noise(Path(folder), checked=True)
        yield noise
        noise.end()
