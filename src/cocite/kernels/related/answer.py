"""A question of the default method in two calls: what is related to a page, and what kept results share with it.

methods/auto.py has the formulas. Between the calls, filters choose the results that are kept.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import read_grown
from cocite.kernels.hash_tables import MISSING, NumberedSet, add_members, new_set, number_of
from cocite.kernels.jit import kernel
from cocite.kernels.related.blend import LINK_PART, Candidates, number_candidates
from cocite.kernels.related.likeness import Around, LinkWeights, alike_pages
from cocite.kernels.related.neighbourhood import window_of
from cocite.kernels.related.texts import SameNamePages, TextParameters, add_texts, same_name_pages, text_weights
from cocite.kernels.words.word_vectors import most_similar, row_of, strong_terms

PARTS = 6


class BlendWeights(NamedTuple):
    """Parameters and constants of the method, see there."""

    links: LinkWeights
    texts: TextParameters


class QueryPage(NamedTuple):
    """A query page, and what relates others to it."""

    page: int
    names: SameNamePages
    around: Around
    alike: NDArray[np.uint32]  # pages that are like it by links
    in_section: NDArray[np.float64]  # what common sections give each of them
    values: NDArray[np.float64]  # and all links
    best: NDArray[np.uint32]  # pages that what is like them counts, too; none where a section lists the page
    similar: NDArray[np.uint32]  # pages of similar text


class BlendRow(NamedTuple):
    """Candidates, and the parts of their scores for one query page."""

    candidates: Candidates
    chosen: NumberedSet  # the candidates, without those that are merged into others
    in_section: NDArray[np.float64]  # the part by common sections
    parts: NDArray[np.float64]  # parts[LINK_PART] and so on


class Explained(NamedTuple):
    """What results share with one query page, beside links."""

    of: int  # terms of the query page
    places: NDArray[np.int64]  # among the candidates, or -1
    parts: NDArray[np.float64]  # for each result a row
    named: NDArray[np.bool_]  # whether links call it by the name of the query page
    beside: NDArray[np.uint32]  # the first same-name page of the query page that a list has it with, or MISSING
    through: NDArray[np.uint32]  # its first same-name page that is listed with the query page, or MISSING
    one_host: NDArray[np.bool_]
    home: NDArray[np.bool_]
    linked: NDArray[np.bool_]  # whether its words, or those of the query page, are those of linked pages, too
    words: NDArray[np.int64]  # how many it shares, and those that count most; -1 fills the rest
    context: NDArray[np.int64]


@kernel
def look_around(web, texts, page, seeds, limits, weights):
    """What relates others to a query page: (state, QueryPage). `seeds` are the representatives of all query pages."""
    names = same_name_pages(texts, page, weights.texts.names)
    state, around, alike, in_section, values, best = alike_pages(web, page, names, seeds, limits, weights.links)
    most = weights.texts.best if weights.texts.text > 0 else 0
    similar = most_similar(texts.words, page, most, weights.texts.room)
    return state, QueryPage(np.int64(page), names, around, alike, in_section, values, best, similar)


@kernel
def set_parts(texts, query, seeds, parameters, candidates, pages, in_section, parts):
    """Set the parts of the scores of candidates for a query page, but for clicks, and the part by common sections."""
    for k in range(len(query.alike)):
        i = candidates.merged[number_of(candidates.pages.table, query.alike[k])]
        in_section[i], parts[LINK_PART, i] = query.in_section[k], query.values[k]
    if len(texts.words.text_words) > 0:
        around = query.around
        weights = text_weights(texts, query.page, around.reliability, around.one_site, parameters)
        add_texts(texts, query.page, seeds, weights, candidates, pages, in_section, parts)


@kernel
def find_related(web, texts, page, seeds, visited, limits, weights):
    """What is related to one page: (state, QueryPage, candidates with the parts of their scores, these pages).

    Candidates are pages that are like it by links or words, and those that people visited before or after.
    """
    state, query = look_around(web, texts, page, seeds, limits, weights)
    joined = np.concatenate((query.alike, query.similar, visited))
    candidates, chosen, pages = number_candidates(web.near, joined, len(web.into.degree))
    in_section, parts = np.zeros(len(pages)), np.zeros((PARTS, len(pages)))
    set_parts(texts, query, seeds, weights.texts, candidates, pages, in_section, parts)
    return state, query, BlendRow(candidates, chosen, in_section, parts), pages


@kernel
def explain(web, texts, query, row, pages, shown):
    """What results share with a query page, beside links: (state, Explained)."""
    count, words, missing = len(pages), texts.words, np.uint32(MISSING)
    places, parts = np.empty(count, np.int64), np.zeros((count, PARTS))
    named, one_host, home = np.zeros(count, np.bool_), np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    through, beside = np.full(count, missing), np.full(count, missing)
    for i in range(count):
        places[i] = number_of(row.chosen.table, pages[i])
        one_host[i] = texts.hosts[pages[i]] == texts.hosts[query.page]
        home[i] = pages[i] < len(words.home) and words.home[pages[i]] == 1
        for page in query.names.pages:
            named[i] |= page == pages[i]
        if places[i] >= 0:
            parts[i] = row.parts[:, places[i]]
            through[i] = listed_same_name(texts, row, pages[i], places[i])
    if len(query.names.pages) > 0:
        beside[:] = listed_with(query.around.listing, query.around.weights, len(query.around.parents.pages), pages)
    linked, own = np.zeros(count, np.bool_), np.zeros(1, np.bool_)
    state = mark_helped(web, words, np.full(1, np.uint32(query.page)), own)
    state = min(state, mark_helped(web, words, pages, linked))
    linked |= own[0]
    of, (low, high) = np.int64(0), row_of(words.pages, query.page)
    for term in words.pages.ids[low:high]:
        of += term < len(words.stop) and words.stop[term] == 0
    shared = strong_terms(words.pages, query.page, pages, shown, words.stop)
    context = strong_terms(words.context, query.page, pages, shown, words.stop)
    return state, Explained(of, places, parts, named, beside, through, one_host, home, linked, shared, context)


@kernel
def listed_same_name(texts, row, page, place):
    """The first same-name page of a result that is listed with the query page, or MISSING."""
    names = same_name_pages(texts, page, 1.0)
    for other in names.pages:
        number = number_of(row.candidates.pages.table, other)
        its = np.int64(row.candidates.merged[number]) if number >= 0 else place
        if its != place and row.in_section[its] > 0:
            return other
    return np.uint32(MISSING)


@kernel
def listed_with(listing, weights, first, pages):
    """For each page the first same-name page that a list has it with, or MISSING: the lists from `first` on."""
    found, wanted = np.full(len(pages), np.uint32(MISSING)), new_set(len(pages))
    add_members(wanted, np.int64(0), pages)
    for i in range(first, len(listing.pages)):
        low, high = window_of(listing, i)
        for k in range(low, high if weights[i] > 0 else low):
            number = number_of(wanted.table, listing.targets[k])
            if number >= 0 and found[number] == MISSING:
                found[number] = listing.targets[listing.places[i]]
    return found


@kernel
def mark_helped(web, words, pages, marked):
    """Mark pages whose words include those of pages that they exchange links with. Returns 0, or DAMAGED."""
    out, into = np.empty(64, np.uint32), np.empty(64, np.uint32)
    for i in range(len(pages)):
        page = np.int64(pages[i])
        own = words.text_words[page] if page < len(words.text_words) else 0
        if own == 0 or own > words.short_text or web.into.degree[page] == 0:
            continue
        count, out = read_grown(web.counted.out.lists, page, out)
        if count > 0:
            wanted = new_set(count)
            add_members(wanted, np.int64(0), out[:count])
            linking, into = read_grown(web.into, page, into)
            for k in range(linking):
                marked[i] |= number_of(wanted.table, into[k]) >= 0
            count = min(count, linking)
        if count < 0:
            return np.int64(DAMAGED)
    return np.int64(0)
