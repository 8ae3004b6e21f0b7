"""The heaviest matching of two sets of pages by their similarities, by the Hungarian method (Kuhn 1955)."""

from __future__ import annotations

import numpy as np

from cocite.kernels.jit import inline, kernel

FAR = 1e300


@inline
def heaviest(similar, rows, columns, up, down, match, way, least, used):
    """The greatest sum of similar[rows[i], columns[j]] over pairs that use no row and no column twice.

    There are no more rows than columns. Prices are kept for both; each row in turn finds the shortest way to a free
    column. The arrays have room for the columns and one more.
    """
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
            least[j] = FAR
            used[j] = False
        while match[at] != 0:
            used[at] = True
            row = match[at]
            step, following = FAR, np.int64(0)
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
    """out[a, b] for b < a, a from `first` to `last`: the heaviest matching of the parents of two pages, as a share.

    It is a share of the larger number of parents, `degree`.
    """
    most = np.int64(1)
    for a in range(len(starts) - 1):
        most = max(most, starts[a + 1] - starts[a])
    up, down, least = np.empty(most + 1), np.empty(most + 1), np.empty(most + 1)
    match, way = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64)
    used = np.empty(most + 1, np.bool_)
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
                total = heaviest(similar, mine, others, up, down, match, way, least, used)
            else:
                total = heaviest(similar, others, mine, up, down, match, way, least, used)
            out[a, b] = total / max(degree[a], degree[b])
