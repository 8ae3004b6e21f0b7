"""Similarity of pages by words and by linked pages: what `semantic`, `link_similarity` and `integrated` share.

Scores are exact. Parameters limit only which pages are compared; a store of up to `candidates` pages is compared as a
whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.words.best_matches import as_whole, compare_lists
from cocite.kernels.words.keyword_pairs import Rows
from cocite.parameters import parameter
from cocite.related.neighbourhood.link_sets import (
    LinkSets,
    LinksInMemory,
    StoredLinks,
    all_links,
    links_in_memory,
    strong_links,
    without_dead,
)
from cocite.related.neighbourhood.scores import Explain, Scores
from cocite.related.neighbourhood.view import NO_PAGES, Pages
from cocite.web import Web
from cocite.words.likeness import Likeness, best_of
from cocite.words.relevance import INFORMATION, SUPPORT

Values = NDArray[np.float64]
MAX_ERROR = 1e-9
"""Similarities are stored as whole multiples of about this."""


@dataclass(frozen=True, kw_only=True)
class WordParams:
    """Similarity by words, and which pages are compared."""

    alpha: float = parameter(
        0.5, "α: weight of support in r_s; the rest is for mutual information", minimum=0, maximum=1
    )
    candidates: int = parameter(
        2000, "Pages compared; a smaller store is compared as a whole", minimum=1, maximum=10**6
    )
    reach: int = parameter(10, "Similar words per keyword whose pages are candidates, too", minimum=0, maximum=1000)
    postings: int = parameter(
        500_000, "Maximum number of pages looked up by words, rare words first", minimum=1, maximum=10**9
    )


@dataclass(frozen=True, kw_only=True)
class LinkParams(WordParams):
    """Similarity by links."""

    theta: float = parameter(0.0, "θ: links with a lower greatest r_l are weak and ignored", minimum=0, maximum=1)
    beta: float = parameter(0.5, "β: weight of support in r_l; the rest is for confidence", minimum=0, maximum=1)
    beside: str = parameter(SUPPORT, "What r_l uses beside confidence, with θ above 0", choices=(SUPPORT, INFORMATION))
    links: int = parameter(50, "Maximum number of linked pages per side, chosen by hash", minimum=1, maximum=10_000)
    alike: int = parameter(
        20, "Similar pages per linked page whose links lead to candidates", minimum=0, maximum=10_000
    )


class SimilarityData(NamedTuple):
    """What comparing pages by words and links needs."""

    words: Likeness
    links: LinkSets


def likeness_of(web: Web, alpha: float, rarity: bool = False) -> Likeness:
    """Sim_s of a web, cached with it."""

    def make() -> Likeness:
        words = Rows(web.keywords.starts, web.keywords.ids)
        return Likeness(words, replace(web.relevance, alpha=alpha), rarity)

    found: Likeness = web.cached("likeness", (alpha, rarity), make)
    return found


def similarity_data(web: Web, params: LinkParams, rarity: bool = False) -> SimilarityData:
    """Words and links of a web. With theta above 0 all links are read once, and the strong ones cached with the web."""
    words = likeness_of(web, params.alpha, rarity)
    if params.theta == 0:
        return SimilarityData(words, StoredLinks(web.graph, params.links))
    key = (params.theta, params.beta, params.beside, params.links)
    return SimilarityData(words, web.cached("strong links", key, lambda: counted_links(web, words, params)))


def counted_links(web: Web, words: Likeness, params: LinkParams) -> LinksInMemory:
    """All links except weak ones and those to dead pages, in memory; at most `params.links` of a page."""
    graph = web.graph
    if params.theta == 0:
        outs = all_links(graph)
    else:  # dead pages have keywords too, which count in confidence
        strong = strong_links(words, all_links(graph, True), params.theta, params.beta, params.beside)
        outs = without_dead(graph, strong)
    return links_in_memory(outs, params.links, graph.fingerprints)


def relate_each(
    seeds: Sequence[int],
    score: Callable[[int], tuple[Pages, Values]],
    evidence: Explain,
) -> Scores:
    """The mean score over the query pages that reach a page; `score` returns the scores for one query page."""
    found = [score(page) for page in seeds]
    pages = np.unique(np.concatenate([NO_PAGES, *(some for some, _ in found)]))
    values, reached = np.zeros(len(pages)), np.zeros(len(pages), np.int32)
    for some, scores in found:
        at = np.searchsorted(pages, some)
        values[at] += scores
        reached[at] += scores > 0
    values /= np.maximum(1, reached)
    return Scores(
        pages,
        values,
        seeds,
        np.array(seeds, np.uint32),
        reached=reached if len(seeds) > 1 else None,
        facts={"compared": sum(len(some) for some, _ in found)},
        evidence=evidence,
    )


def link_likeness(data: SimilarityData, page: int, others: Pages) -> Values:
    """Sim_l of a page with others: the mean of both sides, except a side on which neither page has links."""
    total, sides = np.zeros(len(others)), np.zeros(len(others))
    for linked in (data.links.ins, data.links.outs):
        own, lists = linked(np.array([page], np.uint32)).columns, linked(others)
        sizes = np.diff(lists.starts)
        total += side_likeness(data.words, own, lists)
        sides += (sizes > 0) | (len(own) > 0)
    result = total / np.maximum(1, sides)
    result[others == page] = 1.0
    return result


def side_likeness(words: Likeness, own: Pages, lists: Rows) -> Values:
    """Best matches, by Sim_s, between the pages linked with one page and those linked with each of others."""
    result = np.zeros(len(lists.starts) - 1)
    if not len(own) or not len(lists.columns):
        return result
    linked, index = np.unique(lists.columns, return_inverse=True)
    table = np.empty((len(linked), len(own)), np.int32)
    column = np.empty(len(linked), np.int32)
    for i, page in enumerate(own):
        as_whole(words.alike(int(page), linked), column)
        table[:, i] = column
    rows = Rows(lists.starts, index.astype(np.uint32))
    compare_lists(rows, table.reshape(-1), len(own), result)
    return result


def linked_alike(data: SimilarityData, page: int, params: LinkParams) -> Pages:
    """Candidates by links: pages linked, on the same side, with pages similar to those linked with the page."""
    words, links = data
    if words.pages <= params.candidates:
        return np.arange(words.pages, dtype=np.uint32)
    found: list[tuple[Pages, Values]] = []
    for ours, theirs in ((links.ins, links.outs), (links.outs, links.ins)):
        for linked in ours(np.array([page], np.uint32)).columns.tolist():
            near = words.near(linked, params.alike, params.reach, params.postings) if params.alike else NO_PAGES
            near = np.union1d(near, np.array([linked], np.uint32))
            value, lists = words.alike(linked, near), theirs(near)
            found.append((lists.columns, np.repeat(value, np.diff(lists.starts))))
    if not found:
        return NO_PAGES
    pages, index = np.unique(np.concatenate([some for some, _ in found]), return_inverse=True)
    sums: Values = np.bincount(index, np.concatenate([values for _, values in found]), len(pages)).astype(np.float64)
    return best_of(pages, sums, params.candidates)
