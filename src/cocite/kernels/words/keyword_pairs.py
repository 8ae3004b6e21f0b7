"""Count exactly which keywords occur together and which are linked, and compute their relevance to each other.

Counting is a product of two sparse matrices of zeros and ones: `left` has the middles of each row, `right` the columns
of each middle, and the count of (row, column) is the number of middles between them. With words as rows, pages as
middles and words as columns, that is the number of pages that have both words.

A row is counted in an array with a place for every column. Two levels of bits mark the places in use, so the row comes
out in ascending order and the array is cleared without a sort and without reading unused places. The cost depends on
what is counted, not on the size of the vocabulary. Rows are independent, so threads share them. For 100,000 pages that
takes 4.6 s on two cores, SciPy's sparse products 13 s.
"""

from typing import NamedTuple

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from cocite.kernels.instructions import trailing_zeros
from cocite.kernels.jit import inline, kernel, lean_inline


class Rows(NamedTuple):
    """The ones of a matrix: row r has them in `columns[starts[r]:starts[r + 1]]`."""

    starts: NDArray[np.int64]
    columns: NDArray[np.uint32]


class PairCounts(NamedTuple):
    """Counts of a matrix: row r has `times[starts[r]:starts[r + 1]]` in columns `other[...]`, ascending."""

    starts: NDArray[np.int64]
    other: NDArray[np.uint32]
    times: NDArray[np.uint32]


class Range(NamedTuple):
    """The lowest and highest value over all pairs of different words."""

    low: float
    high: float


class Statistics(NamedTuple):
    """What normalises the relevance of any two words."""

    frequency: NDArray[np.uint32]  # pages with each word
    pages: int  # pages with keywords
    support: Range
    mutual: Range
    confidence: Range


class CountingSpace(NamedTuple):
    """Working space to count a row, all 0 between rows."""

    counts: NDArray[np.uint32]  # by column
    fine: NDArray[np.uint64]  # a bit for each column in use
    coarse: NDArray[np.uint64]  # a bit for each word of `fine` that isn't 0


class WordCounts(NamedTuple):
    """The counts that give relevance."""

    words: Rows  # keywords of each page
    pages_of: Rows  # pages of each keyword
    reached: Rows  # keywords of the pages to which each page links
    both: PairCounts  # pages that have two keywords
    pages: int


class StrengthWeights(NamedTuple):
    """r_l = beta · cooccurrence + (1 - beta) · confidence; words on fewer than `min_pages` pages have no confidence."""

    beta: float
    measure: tuple[bool, float, float]
    confidence: tuple[float, ...]
    min_pages: int


def counting_space(columns: int) -> CountingSpace:
    """Working space for rows of a number of columns."""
    fine = (columns >> 6) + 1
    return CountingSpace(np.zeros(columns, np.uint32), np.zeros(fine, np.uint64), np.zeros((fine >> 6) + 1, np.uint64))


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
def clear_row(without, space, other, count):
    """Move the counts, in order and without one column, to `other` and `count`, as far as there is room in each."""
    at = int64(0)
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
def count_rows(left, right, first, last, diagonal, space, sizes, pairs):
    """Count rows [first, last): their sizes, and as far as `pairs` has room for them, columns and counts."""
    for row in range(first, last):
        count_row(left, right, row, space)
        part = slice(pairs.starts[row], pairs.starts[row + 1])
        without = int64(-1) if diagonal else int64(row)
        sizes[row] = clear_row(without, space, pairs.other[part], pairs.times[part])


@kernel
def count_one(left, right, row, space, other, count):
    """Count one row, without its diagonal; return its number of columns."""
    count_row(left, right, row, space)
    return clear_row(int64(row), space, other, count)


# ---------------------------------------------------------------------------------------------------------- relevance


@inline
def cell(both, a, b, total):
    """One of the four terms of mutual information, times `total`."""
    if both <= 0:
        return 0.0
    return both * np.log((both / a) * (total / b))


@lean_inline
def mutual_information(both, a, b, total):
    """Mutual information, in nats, of two words on a and b of `total` pages and on `both` of them together."""
    if uint64(both) * uint64(total) == uint64(a) * uint64(b):
        return 0.0  # independent: a rounding error would count as information
    if a > b:  # the same sum, in the same order, for either order of the words
        a, b = b, a
    c, d = total - a, total - b
    terms = cell(both, a, b, total) + cell(a - both, a, d, total) + cell(b - both, c, b, total)
    return max(0.0, (terms + cell(c - (b - both), c, d, total)) / total)


@lean_inline
def scaled(value, low, high):
    """Min–max normalisation; if all values are equal up to rounding, 1 for a value above 0, else 0."""
    if high - low <= 1e-12 * high:
        return 1.0 if value > 0 else 0.0
    return (value - low) / (high - low)


@inline
def cooccurrence(both, a, b, total, measure):
    """Normalised support or mutual information of two words; `measure` is (is it information, lowest, highest)."""
    return scaled(mutual_information(both, a, b, total) if measure[0] else both / total, measure[1], measure[2])


