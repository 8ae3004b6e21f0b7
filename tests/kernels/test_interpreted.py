"""Workload links are worked on without compiling: with the bytes and the answers of compiled kernels."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from cocite.kernels.interpreted import (
    SMALL_ITEMS,
    Threads,
    Workload,
    as_python,
    expect,
    expecting,
    interpreting,
    is_active,
)
from cocite.kernels.jit import kernel
from tests.conftest import ROOT


@kernel
def narrow_sums(small, words):
    """What overflows in NumPy, but not in compiled code; and what wraps around in both."""
    total = small[0] + small[1]
    shifted = small[0] << 20
    words[0] = words[0] * words[1] + words[2]
    below = np.uint32(small[2] - small[3])
    small[0] = small[0] + 1
    halves = small / 2
    small += np.uint8(1)
    infinite, other = 1.0 / (small[2] - small[2]), 1.0 / (halves[2] - halves[2])
    return total, shifted, below, infinite, other, np.int8(total), np.float64(small[1]) / 3, small.astype(np.uint64)[0]


def test_numbers_are_those_of_compiled_code() -> None:
    def arrays() -> tuple[np.ndarray, np.ndarray]:
        return np.array([255, 200, 1, 2], np.uint8), np.array([1 << 63, 3, 5], np.uint64)

    one, other = arrays(), arrays()
    assert as_python(narrow_sums)(*one) == narrow_sums(*other)
    assert narrow_sums(*arrays())[:4] == (455, 255 << 20, 0xFFFFFFFF, math.inf)
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert type(one[0]) is np.ndarray


def test_many_links_are_compiled() -> None:
    assert not is_active()
    with interpreting():
        expect(SMALL_ITEMS)
        assert is_active()
        with expecting(SMALL_ITEMS + 1):
            assert not is_active()
        assert is_active()
        expect(questions=1_000)
        assert not is_active()
        expect(1)
        assert not is_active()
    with expecting(1):
        assert not is_active()


def test_many_questions_are_compiled() -> None:
    workload = Workload(SMALL_ITEMS - 300)
    workload.count_question()
    assert workload.is_small
    workload.count_question()
    assert not workload.is_small


def test_threads_do_as_whoever_gives_them_work() -> None:
    with Threads(2) as threads:
        with interpreting():
            assert threads.submit(is_active).result() and list(threads.map(lambda _: is_active(), "ab")) == [True] * 2
        assert not threads.submit(is_active).result()


def test_stores_and_answers_are_those_of_compiled_kernels(place: Path) -> None:
    """The arrays of three stores byte by byte, and the answers and reasons of all methods that don't compile."""
    command = [sys.executable, "-m", "tests.kernels.interpreting", str(place)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(place / "empty")}
    with (
        subprocess.Popen([*command, "few"], cwd=ROOT, env=environment, stdout=subprocess.PIPE) as few,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as many,
    ):
        told, compiled = json.loads(few.communicate()[0]), json.loads(many.communicate()[0])["found"]
    assert told["compiled"] == []
    differing = [name for name, each in compiled.items() if told["found"][name] != each]
    assert not differing, [(name, compiled[name][:500], told["found"][name][:500]) for name in differing[:3]]
    assert sum(each not in ("nothing", "[]") for each in compiled.values()) > 50
