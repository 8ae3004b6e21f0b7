"""Reading link lists of a store from compiled code.

`Lists` is one direction of a store's links as raw arrays; every function here stays inside them, whatever they hold.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.budget import CANCELLED, LEFT, NO_LIMIT, NOT_LIMITED, STATE
from cocite.kernels.bundles import lent
from cocite.kernels.codec.link_codec import DAMAGED, next_link, next_target
from cocite.kernels.codec.list_bounds import bounds_at, has_record, record_word
from cocite.kernels.instructions import count_ones, prefetch_item
from cocite.kernels.jit import inline, kernel, lean_inline, lean_kernel

PREFETCH_LISTS = 16  # lists between prefetching one and reading it
LINE_WORDS = 8  # a cache line
MAX_PREFETCHED_WORDS = 6 * LINE_WORDS  # of a list
NONE_MOVED: NDArray[np.uint64] = np.frombuffer(b"", np.uint64)  # read-only, as the arrays of a store are


@lent
class Lists(NamedTuple):
    """One direction of the links; see graph/FORMAT.md."""

    words: NDArray[np.uint64]
    bounds: NDArray[np.uint64]  # where each page's list begins and ends, see list_bounds.py
    far: NDArray[np.uint64]
    degree: NDArray[np.uint32]
    table: NDArray[np.uint32]  # decodes symbols, see `link_table`
    budget: NDArray[np.int64] = NO_LIMIT  # of cocite/budget.py
    moved: NDArray[np.uint64] = NONE_MOVED  # where the lists of layers are, see `fill_moved`; empty without layers
    order: NDArray[np.uint64] = NONE_MOVED  # address keys of the pages that layers have added, see `address_key`


class Place(NamedTuple):
    """Where decoding of a list goes on."""

    position: int  # a bit
    stop: int  # the bit after the list
    previous: int  # the target before; at the start, the page itself
    attribute: int  # of the link before


@lean_inline
def start_of(lists, page):
    """The first bit of a page's list in the base."""
    return bounds_at(lists.bounds, lists.far, page)[0]


@lean_inline
def bounds_of(lists, page):
    """The first bit of a page's list, and the bit after it. Both are 0 for a page of a layer without a list."""
    if len(lists.moved) > 0:
        at = (page >> 6) << 1
        bits, bit = uint64(lists.moved[at]), uint64(page & 63)
        if (bits >> bit) & uint64(1):
            before = count_ones(bits & ((uint64(1) << bit) - uint64(1)))
            row = np.int64(lists.moved[at + 1]) + 2 * np.int64(before)
            return np.int64(lists.moved[row]), np.int64(lists.moved[row + 1])
        if not has_record(lists.bounds, page):
            return np.int64(0), np.int64(0)
    return bounds_at(lists.bounds, lists.far, page)


@lean_inline
def key_of(order, pages, page):
    """What orders pages by address: the number, but for the last of `pages` pages, those of layers, their `order`."""
    first = np.int64(pages) - np.int64(len(order))
    return (uint64(page) + uint64(1)) << uint64(32) if page < first else uint64(order[np.int64(page) - first])


@lean_inline
def address_key(lists, page):
    """The key of a page's address."""
    return key_of(lists.order, len(lists.degree), page)


@kernel
def sort_by_address(lists, pages, count):
    """Bring pages[:count], which ascend by number, into the order of addresses: the last ones may be of layers."""
    first = np.uint32(np.int64(len(lists.degree)) - len(lists.order))
    if len(lists.order) == 0 or count == 0 or pages[count - 1] < first:
        return
    keys = np.empty(count, np.uint64)
    for k in range(count):
        keys[k] = address_key(lists, pages[k])
    order = np.argsort(keys)
    own = pages[:count].copy()
    for k in range(count):
        pages[k] = own[order[k]]


@lean_inline
def is_inside(lists, start, stop):
    """Whether these may be the bounds of a list: there is a spare word behind the last."""
    return start >= 0 and stop <= (np.int64(len(lists.words)) - 1) << 6


@lean_inline
def most_links(lists):
    """An upper bound of the number of links, validated before allocating: each takes at least one bit."""
    return np.int64(len(lists.words)) << 6


