"""SimRank of one page, or of two, in compiled loops whose cost does not grow with the store.

A √C-walk goes from a page to one of its parents, all alike, and stops before every step with probability 1 - √C.
SimRank is the probability that two such walks meet; with h(l, u, w) the probability that a walk from u is at w after l
steps,

    s(u, v) = Σ_l Σ_w h(l, u, w) · h(l, v, w) · d(w)

where d(w) is the probability that two walks from w never meet again. `climb` gives h of one page; `meet_again` gives
1 - d; `descend` goes from all w down to all v at once. Where pages have too many parents to follow all, `climb` follows
some, drawn by hash: the mean over all seeds is right, and no single draw carries more than `least`.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from cocite.kernels.addresses.xxh64 import hash_long
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import expect, read_list
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.vicinity import AHEAD, EMPTY, slot_of

WHOLE = 16384
"""Of a page with more parents, those that the store keeps ready are taken for all."""
UNIT = 1.0 / (1 << 53)


@inline
def draw(key):
    """(A number from 0 to 1, 1 excluded; the next key)."""
    key = key + uint64(0x9E3779B97F4A7C15)
    mixed = (key ^ (key >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> uint64(27))) * uint64(0x94D049BB133111EB)
    return np.float64((mixed ^ (mixed >> uint64(31))) >> uint64(11)) * UNIT, key


@inline
def read_parents(into, sample_page, sample_parent, page, links):
    """The parents of a page to draw from: (how many, or DAMAGED; the array they are in)."""
    none = np.empty(0, np.uint32)
    degree = np.int64(into.degree[page])
    if degree >= len(into.degree):
        return np.int64(DAMAGED), links
    if degree > WHOLE:
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
    """How many draws of `least` a value is worth, rounded down; 0 and below `degree` draws: all parents are taken."""
    return np.int64(-1) if value >= least * degree else np.int64(value / least)


@kernel
def room_above(degrees, pages, values, root, least):
    """At most so many entries does `climb` write, if `least` is above 0."""
    total = np.int64(0)
    for i in range(len(pages)):
        degree = np.int64(degrees[pages[i]])
        draws = drawn(values[i] * root, degree, least)
        total += degree if draws < 0 else min(degree, draws + 1)
    return total


@inline
def put(table, local, pages, values, chances, origin, count, page, value, chance, place):
    """Add to the value of a page, and to the part of it that is by chance; returns how many pages there are then.

    A page that comes first gets the next number, and no page beyond the room there is.
    """
    slot = slot_of(table, page)
    if table[slot] == EMPTY:
        if count == len(pages):
            return count
        table[slot] = page
        local[slot] = count
        pages[count] = page
        values[count] = value
        chances[count] = chance
        origin[count] = place
        return count + 1
    values[local[slot]] += value
    chances[local[slot]] += chance
    return count


@inline
def climb_one(
    into, sample_page, sample_parent, page, value, chance, least, key, links,
    table, local, pages, values, chances, origin, count, place,
):  # fmt: skip
    """Share a value among a page's parents: (how many entries there are then, or DAMAGED; draws made; `links`)."""
    degree, links = read_parents(into, sample_page, sample_parent, page, links)
    if degree < 0:
        return np.int64(DAMAGED), np.int64(0), links
    if degree == 0:
        return count, np.int64(0), links
    for k in range(degree):
        if links[k] >= len(into.degree):
            return np.int64(DAMAGED), np.int64(0), links
    draws = drawn(value, degree, least)
    if draws < 0:
        for k in range(degree):
            count = put(
                table, local, pages, values, chances, origin, count, links[k], value / degree, chance / degree, place
            )
        return count, np.int64(0), links
    unit, key = draw(key)
    draws += np.int64(unit < value / least - draws)
    for j in range(draws):  # one from each of so many equal parts
        unit, key = draw(key)
        at = min(degree - 1, np.int64((j + unit) * degree / draws))
        count = put(table, local, pages, values, chances, origin, count, links[at], least, least, place)
    return count, draws + 1, links


@kernel
def climb(
    into, sample_page, sample_parent, fingerprints, seed, below, below_values, root, least,
    table, local, pages, values, origin,
):  # fmt: skip
    """One step of a walk: from the pages `below` to their parents. Returns how many these are, or DAMAGED; draws made.

    `origin` gets the place in `below` from which each was reached first. Table and arrays have room as `room_above`
    says; the table is empty.
    """
    count, draws = np.int64(0), np.int64(0)
    links, chances = np.empty(1024, np.uint32), np.empty(len(pages))
    for i in range(len(below)):
        expect(into, below, i, AHEAD)
        page = np.int64(below[i])
        key = hash_long(fingerprints[page], seed)
        count, made, links = climb_one(
            into, sample_page, sample_parent, page, below_values[i] * root, 0.0, least, key, links,
            table, local, pages, values, chances, origin, count, i,
        )  # fmt: skip
        if count < 0:
            return count, draws
        draws += made
    return count, draws


@inline
def step(into, sample_page, sample_parent, page, key, links):
    """(A parent of a page, drawn; -1 if it has none; or DAMAGED; the next key; `links`)."""
    degree, links = read_parents(into, sample_page, sample_parent, page, links)
    if degree <= 0:
        return np.int64(DAMAGED) if degree < 0 else np.int64(-1), key, links
    unit, key = draw(key)
    parent = np.int64(links[min(degree - 1, np.int64(unit * degree))])
    return parent if parent < len(into.degree) else np.int64(DAMAGED), key, links


