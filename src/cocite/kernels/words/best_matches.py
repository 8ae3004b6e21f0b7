"""Similarity of sets whose members are more or less similar: the best match of every member, in both directions.

    (Σ_{a in A} weight(a) · max_{b in B} sim(a, b) + Σ_{b in B} weight(b) · max_{a in A} sim(a, b)) / Σ weights

One set A is compared with many. The members of all of them get slots, and a table has for every slot its similarity
with each member of A: filled once, it is read for every set that has the member. Similarity is a whole number from 0 to
ONE, so that loops become vector instructions and sums don't depend on their order.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import int32, int64
from numpy.typing import NDArray

from cocite.kernels.jit import kernel, lean_inline, lean_kernel
from cocite.kernels.words.keyword_pairs import mutual_information, scaled
from cocite.kernels.words.word_vectors import insert_best

ONE = 1 << 30


class Similarities(NamedTuple):
    """Similarities of the members of A with others: member i has value[begin[i]:end[i]] with other[...]."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    other: NDArray[np.uint32]
    value: NDArray[np.int32]


class Unmet(NamedTuple):
    """The similarity of words that never occur together, from their frequencies.

    It is read from `grid` if there is a `level` (the place of each word's frequency among all), else computed.
    """

    frequency: NDArray[np.uint32]  # of each word
    total: int
    share: float  # of mutual information in r_s
    low: float
    high: float
    level: NDArray[np.int32]
    grid: NDArray[np.int32]


class MatchSpace(NamedTuple):
    """Working space of one thread; `slot` is -1 throughout between calls."""

    slot: NDArray[np.int32]  # by member
    touched: NDArray[np.uint32]
    table: NDArray[np.int32]
    best: NDArray[np.int32]  # by member of A


def match_space(members: int, slots: int, width: int) -> MatchSpace:
    """Space to compare sets with A, of `width` members: members are below `members`, at most `slots` of them occur."""
    slots, slot, best = min(members, slots), np.full(members, -1, np.int32), np.empty(width, np.int32)
    return MatchSpace(slot, np.empty(slots, np.uint32), np.empty(slots * width, np.int32), best)


def as_whole(values: NDArray[Any], out: NDArray[np.int32]) -> None:
    """Turn similarities from 0 to 1 into whole numbers."""
    out[:] = np.clip(values, 0.0, 1.0) * ONE + 0.5


@lean_inline
def unmet_information(fa, fb, unmet):
    """The similarity of words on fa and fb pages that never occur together, as a whole number."""
    information = mutual_information(int64(0), fa, min(fb, int64(unmet.total) - fa), int64(unmet.total))
    return int32(min(max(unmet.share * scaled(information, unmet.low, unmet.high), 0.0), 1.0) * ONE + 0.5)


@kernel
def fill_grid(frequencies, unmet):
    """Fill the grid for all pairs of frequencies."""
    for i in range(len(frequencies)):
        for k in range(i + 1):
            unmet.grid[i, k] = unmet_information(int64(frequencies[i]), int64(frequencies[k]), unmet)
            unmet.grid[k, i] = unmet.grid[i, k]


@lean_inline
def give_slots(sets, others, width, space):
    """Give a slot to every member of the sets. Returns their number, or -1 without room."""
    count = int64(0)
    for i in range(len(others)):
        page = int64(others[i])
        for k in range(sets.starts[page], sets.starts[page + 1]):
            member = int64(sets.columns[k])
            if space.slot[member] < 0:
                if count >= len(space.touched):
                    clear_slots(count, space)
                    return int64(-1)
                space.slot[member] = int32(count)
                space.touched[count] = member
                count += 1
    if count * width > len(space.table) or width > len(space.best):
        clear_slots(count, space)
        return int64(-1)
    return count


@lean_inline
def clear_slots(count, space):
    """Reset the slots in use."""
    for s in range(count):
        space.slot[space.touched[s]] = -1


