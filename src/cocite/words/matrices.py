"""Sparse matrices of words: rows of length 1, their heaviest words, and the form in which they are stored."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from cocite.kernels.words.word_vectors import SCALE, Sparse


def packed(matrix: csr_array) -> Sparse:
    """A matrix as it is stored."""
    matrix.sort_indices()
    weights = np.rint(np.minimum(matrix.data, 1.0) * SCALE).astype(np.uint16)
    return Sparse.of(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), weights)


def chunks_of(pages: int, size: int) -> list[slice]:
    """Slices of all pages, `size` each."""
    return [slice(first, min(pages, first + size)) for first in range(0, pages, size)]


def rows_of(matrix: csr_array) -> NDArray[np.int64]:
    """The row of every value of a sparse matrix."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def of_length_1(matrix: csr_array) -> csr_array:
    """Divide every row by its length, in place."""
    rows = rows_of(matrix)
    lengths = np.sqrt(np.bincount(rows, matrix.data.astype(np.float64) ** 2, matrix.shape[0]))
    matrix.data = (matrix.data / np.maximum(lengths, 1e-12)[rows]).astype(np.float32)
    return matrix


def highest(matrix: csr_array, maximum: int) -> NDArray[np.int64]:
    """Where the `maximum` highest values of each row are, row by row, the highest first; ties by column.

    Values are at least 0: the bits of such floats are in their order. So rows and values make one key, and sorting by
    one key takes a tenth of the time of `lexsort`. Sorts the columns of each row.
    """
    matrix.sort_indices()
    rows = rows_of(matrix)
    falling = ~(matrix.data.astype(np.float32, copy=False) + np.float32(0)).view(np.uint32)
    order = np.argsort(rows.astype(np.uint64) << np.uint64(32) | falling, kind="stable")
    kept: NDArray[np.int64] = order[np.arange(len(order)) - matrix.indptr[rows] < maximum]
    return kept


def pruned(matrix: csr_array, maximum: int) -> csr_array:
    """Keep the `maximum` heaviest words of each row, of length 1."""
    sizes = np.diff(matrix.indptr)
    if sizes.max(initial=0) <= maximum:
        return matrix
    kept, starts = np.sort(highest(matrix, maximum)), np.concatenate([[0], np.minimum(sizes, maximum)]).cumsum()
    return of_length_1(csr_array((matrix.data[kept], matrix.indices[kept], starts), shape=matrix.shape))


def stacked(blocks: list[csr_array]) -> csr_array:
    """Put blocks of rows below each other."""
    return csr_array(vstack(blocks, "csr")) if blocks else csr_array((0, 0), dtype=np.float32)
