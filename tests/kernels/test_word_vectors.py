"""Cosines of sparse rows against those of dense ones."""

from __future__ import annotations

import numpy as np
import pytest

from cocite.kernels.words.word_vectors import CHUNK_WORDS, PREFETCH_ROWS, SCALE, Sparse, cosines

WORDS = 3 * CHUNK_WORDS


@pytest.mark.parametrize("seed", range(4))
def test_cosines_are_those_of_dense_rows(seed: int) -> None:
    """Rows that are empty, short, and longer than what is filtered at once; more rows than are prefetched."""
    random = np.random.default_rng(seed)
    sizes = [0, WORDS, *random.integers(0, 40, 3 * PREFETCH_ROWS).tolist(), CHUNK_WORDS, CHUNK_WORDS + 1]
    dense, ids, weights = np.zeros((len(sizes), WORDS)), list[int](), list[int]()
    for row, size in enumerate(sizes):
        chosen = np.sort(random.choice(WORDS, size, replace=False))
        ids += chosen.tolist()
        weights += random.integers(1, 2000, size).tolist()
        dense[row, chosen] = np.array(weights[len(weights) - size :]) / SCALE
    stop = (random.random(WORDS) < 0.5).astype(np.uint8)
    rows = Sparse.of(np.cumsum([0, *sizes]), np.array(ids, np.uint32), np.array(weights, np.uint16))
    pages = random.permutation(len(sizes)).astype(np.uint32)
    for row in range(len(sizes)):
        found = np.empty(len(pages))
        cosines(rows, row, stop, pages, found)
        share_content = ((dense[pages] > 0) & (dense[row] > 0) & (stop == 0)).any(axis=1)
        assert found == pytest.approx(np.where(share_content, dense[pages] @ dense[row], 0.0), abs=1e-12)


def test_a_row_that_a_damaged_file_lacks_is_empty() -> None:
    rows = Sparse.of(np.array([0, 1]), np.array([9], np.uint32), np.array([1], np.uint16))
    for row, pages in ((0, [5, 0]), (5, [0])):
        found = np.ones(len(pages))
        cosines(rows, row, np.zeros(1, np.uint8), np.array(pages, np.uint32), found)
        assert found.tolist() == [0.0] * len(pages)  # its word isn't in the vocabulary: it may be a stop word
