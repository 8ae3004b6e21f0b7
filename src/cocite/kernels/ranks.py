"""Kernels of the global ranks: sums over links, block by block.

Lists are decoded once, if memory allows. Each link says where the next begins, so decoding waits for itself: the two
halves of a block are decoded in step, which takes half the time. Then links are divided: those to pages of the same
block take 16 bits, and their values are in the fastest cache. The others lie anywhere: their values are prefetched.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.codec.link_codec import DAMAGED, MAX_LINK_BITS, next_target
from cocite.kernels.codec.lists import read_list, start_of
from cocite.kernels.instructions import prefetch_item
from cocite.kernels.jit import inline, kernel

Vector = NDArray[np.float64]
PREFETCH_LINKS = 64  # links between prefetching a value and using it


class DividedLinks(NamedTuple):
    """The links of a block: the near ones of its page i are near[near_starts[i]:near_starts[i + 1]]."""

    near_starts: NDArray[np.uint32]
    near: NDArray[np.uint16]  # pages of the block, counted from its first
    far_starts: NDArray[np.uint32]
    far: NDArray[np.uint32]  # other pages, and PREFETCH_LINKS more items


class SurferSystem(NamedTuple):
    """x = jump · bias + the sum of shared over in-links; shared = x · flow / degree. An empty bias is 1 everywhere."""

    flow: float
    degree: NDArray[np.uint32]
    jump: float
    bias: NDArray[np.uint32]
    values: Vector  # x of all pages
    shared: Vector  # what each gives to every page it links to


@inline
def next_page(lists, page, last, position):
    """The next page with links, and how many: DAMAGED if its list doesn't begin where the last one ended."""
    left = np.int64(0)
    while left == 0 and page + 1 < last:
        page += 1
        left = np.int64(lists.degree[page]) if start_of(lists, page) == position else np.int64(DAMAGED)
    return page, left


@inline
def decode_rest(lists, last, state, targets, at, stop):
    """Decode the rest of the lists of a run of pages into targets[at:stop]; returns whether they are valid."""
    limit, pages = (np.int64(len(lists.words)) - 1) << 6, np.int64(len(lists.degree))
    position, page, left, previous = state
    while at < stop:
        if left == 0:
            page, left = next_page(lists, page, last, position)
            previous = page
        if left <= 0 or not 0 <= position < limit:
            return False
        position, previous = next_target(lists.words, lists.table, position, page, previous)
        if not 0 <= previous < pages:
            return False
        targets[at] = previous
        at, left = at + 1, left - 1
    return start_of(lists, last) == position


@inline
def decode_both(lists, first, middle, last, starts, targets):
    """Decode pages [first, middle) and [middle, last) in step, until one half ends."""
    words, table, pages = lists.words, lists.table, uint64(len(lists.degree))
    position, position2 = start_of(lists, first), start_of(lists, middle)
    page, left, page2, left2 = np.int64(first) - 1, np.int64(0), np.int64(middle) - 1, np.int64(0)
    previous, previous2 = page, page2
    at, across = np.int64(0), starts[middle - first]
    todo = min(across, starts[last - first] - across)
    good = True
    while at < todo and good:
        if left == 0:
            page, left = next_page(lists, page, middle, position)
            previous = page
        if left2 == 0:
            page2, left2 = next_page(lists, page2, last, position2)
            previous2 = page2
        run = min(left, left2, todo - at)
        good = run > 0
        for k in range(at, at + run):
            position, previous = next_target(words, table, position, page, previous)
            position2, previous2 = next_target(words, table, position2, page2, previous2)
            targets[k], targets[across + k] = previous, previous2
            good &= (uint64(previous) < pages) & (uint64(previous2) < pages)
        at, left, left2 = at + run, left - run, left2 - run
    return good, at, (position, page, left, previous), (position2, page2, left2, previous2)