@kernel
def mutual_range(pairs, frequency, total, order, first, last, marks):
    """Lowest and highest mutual information of words [first, last); `order`: the words by frequency."""
    low, high = np.inf, -np.inf
    for word in range(first, last):
        a = int64(frequency[word])
        if a == 0:
            continue
        marks[word] = word + 1
        for k in range(pairs.starts[word], pairs.starts[word + 1]):
            other = int64(pairs.other[k])
            marks[other] = word + 1
            if other > word:  # else this pair was read before
                value = mutual_information(int64(pairs.times[k]), a, int64(frequency[other]), total)
                low, high = min(low, value), max(high, value)
        for i in range(len(order)):
            if marks[order[i]] != word + 1:
                low = min(low, mutual_information(int64(0), a, int64(frequency[order[i]]), total))
                break
        for i in range(len(order) - 1, -1, -1):
            if marks[order[i]] != word + 1:
                high = max(high, mutual_information(int64(0), a, int64(frequency[order[i]]), total))
                break
    return low, high


@kernel
def confidence_range(left, right, first, last, minimum, space):
    """The lowest and highest share of a row's middles that lead to one other column, and the number of such pairs."""
    other, count = np.empty(len(space.counts), np.uint32), np.empty(len(space.counts), np.uint32)
    low, high, pairs = np.inf, -np.inf, int64(0)
    for row in range(first, last):
        middles = left.starts[row + 1] - left.starts[row]
        if middles >= minimum:
            size = count_one(left, right, row, space, other, count)
            pairs += size
            for k in range(min(size, len(count))):
                low, high = min(low, count[k] / middles), max(high, count[k] / middles)
    return low, high, pairs


@kernel
def similar_values(pairs, statistics, alpha, first, last, values):
    """alpha · support + (1 - alpha) · mutual information, both normalised, of all pairs of words [first, last)."""
    frequency, total = statistics.frequency, statistics.pages
    support, mutual = statistics.support, statistics.mutual
    base = pairs.starts[first]
    for word in range(first, last):
        for k in range(pairs.starts[word], pairs.starts[word + 1]):
            both = int64(pairs.times[k])
            m = mutual_information(both, int64(frequency[word]), int64(frequency[pairs.other[k]]), total)
            s = scaled(both / total, support.low, support.high)
            values[k - base] = alpha * s + (1 - alpha) * scaled(m, mutual.low, mutual.high)


@kernel
def absent_values(a, frequency, statistics, values):
    """Normalised mutual information of a word on `a` pages with words that never occur with it."""
    total, mutual = statistics.pages, statistics.mutual
    for i in range(len(frequency)):
        # A word on more pages than the rest must occur with it, so such a pair does not exist.
        information = mutual_information(int64(0), a, min(int64(frequency[i]), total - a), total)
        values[i] = scaled(information, mutual.low, mutual.high)


@kernel
def logical_values(word, both, linked, statistics, beta, measure, other, values):
    """r_l of a word with all that it occurs with or links to, as one row each. Returns how many there are."""
    own, confidence = int64(statistics.frequency[word]), statistics.confidence
    i, k, at = int64(0), int64(0), int64(0)
    while i < len(both.other) or k < len(linked.other):
        occurs = i < len(both.other) and (k >= len(linked.other) or both.other[i] <= linked.other[k])
        links = k < len(linked.other) and (i >= len(both.other) or linked.other[k] <= both.other[i])
        other[at] = both.other[i] if occurs else linked.other[k]
        pages = int64(both.times[i]) if occurs else int64(0)
        s = cooccurrence(pages, own, int64(statistics.frequency[other[at]]), statistics.pages, measure)
        c = scaled(linked.times[k] / own if links else 0.0, confidence.low, confidence.high)
        values[at] = beta * s + (1 - beta) * c
        i += occurs
        k += links
        at += 1
    return at


@kernel
def link_strengths(evidence, outs, weights, space, strength):
    """Raise strength[link] to the greatest r_l of its pages' keywords. A link isn't evidence for itself."""
    words, pages_of, reached, both, total = evidence
    beta, measure, confidence, min_pages = weights
    nothing = np.empty(0, np.uint32)
    met, times = np.zeros(len(space.counts), np.uint32), np.zeros(len(space.counts), np.uint32)
    for word in range(len(pages_of.starts) - 1):
        start, stop = pages_of.starts[word], pages_of.starts[word + 1]
        having = stop - start
        if having >= min_pages:
            count_row(pages_of, reached, word, space)
        for k in range(both.starts[word], both.starts[word + 1]):
            met[both.other[k]] = both.times[k]
        for at in range(start, stop):
            page = int64(pages_of.columns[at])
            for link in range(outs.starts[page], outs.starts[page + 1]):
                target = int64(outs.columns[link])
                for k in range(words.starts[target], words.starts[target + 1]):
                    times[words.columns[k]] += np.uint32(1)
            for link in range(outs.starts[page], outs.starts[page + 1]):
                target = int64(outs.columns[link])
                best = float(strength[link])
                for k in range(words.starts[target], words.starts[target + 1]):
                    other = int64(words.columns[k])
                    if other == word:
                        best = 1.0
                        break
                    leading = int64(space.counts[other]) - (1 if times[other] == 1 else 0)
                    c = scaled(max(leading, 0) / having, confidence[0], confidence[1]) if having >= min_pages else 0.0
                    others = pages_of.starts[other + 1] - pages_of.starts[other]
                    s = cooccurrence(int64(met[other]), having, others, total, measure)
                    best = max(best, beta * s + (1 - beta) * c)
                strength[link] = best
            for link in range(outs.starts[page], outs.starts[page + 1]):
                target = int64(outs.columns[link])
                for k in range(words.starts[target], words.starts[target + 1]):
                    times[words.columns[k]] = 0
        for k in range(both.starts[word], both.starts[word + 1]):
            met[both.other[k]] = 0
        clear_row(int64(-1), space, nothing, nothing)
