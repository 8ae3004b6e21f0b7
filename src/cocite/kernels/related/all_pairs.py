"""Similarities of all pairs of pages of a small web, a block of rows at a time.

One round of SimRank and its kin is S ← C·W·S·Wᵀ, W having a row of weights for each page. With S symmetric that is two
products of a sparse matrix with a dense one ("partial sums"), each a sum of whole rows: memory is read in order.
"""

from __future__ import annotations

import numpy as np

from cocite.kernels.jit import kernel


@kernel
def weigh_rows(starts, links, weights, rows, first, last, out):
    """out[a] = Σ weight · rows[i] over the links i of a, for the pages a from `first` to `last`."""
    width = rows.shape[1]
    for a in range(first, last):
        sums = out[a]
        sums[:] = 0.0
        for k in range(starts[a], starts[a + 1]):
            weight, row = weights[k], rows[links[k]]
            for b in range(width):
                sums[b] += weight * row[b]


@kernel
def compare_rows(starts, words, weights, of_starts, of_pages, of_weights, first, last, out):
    """out[a - first, b] = Σ of what pages a and b have of each word, for the pages a from `first` to `last`.

    A page's words are words[starts[a]:starts[a + 1]], a word's pages of_pages[of_starts[word]:of_starts[word + 1]].
    """
    for a in range(first, last):
        sums = out[a - first]
        sums[:] = 0.0
        for k in range(starts[a], starts[a + 1]):
            weight = weights[k]
            for j in range(of_starts[words[k]], of_starts[words[k] + 1]):
                sums[of_pages[j]] += weight * of_weights[j]


@kernel
def transpose(rows, first, last, out):
    """out[a, b] = rows[b, a] for the rows a from `first` to `last`, in squares that the fastest memory holds."""
    size = rows.shape[0]
    for left in range(first, last, 32):
        for top in range(0, size, 32):
            for a in range(left, min(left + 32, last)):
                for b in range(top, min(top + 32, size)):
                    out[a, b] = rows[b, a]


@kernel
def add_scaled(out, rows, factor, first, last):
    """out += factor · rows, for rows from `first` to `last`."""
    for a in range(first, last):
        for b in range(rows.shape[1]):
            out[a, b] += factor * rows[a, b]


@kernel
def greatest_pair(rows, first, second):
    """Places (i, j) of the greatest rows[first[i], second[j]], the first of equal ones; and its value."""
    best, at, other = -1.0, np.int64(-1), np.int64(-1)
    for i in range(len(first)):
        for j in range(len(second)):
            value = rows[first[i], second[j]]
            if value > best:
                best, at, other = value, np.int64(i), np.int64(j)
    return at, other, best
