"""Singular vectors that are the same on every machine and in every order of reading.

A decomposition leaves open the sign of every vector, and within equal singular values the whole basis. Both are fixed
here: equal values share the basis that Gram–Schmidt makes of their projected unit vectors, the first entry first; of
every vector the entry of largest magnitude is positive, of several the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
ZERO = 1e-6
"""Singular values below this share of the greatest count as 0: by AᵀA zeros come out as some 1e-8 of it."""
EQUAL = 1e-9
"""Singular values, as a share of the greatest, and entries of vectors that differ by less are equal."""
NEW = 1e-6
"""A projected unit vector of which less than this is left, after those before it, adds no direction."""
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
    """(U, singular values, V): the `count` greatest of a sparse matrix, fewer if there are fewer.

    Beyond `DENSE` they are found by Lanczos' method from a start that depends on the matrix alone; it may miss copies
    of a value that occurs several times.
    """
    if not matrix.nnz or not count:
        return np.zeros((matrix.shape[0], 0)), np.zeros(0), np.zeros((matrix.shape[1], 0))
    if min(matrix.shape) <= DENSE:
        singular, v = right_vectors(matrix)
    else:
        from scipy.sparse.linalg import svds

        smaller = int(matrix.shape[0] > matrix.shape[1])
        start = np.asarray(matrix.sum(axis=1 - smaller), np.float64).ravel()
        found = svds(matrix, k=min(count + 2, min(matrix.shape) - 1), v0=start)
        order = np.argsort(-found[1], kind="stable")
        singular, v = found[1][order], found[2][order].T
        rank = int(np.count_nonzero(singular > ZERO * singular[0]))
        singular, v = singular[:rank], fixed(singular[:rank], v[:, :rank])
    singular, v = singular[:count], v[:, :count]
    return (matrix @ v) / singular, singular, v


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
