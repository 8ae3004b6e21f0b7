"""Links that a page has again in another block: see `repeat` in graph/FORMAT.md."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import flags_of
from cocite.kernels.jit import inline
from cocite.kernels.related.vicinity import is_refused


class Repeats(NamedTuple):
    """The repeated links of a store as its raw arrays."""

    page: NDArray[np.uint32]
    target: NDArray[np.uint32]
    attribute: NDArray[np.uint32]


@inline
def repeats_of(repeats, page):
    """Where the repeated links of a page begin and end."""
    low, high = np.int64(0), np.int64(len(repeats.page))
    while low < high:
        middle = (low + high) // 2
        if repeats.page[middle] < page:
            low = middle + 1
        else:
            high = middle
    while high < len(repeats.page) and repeats.page[high] == page:
        high += 1
    return low, high


@inline
def is_counted(repeats, k, refused):
    """Whether a repeated link counts; one to a page that there is not does not."""
    target = np.int64(repeats.target[k])
    known = target < len(refused.in_degree)
    return known and flags_of(repeats.attribute[k]) & refused.flags == 0 and not is_refused(refused, target)
