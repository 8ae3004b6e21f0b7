"""SimRank of one page, or of two, in kernels whose cost does not grow with the store.

A √C-walk goes from a page to one of its parents, all equally likely, and stops before every step with probability
1 - √C. SimRank is the probability that two such walks meet. With h(l, u, w), the probability that a walk from u is at w
after l steps,

    s(u, v) = Σ_l Σ_w h(l, u, w) · h(l, v, w) · d(w)

where d(w) is the probability that two walks from w never meet again. `climb` computes h of one page; `meet_again`
computes 1 - d; `descend` goes from all w down to all v at once. If pages have too many parents to follow all, `climb`
follows a sample drawn by hash: the mean over all seeds is exact, and no single draw carries more than `least`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.addresses.xxh64 import hash_long
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, expect, read_list
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.vicinity import AHEAD, EMPTY, slot_of

MAX_PARENTS_READ = 16384
"""Of a page with more parents, the sample that the store keeps is used for all."""
UNIT = 1.0 / (1 << 53)


class ParentLists(NamedTuple):
    """In-links, the samples of long lists, and the fingerprints that seed draws."""

    into: Lists
    sample_page: NDArray[np.uint32]
    sample_parent: NDArray[np.uint32]
    fingerprints: NDArray[np.uint64]


class Reached(NamedTuple):
    """Pages reached, numbered in order, with values; `table` and `number` are a hash table of their numbers."""

    table: NDArray[np.uint32]
    number: NDArray[np.int32]
    pages: NDArray[np.uint32]
    values: NDArray[np.float64]
    random: NDArray[np.float64]  # the part of each value that comes from draws
    origin: NDArray[np.int32]  # the index from which each page was reached first


@inline
def draw(key):
    """(A number from 0 to 1, 1 excluded; the next key)."""
    key = key + uint64(0x9E3779B97F4A7C15)
    mixed = (key ^ (key >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> uint64(27))) * uint64(0x94D049BB133111EB)
    return np.float64((mixed ^ (mixed >> uint64(31))) >> uint64(11)) * UNIT, key


@inline
def read_parents(parents, page, links):
    """The parents of a page to draw from: (how many, or DAMAGED; the array that contains them)."""
    into, sample_page, sample_parent = parents.into, parents.sample_page, parents.sample_parent
    none = np.empty(0, np.uint32)
    degree = np.int64(into.degree[page])
    if degree >= len(into.degree):
        return np.int64(DAMAGED), links
    if degree > MAX_PARENTS_READ:
        row = find_position(sample_page, page)
        ready = np.int64(len(sample_parent)) // max(1, len(sample_page))
        if row >= 0 and ready > 0:
            if ready > len(links):
                links = np.empty(ready, np.uint32)
            for k in range(ready):
                links[k] = sample_parent[row * ready + k]
            return ready, links
    if degree > len(links):
        links = np.empty(2 * degree, np.uint32)
    return read_list(into, page, links, none), links


@inline
def drawn(value, degree, least):
    """The number of draws of `least` that make up a value, rounded down; -1 if all parents are followed."""
    return np.int64(-1) if value >= least * degree else np.int64(value / least)


@kernel
def room_above(degrees, pages, values, root, least):
    """The maximum number of pages that `climb` reaches, if `least` is above 0."""
    total = np.int64(0)
    for i in range(len(pages)):
        degree = np.int64(degrees[pages[i]])
        draws = drawn(values[i] * root, degree, least)
        total += degree if draws < 0 else min(degree, draws + 1)
    return total


@inline
def add_value(reached, count, page, value, random, origin):
    """Add to the value of a page. Returns the number of pages; a new page beyond the room is ignored."""
    slot = slot_of(reached.table, page)
    if reached.table[slot] == EMPTY:
        if count == len(reached.pages):
            return count
        reached.table[slot] = page
        reached.number[slot] = count
        reached.pages[count] = page
        reached.values[count] = value
        reached.random[count] = random
        reached.origin[count] = origin
        return count + 1
    at = reached.number[slot]
    reached.values[at] += value
    reached.random[at] += random
    return count


class Share(NamedTuple):
    """A value to share among the parents of a page, the part of it that comes from draws, and the page's index."""

    page: int
    value: float
    random: float
    origin: int


