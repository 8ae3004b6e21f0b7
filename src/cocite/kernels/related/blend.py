"""The parts of the default method that come from links, added up for each candidate: see methods/auto.py."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import prefetch, read_list
from cocite.kernels.hash_tables import NumberedSet, add_member, number_of
from cocite.kernels.jit import inline, kernel, lean_inline
from cocite.kernels.related.counted_links import is_counted, is_excluded, links_to, repeats_of
from cocite.kernels.related.neighbourhood import window_of
from cocite.kernels.words.word_vectors import SCALE, row_of

IN_SECTION, ON_PAGE = 0, 1
MAX_REPEATS = 3  # sections in which a parent repeats its link to the query page and that count
QUERY_PAGE = -1
MAX_LINKER_LINKS = 1000
"""A shared child with more in-links doesn't count: everybody links there."""


class Candidates(NamedTuple):
    """Pages, and the candidate that each is merged into."""

    pages: NumberedSet
    merged: NDArray[np.int32]


class ParentWeights(NamedTuple):
    """The weight of each parent."""

    order: NDArray[np.int64]  # the parents, group by group
    groups: NDArray[np.int32]
    shares: NDArray[np.float64]
    degrees: NDArray[np.uint32]  # out-links
    near: float  # see the parameters of the method
    elsewhere: float


class GroupSums(NamedTuple):
    """For each candidate: its total, and of the last group that it got a value from, sum and greatest value."""

    totals: NDArray[np.float64]
    last: NDArray[np.int32]
    sums: NDArray[np.float64]
    greatest: NDArray[np.float64]


class Spouses(NamedTuple):
    """Child i has the other parents numbers[starts[i]:starts[i + 1]]."""

    starts: NDArray[np.int64]
    numbers: NDArray[np.uint32]


@lean_inline
def add_value(sums, candidate, group, value):
    """Add a value of a group: k equal ones of a group count as √k, the first wholly."""
    if sums.last[candidate] != group:
        sums.last[candidate] = group
        sums.sums[candidate] = sums.greatest[candidate] = value
        sums.totals[candidate] += value
        return
    before = np.sqrt(sums.sums[candidate] * sums.greatest[candidate])
    sums.sums[candidate] += value
    sums.greatest[candidate] = max(sums.greatest[candidate], value)
    sums.totals[candidate] += np.sqrt(sums.sums[candidate] * sums.greatest[candidate]) - before


@inline
def read_repeats(repeats, parents, i, excluded, candidates, shown):
    """Numbers (or QUERY_PAGE) and sections of the links that parent i repeats and that count; `shown` is scratch."""
    table, place = candidates.pages.table, parents.places[i]
    page, section = parents.targets[place], block_of(parents.attributes[place])
    begin, end = repeats_of(repeats, parents.pages[i])
    matters = False
    for k in range(begin, end):
        matters |= repeats.target[k] == page or block_of(repeats.attribute[k]) == section
    room = end - begin if matters else 0
    numbers, sections, count = np.empty(room, np.int64), np.empty(room, np.uint32), np.int64(0)
    if matters:
        low, high = window_of(parents, i)
        for k in range(low, high):
            number = number_of(table, parents.targets[k])
            if number >= 0:
                shown[number] = i
    for k in range(begin, begin + room):
        number = np.int64(QUERY_PAGE) if repeats.target[k] == page else number_of(table, repeats.target[k])
        linked = repeats.target[k] == page or (number >= 0 and shown[number] == i)
        if linked and is_counted(repeats, k, excluded):
            numbers[count], sections[count] = number, block_of(repeats.attribute[k])
            count += 1
    return numbers[:count], sections[:count]


@lean_inline
def section_size(attributes, low, high, sections, section):
    """The number of links of a section in a window, with those that the parent repeats there."""
    size = 0
    for k in range(low, high):
        size += block_of(attributes[k]) == section
    for k in range(len(sections)):
        size += sections[k] == section
    return size


