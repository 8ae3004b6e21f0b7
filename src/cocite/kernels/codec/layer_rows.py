"""Tables and names of layers brought together: which rows of older tables are left, and new pages by address."""

import numpy as np
from numba import uint64

from cocite.kernels.codec.link_codec import (
    DAMAGED,
    ESCAPE,
    RAW_BITS,
    cheapest_step,
    flush,
    link_bits,
    put,
    window,
)
from cocite.kernels.codec.lists import bounds_of, is_inside
from cocite.kernels.jit import inline, kernel

DISTANT_TARGET = 1 << 40
"""In the place of the target before: no code reaches it, so a link is written from its page."""


@kernel
def drop_rows(pages, gone, kept):
    """Set kept[i] to False where pages[i] is one of `gone`. Both ascend; few of many are searched for."""
    at, count = np.int64(0), np.int64(len(pages))
    for page in gone:
        stop, step = at, np.int64(1)
        while stop < count and pages[stop] < page:
            at, stop = stop + 1, stop + step
            step *= 2
        stop = min(stop, count)
        while at < stop:
            middle = (at + stop) >> 1
            if pages[middle] < page:
                at = middle + 1
            else:
                stop = middle
        while at < count and pages[at] == page:
            kept[at] = False
            at += 1


@kernel
def merge_sources(pages, starts, sources, added, dropped, merged_starts, merged):
    """The in-lists of some pages with links that came and without those that went. Returns how many links they have.

    The lists of the first pages are there: `sources` from `starts`. `added` and `dropped` are (target << 32 | source).
    """
    came = went = done = np.int64(0)
    for i in range(len(pages)):
        merged_starts[i] = done
        page = uint64(pages[i]) << uint64(32)
        at, stop = (starts[i], starts[i + 1]) if i + 1 < len(starts) else (np.int64(0), np.int64(0))
        while True:
            more = came < len(added) and added[came] >> uint64(32) == page >> uint64(32)
            if at == stop and not more:
                break
            if more and (at == stop or (added[came] & uint64(0xFFFFFFFF)) < sources[at]):
                merged[done] = added[came] & uint64(0xFFFFFFFF)
                came, done = came + 1, done + 1
                continue
            link = page | uint64(sources[at])
            while went < len(dropped) and dropped[went] < link:
                went += 1
            if went == len(dropped) or dropped[went] != link:
                merged[done] = sources[at]
                done += 1
            at += 1
    merged_starts[len(pages)] = done
    return done


@kernel
def bits_of_lists(lists, pages):
    """The bits that the lists of some pages take together, or DAMAGED."""
    total = np.int64(0)
    for page in pages:
        start, stop = bounds_of(lists, np.int64(page))
        if start > stop or not is_inside(lists, start, stop):
            return np.int64(DAMAGED)
        total += stop - start
    return total if total <= np.int64(len(lists.words)) << 6 else np.int64(DAMAGED)


@kernel
def append_links(lists, pages, kept, links, starts, code, words, ends):
    """Write lists of some pages into `words`; list i ends at bit ends[i]. Returns where the last one ends.

    Where kept[i], it begins with the page's list as it is, whose bits are copied. Then come the links
    links[starts[i] : starts[i + 1]]: they ascend, and are beyond all that a kept list has. `bits_of_lists` has verified
    the kept ones.
    """
    escape_cost = code.lengths[ESCAPE] + RAW_BITS
    position, pending = np.int64(0), uint64(0)
    for i in range(len(pages)):
        page = np.int64(pages[i])
        previous = page
        if kept[i]:
            at, stop = bounds_of(lists, page)
            while at < stop:
                bits = min(np.int64(64), stop - at)
                piece = window(lists.words, at) & (uint64(0xFFFFFFFFFFFFFFFF) >> uint64(64 - bits))
                position, pending = put(words, position, pending, piece, bits)
                at += bits
            previous = np.int64(DISTANT_TARGET)
        for k in range(starts[i], starts[i + 1]):
            target = np.int64(links[k])
            mode, length, distance = cheapest_step(page, previous, target, code.lengths, escape_cost)
            piece, bits = link_bits(code.codes, code.lengths, mode << 6 | length, length, distance)
            position, pending = put(words, position, pending, piece, bits)
            previous = target
        ends[i] = position
    flush(words, position, pending)
    return position


@inline
def key_precedes(data, offsets, one, other):
    """Whether a key is less than another, byte by byte."""
    length = offsets[one + 1] - offsets[one]
    length2 = offsets[other + 1] - offsets[other]
    for k in range(min(length, length2)):
        byte, byte2 = data[offsets[one] + k], data[offsets[other] + k]
        if byte != byte2:
            return byte < byte2
    return length < length2


@inline
def name_precedes(before, data, offsets, one, other):
    """Whether a new page comes before another one: by its place among the pages of the base, then by its key."""
    if before[one] != before[other]:
        return before[one] < before[other]
    return key_precedes(data, offsets, one, other)


@kernel
def order_names(before, data, offsets):
    """The positions of new pages by address, from their places in the base and their keys.

    The pages of one commit are in order already, so runs are merged: of 12 commits, each key is compared four times.
    """
    count = np.int64(len(before))
    order, other = np.arange(count), np.empty(count, np.int64)
    starts = np.empty(count + 1, np.int64)
    runs = np.int64(0)
    for i in range(count):
        if i == 0 or name_precedes(before, data, offsets, i, i - 1):
            starts[runs] = i
            runs += 1
    starts[runs] = count
    while runs > 1:
        merged = np.int64(0)
        for run in range(0, runs, 2):
            low, middle = starts[run], starts[run + 1]
            high = starts[min(run + 2, runs)]
            left, right = low, middle
            for k in range(low, high):
                take_right = left == middle or (
                    right < high and name_precedes(before, data, offsets, order[right], order[left])
                )
                if take_right:
                    other[k] = order[right]
                    right += 1
                else:
                    other[k] = order[left]
                    left += 1
            starts[merged] = low
            merged += 1
        starts[merged] = count
        runs = merged
        order, other = other, order
    return order


@kernel
def address_ranks(before, order, found):
    """Write the address key of each new page: after the pages of the base before it, and its rank among those there.

    A page of the base has its number + 1, << 32: a new one comes before the page whose number is `before`.
    """
    rank = uint64(0)
    for k in range(len(order)):
        page = order[k]
        rank = rank + uint64(1) if k > 0 and before[order[k - 1]] == before[page] else uint64(0)
        found[page] = (uint64(before[page]) << uint64(32)) + uint64(1 << 31) + rank