@inline
def decode_block(lists, first, last, starts, targets):
    """Decode the lists of pages [first, last) and where each starts; returns whether they are valid."""
    count, longest, ascend = last - first, np.int64(0), True
    starts[0] = 0
    if len(lists.moved) > 0:  # lists of layers are elsewhere
        for i in range(count):
            got = read_list(lists, first + i, targets[starts[i] :], targets[:0])
            if got < 0:
                return False
            starts[i + 1] = starts[i] + got
        return True
    begin = start_of(lists, first)
    for i in range(count):
        degree, end = np.int64(lists.degree[first + i]), start_of(lists, first + i + 1)
        longest = max(longest, degree)
        starts[i + 1] = starts[i] + degree
        ascend, begin = ascend and begin <= end, end
    total = starts[count]
    if total > len(targets) or not ascend:
        return False
    # Every list begins between the first and the last, since all ascend, and where the one before it ended, which is
    # checked. In between no link takes more than MAX_LINK_BITS bits.
    end, limit = start_of(lists, last) + longest * MAX_LINK_BITS, (np.int64(len(lists.words)) - 1) << 6
    if 0 <= start_of(lists, first) < end < limit:
        half = np.searchsorted(starts[: count + 1], total // 2)
        good, at, state, state2 = decode_both(lists, first, first + half, last, starts, targets)
        good = good and decode_rest(lists, first + half, state, targets, at, starts[half])
        return good and decode_rest(lists, last, state2, targets, starts[half] + at, total)
    state = start_of(lists, first), np.int64(first) - 1, np.int64(0), np.int64(first)
    return decode_rest(lists, last, state, targets, np.int64(0), total)


@kernel
def block_bounds(degree, links):
    """Bounds of blocks of at most `links` links and pages together; a longer list is a block of its own."""
    bounds, size = [np.int64(0)], np.int64(0)
    for page in range(len(degree)):
        more = np.int64(degree[page]) + 1
        if size > 0 and size + more > links:
            bounds.append(np.int64(page))
            size = 0
        size += more
    bounds.append(np.int64(len(degree)))
    return np.array(bounds)


@kernel
def divide(lists, first, last, starts, targets, links):
    """Decode the lists of pages [first, last) and divide their links; returns whether the lists are valid."""
    if not decode_block(lists, first, last, starts, targets):
        return False
    near_starts, near, far_starts, far = links
    m, n = np.int64(0), np.int64(0)
    for i in range(last - first):
        near_starts[i], far_starts[i] = m, n
        for k in range(starts[i], starts[i + 1]):
            page = np.int64(targets[k])
            here = first <= page < last
            near[m], far[n] = page - first, page
            m, n = m + here, n + 1 - here
    near_starts[last - first], far_starts[last - first] = m, n
    far[n : n + PREFETCH_LINKS] = 0
    return True


@inline
def sum_far(links, i, given):
    """The sum of `given` over the far links of a block's page."""
    far, together = links.far, 0.0
    for k in range(links.far_starts[i], links.far_starts[i + 1]):
        prefetch_item(given, np.int64(far[k + PREFETCH_LINKS]))
        together += given[far[k]]
    return together


@kernel
def add_up(links, first, given, result):
    """Set result[page] to the sum of `given` over the links of each page of a block."""
    near_starts, near = links.near_starts, links.near
    for i in range(len(near_starts) - 1):
        together = sum_far(links, i, given)
        for k in range(near_starts[i], near_starts[i + 1]):
            together += given[first + near[k]]
        result[first + i] = together


@kernel
def settle(links, first, system, fresh, outside, sweeps):
    """Gauss-Seidel on a block; returns the sum of changes.

    What comes from outside the block is added up once. Inside, several sweeps to and fro compute values anew, each from
    the newest others. `values` is written, `shared` only read: its new values go to `fresh`, so that blocks can be
    settled side by side with the same result.
    """
    near_starts, near = links.near_starts, links.near
    flow, degree, jump, bias, values, shared = system
    count, change = len(near_starts) - 1, 0.0
    for i in range(count):
        outside[i] = sum_far(links, i, shared) + (jump * bias[first + i] if len(bias) else jump)
        fresh[i] = shared[first + i]
    for sweep in range(sweeps):
        for j in range(count):
            i = count - 1 - j if sweep & 1 else j
            together = outside[i]
            for k in range(near_starts[i], near_starts[i + 1]):
                together += fresh[near[k]]
            many = np.int64(degree[first + i])
            fresh[i] = together * flow / many if many else 0.0
            if sweep == sweeps - 1:
                change += abs(together - values[first + i])
                values[first + i] = together
    return change
