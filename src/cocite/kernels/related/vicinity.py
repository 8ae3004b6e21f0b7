"""The web around a page in compiled loops: chosen parents, windows on their links, sets of pages.

Costs follow the neighbourhood, not the store: of a list longer than WHOLE only the part around a link is read, by the
entry points that the store keeps, or single members are looked up by bisection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.build.parents import best_parents, sample_parents
from cocite.kernels.codec.attributes import flags_of
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, Place, decode_part, expect, is_inside, most_links, read_list, start_of
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import inline, kernel

EMPTY = 0xFFFFFFFF
NOTHING = 0xFFFFFFFFFFFFFFFF
WHOLE = 4096  # links of a list that is read whole rather than in part
AHEAD = 8  # lists that memory is asked for before they are read
LONG, EVERY = 512, 128  # lists of more links have entry points, one every so many links


class Out(NamedTuple):
    """Links out, with the entry points into long lists; see graph/FORMAT.md."""

    lists: Lists
    page: NDArray[np.uint32]
    first: NDArray[np.uint64]
    bit: NDArray[np.uint32]
    before: NDArray[np.uint32]
    attribute: NDArray[np.uint32]
    link: NDArray[np.uint64]
    target: NDArray[np.uint32]
    place: NDArray[np.uint32]


class Refused(NamedTuple):
    """What a question leaves out: links with one of these flags, stop pages, pages of so many links in (0: none)."""

    flags: int
    stop: NDArray[np.uint32]  # ascending
    degree: int
    in_degree: NDArray[np.uint32]


# ------------------------------------------------------------------------------------------------------- sets of pages


@inline
def spread(page):
    """A page number with its bits spread."""
    return (uint64(page) * uint64(0x9E3779B97F4A7C15)) >> uint64(32)


@inline
def table_size(pages):
    """Places of a table for so many pages: a power of two, more than twice as many."""
    size = np.int64(16)
    while size <= 2 * pages:
        size *= 2
    return size


@inline
def slot_of(table, page):
    """Where a page is, or would be, in a table of 2^b page numbers."""
    mask = uint64(len(table) - 1)
    slot = spread(page) & mask
    while table[slot] != EMPTY and table[slot] != page:
        slot = (slot + uint64(1)) & mask
    return slot


@inline
def number(table, local, pages, count, page):
    """Give a page the next number, unless it has one; returns how many there are then."""
    slot = slot_of(table, page)
    if table[slot] == EMPTY:
        table[slot] = page
        local[slot] = count
        pages[count] = page
        return count + 1
    return count


@kernel
def number_pages(table, local, pages, count, more):
    """Number several pages; returns how many there are then."""
    for page in more:
        count = number(table, local, pages, count, page)
    return count


@kernel
def numbers_of(table, local, pages, numbers):
    """The number of each page; all must have one."""
    for i in range(len(pages)):
        numbers[i] = local[slot_of(table, pages[i])]


@kernel
def find_numbers(table, local, pages, numbers):
    """The number of each page; -1 if it has none."""
    for i in range(len(pages)):
        slot = slot_of(table, pages[i])
        numbers[i] = local[slot] if table[slot] != EMPTY else -1


@kernel
def find_places(pages, wanted):
    """The place of each wanted page among pages, in one pass; -1 if it is not there."""
    table, local = np.full(table_size(len(wanted)), np.uint32(EMPTY)), np.empty(table_size(len(wanted)), np.int64)
    places = np.full(len(wanted), -1, np.int64)
    for i in range(len(wanted)):
        slot = slot_of(table, wanted[i])
        table[slot] = wanted[i]
        local[slot] = i
    for place in range(len(pages)):
        slot = slot_of(table, pages[place])
        if table[slot] != EMPTY:
            places[local[slot]] = place
    return places


@inline
def mark(marks, page):
    """Set a page's bit; `marks` has 2^b bytes, 8 to 16 bits for every page: they stay in the fastest memory."""
    bit = spread(page) & uint64(8 * len(marks) - 1)
    marks[bit >> uint64(3)] |= np.uint8(1) << np.uint8(bit & uint64(7))


@inline
def keep_marked(marks, links, count, kept):
    """Those of the links that are marked, into `kept` (which may be `links`); returns how many.

    Without a branch, which could not be foreseen. Nearly all links that lead elsewhere are told.
    """
    mask = uint64(8 * len(marks) - 1)
    at = np.int64(0)
    for k in range(count):
        page = links[k]
        bit = spread(page) & mask
        kept[at] = page
        at += np.int64(marks[bit >> uint64(3)] >> np.uint8(bit & uint64(7)) & np.uint8(1))
    return at


