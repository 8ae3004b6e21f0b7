"""Loops are kept on disk where that is possible, and work where it is not."""

from __future__ import annotations

import subprocess
import sys

NOWHERE = """
from numba.core import caching
for kind in vars(caching).values():
    if isinstance(kind, type) and issubclass(kind, caching.CacheImpl):
        kind._locator_classes = []
import numpy as np
from cocite.kernels import KEPT, plain_addresses
from cocite.kernels.look_up import find_position
print(KEPT, find_position(np.array([3, 5], np.uint32), 5))
"""


def test_a_process_that_may_write_nowhere() -> None:
    done = subprocess.run([sys.executable, "-c", NOWHERE], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "False 1\n"), done.stderr
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in done.stderr


def test_usually_they_are_kept() -> None:
    code = "from cocite.kernels import KEPT; print(KEPT)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
