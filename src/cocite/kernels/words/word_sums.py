"""A compiled loop that sums rows of words and keeps the heaviest."""

from typing import NamedTuple

import numpy as np
from numba import float32
from numpy.typing import NDArray

from cocite.kernels.jit import kernel, lean_inline
from cocite.kernels.words.word_vectors import insert_best


class WordRows(NamedTuple):
    """A sparse matrix by rows, with positive weights."""

    starts: NDArray[np.int64]
    ids: NDArray[np.uint32]
    weights: NDArray[np.float32]


class Groups(NamedTuple):
    """Groups of weighted rows: group g has rows[starts[g]:starts[g + 1]]."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int64]
    weights: NDArray[np.float32]


@lean_inline
def add_row(matrix, row, weight, sums, words, count):
    """Add a row to `sums`, a dense vector; words[:count] are those that it has. Returns how many it has then."""
    for k in range(matrix.starts[row], matrix.starts[row + 1]):
        word = matrix.ids[k]
        if sums[word] == 0.0:
            words[count] = word
            count += 1
        sums[word] += weight * matrix.weights[k]
    return count


@kernel
def heaviest_words(groups, matrix, added, scratch, ids, weights):
    """Fill row g with the heaviest words of group g's sum, of length 1, plus row g of `added`; again of length 1.

    Ties go to the lower word. Places without a word stay as they are. `scratch` has a 0 and a place for every word.
    """
    sums, words = scratch
    best = np.empty(ids.shape[1])
    chosen = np.empty(ids.shape[1], np.int64)
    for g in range(len(ids)):
        count = np.int64(0)
        for k in range(groups.starts[g], groups.starts[g + 1]):
            count = add_row(matrix, groups.rows[k], groups.weights[k], sums, words, count)
        length = 0.0
        for i in range(count):
            length += sums[words[i]] * sums[words[i]]
        for i in range(count):
            sums[words[i]] /= np.sqrt(length)
        count = add_row(added, g, 1.0, sums, words, count)
        kept = 0
        for i in range(count):
            word = words[i]
            kept = insert_best(chosen, best, kept, word, float32(sums[word]))
            sums[word] = 0.0
        length = 0.0
        for i in range(kept):
            length += best[i] * best[i]
        for i in range(kept):
            ids[g, i], weights[g, i] = chosen[i], best[i] / np.sqrt(length)
