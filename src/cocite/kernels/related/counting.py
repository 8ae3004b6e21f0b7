"""Links from some pages to others, counted: who is cited by whom, how often, and how near.

The lists of the citing pages are as `vicinity.read_parents` left them. One that was read in part (not `whole`) is read
whole or, if it has many more links than there are pages to look for, these are looked up in it.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import most_links
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.best_first import best_first
from cocite.kernels.related.vicinity import (
    EMPTY,
    LONG,
    group,
    keep_marked,
    number_of,
    put_together,
    read_counted,
    read_parents,
    representatives,
    shown_by,
    slot_of,
    spread,
    table_size,
    tabulate,
    window_of,
)

LONGER = 16  # times as many links as there are pages to look for


@inline
def look_up_rather(out, page, refused, size):
    """Whether to look `size` pages up in a list, by bisection, rather than to read it; flags would need reading."""
    return refused.flags == 0 and np.int64(out.lists.degree[page]) > max(LONGER * size, LONG)


@inline
def members_of(out, page):
    """The bounds of a long list's targets, in ascending order, in `out.target`; -1 if the store is damaged."""
    at = find_position(out.page, page)
    if at < 0:
        return np.int64(-1), np.int64(-1)
    return np.int64(out.link[at]), np.int64(out.link[at + 1])


@kernel
def pair_links(out, owners, starts, targets, whole, refused, table, local, size, first, second):
    """Links from owner i's list to numbered pages, as pairs (i, number); returns how many, or DAMAGED.

    `first` and `second` must have room for every link that can be.
    """
    count = np.int64(0)
    none = np.empty(0, np.uint32)
    room = np.empty(1024, np.uint32)
    for i in range(len(owners)):
        page = np.int64(owners[i])
        if whole[i]:
            links, many = targets[starts[i] : starts[i + 1]], starts[i + 1] - starts[i]
        elif look_up_rather(out, page, refused, size):
            low, high = members_of(out, page)
            if low < 0:
                return np.int64(DAMAGED)
            for slot in range(len(table)):
                if table[slot] != EMPTY and find_position(out.target[low:high], table[slot]) >= 0:
                    first[count] = i
                    second[count] = local[slot]
                    count += 1
            continue
        else:
            many = np.int64(out.lists.degree[page])
            if many > most_links(out.lists):
                return np.int64(DAMAGED)
            if many > len(room):
                room = np.empty(2 * many, np.uint32)
            links, many = room, read_counted(out, page, refused, room, none)
            if many < 0:
                return np.int64(DAMAGED)
        for k in range(many):
            slot = slot_of(table, links[k])
            if table[slot] != EMPTY:
                if count == len(first):  # a damaged list may have a page twice
                    return np.int64(DAMAGED)
                first[count] = i
                second[count] = local[slot]
                count += 1
    return count


