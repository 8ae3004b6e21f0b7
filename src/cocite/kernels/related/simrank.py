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
from cocite.kernels.codec.link_codec import DAMAGED, next_target
from cocite.kernels.codec.lists import PREFETCH_LISTS, bounds_of, is_inside, is_spent, most_links, prefetch, read_lists
from cocite.kernels.hash_tables import EMPTY, NumberedSet, add_member, new_table, number_of, slot_of, spread
from cocite.kernels.instructions import prefetch_item
from cocite.kernels.jit import kernel, lean_inline
from cocite.kernels.related.samples import stored_sample

CHUNK_LISTS = 256  # lists that are decoded together
PREFETCH_LINKS = 16  # links between prefetching a slot of a table and using it
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


@lean_inline
def draw(key):
    """(A number from 0 to 1, 1 excluded; the next key)."""
    key = key + uint64(0x9E3779B97F4A7C15)
    mixed = (key ^ (key >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> uint64(27))) * uint64(0x94D049BB133111EB)
    return np.float64((mixed ^ (mixed >> uint64(31))) >> uint64(11)) * UNIT, key


class Cursor(NamedTuple):
    """Where reading a page's parents goes on: up to the one needed, since most are drawn from long lists."""

    position: int  # a bit
    stop: int  # the bit after the list
    target: int  # the parent at `place`
    place: int


@lean_inline
def parents_of(parents, page):
    """(The parents of a page to draw from, and where the sample that the store keeps of them begins, or -1)."""
    degree = np.int64(parents.lists.degree[page])
    if degree > MAX_PARENTS_READ:
        start, stop = stored_sample(parents, page)
        if stop > start:
            return stop - start, start
    return degree, np.int64(-1)


@lean_inline
def cursor_at_start(parents, page):
    """A cursor before the first parent; one that ends at once if the list is damaged, or the budget spent."""
    start, stop = bounds_of(parents.lists, page)
    if not is_inside(parents.lists, start, stop) or is_spent(parents.lists, np.int64(1)):
        stop = start
    return Cursor(start, stop, page, np.int64(-1))


@lean_inline
def move_to(parents, page, sample, at, cursor):
    """The cursor at the parent `at`, not before the current one; its target is DAMAGED if that can't be read."""
    position, stop, target, place = cursor
    lists, pages = parents.lists, uint64(len(parents.fingerprints))
    if sample >= 0:
        target = np.int64(parents.sample.parent[sample + at])
        return Cursor(position, stop, target if uint64(target) < pages else np.int64(DAMAGED), at)
    while place < at:
        if position >= stop:
            return Cursor(position, stop, np.int64(DAMAGED), at)
        position, target = next_target(lists.words, lists.table, position, page, target)
        if uint64(target) >= pages:
            return Cursor(position, stop, np.int64(DAMAGED), at)
        place += 1
    return Cursor(position, stop, target, place)


def room_above(degrees: Degrees, pages: Degrees, values: Values, root: float, least: float) -> int:
    """The maximum number of pages that `climb` reaches, if `least` is above 0."""
    degree, value = degrees[pages].astype(np.int64), values * root
    room = np.where(value >= least * degree, degree, np.minimum(degree, (value / least).astype(np.int64) + 1))
    return int(room.sum())


@lean_inline
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


@lean_inline
def climb_one(parents, share, least, key, reached, count):
    """Share a value among the parents of a page: (pages reached so far, or DAMAGED; draws made)."""
    page, value, random, origin = share
    degree, sample = parents_of(parents, page)
    if degree == 0:
        return count, np.int64(0)
    if value >= least * degree:  # all parents are followed
        cursor = cursor_at_start(parents, page)
        for k in range(degree):
            cursor = move_to(parents, page, sample, k, cursor)
            if cursor.target < 0:
                return np.int64(DAMAGED), np.int64(0)
            count = add_value(reached, count, cursor.target, value / degree, random / degree, origin)
        return count, np.int64(0)
    unit, key = draw(key)
    draws = np.int64(value / least)
    draws += np.int64(unit < value / least - draws)
    if draws == 0:
        return count, np.int64(1)
    cursor = cursor_at_start(parents, page)
    for j in range(draws):  # one from each of as many equal parts
        unit, key = draw(key)
        cursor = move_to(parents, page, sample, min(degree - 1, np.int64((j + unit) * degree / draws)), cursor)
        if cursor.target < 0:
            return np.int64(DAMAGED), np.int64(0)
        count = add_value(reached, count, cursor.target, least, least, origin)
    return count, draws + 1


