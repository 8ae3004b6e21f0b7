"""What links say of pages related to a page, added up: see methods/auto.py."""

from __future__ import annotations

import numpy as np

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import expect, read_list
from cocite.kernels.codec.repeats import is_counted, repeats_of
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.vicinity import AHEAD, EMPTY, find_in, is_refused, number, read_counted, slot_of, window_of
from cocite.kernels.words.word_vectors import SCALE, row_of

IN_BLOCK, ON_PAGE = 0, 1
AGAIN = 3
"""Blocks of a parent that have a page again and are looked at."""
OWN = -1


@inline
def add_once(last, sums, tops, totals, sibling, group, value):
    """Add a value of a group: k equal ones of a group count as √k, the first wholly."""
    if last[sibling] != group:
        last[sibling] = group
        sums[sibling] = value
        tops[sibling] = value
        totals[sibling] += value
        return
    before = np.sqrt(sums[sibling] * tops[sibling])
    sums[sibling] += value
    tops[sibling] = max(tops[sibling], value)
    totals[sibling] += np.sqrt(sums[sibling] * tops[sibling]) - before


@inline
def read_repeats(repeats, begin, end, refused, page, parent, shown, table, local, numbers, blocks):
    """Numbers and blocks of what a parent links to again, if both links count and the first is shown; returns how many.

    The page that the parent is for has OWN for a number. shown[number] is the parent that shows a page at last.
    """
    many = np.int64(0)
    for k in range(begin, end):
        slot = slot_of(table, repeats.target[k])
        own = repeats.target[k] == page
        if (own or (table[slot] != EMPTY and shown[local[slot]] == parent)) and is_counted(repeats, k, refused):
            numbers[many] = OWN if own else local[slot]
            blocks[many] = block_of(repeats.attribute[k])
            many += 1
    return many


@inline
def block_size(attributes, low, high, blocks, many, block):
    """How many links a window shows in a block, with those that the parent has there again."""
    size = 0
    for k in range(low, high):
        size += block_of(attributes[k]) == block
    for k in range(many):
        size += blocks[k] == block
    return size


@kernel
def add_together(
    parents, starts, places, whole, targets, attributes, degrees, window, order, groups, shares, near, elsewhere,
    repeats, refused, table, local, merged, totals,
):  # fmt: skip
    """Add what being linked together says: totals[IN_BLOCK] of parents that have blocks, totals[ON_PAGE] of others.

    shares[i] is what parent i, of degrees[i] links, counts; `order` has the parents group by group. The page that a
    parent is for is told of too, if it is among the numbered ones: it may have the name of the one asked about. What a
    parent links to again counts in that block too, at no known distance; of the blocks that have the page again the
    first AGAIN are looked at. Of a long list that was read in part no repeats are.
    """
    lasts, sums, tops = np.full(totals.shape, -1, np.int32), np.zeros(totals.shape), np.zeros(totals.shape)
    shown, numbers, blocks = np.full(len(merged), -1, np.int64), np.empty(64, np.int64), np.empty(64, np.uint32)
    for i in order:
        low, high = window_of(starts, i, places[i], window)
        place = places[i]
        block, many = block_of(attributes[place]), np.int64(0)
        if whole[i] and len(repeats.page) > 0:
            begin, end = repeats_of(repeats, parents[i])
            matter = False
            for k in range(begin, end):
                matter |= repeats.target[k] == targets[place] or block_of(repeats.attribute[k]) == block
            begin = begin if matter else end
            if end - begin > len(numbers):
                numbers, blocks = np.empty(2 * (end - begin), np.int64), np.empty(2 * (end - begin), np.uint32)
            for k in range(low if begin < end else high, high):
                slot = slot_of(table, targets[k])
                if table[slot] != EMPTY:
                    shown[local[slot]] = i
            many = read_repeats(repeats, begin, end, refused, targets[place], i, shown, table, local, numbers, blocks)
        on_page = shares[i] / np.log(2.0 + degrees[i])
        in_block, kind = 0.0, ON_PAGE
        if block > 0:
            kind = IN_BLOCK
            in_block = shares[i] / np.log(2.0 + block_size(attributes, low, high, blocks, many, block))
            on_page *= elsewhere
        for k in range(low, high):
            slot = slot_of(table, targets[k])
            if table[slot] == EMPTY:
                continue
            value = on_page
            if block > 0 and block_of(attributes[k]) == block:
                value += in_block + shares[i] * near / np.sqrt(np.float64(max(1, abs(k - place))))
            add_once(lasts[kind], sums[kind], tops[kind], totals[kind], merged[local[slot]], groups[i], value)
        listed = 0
        for own in range(-1, many):  # -1: the block of the first link, of which repeats alone are left to tell of
            if own >= 0:
                if numbers[own] != OWN or listed == AGAIN:
                    continue
                listed += 1
                block = blocks[own]
                in_block = shares[i] / np.log(2.0 + block_size(attributes, low, high, blocks, many, block))
                for k in range(low, high):
                    slot = slot_of(table, targets[k])
                    if block_of(attributes[k]) == block and table[slot] != EMPTY:
                        add_once(lasts[0], sums[0], tops[0], totals[0], merged[local[slot]], groups[i], in_block)
            for k in range(many):
                if blocks[k] == block and numbers[k] != OWN:
                    add_once(lasts[0], sums[0], tops[0], totals[0], merged[numbers[k]], groups[i], in_block)


@kernel
def read_spouses(into, out, children, longest, page, refused, table, local, pages, count, spouses, starts):
    """Number the other parents of children that have at most `longest`; returns how many pages there are then.

    Child i's are spouses[starts[i]:starts[i + 1]]: those whose link to it counts. DAMAGED if a list cannot be read.
    """
    none = np.empty(0, np.uint32)
    room = np.empty(0, np.uint32)
    at = np.int64(0)
    for i in range(len(children)):
        expect(into, children, i, AHEAD)
        starts[i] = at
        child = np.int64(children[i])
        if into.degree[child] > longest:
            continue
        many = read_list(into, child, spouses[at:], none)
        if many < 0:
            return np.int64(DAMAGED)
        kept = at
        for k in range(at, at + many):
            spouse = spouses[k]
            if spouse == page or is_refused(refused, spouse):
                continue
            if refused.flags != 0:
                degree = np.int64(out.lists.degree[spouse])
                if 2 * degree > len(room):
                    room = np.empty(4 * degree, np.uint32)
                links = read_counted(out, np.int64(spouse), refused, room[:degree], room[degree : 2 * degree])
                if links < 0:
                    return np.int64(DAMAGED)
                if find_in(room, links, child) < 0:
                    continue
            spouses[kept] = spouse
            kept += 1
            count = number(table, local, pages, count, spouse)
        at = kept
    starts[len(children)] = at
    return count


@kernel
def add_shared(starts, spouses, shares, table, local, merged, totals):
    """Add to totals[spouse] what each child that it shares with the page says: shares[i] is what child i counts."""
    for i in range(len(shares)):
        for k in range(starts[i], starts[i + 1]):
            totals[merged[local[slot_of(table, spouses[k])]]] += shares[i]


@kernel
def add_same_name(same_name, pages, table, local, merged, said, totals):
    """Add to totals[i] what is said of the same-name pages of pages[i], by how alike the names are."""
    for i in range(len(pages)):
        low, high = row_of(same_name, pages[i])
        for k in range(low, high):
            slot = slot_of(table, same_name.ids[k])
            if table[slot] != EMPTY and merged[local[slot]] != i:  # a copy that it stands for is no other page
                totals[i] += same_name.weights[k] / SCALE * said[merged[local[slot]]]
