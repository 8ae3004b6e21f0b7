"""How much each parent of a page counts: copies of another one don't, nor do sections that chance explains.

Copies have the same run of links around their link to the page. Runs are shingles (Broder, Glassman, Manasse & Zweig
1997, §2), but only those with that link. A copy with one link swapped still has the run on the other side.
docs/decisions/0053 has the reasons and measurements.
"""

import numpy as np
from numba import uint64

from cocite.kernels.build.near_duplicates import mix
from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.lists import key_of
from cocite.kernels.hash_tables import add_member, new_set, random_factor, table_size
from cocite.kernels.jit import kernel, lean_inline
from cocite.kernels.related.neighbourhood import representatives, window_of

RUN_LINKS = 3  # the shortest run that a swapped link can't hide: one on its other side is the same
DEVIATIONS = 2.0  # 95 % confidence
MIN_SAMPLE = 20  # parents, without copies: fewer don't show what is chance


@lean_inline
def is_same_run(targets, one, other):
    """Whether two runs have the same links."""
    same = True
    for k in range(RUN_LINKS):
        same &= targets[one + k] == targets[other + k]
    return same


@lean_inline
def slot_of_run(runs, targets, first, seed):
    """The slot where the run that begins at `first` is, or would be."""
    value, mask = seed, uint64(len(runs) - 1)  # nobody can choose pages that crowd around one slot
    for k in range(RUN_LINKS):
        value = mix(value + uint64(targets[first + k]))
    slot = value & mask
    while runs[slot] >= 0 and not is_same_run(targets, runs[slot], first):
        slot = (slot + uint64(1)) & mask
    return slot


@kernel
def originals(parents, counted, in_degree, near, order):
    """For each parent that is counted, the one that it is a copy of, by index; itself, if it isn't one.

    A copy has the page in the same run of links as an original, in a section, or is its near-duplicate. Parents of
    higher in-degree, then of lower address (`order`), come first. Only runs of originals are compared: otherwise a page
    that joins the runs of two lists would make one of them a copy of the other.
    """
    targets, attributes, size, seed = parents.targets, parents.attributes, len(parents.places), random_factor()
    found, first_of_group = np.arange(size), np.empty(size, np.int64)
    keys, degrees, names = np.empty(size, np.uint64), np.empty(size, np.int64), np.empty(size, np.uint32)
    for i in range(size):
        keys[i], degrees[i] = key_of(order, len(in_degree), parents.pages[i]), -np.int64(in_degree[parents.pages[i]])
    by_address = np.argsort(keys)
    representatives(near.page, near.representative, parents.pages, names)
    groups, count = new_set(size), np.int64(0)
    runs = np.full(table_size(RUN_LINKS * size), -1)
    owners = np.empty(len(runs), np.int64)
    for i in by_address[np.argsort(degrees[by_address], kind="mergesort")]:
        if not counted[i]:
            continue
        place, (low, high) = parents.places[i], window_of(parents, i)
        begin, end = max(low, place - RUN_LINKS + 1), min(place, high - RUN_LINKS) + 1
        end = end if block_of(attributes[place]) > 0 else begin
        group = add_member(groups, count, names[i])
        if group < count:
            found[i] = first_of_group[group]
        for first in range(begin, end):
            slot = slot_of_run(runs, targets, first, seed)
            if runs[slot] >= 0 and found[i] == i:
                found[i] = owners[slot]
        if group == count:
            first_of_group[group] = found[i]
            count += 1
        for first in range(begin, end if found[i] == i else begin):
            slot = slot_of_run(runs, targets, first, seed)
            runs[slot], owners[slot] = first, i
    return found


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
