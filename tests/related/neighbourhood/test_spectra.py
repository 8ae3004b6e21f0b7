"""Singular vectors in their fixed basis: whatever a decomposition gives, what Gram–Schmidt by hand gives."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.related.neighbourhood import spectra
from cocite.related.neighbourhood.spectra import fixed, kept, leading, right_vectors, symmetric_left_vectors
from tests.related.methods.naive_community import decomposed, fixed_basis

Matrix = NDArray[np.float64]
bits = st.sampled_from([0.0, 0.0, 1.0])
matrices = arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 12)), elements=bits) | st.builds(
    lambda blocks, height, width: np.kron(np.eye(blocks), np.ones((height, width))),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 3),
)


def clear(matrix: Matrix) -> bool:
    """Whether singular values are equal or well apart: in between, the least rounding turns vectors."""
    values = np.linalg.svd(matrix, compute_uv=False)
    values = values[values > 1e-6 * max(1e-300, values[0])]
    gaps = -np.diff(values)
    return bool(((gaps < 1e-12) | (gaps > 1e-4)).all())


@given(matrices)
def test_right_vectors_are_those_of_the_plain_decomposition(matrix: Matrix) -> None:
    assume(clear(matrix))
    singular, v = right_vectors(csr_array(matrix))
    _, expected, true_v = decomposed(matrix)
    assert singular == pytest.approx(expected, abs=1e-7)
    assert v == pytest.approx(true_v, abs=1e-6)


@given(matrices)
def test_symmetric_matrices(matrix: Matrix) -> None:
    size = min(matrix.shape)
    square = matrix[:size, :size]
    symmetric = np.maximum(np.maximum(square, square.T), np.eye(size))
    assume(clear(symmetric))
    singular, w = symmetric_left_vectors(symmetric)
    _, expected, true_w = decomposed(symmetric)
    assert singular == pytest.approx(expected, abs=1e-7)
    assert w == pytest.approx(true_w, abs=1e-6)


@given(matrices, st.integers(0, 2**32 - 1))
def test_any_basis_of_the_same_spaces_gives_the_same_vectors(matrix: Matrix, seed: int) -> None:
    """Equal values are turned at random among themselves, and signs are thrown."""
    assume(matrix.any() and clear(matrix))
    _, singular, v = decomposed(matrix)
    random = np.random.default_rng(seed)
    turned = v.copy()
    cuts = np.flatnonzero(singular[:-1] - singular[1:] > 1e-9 * singular[0]) + 1
    for group in np.split(np.arange(len(singular)), cuts):
        q, _ = np.linalg.qr(random.normal(size=(len(group), len(group))))
        turned[:, group] = v[:, group] @ q
    assert fixed(singular, turned) == pytest.approx(v, abs=1e-6)
    assert fixed_basis(singular, turned) == pytest.approx(v, abs=1e-6)


def test_equal_values_take_the_unit_vectors_in_order() -> None:
    """Of the unit matrix every basis is one; projected unit vectors are unit vectors."""
    turned = np.array([[1.0, 1.0], [1.0, -1.0]]) / sqrt(2)
    assert fixed(np.ones(2), turned) == pytest.approx(np.eye(2))


def test_unit_vectors_that_add_nothing_are_skipped() -> None:
    """The space of (1, 1, 0)/√2 and (0, 0, 1): unit vectors 1 and 2 have the same projection, and 3 comes second."""
    space = np.array([[0.5, 0.5], [0.5, 0.5], [1 / sqrt(2), -1 / sqrt(2)]])
    expected = np.array([[1 / sqrt(2), 0], [1 / sqrt(2), 0], [0, 1]])
    assert fixed(np.ones(2), space) == pytest.approx(expected)


def test_the_largest_entry_is_positive_and_of_equals_the_first() -> None:
    vectors = np.array([[0.6, -0.5], [-0.8, 0.5]])
    assert fixed(np.array([2.0, 1.0]), vectors).tolist() == [[-0.6, 0.5], [0.8, -0.5]]


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 4)])
def test_nothing_to_decompose(shape: tuple[int, int]) -> None:
    empty = csr_array(shape)
    singular, v = right_vectors(empty)
    assert (singular.shape, v.shape) == ((0,), (shape[1], 0))
    u, singular, v = leading(empty, 3)
    assert (u.shape, singular.shape, v.shape) == ((shape[0], 0), (0,), (shape[1], 0))
    assert kept(np.zeros(shape[0]), 0.5) == (0, 0)


@given(matrices, st.integers(1, 5))
def test_leading_vectors_belong_together(matrix: Matrix, count: int) -> None:
    u, singular, v = leading(csr_array(matrix), count)
    assert len(singular) <= count
    assert np.isfinite(u).all() and np.isfinite(v).all()
    assert matrix @ v == pytest.approx(u * singular, abs=1e-7)
    assert matrix.T @ u == pytest.approx(v * singular, abs=1e-6)


def test_large_matrices_give_the_same_by_lanczos(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    for shape in ((60, 90), (90, 60)):
        matrix = csr_array((random.random(shape) < 0.2).astype(np.float64))
        whole = leading(matrix, 4)
        monkeypatch.setattr(spectra, "MAX_DENSE_SIZE", 10)
        for found, expected in zip(leading(matrix, 4), whole, strict=True):
            assert found == pytest.approx(expected, abs=1e-8)
        monkeypatch.undo()


def test_lanczos_starts_where_hubs_are_not_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hubs 0 to 39 link to pages 40 to 99: empty rows and columns have no part, and the start is not lost in them."""
    random = np.random.default_rng(4)
    matrix = np.zeros((100, 100))
    matrix[:40, 40:] = random.random((40, 60)) < 0.2
    monkeypatch.setattr(spectra, "MAX_DENSE_SIZE", 10)
    u, singular, v = leading(csr_array(matrix), 3)
    assert singular == pytest.approx(np.linalg.svd(matrix, compute_uv=False)[:3])
    assert not u[40:].any() and not v[:40].any()
    assert matrix @ v == pytest.approx(u * singular, abs=1e-9)


@pytest.mark.parametrize("copies", [1, 30])
def test_lanczos_on_matrices_of_low_rank(monkeypatch: pytest.MonkeyPatch, copies: int) -> None:
    """All hubs alike: rank 1; or blocks alike: one value thirty times."""
    monkeypatch.setattr(spectra, "MAX_DENSE_SIZE", 10)
    matrix = np.kron(np.eye(copies), np.ones((40 // copies + 2, 3 if copies > 1 else 50)))
    u, singular, v = leading(csr_array(matrix), 5)
    assert 1 <= len(singular) <= min(5, copies)
    assert singular == pytest.approx([np.linalg.norm(matrix, 2)] * len(singular))
    assert np.isfinite(u).all() and matrix @ v == pytest.approx(u * singular, abs=1e-7)
