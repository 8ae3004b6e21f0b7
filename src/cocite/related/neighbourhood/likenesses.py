"""Likeness of pages by words and by linked pages: what `semantic`, `link_similarity` and `integrated` share.

Scores are exact; where to look for pages is limited by parameters, all of which have defaults: a web of no more pages
than `candidates` is compared as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.words.best_matches import as_whole, compare_lists
from cocite.kernels.words.keyword_pairs import Rows
from cocite.parameters import parameter
from cocite.related.neighbourhood.linked import (
    HeldLinks,
    LinkSets,
    StoredLinks,
    all_links,
    held_links,
    living,
    strong_links,
)
from cocite.related.neighbourhood.scores import Explain, Scores
from cocite.related.neighbourhood.view import NO_PAGES, Pages
from cocite.web import Web
from cocite.words.likeness import Likeness, best_of
from cocite.words.relevance import INFORMATION, SUPPORT

Values = NDArray[np.float64]
EXACT = 1e-9
"""Likeness is kept in whole numbers of about this."""


@dataclass(frozen=True, kw_only=True)
class WordParams:
    """Of likeness by words, and where to look."""

    alpha: float = parameter(
        0.5, "α: the share of support in r_s; the rest is mutual information", minimum=0, maximum=1
    )
    candidates: int = parameter(
        2000, "so many pages are compared; a store of no more is as a whole", minimum=1, maximum=10**6
    )
    reach: int = parameter(10, "words like each keyword whose pages are candidates too", minimum=0, maximum=1000)
    postings: int = parameter(500_000, "pages looked up by words at most, rare words first", minimum=1, maximum=10**9)


@dataclass(frozen=True, kw_only=True)
class LinkParams(WordParams):
    """Of likeness by links."""

    theta: float = parameter(
        0.0, "θ: links whose greatest r_l is below it are weak and do not count", minimum=0, maximum=1
    )
    beta: float = parameter(0.5, "β: the share of support in r_l; the rest is confidence", minimum=0, maximum=1)
    beside: str = parameter(SUPPORT, "what r_l has beside confidence, with θ above 0", choices=(SUPPORT, INFORMATION))
    links: int = parameter(
        50, "linked pages on each side that are compared; of more, by hash", minimum=1, maximum=10_000
    )
    alike: int = parameter(20, "pages like each linked page whose links lead to candidates", minimum=0, maximum=10_000)


class Around(NamedTuple):
    """All that comparing pages needs."""

    words: Likeness
    links: LinkSets


class _Opened:
    """What was worked out of a web, as long as it is open."""

    def __init__(self) -> None:
        self.words: dict[tuple[float, bool], Likeness] = {}
        self.links: dict[tuple[float, float, str, int], HeldLinks] = {}


_opened: WeakKeyDictionary[Web, _Opened] = WeakKeyDictionary()


def likeness_of(web: Web, alpha: float, rarity: bool = False) -> Likeness:
    """Sim_s of a web."""
    known, wanted = _opened.setdefault(web, _Opened()).words, (alpha, rarity)
    if wanted not in known:
        known.clear()
        words = Rows(web.keywords.starts, web.keywords.ids)
        known[wanted] = Likeness(words, replace(web.relevance, alpha=alpha), rarity)
    return known[wanted]


def around(web: Web, params: LinkParams, rarity: bool = False) -> Around:
    """What comparing by words and links needs. To know which links are weak, all have to be looked at, once."""
    words = likeness_of(web, params.alpha, rarity)
    if params.theta == 0:
        return Around(words, StoredLinks(web.graph, params.links))
    known, wanted = _opened[web].links, (params.theta, params.beta, params.beside, params.links)
    if wanted not in known:
        known.clear()
        known[wanted] = counting_links(web, words, params)
    return Around(words, known[wanted])


def counting_links(web: Web, words: Likeness, params: LinkParams) -> HeldLinks:
    """All links but those to dead pages and the weak ones, held in memory, `params.links` of a page at most."""
    graph = web.graph
    if params.theta == 0:
        outs = all_links(graph)
    else:  # the dead have keywords too, and are counted in confidence
        outs = living(graph, strong_links(words, all_links(graph, True), params.theta, params.beta, params.beside))
    return held_links(outs, params.links, graph.fingerprints)


def relate_each(
    seeds: Sequence[int],
    score: Callable[[int], tuple[Pages, Values]],
    evidence: Explain,
) -> Scores:
    """The mean of the scores for each query page, over those that reach a page; `score` gives those for one."""
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


def link_likeness(around: Around, page: int, others: Pages) -> Values:
    """Sim_l of a page with others: the mean of both sides, without a side on which neither page has links."""
    total, sides = np.zeros(len(others)), np.zeros(len(others))
    for linked in (around.links.ins, around.links.outs):
        own, lists = linked(np.array([page], np.uint32)).columns, linked(others)
        sizes = np.diff(lists.starts)
        total += side_likeness(around.words, own, lists)
        sides += (sizes > 0) | (len(own) > 0)
    result = total / np.maximum(1, sides)
    result[others == page] = 1.0
    return result


def side_likeness(words: Likeness, own: Pages, lists: Rows) -> Values:
    """Best matches between the pages linked with one page and those linked with each of others, by Sim_s."""
    result = np.zeros(len(lists.starts) - 1)
    if not len(own) or not len(lists.columns):
        return result
    linked, place = np.unique(lists.columns, return_inverse=True)
    table = np.empty((len(linked), len(own)), np.int32)
    column = np.empty(len(linked), np.int32)
    for i, page in enumerate(own):
        as_whole(words.alike(int(page), linked), column)
        table[:, i] = column
    rows = Rows(lists.starts, place.astype(np.uint32))
    compare_lists(rows, table.reshape(-1), len(own), result)
    return result


def linked_alike(around: Around, page: int, params: LinkParams) -> Pages:
    """Pages that may be alike by links: those linked, on the same side, with pages like those linked with the page."""
    words, links = around.words, around.links
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
    pages, place = np.unique(np.concatenate([some for some, _ in found]), return_inverse=True)
    sums: Values = np.bincount(place, np.concatenate([values for _, values in found]), len(pages)).astype(np.float64)
    return best_of(pages, sums, params.candidates)
