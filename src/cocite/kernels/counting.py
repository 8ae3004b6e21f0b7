"""Links from some pages to others, counted: who is cited by whom, how often, and how near.

The lists of the citing pages are as `vicinity.read_parents` left them. One that was read in part (not `whole`) is read
whole or, if it has many more links than there are pages to look for, these are looked up in it.
"""

from __future__ import annotations

import numpy as np

from cocite.kernels import inline, kernel
from cocite.kernels.link_codec import DAMAGED
from cocite.kernels.look_up import find_position
from cocite.kernels.vicinity import EMPTY, LONG, keep_marked, mark, read_counted, slot_of, window_of

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
            if np.int64(out.lists.degree[page]) > len(room):
                room = np.empty(2 * np.int64(out.lists.degree[page]), np.uint32)
            links, many = room, read_counted(out, page, refused, room, none)
            if many < 0:
                return np.int64(DAMAGED)
        for k in range(many):
            slot = slot_of(table, links[k])
            if table[slot] != EMPTY:
                first[count] = i
                second[count] = local[slot]
                count += 1
    return count


@kernel
def count_cited(out, owners, starts, targets, whole, refused, order, groups, table, local, size, merged, counts):
    """counts[m] = how many groups of owners link to a numbered page that is merged into m.

    `order` has the owners group by group. Returns DAMAGED if a list cannot be read.
    """
    last = np.full(len(counts), -1, np.int32)
    marks = np.zeros(max(8, len(table) // 4), np.uint8)
    for slot in range(len(table)):
        if table[slot] != EMPTY:
            mark(marks, table[slot])
    none = np.empty(0, np.uint32)
    room = np.empty(1024, np.uint32)
    for i in order:
        page = np.int64(owners[i])
        many = starts[i + 1] - starts[i] if whole[i] else np.int64(out.lists.degree[page])
        if not whole[i] and look_up_rather(out, page, refused, size):
            low, high = members_of(out, page)
            if low < 0:
                return np.int64(DAMAGED)
            for slot in range(len(table)):
                if table[slot] != EMPTY and find_position(out.target[low:high], table[slot]) >= 0:
                    m = merged[local[slot]]
                    counts[m] += np.int32(last[m] != groups[i])
                    last[m] = groups[i]
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
            slot = slot_of(table, room[k])
            if table[slot] != EMPTY:
                m = merged[local[slot]]
                counts[m] += np.int32(last[m] != groups[i])
                last[m] = groups[i]
    return np.int64(0)


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
        block = attributes[place] & 0xFFFFFF
        size = 0
        if block > 0:
            for k in range(low, high):
                size += attributes[k] & 0xFFFFFF == block
        bonus = bonuses[min(size, len(bonuses) - 1)]
        for k in range(low, high):
            if k == place:
                continue
            slot = slot_of(table, targets[k])
            if table[slot] == EMPTY:
                continue
            sibling = merged[local[slot]]
            value = powers[abs(k - place)]
            if block > 0 and attributes[k] & 0xFFFFFF == block:
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
