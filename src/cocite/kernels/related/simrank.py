"""SimRank of one page, or of two, in kernels whose cost does not grow with the store.

A √C-walk goes from a page to one of its parents, all equally likely, and stops before every step with probability
1 - √C. SimRank is the probability that two such walks meet. With h(l, u, w), the probability that a walk from u is at w
after l steps,

    s(u, v) = Σ_l Σ_w h(l, u, w) · h(l, v, w) · d(w)

where d(w) is the probability that two walks from w never meet again. `climb` computes h of one page; `meet_again`
computes 1 - d; `descend` goes from all w down to all v at once. If pages have too many parents to follow all, `climb`
follows a sample drawn by hash: the mean over all seeds is exact, and no single draw carries more than `least`.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.addresses.hashes import hash_long
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import prefetch, read_grown
from cocite.kernels.hash_tables import EMPTY, NumberedSet, add_member, new_table, number_of, slot_of
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.samples import stored_sample

MAX_PARENTS_READ = 16384  # of a page with more parents, the sample that the store keeps is used for all
UNIT = 1.0 / (1 << 53)
Degrees = NDArray[np.uint32]
Values = NDArray[np.float64]


class Reached(NamedTuple):
    """Pages reached, with values."""

    found: NumberedSet
    values: NDArray[np.float64]
    random: NDArray[np.float64]  # the part of each value that comes from draws
    origin: NDArray[np.int32]  # the index from which each page was reached first


class ValueShare(NamedTuple):
    """A value to share among the parents of a page, the part of it that comes from draws, and the page's index."""

    page: int
    value: float
    random: float
    origin: int


@inline
def draw(key):
    """(A number from 0 to 1, 1 excluded; the next key)."""
    key = key + uint64(0x9E3779B97F4A7C15)
    mixed = (key ^ (key >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> uint64(27))) * uint64(0x94D049BB133111EB)
    return np.float64((mixed ^ (mixed >> uint64(31))) >> uint64(11)) * UNIT, key


@inline
def parents_of(parents, page, links):
    """The parents of a page to draw from: (how many, or DAMAGED; the array that contains them)."""
    start, stop = np.int64(0), np.int64(0)
    if parents.lists.degree[page] > MAX_PARENTS_READ:
        start, stop = stored_sample(parents, page)
    if stop == start:
        return read_grown(parents.lists, page, links)
    if stop - start > len(links):
        links = np.empty(stop - start, np.uint32)
    for k in range(start, stop):
        if parents.sample.parent[k] >= len(parents.fingerprints):
            return np.int64(DAMAGED), links
        links[k - start] = parents.sample.parent[k]
    return stop - start, links


def room_above(degrees: Degrees, pages: Degrees, values: Values, root: float, least: float) -> int:
    """The maximum number of pages that `climb` reaches, if `least` is above 0."""
    degree, value = degrees[pages].astype(np.int64), values * root
    room = np.where(value >= least * degree, degree, np.minimum(degree, (value / least).astype(np.int64) + 1))
    return int(room.sum())


def room_below(degrees: Degrees, pages: Degrees, values: Values, least: float) -> int:
    """The maximum number of pages that `descend` adds."""
    return int(degrees[pages[values >= least]].sum(dtype=np.int64))


@inline
def add_value(reached, count, page, value, random, origin):
    """Add to the value of a page. Returns the number of pages. A new page beyond the room is ignored."""
    if count == len(reached.values) and number_of(reached.found.table, page) < 0:
        return count
    at = add_member(reached.found, count, page)
    if at == count:
        reached.values[at], reached.random[at], reached.origin[at] = value, random, origin
        return count + 1
    reached.values[at] += value
    reached.random[at] += random
    return count


@inline
def climb_one(parents, share, least, key, links, reached, count):
    """ValueShare a value among the parents of a page: (pages reached so far, or DAMAGED; draws made; `links`)."""
    degree, links = parents_of(parents, share.page, links)
    if degree <= 0:
        return count if degree == 0 else degree, np.int64(0), links
    if share.value >= least * degree:  # all parents are followed
        value, random = share.value / degree, share.random / degree
        for k in range(degree):
            count = add_value(reached, count, links[k], value, random, share.origin)
        return count, np.int64(0), links
    unit, key = draw(key)
    draws = np.int64(share.value / least)
    draws += np.int64(unit < share.value / least - draws)
    for j in range(draws):  # one from each of as many equal parts
        unit, key = draw(key)
        at = min(degree - 1, np.int64((j + unit) * degree / draws))
        count = add_value(reached, count, links[at], least, least, share.origin)
    return count, draws + 1, links


