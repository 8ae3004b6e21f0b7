"""From an address's key to its page, and back, inside compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.addresses.hashing import find_fingerprint
from cocite.kernels.addresses.xxh64 import SEED, xxh64
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.name_codec import BLOCK, CodedNames, next_name
from cocite.kernels.jit import inline, kernel


class NameIndex(NamedTuple):
    """The names of a store, and its index from fingerprints to pages; see graph/FORMAT.md."""

    names: CodedNames
    fingerprint: NDArray[np.uint64]
    start: NDArray[np.uint32]  # of each bucket of fingerprints in `page`
    page: NDArray[np.uint32]


@inline
def find_key(index, key, buffer):
    """The page with a key, -1 if there is none, DAMAGED - 1 if its name cannot be read; `buffer` is scratch."""
    fingerprint = xxh64(key, 0, len(key), SEED)
    shift = 64 - bucket_bits(len(index.start))
    page = find_fingerprint(index.fingerprint, index.start, index.page, shift, fingerprint)
    if page < 0:
        return page
    # A fingerprint is nearly proof, the name is proof.
    position, length = np.int64(index.names.block[page // BLOCK]), np.int64(0)
    for _ in range(page % BLOCK + 1):
        position, length = next_name(index.names, position, buffer, length)
        if position < 0:
            return np.int64(DAMAGED - 1)
    if length != len(key):
        return np.int64(-1)
    for k in range(length):
        if buffer[k] != key[k]:
            return np.int64(-1)
    return page


@inline
def bucket_bits(starts):
    """The number of fingerprint bits that choose a bucket, from the length of the table of buckets."""
    bits = 0
    while (1 << bits) + 1 < starts:
        bits += 1
    return bits


@kernel
def find(index, key, buffer):
    """`find_key` for callers outside compiled code."""
    return find_key(index, key, buffer)


@kernel
def find_position(sorted_values, value):
    """The place of a value in an ascending array, or -1."""
    low, high = np.int64(0), np.int64(len(sorted_values))
    while low < high:
        middle = (low + high) >> 1
        if sorted_values[middle] < value:
            low = middle + 1
        else:
            high = middle
    if low < len(sorted_values) and uint64(sorted_values[low]) == uint64(value):
        return low
    return np.int64(-1)
