"""How much each parent of a page counts: copies of another one don't, nor do sections that chance explains.

A copy says nothing that its original doesn't say. Two sections are copies if they share more than half of all links
that they have: their resemblance (Broder, Glassman, Manasse & Zweig 1997, §2) is above a half. docs/decisions/0053 has
the reasons and measurements.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.lists import key_of
from cocite.kernels.hash_tables import add_member, new_set
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.neighbourhood import representatives, window_of

MIN_SHARED_LINKS = 3  # with the page itself: two lists that name one other page with it need not be copies
MAX_SIDE_LINKS = 32  # links of a section that are compared, on either side of the page
DEVIATIONS = 2.0  # 95 % confidence
MIN_SAMPLE = 20  # parents, without copies: fewer don't show what is chance
GROUPED, NEAR_DUPLICATES, SECTIONS = 0, 1, 2
"""Which parents are copies: none, those of a unit and near-duplicates are grouped instead; near-duplicates; these and
copied sections."""


class ListWeights(NamedTuple):
    """How much each parent counts."""

    weight: NDArray[np.float64]
    original: NDArray[np.int64]  # the index of the parent that it is a copy of, or its own
    ranked: NDArray[np.int64]  # all indexes: of copies, the first that lists a page counts for it


@inline
def compared_links(parents, i):
    """The bounds of the links of parent i that are compared, if they are in the section of its link to the page."""
    low, high = window_of(parents, i)
    place = parents.places[i]
    return max(low, place - MAX_SIDE_LINKS), min(high, place + MAX_SIDE_LINKS + 1)


@inline
def in_section(parents, i, k):
    """Whether a link of parent i is in the section of its link to the page, and links to another page."""
    section = block_of(parents.attributes[parents.places[i]])
    return k != parents.places[i] and section > 0 and block_of(parents.attributes[k]) == section


@kernel
def originals(parents, counted, web, order):
    """For each parent the one that it is a copy of, by index (itself, if it isn't one); and the parents by rank.

    Parents of higher in-degree, then of lower address (`order`), come first. A copy has the page in a section that
    shares more than half of all links with that of an original, of several with the first; or it is a near-duplicate of
    a parent. Only originals are compared with: otherwise a page that joins two sections would make one of them a copy
    of the other. Parents that aren't counted are their own.
    """
    size, in_degree, near = len(parents.places), web.excluded.in_degree, web.near
    found, names = np.arange(size), np.empty(size, np.uint32)
    others = representatives(near.page, near.representative, parents.pages, names) if len(near.page) > 0 else 0
    several = 0
    for i in range(size if web.copies == SECTIONS else 0):
        several += counted[i] and block_of(parents.attributes[parents.places[i]]) > 0
    if others == 0 and several < 2:
        return found, found
    keys, degrees = np.empty(size, np.uint64), np.empty(size, np.int64)
    for i in range(size):
        names[i] = names[i] if others > 0 else parents.pages[i]
        keys[i], degrees[i] = key_of(order, len(in_degree), parents.pages[i]), -np.int64(in_degree[parents.pages[i]])
    by_address = np.argsort(keys)
    ranked = by_address[np.argsort(degrees[by_address], kind="mergesort")]
    groups, count, first_of_group = new_set(size), np.int64(0), np.empty(size, np.int64)
    room = np.int64(0)
    for i in range(size if several > 1 else 0):
        low, high = compared_links(parents, i)
        room += high - low
    numbered, pages = new_set(room), np.int64(0)
    last, before, owner = np.full(room, -1), np.empty(room, np.int64), np.empty(room, np.int64)
    postings = np.int64(0)
    shared, rank, sizes = np.zeros(size, np.int64), np.empty(size, np.int64), np.zeros(size, np.int64)
    numbers, touched = np.empty(2 * MAX_SIDE_LINKS, np.int64), np.empty(size, np.int64)
    for at in range(size):
        i = ranked[at]
        rank[i] = at
        if not counted[i]:
            continue
        group = add_member(groups, count, names[i])
        if group < count:
            found[i] = first_of_group[group]
            continue
        low, high = compared_links(parents, i) if several > 1 else (np.int64(0), np.int64(0))
        links, reached = 0, 0
        for k in range(low, high):
            if not in_section(parents, i, k):
                continue
            numbers[links] = add_member(numbered, pages, parents.targets[k])
            pages += numbers[links] == pages
            posting = last[numbers[links]]
            links += 1
            while posting >= 0:
                if shared[owner[posting]] == 0:
                    touched[reached] = owner[posting]
                    reached += 1
                shared[owner[posting]] += 1
                posting = before[posting]
        sizes[i] = links + 1
        for j in range(reached):
            other = touched[j]
            both = shared[other] + 1
            shared[other] = 0
            alike = both >= MIN_SHARED_LINKS and 3 * both > sizes[i] + sizes[other]
            if alike and (found[i] == i or rank[other] < rank[found[i]]):
                found[i] = other
        first_of_group[group] = found[i]
        count += 1
        for j in range(links if found[i] == i else 0):
            before[postings], owner[postings] = last[numbers[j]], i
            last[numbers[j]] = postings
            postings += 1
    return found, ranked


@kernel
def unexplained(parents, counted, in_degree, lists):
    """For each parent, the part of its section that chance doesn't explain, with 95 % confidence.

    By chance, each of the n - 1 other parents lists a page s as often as lists without the query page do: e of them. If
    o do, chance explains e / (o + 1) of s being there. For a Poisson number o, the mean of that is 1 - exp(-e), the
    probability that chance lists s at all, and its variance about e³ / (e + 1)⁴. The part of a section is the mean over
    its pages, without the query page; two standard deviations are on the side of chance. With fewer than MIN_SAMPLE
    parents all have 1.
    """
    size, links, sample = len(parents.places), parents.starts[len(parents.places)], np.int64(np.sum(counted))
    found = np.ones(size)
    if sample < MIN_SAMPLE:
        return found
    numbered, count = new_set(links), np.int64(0)
    numbers, times, all_times = np.empty(links, np.int32), np.zeros(links, np.int32), np.zeros(links, np.int32)
    for i in range(size):
        low, high = window_of(parents, i)
        for k in range(low, high):
            numbers[k] = add_member(numbered, count, parents.targets[k])
            count += numbers[k] == count
            times[numbers[k]] += counted[i]
            all_times[numbers[k]] += 1
    of_all = max(1.0, in_degree[parents.of] / size)  # if the parents are a sample
    others = max(1.0, lists - size * of_all + 1.0)
    for i in range(size):
        section, explained, variance, pages = block_of(parents.attributes[parents.places[i]]), 0.0, 0.0, 0
        if not counted[i] or section == 0:
            continue
        low, high = window_of(parents, i)
        for k in range(low, high):
            if k != parents.places[i] and block_of(parents.attributes[k]) == section:
                elsewhere = max(0.0, in_degree[parents.targets[k]] - all_times[numbers[k]] * of_all)
                by_chance = (sample - 1) * min(1.0, elsewhere / others)
                explained += by_chance / times[numbers[k]]
                variance += by_chance**3 / (by_chance + 1.0) ** 4
                pages += 1
        if pages > 0:
            found[i] = max(0.0, 1.0 - (explained + DEVIATIONS * np.sqrt(variance)) / pages)
    return found


@kernel
def weigh_parents(web, parents, shares, own):
    """How much each parent counts; and the mean part beyond chance of the first `own`, without copies."""
    counted, weights, total, number = shares > 0, shares.copy(), 0.0, 0
    original, ranked = originals(parents, counted, web.counted, web.into.order)
    for i in range(len(shares)):
        counted[i] &= original[i] == i
    beyond = unexplained(parents, counted, web.in_degree, web.lists)
    for i in range(len(shares)):
        weights[i] = shares[i] * beyond[original[i]]
        if counted[i] and i < own:
            total, number = total + beyond[i], number + 1
    return ListWeights(weights, original, ranked), total / number if number > 0 else 1.0
