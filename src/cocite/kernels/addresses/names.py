"""Runs of equal keys and of equal hosts in sorted names."""

from __future__ import annotations

import numpy as np

from cocite.kernels.jit import inline, kernel


@inline
def host_length(data, start, stop):
    """Bytes of a key up to and with the `)` that ends its host; all of an opaque name (its first byte is below 32)."""
    if start == stop or data[start] < 32:
        return stop - start
    for k in range(start, stop):
        if data[k] == 41:
            return k + 1 - start
    return stop - start


@kernel
def mark_changes(data, offsets, before, first):
    """first[i] = key i differs from the key before it (`before` for the first)."""
    for i in range(len(offsets) - 1):
        size = offsets[i + 1] - offsets[i]
        if i == 0:
            same = size == len(before)
            for k in range(size):
                if not same:
                    break
                same = data[offsets[0] + k] == before[k]
        else:
            same = size == offsets[i] - offsets[i - 1]
            k = np.int64(size) - 1  # keys differ mostly near their ends
            while same and k >= 0:
                same = data[offsets[i] + k] == data[offsets[i - 1] + k]
                k -= 1
        first[i] = not same


@kernel
def mark_hosts(data, offsets, first, lengths, initials):
    """Where hosts begin: first[i] = key i has another host than key i - 1; lengths[i] = its host's bytes.

    initials[i] receives the first byte of the path's first part, or 0.
    """
    for i in range(len(offsets) - 1):
        lengths[i] = host_length(data, offsets[i], offsets[i + 1])
        same = i > 0 and lengths[i] == lengths[i - 1]
        k = np.int64(lengths[i]) - 1
        while same and k >= 0:
            same = data[offsets[i] + k] == data[offsets[i - 1] + k]
            k -= 1
        first[i] = not same
        at = offsets[i] + lengths[i]
        if at < offsets[i + 1] and data[at] == 58:  # a port
            while at < offsets[i + 1] and data[at] > 3:
                at += 1
        initials[i] = data[at + 1] if at + 1 < offsets[i + 1] else 0
