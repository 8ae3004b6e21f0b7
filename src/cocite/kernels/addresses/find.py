"""From an address as spelled to its page in one call.

Handing an array to compiled code costs a third of a microsecond, and keying and looking up take twenty: more than the
work itself. So a `Desk` writes down once where its arrays are in memory, and a call hands over the address alone:
5 µs instead of 13.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from cocite.kernels.addresses import plain
from cocite.kernels.codec.look_up import NameIndex, find_key
from cocite.kernels.codec.name_codec import LONGEST_KEY, CodedNames
from cocite.kernels.jit import kernel

LEFT = -3
"""The address is not plain: Python has to key it."""

_BYTE = np.dtype(np.uint8)


class Desk:
    """The arrays that one thread needs to find pages, and where they are."""

    def __init__(self, index: NameIndex, rules: plain.AddressRules) -> None:
        room = [np.array([0, 0]), np.empty(66, np.uintp), np.empty(LONGEST_KEY, np.uint8), np.zeros(2, np.int64)]
        room += [np.zeros(1, np.uint64), np.zeros(1, np.uint8), np.empty(LONGEST_KEY, np.uint8)]
        self._kept = [
            np.ascontiguousarray(array) for array in (*index.names, *index[1:], *rules, *room)
        ]  # or they would be freed
        shapes = [(*array.shape, 1)[:2] for array in self._kept]
        where = [(array.ctypes.data, *shape) for array, shape in zip(self._kept, shapes, strict=True)]
        self._where = np.array(where, np.int64)

    def find(self, address: str) -> int:
        """The page of an address in any spelling; -1 if there is none, less if it cannot be said."""
        try:
            text = address.encode()
        except UnicodeEncodeError:
            return LEFT
        if len(text) > LONGEST_KEY:
            return LEFT
        return int(_find(self._where, np.frombuffer(text, _BYTE)))


@intrinsic
def _pointer(context: Any, number: Any) -> Any:
    """A number as a place in memory."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), generate


@kernel
def _find(where, text):
    """The page of one address, -1 if there is none, LEFT or a lower number if it cannot be said."""
    names = CodedNames(
        carray(_pointer(where[0, 0]), where[0, 1], np.uint64),
        carray(_pointer(where[1, 0]), where[1, 1], np.uint64),
        carray(_pointer(where[2, 0]), where[2, 1], np.uint32),
        carray(_pointer(where[3, 0]), where[3, 1], np.uint32),
    )
    index = NameIndex(
        names,
        carray(_pointer(where[4, 0]), where[4, 1], np.uint64),
        carray(_pointer(where[5, 0]), where[5, 1], np.uint32),
        carray(_pointer(where[6, 0]), where[6, 1], np.uint32),
    )
    rules = plain.AddressRules(
        carray(_pointer(where[7, 0]), where[7, 1], np.int64),
        carray(_pointer(where[8, 0]), (where[8, 1], where[8, 2]), np.uint64),
        carray(_pointer(where[9, 0]), (where[9, 1], where[9, 2]), np.uint64),
        carray(_pointer(where[10, 0]), (where[10, 1], where[10, 2]), np.uint8),
    )
    offsets = carray(_pointer(where[11, 0]), where[11, 1], np.int64)
    dots = carray(_pointer(where[12, 0]), where[12, 1], np.uintp)
    keyed = plain.PlainKeys(
        carray(_pointer(where[13, 0]), where[13, 1], np.uint8),
        carray(_pointer(where[14, 0]), where[14, 1], np.int64),
        carray(_pointer(where[15, 0]), where[15, 1], np.uint64),
        carray(_pointer(where[16, 0]), where[16, 1], np.uint8),
    )
    buffer = carray(_pointer(where[17, 0]), where[17, 1], np.uint8)
    offsets[1] = len(text)
    if plain.key_plain(text, offsets, rules, dots, keyed):
        return np.int64(LEFT)
    return find_key(index, keyed.data[: keyed.ends[1]], buffer)
