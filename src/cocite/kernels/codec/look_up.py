"""From a key or an address to its page, by buckets of fingerprints and the names; see graph/FORMAT.md."""

from typing import NamedTuple

import numpy as np
from numba import carray, uint64  # type: ignore[attr-defined]
from numpy.typing import NDArray

from cocite.kernels.addresses import plain
from cocite.kernels.addresses.hashes import FINGERPRINT_SEED, xxh64
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.name_codec import MAX_KEY_BYTES, CodedNames, compare, read_name
from cocite.kernels.instructions import pointer_to
from cocite.kernels.jit import inline, kernel, lean_inline

NOT_PLAIN = -3  # the address is not plain: Python has to key it
_BYTE = np.dtype(np.uint8)


class NameIndex(NamedTuple):
    """The names of a store, and its index from fingerprints to pages.

    A fingerprint is a public hash: anybody can make addresses that have the same. So names decide, and pages are in
    order within a bucket: searching among a million pages of one fingerprint takes 20 comparisons.
    """

    names: CodedNames
    fingerprint: NDArray[np.uint64]
    start: NDArray[np.uint32]  # of each bucket of fingerprints in `page`
    page: NDArray[np.uint32]
    ordered: NDArray[np.uint8]  # 1: by fingerprint within a bucket, then by page; 0: by page, as in format 1


@kernel
def find_key(index, key, buffer):
    """The page with a key, -1 if there is none, DAMAGED - 1 if a name cannot be read; `buffer` is scratch."""
    fingerprint = xxh64(key, 0, len(key), FINGERPRINT_SEED)
    low, high = bucket_of(index, fingerprint)
    if index.ordered[0]:
        low = first_from(index, low, high, fingerprint)
        if low < high and fingerprint_at(index, low) != fingerprint:
            return np.int64(-1)
        if low + 1 < high and fingerprint_at(index, low + 1) != fingerprint:  # nearly always
            high = low + 1
    while low < high:
        # Pages of one fingerprint are in the order of their names, and before pages of a greater one.
        middle = (low + high) >> 1 if index.ordered[0] else low
        page, order = np.int64(index.page[middle]), np.int64(1)
        if page < len(index.fingerprint) and index.fingerprint[page] == fingerprint:
            length = read_name(index.names, page, buffer)
            if length < 0:
                return np.int64(DAMAGED - 1)
            order = compare(buffer, length, key)
            if order == 0:
                return page
        if order < 0 or not index.ordered[0]:
            low = middle + 1
        else:
            high = middle
    return np.int64(-1)


@kernel
def find_keys(index, data, offsets, buffer, found):
    """`find_key` of the keys data[offsets[i]:offsets[i + 1]]; returns whether all names could be read."""
    for i in range(len(found)):
        found[i] = find_key(index, data[offsets[i] : offsets[i + 1]], buffer)
        if found[i] < -1:
            return False
    return True


@lean_inline
def bucket_of(index, fingerprint):
    """Where the bucket of a fingerprint starts and stops in `index.page`."""
    bits = 0  # of a fingerprint, the number that choose its bucket
    while (1 << bits) + 1 < len(index.start):
        bits += 1
    bucket = uint64(fingerprint) >> uint64(64 - bits)
    stop = min(np.int64(index.start[bucket + uint64(1)]), np.int64(len(index.page)))
    return np.int64(index.start[bucket]), stop


@lean_inline
def fingerprint_at(index, place):
    """The fingerprint of the page at a place of `index.page`; 0 where the page doesn't exist."""
    page = np.int64(index.page[place])
    return index.fingerprint[page] if page < len(index.fingerprint) else uint64(0)


