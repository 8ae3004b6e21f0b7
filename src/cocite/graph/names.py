"""Many names of a store, or of one that is being built, at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec import name_codec

Coded = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]
"""`name.words` and `name.block` of FORMAT.md, and the tables that decode characters and shared lengths."""


def read_keys(coded: Coded, first: int, count: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The keys of pages [first, first + count): bytes, and where each begins. Raises ValueError for damaged names."""
    offsets = np.zeros(count + 1, np.int64)
    buffer = np.empty(name_codec.LONGEST_KEY, np.uint8)
    size = 128 * count
    while True:
        data = np.empty(size, np.uint8)
        done = name_codec.decode_names(*coded, first, count, buffer, data, offsets)
        if done == count:
            return data[: int(offsets[-1])], offsets
        if done < 0:
            raise ValueError("damaged names")
        size *= 2