@kernel
def climb(parents, seed, below, below_values, root, least, reached):
    """One step of a walk, to the parents of the pages `below`: (how many these are, draws made). `reached` is empty."""
    count, draws = np.int64(0), np.int64(0)
    for i in range(len(below)):
        prefetch(parents.lists, below, i)
        prefetch_item(parents.fingerprints, np.int64(below[min(i + PREFETCH_LISTS, len(below) - 1)]))
        page = np.int64(below[i])
        key = hash_long(parents.fingerprints[page], seed)
        share = ValueShare(page, below_values[i] * root, 0.0, np.int64(i))
        count, made = climb_one(parents, share, least, key, reached, count)
        if count < 0:
            return count, draws
        draws += made
    return count, draws


@lean_inline
def draw_parent(parents, page, key):
    """A parent of a page, drawn: (the parent, -1 if it has none, less if DAMAGED; the next key)."""
    degree, sample = parents_of(parents, page)
    if degree == 0:
        return np.int64(-1), key
    unit, key = draw(key)
    at = min(degree - 1, np.int64(unit * degree))
    target = move_to(parents, page, sample, at, cursor_at_start(parents, page)).target
    return (target if target >= 0 else np.int64(-2)), key


@lean_inline
def pair_from(parents, page, decay, rounds, key):
    """The step, or 0, at which two walks from a page over different parents meet again, or DAMAGED; the next key."""
    degree, sample = parents_of(parents, page)
    if degree < 2:
        return np.int64(0), key
    unit, key = draw(key)
    first = min(degree - 1, np.int64(unit * degree))
    unit, key = draw(key)
    second = min(degree - 2, np.int64(unit * (degree - 1)))
    second += np.int64(second >= first)
    cursor = move_to(parents, page, sample, min(first, second), cursor_at_start(parents, page))
    a, b = cursor.target, move_to(parents, page, sample, max(first, second), cursor).target
    if a < 0 or b < 0:
        return np.int64(DAMAGED), key
    if first > second:
        a, b = b, a
    for steps in range(2, rounds + 1):
        unit, key = draw(key)
        if unit >= decay:
            return np.int64(0), key
        a, key = draw_parent(parents, a, key)
        if a >= 0:
            b, key = draw_parent(parents, b, key)
        if a < 0 or b < 0:
            return np.int64(DAMAGED) if min(a, b) < -1 else np.int64(0), key
        if a == b:
            return np.int64(steps), key
    return np.int64(0), key


@kernel
def meet_again(parents, seed, pages, weights, decay, draws, found, variances):
    """found[i, k]: the probability that two √C-walks from pages[i] meet again within k steps. Returns 0, or DAMAGED.

    Two walks are followed as by `climb`, independently. Where both reach x, they may have met there for the last time:
    that counts as often as two further walks from x do not meet. The first step of these is exact, the others are
    drawn. A page of weight 1 gets `draws` draws; variances[i] is the variance that they cause.
    """
    degrees, fingerprints = parents.lists.degree, parents.fingerprints
    rounds, root = found.shape[1] - 1, np.sqrt(decay)
    room = np.int64(2 * draws + 1024)
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
                    count, _ = climb_one(parents, share, least, own, reached, count)
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
                    at, own = pair_from(parents, np.int64(page), decay, rounds - steps, own)
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
def number_each(found, members, numbers):
    """Add members to an empty set, and write the number of each. Returns how many there are."""
    count = np.int64(0)
    for i in range(len(members)):
        at = add_member(found, count, members[i])
        numbers[i] = at
        count += at == count
    return count


@kernel
def descend(out, above, given, found, sums, count):
    """Add what the pages `above` give to the sum of each of their children. Returns how many pages, or DAMAGED.

    Two lists are decoded in step, and a hash table of some MB is read where memory takes its time: both are ahead of
    the sums.
    """
    starts, links = np.zeros(CHUNK_LISTS + 1, np.int64), np.empty(1024, np.uint32)
    factor, mask = found.table[len(found.table) - 1], uint64(len(found.table) - 2)
    for first in range(0, len(above), CHUNK_LISTS):
        pages = above[first : first + CHUNK_LISTS]
        for i in range(len(pages)):
            starts[i + 1] = starts[i] + np.int64(out.degree[pages[i]])
        total = starts[len(pages)]
        if len(links) < total <= most_links(out):
            links = np.empty(2 * total, np.uint32)
        if read_lists(out, pages, starts[: len(pages) + 1], links) < 0:
            return np.int64(DAMAGED)
        for i in range(len(pages)):
            share = given[first + i]
            for k in range(starts[i], starts[i + 1]):
                prefetch_item(found.table, np.int64(spread(links[min(k + PREFETCH_LINKS, total - 1)], factor) & mask))
                if count == len(sums) and number_of(found.table, links[k]) < 0:
                    return np.int64(DAMAGED)
                at = add_member(found, count, links[k])
                count += at == count
                sums[at] += share
    return count
