"""The one order in which answers come, for the first few of many; see neighbourhood/scores.py."""

from __future__ import annotations

import numpy as np

from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import inline, kernel

DIGITS = 5  # after the first


@inline
def shortened(value):
    """A value to six significant digits; `scores.six_digits` is the same of arrays, which a loop need not make."""
    if value == 0.0:
        return 0.0
    power = 10.0 ** (DIGITS - np.floor(np.log10(abs(value))))
    return np.rint(value * power) / power if np.isfinite(power) else 0.0


@inline
def comes_before(i, j, reached, values, ties, degrees, pages):
    """Whether place i comes before place j; `values` and `ties` are of six digits."""
    if len(reached) > 0 and reached[i] != reached[j]:
        return reached[i] > reached[j]
    if values[i] != values[j]:
        return values[i] > values[j]
    if len(ties) > 0 and ties[i] != ties[j]:
        return ties[i] > ties[j]
    if degrees[pages[i]] != degrees[pages[j]]:
        return degrees[pages[i]] > degrees[pages[j]]
    return pages[i] < pages[j]


@kernel
def sink(heap, size, at, reached, values, ties, degrees, pages):
    """Restore a heap with the last of its places on top."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and comes_before(heap[child], heap[child + 1], reached, values, ties, degrees, pages):
            child += 1
        if comes_before(heap[child], heap[at], reached, values, ties, degrees, pages):
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@kernel
def best_first(pages, values, ties, reached, never, degrees, least, first):
    """The places of the `first` best pages, best first: values of `least` at the least, without pages that are `never`,
    which ascend.

    By query pages `reached`, value, `ties` (both to six digits), degree, and number; `ties` and `reached` may be empty.
    """
    first = min(first, len(pages))
    heap, size = np.empty(first, np.int64), np.int64(0)
    short, short_ties = np.empty(len(values)), np.empty(len(ties))
    for i in range(len(pages) if first > 0 else 0):
        value = values[i]
        if not value >= least:
            continue
        if size == first and len(reached) == 0 and value < short[heap[0]] * 0.99999:
            continue  # surely after all of them
        if find_position(never, pages[i]) >= 0:
            continue
        short[i] = shortened(value)
        if len(ties) > 0:
            short_ties[i] = shortened(ties[i])
        if size < first:
            heap[size] = i
            size += 1
            if size == first:
                for at in range(size // 2 - 1, -1, -1):
                    sink(heap, size, at, reached, short, short_ties, degrees, pages)
        elif comes_before(i, heap[0], reached, short, short_ties, degrees, pages):
            heap[0] = i
            sink(heap, size, np.int64(0), reached, short, short_ties, degrees, pages)
    for at in range(size // 2 - 1, -1, -1):
        sink(heap, size, at, reached, short, short_ties, degrees, pages)
    for end in range(size - 1, 0, -1):
        heap[0], heap[end] = heap[end], heap[0]
        sink(heap, end, np.int64(0), reached, short, short_ties, degrees, pages)
    return heap[:size]
