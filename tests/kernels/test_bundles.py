"""Named tuples are passed whole; nobody counts references to those that only Python makes, nor loses any."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numba.core.errors import NumbaError

from cocite.kernels.jit import kernel
from cocite.kernels.related.neighbourhood import NearPages, merge_pages


def test_arrays_of_a_lent_tuple_are_released() -> None:
    near = NearPages(np.array([1, 2], np.uint32), np.array([1, 1], np.uint32))
    pages = np.array([1, 2, 3], np.uint32)
    before = [sys.getrefcount(array) for array in near]
    for _ in range(3):
        found = merge_pages(near, pages)
    assert [array.tolist() for array in found[:2]] == [[1, 3], [0, 0, 1]]
    assert [sys.getrefcount(array) for array in near] == before


def test_arrays_outlive_the_tuple_that_they_are_taken_from() -> None:
    first = take(NearPages(np.arange(1000, dtype=np.uint32), np.arange(5, dtype=np.uint32)))
    np.full(1000, 7, np.uint32)  # would reuse the memory
    assert first.tolist() == list(range(1000))


@kernel
def take(near):
    return near.page[:]


@kernel
def give_back(near):
    return near


def test_lent_tuples_can_not_be_returned() -> None:
    near = NearPages(np.arange(5, dtype=np.uint32), np.arange(5, dtype=np.uint32))
    with pytest.raises((TypeError, NumbaError), match="can't return a NearPages"):
        give_back(near)
