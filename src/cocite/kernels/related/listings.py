"""Evidence from links for all kept results of a question at once: pages that link to both, and links that both have."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.bundles import lent
from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, address_key, key_of
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.codec.repeats import repeats_of
from cocite.kernels.hash_tables import NumberedSet, add_members, bit_filter, new_set, number_of
from cocite.kernels.jit import kernel, lean_inline
from cocite.kernels.related import counted_links as counted
from cocite.kernels.related.counted_links import Excluded, OutLists
from cocite.kernels.related.independence import GROUPED, originals
from cocite.kernels.related.neighbourhood import NearPages, group, read_parents, representatives

MAX_EXAMPLES = 3  # examples of each kind of evidence that are kept for a result
MAX_MEMBERS = 101  # a result and its first 100 near-duplicates: the out-links of others aren't read
UNKNOWN_DISTANCE = 1 << 40
PARENT, DISTANCE, SECTION, MEMBER, PREVIOUS = range(5)
"""Columns of `hits`: parent's index, links apart, section + 1 (0: different ones), member, the result's hit before."""
LISTED_BY, ORIGINALS, LISTED_GROUPS, SHARED_LINKS = range(4)
LINKED_MEMBER, LINKING_MEMBER, LINKED_PARENT, ITS_MEMBER = range(4, 8)
"""Columns of `totals`: parents of both, those without copies, groups of these, children of both; the member that the
page links to, the one that links to the page; a parent that the result links to, and the member that does. -1: none."""


@lent
class CountedWeb(NamedTuple):
    """The links that count in a question, and which pages count as one."""

    out: OutLists
    excluded: Excluded
    repeats: Lists
    near: NearPages
    units: NDArray[np.uint32]  # of every page; empty if each is its own
    copies: int  # which parents count as one, see independence.py


class Subjects(NamedTuple):
    """Results, each with its near-duplicates: result r has the members starts[r] to starts[r + 1], itself first."""

    members: NumberedSet
    starts: NDArray[np.int64]
    result: NDArray[np.int32]  # of each member


class LinkFindings(NamedTuple):
    """What relates a page and each result (row). Examples that there are not are -1."""

    totals: NDArray[np.int64]
    listings: NDArray[np.int64]  # examples of parents: the page, section or -1, links apart or -1, member
    shared: NDArray[np.int64]  # examples of common children: the page, member


@kernel
def find_evidence(web, parents, pages, starts, max_repeats, max_children):
    """What relates a page and results: (state, parents, children, findings). Result r has pages[starts[r]], the others
    up to starts[r + 1] are its near-duplicates. Reads the parents, and overwrites their array, if that is not done."""
    results = len(starts) - 1
    totals = np.full((results, 8), -1)
    totals[:, : SHARED_LINKS + 1] = 0
    found = LinkFindings(totals, np.full((results, MAX_EXAMPLES, 4), -1), np.full((results, MAX_EXAMPLES, 2), -1))
    subjects, out, excluded = index_subjects(pages, starts), web.out, web.excluded
    state, children = np.int64(0), np.int64(0)
    if len(parents.attributes) == 0:
        most = np.int64(len(parents.pages))
        state, parents = read_parents(out, parents.pages, parents.of, most, parents.window, excluded, True)
    if state >= 0:
        state, hits, last = find_listings(out, parents, subjects, web.repeats, max_repeats, excluded)
        if state > 0:
            first, units = np.empty(len(parents.pages), np.uint32), parents.pages
            if web.copies != GROUPED:
                first[:] = parents.pages[originals(parents, np.ones(len(parents.pages)), web, out.lists.order)]
            else:
                representatives(web.near.page, web.near.representative, parents.pages, first)
            if len(web.units) > 0:
                units = web.units[first if web.copies != GROUPED else parents.pages]
            groups = group(first, first)[0], group(units, first)[0]
            choose_listings(hits, last, parents.pages, groups, excluded, out.lists.order, found)
    if state >= 0:
        state = children = find_shared(out, parents.of, max_children, subjects, excluded, found)
    if state >= 0:
        state = find_between(out, parents.pages, subjects, excluded, totals)
    return state, np.int64(len(parents.pages)), children, found


@kernel
def index_subjects(pages, starts):
    """Subjects of some pages, which are all different."""
    members, result = new_set(len(pages)), np.empty(len(pages), np.int32)
    add_members(members, np.int64(0), pages)
    for r in range(len(starts) - 1):
        for m in range(starts[r], starts[r + 1]):
            result[m] = r
    return Subjects(members, starts, result)


@kernel
def common_section(targets, attributes, excluded, pages, sections, max_repeats):
    """The first section, plus 1, with both pages, one of them repeated; 0 if there is none. `sections`: first links.

    Repeated links are `targets` with their `attributes`.
    """
    best, repeated = np.uint32(0), 0
    for own in range(-1, len(targets)):
        section = sections[0]
        if own >= 0:
            first = targets[own] == pages[0] and repeated < max_repeats
            if not first or not counted.is_counted(excluded, targets[own], attributes[own]):
                continue
            repeated += 1
            section = block_of(attributes[own])
        if section == 0 or 0 < best <= section:
            continue
        found = section == sections[1]
        for k in range(len(targets)):
            second = targets[k] == pages[1] and block_of(attributes[k]) == section
            found |= second and counted.is_counted(excluded, targets[k], attributes[k])
        if found:
            best = section
    return best


@lean_inline
def compare_hits(hits, a, b):
    """Above 0 if hit a says more than hit b, below 0 if less: the same section, then a smaller distance."""
    if (hits[a, SECTION] == 0) != (hits[b, SECTION] == 0):
        return 1 if hits[a, SECTION] != 0 else -1
    return hits[b, DISTANCE] - hits[a, DISTANCE]


@kernel
def add_hit(hits, count, last, subjects, hit):
    """Add a hit, unless the parent has a better one for the same result. Returns (hits, how many there are)."""
    if count == len(hits):
        hits = np.concatenate((hits, np.empty_like(hits)))
    parent, distance, section, member = hit
    hits[count, PARENT], hits[count, DISTANCE] = parent, distance
    hits[count, SECTION], hits[count, MEMBER] = section, member
    result = subjects.result[member]
    before = last[result]
    if before < 0 or hits[before, PARENT] != parent:
        hits[count, PREVIOUS] = before
        last[result] = count
        return hits, count + 1
    better = compare_hits(hits, count, before)
    if better > 0 or (better == 0 and member == subjects.starts[result]):
        for column in range(PREVIOUS):
            hits[before, column] = hits[count, column]
    return hits, count


@kernel
def find_listings(out, parents, subjects, repeats, max_repeats, excluded):
    """The parents that link to a result, too: (number of hits, the hits, the last hit of each result)."""
    hits, count = np.empty((64, 5), np.int64), np.int64(0)
    last, none = np.full(len(subjects.starts) - 1, -1), np.empty(0, np.uint32)
    for i in range(len(parents.pages)):
        place, start, stop = parents.places[i], parents.starts[i], parents.starts[i + 1]
        own_section = block_of(parents.attributes[place])
        may_repeat, again, attributes = parents.whole[i] and max_repeats > 0 and len(repeats.words) > 0, none, none
        for k in range(start, stop):
            member = number_of(subjects.members.table, parents.targets[k])
            if member < 0:
                continue
            distance, section = abs(k - place), block_of(parents.attributes[k])
            if section != own_section or section == 0:
                sections, section = (own_section, section), np.uint32(0)
                in_window = stop - start <= parents.window + 1 or distance <= parents.window // 2 or parents.window < 2
                if may_repeat and in_window and len(again) == 0:
                    readable, again, attributes = repeats_of(repeats, parents.pages[i])
                    may_repeat = len(again) > 0
                    if not readable:
                        return np.int64(DAMAGED), hits, last
                if may_repeat and in_window:
                    pages = (np.uint32(parents.of), parents.targets[k])
                    section = common_section(again, attributes, excluded, pages, sections, max_repeats)
                distance = distance if section == 0 else np.int64(UNKNOWN_DISTANCE)
            hit = (np.int64(i), np.int64(distance), np.int64(section), member)
            hits, count = add_hit(hits, count, last, subjects, hit)
        if not parents.whole[i]:
            valid, hits, count = search_results(out, parents, i, subjects, hits, count, last)
            if not valid:
                return np.int64(DAMAGED), hits, last
    return count, hits[:count], last


@kernel
def search_results(out, parents, i, subjects, hits, count, last):
    """Add the results that a long list has outside the part that was read: (whether it is valid, hits, how many)."""
    parent = np.int64(parents.pages[i])
    low, high = counted.sorted_targets(out, parent)
    if low < 0:
        return False, hits, count
    own = find_position(out.target[low:high], np.uint32(parents.of))
    targets, attributes = np.empty(counted.SKIP_LINKS + 8, np.uint32), np.empty(counted.SKIP_LINKS + 8, np.uint32)
    section = block_of(parents.attributes[parents.places[i]])
    for r in range(len(last)):
        if last[r] >= 0 and hits[last[r], PARENT] == i:
            continue
        best, distance = np.int64(-1), np.int64(UNKNOWN_DISTANCE)
        for m in range(subjects.starts[r], subjects.starts[r + 1]):
            found = find_position(out.target[low:high], subjects.members.members[m])
            if found >= 0 and own >= 0:
                apart = abs(np.int64(out.place[low + found]) - np.int64(out.place[low + own]))
                if apart < distance:
                    best, distance = np.int64(m), apart
        if best < 0:
            continue
        member = np.int64(subjects.members.members[best])
        read, place = counted.read_around(out, parent, member, np.int64(1), targets, attributes)
        if read < 0 or place < 0:
            return False, hits, count
        theirs = block_of(attributes[place])
        same = np.int64(theirs) if theirs == section else np.int64(0)
        hits, count = add_hit(hits, count, last, subjects, (np.int64(i), distance, same, best))
    return True, hits, count


@lean_inline
def comes_first(hits, a, b, pages, excluded, order):
    """Whether hit a of a result is a better example than hit b, on another page."""
    better = compare_hits(hits, a, b)
    if better != 0:
        return better > 0
    one, other = pages[hits[a, PARENT]], pages[hits[b, PARENT]]
    in_degree = excluded.in_degree
    if in_degree[one] != in_degree[other]:
        return in_degree[one] > in_degree[other]
    return key_of(order, len(in_degree), one) < key_of(order, len(in_degree), other)


@kernel
def choose_listings(hits, last, pages, groups, excluded, order, found):
    """Set for each result: its parents, groups of parents, and best hits, first of different groups, of copies one.

    `groups` has two numbers for each parent: of its copies, and of those that count as one with it.
    """
    seen = np.full((2, len(pages)), -1)  # the last result that a group was counted for
    best = np.empty(MAX_EXAMPLES, np.int64)
    for r in range(len(last)):
        totals = found.totals[r]
        hit = last[r]
        while hit >= 0:
            totals[LISTED_BY] += 1
            for kind in range(2):
                group = groups[kind][hits[hit, PARENT]]
                totals[ORIGINALS + kind] += seen[kind, group] != r
                seen[kind, group] = r
            hit = hits[hit, PREVIOUS]
        for j in range(min(totals[ORIGINALS], MAX_EXAMPLES)):
            best[j], hit = -1, last[r]
            different = groups[1] if j < totals[LISTED_GROUPS] else groups[0]
            while hit >= 0:
                fresh = True
                for before in range(j):
                    fresh &= different[hits[best[before], PARENT]] != different[hits[hit, PARENT]]
                if fresh and (best[j] < 0 or comes_first(hits, hit, best[j], pages, excluded, order)):
                    best[j] = hit
                hit = hits[hit, PREVIOUS]
            listing, distance = found.listings[r, j], hits[best[j], DISTANCE]
            listing[0], listing[1] = pages[hits[best[j], PARENT]], hits[best[j], SECTION] - 1
            listing[2], listing[3] = -1 if distance == UNKNOWN_DISTANCE else distance, hits[best[j], MEMBER]


@lean_inline
def last_member(subjects, r):
    """The end of the members of a result whose out-links are read."""
    return min(subjects.starts[r + 1], subjects.starts[r] + MAX_MEMBERS)


@kernel
def find_shared(out, page, first, subjects, excluded, found):
    """Set links between a page and results, and what both link to among its `first` children: how many, or DAMAGED."""
    results, totals = len(subjects.starts) - 1, found.totals
    count, room = counted.read_targets(out, page, excluded, np.empty(1024, np.uint32))
    if count < 0:
        return np.int64(DAMAGED)
    for target in room[:count]:
        m = number_of(subjects.members.table, target)
        if m >= 0:
            r = subjects.result[m]
            if totals[r, LINKED_MEMBER] < 0 or m == subjects.starts[r]:
                totals[r, LINKED_MEMBER] = m
    children = room[:count][:first].copy()
    wanted = new_set(len(children) + 1)  # the children, and last the page
    add_members(wanted, add_members(wanted, np.int64(0), children), np.full(1, np.uint32(page)))
    seen, by = np.full(len(children) + 1, -1), np.empty(len(children) + 1, np.int64)
    bits = bit_filter(wanted.members)
    for r in range(results):
        for m in range(subjects.starts[r], last_member(subjects, r)):
            owner = np.int64(subjects.members.members[m])
            count, room = counted.find_links(out, owner, excluded, wanted, bits, room)
            if count < 0:
                return np.int64(DAMAGED)
            for k in range(count):
                if seen[room[k]] != r:
                    seen[room[k]], by[room[k]] = r, m
                    totals[r, SHARED_LINKS] += room[k] < len(children)
        if seen[len(children)] == r:
            totals[r, LINKING_MEMBER] = by[len(children)]
        at = np.int64(0)
        for j in range(len(children) if totals[r, SHARED_LINKS] > 0 else 0):
            if seen[j] == r and at < MAX_EXAMPLES:
                found.shared[r, at, 0], found.shared[r, at, 1] = children[j], by[j]
                at += 1
    return np.int64(len(children))


@kernel
def find_between(out, pages, subjects, excluded, totals):
    """Set, where nothing else relates a result, the first of some pages, by address, that it links to."""
    room, ascending = np.empty(1024, np.uint32), pages[:0]
    for r in range(len(totals)):
        counts, members = totals[r, :LINKED_MEMBER], totals[r, LINKED_MEMBER:LINKED_PARENT]
        if counts.max() > 0 or members.max() >= 0:
            continue
        if len(ascending) < len(pages):
            ascending = np.sort(pages)
        for m in range(subjects.starts[r], last_member(subjects, r)):
            owner = np.int64(subjects.members.members[m])
            if totals[r, LINKED_PARENT] >= 0 or counted.is_excluded(excluded, owner):
                continue
            degree, room = counted.read_targets(out, owner, excluded, room)
            if degree < 0:
                return np.int64(DAMAGED)
            for k in range(degree):
                through = totals[r, LINKED_PARENT]
                if find_position(ascending, room[k]) >= 0 and (
                    through < 0 or address_key(out.lists, room[k]) < address_key(out.lists, through)
                ):
                    totals[r, LINKED_PARENT], totals[r, ITS_MEMBER] = room[k], m
    return np.int64(0)
