"""What a kernel calls is a part of it, without machine code of its own, until Python calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

START = """
import numba
import numpy as np
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import kernel
from cocite.kernels.parts import Part
from cocite.kernels.related.neighbourhood import representatives

pages, others, found = np.array([3, 5], np.uint32), np.array([4, 6], np.uint32), np.zeros(2, np.uint32)

def parts():
    return [isinstance(each.entry_point, Part) for each in find_position.overloads.values()]

def call():
    return representatives(pages, others, pages, found), found.tolist()
"""
CALLS = """
print(call(), parts(), find_position(pages, np.uint32(5)), parts(), call())
"""
ANOTHER = """
@numba.njit
def position(pages, page):
    return find_position(pages, page)

print(position(pages, np.uint32(5)), parts(), call())
"""
SHARED_PARTS = """
def ours(n):
    return np.empty(n, np.complex64).size

ours.__module__ = "cocite.kernels.made_up"
print(numba.njit(ours)(3))

@numba.njit
def theirs(n):
    made = np.empty(n, np.complex64)
    made[:] = 2
    return made[0].real

print(theirs(2), numba.njit(lambda n: np.empty(n, np.complex64).size)(4))
"""
UNTRIED = """
import numba
numba.version_info = numba.version_info._replace(short=(0, 1))
"""
COMPILED = """
from cocite.kernels.jit import watch
with watch(print) as compilation:
    print(find_position(pages, np.uint32(5)), parts(), call())
print(compilation.kernels)
"""


def output(code: str, cache: Path, before: str = "") -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", before + START + code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_part_gets_machine_code_when_python_calls_it(tmp_path: Path) -> None:
    assert output(CALLS, tmp_path) == "(2, [4, 6]) [True] 1 [False] (2, [4, 6])\n"


def test_calls_from_functions_of_other_packages(tmp_path: Path) -> None:
    assert output(ANOTHER, tmp_path) == "1 [False] (2, [4, 6])\n"


def test_functions_of_other_packages_share_parts_of_numpy(tmp_path: Path) -> None:
    """`np.empty` of this type is a part of ours, and has parts of its own, before others call it."""
    assert output(SHARED_PARTS, tmp_path) == "3\n2.0 4\n"


def test_only_kernels_that_python_called_are_cached(tmp_path: Path) -> None:
    output(CALLS, tmp_path)
    cached = sorted(file.name.partition("-")[0] for file in tmp_path.rglob("*.nbc"))
    assert cached == ["look_up.find_position", "neighbourhood.representatives"]
    assert output(COMPILED, tmp_path) == "1 [False] (2, [4, 6])\n0\n"


def test_another_version_of_numba_compiles_as_it_does(tmp_path: Path) -> None:
    """Its private names may have another meaning. It gives the same results."""
    assert output(CALLS, tmp_path, UNTRIED) == "(2, [4, 6]) [False] 1 [False] (2, [4, 6])\n"
