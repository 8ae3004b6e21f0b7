"""Workload links are worked on without compiling: with the bytes and the answers of compiled kernels."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from cocite.graph.build.passes import BuildOptions, build
from cocite.kernels import interpreted
from cocite.kernels.addresses.hashes import hash_all
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
from cocite.kernels.related.blend import sum_of
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
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


@kernel
def real_numbers(values, words):
    """What NumPy and compiled code round differently, and other numbers."""
    logs = np.empty(len(values))
    for i in range(len(values)):
        logs[i] = np.log(values[i]) + np.log10(values[i])
    return sum_of(values), logs, np.log(-values[0]), words[0], values[0] > 0.0


def test_real_numbers_are_those_of_compiled_code() -> None:
    dice = np.random.default_rng(1)
    values, words = dice.random(3_000) * 10 + 1e-3, np.array([1 << 63], np.uint64)
    one, other = as_python(real_numbers)(values, words), real_numbers(values, words)
    assert np.array_equal(one[1], other[1])
    assert repr((one[0], *one[2:])) == repr((other[0], *other[2:])), "of the same types, as JSON needs them"


@kernel
def as_integer(value):
    return np.int64(value)


def test_infinity_as_an_integer_is_no_error() -> None:
    """A damaged store may have it. Which integer it is depends on the processor."""
    assert [type(as_python(as_integer)(value)) for value in (math.inf, -math.inf, math.nan)] == [int] * 3


def test_no_thread_sees_half_of_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one thread makes the functions of a module, others want them."""
    convert = interpreted._converted

    def converted(value: object) -> object:
        time.sleep(0)  # lets others go first
        return convert(value)

    def hashes(_: int) -> list[int]:
        first, second = np.empty(2, np.uint64), np.empty(2, np.uint64)
        as_python(hash_all)(np.arange(40, dtype=np.uint8), np.array([0, 9, 40]), np.ones(2, np.uint64), first, second)
        return [*first.tolist(), *second.tolist()]

    expected = hashes(0)
    monkeypatch.setattr(interpreted, "_converted", converted)
    for _ in range(10):
        interpreted._functions.clear()
        interpreted._names.clear()
        with ThreadPoolExecutor(4) as pool:
            assert all(found == expected for found in pool.map(hashes, range(4)))


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


def test_links_of_an_edge_list_count_once(place: Path) -> None:
    """It has a record for each link."""
    edges, workload = place / "edges.tsv", Workload()
    edges.write_text("".join(f"a{n % 7}\tb{n}\n" for n in range(200)))
    with interpreting(workload):
        build([open_source(str(edges), ReadReport())], place / "web", ReadReport(), BuildOptions())
    assert workload.items == 200


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
