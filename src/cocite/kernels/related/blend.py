"""The parts of the default method's scores, for each candidate: see methods/auto.py.

Those that come from links are added up by `add_together`; those by names, words and places are set by `add_texts`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.repeats import repeats_of
from cocite.kernels.hash_tables import NumberedSet, add_members, new_page_set, number_of
from cocite.kernels.jit import inline, kernel, lean_inline
from cocite.kernels.related.counted_links import is_counted
from cocite.kernels.related.neighbourhood import merge_members, window_of

IN_SECTION, ON_PAGE = 0, 1
LINK_PART, NAME_PART, TEXT_PART, CONTEXT_PART, PLACE_PART, USAGE_PART = range(6)
"""The parts of a score."""
SCORE_UNITS = 1e6  # scores that differ by less than one of these parts are equal
MIN_SCORE = 1e-12
MAX_REPEATS = 3  # sections in which a parent repeats its link to the query page and that count
QUERY_PAGE = -1


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
    apart: bool  # each parent is a group of its own, and has each candidate once


class GroupSums(NamedTuple):
    """For each candidate: its total, and of the last group that it got a value from, sum and greatest value."""

    totals: NDArray[np.float64]
    last: NDArray[np.int32]
    sums: NDArray[np.float64]
    greatest: NDArray[np.float64]


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
    """Numbers (or QUERY_PAGE) and sections of the links that parent i repeats and that count; `shown` is scratch.

    None, if they can't be read: the evidence for the results reads them too, and says so.
    """
    table, place = candidates.pages.table, parents.places[i]
    page, section = parents.targets[place], block_of(parents.attributes[place])
    _, targets, attributes = repeats_of(repeats, parents.pages[i])
    matters = False
    for k in range(len(targets)):
        matters |= targets[k] == page or block_of(attributes[k]) == section
    room = len(targets) if matters else 0
    numbers, sections, count = np.empty(room, np.int64), np.empty(room, np.uint32), np.int64(0)
    if matters:
        low, high = window_of(parents, i)
        for k in range(low, high):
            number = number_of(table, parents.targets[k])
            if number >= 0:
                shown[number] = i
    for k in range(room):
        number = np.int64(QUERY_PAGE) if targets[k] == page else number_of(table, targets[k])
        linked = targets[k] == page or (number >= 0 and shown[number] == i)
        if linked and is_counted(excluded, targets[k], attributes[k]):
            numbers[count], sections[count] = number, block_of(attributes[k])
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
        if parents.whole[i] and len(repeats.words) > 0:
            numbers, sections = read_repeats(repeats, parents, i, excluded, candidates, shown)
        on_page, in_section = share / np.log(2.0 + weights.degrees[i]), 0.0
        if section > 0:
            in_section = share / np.log(2.0 + section_size(attributes, low, high, sections, section))
            on_page *= weights.elsewhere
        elif weights.apart and len(numbers) == 0:  # nothing to compare a value with
            for k in range(low, high):
                number = number_of(table, targets[k])
                if number >= 0:
                    totals[ON_PAGE, merged[number]] += on_page
            continue
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
def number_candidates(near, pages, total):
    """Candidates among pages, which may be there several times, of a store of `total` pages.

    Returns (pages with the candidate that each is merged into, the set of candidates, the candidates).
    """
    numbered = new_page_set(len(pages), total)
    count = add_members(numbered, np.int64(0), pages)
    chosen, merged, found = merge_members(near, numbered, count, total)
    return Candidates(numbered, merged), chosen, found


@kernel
def find_numbers(members, pages):
    """The number of each page in a set, or -1."""
    numbers = np.empty(len(pages), np.int64)
    for i in range(len(pages)):
        numbers[i] = number_of(members.table, pages[i])
    return numbers


@inline
def sum_of(values):
    """The sum of values, from the first to the last. NumPy adds in another order, and gets other last bits."""
    added = 0.0
    for value in values:
        added += value
    return added
