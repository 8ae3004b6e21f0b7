"""Loops that verify a store."""

from __future__ import annotations

import numpy as np
from numba import uint64

from cocite.kernels.addresses.hashing import find_fingerprint
from cocite.kernels.addresses.xxh64 import SEED, xxh64
from cocite.kernels.build.near_duplicates import mix
from cocite.kernels.codec.lists import read_list, start_of
from cocite.kernels.codec.look_up import bucket_bits
from cocite.kernels.codec.name_codec import BLOCK, compare, next_name
from cocite.kernels.jit import kernel


@kernel
def check_direction(lists, first, count, ascending, mixed):
    """The first page whose list cannot be read, links to itself, repeats a link or is out of order; else -1.

    mixed[0] adds up a hash of every (source, target), the same for both directions.
    """
    longest = np.int64(0)
    for page in range(first, first + count):
        longest = max(longest, np.int64(lists.degree[page]))
    targets, none = np.empty(longest, np.uint32), np.empty(0, np.uint32)
    total = mixed[0]
    for page in range(first, first + count):
        degree = read_list(lists, page, targets, none)
        if degree < 0 or (degree == 0 and start_of(lists, page) != start_of(lists, page + 1)):
            return np.int64(page)
        ordered = targets[:degree] if ascending else np.sort(targets[:degree])
        for k in range(degree):
            if ordered[k] == page or (k > 0 and ordered[k] <= ordered[k - 1]):
                return np.int64(page)
            source, target = (ordered[k], page) if ascending else (page, ordered[k])
            total += mix(mix(source) + uint64(target))
    mixed[0] = total
    return np.int64(-1)


@kernel
def count_targets(lists, first, count, counts):
    """Add up how often each page is a target."""
    longest = np.int64(0)
    for page in range(first, first + count):
        longest = max(longest, np.int64(lists.degree[page]))
    targets, none = np.empty(longest, np.uint32), np.empty(0, np.uint32)
    for page in range(first, first + count):
        degree = read_list(lists, page, targets, none)
        if degree < 0:
            return np.int64(-1)
        for k in range(degree):
            counts[targets[k]] += 1
    return np.int64(0)


@kernel
def check_names(index, first, count, buffer, before):
    """The first page whose name cannot be read, is not above the one before, or has another fingerprint; else -1.

    `first` is a multiple of BLOCK; `before` holds the last name of the call before, as long as `buffer`.
    """
    length = np.int64(0)
    position = np.int64(0)
    before_length = np.int64(-1)
    for page in range(first, first + count):
        if page % BLOCK == 0:
            position, length = np.int64(index.names.block[page // BLOCK]), np.int64(0)
        position, length = next_name(index.names, position, buffer, length)
        if position < 0 or length == 0:
            return np.int64(page)
        if before_length >= 0 and compare(buffer, length, before[:before_length]) <= 0:
            return np.int64(page)
        if xxh64(buffer, 0, length, SEED) != index.fingerprint[page]:
            return np.int64(page)
        for k in range(length):
            before[k] = buffer[k]
        before_length = length
    return np.int64(-1)


@kernel
def check_look_up(index):
    """The first page whose fingerprint finds neither it nor an earlier page that has the same; else -1."""
    shift = 64 - bucket_bits(len(index.start))
    for page in range(len(index.fingerprint)):
        found = find_fingerprint(index.fingerprint, index.start, index.page, shift, index.fingerprint[page])
        if found < 0 or found > page:
            return np.int64(page)
    return np.int64(-1)