@kernel
def tabulate(nodes, table, marks):
    """Enter all nodes: page << 32 | number into `table`, and a bit each into `marks`; both have 2^b places."""
    mask = uint64(len(table) - 1)
    table[:] = uint64(NOTHING)
    marks[:] = 0
    for i in range(len(nodes)):
        slot = spread(nodes[i]) & mask
        while table[slot] != uint64(NOTHING):
            slot = (slot + uint64(1)) & mask
        table[slot] = uint64(nodes[i]) << uint64(32) | uint64(i)
        mark(marks, nodes[i])


@inline
def number_of(table, page):
    """The number of a page in a table, or -1."""
    mask = uint64(len(table) - 1)
    slot = spread(page) & mask
    entry = table[slot]
    while entry >> uint64(32) != page:
        if entry == uint64(NOTHING):
            return np.int32(-1)
        slot = (slot + uint64(1)) & mask
        entry = table[slot]
    return np.int32(entry & uint64(0xFFFFFFFF))


@kernel
def representatives(near_page, near_representative, pages, out):
    """The page that stands for each page; returns how many are not their own."""
    others = np.int64(0)
    for i in range(len(pages)):
        out[i] = pages[i]
        at = find_position(near_page, pages[i])
        if at >= 0 and near_representative[at] != pages[i]:
            out[i] = near_representative[at]
            others += 1
    return others


@kernel
def put_together(near_page, near_representative, pages):
    """What stands for some different pages, each once; the number of each page's among these; and how many others' it
    is, of which there are none if `pages` are given back as they are.
    """
    merged = np.arange(len(pages)).astype(np.int32)
    standing = np.empty(len(pages), np.uint32)
    others = representatives(near_page, near_representative, pages, standing) if len(near_page) > 0 else np.int64(0)
    if others == 0:
        return pages, merged, others
    size = table_size(len(pages))
    table, local, found = np.full(size, np.uint32(EMPTY)), np.empty(size, np.int32), np.empty(len(pages), np.uint32)
    count = number_pages(table, local, found, 0, standing)
    numbers_of(table, local, standing, merged)
    return found[:count], merged, others


@inline
def root(above, i):
    """The first of the items that hang together with an item."""
    while above[i] != i:
        above[i] = above[above[i]]
        i = above[i]
    return i


@kernel
def group(first, second, table, local, above, groups):
    """Items with the same `first` or the same `second` value get one group number, transitively; returns how many."""
    for i in range(len(above)):
        above[i] = i
    for values in (first, second):
        table[:] = EMPTY
        for i in range(len(values)):
            slot = slot_of(table, values[i])
            if table[slot] == EMPTY:
                table[slot] = values[i]
                local[slot] = i
            else:
                a, b = root(above, np.int64(local[slot])), root(above, i)
                above[max(a, b)] = min(a, b)
    count = np.int64(0)
    for i in range(len(above)):
        top = root(above, i)
        if top == i:
            groups[i] = count
            count += 1
        else:
            groups[i] = groups[top]
    return count


# ------------------------------------------------------------------------------------------------ parents and children


@inline
def is_refused(refused, page):
    """Whether a page is a stop page for this question."""
    if refused.degree > 0 and refused.in_degree[page] >= refused.degree:
        return True
    return len(refused.stop) > 0 and find_position(refused.stop, page) >= 0


@inline
def refuses_nothing(refused):
    """Whether every link counts."""
    return refused.flags == 0 and refused.degree == 0 and len(refused.stop) == 0


@inline
def read_counted(out, page, refused, targets, attributes):
    """The links of a page that count, in order; returns how many, or DAMAGED. Both arrays must hold its degree."""
    if refuses_nothing(refused):
        return read_list(out.lists, page, targets, attributes)
    if is_refused(refused, page):
        return np.int64(0)
    found = attributes if len(attributes) > 0 else np.empty(out.lists.degree[page], np.uint32)
    count = read_list(out.lists, page, targets, found)
    kept = np.int64(0)
    for k in range(count):
        if flags_of(found[k]) & refused.flags == 0 and not is_refused(refused, targets[k]):
            targets[kept] = targets[k]
            found[kept] = found[k]
            kept += 1
    return kept if count >= 0 else count


@kernel
def read_children(out, page, refused, targets, attributes):
    """`read_counted` for callers outside compiled code."""
    return read_counted(out, page, refused, targets, attributes)