@inline
def pair_from(into, sample_page, sample_parent, page, decay, most, key, links):
    """At which step two walks from a page, which go on and go to different parents, first meet again.

    0 if they do not within `most` steps; or DAMAGED. With the next key and `links`.
    """
    degree, links = read_parents(into, sample_page, sample_parent, page, links)
    if degree < 2:
        return np.int64(DAMAGED) if degree < 0 else np.int64(0), key, links
    unit, key = draw(key)
    first = min(degree - 1, np.int64(unit * degree))
    unit, key = draw(key)
    second = min(degree - 2, np.int64(unit * (degree - 1)))
    second += np.int64(second >= first)
    a, b = np.int64(links[first]), np.int64(links[second])
    if max(a, b) >= len(into.degree):
        return np.int64(DAMAGED), key, links
    for steps in range(2, most + 1):
        unit, key = draw(key)
        if unit >= decay:
            return np.int64(0), key, links
        a, key, links = step(into, sample_page, sample_parent, a, key, links)
        if a >= 0:
            b, key, links = step(into, sample_page, sample_parent, b, key, links)
        if a < 0 or b < 0:
            return np.int64(DAMAGED) if min(a, b) < -1 else np.int64(0), key, links
        if a == b:
            return np.int64(steps), key, links
    return np.int64(0), key, links


@kernel
def meet_again(
    into, sample_page, sample_parent, fingerprints, seed, pages, weights, decay, rounds, draws, found, spread
):  # fmt: skip
    """found[i, k]: the probability that two √C-walks from pages[i] meet again within k steps. Returns 0, or DAMAGED.

    Two walks are followed as by `climb`, apart from each other; where both come to x, they may have met there last:
    that counts as often as two further walks from x do not meet. The first step of these is exact, the others are walks
    of their own. A page of weight 1 is worth `draws` draws; spread[i] gets the variance that these bring in.
    """
    root = np.sqrt(decay)
    links = np.empty(1024, np.uint32)
    room = np.int64(2 * draws + 1024)
    size = np.int64(64)
    while size < 2 * room:
        size *= 2
    tables, locals_ = np.empty((2, size), np.uint32), np.empty((2, size), np.int32)
    tables[:] = EMPTY
    walkers, values, chances = np.empty((2, 2, room), np.uint32), np.empty((2, 2, room)), np.empty((2, 2, room))
    origin = np.empty(room, np.int32)
    counts = np.zeros((2, 2), np.int64)
    for i in range(len(pages)):
        least = 1.0 / max(1.0, draws * min(1.0, weights[i]))
        met = found[i]
        met[:] = 0.0
        for half in range(2):
            walkers[half, 0, 0], values[half, 0, 0], chances[half, 0, 0], counts[half, 0] = pages[i], 1.0, 0.0, 1
        now = np.int64(0)
        deviation, variance = 0.0, 0.0
        key = hash_long(fingerprints[pages[i]], seed)
        for steps in range(1, rounds + 1):
            after = 1 - now
            for half in range(2):
                table, local = tables[half], locals_[half]
                count = np.int64(0)
                for k in range(counts[half, now]):
                    page = np.int64(walkers[half, now, k])
                    own = hash_long(fingerprints[page], key + uint64(2 * steps + half))
                    count, _, links = climb_one(
                        into, sample_page, sample_parent, page, values[half, now, k] * root,
                        chances[half, now, k] * root, least, own, links, table, local, walkers[half, after],
                        values[half, after], chances[half, after], origin, count, k,
                    )  # fmt: skip
                    if count < 0:
                        return np.int64(DAMAGED)
                counts[half, after] = count
            squares = 0.0
            for k in range(counts[0, after]):
                page = walkers[0, after, k]
                slot = slot_of(tables[1], page)
                if tables[1, slot] == EMPTY:
                    continue
                there = locals_[1, slot]
                one, other = values[0, after, k], values[1, after, there]
                both = one * other
                squares += least * (chances[0, after, k] * other * other + chances[1, after, there] * one * one)
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
                    at, own, links = pair_from(
                        into, sample_page, sample_parent, np.int64(page), decay, rounds - steps, own, links
                    )
                    if at < 0:
                        return np.int64(DAMAGED)
                    if at > 0:
                        met[steps + at] -= least
                        variance += least * least
            deviation += np.sqrt(squares)  # what steps have by the same draws may go the same way
            for half in range(2):
                for k in range(counts[half, after] - 1, -1, -1):  # last in, first out: no search is cut short
                    tables[half, slot_of(tables[half], walkers[half, after, k])] = EMPTY
            now = after
        spread[i] = variance + deviation * deviation
        for steps in range(1, rounds + 1):
            met[steps] += met[steps - 1]
    return np.int64(0)


@kernel
def room_below(degrees, pages, values, least):
    """At most so many entries does `descend` write, beside those there are."""
    total = np.int64(0)
    for i in range(len(pages)):
        if values[i] >= least:
            total += np.int64(degrees[pages[i]])
    return total


@kernel
def descend(out, in_degree, above, above_values, root, least, table, local, pages, values, count):
    """Add to every child its mean over all parents of their values, times √C. Returns how many pages there are then.

    Values below `least` are left out. DAMAGED if a list cannot be read.
    """
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
                values[local[slot]] += share
                continue
            if count == len(pages):
                return np.int64(DAMAGED)
            table[slot] = child
            local[slot] = count
            pages[count] = child
            values[count] = share
            count += 1
    return count
