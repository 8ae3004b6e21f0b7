"""The parts of the default method's scores that words, names and places give: see methods/auto.py."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.bundles import lent
from cocite.kernels.hash_tables import number_of
from cocite.kernels.instructions import prefetch_item
from cocite.kernels.jit import kernel
from cocite.kernels.related.blend import (
    CONTEXT_PART,
    LINK_PART,
    MIN_SCORE,
    NAME_PART,
    PLACE_PART,
    SCORE_UNITS,
    TEXT_PART,
    sum_of,
)
from cocite.kernels.words.word_vectors import (
    MAX_SAME_NAME,
    SCALE,
    Words,
    cosines,
    insert_best,
    is_gone,
    nth_greatest,
    row_of,
)

PREFETCH_PAGES = 16  # between prefetching what a page has, and reading it


@lent
class TextWeb(NamedTuple):
    """What relates pages beside links."""

    words: Words
    hosts: NDArray[np.uint32]
    in_degree: NDArray[np.uint32]
    trusted: NDArray[np.uint32]  # links from pages that have trust
    votes: NDArray[np.uint32]  # in-links that count as popularity


class TextParameters(NamedTuple):
    """Parameters and constants of the method, see there."""

    names: float
    same_name: float  # the most that a page gets for its same-name pages
    text: float
    context: float
    popularity: float
    place: float
    best: int  # candidates by text alone; and those whose context words are compared
    room: int  # pages with words in common that the former are chosen from
    trust: bool


class TextWeights(NamedTuple):
    """What each part counts for one query page."""

    names: bool
    same_name: float
    text: float
    context: float
    exponent: float  # of in-links
    place: float
    best: int
    trust: bool


class SameNamePages(NamedTuple):
    """Pages that links call by the name of a page, and how much a link to each counts."""

    pages: NDArray[np.uint32]
    shares: NDArray[np.float64]


@kernel
def same_name_pages(web, page, weight):
    """The same-name pages of a page, the most similar first; a link to one counts `weight` × how similar it is."""
    pages, shares, count = np.empty(MAX_SAME_NAME, np.uint32), np.empty(MAX_SAME_NAME), np.int64(0)
    low, high = row_of(web.words.same_name, page)
    for k in range(low, high if weight > 0 else low):
        other = web.words.same_name.ids[k]
        if other < len(web.words.text_words) and not is_gone(web.words.recent, other):  # a damaged file may name others
            count = insert_best(pages, shares, count, other, web.words.same_name.weights[k] / SCALE)
    for i in range(count):
        shares[i] *= weight
    return SameNamePages(pages[:count], shares[:count])


@kernel
def text_weights(web, page, reliability, one_site, parameters):
    """The weights for a query page, whose sections count as far as they are reliable.

    Context words come from all lists: with `trust` they count as far as its in-links are from pages that have trust.
    """
    text = parameters.text * np.log(np.e + np.float64(web.words.text_words[page]))
    context = parameters.context * reliability
    if parameters.trust:
        context *= np.float64(web.trusted[page]) / np.float64(max(1, web.in_degree[page]))
    exponent = 0.0 if one_site else parameters.popularity
    same_name, names, place = parameters.same_name, parameters.names > 0, parameters.place
    return TextWeights(names, same_name, text, context, exponent, place, parameters.best, parameters.trust)


@kernel
def add_texts(web, page, seeds, weights, candidates, pages, in_section, parts):
    """Set the parts by names, words, context words and places: rows of `parts`, whose row LINK_PART is set.

    `in_section` is the part by sections, `seeds` are query pages, which get nothing.
    """
    own = np.zeros(len(pages), np.bool_)
    for seed in seeds:
        own |= pages == seed
    named, texts, context = parts[NAME_PART], parts[TEXT_PART], parts[CONTEXT_PART]
    if weights.names:
        add_same_name(web.words.same_name, pages, candidates, in_section, named)
        greatest = np.float64(0)
        for i in range(len(pages)):
            named[i] = 0.0 if own[i] else named[i]
            greatest = max(greatest, named[i])
        factor = weights.same_name / max(greatest, MIN_SCORE)
        for i in range(len(pages)):
            named[i] *= factor
    if weights.text > 0:
        cosines(web.words.pages, page, web.words.stop, pages, texts)
        for i in range(len(pages)):
            texts[i] *= weights.text
    if weights.context > 0:
        add_context(web, page, weights, pages, parts)
    any_section = False
    for i in range(len(pages)):
        if own[i]:
            texts[i] = context[i] = 0.0
        any_section |= in_section[i] != 0
    for i in range(len(pages) if any_section else 0):
        if parts[LINK_PART, i] + named[i] + texts[i] + context[i] != 0:
            one_host, home = web.hosts[pages[i]] == web.hosts[page], web.words.home[pages[i]] == 1
            parts[PLACE_PART, i] = weights.place * one_host + weights.place * home


@kernel
def add_context(web, page, weights, pages, parts):
    """Set the part by context words for the best candidates so far.

    As far as a candidate's in-links are from lists without trust, the mean of the others' cosines takes the place of
    its own.
    """
    scores, count = np.empty(len(pages)), np.int64(0)
    for i in range(len(pages)):
        score = parts[LINK_PART, i] + parts[NAME_PART, i] + parts[TEXT_PART, i]
        scores[i] = np.rint(score * SCORE_UNITS) / SCORE_UNITS
    least = nth_greatest(scores, weights.best) if len(pages) > weights.best else -np.inf
    best, places = np.empty(len(pages), np.uint32), np.empty(len(pages), np.int64)
    for i in range(len(pages)):
        best[count], places[count] = pages[i], i
        count += scores[i] >= least
    alike, known, mean = np.empty(count), np.ones(count), 0.0
    cosines(web.words.context, page, web.words.stop, best[:count], alike)
    if weights.trust:
        for k in range(count):
            known[k] = min(1.0, web.trusted[best[k]] / max(1, web.in_degree[best[k]]))
            mean += known[k] * alike[k]
        mean /= max(sum_of(known), MIN_SCORE)
    for k in range(count):
        value, votes = known[k] * alike[k] + (1.0 - known[k]) * mean, np.float64(max(1, web.votes[best[k]]))
        parts[CONTEXT_PART, places[k]] = weights.context * value * votes**weights.exponent


@kernel
def add_same_name(same_name, pages, candidates, values, totals):
    """Add to totals[i] the values of the same-name pages of pages[i], by how similar the names are."""
    for i in range(len(pages)):
        ahead = i + PREFETCH_PAGES
        if ahead < len(pages) and pages[ahead] < len(same_name.ends):
            prefetch_item(same_name.starts, np.int64(pages[ahead]))
        low, high = row_of(same_name, pages[i])
        for k in range(low, high):
            number = number_of(candidates.pages.table, same_name.ids[k])
            if number >= 0 and candidates.merged[number] != i:  # a near-duplicate that it represents isn't another page
                totals[i] += same_name.weights[k] / SCALE * values[candidates.merged[number]]
