"""The parts of the default method that come from links, added up by candidate: see methods/auto.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import expect, read_list
from cocite.kernels.codec.repeats import is_counted, repeats_of
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.vicinity import AHEAD, EMPTY, find_in, is_refused, number, read_counted, slot_of, window_of
from cocite.kernels.words.word_vectors import SCALE, row_of

IN_SECTION, ON_PAGE = 0, 1
MAX_REPEATS = 3
"""Sections in which a parent repeats its link to the query page and that count."""
QUERY = -1


class Candidates(NamedTuple):
    """Pages by hash, and the candidate that each belongs to."""

    table: NDArray[np.uint32]
    local: NDArray[np.int32]  # the number of a page
    merged: NDArray[np.int32]  # the candidate of each number


class ParentWeights(NamedTuple):
    """How much each parent counts."""

    order: NDArray[np.int64]  # the parents, group by group
    groups: NDArray[np.int32]
    shares: NDArray[np.float64]
    degrees: NDArray[np.uint32]  # out-links
    near: float  # see the parameters of the method
    elsewhere: float


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
def read_repeats(repeats, bounds, excluded, page_parent, shown, candidates, numbers, sections):
    """Numbers and sections of the links that a parent repeats, if both links count; returns how many there are.

    The query page has QUERY for a number. shown[number] is the last parent whose window has a page.
    """
    table, local, many = candidates.table, candidates.local, np.int64(0)
    page, parent = page_parent
    for k in range(bounds[0], bounds[1]):
        slot = slot_of(table, repeats.target[k])
        own = repeats.target[k] == page
        if (own or (table[slot] != EMPTY and shown[local[slot]] == parent)) and is_counted(repeats, k, excluded):
            numbers[many] = QUERY if own else local[slot]
            sections[many] = block_of(repeats.attribute[k])
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
def add_together(lists, weights, repeats, excluded, candidates, totals):
    """Add the values of being linked together: totals[IN_SECTION] by parents with sections, totals[ON_PAGE] by others.

    The page whose parent it is gets a value too, if it is numbered: it may be a same-name page of the query page. A
    repeated link counts in its section, too, without a distance; long lists that were read in part have no repeats.
    """
    starts, places, targets, attributes = lists.starts, lists.places, lists.targets, lists.attributes
    groups, shares, near = weights.groups, weights.shares, weights.near
    table, local, merged = candidates.table, candidates.local, candidates.merged
    lasts, sums, tops = np.full(totals.shape, -1, np.int32), np.zeros(totals.shape), np.zeros(totals.shape)
    shown, numbers, blocks = np.full(len(merged), -1, np.int64), np.empty(64, np.int64), np.empty(64, np.uint32)
    for i in weights.order:
        low, high = window_of(starts, i, places[i], lists.window)
        place = places[i]
        block, many = block_of(attributes[place]), np.int64(0)
        if lists.whole[i] and len(repeats.page) > 0:
            begin, end = repeats_of(repeats, lists.pages[i])
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
            own_link = (targets[place], i)
            many = read_repeats(repeats, (begin, end), excluded, own_link, shown, candidates, numbers, blocks)
        on_page = shares[i] / np.log(2.0 + weights.degrees[i])
        in_block, kind = 0.0, ON_PAGE
        if block > 0:
            kind = IN_SECTION
            in_block = shares[i] / np.log(2.0 + block_size(attributes, low, high, blocks, many, block))
            on_page *= weights.elsewhere
        for k in range(low, high):
            slot = slot_of(table, targets[k])
            if table[slot] == EMPTY:
                continue
            value = on_page
            if block > 0 and block_of(attributes[k]) == block:
                value += in_block + shares[i] * near / np.sqrt(np.float64(max(1, abs(k - place))))
            add_once(lasts[kind], sums[kind], tops[kind], totals[kind], merged[local[slot]], groups[i], value)
        listed = 0
        for own in range(-1, many):  # -1: the section of the first link, for which only repeats are left to add
            if own >= 0:
                if numbers[own] != QUERY or listed == MAX_REPEATS:
                    continue
                listed += 1
                block = blocks[own]
                in_block = shares[i] / np.log(2.0 + block_size(attributes, low, high, blocks, many, block))
                for k in range(low, high):
                    slot = slot_of(table, targets[k])
                    if block_of(attributes[k]) == block and table[slot] != EMPTY:
                        add_once(lasts[0], sums[0], tops[0], totals[0], merged[local[slot]], groups[i], in_block)
            for k in range(many):
                if blocks[k] == block and numbers[k] != QUERY:
                    add_once(lasts[0], sums[0], tops[0], totals[0], merged[numbers[k]], groups[i], in_block)


class SpouseRoom(NamedTuple):
    """Where `read_spouses` writes: child i's other parents are spouses[starts[i]:starts[i + 1]]."""

    spouses: NDArray[np.uint32]
    starts: NDArray[np.int64]
    table: NDArray[np.uint32]  # the pages that are numbered
    local: NDArray[np.int32]
    pages: NDArray[np.uint32]


@kernel
def read_spouses(into, out, children, limit, page, excluded, room_for, count):
    """Number the other parents of children that have at most `limit`; returns how many pages there are then.

    Only parents whose link to the child counts. DAMAGED if a list cannot be read.
    """
    spouses, starts, table, local, pages = room_for
    none = np.empty(0, np.uint32)
    room = np.empty(0, np.uint32)
    at = np.int64(0)
    for i in range(len(children)):
        expect(into, children, i, AHEAD)
        starts[i] = at
        child = np.int64(children[i])
        if into.degree[child] > limit:
            continue
        many = read_list(into, child, spouses[at:], none)
        if many < 0:
            return np.int64(DAMAGED)
        kept = at
        for k in range(at, at + many):
            spouse = spouses[k]
            if spouse == page or is_refused(excluded, spouse):
                continue
            if excluded.flags != 0:
                degree = np.int64(out.lists.degree[spouse])
                if 2 * degree > len(room):
                    room = np.empty(4 * degree, np.uint32)
                links = read_counted(out, np.int64(spouse), excluded, room[:degree], room[degree : 2 * degree])
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
def add_shared(starts, spouses, shares, candidates, totals):
    """Add shares[i] to totals[spouse] for each child i that a candidate shares with the query page."""
    for i in range(len(shares)):
        for k in range(starts[i], starts[i + 1]):
            slot = slot_of(candidates.table, spouses[k])
            totals[candidates.merged[candidates.local[slot]]] += shares[i]


@kernel
def add_same_name(same_name, pages, candidates, values, totals):
    """Add to totals[i] the values of the same-name pages of pages[i], by how similar the names are."""
    for i in range(len(pages)):
        low, high = row_of(same_name, pages[i])
        for k in range(low, high):
            slot = slot_of(candidates.table, same_name.ids[k])
            if candidates.table[slot] == EMPTY:
                continue
            other = candidates.merged[candidates.local[slot]]
            if other != i:  # a near-duplicate that it represents isn't another page
                totals[i] += same_name.weights[k] / SCALE * values[other]
