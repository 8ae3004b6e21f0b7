"""Compiling with two processes instead of one, in the first build on a machine.

Numba compiles one loop at a time, in the order in which a build comes to them. The last of them, which find
near-duplicates, and those of the first look-up take more than half of the time in a small web. So when a build finds
that it has to compile, a second process compiles those, and they are in Numba's cache on disk when the first comes to
them. Nothing depends on it: if it fails, the first process compiles everything itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

COMMAND = [sys.executable, "-m", "cocite.surfaces.cli.prepare"]


@contextmanager
def helper() -> Iterator[Callable[[], list[subprocess.Popen[bytes]]]]:
    """A function that starts the second process, which ends with the context at the latest."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> list[subprocess.Popen[bytes]]:
        if not started and (os.cpu_count() or 1) > 1:
            nowhere = subprocess.DEVNULL
            with suppress(OSError):
                # In a session of its own, so that Ctrl-C reaches it through the first process only.
                started.append(
                    subprocess.Popen(COMMAND, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)
                )
        return started

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            process.wait()


def compile_late() -> None:
    """Call what a build needs last, and a look-up after it, with empty arrays like those of a mapped store."""
    import numpy as np

    from cocite.graph.derive import near_duplicate_pairs
    from cocite.graph.huffman import LONGEST
    from cocite.kernels.lists import Lists, read_one
    from cocite.kernels.look_up import Names, find
    from cocite.kernels.name_codec import LONGEST_KEY

    def mapped(length: int, dtype: str) -> Any:
        array = np.zeros(length, dtype)
        array.flags.writeable = False
        return array

    table = np.zeros(1 << LONGEST, np.uint32)
    lists = Lists(mapped(1, "u8"), mapped(1, "u8"), mapped(2, "u4"), mapped(1, "u4"), table)
    near_duplicate_pairs(lists, lists.degree)
    names = Names(mapped(1, "u8"), mapped(1, "u8"), table, table, mapped(1, "u8"), mapped(3, "u4"), mapped(1, "u4"))
    find(names, mapped(1, "u1"), np.empty(LONGEST_KEY, np.uint8))
    read_one(lists, 0, np.empty(0, np.uint32), np.empty(0, np.uint32))


if __name__ == "__main__":
    compile_late()
