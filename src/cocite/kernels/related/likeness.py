"""How alike pages are by their links, in one call: methods/auto.py has the formulas."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.lists import Lists, address_key
from cocite.kernels.hash_tables import MISSING, add_members, new_page_set, number_of
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related import counted_links as counted
from cocite.kernels.related.blend import (
    IN_SECTION,
    MAX_LINKER_LINKS,
    ON_PAGE,
    Candidates,
    ParentWeights,
    Spouses,
    add_shared,
    add_together,
    read_spouses,
)
from cocite.kernels.related.independence import GROUPED, originals, unexplained
from cocite.kernels.related.listings import CountedWeb
from cocite.kernels.related.neighbourhood import (
    NearPages,
    ParentChoice,
    Parents,
    add_windows,
    choose_parents,
    count_windows,
    group,
    merge_members,
    read_parents,
    representatives,
)

DIRECT = 0.25
"""A link from one page to the other, compared with a shared neighbour."""
MAX_BEST_LINKS = 100
"""Parents and children of each of the best pages that count, and links of such a parent."""
SCORE_UNITS = 1e6
"""Scores that differ by less than one of these parts are equal."""
MIN_SCORE = 1e-12


class LikenessWeb(NamedTuple):
    """The links that count in a question, both ways; which pages count as one; and how parents are chosen."""

    counted: CountedWeb
    into: Lists
    near: NearPages  # near-duplicates among results
    choice: ParentChoice
    links: int  # of the whole web
    in_degree: NDArray[np.uint32]  # links from pages that have trust
    lists: int  # such pages that have links
    votes: NDArray[np.uint32]  # in-links that count, without copies and what chance explains


class LinkWeights(NamedTuple):
    """Parameters of the method, see there."""

    near: float
    elsewhere: float
    popularity: float
    best: int


class Around(NamedTuple):
    """The parents and children of one page."""

    page: int
    parents: Parents
    listing: Parents  # its parents, and those of its same-name pages
    weights: NDArray[np.float64]  # of each page of `listing`
    children: NDArray[np.uint32]
    one_site: bool  # the page and all its parents are on one site, which therefore doesn't matter
    reliability: float  # the mean part of the sections that list the page that chance doesn't explain


class AroundLimits(NamedTuple):
    """How much is read around a page."""

    parents: int
    window: int
    children: int


@inline
def rarity(links):
    """The weight of one of this many links."""
    return 1.0 / np.log(2.0 + links)


@kernel
def weigh_parents(web, parents, shares, own):
    """How much each parent counts: (weights, the mean part beyond chance of the first `own`). Copies don't count."""
    counted, weights, total, number = shares > 0, shares.copy(), 0.0, 0
    if web.counted.copies != GROUPED and len(shares) > 1:
        first = originals(parents, shares, web.counted, web.into.order)
        for i in range(len(shares)):
            counted[i] &= first[i] == i
    beyond = unexplained(parents, counted, web.in_degree, web.lists)
    for i in range(len(shares)):
        weights[i] = shares[i] * beyond[i] if counted[i] else 0.0
        if counted[i] and i < own:
            total, number = total + beyond[i], number + 1
    return weights, total / number if number > 0 else 1.0


@kernel
def read_around(web, page, limits):
    """Read the parents and children of a page: (state, Around)."""
    out, excluded, units = web.counted.out, web.counted.excluded, web.counted.units
    state, candidates = choose_parents(web.into, web.choice, excluded, page, limits.parents)
    chosen, parents = read_parents(out, candidates, page, limits.parents, limits.window, excluded, True)
    count, children = counted.read_targets(out, page, excluded, np.empty(0, np.uint32))
    one_site = len(parents.pages) > 0
    for parent in parents.pages:
        one_site &= units[parent] == units[page] if len(units) > 0 else parent == page
    children = children[: max(np.int64(0), min(count, np.int64(limits.children)))]
    weights, reliability = weigh_parents(web, parents, np.ones(len(parents.pages)), len(parents.pages))
    around = Around(np.int64(page), parents, parents, weights, children, one_site, reliability)
    return min(state, chosen, count), around


