"""Texts in bulk, text i at data[offsets[i]:offsets[i + 1]]: runs of equal hosts, and chosen lines."""

import numpy as np

from cocite.kernels.jit import kernel


@kernel
def mark_hosts(data, offsets, first, lengths, initials):
    """first[i] = key i has another host than key i - 1; its host's length; the first byte of its path, or 0."""
    for i in range(len(offsets) - 1):
        start, stop = offsets[i], offsets[i + 1]
        end = stop  # up to and with the `)` that ends the host; all of an opaque name (its first byte is below 32)
        for k in range(start, stop if start < stop and data[start] >= 32 else start):
            if data[k] == 41:
                end = k + 1
                break
        length = lengths[i] = np.int64(end - start)
        k = length - 1 if i > 0 and length == lengths[i - 1] else length
        while 0 <= k < length and data[start + k] == data[offsets[i - 1] + k]:  # hosts differ mostly near their ends
            k -= 1
        first[i] = k >= 0
        at = start + length
        if at < stop and data[at] == 58:  # a port
            while at < stop and data[at] > 3:
                at += 1
        initials[i] = data[at + 1] if at + 1 < stop else 0


@kernel
def pick_lines(data, offsets, rows, positions, starts, out, ends):
    """Of text rows[i] keep the lines at positions[starts[i]:starts[i + 1]], in that order, joined by line feeds.

    A line that the text doesn't have is empty. ends[i] receives the end of text i in `out`. Empty lines at the end of a
    text are dropped, so a text of empty lines is empty. `out` has room for the texts and a byte per position.
    """
    longest = np.int64(0)
    for row in rows:
        longest = max(longest, np.int64(offsets[row + 1] - offsets[row]))
    begins, at = np.empty(longest + 2, np.int64), np.int64(0)
    for i in range(len(rows)):
        start, stop = offsets[rows[i]], offsets[rows[i] + 1]
        begins[0], lines = start, 1
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
            if position < lines and begins[position + 1] - 1 > begins[position]:
                for k in range(begins[position], begins[position + 1] - 1):
                    if at >= len(out):
                        return np.int64(-1)
                    out[at] = data[k]
                    at += 1
                kept = at
        at = kept
        ends[i] = at
    return at
