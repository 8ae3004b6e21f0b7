"""Word vectors of pages in compiled loops: which pages have words of a vector, and how alike pages are to it.

Row r of a sparse matrix is ids[starts[r]:starts[r + 1]] with weights likewise, in units of 1 / SCALE. Rows that a
damaged file makes point elsewhere are cut to what is there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.vicinity import EMPTY, slot_of

SCALE = 65535.0


class Sparse(NamedTuple):
    """A sparse matrix by rows."""

    starts: NDArray[np.int64]
    ids: NDArray[np.uint32]
    weights: NDArray[np.uint16]


@inline
def row_of(matrix, row):
    """The bounds of a row, inside the arrays whatever they say; a row that is not there is empty."""
    if row + 1 >= len(matrix.starts):
        return np.int64(0), np.int64(0)
    low = min(max(np.int64(matrix.starts[row]), 0), len(matrix.ids))
    return low, min(max(np.int64(matrix.starts[row + 1]), low), len(matrix.ids))


@kernel
def cosines(rows, words, weights, table, local, pages, found):
    """found[i] = the cosine of row pages[i] and a vector of length 1, given by its words and their weights.

    `table` and `local` are room: 2^b, at least twice as many as there are words.
    """
    table[:] = EMPTY
    for i in range(len(words)):
        slot = slot_of(table, words[i])
        table[slot] = words[i]
        local[slot] = i
    for i in range(len(pages)):
        low, high = row_of(rows, pages[i])
        total = 0.0
        for k in range(low, high):
            slot = slot_of(table, rows.ids[k])
            if table[slot] != EMPTY:
                total += weights[local[slot]] * rows.weights[k]
        found[i] = total / SCALE


@kernel
def pages_with(columns, words, weights, most, table, local, pages, sums):
    """Pages with any of the words, the first words first, until `most` were looked at; returns how many are found.

    A word that more pages have is passed over; if all are such, it is the first pages of the first that count.
    sums[i] is what the words that were looked at add to the cosine of pages[i]. `table`, empty and of 2^b places, and
    `local` must have room for twice as many pages.
    """
    count = np.int64(0)
    for i in range(len(words)):
        low, high = row_of(columns, words[i])
        if high - low > most:
            continue
        most -= high - low
        for k in range(low, high):
            slot = slot_of(table, columns.ids[k])
            if table[slot] == EMPTY:
                table[slot] = columns.ids[k]
                local[slot] = count
                pages[count] = columns.ids[k]
                sums[count] = 0.0
                count += 1
            sums[local[slot]] += weights[i] * columns.weights[k]
    if count == 0 and len(words) > 0:
        low, high = row_of(columns, words[0])
        for k in range(low, min(high, low + most)):
            pages[count] = columns.ids[k]
            sums[count] = weights[0] * columns.weights[k]
            count += 1
    return count
