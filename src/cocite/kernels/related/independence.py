"""How much each parent of a page counts: copies of another one don't, nor do sections that chance explains.

Copies are near-duplicates, as they were found when the store was built (kernels/build/near_duplicates.py), and pages of
one site that have the page in the same section, as in a footer; if asked, such pages of any sites. A section with one
link swapped still has half of its links in the same order. docs/decisions/0053 has the reasons and measurements.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.build.near_duplicates import mix
from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.lists import key_of
from cocite.kernels.hash_tables import GOLDEN_RATIO, add_member, new_set, random_factor, table_size
from cocite.kernels.jit import kernel, lean_inline
from cocite.kernels.related.neighbourhood import representatives, window_of

GROUPED, NEAR_DUPLICATES, SECTIONS = 0, 1, 2
"""Of copies one counts: never (they are a group), of near-duplicates and of one site's copied sections, or of all."""
MIN_SECTION_LINKS = 5  # with the page itself: of fewer, two lists may well be the same by themselves
MIN_SAMPLE = 20  # parents, without copies: fewer don't show what is chance
DEVIATIONS = 2.0  # 95 % confidence


class Chance(NamedTuple):
    """MIN_SAMPLE and DEVIATIONS, unless somebody tries others."""

    sample: int
    deviations: float


class Sections(NamedTuple):
    """Links of sections that list a page, without that page: section i has links[starts[i]:starts[i + 1]]."""

    starts: NDArray[np.int64]
    links: NDArray[np.uint32]


@lean_inline
def section_of(parents, i, links):
    """Write the links of parent i in the section of its link to the page, without that one: how many there are."""
    place, (low, high) = parents.places[i], window_of(parents, i)
    section, count = block_of(parents.attributes[place]), np.int64(0)
    for k in range(low, high if section > 0 else low):
        if k != place and block_of(parents.attributes[k]) == section:
            links[count] = parents.targets[k]
            count += 1
    return count


@lean_inline
def half_of(sections, i, half):
    """The bounds of the first or second half of a section."""
    low, high = sections.starts[i], sections.starts[i + 1]
    middle = (low + high) // 2
    return (middle, high) if half else (low, middle)


@lean_inline
def are_copies(sections, one, other):
    """Whether two sections have the same links in the same places, but for one."""
    low, high, begin = sections.starts[one], sections.starts[one + 1], sections.starts[other]
    if high - low != sections.starts[other + 1] - begin:
        return False
    different = np.int64(0)
    for k in range(high - low):
        different += sections.links[low + k] != sections.links[begin + k]
        if different > 1:
            return False
    return True


@kernel
def shared_units(units, parents):
    """For each parent a number for its unit if another parent is on it, else -1.

    All have -1 if units don't matter: where all parents are on the page's own.
    """
    size, count, elsewhere = len(parents.pages), np.int64(0), False
    numbers, times = np.full(size, -1), np.zeros(size, np.int64)
    numbered = new_set(size if len(units) > 0 else 0)
    for i in range(size if len(units) > 0 else 0):
        elsewhere |= units[parents.pages[i]] != units[parents.of]
        numbers[i] = add_member(numbered, count, units[parents.pages[i]])
        count += numbers[i] == count
        times[numbers[i]] += 1
    for i in range(size):
        if not elsewhere or times[numbers[i]] < 2:
            numbers[i] = -1
    return numbers