@kernel
def climb(parents, seed, below, below_values, root, least, reached):
    """One step of a walk, to the parents of the pages `below`: (how many these are, draws made). `reached` is empty."""
    count, draws = np.int64(0), np.int64(0)
    links = np.empty(1024, np.uint32)
    for i in range(len(below)):
        prefetch(parents.lists, below, i)
        page = np.int64(below[i])
        key = hash_long(parents.fingerprints[page], seed)
        share = ValueShare(page, below_values[i] * root, 0.0, np.int64(i))
        count, made, links = climb_one(parents, share, least, key, links, reached, count)
        if count < 0:
            return count, draws
        draws += made
    return count, draws


@inline
def draw_parent(parents, page, key, links):
    """A parent of a page, drawn: (the parent, -1 if it has none, less if DAMAGED; the next key; `links`)."""
    degree, links = parents_of(parents, page, links)
    if degree <= 0:
        return degree - 1, key, links
    unit, key = draw(key)
    return np.int64(links[min(degree - 1, np.int64(unit * degree))]), key, links


@inline
def pair_from(parents, page, decay, rounds, key, links):
    """The step, or 0, at which two walks from a page over different parents meet again; the next key; `links`."""
    degree, links = parents_of(parents, page, links)
    if degree < 2:
        return min(degree, np.int64(0)), key, links
    unit, key = draw(key)
    first = min(degree - 1, np.int64(unit * degree))
    unit, key = draw(key)
    second = min(degree - 2, np.int64(unit * (degree - 1)))
    second += np.int64(second >= first)
    a, b = np.int64(links[first]), np.int64(links[second])
    for steps in range(2, rounds + 1):
        unit, key = draw(key)
        if unit >= decay:
            return np.int64(0), key, links
        a, key, links = draw_parent(parents, a, key, links)
        if a >= 0:
            b, key, links = draw_parent(parents, b, key, links)
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
    degrees, fingerprints = parents.lists.degree, parents.fingerprints
    rounds, root = found.shape[1] - 1, np.sqrt(decay)
    links, room = np.empty(1024, np.uint32), np.int64(2 * draws + 1024)
    tables = new_table(room, EMPTY), new_table(room, EMPTY)
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
                there = NumberedSet(tables[half], walkers[half, after])
                reached = Reached(there, values[half, after], random[half, after], origin)
                count = np.int64(0)
                for k in range(counts[half, now]):
                    page = np.int64(walkers[half, now, k])
                    own = hash_long(fingerprints[page], key + uint64(2 * steps + half))
                    share = ValueShare(page, values[half, now, k] * root, random[half, now, k] * root, np.int64(k))
                    count, _, links = climb_one(parents, share, least, own, links, reached, count)
                    if count < 0:
                        return np.int64(DAMAGED)
                counts[half, after] = count
            squares = 0.0
            for k in range(counts[0, after]):
                page = walkers[0, after, k]
                at = number_of(tables[1], page)
                if at < 0:
                    continue
                one, other = values[0, after, k], values[1, after, at]
                both = one * other
                squares += least * (random[0, after, k] * other * other + random[1, after, at] * one * one)
                met[steps] += both
                degree = np.int64(degrees[page])
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
                    tables[half][slot_of(tables[half], walkers[half, after, k])] = uint64(EMPTY)
            now = after
        variances[i] = variance + deviation * deviation
        for steps in range(1, rounds + 1):
            met[steps] += met[steps - 1]
    return np.int64(0)


@kernel
def descend(out, in_degree, above, above_values, root, least, reached, count):
    """Add to every child the mean value, of at least `least`, of its parents, times √C. Returns how many pages."""
    links = np.empty(1024, np.uint32)
    for i in range(len(above)):
        prefetch(out, above, i)
        if above_values[i] < least:
            continue
        degree, links = read_grown(out, np.int64(above[i]), links)
        if degree < 0:
            return np.int64(DAMAGED)
        for k in range(degree):
            if count == len(reached.values) and number_of(reached.found.table, links[k]) < 0:
                return np.int64(DAMAGED)
            at = add_member(reached.found, count, links[k])
            if at == count:
                reached.values[at] = 0.0
                count += 1
            reached.values[at] += root * above_values[i] / max(np.uint32(1), in_degree[links[k]])
    return count
