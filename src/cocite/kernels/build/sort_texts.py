"""Sorting texts in memory, eight bytes at a time.

A range of rows whose texts share their first `depth` bytes is sorted by the next eight as one number, the *word*. Then
each run of rows with equal words is sorted by the eight after these. Texts have no zero bytes, so a word that ends in
one is the last of its text: rows of such a run have equal texts, and are sorted by rank. Pivots are random: nobody can
choose texts that take longer.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.instructions import reversed_bytes, word_at
from cocite.kernels.jit import inline, kernel

WORD_BYTES = 8
MAX_INSERTED = 24  # rows that are sorted by insertion
LAST_BYTE = np.uint64(0xFF)


class Texts(NamedTuple):
    """Texts data[start[i]:start[i + 1]], and what orders equal ones. Eight more bytes are readable behind the last."""

    data: NDArray[np.uint8]
    start: NDArray[np.int64]
    rank: NDArray[np.uint64]


class SortedRows(NamedTuple):
    """Rows that are being sorted: all arrays have an entry for each place."""

    row: NDArray[np.uint32]
    word: NDArray[np.uint64]
    first: NDArray[np.bool_]  # whether the text differs from that at the place before


@kernel
def sort_words(texts, rows, low, high, depth):
    """Sort the rows in [low, high) by the words at a depth."""
    for i in range(low, high):
        rows.word[i] = _word(texts, np.int64(rows.row[i]), depth)
    _quicksort(rows.word, rows.row, low, high, np.empty((2, 64), np.int64))


@kernel
def sort_texts(texts, rows, low, high, depth, longest):
    """Sort the rows in [low, high), which are sorted by the words at a depth: `sort_words` goes first.

    No text has more than `longest` bytes. Of equal texts, all but the one of lowest rank lose `first`.
    """
    levels, waiting = longest // WORD_BYTES + 4, np.empty((2, 64), np.int64)
    starts, stops, depths = np.empty(levels, np.int64), np.empty(levels, np.int64), np.empty(levels, np.int64)
    starts[0], stops[0], depths[0], level = low, high, depth, 0
    while level >= 0:
        start, stop = starts[level], stops[level]
        word, end = rows.word[start], start + 1
        while end < stop and rows.word[end] == word:
            end += 1
        starts[level] = end
        at = depths[level] + WORD_BYTES
        if end == stop:
            level -= 1
        if end == start + 1:
            continue
        if word & LAST_BYTE == uint64(0):
            for i in range(start, end):
                rows.word[i] = texts.rank[rows.row[i]]
            _quicksort(rows.word, rows.row, start, end, waiting)
            for i in range(start + 1, end):
                rows.first[i] = False
        else:
            for i in range(start, end):
                rows.word[i] = _word(texts, np.int64(rows.row[i]), at)
            _quicksort(rows.word, rows.row, start, end, waiting)
            level += 1
            starts[level], stops[level], depths[level] = start, end, at


@inline
def _word(texts, row, depth):
    """The eight bytes of a text from `depth` on as a number, the first the highest; 0 where it has ended."""
    left = texts.start[row + 1] - texts.start[row] - depth
    if left <= 0:
        return uint64(0)
    word = reversed_bytes(word_at(texts.data, texts.start[row] + depth))
    if left < WORD_BYTES:
        unused = uint64(8 * (WORD_BYTES - left))
        word = word >> unused << unused
    return word


@kernel
def _quicksort(words, rows, low, high, waiting):
    """Sort words[low:high], and rows along with them. `waiting` is scratch."""
    starts, stops, level = waiting[0], waiting[1], 0
    starts[0], stops[0] = low, high
    while level >= 0:
        start, stop = starts[level], stops[level]
        level -= 1
        while stop - start > MAX_INSERTED:
            pivot = words[np.random.randint(start, stop)]  # noqa: NPY002 - compiled
            i, j = start - 1, stop
            while True:
                i += 1
                while words[i] < pivot:
                    i += 1
                j -= 1
                while words[j] > pivot:
                    j -= 1
                if i >= j:
                    break
                words[i], words[j] = words[j], words[i]
                rows[i], rows[j] = rows[j], rows[i]
            # Both parts have rows, but the larger waits: so no more than 64 ever do.
            middle = i if i > start else i + 1
            level += 1
            if middle - start < stop - middle:
                starts[level], stops[level], stop = middle, stop, middle
            else:
                starts[level], stops[level], start = start, middle, middle
        for i in range(start + 1, stop):
            word, row, j = words[i], rows[i], i
            while j > start and words[j - 1] > word:
                words[j], rows[j] = words[j - 1], rows[j - 1]
                j -= 1
            words[j], rows[j] = word, row
