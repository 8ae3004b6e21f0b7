"""Hash tables over page fingerprints: which were seen, which page has which number, and the store's own look-up.

Fingerprints are uniform 64-bit hashes, so their own bits serve as table positions.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from cocite.kernels.jit import inline, kernel


@kernel
def copy_chosen(data, offsets, chosen, out, out_offsets):
    """The chosen texts one after another."""
    at = np.int64(0)
    k = 0
    out_offsets[0] = 0
    for i in range(len(offsets) - 1):
        if chosen[i]:
            for j in range(offsets[i], offsets[i + 1]):
                out[at] = data[j]
                at += 1
            k += 1
            out_offsets[k] = at
    return at


@kernel
def count_buckets(fingerprints, shift, starts):
    """First half of the look-up index: how many fingerprints have these top bits."""
    for i in range(len(fingerprints)):
        starts[(uint64(fingerprints[i]) >> uint64(shift)) + uint64(1)] += 1
    for b in range(1, len(starts)):
        starts[b] += starts[b - 1]


@kernel
def fill_buckets(fingerprints, shift, starts, pages):
    """Second half: page numbers by the top bits of their fingerprints, ascending within a bucket.

    Returns how many pages have the fingerprint of an earlier one.
    """
    twins = np.int64(0)
    following = starts[:-1].copy()
    for i in range(len(fingerprints)):
        bucket = uint64(fingerprints[i]) >> uint64(shift)
        for k in range(starts[bucket], following[bucket]):
            if fingerprints[pages[k]] == fingerprints[i]:
                twins += 1
                break
        pages[following[bucket]] = i
        following[bucket] += 1
    return twins


@inline
def find_fingerprint(fingerprints, starts, pages, shift, fingerprint):
    """The page with a fingerprint, or -1."""
    bucket = uint64(fingerprint) >> uint64(shift)
    stop = min(np.int64(starts[bucket + uint64(1)]), np.int64(len(pages)))
    for k in range(np.int64(starts[bucket]), stop):
        page = np.int64(pages[k])
        if page < len(fingerprints) and fingerprints[page] == fingerprint:
            return page
    return np.int64(-1)
