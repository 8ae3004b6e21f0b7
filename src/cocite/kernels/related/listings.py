"""Evidence from links for all kept results of a question at once: pages that link to both, and links that both have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import most_links
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.codec.repeats import is_counted, repeats_of
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.vicinity import (
    EMPTY,
    EVERY,
    is_refused,
    read_around,
    read_counted,
    refuses_nothing,
    slot_of,
    table_size,
)

MAX_EXAMPLES = 3
"""Examples of each kind of evidence that are kept for a result."""
MAX_MEMBERS = 101
"""A result and its first 100 near-duplicates: the out-links of others aren't read."""
UNKNOWN_DISTANCE = 1 << 40
PARENT, DISTANCE, SECTION, MEMBER, PREVIOUS = range(5)
"""Columns of `hits`: parent's index, links apart, section + 1 (0: different ones), member, the result's hit before."""


class Subjects(NamedTuple):
    """Results, each with its near-duplicates: members[starts[r]:starts[r + 1]] are those of result r, itself first."""

    members: NDArray[np.uint32]
    starts: NDArray[np.int64]
    result: NDArray[np.int32]  # of each member
    table: NDArray[np.uint32]  # members by hash
    local: NDArray[np.int32]


@kernel
def index_subjects(members, starts):
    """Subjects of some members; every page is a member once."""
    table = np.full(table_size(len(members)), np.uint32(EMPTY))
    local, result = np.empty(len(table), np.int32), np.empty(len(members), np.int32)
    for r in range(len(starts) - 1):
        for m in range(starts[r], starts[r + 1]):
            slot = slot_of(table, members[m])
            table[slot] = members[m]
            local[slot] = m
            result[m] = r
    return Subjects(members, starts, result, table, local)


@inline
def common_section(repeats, begin, end, excluded, pages, sections, max_repeats):
    """The first section, plus one, that has both pages, one of them by a repeated link; 0 if there is none.

    `sections` are those of their first links; of the sections that repeat the first page, `max_repeats` count.
    """
    best, repeated = np.uint32(0), 0
    for own in range(begin - 1, end):
        section = sections[0]
        if own >= begin:
            if repeats.target[own] != pages[0] or repeated == max_repeats or not is_counted(repeats, own, excluded):
                continue
            repeated += 1
            section = block_of(repeats.attribute[own])
        if section == 0 or 0 < best <= section:
            continue
        found = section == sections[1]
        for k in range(begin, end):
            found |= (
                repeats.target[k] == pages[1]
                and block_of(repeats.attribute[k]) == section
                and is_counted(repeats, k, excluded)
            )
        if found:
            best = section
    return best


@inline
def is_nearer(hits, a, b, subjects):
    """Whether hit a of a result on a page says more than hit b: same section, nearer, the result itself."""
    if (hits[a, SECTION] == 0) != (hits[b, SECTION] == 0):
        return hits[a, SECTION] != 0
    if hits[a, DISTANCE] != hits[b, DISTANCE]:
        return hits[a, DISTANCE] < hits[b, DISTANCE]
    first = subjects.starts[subjects.result[hits[a, MEMBER]]]
    return hits[a, MEMBER] == first and hits[b, MEMBER] != first


@inline
def add_hit(hits, count, last, subjects, hit):
    """Add a hit, unless the parent has a better one for the same result; returns the hits and how many there are."""
    if count == len(hits):
        larger = np.empty((2 * count, hits.shape[1]), np.int64)
        larger[:count] = hits
        hits = larger
    parent, distance, section, member = hit
    result = subjects.result[member]
    hits[count, PARENT], hits[count, DISTANCE] = parent, distance
    hits[count, SECTION], hits[count, MEMBER] = section, member
    before = last[result]
    if before >= 0 and hits[before, PARENT] == parent:
        if is_nearer(hits, count, before, subjects):
            hits[before, :PREVIOUS] = hits[count, :PREVIOUS]
        return hits, count
    hits[count, PREVIOUS] = before
    last[result] = count
    return hits, count + 1


