"""The heaviest words of rows, beside a sort by three keys."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from cocite.words.matrices import highest, rows_of

VALUES = st.sampled_from([0.0, 1e-30, 0.25, 0.5, 0.5000001, 1.0, 3e30])


@given(st.lists(st.lists(VALUES, min_size=7, max_size=7), min_size=1, max_size=9), st.integers(1, 8), st.randoms())
def test_the_highest_of_each_row(rows: list[list[float]], maximum: int, dice: object) -> None:
    matrix = csr_array(np.array(rows, np.float32))
    for row in range(len(rows)):  # columns in any order
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        order = np.arange(part.start, part.stop)
        dice.shuffle(order)  # type: ignore[attr-defined]
        matrix.indices[part], matrix.data[part] = matrix.indices[order], matrix.data[order]
    matrix.has_sorted_indices = False
    expected = [
        (row, column)
        for row, values in enumerate(rows)
        for column in sorted((c for c, value in enumerate(values) if value), key=lambda c: (-np.float32(values[c]), c))[
            :maximum
        ]
    ]
    found = highest(matrix, maximum)
    assert [*zip(rows_of(matrix)[found].tolist(), matrix.indices[found].tolist(), strict=True)] == expected
