"""Kernels are cached on disk where that is possible, and work where it is not."""

from __future__ import annotations

import subprocess
import sys

NOWHERE = """
from numba.core import caching
for kind in vars(caching).values():
    if isinstance(kind, type) and issubclass(kind, caching.CacheImpl):
        kind._locator_classes = []
import numpy as np
from cocite.kernels.jit import CACHED
from cocite.kernels.addresses import plain
from cocite.kernels.codec.look_up import find_position
print(CACHED, find_position(np.array([3, 5], np.uint32), 5))
"""


def test_a_process_that_may_write_nowhere() -> None:
    done = subprocess.run([sys.executable, "-c", NOWHERE], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "False 1\n"), done.stderr
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in done.stderr


def test_kernels_are_usually_cached() -> None:
    code = "from cocite.kernels.jit import CACHED; print(CACHED)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


NUMBERED = """
import os
import cocite.kernels.jit
from numba.core.bytecode import FunctionIdentity
print(FunctionIdentity.from_function(lambda: 0).unique_id, flush=True)
if os.fork() == 0:
    print(FunctionIdentity.from_function(lambda: 0).unique_id, flush=True)
    os._exit(0)
os.wait()
"""


def test_what_processes_compile_has_numbers_of_its_own() -> None:
    """Numba counts from 1 in each: what two have kept, a sort and an argsort, would have one name in a third."""
    command = [sys.executable, "-c", NUMBERED]
    told = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(2)]
    numbers = [int(number) for each in told for number in each]
    assert len(numbers) == 4
    assert min(abs(one - other) for at, one in enumerate(numbers) for other in numbers[:at]) > 10_000