@kernel
def originals(parents, shares, web, order):
    """For each parent that counts (`shares` above 0), the one that it is a copy of, by index; itself, if it isn't one.

    A copy is an original's near-duplicate, or is on its unit and lists the page in the same section: with the same
    links in the same order, but for one. With SECTIONS it may be on any unit. Parents with greater shares, then of
    higher in-degree, then of lower address (`order`), come first. Only originals are compared: otherwise a page between
    two lists would make one of them a copy of the other.
    """
    size, in_degree = len(parents.places), web.excluded.in_degree
    found, names = np.arange(size), np.empty(size, np.uint32)
    others = representatives(web.near.page, web.near.representative, parents.pages, names)
    everywhere, units, several = web.copies == SECTIONS, np.full(size, -1), False
    if not everywhere:
        units = shared_units(web.units, parents)
        for unit in units:
            several |= unit >= 0
        if others == 0 and not several:
            return found
    keys, degrees = np.empty(size, np.uint64), np.empty(size, np.int64)
    sections, rank = (
        Sections(np.zeros(size + 1, np.int64), np.empty(parents.starts[size], np.uint32)),
        np.empty(size, np.int64),
    )
    for i in range(size):
        keys[i], degrees[i] = key_of(order, len(in_degree), parents.pages[i]), -np.int64(in_degree[parents.pages[i]])
        links = np.int64(0)
        if everywhere or units[i] >= 0:
            links = section_of(parents, i, sections.links[sections.starts[i] :])
        sections.starts[i + 1] = sections.starts[i] + (links if links + 1 >= MIN_SECTION_LINKS else 0)
    ranked = np.argsort(keys)
    ranked = ranked[np.argsort(degrees[ranked], kind="mergesort")]
    ranked = ranked[np.argsort(-shares[ranked], kind="mergesort")]
    groups, count, first_of_group = new_set(size), np.int64(0), np.empty(size, np.int64)
    # A link is swapped in one half: copies have the other half in common. A section that shares a half with another one
    # has a hash for each of its links, of all others: copies have one of these in common. Comparing all sections that
    # share a half would be quadratic: 38 ms for 1,900 of 100 links, instead of 2.
    seed = random_factor()  # nobody can choose pages that crowd around one slot
    halves, times = np.full(2 * size, -1), np.zeros(table_size(2 * size), np.int32)
    for i in range(size if sections.starts[size] > 0 else 0):
        for half in range(2 if sections.starts[i + 1] > sections.starts[i] else 0):
            low, high = half_of(sections, i, half)
            hashed = hash_of(sections, i, low, high, seed_of(sections, i, units[i], seed))
            halves[2 * i + half] = np.int64(hashed & uint64(len(times) - 1))
            times[halves[2 * i + half]] += 1
    room = np.int64(0)
    for i in range(size):
        if halves[2 * i] >= 0 and times[halves[2 * i]] < 2 and times[halves[2 * i + 1]] < 2:
            halves[2 * i] = -1
        room += sections.starts[i + 1] - sections.starts[i] if halves[2 * i] >= 0 else 0
    slots, entries = np.full(table_size(room), -1), sections.starts[size] if room > 0 else np.int64(0)
    before, owners, hashes = np.empty(entries, np.int64), np.empty(entries, np.int64), np.empty(entries, np.uint64)
    for at in range(size):
        i = ranked[at]
        rank[i] = at
        if shares[i] <= 0:
            continue
        group = add_member(groups, count, names[i])
        if group < count:
            found[i] = first_of_group[group]
            continue
        low, high = sections.starts[i], sections.starts[i + 1] if halves[2 * i] >= 0 else sections.starts[i]
        own = seed_of(sections, i, units[i], seed)
        whole = hash_of(sections, i, low, high, own)
        for k in range(low, high):
            hashes[k] = mix(whole - link_at(sections, i, k, own) + uint64(k - low))
            entry = slots[np.int64(hashes[k] & uint64(len(slots) - 1))]
            while entry >= 0:
                other = owners[entry]
                alike = hashes[entry] == hashes[k] and units[i] == units[other]
                before_it = found[i] == i or rank[other] < rank[found[i]]
                if alike and before_it and are_copies(sections, i, other):
                    found[i] = other
                entry = before[entry]
        first_of_group[group] = found[i]
        count += 1
        for k in range(low, high if found[i] == i else low):
            slot = np.int64(hashes[k] & uint64(len(slots) - 1))
            owners[k], before[k], slots[slot] = i, slots[slot], k
    return found


@lean_inline
def seed_of(sections, i, unit, seed):
    """Where the hashes of a section begin: only sections of one unit, and of one length, are compared."""
    links = uint64(sections.starts[i + 1] - sections.starts[i])
    return mix(seed + uint64(unit + 1) * GOLDEN_RATIO + links)


@lean_inline
def link_at(sections, i, k, seed):
    """The hash of a link at its place."""
    return mix(seed + (uint64(k - sections.starts[i]) << uint64(32)) + uint64(sections.links[k]))


@lean_inline
def hash_of(sections, i, low, high, seed):
    """The hash of some links of a section: the sum of those of the links."""
    value = seed
    for k in range(low, high):
        value += link_at(sections, i, k, seed)
    return value


@kernel
def unexplained(parents, counted, in_degree, lists, chance):
    """For each parent, the part of its section that chance doesn't explain, with 95 % confidence.

    By chance, each of the n - 1 other parents lists a page s as often as lists without the query page do: e of them. If
    o do, chance explains e / (o + 1) of s being there. For a Poisson number o, the mean of that is 1 - exp(-e), the
    probability that chance lists s at all, and its variance about e³ / (e + 1)⁴. The part of a section is the mean over
    its pages, without the query page; two standard deviations are on the side of chance. With fewer parents than a
    sample needs all have 1.
    """
    size, links, sample = len(parents.places), parents.starts[len(parents.places)], np.int64(np.sum(counted))
    found, sections = np.ones(size), False
    for place in parents.places:
        sections |= block_of(parents.attributes[place]) > 0
    if sample < chance.sample or not sections:
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
                square, above = by_chance * by_chance, (by_chance + 1.0) * (by_chance + 1.0)
                variance += by_chance * square / (above * above)
                pages += 1
        if pages > 0:
            found[i] = max(0.0, 1.0 - (explained + chance.deviations * np.sqrt(variance)) / pages)
    return found