@inline
def climb_one(parents, share, least, key, links, reached, count):
    """Share a value among the parents of a page: (pages reached so far, or DAMAGED; draws made; `links`)."""
    degree, links = read_parents(parents, share.page, links)
    if degree < 0:
        return np.int64(DAMAGED), np.int64(0), links
    if degree == 0:
        return count, np.int64(0), links
    for k in range(degree):
        if links[k] >= len(parents.into.degree):
            return np.int64(DAMAGED), np.int64(0), links
    draws = drawn(share.value, degree, least)
    if draws < 0:
        value, random = share.value / degree, share.random / degree
        for k in range(degree):
            count = add_value(reached, count, links[k], value, random, share.origin)
        return count, np.int64(0), links
    unit, key = draw(key)
    draws += np.int64(unit < share.value / least - draws)
    for j in range(draws):  # one from each of as many equal parts
        unit, key = draw(key)
        at = min(degree - 1, np.int64((j + unit) * degree / draws))
        count = add_value(reached, count, links[at], least, least, share.origin)
    return count, draws + 1, links


@kernel
def climb(parents, seed, below, below_values, root, least, reached):
    """One step of a walk: from the pages `below` to their parents. Returns how many these are, or DAMAGED; draws made.

    `reached` has room as `room_above` says, and its table is empty.
    """
    count, draws = np.int64(0), np.int64(0)
    links = np.empty(1024, np.uint32)
    for i in range(len(below)):
        expect(parents.into, below, i, AHEAD)
        page = np.int64(below[i])
        key = hash_long(parents.fingerprints[page], seed)
        share = Share(page, below_values[i] * root, 0.0, np.int64(i))
        count, made, links = climb_one(parents, share, least, key, links, reached, count)
        if count < 0:
            return count, draws
        draws += made
    return count, draws


@inline
def step(parents, page, key, links):
    """(A parent of a page, drawn; -1 if it has none; or DAMAGED; the next key; `links`)."""
    degree, links = read_parents(parents, page, links)
    if degree <= 0:
        return np.int64(DAMAGED) if degree < 0 else np.int64(-1), key, links
    unit, key = draw(key)
    parent = np.int64(links[min(degree - 1, np.int64(unit * degree))])
    return parent if parent < len(parents.into.degree) else np.int64(DAMAGED), key, links


@inline
def pair_from(parents, page, decay, rounds, key, links):
    """The step at which two walks from a page, which go to different parents first, meet again.

    0 if they do not within `rounds` steps; or DAMAGED. With the next key and `links`.
    """
    degree, links = read_parents(parents, page, links)
    if degree < 2:
        return np.int64(DAMAGED) if degree < 0 else np.int64(0), key, links
    unit, key = draw(key)
    first = min(degree - 1, np.int64(unit * degree))
    unit, key = draw(key)
    second = min(degree - 2, np.int64(unit * (degree - 1)))
    second += np.int64(second >= first)
    a, b = np.int64(links[first]), np.int64(links[second])
    if max(a, b) >= len(parents.into.degree):
        return np.int64(DAMAGED), key, links
    for steps in range(2, rounds + 1):
        unit, key = draw(key)
        if unit >= decay:
            return np.int64(0), key, links
        a, key, links = step(parents, a, key, links)
        if a >= 0:
            b, key, links = step(parents, b, key, links)
        if a < 0 or b < 0:
            return np.int64(DAMAGED) if min(a, b) < -1 else np.int64(0), key, links
        if a == b:
            return np.int64(steps), key, links
    return np.int64(0), key, links


