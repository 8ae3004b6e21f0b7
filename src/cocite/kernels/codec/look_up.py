"""From a key to its page, by buckets of fingerprints and the names; see graph/FORMAT.md."""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.addresses.xxh64 import FINGERPRINT_SEED, xxh64
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.name_codec import CodedNames, read_name
from cocite.kernels.jit import inline, kernel


class NameIndex(NamedTuple):
    """The names of a store, and its index from fingerprints to pages."""

    names: CodedNames
    fingerprint: NDArray[np.uint64]
    start: NDArray[np.uint32]  # of each bucket of fingerprints in `page`
    page: NDArray[np.uint32]


@kernel
def find_key(index, key, buffer):
    """The page with a key, -1 if there is none, DAMAGED - 1 if its name cannot be read; `buffer` is scratch."""
    page = find_fingerprint(index, xxh64(key, 0, len(key), FINGERPRINT_SEED))
    if page < 0:
        return page
    # A fingerprint is nearly proof, the name is proof.
    length = read_name(index.names, page, buffer)
    if length < 0:
        return np.int64(DAMAGED - 1)
    if length != len(key):
        return np.int64(-1)
    for k in range(length):
        if buffer[k] != key[k]:
            return np.int64(-1)
    return page


@inline
def find_fingerprint(index, fingerprint):
    """The first page with a fingerprint, or -1."""
    bits = 0  # of a fingerprint, the number that choose its bucket
    while (1 << bits) + 1 < len(index.start):
        bits += 1
    bucket = uint64(fingerprint) >> uint64(64 - bits)
    stop = min(np.int64(index.start[bucket + uint64(1)]), np.int64(len(index.page)))
    for k in range(np.int64(index.start[bucket]), stop):
        page = np.int64(index.page[k])
        if page < len(index.fingerprint) and index.fingerprint[page] == fingerprint:
            return page
    return np.int64(-1)


@kernel
def count_buckets(fingerprints, shift, starts):
    """First half of the index: where the bucket of each value of the top bits starts."""
    for i in range(len(fingerprints)):
        starts[(uint64(fingerprints[i]) >> uint64(shift)) + uint64(1)] += 1
    for b in range(1, len(starts)):
        starts[b] += starts[b - 1]


@kernel
def fill_buckets(fingerprints, shift, starts, pages):
    """Second half: the pages of each bucket, ascending. Returns how many have the fingerprint of an earlier one."""
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


@kernel
def find_position(sorted_values, value):
    """The first place of a value in an ascending array, or -1."""
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
