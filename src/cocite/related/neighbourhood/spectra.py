"""Singular vectors that are the same on every machine.

A decomposition leaves the sign of every vector open and, for equal singular values, the whole basis. Both are fixed
here: equal values share the basis that Gram–Schmidt makes of their projected unit vectors, in order. In every vector,
the entry of largest magnitude is positive; of several such entries, the first.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter

Matrix = NDArray[np.float64]
MIN_SINGULAR_VALUE = 1e-6
"""Singular values below this share of the greatest count as 0: by AᵀA, zeros come out as about 1e-8 of it."""
MAX_EQUAL_DIFFERENCE = 1e-9
"""Singular values that differ by less, as a share of the greatest, are equal; so are entries of vectors."""
MIN_NEW_LENGTH = 1e-6
"""A projected unit vector adds a direction if at least this length remains beside the directions before it."""
MAX_FULL_SIZE = 4000
"""Larger matrices are never decomposed as a whole: that would take minutes, and 128 MB per copy."""
MAX_DENSE_SIZE = 400
"""Larger matrices are not decomposed as a whole for a few of their vectors."""


def kept(singular: Matrix, drop: float) -> tuple[int, int]:
    """(k, rank): the smallest k at which singular values drop by this share; those beyond the rank are 0."""
    rank = rank_of(singular)
    if not rank:
        return 0, 0
    values = np.append(singular[:rank], 0.0)
    drops = (values[:-1] - values[1:]) / values[:-1] >= drop - 1e-9
    return int(np.argmax(drops)) + 1, rank


def rank_of(singular: Matrix) -> int:
    """The number of singular values, greatest first, that don't count as 0."""
    if not len(singular) or singular[0] <= 0:
        return 0
    return int(np.count_nonzero(singular > MIN_SINGULAR_VALUE * singular[0]))


def right_vectors(matrix: Any) -> tuple[Matrix, Matrix]:
    """All nonzero singular values of a sparse matrix, greatest first, and V in its fixed basis.

    Decomposes AᵀA or AAᵀ, whichever is smaller.
    """
    from scipy.linalg import eigh  # takes half a second to import

    wide = matrix.shape[0] < matrix.shape[1]
    product = (matrix @ matrix.T if wide else matrix.T @ matrix).toarray()
    if not product.any():
        return np.zeros(0), np.zeros((matrix.shape[1], 0))
    values, vectors = eigh(product, driver="evd", overwrite_a=True, check_finite=False)
    singular = np.sqrt(np.maximum(values[::-1], 0.0))
    rank = rank_of(singular)
    singular, vectors = singular[:rank], vectors[:, ::-1][:, :rank]
    return singular, fixed(singular, matrix.T @ vectors / singular if wide else vectors)


def symmetric_left_vectors(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """All nonzero singular values of a symmetric matrix, greatest first, and W in its fixed basis."""
    from scipy.linalg import eigh

    values, vectors = eigh(matrix, driver="evd", check_finite=False)
    order = np.argsort(-np.abs(values), kind="stable")
    singular = np.abs(values[order])
    rank = rank_of(singular)
    return singular[:rank], fixed(singular[:rank], vectors[:, order[:rank]])


def leading(matrix: Any, count: int) -> tuple[Matrix, Matrix, Matrix]:
    """(U, singular values, V): at most the `count` greatest of a sparse matrix without negative entries."""
    rows, columns = (np.flatnonzero(np.asarray(matrix.sum(axis=axis)).ravel()) for axis in (1, 0))
    if not len(rows) or not count:
        return np.zeros((matrix.shape[0], 0)), np.zeros(0), np.zeros((matrix.shape[1], 0))
    filled = matrix[rows][:, columns]  # few pages of a base set are hubs, so one side is small
    found = right_vectors(filled) if min(filled.shape) <= MAX_DENSE_SIZE else _by_lanczos(filled, count)
    singular, v = found[0][:count], np.zeros((matrix.shape[1], min(count, len(found[0]))))
    v[columns] = found[1][:, :count]
    return (matrix @ v) / singular, singular, v


def _by_lanczos(matrix: Any, count: int) -> tuple[Matrix, Matrix]:
    """Like `right_vectors`, the first ones of a large matrix; copies of a repeated value may be missing.

    The start vector depends on the matrix alone. It is positive, as are all rows and columns, so it has a component in
    the first vectors.
    """
    from scipy.sparse.linalg import ArpackError, svds

    start = np.asarray(matrix.sum(axis=int(matrix.shape[0] >= matrix.shape[1]) ^ 1), np.float64).ravel()
    try:
        _, values, vectors = svds(matrix, k=min(count + 2, min(matrix.shape) - 1), v0=start)
    except ArpackError as error:  # rare, with very many equal values
        if min(matrix.shape) > MAX_FULL_SIZE:
            raise BadParameter(f"found no singular vectors ({error}): ask for fewer vectors or pages") from error
        return right_vectors(matrix)
    order = np.argsort(-values, kind="stable")
    singular = values[order]
    rank = rank_of(singular)
    return singular[:rank], fixed(singular[:rank], vectors[order[:rank]].T)


def fixed(singular: Matrix, vectors: Matrix) -> Matrix:
    """The same spaces in their fixed basis; singular values come greatest first, vectors are columns."""
    found = np.array(vectors, np.float64, order="F")
    if not len(singular):
        return found
    cuts = np.flatnonzero(singular[:-1] - singular[1:] > MAX_EQUAL_DIFFERENCE * singular[0]) + 1
    for group in np.split(np.arange(len(singular)), cuts):
        if len(group) > 1:
            found[:, group] = _gram_schmidt(found[:, group])
    sizes = np.abs(found)
    first = np.argmax(sizes >= sizes.max(axis=0) - MAX_EQUAL_DIFFERENCE, axis=0)
    return found * np.where(found[first, np.arange(found.shape[1])] < 0, -1.0, 1.0)


def _gram_schmidt(space: Matrix) -> Matrix:
    """The basis of a space made of its projected unit vectors, in order, without those that add no direction.

    The projection of unit vector i is `space @ space[i]`, so the short rows of `space` are enough to work with.
    """
    size = space.shape[1]
    rows = space[np.linalg.norm(space, axis=1) >= MIN_NEW_LENGTH]
    q, r = np.linalg.qr(rows[:size].T)
    if len(rows) >= size and bool((np.abs(np.diagonal(r)) >= MIN_NEW_LENGTH).all()):
        return np.asarray(space @ q)  # usually the first ones are enough
    basis, count = np.zeros((size, size)), 0
    for row in rows:
        rest = row - basis[:count].T @ (basis[:count] @ row)
        if np.linalg.norm(rest) >= MIN_NEW_LENGTH:
            rest -= basis[:count].T @ (basis[:count] @ rest)  # twice, because of rounding
            basis[count] = rest / np.linalg.norm(rest)
            count += 1
            if count == size:
                break
    return np.asarray(space @ basis.T)
