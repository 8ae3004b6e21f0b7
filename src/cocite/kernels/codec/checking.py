"""Loops that verify a store."""

import numpy as np
from numba import uint64

from cocite.kernels.addresses.hashes import FINGERPRINT_SEED, xxh64
from cocite.kernels.build.near_duplicates import mix
from cocite.kernels.codec.lists import bounds_of, read_grown
from cocite.kernels.codec.name_codec import NAMES_PER_BLOCK, compare, next_name
from cocite.kernels.jit import kernel


@kernel
def check_direction(lists, first, count, ascending, mixed, counts):
    """The first page with an invalid list, else -1. mixed[0] adds up a hash of every link, equal in both directions.

    Adds to `counts` how often each page is a target.
    """
    room, total = np.empty(1024, np.uint32), mixed[0]
    for page in range(first, first + count):
        degree, room = read_grown(lists, page, room)
        start, stop = bounds_of(lists, page)
        if degree < 0 or (degree == 0 and start != stop and len(lists.moved) == 0):
            return np.int64(page)
        ordered = room[:degree] if ascending else np.sort(room[:degree])
        for k in range(degree):
            if ordered[k] == page or (k > 0 and ordered[k] <= ordered[k - 1]):
                return np.int64(page)
            source, target = (ordered[k], page) if ascending else (page, ordered[k])
            total += mix(mix(source) + uint64(target))
            counts[ordered[k]] += 1
    mixed[0] = total
    return np.int64(-1)


@kernel
def check_names(index, first, count, buffer, before):
    """The first page with an unreadable or unordered name, or another fingerprint; else -1. `first` begins a block."""
    length, position, before_length = np.int64(0), np.int64(0), np.int64(-1)
    for page in range(first, first + count):
        if page % NAMES_PER_BLOCK == 0:
            position, length = np.int64(index.names.block[page // NAMES_PER_BLOCK]), np.int64(0)
        position, length = next_name(index.names, position, buffer, length)
        if position < 0 or length == 0:
            return np.int64(page)
        if before_length >= 0 and compare(buffer, length, before[:before_length]) <= 0:
            return np.int64(page)
        if xxh64(buffer, 0, length, FINGERPRINT_SEED) != index.fingerprint[page]:
            return np.int64(page)
        for k in range(length):
            before[k] = buffer[k]
        before_length = length
    return np.int64(-1)
