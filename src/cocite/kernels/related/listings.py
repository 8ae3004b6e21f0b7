"""Evidence from links for all kept results of a question at once: pages that link to both, and links that both have."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.hash_tables import NumberedSet, add_members, bit_filter, new_set, number_of
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related import counted_links as counted

MAX_EXAMPLES = 3  # examples of each kind of evidence that are kept for a result
MAX_MEMBERS = 101  # a result and its first 100 near-duplicates: the out-links of others aren't read
UNKNOWN_DISTANCE = 1 << 40
PARENT, DISTANCE, SECTION, MEMBER, PREVIOUS = range(5)
"""Columns of `hits`: parent's index, links apart, section + 1 (0: different ones), member, the result's hit before."""


class Subjects(NamedTuple):
    """Results, each with its near-duplicates: result r has the members starts[r] to starts[r + 1], itself first."""

    members: NumberedSet
    starts: NDArray[np.int64]
    result: NDArray[np.int32]  # of each member


class LinksInCommon(NamedTuple):
    """What results and a page link to, for each result."""

    counts: NDArray[np.int64]  # children of the page that the result links to as well
    child: NDArray[np.int64]  # indexes of the first of these, -1: no more
    member: NDArray[np.int64]  # which member of the subject links to each
    linked: NDArray[np.int64]  # the member that the page links to, or -1
    links: NDArray[np.int64]  # the member that links to the page, or -1


@kernel
def common_section(repeats, bounds, excluded, pages, sections, max_repeats):
    """The first section, plus 1, with both pages, one of them repeated; 0 if there is none. `sections`: first links."""
    begin, end = bounds
    best, repeated = np.uint32(0), 0
    for own in range(begin - 1, end):
        section = sections[0]
        if own >= begin:
            first = repeats.target[own] == pages[0] and repeated < max_repeats
            if not first or not counted.is_counted(repeats, own, excluded):
                continue
            repeated += 1
            section = block_of(repeats.attribute[own])
        if section == 0 or 0 < best <= section:
            continue
        found = section == sections[1]
        for k in range(begin, end):
            second = repeats.target[k] == pages[1] and block_of(repeats.attribute[k]) == section
            found |= second and counted.is_counted(repeats, k, excluded)
        if found:
            best = section
    return best


@inline
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
    last = np.full(len(subjects.starts) - 1, -1)
    for i in range(len(parents.pages)):
        place, start, stop = parents.places[i], parents.starts[i], parents.starts[i + 1]
        own_section, bounds = block_of(parents.attributes[place]), (np.int64(0), np.int64(0))
        if parents.whole[i] and max_repeats > 0 and len(repeats.page) > 0:
            bounds = counted.repeats_of(repeats, parents.pages[i])
        for k in range(start, stop):
            member = number_of(subjects.members.table, parents.targets[k])
            if member < 0:
                continue
            distance, section = abs(k - place), block_of(parents.attributes[k])
            if section != own_section or section == 0:
                sections, section = (own_section, section), np.uint32(0)
                in_window = stop - start <= parents.window + 1 or distance <= parents.window // 2 or parents.window < 2
                if bounds[0] < bounds[1] and in_window:
                    pages = (np.uint32(parents.of), parents.targets[k])
                    section = common_section(repeats, bounds, excluded, pages, sections, max_repeats)
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


@inline
def comes_first(hits, a, b, pages, in_degree):
    """Whether hit a of a result is a better example than hit b, on another page."""
    better = compare_hits(hits, a, b)
    if better != 0:
        return better > 0
    one, other = pages[hits[a, PARENT]], pages[hits[b, PARENT]]
    if in_degree[one] != in_degree[other]:
        return in_degree[one] > in_degree[other]
    return one < other


@kernel
def choose_listings(hits, last, pages, groups, in_degree):
    """For each result: its parents, groups of parents, and best hits (-1: no more), first of different groups."""
    counts, group_counts = np.zeros(len(last), np.int64), np.zeros(len(last), np.int64)
    best = np.full((len(last), MAX_EXAMPLES), -1)
    seen = np.full(len(pages), -1)  # the last result that a group was counted for
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
                for before in range(j):
                    chosen = best[r, before]
                    if j < group_counts[r]:
                        fresh &= groups[hits[chosen, PARENT]] != groups[hits[hit, PARENT]]
                    else:
                        fresh &= chosen != hit
                if fresh and (best[r, j] < 0 or comes_first(hits, hit, best[r, j], pages, in_degree)):
                    best[r, j] = hit
                hit = hits[hit, PREVIOUS]
    return counts, group_counts, best


@kernel
def find_shared(out, page, children, first, subjects, excluded):
    """Links between a page and results, and what both link to among its `first` children: (0 or DAMAGED, these)."""
    results = len(subjects.starts) - 1
    counts, linked, links = np.zeros(results, np.int64), np.full(results, -1), np.full(results, -1)
    child, member = np.full((results, MAX_EXAMPLES), -1), np.full((results, MAX_EXAMPLES), -1)
    found = LinksInCommon(counts, child, member, linked, links)
    for target in children:
        m = number_of(subjects.members.table, target)
        if m >= 0:
            r = subjects.result[m]
            if linked[r] < 0 or m == subjects.starts[r]:
                linked[r] = m
    children = children[:first]
    wanted = new_set(len(children) + 1)  # the children, and last the page
    add_members(wanted, add_members(wanted, np.int64(0), children), np.full(1, np.uint32(page)))
    seen, by = np.full(len(children) + 1, -1), np.empty(len(children) + 1, np.int64)
    room, bits = np.empty(1024, np.uint32), bit_filter(wanted.members)
    for r in range(results):
        for m in range(subjects.starts[r], min(subjects.starts[r + 1], subjects.starts[r] + MAX_MEMBERS)):
            owner = np.int64(subjects.members.members[m])
            count, room = counted.find_links(out, owner, excluded, wanted, bits, room)
            if count < 0:
                return np.int64(DAMAGED), found
            for k in range(count):
                if seen[room[k]] != r:
                    seen[room[k]], by[room[k]] = r, m
                    counts[r] += room[k] < len(children)
        if seen[len(children)] == r:
            links[r] = by[len(children)]
        at = np.int64(0)
        for j in range(len(children) if counts[r] > 0 else 0):
            if seen[j] == r and at < MAX_EXAMPLES:
                child[r, at], member[r, at] = j, by[j]
                at += 1
    return np.int64(0), found


@kernel
def find_between(out, pages, subjects, excluded, between, members):
    """between[r] = the first of some ascending pages that result r links to, or -1; members[r]: the one that does."""
    room = np.empty(1024, np.uint32)
    for r in range(len(between)):
        for m in range(subjects.starts[r], min(subjects.starts[r + 1], subjects.starts[r] + MAX_MEMBERS)):
            owner = np.int64(subjects.members.members[m])
            if between[r] >= 0 or counted.is_excluded(excluded, owner):
                continue
            degree, room = counted.read_targets(out, owner, excluded, room)
            if degree < 0:
                return np.int64(DAMAGED)
            for k in range(degree):
                if find_position(pages, room[k]) >= 0 and (between[r] < 0 or room[k] < between[r]):
                    between[r], members[r] = room[k], m
    return np.int64(0)