@lean_inline
def prefetch(lists, pages, at):
    """Prefetch the lists of pages after pages[at]: lists lie anywhere, and memory takes longer than decoding."""
    if at + 2 * PREFETCH_LISTS < len(pages):
        page = np.int64(pages[at + 2 * PREFETCH_LISTS])
        if has_record(lists.bounds, page):
            prefetch_item(lists.bounds, record_word(lists.bounds, page))
        prefetch_item(lists.degree, page)
    if at + PREFETCH_LISTS < len(pages):
        start, stop = bounds_of(lists, np.int64(pages[at + PREFETCH_LISTS]))
        if is_inside(lists, start, stop):
            for word in range(start >> 6, min((stop >> 6) + 1, (start >> 6) + MAX_PREFETCHED_WORDS), LINE_WORDS):
                prefetch_item(lists.words, word)


@lean_inline
def is_spent(lists, count):
    """Take links from the budget; returns whether to stop. Without a limit nothing is written: threads share that."""
    budget = lists.budget
    if budget[STATE] == NOT_LIMITED:
        return False
    budget[LEFT] -= count
    return budget[LEFT] < 0 or budget[STATE] == CANCELLED


@lean_inline
def decode_part(lists, page, place, count, targets, attributes, at):
    """Decode `count` links into targets[at:] and, unless empty, attributes[at:]. Returns the bit after them.

    DAMAGED if they can't be decoded, or if the budget is spent.
    """
    if is_spent(lists, count):
        return np.int64(DAMAGED)
    if len(attributes) > 0:
        return decode_with_attributes(lists, page, place, count, targets, attributes, at)
    return decode_targets(lists, page, place, count, targets, at)


@lean_kernel
def decode_targets(lists, page, place, count, targets, at):
    """`decode_part` without attributes."""
    words, table, pages = lists.words, lists.table, uint64(len(lists.degree))
    position, stop, target = place.position, place.stop, place.previous
    for k in range(at, at + count):
        if position >= stop:
            return np.int64(DAMAGED)
        position, target = next_target(words, table, position, page, target)
        if uint64(target) >= pages:
            return np.int64(DAMAGED)
        targets[uint64(k)] = target
    return position if position <= stop else np.int64(DAMAGED)


@lean_kernel
def decode_with_attributes(lists, page, place, count, targets, attributes, at):
    """`decode_part` with attributes."""
    words, table, pages = lists.words, lists.table, uint64(len(lists.degree))
    position, stop, target, attribute = place
    for k in range(at, at + count):
        if position >= stop:
            return np.int64(DAMAGED)
        position, target, attribute = next_link(words, table, position, page, target, attribute)
        if uint64(target) >= pages:
            return np.int64(DAMAGED)
        targets[uint64(k)], attributes[uint64(k)] = target, attribute
    return position if position <= stop else np.int64(DAMAGED)


@lean_inline
def read_list(lists, page, targets, attributes):
    """A page's links in order, into `targets` and (unless it is empty) `attributes`; returns how many, or DAMAGED."""
    count, page = np.int64(lists.degree[page]), np.int64(page)
    if count == 0:
        return count
    start, stop = bounds_of(lists, page)
    if count > len(targets) or not is_inside(lists, start, stop):
        return np.int64(DAMAGED)
    end = decode_part(lists, page, Place(start, stop, page, np.int64(0)), count, targets, attributes, 0)
    return count if end == stop else np.int64(DAMAGED)


@lean_inline
def lane_of(lists, pages, starts, i):
    """Where the list of pages[i] begins in the stream, where it ends, and whether it may be read."""
    page = np.int64(pages[i])
    start, stop = bounds_of(lists, page)
    count = starts[i + 1] - starts[i]
    good = count == np.int64(lists.degree[page]) and is_inside(lists, start, stop) and not is_spent(lists, count)
    return (start, stop, good) if count > 0 else (stop, stop, good)


@lean_kernel
def read_lists(lists, pages, starts, targets):
    """Read the links of pages[i] into targets[starts[i] : starts[i + 1]]; returns 0, or DAMAGED."""
    return read_range(lists, pages, starts, np.int64(0), np.int64(len(pages)), targets)


