"""The one order of results, for the first few of many; see neighbourhood/scores.py."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.lists import key_of
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import kernel, lean_inline

SIGNIFICANT_DIGITS = 6


class ScoredPages(NamedTuple):
    """Pages with what orders them. `ties` and `reached` may be empty."""

    pages: NDArray[np.uint32]
    values: NDArray[np.float64]
    ties: NDArray[np.float64]
    reached: NDArray[np.int32]  # query pages
    in_degree: NDArray[np.uint32]  # of every page
    order: NDArray[np.uint64]  # of the pages that layers have added, see codec/lists.py


@lean_inline
def rounded(value):
    """A value to six significant digits, as `scores.six_digits` rounds arrays; a count has no more of them."""
    if 0.0 <= value < 10.0**SIGNIFICANT_DIGITS and value == np.floor(value):
        return value
    power = 10.0 ** (SIGNIFICANT_DIGITS - 1 - np.floor(np.log10(abs(value))))
    return np.rint(value * power) / power if np.isfinite(power) else 0.0


@lean_inline
def comes_before(scored, i, j):
    """Whether place i comes before place j: by query pages reached, value, tie, in-degree, address."""
    if len(scored.reached) > 0 and scored.reached[i] != scored.reached[j]:
        return scored.reached[i] > scored.reached[j]
    if scored.values[i] != scored.values[j]:
        return scored.values[i] > scored.values[j]
    if len(scored.ties) > 0 and scored.ties[i] != scored.ties[j]:
        return scored.ties[i] > scored.ties[j]
    one, other = scored.pages[i], scored.pages[j]
    if scored.in_degree[one] != scored.in_degree[other]:
        return scored.in_degree[one] > scored.in_degree[other]
    total = len(scored.in_degree)
    return key_of(scored.order, total, one) < key_of(scored.order, total, other)


@kernel
def sift_down(heap, size, at, scored):
    """Restore a heap with the last of its places on top."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and comes_before(scored, heap[child], heap[child + 1]):
            child += 1
        if comes_before(scored, heap[child], heap[at]):
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@kernel
def best_first(scored, never, least, first):
    """The places of the `first` best pages of at least the value `least`, without pages of `never`, which ascends."""
    pages, values, ties, reached, in_degree, order = scored
    first = min(first, len(pages))
    heap, size = np.empty(first, np.int64), np.int64(0)
    short = ScoredPages(pages, np.empty(len(values)), np.empty(len(ties)), reached, in_degree, order)
    for i in range(len(pages) if first > 0 else 0):
        if not values[i] >= least:
            continue
        if size == first and len(reached) == 0 and values[i] < short.values[heap[0]] * 0.99999:
            continue  # surely after all of them
        if find_position(never, pages[i]) >= 0:
            continue
        short.values[i] = rounded(values[i])
        if len(ties) > 0:
            short.ties[i] = rounded(ties[i])
        if size < first:
            heap[size] = i
            size += 1
            for at in range(size // 2 - 1 if size == first else -1, -1, -1):
                sift_down(heap, size, at, short)
        elif comes_before(short, i, heap[0]):
            heap[0] = i
            sift_down(heap, size, np.int64(0), short)
    for at in range(size // 2 - 1 if size < first else -1, -1, -1):
        sift_down(heap, size, at, short)
    for end in range(size - 1, 0, -1):
        heap[0], heap[end] = heap[end], heap[0]
        sift_down(heap, end, np.int64(0), short)
    return heap[:size]
