"""Rows of words: of length 1, cut to their heaviest, one below the other, and as they are kept."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from cocite.kernels.words.word_vectors import SCALE, Sparse


def of_length_1(matrix: csr_array) -> csr_array:
    """Every row divided by its length."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    lengths = np.sqrt(np.bincount(rows, matrix.data.astype(np.float64) ** 2, matrix.shape[0]))
    matrix.data = (matrix.data / np.maximum(lengths, 1e-12)[rows]).astype(np.float32)
    return matrix


def stacked(blocks: list[csr_array]) -> csr_array:
    """Blocks of rows, one below the other."""
    starts = np.concatenate([[0], *(np.diff(block.indptr) for block in blocks)]).cumsum()
    data, ids = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("data", "indices"))
    return csr_array((data, ids, starts), shape=(len(starts) - 1, blocks[0].shape[1]))


def pruned(matrix: csr_array, most: int) -> csr_array:
    """Of each row the `most` heaviest words, of length 1; of equally heavy ones the first."""
    sizes = np.diff(matrix.indptr)
    rows = np.repeat(np.arange(matrix.shape[0]), sizes)
    if sizes.max(initial=0) <= most:
        return matrix
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    kept = np.sort(order[np.arange(len(order)) - matrix.indptr[rows] < most])
    starts = np.concatenate([[0], np.minimum(sizes, most)]).cumsum()
    return of_length_1(csr_array((matrix.data[kept], matrix.indices[kept], starts), shape=matrix.shape))


def kept(matrix: csr_array) -> Sparse:
    """A matrix as it is kept."""
    matrix.sort_indices()
    weights = np.rint(np.minimum(matrix.data, 1.0) * SCALE).astype(np.uint16)
    return Sparse(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), weights)
