"""How alike pages are by their links, in one call: methods/auto.py has the formulas."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.bundles import lent
from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, address_key, most_links, read_lists
from cocite.kernels.hash_tables import MISSING, add_member, add_members, new_page_set, new_set, number_of
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related import counted_links as counted
from cocite.kernels.related.blend import (
    IN_SECTION,
    MIN_SCORE,
    ON_PAGE,
    SCORE_UNITS,
    Candidates,
    ParentWeights,
    add_together,
    sum_of,
)
from cocite.kernels.related.independence import GROUPED, Chance, originals, unexplained
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
from cocite.kernels.related.texts import SameNamePages


@lent
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
    chance: Chance


class LinkWeights(NamedTuple):
    """Parameters and constants of the method, see there."""

    near: float
    elsewhere: float
    popularity: float
    best: int
    direct: float
    linker_links: int
    best_links: int


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
    beyond = unexplained(parents, counted, web.in_degree, web.lists, web.chance)
    for i in range(len(shares)):
        weights[i] = shares[i] * beyond[i] if counted[i] else 0.0
        if counted[i] and i < own:
            total, number = total + beyond[i], number + 1
    return weights, total / number if number > 0 else 1.0


@kernel
def read_around(web, page, names, limits):
    """Read the parents and children of a page, and the parents of its same-name pages: (state, Around)."""
    excluded, units = web.counted.excluded, web.counted.units
    state, parents = parents_of(web, page, limits)
    count, children = counted.read_targets(web.counted.out, page, excluded, np.empty(0, np.uint32))
    one_site = len(parents.pages) > 0
    for parent in parents.pages:
        one_site &= units[parent] == units[page] if len(units) > 0 else parent == page
    children = children[: max(np.int64(0), min(count, np.int64(limits.children)))]
    listing, shares = parents, np.ones(len(parents.pages))
    for i in range(len(names.pages)):
        read, others = parents_of(web, np.int64(names.pages[i]), limits)
        numbered, members = new_set(len(listing.pages) + 1), np.int64(0)
        members = add_members(numbered, members, listing.pages)
        add_member(numbered, members, np.uint32(page))  # the page itself lists its same-name page
        kept = np.empty(len(others.pages), np.bool_)
        for k in range(len(kept)):  # a list that has both counts for the page alone
            kept[k] = number_of(numbered.table, others.pages[k]) < 0
        own = np.full(np.count_nonzero(kept), names.shares[i])
        listing, shares, state = join_parents(listing, others, kept), np.concatenate((shares, own)), min(state, read)
    weights, reliability = weigh_parents(web, listing, shares, len(parents.pages))
    around = Around(np.int64(page), parents, listing, weights, children, one_site, reliability)
    return min(state, count), around


@kernel
def parents_of(web, page, limits):
    """Choose and read the parents of a page: (state, Parents)."""
    excluded = web.counted.excluded
    state, candidates = choose_parents(web.into, web.choice, excluded, page, limits.parents)
    chosen, parents = read_parents(web.counted.out, candidates, page, limits.parents, limits.window, excluded, True)
    return min(state, chosen), parents


@kernel
def join_parents(first, second, kept):
    """The parents of a page, and those of another page that are kept, as those of the first page."""
    size, end = len(first.pages), first.starts[len(first.pages)]
    count, total = size + np.count_nonzero(kept), end
    for i in range(len(kept)):
        total += second.starts[i + 1] - second.starts[i] if kept[i] else 0
    starts, places, pages = np.empty(count + 1, np.int64), np.empty(count, np.int64), np.empty(count, np.uint32)
    targets, attributes, whole = np.empty(total, np.uint32), np.empty(total, np.uint32), np.empty(count, np.bool_)
    starts[:size], places[:size] = first.starts[:size], first.places
    pages[:size], whole[:size] = first.pages, first.whole
    targets[:end], attributes[:end] = first.targets[:end], first.attributes[:end]
    at = size
    for i in range(len(kept)):
        if kept[i]:
            low, high = second.starts[i], second.starts[i + 1]
            starts[at], places[at] = end, second.places[i] - low + end
            pages[at], whole[at] = second.pages[i], second.whole[i]
            for k in range(low, high):
                targets[end + k - low], attributes[end + k - low] = second.targets[k], second.attributes[k]
            at, end = at + 1, end + high - low
    starts[count] = end
    return Parents(first.of, first.window, pages, starts, places, whole, targets, attributes)


@kernel
def alike_pages(web, page, names, seeds, limits, weights):
    """Pages like a page: (state, its Around, pages, their part by sections, values, the best pages).

    Where no section lists the page, what is like the best pages counts as much as what is like the page itself. For
    one of the best pages the others count, if there are any: how much a page is like itself says nothing.
    """
    read, around = read_around(web, page, names, limits)
    state, found, in_section, values = first_step(web, around, seeds, weights)
    state = min(state, read)
    best = best_pages(values, weights.best if state >= 0 and not is_in_sections(around.parents) else 0)
    if len(best) == 0:
        return state, around, found, in_section, values, found[:0]
    ended, pages, sums = second_step(web, found, best, values, seeds, weights)
    listed, total = np.zeros(len(pages)), np.full(len(pages), sum_of(values[best]))
    listed[: len(found)] = in_section
    for i in best:
        total[i] -= values[i]
    if len(best) == 1:
        sums[best[0]], total[best[0]] = values[best[0]], 1.0
    for i in range(len(pages)):
        sums[i] = ((values[i] if i < len(found) else 0.0) + sums[i] / max(total[i], MIN_SCORE)) / 2
    return min(state, ended), around, pages, listed, sums, found[best]


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
    pages, by_sections, values, factor = by_parents(web, around, seeds, weights)
    children, shares = rare_children(web.into, around.children, weights.linker_links, factor)
    if len(children) == 0:
        return np.int64(0), pages, by_sections, values
    state, found, sums = add_shared(web, pages, values, children, shares, seeds)
    in_section = np.zeros(len(found))
    in_section[: len(pages)] = by_sections
    return state, found, in_section, sums


@kernel
def second_step(web, found, best, values, seeds, weights):
    """What is like the best of the pages found: (state, pages, for each the sum of likeness × how good that page is).

    The first pages are those found. The other parents of a child that several of the best pages have are read once.
    """
    limits = AroundLimits(weights.best_links, weights.best_links, weights.best_links)
    no_names = SameNamePages(np.empty(0, np.uint32), np.empty(0))
    room = len(best) * weights.best_links
    pages, sums, state = found, np.zeros(len(found)), np.int64(0)
    numbered, count, shares, own = new_set(room), np.int64(0), np.zeros(room), np.zeros(len(best))
    for i in range(len(best)):
        page = np.int64(found[best[i]])
        read, around = read_around(web, page, no_names, limits)
        others, _, likeness, factor = by_parents(web, around, np.append(seeds, np.uint32(page)), weights)
        pages, sums = np.concatenate((pages, others)), np.concatenate((sums, values[best[i]] * likeness))
        children, some = rare_children(web.into, around.children, weights.linker_links, values[best[i]] * factor)
        for k in range(len(children)):
            number = add_member(numbered, count, children[k])
            count += number == count
            shares[number] += some[k]
        own[i] = sum_of(some) / size_of(web, page)
        state = min(state, read)
    read, pages, sums = add_shared(web, pages, sums, numbered.members[:count], shares, seeds)
    for i in range(len(best)):
        sums[best[i]] = max(0.0, sums[best[i]] - own[i])  # a page has all of its children in common with itself
    return min(state, read), pages, sums


@kernel
def most_alike(web, best, pages, seeds, weights):
    """For each of some pages the best page that it is most like, or MISSING: (state, best pages)."""
    limits = AroundLimits(weights.best_links, weights.best_links, weights.best_links)
    no_names = SameNamePages(np.empty(0, np.uint32), np.empty(0))
    most, through, state = np.zeros(len(pages)), np.full(len(pages), np.uint32(MISSING)), np.int64(0)
    for page in best:
        read, around = read_around(web, np.int64(page), no_names, limits)
        ended, found, _, values = first_step(web, around, np.append(seeds, np.uint32(page)), weights)
        numbered = new_page_set(len(found), len(web.into.degree))
        add_members(numbered, np.int64(0), found)
        for i in range(len(pages)):
            number = number_of(numbered.table, pages[i])
            value = values[number] if number >= 0 else 0.0
            better = value > most[i]
            if value == most[i] and value > 0:
                better = address_key(web.into, page) < address_key(web.into, through[i])
            if better:
                most[i], through[i] = value, page
        state = min(state, read, ended)
    return state, through


@inline
def size_of(web, page):
    """The root of the size of a page's closed neighbourhood: all of its links, and twice the page itself."""
    return np.sqrt(np.float64(web.into.degree[page]) + np.float64(web.counted.out.lists.degree[page]) + 2.0)