@kernel
def alike_pages(web, around, seeds, weights):
    """Pages like a page: (state, pages, their part by sections, values, the best page that each is most like).

    Where no section lists the page, what is like the best pages counts as much as what is like the page itself. For
    one of the best pages the others count, if there are any: how much a page is like itself says nothing.
    """
    state, found, in_section, values = first_step(web, around, seeds, weights)
    best = best_pages(values, weights.best if state >= 0 and not is_in_sections(around.parents) else 0)
    if len(best) == 0:
        return state, found, in_section, values, np.empty(0, np.uint32)
    limits = AroundLimits(np.int64(MAX_BEST_LINKS), np.int64(MAX_BEST_LINKS), np.int64(MAX_BEST_LINKS))
    others, likeness, starts = found[:0], values[:0], np.zeros(len(best) + 1, np.int64)
    for i in range(len(best)):
        page = np.int64(found[best[i]])
        read, near = read_around(web, page, limits)
        ended, pages, _, like = first_step(web, near, np.append(seeds, np.uint32(page)), weights)
        state = min(state, read, ended)
        others, likeness = np.concatenate((others, pages)), np.concatenate((likeness, like))
        starts[i + 1] = len(others)
    every = new_page_set(len(found) + len(others), len(web.into.degree))
    add_members(every, np.int64(0), found)
    count = add_members(every, np.int64(len(found)), others)
    sums, most, through = np.zeros(count), np.zeros(count), np.full(count, np.uint32(MISSING))
    total = np.full(count, values[best].sum())
    for i in range(len(best)):
        page, weight = found[best[i]], values[best[i]]
        for k in range(starts[i], starts[i + 1]):
            number = number_of(every.table, others[k])
            sums[number] += weight * likeness[k]
            better = likeness[k] > most[number]
            if likeness[k] == most[number] and most[number] > 0:
                better = address_key(web.into, page) < address_key(web.into, through[number])
            if better:
                most[number], through[number] = likeness[k], page
        if len(best) > 1:
            total[best[i]] -= weight
        else:
            sums[best[i]] = weight**2
    listed, mean = np.zeros(count), np.zeros(count)
    for i in range(count):
        listed[i] = in_section[i] if i < len(found) else 0.0
        own = values[i] if i < len(found) else 0.0
        mean[i] = (own + sums[i] / max(total[i], MIN_SCORE)) / 2
    return state, every.members[:count], listed, mean, through


@inline
def is_in_sections(parents):
    """Whether a parent has its link to the page in a section."""
    found = False
    for place in parents.places:
        found |= block_of(parents.attributes[place]) > 0
    return found


@kernel
def best_pages(values, most):
    """The indexes of the best values, at most so many, without equal ones of which some would be too many."""
    greatest, first = np.float64(MIN_SCORE), np.zeros(most + 1)
    for value in values:
        greatest = max(greatest, value)
    for value in values:
        rounded = np.rint(value / greatest * SCORE_UNITS)
        if most > 0 and rounded > first[most]:
            at = most
            while at > 0 and first[at - 1] < rounded:
                first[at] = first[at - 1]
                at -= 1
            first[at] = rounded
    best, count = np.empty(most, np.int64), np.int64(0)
    for i in range(len(values) if most > 0 else 0):
        if np.rint(values[i] / greatest * SCORE_UNITS) > first[most]:
            best[count] = i
            count += 1
    return best[:count]