@kernel
def find_listings(out, lists, subjects, repeats, max_repeats, excluded):
    """The parents that link to a result as well: how many hits, or DAMAGED; the hits; the last hit of each result.

    `lists` are the parents of a page with their links and sections. In a long list that was read in part, results are
    looked up. `max_repeats` is 0 if links that a page repeats in other sections don't count.
    """
    hits, count = np.empty((64, 5), np.int64), np.int64(0)
    last = np.full(len(subjects.starts) - 1, -1, np.int64)
    pages, sections = np.empty(2, np.uint32), np.empty(2, np.uint32)
    pages[0] = lists.of
    for i in range(len(lists.pages)):
        place, start, stop = lists.places[i], lists.starts[i], lists.starts[i + 1]
        sections[0] = block_of(lists.attributes[place])
        begin, end = np.int64(0), np.int64(0)
        if lists.whole[i] and max_repeats > 0 and len(repeats.page) > 0:
            begin, end = repeats_of(repeats, lists.pages[i])
        for k in range(start, stop):
            slot = slot_of(subjects.table, lists.targets[k])
            if subjects.table[slot] == EMPTY:
                continue
            distance, section = abs(k - place), block_of(lists.attributes[k])
            if section != sections[0] or section == 0:
                seen = stop - start <= lists.window + 1 or distance <= lists.window // 2 or lists.window < 2
                pages[1], sections[1] = lists.targets[k], section
                section = np.uint32(0)
                if begin < end and seen:
                    section = common_section(repeats, begin, end, excluded, pages, sections, max_repeats)
                distance = distance if section == 0 else np.int64(UNKNOWN_DISTANCE)
            hit = (np.int64(i), np.int64(distance), np.int64(section), np.int64(subjects.local[slot]))
            hits, count = add_hit(hits, count, last, subjects, hit)
        if not lists.whole[i]:
            state, hits, count = look_up_results(out, lists, i, subjects, hits, count, last)
            if state < 0:
                return np.int64(DAMAGED), hits, last
    return count, hits[:count], last


@kernel
def look_up_results(out, lists, i, subjects, hits, count, last):
    """Add the results that a long list has outside the part that was read: state, hits, how many there are."""
    parent = np.int64(lists.pages[i])
    at = find_position(out.page, parent)
    if at < 0:
        return np.int64(DAMAGED), hits, count
    low, high = np.int64(out.link[at]), np.int64(out.link[at + 1])
    own = find_position(out.target[low:high], np.uint32(lists.of))
    targets, attributes = np.empty(EVERY + 8, np.uint32), np.empty(EVERY + 8, np.uint32)
    section = block_of(lists.attributes[lists.places[i]])
    for r in range(len(last)):
        if last[r] >= 0 and hits[last[r], PARENT] == i:
            continue
        best, distance = np.int64(-1), np.int64(UNKNOWN_DISTANCE)
        for m in range(subjects.starts[r], subjects.starts[r + 1]):
            found = find_position(out.target[low:high], subjects.members[m])
            if found >= 0 and own >= 0:
                apart = abs(np.int64(out.place[low + found]) - np.int64(out.place[low + own]))
                if apart < distance:
                    best, distance = np.int64(m), apart
        if best < 0:
            continue
        member = np.int64(subjects.members[best])
        read, place = read_around(out, parent, member, np.int64(1), targets, attributes)
        if read < 0 or place < 0:
            return np.int64(DAMAGED), hits, count
        theirs = block_of(attributes[place])
        same = np.int64(theirs) if theirs == section else np.int64(0)
        hits, count = add_hit(hits, count, last, subjects, (np.int64(i), distance, same, best))
    return np.int64(0), hits, count


@inline
def comes_first(hits, a, b, pages, in_degree):
    """Whether hit a of a result is a better example than hit b, on another page."""
    if (hits[a, SECTION] == 0) != (hits[b, SECTION] == 0):
        return hits[a, SECTION] != 0
    if hits[a, DISTANCE] != hits[b, DISTANCE]:
        return hits[a, DISTANCE] < hits[b, DISTANCE]
    one, other = pages[hits[a, PARENT]], pages[hits[b, PARENT]]
    if in_degree[one] != in_degree[other]:
        return in_degree[one] > in_degree[other]
    return one < other


@kernel
def choose_listings(hits, last, pages, groups, in_degree):
    """For each result: how many parents have it, how many groups of them, and its best hits (-1: no more).

    The first examples are of different groups, as far as there are.
    """
    counts, group_counts = np.zeros(len(last), np.int64), np.zeros(len(last), np.int64)
    best = np.full((len(last), MAX_EXAMPLES), -1, np.int64)
    seen = np.full(len(pages), -1, np.int64)  # the last result that a group was counted for
    for r in range(len(last)):
        hit = last[r]
        while hit >= 0:
            counts[r] += 1
            group = groups[hits[hit, PARENT]]
            group_counts[r] += seen[group] != r
            seen[group] = r
            hit = hits[hit, PREVIOUS]
        for j in range(min(counts[r], MAX_EXAMPLES)):
            hit = last[r]
            while hit >= 0:
                fresh = True
                for chosen in best[r, :j]:
                    if j < group_counts[r]:
                        fresh &= groups[hits[chosen, PARENT]] != groups[hits[hit, PARENT]]
                    else:
                        fresh &= chosen != hit
                if fresh and (best[r, j] < 0 or comes_first(hits, hit, best[r, j], pages, in_degree)):
                    best[r, j] = hit
                hit = hits[hit, PREVIOUS]
    return counts, group_counts, best


