"""Ctrl-C while a kernel runs: the command ends at once, with one line."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import NEWS

ENDLESS = """
import sys
import numpy as np
from cocite.cli import main
from cocite.kernels.codec.lists import read_list
from cocite.kernels.jit import kernel
from cocite.operations.pages.related import Related

def read_again_and_again(lists, rounds, room):
    for _ in range(rounds):
        for page in range(len(lists.degree)):
            if read_list(lists, page, room, room[:0]) < 0:
                return -1
    return 0

def run(self, web):
    read, lists, room = kernel(read_again_and_again), web.graph.out, np.empty(1000, np.uint32)
    assert read(lists, 1, room) == 0
    print("running", flush=True)
    read(lists, 1 << 60, room)
    print("not reached", flush=True)

Related.run = run
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_a_running_kernel_stops(store: Path, place: Path) -> None:
    program = place / "endless.py"
    program.write_text(ENDLESS)
    command = [sys.executable, program, "related", NEWS, "-i", store]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stderr
        try:
            assert process.stdout.readline() == "running\n", process.stderr.read()
            time.sleep(0.2)  # inside the kernel, which would run for years
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out, err.splitlines()[-1]) == (130, "", "cocite: Interrupted; nothing was changed")