@kernel
def count_cited(out, owners, starts, targets, whole, refused, order, groups, pages, merged, counts):
    """counts[m] = how many groups of owners link to one of the pages that is merged into m (pages[i] into merged[i]).

    `order` has the owners group by group. Returns DAMAGED if a list cannot be read.
    """
    size = table_size(len(pages))
    table, marks = np.empty(size, np.uint64), np.empty(size // 2, np.uint8)
    tabulate(pages, table, marks)
    last = np.zeros(len(counts), np.uint64)  # group + 1 of whom linked last, and the count: one place to look at
    none = np.empty(0, np.uint32)
    room = np.empty(1024, np.uint32)
    for i in order:
        page = np.int64(owners[i])
        voice = uint64(groups[i] + 1)
        many = starts[i + 1] - starts[i] if whole[i] else np.int64(out.lists.degree[page])
        if not whole[i] and look_up_rather(out, page, refused, len(pages)):
            low, high = members_of(out, page)
            if low < 0:
                return np.int64(DAMAGED)
            for j in range(len(pages)):
                if find_position(out.target[low:high], pages[j]) >= 0:
                    hear(last, merged[j], voice)
            continue
        if many > len(room):
            room = np.empty(2 * many, np.uint32)
        if whole[i]:
            many = keep_marked(marks, targets[starts[i] : starts[i + 1]], many, room)
        else:
            many = read_counted(out, page, refused, room, none)
            if many < 0:
                return np.int64(DAMAGED)
            many = keep_marked(marks, room, many, room)
        for k in range(many):
            j = number_of(table, room[k])
            if j >= 0:
                hear(last, merged[j], voice)
    for m in range(len(counts)):
        counts[m] = last[m] & uint64(0xFFFFFFFF)
    return np.int64(0)


@inline
def hear(last, place, voice):
    """Count a voice, unless it was the last that was heard there."""
    entry = last[place]
    if entry >> uint64(32) != voice:
        last[place] = voice << uint64(32) | ((entry & uint64(0xFFFFFFFF)) + uint64(1))


@kernel
def count_shown(starts, places, targets, page, window):
    """What the windows show, without `page`, in no order, and how many windows show each."""
    size = table_size(shown_by(starts, places, window))
    table, mask, count = np.zeros(size, np.uint64), uint64(size - 1), np.int64(0)  # page + 1 << 32 | windows
    for i in range(len(places)):
        low, high = window_of(starts, i, places[i], window)
        for k in range(low, high):
            if targets[k] == page:
                continue
            entry = (uint64(targets[k]) + uint64(1)) << uint64(32)
            slot = spread(targets[k]) & mask
            while table[slot] != 0 and table[slot] ^ entry > uint64(0xFFFFFFFF):
                slot = (slot + uint64(1)) & mask
            count += table[slot] == 0
            table[slot] = max(table[slot], entry) + uint64(1)
    pages, times, at = np.empty(count, np.uint32), np.empty(count, np.int32), np.int64(0)
    for entry in table:
        if entry != 0:
            pages[at] = (entry >> uint64(32)) - uint64(1)
            times[at] = entry & uint64(0xFFFFFFFF)
            at += 1
    return pages, times


@kernel
def cocited(out, parents, page, most, window, refused, near_page, near_representative, units):
    """All of one page's siblings and how many parents, or groups of them, link to each: chosen parents, pages, counts.

    `parents` are those to choose from, `units` the unit of every page, if parents of one unit are one voice. It is what
    methods/cocitation.py does for several pages step by step, without a step outside compiled code.
    """
    chosen, starts, places, whole, targets, _ = read_parents(out, parents, page, most, window, refused, False)
    if chosen < 0:
        return np.int64(DAMAGED), np.empty(0, np.uint32), np.empty(0, np.int32)
    owners = parents[:chosen]
    siblings, times = count_shown(starts, places, targets, page, window)
    found = owners.copy()
    alone = representatives(near_page, near_representative, owners, found) == 0 and len(units) == 0
    pages, merged, others = put_together(near_page, near_representative, siblings)
    if window == 0 and alone and others == 0:
        return chosen, pages, times  # every link was shown, and each is a voice
    groups, order = np.arange(chosen).astype(np.int32), np.arange(chosen)
    if not alone:
        voices = units[owners] if len(units) > 0 else owners
        table, local = np.empty(table_size(chosen), np.uint32), np.empty(table_size(chosen), np.int32)
        if group(voices, found, table, local, np.empty(chosen, np.int64), groups) < chosen:
            order = np.argsort(groups)
    counts = np.empty(len(pages), np.int32)
    state = count_cited(out, owners, starts, targets, whole, refused, order, groups, siblings, merged, counts)
    return (chosen if state >= 0 else state), pages, counts


@kernel
def best_cocited(
    out, pages, starts, pool, most, window, refused, near_page, near_representative, units, in_degree, least, k,
    found, values, counts, twice,
):  # fmt: skip
    """The k best siblings of each of many pages, one after another in `found` and `values`: how many, or DAMAGED.

    Page i has counts[i] of them, of twice[i] siblings that are cited twice at least; its parents to choose from are
    pool[starts[i]:starts[i + 1]].
    """
    at = np.int64(0)
    never, standing = np.empty(2, np.uint32), np.empty(1, np.uint32)
    ties, reached = np.empty(0), np.empty(0, np.int32)
    for i in range(len(pages)):
        parents = pool[starts[i] : starts[i + 1]].copy()
        state, others, times = cocited(
            out, parents, np.int64(pages[i]), most, window, refused, near_page, near_representative, units
        )
        if state < 0:
            return np.int64(DAMAGED)
        representatives(near_page, near_representative, pages[i : i + 1], standing)
        never[0], never[1] = min(pages[i], standing[0]), max(pages[i], standing[0])
        twice[i] = 0
        for j in range(len(others)):
            twice[i] += times[j] >= 2 and others[j] != standing[0]
        order = best_first(others, times.astype(np.float64), ties, reached, never, in_degree, least, k)
        for place in order:
            found[at] = others[place]
            values[at] = times[place]
            at += 1
        counts[i] = len(order)
    return at


@kernel
def add_nearness(
    starts, places, targets, attributes, window, order, groups, powers, bonuses, table, local, merged, total
):
    """Add to total[sibling] how near to its link to the page each parent's links stand; see methods/proximity.py.

    powers[d] is what a distance of d gives, bonuses[n] what a common block of n links gives. `order` has the
    parents group by group; a group gives the best of its values once.
    """
    last = np.full(len(total), -1, np.int32)
    best = np.zeros(len(total))
    for i in order:
        low, high = window_of(starts, i, places[i], window)
        place = places[i]
        block = block_of(attributes[place])
        size = 0
        if block > 0:
            for k in range(low, high):
                size += block_of(attributes[k]) == block
        bonus = bonuses[min(size, len(bonuses) - 1)]
        for k in range(low, high):
            if k == place:
                continue
            slot = slot_of(table, targets[k])
            if table[slot] == EMPTY:
                continue
            sibling = merged[local[slot]]
            value = powers[abs(k - place)]
            if block > 0 and block_of(attributes[k]) == block:
                value += bonus
            if last[sibling] != groups[i]:
                last[sibling] = groups[i]
                best[sibling] = value
                total[sibling] += value
            elif value > best[sibling]:
                total[sibling] += value - best[sibling]
                best[sibling] = value


@kernel
def gram(starts, columns, out):
    """out = AᵀA of a matrix of ones whose row i has its ones at columns[starts[i]:starts[i + 1]]."""
    for i in range(len(starts) - 1):
        for a in range(starts[i], starts[i + 1]):
            for b in range(starts[i], starts[i + 1]):
                out[columns[a], columns[b]] += 1.0
