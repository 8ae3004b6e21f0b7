"""From an address as spelled to its page in one call.

Passing an array to compiled code takes a third of a microsecond, and keying and looking up need twenty: more than the
work itself. So an `AddressFinder` notes once where its arrays are in memory, and a call passes the address alone: 5 µs
instead of 13.
"""

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from cocite.kernels.addresses import plain
from cocite.kernels.codec.look_up import NameIndex, find_key
from cocite.kernels.codec.name_codec import MAX_KEY_BYTES, CodedNames
from cocite.kernels.instructions import pointer_to
from cocite.kernels.jit import inline, kernel

NOT_PLAIN = -3
"""The address is not plain: Python has to key it."""
_BYTE = np.dtype(np.uint8)


class AddressFinder:
    """The arrays that one thread needs to find pages, and where they are."""

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
