"""Similarities of all pairs of pages of a small web: SimRank and its kin, MatchSim, uncertain links.

One round of SimRank is S ← C·W·S·Wᵀ, where W has a row of weights for each page. With S symmetric that is two products
of a sparse and a dense matrix ("partial sums"), each a sum of whole rows: memory is read in order. Kernels take ranges
of rows, so that threads can share the work; SciPy's product holds the GIL.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.jit import inline, kernel

INFINITE = 1e300


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
def expected_shares(starts, probabilities, outside, points, weights, out):
    """out[k] = p_k · Σ weight · Π (1 - p + p·t) over other links; page b has outside[b] more of mean probability."""
    for b in range(len(starts) - 1):
        first, last = starts[b], starts[b + 1]
        if first == last:
            continue
        mean = 0.0
        for k in range(first, last):
            mean += probabilities[k]
            out[k] = 0.0
        mean /= last - first
        for i in range(len(points)):
            t = points[i]
            product = weights[i] * (1.0 - mean + mean * t) ** outside[b]
            for k in range(first, last):
                product *= 1.0 - probabilities[k] + probabilities[k] * t
            for k in range(first, last):
                out[k] += product / (1.0 - probabilities[k] + probabilities[k] * t)
        for k in range(first, last):
            out[k] *= probabilities[k]


@inline
def max_matching(similar, rows, columns, state):
    """The greatest sum over pairs that use no row or column twice (Kuhn 1955, Hungarian method); rows are fewer."""
    row_prices, column_prices, distance, match, before, used = state
    # By column: the shortest distance so far, the row (from 1 on, 0: none), the column before on the shortest path
    n, m = len(rows), len(columns)
    match[: m + 1] = 0
    column_prices[: m + 1] = 0.0
    row_prices[: n + 1] = 0.0
    for i in range(1, n + 1):
        match[0] = i
        at = np.int64(0)
        distance[: m + 1] = INFINITE
        used[: m + 1] = False
        while match[at] != 0:
            used[at] = True
            row = match[at]
            step, following = INFINITE, np.int64(0)
            for j in range(1, m + 1):
                if used[j]:
                    continue
                cost = -similar[rows[row - 1], columns[j - 1]] - row_prices[row] - column_prices[j]
                if cost < distance[j]:
                    distance[j], before[j] = cost, at
                if distance[j] < step:
                    step, following = distance[j], np.int64(j)
            for j in range(m + 1):
                if used[j]:
                    row_prices[match[j]] += step
                    column_prices[j] -= step
                else:
                    distance[j] -= step
            at = following
        while at != 0:
            match[at] = match[before[at]]
            at = before[at]
    total = 0.0
    for j in range(1, m + 1):
        if match[j] != 0:
            total += similar[rows[match[j] - 1], columns[j - 1]]
    return total


@kernel
def match_parents(starts, links, degree, similar, first, last, out):
    """out[a, b] = W(a, b) / max(degree[a], degree[b]) for b < a and first ≤ a < last; W: matching of their parents."""
    size = np.int64(2)
    for a in range(len(starts) - 1):
        size = max(size, starts[a + 1] - starts[a] + 1)
    prices, integers = np.empty((3, size)), np.zeros((2, size), np.int64)
    state = prices[0], prices[1], prices[2], integers[0], integers[1], np.empty(size, np.bool_)
    for a in range(first, last):
        for b in range(a):
            fewer, more = links[starts[a] : starts[a + 1]], links[starts[b] : starts[b + 1]]
            if len(fewer) > len(more):
                fewer, more = more, fewer
            out[a, b], similar_parents = 0.0, False
            for i in fewer:
                for j in more:
                    similar_parents |= similar[i, j] > 0.0
            if similar_parents:
                out[a, b] = max_matching(similar, fewer, more, state) / max(degree[a], degree[b])