@kernel
def rare_children(into, children, limit, factor):
    """The children that count where they are shared, and how much."""
    kept, shares, count = np.empty(len(children), np.uint32), np.empty(len(children)), 0
    for child in children:
        if into.degree[child] <= limit:
            kept[count], shares[count] = child, factor * rarity(into.degree[child])
            count += 1
    return kept[:count], shares[:count]


@kernel
def by_parents(web, around, seeds, weights):
    """What common parents and links from one page to the other give: (pages, their part by sections, values, factor).

    A common child is to count by `factor`. `seeds` get 0; near-duplicates are merged.
    """
    in_degree, out_degree = web.into.degree, web.counted.out.lists.degree
    listing, children = around.listing, around.children
    numbered = new_page_set(count_windows(listing) + len(around.parents.pages) + len(children), len(in_degree))
    times = np.zeros(len(numbered.members), np.int32)
    listed_pages = add_windows(listing, numbered, np.int64(0), times)
    count = add_members(numbered, listed_pages, around.parents.pages)
    count = add_members(numbered, count, children)
    candidates, merged, pages = merge_members(web.near, numbered, count, len(in_degree))
    totals, members = np.zeros((2, len(pages))), Candidates(numbered, merged)
    add_listed(web, around, members, weights, len(pages) == count, totals)
    in_section, shared = totals[IN_SECTION], totals[ON_PAGE]
    for seed in seeds:
        number = number_of(candidates.table, seed)
        if number >= 0:
            in_section[number] = shared[number] = 0
    keep_unexplained(web, around, members, times[:listed_pages], pages, shared)
    add_direct(around, members, in_degree, out_degree, weights.direct, shared)
    neighbours, size = np.int64(len(children) + 2), rarity(in_degree[around.page]) + rarity(out_degree[around.page])
    for child in children:
        size += rarity(in_degree[child])
    for i in range(len(listing.pages)):
        size += around.weights[i] * rarity(out_degree[listing.pages[i]])
        neighbours += around.weights[i] != 0
    exponent = 0.0 if around.one_site else weights.popularity
    listed, greatest = beyond_chance(in_section, pages, web.votes, web.links, exponent)
    factor, top = np.sqrt(np.float64(neighbours)) / size, np.sqrt(max(greatest, MIN_SCORE))
    for i in range(len(pages)):
        value = shared[i] * factor / size_of(web, pages[i]) if shared[i] != 0 else 0.0
        listed[i] = value if listed[i] == 0 else listed[i] / top + value
    for seed in seeds:
        number = number_of(candidates.table, seed)
        if number >= 0:
            listed[number] = 0
    return pages, in_section, listed, factor