class Shared(NamedTuple):
    """What results and a page link to, for each result."""

    counts: NDArray[np.int64]  # children of the page that the result links to as well
    child: NDArray[np.int64]  # indexes of the first of these, -1: no more
    member: NDArray[np.int64]  # which member of the subject links to each
    linked: NDArray[np.int64]  # the member that the page links to, or -1
    links: NDArray[np.int64]  # the member that links to the page, or -1


@kernel
def find_shared(out, page, children, first, subjects, excluded):
    """Links between a page and results, and pages that both link to, among the `first` children: a state, and these."""
    results = len(subjects.starts) - 1
    counts, linked, links = np.zeros(results, np.int64), np.full(results, -1), np.full(results, -1)
    child, member = np.full((results, MAX_EXAMPLES), -1), np.full((results, MAX_EXAMPLES), -1)
    found = Shared(counts, child, member, linked, links)
    for target in children:
        slot = slot_of(subjects.table, target)
        if subjects.table[slot] != EMPTY:
            m = np.int64(subjects.local[slot])
            r = subjects.result[m]
            if linked[r] < 0 or m == subjects.starts[r]:
                linked[r] = m
    children = children[:first]
    table = np.full(table_size(len(children) + 1), np.uint32(EMPTY))
    local = np.empty(len(table), np.int64)
    for j in range(len(children) - 1, -1, -1):
        slot = slot_of(table, children[j])
        table[slot] = children[j]
        local[slot] = j
    seen, by = np.full(len(children), -1, np.int64), np.empty(len(children), np.int64)
    room = np.empty(1024, np.uint32)
    for r in range(results):
        for m in range(subjects.starts[r], min(subjects.starts[r + 1], subjects.starts[r] + MAX_MEMBERS)):
            owner = np.int64(subjects.members[m])
            degree = np.int64(out.lists.degree[owner])
            if degree == 0:
                continue
            at = find_position(out.page, owner) if refuses_nothing(excluded) else np.int64(-1)
            if at >= 0 and out.link[at] < out.link[at + 1]:  # a long list: look up rather than read
                members = out.target[np.int64(out.link[at]) : np.int64(out.link[at + 1])]
                if links[r] < 0 and find_position(members, np.uint32(page)) >= 0:
                    links[r] = m
                for j in range(len(children)):
                    if seen[j] != r and find_position(members, children[j]) >= 0:
                        seen[j], by[j] = r, m
                        counts[r] += 1
                continue
            if degree > most_links(out.lists):
                return np.int64(DAMAGED), found
            if degree > len(room):
                room = np.empty(2 * degree, np.uint32)
            degree = read_counted(out, owner, excluded, room, np.empty(0, np.uint32))
            if degree < 0:
                return np.int64(DAMAGED), found
            for k in range(degree):
                if room[k] == page and links[r] < 0:
                    links[r] = m
                slot = slot_of(table, room[k])
                if table[slot] != EMPTY and seen[local[slot]] != r:
                    seen[local[slot]], by[local[slot]] = r, m
                    counts[r] += 1
        at = np.int64(0)
        for j in range(len(children) if counts[r] > 0 else 0):
            if seen[j] == r and at < MAX_EXAMPLES:
                child[r, at], member[r, at] = j, by[j]
                at += 1
    return np.int64(0), found


@kernel
def find_between(out, parents, subjects, excluded, between, members):
    """The first of some pages that each result, or a near-duplicate, links to: -1 if none; returns a state.

    `parents` ascend. members[r] is the member that does.
    """
    room = np.empty(1024, np.uint32)
    for r in range(len(between)):
        for m in range(subjects.starts[r], min(subjects.starts[r + 1], subjects.starts[r] + MAX_MEMBERS)):
            owner = np.int64(subjects.members[m])
            degree = np.int64(out.lists.degree[owner])
            if between[r] >= 0 or degree == 0 or is_refused(excluded, owner):
                continue
            if degree > most_links(out.lists):
                return np.int64(DAMAGED)
            if degree > len(room):
                room = np.empty(2 * degree, np.uint32)
            degree = read_counted(out, owner, excluded, room, np.empty(0, np.uint32))
            if degree < 0:
                return np.int64(DAMAGED)
            for k in range(degree):
                if find_position(parents, room[k]) >= 0 and (between[r] < 0 or room[k] < between[r]):
                    between[r], members[r] = room[k], m
    return np.int64(0)