@kernel
def first_step(web, around, seeds, weights):
    """The pages that share parents or children with a page, or are linked with it; `seeds` get 0.

    Returns (state, pages, their part by sections, values); near-duplicates are merged.
    """
    in_degree, out_degree = web.into.degree, web.counted.out.lists.degree
    listing, children, excluded = around.listing, around.children, web.counted.excluded
    room = np.int64(0)
    for child in children:
        room += in_degree[child] if in_degree[child] <= MAX_LINKER_LINKS else 0
    capacity = count_windows(listing) + len(around.parents.pages) + len(children) + room
    numbered = new_page_set(capacity, len(in_degree))
    count = add_windows(listing, numbered, np.int64(0), np.empty(0, np.int32))
    count = add_members(numbered, count, around.parents.pages)
    count = add_members(numbered, count, children)
    spouses = Spouses(np.zeros(len(children) + 1, np.int64), np.empty(room, np.uint32))
    state = read_spouses(web.counted.out, web.into, children, around.page, excluded, spouses, numbered, count)
    count = max(count, state)
    candidates, merged, pages = merge_members(web.near, numbered, count, len(in_degree))
    totals = np.zeros((2, len(pages)))
    add_listed(web, around, Candidates(numbered, merged), weights, totals)
    in_section, shared = totals[IN_SECTION], totals[ON_PAGE]
    for seed in seeds:
        number = number_of(candidates.table, seed)
        if number >= 0:
            in_section[number] = shared[number] = 0
    shares, size = np.empty(len(children)), np.float64(0)
    for i in range(len(children)):
        shares[i] = rarity(in_degree[children[i]])
        size += shares[i]
    add_shared(spouses, shares, merged, shared)
    add_direct(around, numbered, merged, in_degree, out_degree, shared)
    neighbours = np.int64(len(children) + 2)
    for i in range(len(listing.pages)):
        size += around.weights[i] * rarity(out_degree[listing.pages[i]])
        neighbours += around.weights[i] != 0
    size += rarity(in_degree[around.page]) + rarity(out_degree[around.page])
    exponent = 0.0 if around.one_site else weights.popularity
    listed, greatest = beyond_chance(in_section, pages, web.votes, web.links, exponent)
    factor, top = np.sqrt(np.float64(neighbours)) / size, np.sqrt(max(greatest, MIN_SCORE))
    for i in range(len(pages)):
        its = np.float64(in_degree[pages[i]]) + np.float64(out_degree[pages[i]]) + 2.0
        listed[i] = listed[i] / top + shared[i] * factor / np.sqrt(its)
    for seed in seeds:
        number = number_of(candidates.table, seed)
        if number >= 0:
            listed[number] = 0
    return min(state, np.int64(0)), pages, in_section, listed


@kernel
def add_listed(web, around, candidates, weights, totals):
    """Add what common parents give: see `add_together`."""
    listing, near = around.listing, web.counted.near
    counted = np.flatnonzero(around.weights > 0)
    pages = listing.pages[counted]
    first, units = np.empty(len(pages), np.uint32), pages
    representatives(near.page, near.representative, pages, first)
    if len(web.counted.units) > 0 and not around.one_site:
        units = web.counted.units[pages]
    groups, count = group(units, first)
    starts, order = np.zeros(count + 1, np.int64), np.empty(len(groups), np.int64)
    group_of, degrees = np.empty(len(listing.pages), np.int32), np.empty(len(listing.pages), np.uint32)
    for number in groups:
        starts[number + 1] += 1
    for number in range(count):
        starts[number + 1] += starts[number]
    for k in range(len(groups)):
        i = counted[k]
        order[starts[groups[k]]], group_of[i] = i, groups[k]
        starts[groups[k]] += 1
        degrees[i] = web.counted.out.lists.degree[listing.pages[i]]
    parents = ParentWeights(order, group_of, around.weights, degrees, weights.near, weights.elsewhere)
    add_together(listing, parents, web.counted.repeats, web.counted.excluded, candidates, totals)


@kernel
def add_direct(around, numbered, merged, in_degree, out_degree, totals):
    """Add what links between the page and its parents and children give; of near-duplicates the strongest counts."""
    page, parents, children = around.page, around.parents.pages, around.children
    into, both = np.zeros(len(merged)), np.zeros(len(totals))
    for parent in parents:
        into[number_of(numbered.table, parent)] = rarity(out_degree[parent]) + rarity(in_degree[page])
    for child in children:
        number = number_of(numbered.table, child)
        value = DIRECT * (into[number] + rarity(in_degree[child]) + rarity(out_degree[page]))
        into[number] = 0
        both[merged[number]] = max(both[merged[number]], value)
    for parent in parents:
        number = number_of(numbered.table, parent)
        both[merged[number]] = max(both[merged[number]], DIRECT * into[number])
    for i in range(len(totals)):
        totals[i] += both[i]


@kernel
def beyond_chance(in_section, pages, votes, links, exponent):
    """The parts by sections beyond chance, multiplied by popularity; and the greatest."""
    total, greatest = in_section.sum(), np.float64(0)
    listed = np.zeros(len(in_section))
    for i in range(len(in_section) if total > 0 else 0):
        value = in_section[i] - np.float64(votes[pages[i]]) * (total / max(1, links))
        if value > 0:
            listed[i] = value * np.float64(max(1, votes[pages[i]])) ** exponent
            greatest = max(greatest, listed[i])
    return listed, greatest
