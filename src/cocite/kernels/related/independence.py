"""How much each parent of a page counts: copies of another one don't, nor do sections that chance explains.

Copies have the same run of links around their link to the page. Runs are shingles (Broder, Glassman, Manasse & Zweig
1997, §2), of which only those with that link are looked at. A copy with one link swapped still has a run on the other
side. docs/decisions/0053 has the reasons and measurements.
"""

import numpy as np
from numba import uint64

from cocite.kernels.build.near_duplicates import find_root, mix, unite
from cocite.kernels.codec.attributes import block_of
from cocite.kernels.hash_tables import add_member, new_set, random_factor, table_size
from cocite.kernels.jit import inline, kernel

RUN_LINKS = 3
DEVIATIONS = 2.0  # of a count by chance: 98 of 100 are below
MIN_SAMPLE = 20  # parents from which chance is estimated


@inline
def is_same_run(targets, one, other):
    """Whether two runs have the same links."""
    same = True
    for k in range(RUN_LINKS):
        same &= targets[one + k] == targets[other + k]
    return same


@kernel
def first_copies(parents):
    """For each parent, the first one that is a copy of it, transitively; itself if no other is."""
    targets, size, found = parents.targets, len(parents.places), parents.pages.copy()
    above, runs = np.arange(size), np.full(table_size(RUN_LINKS * size), -1)
    owners, mask, seed = np.empty(len(runs), np.int64), uint64(len(runs) - 1), random_factor()
    for i in range(size):
        place, low, high = parents.places[i], parents.starts[i], parents.starts[i + 1]
        for first in range(max(low, place - RUN_LINKS + 1), min(place, high - RUN_LINKS) + 1):
            value = seed  # nobody can choose pages that crowd around one slot
            for k in range(RUN_LINKS):
                value = mix(value + uint64(targets[first + k]))
            slot = value & mask
            while runs[slot] >= 0 and not is_same_run(targets, runs[slot], first):
                slot = (slot + uint64(1)) & mask
            if runs[slot] >= 0:
                unite(above, owners[slot], i)
            else:
                runs[slot], owners[slot] = first, i
    for i in range(size):
        found[i] = parents.pages[find_root(above, i)]
    return found


@kernel
def coherence(parents, counted, in_degree, lists):
    """For each parent, the mean part that chance doesn't explain of the links in the page's section; the most is 1.

    Of n parents that are counted, o link to a page, and by chance e = n · its in-links / `lists` would, if each list
    had it as often as all lists do. Chance doesn't explain max(0, 1 - (e + DEVIATIONS · √e) / o). All parents have 1 if
    there are fewer than MIN_SAMPLE, or if chance explains all.
    """
    size, links, sample = len(parents.places), parents.starts[len(parents.places)], np.int64(np.sum(counted))
    found = np.ones(size)
    if sample < MIN_SAMPLE:
        return found
    numbered, count = new_set(links), np.int64(0)
    numbers, times = np.empty(links, np.int32), np.zeros(links, np.int32)
    for i in range(size):
        for k in range(parents.starts[i], parents.starts[i + 1]):
            if counted[i] and k != parents.places[i]:
                numbers[k] = add_member(numbered, count, parents.targets[k])
                count += numbers[k] == count
                times[numbers[k]] += 1
    unexplained, greatest = np.empty(count), 0.0
    for n in range(count):
        by_chance = sample * in_degree[numbered.members[n]] / lists
        unexplained[n] = max(0.0, 1.0 - (by_chance + DEVIATIONS * np.sqrt(by_chance)) / times[n])
    for i in range(size):
        section, total, mates = block_of(parents.attributes[parents.places[i]]), 0.0, 0
        for k in range(parents.starts[i], parents.starts[i + 1]):
            if counted[i] and section > 0 and k != parents.places[i] and block_of(parents.attributes[k]) == section:
                total, mates = total + unexplained[numbers[k]], mates + 1
        if mates > 0:
            found[i] = total / mates
        if counted[i]:
            greatest = max(greatest, found[i])
    return found / greatest if greatest > 0.0 else np.ones(size)
