"""Processes that work for this one end with it, whatever they are doing."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

CLOSED_EARLY = """
import time
from contextlib import closing
from cocite.processes import in_processes
if __name__ == "__main__":
    for turn in range(4):
        with closing(in_processes(bytes, [48 << 20] * 6, 2)) as results:
            next(results)
            time.sleep(turn / 50)
    print("ended")
"""


def test_results_that_are_being_sent_do_not_delay_the_end() -> None:
    """Of a result that a process sent in part, the pool would wait for the rest forever."""
    done = subprocess.run([sys.executable, "-c", CLOSED_EARLY], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


WITHOUT_PANDAS = """
import sys
import pyarrow as pa
from cocite.processes import WithoutPandas
WithoutPandas.install()
print(pa.array(["a", None]).to_pylist(), "pandas" in sys.modules)
"""


def test_pyarrow_finds_no_pandas_in_programs_of_our_own() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_PANDAS], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert (done.stdout, done.stderr) == ("['a', None] False\n", "")
