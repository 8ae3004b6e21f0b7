"""The most similar pages of every page at once, by words and by words and links, for webs in memory.

For each page, an index finds candidates, ranked by a cheap sum; then their similarity is computed by best matches.
Pages are independent of each other, so threads share the work.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import int32, int64, uint64
from numpy.typing import NDArray

from cocite.kernels.hash_tables import LOW_HALF
from cocite.kernels.jit import inline, kernel, lean_kernel
from cocite.kernels.words import best_matches as matches
from cocite.kernels.words.keyword_pairs import Rows
from cocite.kernels.words.word_vectors import nth_greatest


class MostSimilar(NamedTuple):
    """What is most similar to each page, or word, best first, a row each; unused entries have value 0."""

    items: NDArray[np.uint32]
    values: NDArray[Any]


class PageKeywords(NamedTuple):
    """Keywords of pages, pages of keywords, and similarities of keywords."""

    words: Rows
    pages_of: Rows
    similar: matches.Similarities  # of words that occur together
    leading: MostSimilar  # the words most similar to each
    unmet: matches.Unmet


class CandidateLimits(NamedTuple):
    """How many candidates are considered."""

    candidates: int  # pages compared with each page
    postings: int  # pages looked up by words
    alike: int  # similar pages per linked page


class PageSpace(NamedTuple):
    """Working memory of one thread; between pages, `sums` is 0 and slots are -1."""

    words: matches.MatchSpace
    linked: matches.MatchSpace
    sums: NDArray[np.float64]  # by page
    touched: NDArray[np.uint32]  # room for one more than there are pages


class LinkedWeb(NamedTuple):
    """Links in both directions, the similarity of pages by words, and how both are weighed.

    Pages that are not in `near` count as similar by `rest` of the lowest value there. `mix` is the weight of words.
    """

    outs: Rows
    ins: Rows
    near: MostSimilar
    rest: float
    mix: float


@inline
def row_of(rows, row):
    """The columns of a row."""
    return rows.columns[rows.starts[row] : rows.starts[row + 1]]


@inline
def similar_words(words, own):
    """The similarities of some words."""
    similar = words.similar
    return matches.Similarities(similar.begin[own], similar.end[own], similar.other, similar.value)


@kernel
def most_similar_words(first, last, similar, found):
    """The words most similar to first ≤ word < last, as rows of `found`."""
    for word in range(first, last):
        matches.strongest_of(similar, word, found.items[word], found.values[word])


@inline
def leading_words(own, leading, index, space):
    """The words that lead to pages similar to one with the words `own`: (words, values, order of rarity)."""
    reach = leading.items.shape[1]
    most = len(own) * (reach + 1)
    words, values, count = np.empty(most, np.uint32), np.empty(most), int64(0)
    for i in range(len(own)):
        space.slot[own[i]] = int32(count)
        words[count], values[count] = own[i], 1.0
        count += 1
    for i in range(len(own)):
        for k in range(reach):
            word, value = leading.items[own[i], k], leading.values[own[i], k]
            if value == 0:
                break
            at = int64(space.slot[word])
            if at < 0:
                at = count
                space.slot[word] = int32(at)
                words[at], values[at] = word, 0.0
                count += 1
            values[at] = max(values[at], value / matches.ONE)
    keys = np.empty(count, np.uint64)  # pages with the word << 32 | place
    for i in range(count):
        space.slot[words[i]] = -1
        keys[i] = uint64(index.starts[words[i] + 1] - index.starts[words[i]]) << uint64(32) | uint64(i)
    keys.sort()
    return words[:count], values[:count], (keys & LOW_HALF).astype(np.int64)


@inline
def best_candidates(values, pages, most):
    """The pages of the `most` greatest values, in no order; of equal ones the first."""
    if len(pages) <= most:
        return pages.copy()
    least = nth_greatest(values, most)
    found, at = np.empty(most, np.uint32), int64(0)
    for equal in (False, True):
        for i in range(len(pages)):
            if at < most and (values[i] == least if equal else values[i] > least):
                found[at] = pages[i]
                at += 1
    return found


@inline
def take_sums(space, count):
    """The sums of the pages that have one, which are reset."""
    values, sums, touched = np.empty(count), space.sums, space.touched
    for i in range(count):
        values[i] = sums[touched[i]]
        sums[touched[i]] = 0.0
    return values


@inline
def keep_best(pages, values, page, found):
    """Keep the greatest values with their pages as a row of `found`, of equal ones the lower page; never `page`."""
    best_pages, best_values, count = found.items[page], found.values[page], int64(0)
    for i in range(len(pages)):
        if int64(pages[i]) != page and values[i] > 0:
            count = matches.insert_best(best_pages, best_values, count, pages[i], values[i])
    best_pages[count:], best_values[count:] = 0, 0


@kernel
def alike_by_words(first, last, words, limits, space, near):
    """The pages most similar by words to first ≤ page < last, as rows of `near`. Returns False without room."""
    index, unweighted = words.pages_of, np.empty(0)
    for page in range(first, last):
        own = row_of(words.words, page)
        similar = similar_words(words, own)
        leading, values, order = leading_words(own, words.leading, index, space.words)
        count = matches.add_postings(index, leading, values, order, int64(limits.postings), space.sums, space.touched)
        others, rough, starts = space.touched[:count], take_sums(space, count), words.words.starts
        for i in range(count):
            rough[i] /= len(own) + starts[others[i] + 1] - starts[others[i]]
        chosen = best_candidates(rough, others, limits.candidates)
        result = np.empty(len(chosen))
        if not matches.compare(own, similar, words.unmet, words.words, chosen, unweighted, space.words, result):
            return False
        keep_best(chosen, (result * matches.ONE + 0.5).astype(np.int32), page, near)
    return True


@lean_kernel
def add_linked(own, near, theirs, alike, scale, space, count):
    """Candidates: pages linked with pages similar to `own`, on the side on which these are linked with a page."""
    for i in range(len(own)):
        for k in range(-1, alike):
            other = int64(own[i]) if k < 0 else int64(near.items[own[i], k])
            value = scale * (1.0 if k < 0 else near.values[own[i], k] / matches.ONE)
            if value <= 0.0:
                break
            for j in range(theirs.starts[other], theirs.starts[other + 1]):
                count = matches.add_value(space.sums, space.touched, count, int64(theirs.columns[j]), value)
    return count


@kernel
def add_side(own, links, chosen, web, unmet, space, sums, sides):
    """Add how similar the pages linked on one side are to those of each chosen page. Returns False without room."""
    near, width = web.near, int64(len(own))
    count = matches.give_slots(links, chosen, width, space)
    if count < 0:
        return False
    top = int64(near.items.shape[1])
    otherwise = (near.values[:, top - 1][own] * web.rest).astype(np.int32)
    begin = own.astype(np.int64) * top
    end = begin + top
    for i in range(width):
        while end[i] > begin[i] and near.values[own[i], end[i] - begin[i] - 1] == 0:
            end[i] -= 1
    similar = matches.Similarities(begin, end, near.items.reshape(-1), near.values.reshape(-1))
    matches.fill_table(own, similar, unmet, otherwise, count, space)
    for i in range(len(chosen)):
        page = int64(chosen[i])
        if width > 0 or links.starts[page + 1] > links.starts[page]:
            sides[i] += 1.0
            sums[i] += matches.match(links, page, own, np.empty(0), space)
    matches.clear_slots(count, space)
    return True


@kernel
def alike_by_both(first, last, words, web, limits, space, found):
    """The pages of highest integrated similarity to first ≤ page < last, as rows of `found`. False without room."""
    near, mix = web.near, web.mix
    for page in range(first, last):
        own, own_ins, own_outs = row_of(words.words, page), row_of(web.ins, page), row_of(web.outs, page)
        scale = (1.0 - mix) / max(1, len(own_ins) + len(own_outs))
        count = add_linked(own_ins, near, web.outs, limits.alike, scale, space, int64(0))
        count = add_linked(own_outs, near, web.ins, limits.alike, scale, space, count)
        for k in range(near.items.shape[1]):
            value = near.values[page, k] * mix / matches.ONE
            if value <= 0.0:
                break
            count = matches.add_value(space.sums, space.touched, count, int64(near.items[page, k]), value)
        chosen = best_candidates(take_sums(space, count), space.touched[:count], limits.candidates)
        result, sums, sides = np.empty(len(chosen)), np.zeros(len(chosen)), np.zeros(len(chosen))
        similar = similar_words(words, own)
        if not matches.compare(own, similar, words.unmet, words.words, chosen, np.empty(0), space.words, result):
            return False
        if not add_side(own_ins, web.ins, chosen, web, words.unmet, space.linked, sums, sides):
            return False
        if not add_side(own_outs, web.outs, chosen, web, words.unmet, space.linked, sums, sides):
            return False
        keep_best(chosen, mix * result + (1.0 - mix) * sums / np.maximum(1.0, sides), page, found)
    return True