@kernel
def meet_again(parents, seed, pages, weights, decay, draws, found, variances):
    """found[i, k]: the probability that two √C-walks from pages[i] meet again within k steps. Returns 0, or DAMAGED.

    Two walks are followed as by `climb`, independently. Where both reach x, they may have met there for the last time:
    that counts as often as two further walks from x do not meet. The first step of these is exact, the others are
    drawn. A page of weight 1 gets `draws` draws; variances[i] is the variance that they cause.
    """
    into, fingerprints = parents.into, parents.fingerprints
    rounds = found.shape[1] - 1
    root = np.sqrt(decay)
    links = np.empty(1024, np.uint32)
    room = np.int64(2 * draws + 1024)
    size = np.int64(64)
    while size < 2 * room:
        size *= 2
    tables, numbers = np.empty((2, size), np.uint32), np.empty((2, size), np.int32)
    tables[:] = EMPTY
    walkers, values, random = np.empty((2, 2, room), np.uint32), np.empty((2, 2, room)), np.empty((2, 2, room))
    origin = np.empty(room, np.int32)
    counts = np.zeros((2, 2), np.int64)
    for i in range(len(pages)):
        least = 1.0 / max(1.0, draws * min(1.0, weights[i]))
        met = found[i]
        met[:] = 0.0
        for half in range(2):
            walkers[half, 0, 0], values[half, 0, 0], random[half, 0, 0], counts[half, 0] = pages[i], 1.0, 0.0, 1
        now = np.int64(0)
        deviation, variance = 0.0, 0.0
        key = hash_long(fingerprints[pages[i]], seed)
        for steps in range(1, rounds + 1):
            after = 1 - now
            for half in range(2):
                reached = Reached(
                    tables[half], numbers[half], walkers[half, after], values[half, after], random[half, after], origin
                )
                count = np.int64(0)
                for k in range(counts[half, now]):
                    page = np.int64(walkers[half, now, k])
                    own = hash_long(fingerprints[page], key + uint64(2 * steps + half))
                    share = Share(page, values[half, now, k] * root, random[half, now, k] * root, np.int64(k))
                    count, _, links = climb_one(parents, share, least, own, links, reached, count)
                    if count < 0:
                        return np.int64(DAMAGED)
                counts[half, after] = count
            squares = 0.0
            for k in range(counts[0, after]):
                page = walkers[0, after, k]
                slot = slot_of(tables[1], page)
                if tables[1, slot] == EMPTY:
                    continue
                there = numbers[1, slot]
                one, other = values[0, after, k], values[1, after, there]
                both = one * other
                squares += least * (random[0, after, k] * other * other + random[1, after, there] * one * one)
                met[steps] += both
                degree = np.int64(into.degree[page])
                if degree == 0 or steps == rounds:
                    continue
                met[steps + 1] -= both * decay / degree
                apart = both * decay * (1.0 - 1.0 / degree)
                own = hash_long(fingerprints[page], key - uint64(steps))
                unit, own = draw(own)
                walks = np.int64(apart / least + unit)
                for _ in range(walks):
                    at, own, links = pair_from(parents, np.int64(page), decay, rounds - steps, own, links)
                    if at < 0:
                        return np.int64(DAMAGED)
                    if at > 0:
                        met[steps + at] -= least
                        variance += least * least
            deviation += np.sqrt(squares)  # draws are shared between steps, so their errors may add up
            for half in range(2):
                for k in range(counts[half, after] - 1, -1, -1):  # in reverse order, so that no search ends early
                    tables[half, slot_of(tables[half], walkers[half, after, k])] = EMPTY
            now = after
        variances[i] = variance + deviation * deviation
        for steps in range(1, rounds + 1):
            met[steps] += met[steps - 1]
    return np.int64(0)


@kernel
def room_below(degrees, pages, values, least):
    """The maximum number of pages that `descend` adds."""
    total = np.int64(0)
    for i in range(len(pages)):
        if values[i] >= least:
            total += np.int64(degrees[pages[i]])
    return total


@kernel
def descend(out, in_degree, above, above_values, root, least, reached, count):
    """Add to every child the mean value of its parents, times √C. Returns the number of pages, or DAMAGED.

    Values below `least` are skipped.
    """
    table, number, pages, values = reached.table, reached.number, reached.pages, reached.values
    none = np.empty(0, np.uint32)
    links = np.empty(1024, np.uint32)
    for i in range(len(above)):
        expect(out, above, i, AHEAD)
        if above_values[i] < least:
            continue
        page = np.int64(above[i])
        degree = np.int64(out.degree[page])
        if degree >= len(in_degree):
            return np.int64(DAMAGED)
        if degree > len(links):
            links = np.empty(2 * degree, np.uint32)
        if read_list(out, page, links, none) != degree:
            return np.int64(DAMAGED)
        for k in range(degree):
            child = links[k]
            slot = slot_of(table, child)
            share = root * above_values[i] / max(np.uint32(1), in_degree[child])
            if table[slot] != EMPTY:
                values[number[slot]] += share
                continue
            if count == len(pages):
                return np.int64(DAMAGED)
            table[slot] = child
            number[slot] = count
            pages[count] = child
            values[count] = share
            count += 1
    return count