@kernel
def fill_table(own, similar, unmet, otherwise, count, space):
    """Set the similarity of every slot's member with each member of A; otherwise[i] is the one of unknown pairs."""
    width, table, slot, touched, level = int64(len(own)), space.table, space.slot, space.touched, unmet.level
    levels = int64(len(unmet.grid)) if len(otherwise) == 0 and len(level) > 0 else int64(0)
    rows = np.empty(levels * width, np.int32)  # by level: the grid is read a row at a time, which a cache holds
    for i in range(width if levels > 0 else 0):
        values = unmet.grid[level[own[i]]]
        for k in range(levels):
            rows[k * width + i] = values[k]
    for s in range(count):
        if levels > 0:
            first = int64(level[touched[s]]) * width
            for i in range(width):
                table[s * width + i] = rows[first + i]
        elif len(otherwise) > 0:
            for i in range(width):
                table[s * width + i] = otherwise[i]
        else:
            frequency = int64(unmet.frequency[touched[s]])
            for i in range(width):
                table[s * width + i] = unmet_information(int64(unmet.frequency[own[i]]), frequency, unmet)
    others, others_value = similar.other, similar.value
    for i in range(width):
        for k in range(similar.begin[i], similar.end[i]):
            s = int64(slot[others[k]])
            if s >= 0:
                table[s * width + i] = others_value[k]
        s = int64(slot[own[i]])
        if s >= 0:
            table[s * width + i] = ONE


@lean_kernel
def match(sets, page, own, weight, space):
    """The similarity of one set with A, the members `own`; without `weight` all members count the same."""
    start, stop, width = sets.starts[page], sets.starts[page + 1], int64(len(own))
    if stop == start or width == 0:
        return 0.0
    best, weighted = space.best[:width], len(weight) > 0
    for i in range(width):
        best[i] = 0
    total, weights = 0.0, 0.0
    for k in range(start, stop):
        member = int64(sets.columns[k])
        at = int64(space.slot[member]) * width
        row = space.table[at : at + width]  # slices from 0 on, so that the loop becomes vector instructions
        top = int32(0)
        for i in range(width):
            value = row[i]
            top = max(top, value)
            best[i] = max(best[i], value)
        own_weight = weight[member] if weighted else 1.0
        total += own_weight * top
        weights += own_weight
    for i in range(width):
        own_weight = weight[own[i]] if weighted else 1.0
        total += own_weight * best[i]
        weights += own_weight
    return total / (weights * ONE) if weights > 0 else 0.0


@kernel
def compare(own, similar, unmet, sets, others, weight, space, result):
    """Compare set A, the members `own`, with the sets of other pages. Returns False without room."""
    count = give_slots(sets, others, int64(len(own)), space)
    if count < 0:
        return False
    fill_table(own, similar, unmet, np.empty(0, np.int32), count, space)
    for i in range(len(others)):
        result[i] = match(sets, int64(others[i]), own, weight, space)
    clear_slots(count, space)
    return True


@kernel
def compare_lists(lists, table, width, result):
    """Compare A, of `width` members, with lists of rows of `table`: list i is columns[starts[i]:starts[i + 1]]."""
    slots, own = np.arange(len(table) // width).astype(np.int32), np.empty(width, np.uint32)
    space = MatchSpace(slots, np.empty(0, np.uint32), table, np.empty(width, np.int32))
    for i in range(len(lists.starts) - 1):
        result[i] = match(lists, int64(i), own, np.empty(0), space)


# --------------------------------------------------------------------------------------------------------- candidates


@lean_inline
def strongest_of(similar, i, words, values):
    """The words most similar to member i of A, best first, as many as there is room for. Returns their number."""
    count = int64(0)
    for k in range(similar.begin[i], similar.end[i]):
        count = insert_best(words, values, count, similar.other[k], similar.value[k])
    return count


@kernel
def strongest(similar, maximum, words, values):
    """`strongest_of` every member of A, one after another. Returns their total number, with repeats."""
    count = int64(0)
    for i in range(len(similar.begin)):
        count += strongest_of(similar, i, words[count : count + maximum], values[count : count + maximum])
    return count


@lean_inline
def add_value(sums, touched, count, page, value):
    """Add a value above 0 to a page's sum (a sum of 0 marks a new page). Returns the number of pages with one.

    Without a branch, which would often be guessed wrong. `touched` has room for one page more than the web has.
    """
    touched[count] = page
    count += sums[page] == 0.0
    sums[page] += value
    return count


@lean_kernel
def add_postings(index, words, values, order, budget, sums, touched):
    """Add up the values of words on all pages that have them, in that order, until `budget` pages are read."""
    count, starts, pages = int64(0), index.starts, index.columns
    for j in range(len(order)):
        word, value = int64(words[order[j]]), values[order[j]]
        start, stop = starts[word], starts[word + 1]
        if value <= 0.0:
            continue
        if stop - start > budget:
            break
        budget -= stop - start
        for k in range(start, stop):
            count = add_value(sums, touched, count, int64(pages[k]), value)
    return count