@lean_inline
def first_from(index, low, high, fingerprint):
    """The first place in [low, high) whose fingerprint isn't smaller than a given one, or `high`."""
    while low < high:
        middle = (low + high) >> 1
        if fingerprint_at(index, middle) < fingerprint:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def fill_buckets(fingerprints, shift, starts, pages, most):
    """The pages of each bucket by fingerprint, then by number, and where each starts. Returns how many repeat one.

    Buckets of more than `most` pages are by number only.
    """
    for i in range(len(fingerprints)):
        starts[(uint64(fingerprints[i]) >> uint64(shift)) + uint64(1)] += 1
    following = add_before(starts)
    for i in range(len(fingerprints)):
        bucket = uint64(fingerprints[i]) >> uint64(shift)
        pages[following[bucket]] = i
        following[bucket] += 1
    twins, own = np.int64(0), np.empty(most, np.uint64)
    for bucket in range(len(following)):
        begin, size = starts[bucket], starts[bucket + 1] - starts[bucket]
        for k in range(size if size <= most else 0):
            page, j = pages[begin + k], k
            value = uint64(fingerprints[page])
            while j > 0 and own[j - 1] > value:
                own[j], pages[begin + j] = own[j - 1], pages[begin + j - 1]
                j -= 1
            twins += j > 0 and own[j - 1] == value
            own[j], pages[begin + j] = value, page
    return twins


@inline
def add_before(bounds):
    """Turn sizes, from place 1 on, into bounds. Returns a copy: where to write the first item of each part."""
    for i in range(1, len(bounds)):
        bounds[i] += bounds[i - 1]
    return bounds[:-1].copy()


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


class AddressFinder:
    """From an address as spelled to its page in one call: the arrays that a thread needs, and where they are in memory.

    Passing an array to compiled code takes a third of a microsecond, and keying and looking up need twenty: more than
    the work itself. A call that passes the address alone takes 5 µs instead of 13.
    """

    def __init__(self, index: NameIndex, rules: plain.AddressRules) -> None:
        room = [np.array([0, 0]), np.empty(66, np.uintp), np.empty(MAX_KEY_BYTES, np.uint8), np.zeros(2, np.int64)]
        room += [np.zeros(1, np.uint8), np.empty(MAX_KEY_BYTES, np.uint8)]
        arrays = (*index.names, *index[1:], *rules, *room)
        self._kept = [np.ascontiguousarray(array) for array in arrays]  # or they would be freed
        self._where = np.array([(array.ctypes.data, *(*array.shape, 1)[:2]) for array in self._kept], np.int64)

    def find(self, address: str) -> int:
        """The page of an address in any spelling; -1 if there is none, less if it cannot be said."""
        try:
            text = address.encode()
        except UnicodeEncodeError:
            return NOT_PLAIN
        if len(text) > MAX_KEY_BYTES:
            return NOT_PLAIN
        return int(_find(self._where, np.frombuffer(text, _BYTE)))


@inline
def _vector(where, i, kind):
    """Array i."""
    return carray(pointer_to(where[i, 0]), where[i, 1], kind)


@inline
def _matrix(where, i, kind):
    """Array i, of two dimensions."""
    return carray(pointer_to(where[i, 0]), (where[i, 1], where[i, 2]), kind)


@kernel
def _find(where, text):
    """The page of one address, -1 if there is none, NOT_PLAIN or a lower number if it cannot be said."""
    names = CodedNames(
        _vector(where, 0, np.uint64), _vector(where, 1, np.uint64), _vector(where, 2, np.uint64),
        _vector(where, 3, np.uint32),
    )  # fmt: skip
    index = NameIndex(
        names, _vector(where, 4, np.uint64), _vector(where, 5, np.uint32), _vector(where, 6, np.uint32),
        _vector(where, 7, np.uint8),
    )  # fmt: skip
    rules = plain.AddressRules(
        _vector(where, 8, np.int64), _matrix(where, 9, np.uint64), _matrix(where, 10, np.uint64),
        _matrix(where, 11, np.uint8),
    )  # fmt: skip
    offsets, dots = _vector(where, 12, np.int64), _vector(where, 13, np.uintp)
    keyed = plain.PlainKeys(_vector(where, 14, np.uint8), _vector(where, 15, np.int64), _vector(where, 16, np.uint8))
    offsets[1] = len(text)
    if plain.key_plain(text, offsets, rules, dots, keyed):
        return np.int64(NOT_PLAIN)
    return find_key(index, keyed.data[: keyed.ends[1]], _vector(where, 17, np.uint8))
