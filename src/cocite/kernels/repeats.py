"""Links that a page has again in another block: see `repeat` in graph/FORMAT.md."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels import inline, kernel
from cocite.kernels.link_codec import DAMAGED
from cocite.kernels.vicinity import is_refused

ALL, BLOCK = np.uint32(0xFFFFFFFF), np.uint32(0xFFFFFF)
"""Of an attribute, the block, plus one."""
MOST = 4
"""Blocks of a parent in which a page is looked at."""


class Repeats(NamedTuple):
    """The repeated links of a store as its raw arrays."""

    page: NDArray[np.uint32]
    target: NDArray[np.uint32]
    attribute: NDArray[np.uint32]


@inline
def first_from(values, mask, low, high, value):
    """Where the first value of at least `value` is in values[low:high] & mask, which ascends."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] & mask < value:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def counts(repeats, k, refused):
    """Whether a repeated link counts."""
    return (repeats.attribute[k] >> 24) & refused.flags == 0 and not is_refused(refused, repeats.target[k])


@kernel
def with_repeats(repeats, page_count, refused, page, parents, starts, places, whole, targets, attributes):
    """Parents as `read_parents` gives them, with what they link to again, each once for every block that has `page`.

    A repeated link comes after the first run of links of its block, or last of all if the block has no other. Of long
    lists that were read in part, the repeats are left out. A negative first number is DAMAGED.
    """
    count, room, listings = len(parents), np.int64(0), np.int64(0)
    low, high, times = np.zeros(count, np.int64), np.zeros(count, np.int64), np.ones(count, np.int64)
    sound = True
    for i in range(count):
        if whole[i]:
            low[i] = first_from(repeats.page, ALL, np.int64(0), np.int64(len(repeats.page)), parents[i])
            high[i] = low[i]
            while high[i] < len(repeats.page) and repeats.page[high[i]] == parents[i]:
                sound &= np.int64(repeats.target[high[i]]) < page_count
                times[i] += repeats.target[high[i]] == page and times[i] < MOST
                high[i] += 1
        listings += times[i]
        room += times[i] * (starts[i + 1] - starts[i] + high[i] - low[i])
    new_parents, new_starts = np.empty(listings, np.uint32), np.zeros(listings + 1, np.int64)
    new_places, new_whole = np.empty(listings, np.int64), np.empty(listings, np.bool_)
    new_targets, new_attributes = np.empty(room, np.uint32), np.empty(room, np.uint32)
    done, at = np.int64(0), np.int64(0)
    for i in range(count if sound else 0):
        begin = at
        left = np.ones(high[i] - low[i], np.bool_)
        for k in range(starts[i], starts[i + 1]):
            new_targets[at], new_attributes[at] = targets[k], attributes[k]
            at += 1
            block = attributes[k] & BLOCK
            if block == 0 or (k + 1 < starts[i + 1] and attributes[k + 1] & BLOCK == block):
                continue
            r = first_from(repeats.attribute, BLOCK, low[i], high[i], block)
            while r < high[i] and left[r - low[i]] and repeats.attribute[r] & BLOCK == block:
                left[r - low[i]] = False
                if counts(repeats, r, refused):
                    new_targets[at], new_attributes[at] = repeats.target[r], repeats.attribute[r]
                    at += 1
                r += 1
        for r in range(low[i], high[i]):
            if left[r - low[i]] and counts(repeats, r, refused):
                new_targets[at], new_attributes[at] = repeats.target[r], repeats.attribute[r]
                at += 1
        length, listed = at - begin, 0
        for k in range(begin, begin + length):
            if new_targets[k] != page or listed == times[i]:
                continue
            if listed > 0:
                new_targets[at : at + length] = new_targets[begin : begin + length]
                new_attributes[at : at + length] = new_attributes[begin : begin + length]
                at += length
            new_parents[done], new_whole[done] = parents[i], whole[i]
            new_starts[done], new_places[done] = at - length, at - length + k - begin
            listed += 1
            done += 1
    new_starts[done] = at
    return (
        done if sound else np.int64(DAMAGED), new_parents[:done], new_starts[: done + 1], new_places[:done],
        new_whole[:done], new_targets, new_attributes,
    )  # fmt: skip