@kernel
def keep_unexplained(web, around, candidates, times, pages, shared):
    """Of what pages share with the page by parents without sections, keep the part that chance doesn't explain.

    `times` counts the parents that have each page. By chance each of them has it as often as other pages with links
    do: chance explains e / o if o of them do and e are expected. Fewer others than a sample needs don't show chance.
    """
    size, parents = len(around.listing.pages), np.zeros(len(pages))
    of_all = max(1.0, web.in_degree[around.page] / max(1, size))  # if the parents are a sample
    others = web.lists - size * of_all
    if others < web.chance.sample:
        return
    for i in range(len(times)):
        parents[candidates.merged[i]] = max(parents[candidates.merged[i]], np.float64(times[i]))
    for i in range(len(pages)):
        if shared[i] > 0:
            elsewhere = max(0.0, web.in_degree[pages[i]] - parents[i] * of_all)
            shared[i] *= max(0.0, 1.0 - size * min(1.0, elsewhere / others) / max(1.0, parents[i]))


@kernel
def add_shared(web, pages, values, children, shares, seeds):
    """Add what other parents of children get: shares[i] / their size for child i, once for near-duplicates.

    Returns (state, pages, values): first `pages`, which may have a page several times. `seeds` get 0.
    """
    state, starts, parents = read_other_parents(web, children)
    numbered = new_page_set(len(pages) + len(parents), len(web.into.degree))
    count, numbers = np.int64(0), np.empty(len(pages), np.int64)
    for i in range(len(pages)):
        numbers[i] = add_member(numbered, count, pages[i])
        count += numbers[i] == count
    for k in range(starts[len(children)]):
        number = add_member(numbered, count, parents[k])
        count += number == count
        parents[k] = number
    _, merged, found = merge_members(web.near, numbered, count, len(web.into.degree))
    totals, last = np.zeros(len(found)), np.full(len(found), np.int64(-1))
    for i in range(len(children)):
        for k in range(starts[i], starts[i + 1]):
            candidate = merged[parents[k]]
            if last[candidate] != i:
                last[candidate] = i
                totals[candidate] += shares[i]
    for i in range(len(found)):
        totals[i] /= size_of(web, found[i])
    for i in range(len(pages)):
        totals[merged[numbers[i]]] += values[i]
    for seed in seeds:
        number = number_of(numbered.table, seed)
        if number >= 0:
            totals[merged[number]] = 0
    return state, found, totals


