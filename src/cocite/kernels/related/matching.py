"""The maximum weight matching of two sets of pages by their similarities: the Hungarian method (Kuhn 1955)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.jit import inline, kernel

INFINITE = 1e300


class Space(NamedTuple):
    """Working memory of a matching: one entry more than there are columns."""

    up: NDArray[np.float64]  # prices of rows
    down: NDArray[np.float64]  # prices of columns
    least: NDArray[np.float64]  # shortest distance to each column so far
    match: NDArray[np.int64]  # the row of each column, from 1; 0: none
    way: NDArray[np.int64]  # the column before each on the shortest path
    used: NDArray[np.bool_]


@inline
def max_matching(similar, rows, columns, space):
    """The greatest sum of similar[rows[i], columns[j]] over pairs that use no row and no column twice.

    There are no more rows than columns. Each row in turn finds the shortest path to a free column.
    """
    up, down, least, match, way, used = space
    n, m = len(rows), len(columns)
    for j in range(m + 1):
        match[j] = 0
        down[j] = 0.0
    for i in range(n + 1):
        up[i] = 0.0
    for i in range(1, n + 1):
        match[0] = i
        at = np.int64(0)
        for j in range(m + 1):
            least[j] = INFINITE
            used[j] = False
        while match[at] != 0:
            used[at] = True
            row = match[at]
            step, following = INFINITE, np.int64(0)
            for j in range(1, m + 1):
                if used[j]:
                    continue
                cost = -similar[rows[row - 1], columns[j - 1]] - up[row] - down[j]
                if cost < least[j]:
                    least[j] = cost
                    way[j] = at
                if least[j] < step:
                    step = least[j]
                    following = np.int64(j)
            for j in range(m + 1):
                if used[j]:
                    up[match[j]] += step
                    down[j] -= step
                else:
                    least[j] -= step
            at = following
        while at != 0:
            match[at] = match[way[at]]
            at = way[at]
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
    space = Space(
        np.empty(size), np.empty(size), np.empty(size), np.zeros(size, np.int64), np.zeros(size, np.int64),
        np.empty(size, np.bool_),
    )  # fmt: skip
    for a in range(first, last):
        mine = links[starts[a] : starts[a + 1]]
        for b in range(a):
            others = links[starts[b] : starts[b + 1]]
            out[a, b] = 0.0
            if len(mine) == 0 or len(others) == 0:
                continue
            some = False
            for i in mine:
                for j in others:
                    some |= similar[i, j] > 0.0
            if not some:
                continue
            if len(mine) <= len(others):
                total = max_matching(similar, mine, others, space)
            else:
                total = max_matching(similar, others, mine, space)
            out[a, b] = total / max(degree[a], degree[b])
