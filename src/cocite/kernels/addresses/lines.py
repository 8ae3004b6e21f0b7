"""Picking lines out of texts in bulk."""

from __future__ import annotations

import numpy as np

from cocite.kernels.jit import kernel


@kernel
def pick_lines(data, offsets, rows, positions, starts, out, ends):
    """Of text rows[i] keep the lines at positions[starts[i]:starts[i + 1]], in that order, joined by line feeds.

    A line that the text does not have is empty. ends[i] receives where text i ends in `out`; empty lines at the end of
    a text are left out, so that a text of empty lines is empty. `out` must hold the texts and a byte per position.
    """
    longest = np.int64(0)
    for row in rows:
        longest = max(longest, np.int64(offsets[row + 1] - offsets[row]))
    begins = np.empty(longest + 2, np.int64)
    at = np.int64(0)
    for i in range(len(rows)):
        start, stop = offsets[rows[i]], offsets[rows[i] + 1]
        lines = 1
        begins[0] = start
        for k in range(start, stop):
            if data[k] == 10:
                begins[lines] = k + 1
                lines += 1
        begins[lines] = stop + 1
        kept = at  # the end of the last line that is not empty
        for j in range(starts[i], starts[i + 1]):
            if j > starts[i]:
                out[at] = 10
                at += 1
            position = np.int64(positions[j])
            if position < lines:
                for k in range(begins[position], begins[position + 1] - 1):
                    if at >= len(out):
                        return np.int64(-1)
                    out[at] = data[k]
                    at += 1
                if begins[position + 1] - 1 > begins[position]:
                    kept = at
        at = kept
        ends[i] = at
    return at