@kernel
def add_together(parents, weights, repeats, excluded, candidates, totals):
    """Add the values of being linked together: totals[IN_SECTION] by parents with sections, totals[ON_PAGE] by others.

    The query page gets a value too, if it is a candidate: it may be a same-name page. A repeated link counts in its
    section, too, without a distance; long lists that were read in part have no repeats.
    """
    targets, attributes, merged, table = parents.targets, parents.attributes, candidates.merged, candidates.pages.table
    last, sums, greatest = np.full(totals.shape, -1, np.int32), np.zeros(totals.shape), np.zeros(totals.shape)
    in_sections = GroupSums(totals[IN_SECTION], last[IN_SECTION], sums[IN_SECTION], greatest[IN_SECTION])
    on_pages = GroupSums(totals[ON_PAGE], last[ON_PAGE], sums[ON_PAGE], greatest[ON_PAGE])
    shown, numbers, sections = np.full(len(merged), -1, np.int64), np.empty(0, np.int64), np.empty(0, np.uint32)
    for i in weights.order:
        low, high = window_of(parents, i)
        place, group, share = parents.places[i], weights.groups[i], weights.shares[i]
        section = block_of(attributes[place])
        numbers, sections = numbers[:0], sections[:0]
        if parents.whole[i] and len(repeats.page) > 0:
            numbers, sections = read_repeats(repeats, parents, i, excluded, candidates, shown)
        on_page, in_section = share / np.log(2.0 + weights.degrees[i]), 0.0
        if section > 0:
            in_section = share / np.log(2.0 + section_size(attributes, low, high, sections, section))
            on_page *= weights.elsewhere
        for k in range(low, high):
            number = number_of(table, targets[k])
            if number < 0:
                continue
            value = on_page
            if section > 0 and block_of(attributes[k]) == section:
                value += in_section + share * weights.near / np.sqrt(np.float64(max(1, abs(k - place))))
            add_value(in_sections if section > 0 else on_pages, merged[number], group, value)
        listed = 0
        for own in range(-1, len(numbers)):  # -1: the section of the first link, for which only repeats are missing
            if own >= 0:
                if numbers[own] != QUERY_PAGE or listed == MAX_REPEATS:
                    continue
                listed += 1
                section = sections[own]
                in_section = share / np.log(2.0 + section_size(attributes, low, high, sections, section))
                for k in range(low, high):
                    number = number_of(table, targets[k])
                    if block_of(attributes[k]) == section and number >= 0:
                        add_value(in_sections, merged[number], group, in_section)
            for k in range(len(numbers)):
                if sections[k] == section and numbers[k] != QUERY_PAGE:
                    add_value(in_sections, merged[numbers[k]], group, in_section)


@kernel
def read_spouses(out, into, children, page, excluded, spouses, numbered, count):
    """Read the other parents of children with at most MAX_LINKER_LINKS, and number them. Returns the new count."""
    room, at = np.empty(1024, np.uint32), np.int64(0)
    for i in range(len(children)):
        prefetch(into, children, i)
        spouses.starts[i] = at
        child = np.int64(children[i])
        if into.degree[child] > MAX_LINKER_LINKS:
            continue
        parents = spouses.numbers[at:]
        degree = read_list(into, child, parents, parents[:0])
        if degree < 0:
            return np.int64(DAMAGED)
        for k in range(degree):
            spouse = parents[k]
            linked = np.int64(spouse != page and not is_excluded(excluded, spouse))
            if linked > 0 and excluded.flags != 0:
                linked, room = links_to(out, np.int64(spouse), excluded, child, room)
                if linked < 0:
                    return np.int64(DAMAGED)
            if linked > 0:
                number = add_member(numbered, count, spouse)
                count += number == count
                spouses.numbers[at] = number
                at += 1
    spouses.starts[len(children)] = at
    return count


@kernel
def add_shared(spouses, shares, merged, totals):
    """Add shares[i] to the total of each candidate that has child i, too; once, however many near-duplicates it is."""
    last = np.full(len(totals), -1, np.int64)
    for i in range(len(shares)):
        for k in range(spouses.starts[i], spouses.starts[i + 1]):
            candidate = merged[spouses.numbers[k]]
            if last[candidate] != i:
                last[candidate] = i
                totals[candidate] += shares[i]


@kernel
def add_same_name(same_name, pages, candidates, values, totals):
    """Add to totals[i] the values of the same-name pages of pages[i], by how similar the names are."""
    for i in range(len(pages)):
        low, high = row_of(same_name, pages[i])
        for k in range(low, high):
            number = number_of(candidates.pages.table, same_name.ids[k])
            if number >= 0 and candidates.merged[number] != i:  # a near-duplicate that it represents isn't another page
                totals[i] += same_name.weights[k] / SCALE * values[candidates.merged[number]]
