"""From a key or an address to its page, by buckets of fingerprints and the names; see graph/FORMAT.md."""

from typing import NamedTuple

import numpy as np
from numba import carray, uint64  # type: ignore[attr-defined]
from numpy.typing import NDArray

from cocite.kernels.addresses import plain
from cocite.kernels.addresses.xxh64 import FINGERPRINT_SEED, xxh64
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.name_codec import MAX_KEY_BYTES, CodedNames, compare, read_name
from cocite.kernels.instructions import pointer_to
from cocite.kernels.jit import inline, kernel

NOT_PLAIN = -3  # the address is not plain: Python has to key it
_BYTE = np.dtype(np.uint8)


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
    return page if compare(buffer, length, key) == 0 else np.int64(-1)


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
def fill_buckets(fingerprints, shift, starts, pages):
    """The pages of each bucket, ascending, and where each starts. Returns how many repeat an earlier fingerprint."""
    for i in range(len(fingerprints)):
        starts[(uint64(fingerprints[i]) >> uint64(shift)) + uint64(1)] += 1
    twins, following = np.int64(0), add_before(starts)
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
        room += [np.zeros(1, np.uint64), np.zeros(1, np.uint8), np.empty(MAX_KEY_BYTES, np.uint8)]
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
        _vector(where, 0, np.uint64), _vector(where, 1, np.uint64), _vector(where, 2, np.uint32),
        _vector(where, 3, np.uint32),
    )  # fmt: skip
    index = NameIndex(names, _vector(where, 4, np.uint64), _vector(where, 5, np.uint32), _vector(where, 6, np.uint32))
    rules = plain.AddressRules(
        _vector(where, 7, np.int64), _matrix(where, 8, np.uint64), _matrix(where, 9, np.uint64),
        _matrix(where, 10, np.uint8),
    )  # fmt: skip
    offsets, dots = _vector(where, 11, np.int64), _vector(where, 12, np.uintp)
    keyed = plain.PlainKeys(
        _vector(where, 13, np.uint8), _vector(where, 14, np.int64), _vector(where, 15, np.uint64),
        _vector(where, 16, np.uint8),
    )  # fmt: skip
    offsets[1] = len(text)
    if plain.key_plain(text, offsets, rules, dots, keyed):
        return np.int64(NOT_PLAIN)
    return find_key(index, keyed.data[: keyed.ends[1]], _vector(where, 17, np.uint8))