@inline
def read_around(out, page, child, half, targets, attributes):
    """Of a long list, the links within `half` of its link to `child`: how many, or DAMAGED, and the link's place there.

    The place is -1 if there is no such link.
    """
    at = find_position(out.page, page)
    if at < 0:
        return np.int64(DAMAGED), np.int64(-1)
    low, high = np.int64(out.link[at]), np.int64(out.link[at + 1])
    found = find_position(out.target[low:high], child)
    if found < 0:
        return np.int64(0), np.int64(-1)
    place = np.int64(out.place[low + found])
    first, last = max(np.int64(0), place - half), min(np.int64(out.lists.degree[page]), place + half + 1)
    begin = first // EVERY * EVERY
    point = np.int64(out.first[at]) + first // EVERY
    count = last - begin
    start, stop = start_of(out.lists, page), start_of(out.lists, page + 1)
    if not (0 <= point < len(out.bit) and 0 < count <= len(targets) and is_inside(out.lists, start, stop)):
        return np.int64(DAMAGED), np.int64(-1)
    before, attribute = np.int64(out.before[point]), np.int64(out.attribute[point])
    at_point = Place(start + np.int64(out.bit[point]), stop, before, attribute)
    end = decode_part(out.lists, np.int64(page), at_point, count, targets, attributes, 0)
    if end < 0:
        return np.int64(DAMAGED), np.int64(-1)
    for k in range(first, last):
        targets[k - first] = targets[k - begin]
        if len(attributes) > 0:
            attributes[k - first] = attributes[k - begin]
    return last - first, place - first


