"""Which keywords occur together and which are linked, counted exactly, and how much that tells.

What is counted is a product of two sparse matrices of zeros and ones: `left` has the middles of each row, `right` the
columns of each middle, and the count of (row, column) is the number of middles between them. With rows = words,
middles = pages and columns = words that is the number of pages that have both.

A row is counted in an array with a place for every column. Two levels of bits note which places were used, so that the
row comes out in ascending order, and the array is cleared, without looking at all places: no sorting, and the cost
follows what is counted, however large the vocabulary is. Rows do not depend on each other, so threads share them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from cocite.kernels.codec.bit_codes import trailing_zeros
from cocite.kernels.jit import inline, kernel


class Rows(NamedTuple):
    """The ones of a matrix: columns of row r are `columns[starts[r]:starts[r + 1]]`."""

    starts: NDArray[np.int64]
    columns: NDArray[np.uint32]


class Pairs(NamedTuple):
    """Counts of a matrix: row r has `times[starts[r]:starts[r + 1]]` in columns `other[...]`, ascending."""

    starts: NDArray[np.int64]
    other: NDArray[np.uint32]
    times: NDArray[np.uint32]


class Room(NamedTuple):
    """What counting a row needs, all 0 between rows."""

    counts: NDArray[np.uint32]  # by column
    fine: NDArray[np.uint64]  # a bit for each place that is used
    coarse: NDArray[np.uint64]  # a bit for each of those that is not 0


def room(columns: int) -> Room:
    """Room for rows of so many columns."""
    fine = (columns >> 6) + 1
    return Room(np.zeros(columns, np.uint32), np.zeros(fine, np.uint64), np.zeros((fine >> 6) + 1, np.uint64))


@inline
def count_row(left, right, row, space):
    """Count the columns of all middles of a row."""
    for i in range(left.starts[row], left.starts[row + 1]):
        middle = int64(left.columns[i])
        for k in range(right.starts[middle], right.starts[middle + 1]):
            column = int64(right.columns[k])
            if space.counts[column] == 0:
                space.fine[column >> 6] |= uint64(1) << uint64(column & 63)
                space.coarse[column >> 12] |= uint64(1) << uint64((column >> 6) & 63)
            space.counts[column] += np.uint32(1)


@inline
def clear_row(without, space, other, count, at):
    """Put what was counted in order to `other` and `count` from `at` on, as far as they go, except one column."""
    for c in range(len(space.coarse)):
        while space.coarse[c] != 0:
            f = (int64(c) << 6) + int64(trailing_zeros(space.coarse[c]))
            space.coarse[c] &= space.coarse[c] - uint64(1)
            while space.fine[f] != 0:
                column = (f << 6) + int64(trailing_zeros(space.fine[f]))
                space.fine[f] &= space.fine[f] - uint64(1)
                if column != without:
                    if at < len(other):
                        other[at] = column
                    if at < len(count):
                        count[at] = space.counts[column]
                    at += 1
                space.counts[column] = 0
    return at


@kernel
def measure_rows(left, right, first, last, least, diagonal, space, sizes):
    """How many columns other than 0 rows [first, last) have; those with fewer than `least` middles have none."""
    nothing = np.empty(0, np.uint32)
    for row in range(first, last):
        sizes[row] = 0
        if left.starts[row + 1] - left.starts[row] >= least:
            count_row(left, right, row, space)
            sizes[row] = clear_row(int64(-1) if diagonal else int64(row), space, nothing, nothing, int64(0))


@kernel
def count_rows(left, right, first, last, least, diagonal, space, pairs):
    """The rows that `measure_rows` measured; where there is no room for counts, only their columns."""
    for row in range(first, last):
        if left.starts[row + 1] - left.starts[row] >= least:
            count_row(left, right, row, space)
            start, stop = pairs.starts[row], pairs.starts[row + 1]
            count = pairs.times[start:stop] if len(pairs.times) > 0 else pairs.times
            clear_row(int64(-1) if diagonal else int64(row), space, pairs.other[start:stop], count, int64(0))


@kernel
def count_one(left, right, row, space, other, count):
    """One row, without its diagonal; returns how many columns it has."""
    count_row(left, right, row, space)
    return clear_row(int64(row), space, other, count, int64(0))


# ---------------------------------------------------------------------------------------------------- what counts tell


@inline
def cell(both, a, b, total):
    """One of the four terms of mutual information, times `total`."""
    if both <= 0:
        return 0.0
    return both * np.log((both / a) * (total / b))


@inline
def mutual_information(both, a, b, total):
    """Mutual information, in nats, of two words on a and b of `total` pages and on `both` of them together."""
    if uint64(both) * uint64(total) == uint64(a) * uint64(b):
        return 0.0  # independent: what rounding left over would else count as information
    if a > b:  # the same sum, in the same order, for both ways round
        a, b = b, a
    c, d = total - a, total - b
    terms = cell(both, a, b, total) + cell(a - both, a, d, total) + cell(b - both, c, b, total)
    return max(0.0, (terms + cell(c - (b - both), c, d, total)) / total)


@inline
def scaled(value, least, most):
    """Min–max normalisation; where all values are the same up to rounding, 1 if there is anything, else 0."""
    if most - least <= 1e-12 * most:
        return 1.0 if value > 0 else 0.0
    return (value - least) / (most - least)


@inline
def together(both, a, b, total, measure):
    """Normalised support of two words, or mutual information: (whether it is that, its least, its greatest value)."""
    return scaled(mutual_information(both, a, b, total) if measure[0] else both / total, measure[1], measure[2])


@kernel
def mutual_range(pairs, frequency, total, order, first, last, marks):
    """Least and most mutual information of words [first, last) with any other word.

    `order` are the words by frequency. Of the words that never meet a given one, the least and the most frequent have
    the least and the most information with it, as it grows with frequency; no other has to be looked at.
    """
    least, most = np.inf, -np.inf
    for word in range(first, last):
        a = int64(frequency[word])
        if a == 0:
            continue
        marks[word] = word + 1
        for k in range(pairs.starts[word], pairs.starts[word + 1]):
            other = int64(pairs.other[k])
            marks[other] = word + 1
            if other > word:  # else it was looked at the other way round
                value = mutual_information(int64(pairs.times[k]), a, int64(frequency[other]), total)
                least, most = min(least, value), max(most, value)
        for i in range(len(order)):
            if marks[order[i]] != word + 1:
                least = min(least, mutual_information(int64(0), a, int64(frequency[order[i]]), total))
                break
        for i in range(len(order) - 1, -1, -1):
            if marks[order[i]] != word + 1:
                most = max(most, mutual_information(int64(0), a, int64(frequency[order[i]]), total))
                break
    return least, most


@kernel
def confidence_range(left, right, first, last, least, space, other, count):
    """Least and most share of the middles of rows [first, last) that lead to another column, and how many pairs do.

    `other` and `count` are room for a row.
    """
    low, high, pairs = np.inf, -np.inf, int64(0)
    for row in range(first, last):
        middles = left.starts[row + 1] - left.starts[row]
        if middles >= least:
            size = count_one(left, right, row, space, other, count)
            pairs += size
            for k in range(min(size, len(count))):
                low, high = min(low, count[k] / middles), max(high, count[k] / middles)
    return low, high, pairs


@kernel
def similar_values(pairs, frequency, total, first, last, alpha, support, mutual, values):
    """alpha · support + (1 - alpha) · mutual information, both normalised, of all pairs of words [first, last)."""
    base = pairs.starts[first]
    for word in range(first, last):
        for k in range(pairs.starts[word], pairs.starts[word + 1]):
            both = int64(pairs.times[k])
            m = mutual_information(both, int64(frequency[word]), int64(frequency[pairs.other[k]]), total)
            s = scaled(both / total, support[0], support[1])
            values[k - base] = alpha * s + (1 - alpha) * scaled(m, mutual[0], mutual[1])


@kernel
def absent_values(a, frequency, total, mutual, values):
    """Normalised mutual information of a word on `a` pages with words that it never meets."""
    for i in range(len(frequency)):
        # Words on more pages than are left have to meet it; there is no such pair.
        information = mutual_information(int64(0), a, min(int64(frequency[i]), total - a), total)
        values[i] = scaled(information, mutual[0], mutual[1])


@kernel
def logical_values(pairs, linked, own, frequency, total, first, last, beta, measure, confidence, ends, other, values):
    """beta · together + (1 - beta) · confidence, both normalised, of words [first, last) with all they meet or link.

    `own` has the frequency of each row's word. `ends` gets where each word's row ends; where there is no room in
    `other` and `values` it is only measured.
    """
    at = int64(0)
    for word in range(first, last):
        i, stop_i = pairs.starts[word], pairs.starts[word + 1]
        k, stop_k = linked.starts[word], linked.starts[word + 1]
        while i < stop_i or k < stop_k:
            met = i < stop_i and (k >= stop_k or pairs.other[i] <= linked.other[k])
            led = k < stop_k and (i >= stop_i or linked.other[k] <= pairs.other[i])
            if at < len(other):
                other[at] = pairs.other[i] if met else linked.other[k]
                both = int64(pairs.times[i]) if met else int64(0)
                s = together(both, int64(own[word]), int64(frequency[other[at]]), total, measure)
                c = scaled(linked.times[k] / own[word] if led else 0.0, confidence[0], confidence[1])
                values[at] = beta * s + (1 - beta) * c
            i += met
            k += led
            at += 1
        ends[word - first] = at
