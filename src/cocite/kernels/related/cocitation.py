"""Cocitation: how many parents of a page link to each of its siblings, and how near their links are.

The lists of the parents are as `neighbourhood.read_parents` left them. One that was read in part (not `whole`) is read
again or, if it has many more links than there are siblings, these are searched in it.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, most_links, read_range
from cocite.kernels.hash_tables import LOW_HALF, NumberedSet, add_members, bit_filter, new_page_set, new_set, number_of
from cocite.kernels.instructions import prefetch_item
from cocite.kernels.jit import inline, kernel, lean_kernel
from cocite.kernels.related import neighbourhood as around
from cocite.kernels.related.best_first import ScoredPages, best_first
from cocite.kernels.related.counted_links import Excluded, OutLists, excludes_nothing, find_links, number_links

PREFETCH_COUNTERS = 128  # links between prefetching a counter and counting
CHUNK_LINKS = 1 << 12  # decoded before they are counted


class CocitationQuery(NamedTuple):
    """What cocitation reads and counts: B parents at most, windows of BF links (0: whole lists), and what merges."""

    out: OutLists
    into: Lists
    choice: around.ParentChoice
    parents: int
    window: int
    excluded: Excluded
    near: around.NearPages
    units: NDArray[np.uint32]  # of every page; parents of one unit count once. Empty: each parent counts
    counters: NDArray[np.uint32]  # zeros, one for each page of the store, and zeros again afterwards; empty: none


class Cocited(NamedTuple):
    """The siblings of a page with their cocitation degrees, and its chosen parents."""

    parents: NDArray[np.uint32]
    siblings: NDArray[np.uint32]
    degrees: NDArray[np.int32]
    values: NDArray[np.float64]  # the degrees
    first: NDArray[np.int64]  # the places of the first ones, best first


class BestSiblings(NamedTuple):
    """The best siblings of many pages, one page after another: counts[i] of page i."""

    pages: NDArray[np.uint32]
    values: NDArray[np.float64]
    counts: NDArray[np.int32]
    twice: NDArray[np.int32]  # all siblings of a page that at least two parents link to


@inline
def siblings_of(out, parents, i, excluded, siblings, bits, room):
    """The siblings to which parent i links: (how many or DAMAGED, the array with their numbers)."""
    if not parents.whole[i]:
        return find_links(out, np.int64(parents.pages[i]), excluded, siblings, bits, room)
    links = parents.targets[parents.starts[i] : parents.starts[i + 1]]
    if len(links) > len(room):
        room = np.empty(2 * len(links), np.uint32)
    return number_links(links, np.int64(len(links)), siblings, bits, room), room


@kernel
def pair_links(out, parents, excluded, numbered, count, rows, columns):
    """Links from parent i to the first `count` members of a set, as pairs (i, number). Returns how many."""
    siblings = NumberedSet(numbered.table, numbered.members[:count])
    at, room, bits = np.int64(0), np.empty(1024, np.uint32), bit_filter(siblings.members)
    for i in range(len(parents.pages)):
        many, room = siblings_of(out, parents, i, excluded, siblings, bits, room)
        if many < 0 or at + many > len(rows):  # a damaged list may have a page twice
            return np.int64(DAMAGED)
        for k in range(many):
            rows[at + k], columns[at + k] = i, room[k]
        at += many
    return at


@kernel
def count_cocited(out, parents, excluded, order, groups, siblings, merged, counts):
    """counts[merged[i]] = the number of groups of parents that link to siblings[i]; `order` has them group by group."""
    numbered, bits = new_set(len(siblings)), bit_filter(siblings)
    add_members(numbered, np.int64(0), siblings)
    last = np.zeros(len(counts), np.uint64)  # the last group, plus 1, << 32 | the count: one place in memory
    room = np.empty(1024, np.uint32)
    for i in order:
        many, room = siblings_of(out, parents, i, excluded, numbered, bits, room)
        if many < 0:
            return np.int64(DAMAGED)
        own = uint64(groups[i] + 1)
        for k in range(many):
            entry = last[merged[room[k]]]
            if entry >> uint64(32) != own:  # else this group was the last one counted there
                last[merged[room[k]]] = own << uint64(32) | ((entry & LOW_HALF) + uint64(1))
    for m in range(len(counts)):
        counts[m] = last[m] & LOW_HALF
    return np.int64(0)


# Counters of all pages are counted in by number: a hash table takes six times as long. Those of the pages around a page
# stay in the cache, however many others there are; and only they are cleared. Each is prefetched: alone, a processor
# works fifty links ahead. Nine of ten have their counter in the cache, so it would wait for five at once, not for more.


@lean_kernel
def count_links(targets, counters, found, count):
    """Count each target, and add those that weren't counted before to found[:count]. Returns how many these are then.

    `found` has room for one more.
    """
    count, last = uint64(count), len(targets) - 1
    for k in range(len(targets)):
        prefetch_item(counters, targets[min(k + PREFETCH_COUNTERS, last)])
        target = uint64(targets[uint64(k)])
        before = counters[target]
        counters[target] = before + np.uint32(1)
        found[count] = target
        count += uint64(before == 0)
    return np.int64(count)


@kernel
def count_lists(lists, pages, starts, counters, found):
    """`count_links` of the lists of pages, some at a time, which stay in the cache. Returns how many, or DAMAGED.

    Page i has starts[i + 1] - starts[i] links. `found` has room for one more than these, or than all pages.
    """
    longest, total = np.int64(CHUNK_LINKS), len(pages)
    for i in range(total):
        longest = max(longest, starts[i + 1] - starts[i])
    chunk, count, first = np.empty(longest, np.uint32), np.int64(0), 0
    while first < total:
        last = first + 1
        while last < total and starts[last + 1] - starts[first] <= CHUNK_LINKS:
            last += 1
        if read_range(lists, pages, starts, np.int64(first), np.int64(last), chunk) < 0:
            for page in found[:count]:
                counters[page] = 0
            return np.int64(DAMAGED)
        count = count_links(chunk[: starts[last] - starts[first]], counters, found, count)
        first = last
    return count


@kernel
def mark_windows(parents, counters, found):
    """Mark the pages in the windows, without the query page, by 1. Returns how many; `found` has room for one more."""
    count = uint64(0)
    counters[parents.of] = 1
    for i in range(len(parents.places)):
        low, high = around.window_of(parents, i)
        for k in range(low, high):
            target = parents.targets[k]
            found[count] = target
            count += uint64(counters[target] == 0)
            counters[target] = 1
    counters[parents.of] = 0
    return np.int64(count)


@lean_kernel
def count_marked(targets, counters):
    """Count the targets that are marked."""
    last = len(targets) - 1
    for k in range(len(targets)):
        prefetch_item(counters, targets[min(k + PREFETCH_COUNTERS, last)])
        target = uint64(targets[uint64(k)])
        counters[target] += np.uint32(counters[target] != 0)


@lean_kernel
def take_counts(pages, counters, mark, counts):
    """Clear the counters of pages; counts[i] = that of pages[i], without the mark."""
    last = len(pages) - 1
    for i in range(len(pages)):
        prefetch_item(counters, pages[min(i + PREFETCH_COUNTERS, last)])
        page = uint64(pages[uint64(i)])
        counts[uint64(i)] = counters[page] - mark
        counters[page] = 0


@kernel
def count_whole(query, candidates, page):
    """`cocited` if all links of all candidates count: (how many, siblings, counts).

    None are counted if a candidate does not have the page, which only a damaged store has.
    """
    lists, counters, total = query.out.lists, query.counters, len(candidates)
    starts, none = np.zeros(total + 1, np.int64), np.empty(0, np.uint32)
    for i in range(total):
        starts[i + 1] = starts[i] + np.int64(lists.degree[candidates[i]])
    if starts[total] > most_links(lists):
        return np.int64(DAMAGED), none, np.empty(0, np.int32)
    found = np.empty(min(starts[total], len(counters)) + 1, np.uint32)
    counters[page] = 1  # so it is never a new one
    count = count_lists(lists, candidates, starts, counters, found)
    have, counters[page] = np.int64(counters[page]) - 1, np.uint32(0)
    siblings, counts = found[: max(count, 0)], np.empty(max(count, 0), np.int32)
    take_counts(siblings, counters, 0, counts)
    return np.int64(total if have == total else min(count, 0)), siblings, counts


@kernel
def count_siblings(query, parents):
    """(siblings, the parents that link to each, whether each parent counts): the last, if no two are counted as one."""
    found = np.empty(around.count_windows(parents) + 1, np.uint32)
    siblings = found[: mark_windows(parents, query.counters, found)]
    counts = np.empty(len(siblings), np.int32)
    whole = bool(np.all(parents.whole))
    if whole:
        count_marked(parents.targets[: parents.starts[len(parents.pages)]], query.counters)
    take_counts(siblings, query.counters, 1, counts)
    return siblings, counts, whole


@kernel
def cocited(query, candidates, page):
    """The siblings of one page: (parents chosen among candidates, siblings, parents or groups that link to each)."""
    out, excluded, size = query.out, query.excluded, len(query.out.lists.degree)
    direct, apart = len(query.counters) == size, len(query.units) == 0
    plain = query.window == 0 and len(candidates) <= query.parents and excludes_nothing(excluded)
    if direct and apart and plain and len(query.near.page) == 0:
        chosen, siblings, times = count_whole(query, candidates, page)
        if chosen != 0:
            return chosen, siblings, times
    chosen, parents = around.read_parents(out, candidates, page, query.parents, query.window, excluded, False)
    if chosen < 0:
        return np.int64(DAMAGED), np.empty(0, np.uint32), np.empty(0, np.int32)
    if direct:
        siblings, times, counted = count_siblings(query, parents)
    else:
        room = around.count_windows(parents)
        found, times = new_page_set(room, size), np.zeros(room, np.int32)
        count = around.add_windows(parents, found, np.int64(0), times)
        siblings, times, counted = found.members[:count], times[:count], query.window == 0
    first = parents.pages.copy()
    copies = around.representatives(query.near.page, query.near.representative, parents.pages, first)
    ungrouped = copies == 0 and apart
    pages, merged, others = around.merge_pages(query.near, siblings)
    if counted and ungrouped and others == 0:
        return chosen, pages, times
    groups, order = np.arange(chosen).astype(np.int32), np.arange(chosen)
    if not ungrouped:
        units = query.units[parents.pages] if len(query.units) > 0 else parents.pages
        groups, count = around.group(units, first)
        if count < chosen:
            order = np.argsort(groups)
    counts = np.empty(len(pages), np.int32)
    state = count_cocited(out, parents, excluded, order, groups, siblings, merged, counts)
    return (chosen if state >= 0 else state), pages, counts


@kernel
def first_cocited(query, page, least, first):
    """`cocited` with the candidates chosen and the `first` best siblings found, the page among them: (state, Cocited).

    One call for all of it: for most pages, calls take longer than the work.
    """
    state, candidates = around.choose_parents(query.into, query.choice, query.excluded, page, query.parents)
    chosen, siblings, degrees = cocited(query, candidates, page)
    values, none = degrees.astype(np.float64), np.empty(0, np.int32)
    scored = ScoredPages(siblings, values, np.empty(0), none, query.excluded.in_degree, query.out.lists.order)
    places = best_first(scored, np.empty(0, np.uint32), least, first)
    found = Cocited(candidates[: max(chosen, np.int64(0))], siblings, degrees, values, places)
    return min(state, chosen), found


@kernel
def best_cocited(query, pages, starts, candidates, in_degree, least, k, best):
    """The k best siblings of each page; the parents of page i are among candidates[starts[i]:starts[i + 1]]."""
    at = np.int64(0)
    never, own = np.empty(2, np.uint32), np.empty(1, np.uint32)
    for i in range(len(pages)):
        state, siblings, times = cocited(query, candidates[starts[i] : starts[i + 1]].copy(), np.int64(pages[i]))
        if state < 0:
            return np.int64(DAMAGED)
        around.representatives(query.near.page, query.near.representative, pages[i : i + 1], own)
        never[0], never[1] = min(pages[i], own[0]), max(pages[i], own[0])
        best.twice[i] = np.sum((times >= 2) & (siblings != own[0]))
        order, none = query.out.lists.order, np.empty(0, np.int32)
        scored = ScoredPages(siblings, times.astype(np.float64), np.empty(0), none, in_degree, order)
        places = best_first(scored, never, least, k)
        for place in places:
            best.pages[at], best.values[at] = siblings[place], times[place]
            at += 1
        best.counts[i] = len(places)
    return at


@kernel
def add_nearness(parents, order, groups, powers, bonuses, siblings, merged, total):
    """Add to total[sibling] how near to each parent's link to the page its link is; see methods/proximity.py.

    powers[d] is the value of a distance of d links, bonuses[n] that of a common section of n links. `order` has the
    parents group by group; each group adds its greatest value.
    """
    attributes = parents.attributes
    last, best = np.full(len(total), -1, np.int32), np.zeros(len(total))
    for i in order:
        low, high = around.window_of(parents, i)
        place = parents.places[i]
        section, size = block_of(attributes[place]), 0
        if section > 0:
            for k in range(low, high):
                size += block_of(attributes[k]) == section
        bonus = bonuses[min(size, len(bonuses) - 1)]
        for k in range(low, high):
            number = number_of(siblings.table, parents.targets[k])
            if k == place or number < 0:
                continue
            sibling, value = merged[number], powers[abs(k - place)]
            if section > 0 and block_of(attributes[k]) == section:
                value += bonus
            if last[sibling] != groups[i]:
                last[sibling], best[sibling] = groups[i], 0.0
            if value > best[sibling]:
                total[sibling] += value - best[sibling]
                best[sibling] = value


@kernel
def gram(starts, columns, out):
    """out = AᵀA of a matrix of ones whose row i has its ones in columns[starts[i]:starts[i + 1]]."""
    for i in range(len(starts) - 1):
        for a in range(starts[i], starts[i + 1]):
            for b in range(starts[i], starts[i + 1]):
                out[columns[a], columns[b]] += 1.0
