"""Similarities of all pairs of pages of a small web, a block of rows at a time.

One round of SimRank and similar methods is S ← C·W·S·Wᵀ, where W has a row of weights for each page. With S symmetric
that is two products of a sparse and a dense matrix ("partial sums"), each a sum of whole rows: memory is read in order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.jit import kernel


class SparseRows(NamedTuple):
    """Row a has the numbers weights[k] in the columns links[k], for k in starts[a]:starts[a + 1]."""

    starts: NDArray[np.int64]
    links: NDArray[np.integer]
    weights: NDArray[np.floating]


@kernel
def weigh_rows(matrix, rows, first, last, out):
    """out[a] = Σ weight · rows[i] over the links i of a, for first ≤ a < last."""
    starts, links, weights = matrix
    width = rows.shape[1]
    for a in range(first, last):
        sums = out[a]
        sums[:] = 0.0
        for k in range(starts[a], starts[a + 1]):
            weight, row = weights[k], rows[links[k]]
            for b in range(width):
                sums[b] += weight * row[b]


@kernel
def transpose(rows, first, last, out):
    """out[a, b] = rows[b, a] for first ≤ a < last, in squares that fit the fastest cache."""
    size = rows.shape[0]
    for left in range(first, last, 32):
        for top in range(0, size, 32):
            for a in range(left, min(left + 32, last)):
                for b in range(top, min(top + 32, size)):
                    out[a, b] = rows[b, a]


@kernel
def greatest_pair(rows, first, second):
    """The indices (i, j) of the greatest rows[first[i], second[j]], the first of equal ones; and its value."""
    best, at, other = -1.0, np.int64(-1), np.int64(-1)
    for i in range(len(first)):
        for j in range(len(second)):
            value = rows[first[i], second[j]]
            if value > best:
                best, at, other = value, np.int64(i), np.int64(j)
    return at, other, best
