"""Singular vectors that are the same on every machine and in every order of reading.

A decomposition leaves open the sign of every vector, and within equal singular values the whole basis. Both are fixed
here: equal values share the basis that Gram–Schmidt makes of their projected unit vectors, the first entry first; of
every vector the entry of largest magnitude is positive, of several the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter

Matrix = NDArray[np.float64]
ZERO = 1e-6
"""Singular values below this share of the greatest count as 0: by AᵀA zeros come out as some 1e-8 of it."""
EQUAL = 1e-9
"""Singular values, as a share of the greatest, and entries of vectors that differ by less are equal."""
NEW = 1e-6
"""A projected unit vector of which less than this is left, after those before it, adds no direction."""
LONG_WAY = 4000
"""A matrix with more rows and columns than this is never decomposed whole: it would take minutes, and 128 MB a copy."""
DENSE = 400
"""A matrix with more rows and columns than this is not decomposed whole for a few of its vectors."""


def kept(singular: Matrix, fall: float) -> tuple[int, int]:
    """(k, rank): the smallest k at which singular values fall by this share; those beyond the rank are 0."""
    if not len(singular) or singular[0] <= 0:
        return 0, 0
    rank = int(np.count_nonzero(singular > ZERO * singular[0]))
    values = np.append(singular[:rank], 0.0)
    falls = (values[:-1] - values[1:]) / values[:-1] >= fall - 1e-9
    return int(np.argmax(falls)) + 1, rank


def right_vectors(matrix: Any) -> tuple[Matrix, Matrix]:
    """All singular values of a sparse matrix that are not 0, greatest first, and V in its fixed basis.

    By the product of the smaller side with itself, AᵀA or AAᵀ; neither is ever larger than the smaller side is long.
    """
    from scipy.linalg import eigh  # half a second that other methods need not wait for

    rows, columns = matrix.shape
    wide = rows < columns
    product = (matrix @ matrix.T if wide else matrix.T @ matrix).toarray()
    if not product.any():
        return np.zeros(0), np.zeros((columns, 0))
    values, vectors = eigh(product, driver="evd", overwrite_a=True, check_finite=False)
    singular = np.sqrt(np.maximum(values[::-1], 0.0))
    rank = int(np.count_nonzero(singular > ZERO * singular[0]))
    singular, vectors = singular[:rank], vectors[:, ::-1][:, :rank]
    if wide:
        vectors = matrix.T @ vectors / singular
    return singular, fixed(singular, vectors)


def symmetric_left_vectors(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """All singular values of a symmetric matrix that are not 0, greatest first, and W in its fixed basis."""
    from scipy.linalg import eigh

    values, vectors = eigh(matrix, driver="evd", check_finite=False)
    order = np.argsort(-np.abs(values), kind="stable")
    singular = np.abs(values[order])
    rank = int(np.count_nonzero(singular > ZERO * singular[0])) if len(singular) else 0
    return singular[:rank], fixed(singular[:rank], vectors[:, order[:rank]])


def leading(matrix: Any, count: int) -> tuple[Matrix, Matrix, Matrix]:
    """(U, singular values, V): the `count` greatest of a sparse matrix without negative entries, fewer if there are."""
    rows, columns = (np.flatnonzero(np.asarray(matrix.sum(axis=axis)).ravel()) for axis in (1, 0))
    if not len(rows) or not count:
        return np.zeros((matrix.shape[0], 0)), np.zeros(0), np.zeros((matrix.shape[1], 0))
    filled = matrix[rows][:, columns]  # of a base set's pages few are hubs: the smaller side is small
    found = right_vectors(filled) if min(filled.shape) <= DENSE else _by_lanczos(filled, count)
    singular, v = found[0][:count], np.zeros((matrix.shape[1], min(count, len(found[0]))))
    v[columns] = found[1][:, :count]
    return (matrix @ v) / singular, singular, v


def _by_lanczos(matrix: Any, count: int) -> tuple[Matrix, Matrix]:
    """As `right_vectors`, the first ones of a large matrix; copies of a value that occurs several times may be missed.

    The start depends on the matrix alone, and is positive, as are all rows and columns: so it has a part in the first
    vectors.
    """
    from scipy.sparse.linalg import ArpackError, svds

    start = np.asarray(matrix.sum(axis=int(matrix.shape[0] >= matrix.shape[1]) ^ 1), np.float64).ravel()
    try:
        _, values, vectors = svds(matrix, k=min(count + 2, min(matrix.shape) - 1), v0=start)
    except ArpackError as error:  # seldom, with very many equal values: the long way
        if min(matrix.shape) > LONG_WAY:
            raise BadParameter(f"no singular vectors were found ({error}): ask for fewer vectors or pages") from error
        return right_vectors(matrix)
    order = np.argsort(-values, kind="stable")
    singular, v = values[order], vectors[order].T
    rank = int(np.count_nonzero(singular > ZERO * singular[0]))
    return singular[:rank], fixed(singular[:rank], v[:, :rank])


def fixed(singular: Matrix, vectors: Matrix) -> Matrix:
    """The same spaces in their fixed basis; singular values come greatest first, vectors are columns."""
    found = np.array(vectors, np.float64, order="F")
    if not len(singular):
        return found
    cuts = np.flatnonzero(singular[:-1] - singular[1:] > EQUAL * singular[0]) + 1
    for group in np.split(np.arange(len(singular)), cuts):
        if len(group) > 1:
            found[:, group] = _gram_schmidt(found[:, group])
    sizes = np.abs(found)
    first = np.argmax(sizes >= sizes.max(axis=0) - EQUAL, axis=0)
    return found * np.where(found[first, np.arange(found.shape[1])] < 0, -1.0, 1.0)


def _gram_schmidt(space: Matrix) -> Matrix:
    """The basis of a space that comes of its projected unit vectors, taken in order, those that add nothing left out.

    The projection of unit vector i is `space @ space[i]`: the short rows of `space` are enough to work with.
    """
    size = space.shape[1]
    rows = space[np.linalg.norm(space, axis=1) >= NEW]
    q, r = np.linalg.qr(rows[:size].T)
    if len(rows) >= size and bool((np.abs(np.diagonal(r)) >= NEW).all()):
        return np.asarray(space @ q)  # as a rule the first ones do; in compiled code
    basis = np.zeros((size, size))
    count = 0
    for row in rows:
        rest = row - basis[:count].T @ (basis[:count] @ row)
        length = float(np.linalg.norm(rest))
        if length >= NEW:
            rest -= basis[:count].T @ (basis[:count] @ rest)  # once more, for what rounding left
            basis[count] = rest / np.linalg.norm(rest)
            count += 1
            if count == size:
                break
    return np.asarray(space @ basis.T)
