"""The most similar pages of every page at once, by words and by words and links, for webs in memory.

For each page, an index finds candidates, ranked by a cheap sum; then their similarity is computed by best matches.
Pages are independent of each other, so threads share the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import int32, int64
from numpy.typing import NDArray

from cocite.kernels.jit import inline, kernel
from cocite.kernels.words.best_matches import (
    ONE,
    Known,
    Scratch,
    Unmet,
    add_postings,
    clear_slots,
    compare_one,
    fill_table,
    give_slots,
    match,
    note,
    strongest_one,
)
from cocite.kernels.words.keyword_pairs import Rows


class Vocabulary(NamedTuple):
    """Keywords of pages, pages of keywords, and similarities of keywords."""

    words: Rows
    pages_of: Rows
    known: Known  # similarities of words that occur together
    unmet: Unmet


class Limits(NamedTuple):
    """How many candidates are considered."""

    candidates: int  # pages compared with each page
    reach: int  # similar words per keyword
    postings: int  # pages looked up by words
    alike: int  # similar pages per linked page


class Near(NamedTuple):
    """The pages most similar to each page by words, best first, a row each; unused entries have value 0."""

    pages: NDArray[np.uint32]
    values: NDArray[np.int32]


class Room(NamedTuple):
    """Working memory of one thread; between pages, `sums` is 0 and slots are -1."""

    words: Scratch
    linked: Scratch
    sums: NDArray[np.float64]  # by page
    touched: NDArray[np.uint32]


class LinkedWeb(NamedTuple):
    """Links in both directions, the similarity of pages by words, and how both are weighed.

    Pages that are not in `near` count as similar by `rest` of the lowest value there. `mix` is the weight of words.
    """

    outs: Rows
    ins: Rows
    near: Near
    rest: float
    mix: float


class SideSums(NamedTuple):
    """For each chosen page, the sum of the similarities of both sides, and the number of sides with links."""

    total: NDArray[np.float64]
    sides: NDArray[np.float64]


@inline
def known_of(vocabulary, own):
    """The similarities of some words."""
    begin, end = np.empty(len(own), np.int64), np.empty(len(own), np.int64)
    for i in range(len(own)):
        begin[i] = vocabulary.known.begin[own[i]]
        end[i] = vocabulary.known.end[own[i]]
    return Known(begin, end, vocabulary.known.other, vocabulary.known.value)


@inline
def leading_words(own, known, reach, index, space):
    """The words that lead to pages similar to one with the words `own`: (words, values, order of rarity)."""
    most = len(own) * (reach + 1)
    words, values = np.empty(most, np.uint32), np.empty(most, np.float64)
    few, few_values = np.empty(reach, np.uint32), np.empty(reach, np.int32)
    count = int64(0)
    for i in range(len(own)):
        space.slot[own[i]] = int32(count)
        words[count], values[count] = own[i], 1.0
        count += 1
    for i in range(len(own)):
        found = strongest_one(known, i, reach, few, few_values)
        for k in range(found):
            at = int64(space.slot[few[k]])
            if at < 0:
                at = count
                space.slot[few[k]] = int32(at)
                words[at], values[at] = few[k], 0.0
                count += 1
            values[at] = max(values[at], few_values[k] / ONE)
    pages = np.empty(count, np.int64)
    for i in range(count):
        space.slot[words[i]] = -1
        pages[i] = index.starts[words[i] + 1] - index.starts[words[i]]
    return words[:count], values[:count], np.argsort(pages, kind="mergesort")


@inline
def best_indices(values, most):
    """The indices of the `most` greatest values, in no order; of equal ones the first."""
    count = len(values)
    if count <= most:
        return np.arange(count)
    least = np.partition(values, count - most)[count - most]
    found, at = np.empty(most, np.int64), int64(0)
    for i in range(count):
        if values[i] > least and at < most:
            found[at] = i
            at += 1
    for i in range(count):
        if at == most:
            break
        if values[i] == least:
            found[at] = i
            at += 1
    return found


@inline
def take_best(pages, values, without, into_pages, into_values):
    """The greatest values with their pages, best first, of equal ones the lower page; without the page `without`."""
    most, count = len(into_pages), int64(0)
    for i in range(len(pages)):
        value = values[i]
        if int64(pages[i]) == without or value <= 0:
            continue
        if count == most and (value < into_values[count - 1] or (
            value == into_values[count - 1] and pages[i] >= into_pages[count - 1]
        )):  # fmt: skip
            continue
        at = count if count < most else count - 1
        while at > 0 and (into_values[at - 1] < value or (
            into_values[at - 1] == value and into_pages[at - 1] > pages[i]
        )):  # fmt: skip
            into_values[at], into_pages[at] = into_values[at - 1], into_pages[at - 1]
            at -= 1
        into_values[at], into_pages[at] = value, pages[i]
        count = min(most, count + 1)
    for k in range(count, most):
        into_values[k], into_pages[k] = 0, 0


@kernel
def alike_by_words(first, last, vocabulary, limits, space, near):
    """The pages most similar by words to first ≤ page < last, as rows of `near`; False if there is no room."""
    words, index = vocabulary.words, vocabulary.pages_of
    for page in range(first, last):
        own = words.columns[words.starts[page] : words.starts[page + 1]]
        known = known_of(vocabulary, own)
        leading, values, order = leading_words(own, known, limits.reach, index, space.words)
        count = add_postings(index, leading, values, order, int64(limits.postings), space.sums, space.touched)
        rough = np.empty(count, np.float64)
        for i in range(count):
            other = int64(space.touched[i])
            rough[i] = space.sums[other] / (len(own) + words.starts[other + 1] - words.starts[other])
            space.sums[other] = 0.0
        chosen = space.touched[:count][best_indices(rough, limits.candidates)]
        result = np.empty(len(chosen), np.float64)
        if not compare_one(own, known, vocabulary.unmet, words, chosen, np.empty(0), space.words, result):
            return False
        whole = np.empty(len(chosen), np.int32)
        for i in range(len(chosen)):
            whole[i] = int32(result[i] * ONE + 0.5)
        take_best(chosen, whole, page, near.pages[page], near.values[page])
    return True


@inline
def look_along(own, near, theirs, alike, scale, space, count):
    """Candidates: pages linked with pages similar to `own`, on the side on which these are linked with a page."""
    for i in range(len(own)):
        for k in range(-1, alike):
            other = int64(own[i]) if k < 0 else int64(near.pages[own[i], k])
            value = 1.0 if k < 0 else near.values[own[i], k] / ONE
            if value <= 0.0:
                break
            start, stop = theirs.starts[other], theirs.starts[other + 1]
            for j in range(start, stop):
                count = note(space.sums, space.touched, count, int64(theirs.columns[j]), scale * value)
    return count


@inline
def add_side(own, links, chosen, web, unmet, space, sums):
    """Add the similarity of the pages linked on one side with a page and with each chosen one; False if no room."""
    near, rest = web.near, web.rest
    count = give_slots(links, chosen, space)
    width = int64(len(own))
    if count < 0 or count * width > len(space.table) or width > len(space.best):
        clear_slots(len(space.touched) if count < 0 else count, space)
        return False
    top = int64(near.pages.shape[1])
    begin, end, otherwise = np.empty(width, np.int64), np.empty(width, np.int64), np.empty(width, np.int32)
    for i in range(width):
        otherwise[i] = int32(near.values[own[i], top - 1] * rest)
        begin[i] = int64(own[i]) * top
        end[i] = begin[i] + top
        while end[i] > begin[i] and near.values[own[i], end[i] - begin[i] - 1] == 0:
            end[i] -= 1
    fill_table(own, Known(begin, end, near.pages.reshape(-1), near.values.reshape(-1)), unmet, otherwise, count, space)
    for i in range(len(chosen)):
        page = int64(chosen[i])
        if width > 0 or links.starts[page + 1] > links.starts[page]:
            sums.sides[i] += 1.0
            sums.total[i] += match(links, page, own, np.empty(0), space)
    clear_slots(count, space)
    return True


@kernel
def alike_by_both(first, last, vocabulary, web, limits, space, pages, values):
    """The pages of highest integrated similarity to first ≤ page < last, as rows; False if there is no room."""
    words, outs, ins, near, mix = vocabulary.words, web.outs, web.ins, web.near, web.mix
    top = near.pages.shape[1]
    for page in range(first, last):
        own_ins = ins.columns[ins.starts[page] : ins.starts[page + 1]]
        own_outs = outs.columns[outs.starts[page] : outs.starts[page + 1]]
        count = int64(0)
        scale = (1.0 - mix) / max(1, len(own_ins) + len(own_outs))
        count = look_along(own_ins, near, outs, limits.alike, scale, space, count)
        count = look_along(own_outs, near, ins, limits.alike, scale, space, count)
        for k in range(top):
            if near.values[page, k] == 0:
                break
            count = note(space.sums, space.touched, count, int64(near.pages[page, k]), near.values[page, k] * mix / ONE)
        rough = np.empty(count, np.float64)
        for i in range(count):
            other = int64(space.touched[i])
            rough[i] = space.sums[other]
            space.sums[other] = 0.0
        chosen = space.touched[:count][best_indices(rough, limits.candidates)]
        own = words.columns[words.starts[page] : words.starts[page + 1]]
        result = np.empty(len(chosen), np.float64)
        known = known_of(vocabulary, own)
        if not compare_one(own, known, vocabulary.unmet, words, chosen, np.empty(0), space.words, result):
            return False
        sums = SideSums(np.zeros(len(chosen)), np.zeros(len(chosen)))
        if not add_side(own_ins, ins, chosen, web, vocabulary.unmet, space.linked, sums):
            return False
        if not add_side(own_outs, outs, chosen, web, vocabulary.unmet, space.linked, sums):
            return False
        for i in range(len(chosen)):
            result[i] = mix * result[i] + (1.0 - mix) * sums.total[i] / max(1.0, sums.sides[i])
        take_best(chosen, result, page, pages[page], values[page])
    return True