@lean_kernel
def read_range(lists, pages, starts, first, last, targets):
    """Read the links of pages[first:last], the first ones to the beginning of `targets`; returns 0, or DAMAGED.

    Each link says where the next begins, so decoding waits for itself. Two lists are decoded in step, and whichever
    ends is followed by the next of the lists.
    """
    words, table, most, shift = lists.words, lists.table, uint64(len(lists.degree)), starts[first]
    if starts[last] - shift > len(targets):
        return np.int64(DAMAGED)
    page, page2, done = np.int64(0), np.int64(0), np.int64(first)
    at, end, position, stop, target = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    at2, end2, position2, stop2, target2 = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while True:
        if at == end:
            if position != stop:
                return np.int64(DAMAGED)
            if done == last:
                break
            prefetch(lists, pages, done)
            position, stop, good = lane_of(lists, pages, starts, done)
            page, at, end = np.int64(pages[done]), starts[done] - shift, starts[done + 1] - shift
            target, done = page, done + 1
            if not good:
                return np.int64(DAMAGED)
        if at2 == end2:
            if position2 != stop2:
                return np.int64(DAMAGED)
            if done == last:
                break
            prefetch(lists, pages, done)
            position2, stop2, good = lane_of(lists, pages, starts, done)
            page2, at2, end2 = np.int64(pages[done]), starts[done] - shift, starts[done + 1] - shift
            target2, done = page2, done + 1
            if not good:
                return np.int64(DAMAGED)
        run = min(end - at, end2 - at2)
        for k in range(run):
            if (position >= stop) | (position2 >= stop2):
                return np.int64(DAMAGED)
            position, target = next_target(words, table, position, page, target)
            position2, target2 = next_target(words, table, position2, page2, target2)
            if (uint64(target) >= most) | (uint64(target2) >= most):
                return np.int64(DAMAGED)
            targets[uint64(at + k)] = target
            targets[uint64(at2 + k)] = target2
        at, at2 = at + run, at2 + run
    if at == end:
        page, at, end, position, stop, target = page2, at2, end2, position2, stop2, target2
    end = decode_targets(lists, page, Place(position, stop, target, 0), end - at, targets, at)
    return np.int64(0 if end == stop else DAMAGED)


@inline
def room_for(lists, page, room):
    """`room`, or a larger array if a page has more links. Reading a damaged list, longer than all words, fails."""
    degree = np.int64(lists.degree[page])
    return np.empty(2 * degree, np.uint32) if len(room) < degree <= most_links(lists) else room


@inline
def read_grown(lists, page, room):
    """Read a page's targets into `room`, or into a larger array. Returns (how many or DAMAGED, the array)."""
    room = room_for(lists, page, room)
    return read_list(lists, page, room, room[:0]), room


@kernel
def read_one(lists, page, targets, attributes):
    """`read_list` for Python."""
    return read_list(lists, page, targets, attributes)


@kernel
def read_many(lists, first, count, targets, attributes, starts):
    """The lists of pages [first, first + count) one after another; returns how many pages fitted, or DAMAGED."""
    starts[0] = 0
    for i in range(count):
        page = first + i
        if starts[i] + np.int64(lists.degree[page]) > len(targets):
            return np.int64(i)
        some = attributes[starts[i] :] if len(attributes) > 0 else attributes
        got = read_list(lists, page, targets[starts[i] :], some)
        if got < 0:
            return np.int64(DAMAGED)
        starts[i + 1] = starts[i] + got
    return np.int64(count)


@kernel
def read_some(lists, pages, targets, attributes, starts):
    """The lists of some pages one after another; returns how many pages fitted, or DAMAGED."""
    starts[0] = 0
    for i in range(len(pages)):
        page = np.int64(pages[i])
        prefetch(lists, pages, i)
        if starts[i] + np.int64(lists.degree[page]) > len(targets):
            return np.int64(i)
        some = attributes[starts[i] :] if len(attributes) > 0 else attributes
        got = read_list(lists, page, targets[starts[i] :], some)
        if got < 0:
            return np.int64(DAMAGED)
        starts[i + 1] = starts[i] + got
    return np.int64(len(pages))


@kernel
def mark_moved(moved, pages):
    """Set the bits of pages whose lists are in a layer. Returns how many were not set before."""
    fresh = np.int64(0)
    for page in pages:
        at, bit = (np.int64(page) >> 6) << 1, uint64(1) << uint64(page & 63)
        fresh += (moved[at] & bit) == 0
        moved[at] |= bit
    return fresh


@kernel
def number_moved(moved, words):
    """After every word of bits, write where the rows of its pages begin: (start, stop) of each list."""
    row = np.uint64(2 * words)
    for word in range(words):
        moved[2 * word + 1] = row
        row += np.uint64(2) * np.uint64(count_ones(moved[2 * word]))


@kernel
def place_moved(moved, pages, starts, first_bit):
    """Write the rows of a layer's lists, over those of older layers."""
    for i in range(len(pages)):
        at, bit = (np.int64(pages[i]) >> 6) << 1, uint64(pages[i] & 63)
        before = count_ones(moved[at] & ((uint64(1) << bit) - uint64(1)))
        row = np.int64(moved[at + 1]) + 2 * np.int64(before)
        moved[row] = starts[i] + first_bit
        moved[row + 1] = starts[i + 1] + first_bit
