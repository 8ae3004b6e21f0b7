"""What links say of pages related to a page, added up: see methods/auto.py."""

from __future__ import annotations

import numpy as np

from cocite.kernels import inline, kernel
from cocite.kernels.link_codec import DAMAGED
from cocite.kernels.lists import expect, read_list
from cocite.kernels.vicinity import AHEAD, EMPTY, find_in, is_refused, number, read_counted, slot_of, window_of
from cocite.kernels.word_vectors import SCALE, row_of

IN_BLOCK, ON_PAGE = 0, 1


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


@kernel
def add_together(
    starts, places, targets, attributes, degrees, window, order, groups, shares, near, elsewhere, table, local, merged,
    totals,
):  # fmt: skip
    """Add what being linked together says: totals[IN_BLOCK] of parents that have blocks, totals[ON_PAGE] of others.

    shares[i] is what parent i, of degrees[i] links, counts; `order` has the parents group by group. The page that a
    parent is for is told of too, if it is among the numbered ones: it may be a namesake of the one asked about.
    """
    last = np.full(totals.shape, -1, np.int32)
    sums, tops = np.zeros(totals.shape), np.zeros(totals.shape)
    for i in order:
        low, high = window_of(starts, i, places[i], window)
        place = places[i]
        block = attributes[place] & 0xFFFFFF
        on_page = shares[i] / np.log(2.0 + degrees[i])
        in_block, kind = 0.0, ON_PAGE
        if block > 0:
            kind, size = IN_BLOCK, 0
            for k in range(low, high):
                size += attributes[k] & 0xFFFFFF == block
            in_block = shares[i] / np.log(2.0 + size)
            on_page *= elsewhere
        for k in range(low, high):
            slot = slot_of(table, targets[k])
            if table[slot] == EMPTY:
                continue
            value = on_page
            if block > 0 and attributes[k] & 0xFFFFFF == block:
                value += in_block + shares[i] * near / np.sqrt(np.float64(max(1, abs(k - place))))
            add_once(last[kind], sums[kind], tops[kind], totals[kind], merged[local[slot]], groups[i], value)


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
def add_namesakes(namesakes, pages, table, local, merged, said, totals):
    """Add to totals[i] what is said of the namesakes of pages[i], by how alike the names are."""
    for i in range(len(pages)):
        low, high = row_of(namesakes, pages[i])
        for k in range(low, high):
            slot = slot_of(table, namesakes.ids[k])
            if table[slot] != EMPTY and merged[local[slot]] != i:  # a copy that it stands for is no other page
                totals[i] += namesakes.weights[k] / SCALE * said[merged[local[slot]]]
