"""Ranks of all pages, straight from the encoded links: lists are decoded by the block, used, and forgotten.

Decoding waits for itself, as each link says where the next begins; so the two halves of a block are decoded at once,
which takes half the time. Adding up waits for memory, as a page's parents lie anywhere; so it is asked for ahead.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from cocite.kernels import inline, kernel
from cocite.kernels.link_codec import CHANGE, DAMAGED, ESCAPE, MASK, RAW_BITS, window
from cocite.kernels.lists import fetch, start_of

AHEAD = 64
"""Links between asking memory for a value and using it."""


@inline
def next_link(words, position, table):
    """(The bit after a link, its symbol, its distance up or down); the symbol is DAMAGED where no code begins."""
    bits = window(words, position)
    entry = np.int64(table[bits & MASK])
    used, symbol = entry & 15, entry >> 4
    if symbol >= CHANGE:
        if symbol == ESCAPE:
            symbol = np.int64((bits >> uint64(used)) & uint64((1 << RAW_BITS) - 1))
            used += RAW_BITS
    length = symbol & 63
    top = (np.int64(1) << length) >> 1
    some = np.int64(length != 0)
    low = np.int64(bits >> uint64(used)) & (top - some)
    down = -((symbol >> 6) & 1)
    position += used + length - some
    if symbol & CHANGE:
        more = window(words, min(position, ((np.int64(len(words)) - 1) << 6) - 1))
        position += 1 if more & uint64(1) else 14 + np.int64((more >> uint64(1)) & uint64(31))
    return position, symbol if used else np.int64(DAMAGED), ((top + low + 1) ^ down) - down


@inline
def next_page(lists, page, last, position):
    """The next page that has links, and how many; DAMAGED for these if a list is not where the one before ends."""
    left = np.int64(0)
    while left == 0 and page + 1 < last:
        page += 1
        left = np.int64(lists.degree[page]) if start_of(lists, page) == position else np.int64(DAMAGED)
    return page, left


@inline
def decode_rest(lists, last, state, targets, at, stop):
    """Decode what is left of the lists of a run of pages into targets[at:stop]; returns whether it could be read."""
    limit, pages = (np.int64(len(lists.words)) - 1) << 6, np.int64(len(lists.degree))
    position, page, left, previous = state
    while at < stop:
        if left == 0:
            page, left = next_page(lists, page, last, position)
            previous = page
        if left <= 0 or not 0 <= position < limit:
            return False
        position, symbol, step = next_link(lists.words, position, lists.table)
        previous = (page if symbol & 128 else previous) + step
        if symbol < 0 or not 0 <= previous < pages:
            return False
        targets[at] = previous
        at, left = at + 1, left - 1
    return start_of(lists, last) == position


@inline
def decode_block(lists, first, last, starts, targets):
    """The lists of pages [first, last) one after another, and where each starts; returns whether they could be read."""
    count = last - first
    starts[0] = 0
    for i in range(count):
        starts[i + 1] = starts[i] + np.int64(lists.degree[first + i])
    total = starts[count]
    if total > len(targets):
        return False
    half = np.searchsorted(starts[: count + 1], total // 2)
    middle, stop = first + half, starts[half]
    limit, pages = (np.int64(len(lists.words)) - 1) << 6, np.int64(len(lists.degree))
    words, table = lists.words, lists.table
    at, at2 = np.int64(0), stop
    position, position2 = start_of(lists, first), start_of(lists, middle)
    page, left, page2, left2 = np.int64(first) - 1, np.int64(0), np.int64(middle) - 1, np.int64(0)
    previous, previous2 = page, page2
    for _ in range(min(stop, total - stop)):
        if left == 0:
            page, left = next_page(lists, page, middle, position)
            previous = page
        if left2 == 0:
            page2, left2 = next_page(lists, page2, last, position2)
            previous2 = page2
        if left <= 0 or left2 <= 0 or not 0 <= position < limit or not 0 <= position2 < limit:
            return False
        position, symbol, step = next_link(words, position, table)
        position2, symbol2, step2 = next_link(words, position2, table)
        previous = (page if symbol & 128 else previous) + step
        previous2 = (page2 if symbol2 & 128 else previous2) + step2
        if symbol < 0 or symbol2 < 0 or not 0 <= previous < pages or not 0 <= previous2 < pages:
            return False
        targets[at], targets[at2] = previous, previous2
        at, at2, left, left2 = at + 1, at2 + 1, left - 1, left2 - 1
    first_half = decode_rest(lists, middle, (position, page, left, previous), targets, at, stop)
    return first_half and decode_rest(lists, last, (position2, page2, left2, previous2), targets, at2, total)


@kernel
def cut(degree, links):
    """Where to cut the pages into blocks of about so many links and pages together, a page being at least one block."""
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
def add_up(lists, first, last, given, result, starts, targets):
    """result[page] = the sum of `given` over the page's links, for pages [first, last); whether they could be read."""
    if not decode_block(lists, first, last, starts, targets):
        return False
    total = starts[last - first]
    for i in range(last - first):
        together = 0.0
        for k in range(starts[i], starts[i + 1]):
            fetch(given, np.int64(targets[min(k + AHEAD, total - 1)]))
            together += given[targets[k]]
        result[first + i] = together
    return True


@kernel
def settle(lists, first, last, flow, degree, jump, bias, values, shared, fresh, inside, outside, starts, targets, sweeps):
    """Gauss-Seidel on a block of pages: x = jump + the sum of shared over links; shared = x · flow / degree.

    What comes from outside the block is added up once; inside, values are worked out anew several times, to and fro,
    each from the newest others. `values` is written, `shared` only read: what becomes of it goes to `fresh`, so that
    blocks can be worked on side by side with the same outcome. Returns (sum of changes, that of the last sweep), of
    which the first is negative if the lists could not be read.
    """
    if not decode_block(lists, first, last, starts, targets):
        return -1.0, 0.0
    count, total, m = last - first, starts[last - first], np.int64(0)
    for i in range(count):
        together = jump * bias[first + i] if len(bias) else jump
        begin, end = starts[i], starts[i + 1]
        starts[i] = m
        for k in range(begin, end):
            fetch(shared, np.int64(targets[min(k + AHEAD, total - 1)]))
            page = np.int64(targets[k])
            here = first <= page < last
            inside[m] = page - first
            m += here
            value = shared[page]
            together += 0.0 if here else value
        outside[i] = together
        fresh[i] = shared[first + i]
    starts[count] = m
    change, late = 0.0, 0.0
    for sweep in range(sweeps):
        late = 0.0
        for j in range(count):
            i = count - 1 - j if sweep & 1 else j
            together = outside[i]
            for k in range(starts[i], starts[i + 1]):
                together += fresh[inside[k]]
            many = np.int64(degree[first + i])
            new = together * flow / many if many else 0.0
            late += abs(new - fresh[i]) * many
            fresh[i] = new
            if sweep == sweeps - 1:
                change += abs(together - values[first + i])
                values[first + i] = together
    return change, late