@kernel
def read_other_parents(web, children):
    """The parents of some pages whose links to them count: (state, where those of each begin, parents)."""
    starts = np.zeros(len(children) + 1, np.int64)
    for i in range(len(children)):
        starts[i + 1] = starts[i] + np.int64(web.into.degree[children[i]])
    possible = starts[len(children)] <= most_links(web.into)
    parents = np.empty(starts[len(children)] if possible else 0, np.uint32)
    state = read_lists(web.into, children, starts, parents) if possible else np.int64(DAMAGED)
    if state < 0:
        starts[:] = 0
    elif not counted.excludes_nothing(web.counted.excluded):
        state = keep_counted(web.counted.out, web.counted.excluded, children, starts, parents)
    return state, starts, parents


@kernel
def keep_counted(out, excluded, children, starts, parents):
    """Keep the parents whose links to the children count. Returns 0, or DAMAGED."""
    room, at = np.empty(1024, np.uint32), np.int64(0)
    for i in range(len(children)):
        first, starts[i] = starts[i], at
        for k in range(first, starts[i + 1]):
            linked = np.int64(not counted.is_excluded(excluded, parents[k]))
            if linked > 0 and excluded.flags != 0:
                linked, room = counted.links_to(out, np.int64(parents[k]), excluded, children[i], room)
                if linked < 0:
                    starts[i:] = at
                    return np.int64(DAMAGED)
            parents[at] = parents[k]
            at += linked
    starts[len(children)] = at
    return np.int64(0)


@kernel
def add_listed(web, around, candidates, weights, apart, totals):
    """Add what common parents give: see `add_together`. `apart`: no two pages are merged into one candidate."""
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
    apart = apart and count == len(pages)
    parents = ParentWeights(order, group_of, around.weights, degrees, weights.near, weights.elsewhere, apart)
    add_together(listing, parents, web.counted.repeats, web.counted.excluded, candidates, totals)


@kernel
def add_direct(around, candidates, in_degree, out_degree, weight, totals):
    """Add what links between the page and its parents and children give; of near-duplicates the strongest counts."""
    page, parents, children = around.page, around.parents.pages, around.children
    table, merged = candidates.pages.table, candidates.merged
    into, both = np.zeros(len(merged)), np.zeros(len(totals))
    for parent in parents:
        into[number_of(table, parent)] = rarity(out_degree[parent]) + rarity(in_degree[page])
    for child in children:
        number = number_of(table, child)
        value = weight * (into[number] + rarity(in_degree[child]) + rarity(out_degree[page]))
        into[number] = 0
        both[merged[number]] = max(both[merged[number]], value)
    for parent in parents:
        number = number_of(table, parent)
        both[merged[number]] = max(both[merged[number]], weight * into[number])
    for i in range(len(totals)):
        totals[i] += both[i]


@kernel
def beyond_chance(in_section, pages, votes, links, exponent):
    """The parts by sections beyond chance, multiplied by popularity; and the greatest."""
    total, greatest = sum_of(in_section), np.float64(0)
    listed = np.zeros(len(in_section))
    for i in range(len(in_section) if total > 0 else 0):
        value = in_section[i] - np.float64(votes[pages[i]]) * (total / max(1, links))
        if value > 0:
            listed[i] = value * np.float64(max(1, votes[pages[i]])) ** exponent
            greatest = max(greatest, listed[i])
    return listed, greatest