@kernel
def read_parents(out, parents, page, most, window, refused, blocks):
    """The links of the first `most` parents whose link to `page` counts: how many parents, or DAMAGED, starts, places,
    whole, targets, attributes.

    Parent i's links are targets[starts[i]:starts[i + 1]], `page` at places[i]; not `whole` is a long list of which only
    the window was read. `parents` is rewritten to those chosen. There are attributes if `blocks` are wanted, or some
    links refused.
    """
    plain = refuses_nothing(refused)
    room = room_for(out.lists.degree, parents, window, plain)
    sound = room <= most_links(out.lists) + EVERY
    room = room if sound else np.int64(0)
    starts, places = np.zeros(len(parents) + 1, np.int64), np.empty(len(parents), np.int64)
    whole, targets = np.empty(len(parents), np.bool_), np.empty(room, np.uint32)
    attributes = np.empty(room if blocks or refused.flags != 0 else 0, np.uint32)
    chosen, at = np.int64(0), np.int64(0)
    if not sound:
        return np.int64(DAMAGED), starts, places, whole, targets, attributes
    for i in range(len(parents)):
        if chosen == most:
            break
        expect(out.lists, parents, i, AHEAD)
        parent = np.int64(parents[i])
        starts[chosen] = at
        some = attributes[at:] if len(attributes) > 0 else attributes
        place = np.int64(-1)
        in_part = plain and window > 0 and max(window + 1, WHOLE) < out.lists.degree[parent]
        if in_part:
            count, place = read_around(out, parent, page, window // 2, targets[at:], some)
        else:
            count = read_counted(out, parent, refused, targets[at:], some)
            for k in range(count):
                if targets[at + k] == page:
                    place = k
                    break
        if count < 0:
            return np.int64(DAMAGED), starts, places, whole, targets, attributes
        if place < 0:
            continue
        parents[chosen] = parent
        places[chosen] = at + place
        whole[chosen] = not in_part
        at += count
        chosen += 1
    starts[chosen] = at
    return chosen, starts[: chosen + 1], places[:chosen], whole[:chosen], targets, attributes


@inline
def room_for(degree, parents, window, plain):
    """How many links `read_parents` may write: a list whole, or of a long one the window and an entry point's reach."""
    total = np.int64(0)
    for parent in parents:
        length = np.int64(degree[parent])
        if plain and window > 0 and max(window + 1, WHOLE) < length:
            length = min(length, window + 1 + EVERY)
        total += length
    return total + EVERY


@inline
def window_of(starts, i, place, window):
    """The links of parent i that a window shows, as bounds: all of a short list, else half of it on either side."""
    start, stop = starts[i], starts[i + 1]
    if window > 0 and stop - start > window + 1:
        return max(start, place - window // 2), min(stop, place + window // 2 + 1)
    return start, stop


@inline
def shown_by(starts, places, window):
    """How many links the windows show."""
    count = np.int64(0)
    for i in range(len(places)):
        low, high = window_of(starts, i, places[i], window)
        count += high - low
    return count


@kernel
def number_windows(starts, places, targets, page, window, table, local, pages, count):
    """Number what the windows show, `page` itself left out; returns how many pages are numbered then."""
    for i in range(len(places)):
        low, high = window_of(starts, i, places[i], window)
        for k in range(low, high):
            if targets[k] != page:
                count = number(table, local, pages, count, targets[k])
    return count


@kernel
def first_by_hash(parents, child, fingerprints, seed, keep, out):
    """The `keep` parents of smallest hash, in that order; returns how many."""
    hashes, chosen = np.empty(len(parents), np.uint64), np.empty(len(parents), np.uint32)
    return sample_parents(parents, fingerprints[child], fingerprints, seed, keep, hashes, chosen, out)


@kernel
def parents_of_highest_degree(into, best_page, best_parent, children, other_than, keep, out, refused, found, starts):
    """For each child its `keep` parents of highest in-degree, without `other_than`, stop pages and refused links.

    Child i's are found[starts[i]:starts[i + 1]]. Returns how many there are, or DAMAGED. A page of many
    parents has some kept ready, and only these are looked at.
    """
    at = np.int64(0)
    ready = len(best_parent) // max(1, len(best_page))
    none = np.empty(0, np.uint32)
    heap = np.empty(ready + 513, np.uint64)
    pool, ordered = np.empty(ready + 513, np.uint32), np.empty(ready + 513, np.uint32)
    room = np.empty(64, np.uint32)
    for i in range(len(children)):
        starts[i] = at
        child = np.int64(children[i])
        row = find_position(best_page, child)
        if row >= 0:
            count = np.int64(ready)
            for k in range(count):
                ordered[k] = best_parent[row * ready + k]
        else:
            count = np.int64(into.degree[child])
            if count > len(pool) or read_list(into, child, pool, none) != count:
                return np.int64(DAMAGED)
            most = count if not refuses_nothing(refused) else min(count, np.int64(keep) + 1)
            count = best_parents(pool, count, into.degree, most, heap, ordered)
        taken = np.int64(0)
        for k in range(count):
            parent = np.int64(ordered[k])
            if taken == keep:
                break
            if parent >= len(into.degree) or at == len(found):
                return np.int64(DAMAGED)
            if parent == other_than or is_refused(refused, parent):
                continue
            if refused.flags != 0:
                degree = np.int64(out.lists.degree[parent])
                if degree > most_links(out.lists):
                    return np.int64(DAMAGED)
                if degree > len(room) // 2:
                    room = np.empty(4 * degree, np.uint32)
                half = len(room) // 2
                links = read_counted(out, parent, refused, room[:half], room[half:])
                if links < 0:
                    return np.int64(DAMAGED)
                if find_in(room, links, child) < 0:
                    continue
            found[at] = parent
            at += 1
            taken += 1
    starts[len(children)] = at
    return at


@inline
def find_in(values, count, value):
    """The place of a value among the first `count`, or -1."""
    for k in range(count):
        if values[k] == value:
            return k
    return -1


@kernel
def gather_around(out, into, parents, page, most, window, children, child_parents, best_page, best_parent, refused):
    """Parents of a page, what their windows show, its first `children`, and of each the best `child_parents`.

    Returns a state, all of these pages, each once, and of the parents, which are the first, what `read_parents` tells:
    how many, starts, places, whole, targets. `parents` are those to choose from.
    """
    chosen, starts, places, whole, targets, _ = read_parents(out, parents, page, most, window, refused, False)
    degree = np.int64(out.lists.degree[page])
    if degree > most_links(out.lists):
        chosen, degree = np.int64(DAMAGED), np.int64(0)
    first = np.empty(degree, np.uint32)
    found = read_counted(out, page, refused, first, np.empty(degree if refused.flags != 0 else 0, np.uint32))
    state = min(np.int64(0), min(chosen, found))
    first = first[: max(np.int64(0), min(found, np.int64(children)))]
    room = np.int64(0)
    for child in first:
        room += min(np.int64(into.degree[child]), np.int64(child_parents))
    best = np.empty(room, np.uint32)
    found = parents_of_highest_degree(
        into, best_page, best_parent, first, page, child_parents, out, refused, best,
        np.empty(len(first) + 1, np.int64),
    )  # fmt: skip
    state, chosen = min(state, found), max(chosen, np.int64(0))
    starts, places, whole = starts[: chosen + 1], places[:chosen], whole[:chosen]
    room = chosen + 1 + len(first) + max(found, np.int64(0)) + shown_by(starts, places, window)
    table, local = np.full(table_size(room), np.uint32(EMPTY)), np.empty(table_size(room), np.int32)
    pages = np.empty(room, np.uint32)
    count = number_pages(table, local, pages, 0, parents[:chosen])
    count = number(table, local, pages, count, np.uint32(page))
    count = number_windows(starts, places, targets, page, window, table, local, pages, count)
    count = number_pages(table, local, pages, count, first)
    count = number_pages(table, local, pages, count, best[: max(found, np.int64(0))])
    return state, pages[:count], chosen, starts, places, whole, targets
