"""Auto, the default: what links, blocks, words, names and popularity say together, by what is known of the page.

With parents q of the page u, each counting c_q, children x that u and s share, and rarity r(n) = 1 / ln(2 + n):

    together(s) = Σ c_q · (r(links in the block) + near / √d if both stand in one block, and elsewhere · r(links of q))
    links(s)    = in_degree(s)^popularity · together(s)      parents with blocks: somebody has sorted these links
                + Σ c_q · r(links of q)                      parents without
                + Σ c_x · r(links into x) / √children
                + 0.05 for a link from u to s, 0.05 for one from s to u, and 0.9 more if there are both
    score(s)    = links(s) / √(max of links) + 0.15 · (together of s's same-name pages) / (max of that)
                + weight · cosine(words of u, words of s)
                + context · in_degree(s)^popularity · cosine(context words of u, context words of s)
                + 0.25 if s is on u's host, and 0.2 if it is the first page of its own      where blocks list u
    weight      = words + 0.003 · (different words of u's text, at most 100)²

Parents of u's same-name pages, which links call by the same name (words/context.py), are parents too; they count
`names` times how alike the names are. A parent that has s or u again in another block has them together there, too,
without `near` and `elsewhere`: in at most three blocks that have u again, and not on lists of more than 4,096 links.
The context words of a page are those of the sections that list it (words/context.py). k parents of one site, and k
blocks of one parent, count as √k, and pages of u's own site a quarter: their links are often one template. So links
count most for pages that many cite, and words count more the more text a page has. A page without links or without
text is answered from what there is. One with neither gets the addresses beside it on its host, by 0.25 times the part
of its path that they share. Several query pages: scores add up, after the number reached.

Weights were chosen on some lists and tested on others: docs/decisions/0050, which also tells what did not help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.kernels.related import together as evidence
from cocite.parameters import parameter
from cocite.related.neighbourhood.clean import Merged, group, merge, representatives
from cocite.related.neighbourhood.gather import Numbered, Parents, children_of, joined, parents_of, sound
from cocite.related.neighbourhood.scores import LEAST, Scores
from cocite.related.neighbourhood.start import begin
from cocite.related.neighbourhood.view import NO_PAGES, Pages, Switches, View, is_one_of
from cocite.web import Web
from cocite.words.stop_words import DEFAULT_LANGUAGE, stop_words
from cocite.words.vectors import Vectors

LINKED, BOTH_WAYS = 0.05, 0.9
OWN_SITE = 0.25
SAME_NAME_SHARE = 0.15
"""The share of the score of same-name pages that a page gets."""
SAME_HOST, HOME = 0.25, 0.2
"""For pages in lists: one list is often of repositories, or of sites, and of a site its first page is meant."""
SAID, ENOUGH = 0.003, 100
"""What words weigh more the more text a page has, and how many different words are text enough."""
LONGEST = 1000
"""A child with more parents than this says nothing: everybody links there."""
ALIKE = 200
"""Pages that are looked at because of their words alone."""
BESIDE = 10
"""Addresses before and after that of a page of which nothing speaks."""
IN_FRONT = 250
"""Pages whose context words are compared: those for which links and words speak most, to so many DIGITS."""
DIGITS = 6
NAMED = 8
TOLD = 0.95
"""Where links give more than this of a score, words are not spoken of."""
Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Params(Switches):
    """Limits, and how loudly each evidence speaks."""

    repeats: ClassVar = evidence.AGAIN
    """Of the blocks in which a parent has a page again, so many are heard."""

    parents: int = parameter(2000, "so many parents at most, chosen by hash", minimum=0)
    window: int = parameter(2000, "links of a parent that are seen around its link to the page (0: all)", minimum=0)
    children: int = parameter(100, "so many children at most, the first", minimum=0, maximum=100_000)
    elsewhere: float = parameter(0.1, "what a link in another block of the same page is worth", minimum=0, maximum=100)
    near: float = parameter(0.12, "what standing near each other in a block adds", minimum=0, maximum=100)
    popularity: float = parameter(0.18, "the power of links in that multiplies what blocks say", minimum=0, maximum=10)
    words: float = parameter(0.7, "what being alike in words is worth", minimum=0, maximum=1000)
    context: float = parameter(0.6, "weight of being listed in sections about the same things", minimum=0, maximum=1000)
    names: float = parameter(
        0.5, "what a link to a page of the same name counts, beside one to the page", minimum=0, maximum=1
    )


class Around(NamedTuple):
    """One query page's parents and children, as far as they count."""

    page: int
    parents: Parents
    listing: Parents  # parents, and those of its same-name pages
    counts: Values  # what each of `listing` counts
    children: Pages
    starts: NDArray[np.int64]  # where each child's other parents begin in `spouses`
    spouses: Pages


@dataclass(frozen=True)
class Blend:
    """Pages, and what each evidence says of them: a row for each query page."""

    pages: Merged
    around: Sequence[Around]
    links: Values
    named: Values  # what links say of a page's same-name pages
    words: Values
    context: Values
    place: Values

    @property
    def enough(self) -> bool:
        """Whether anything speaks for any page."""
        return any(bool((each > 0).any()) for each in (self.links, self.words, self.context))


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by all that speaks for them."""
    start, found = begin(web.graph, seeds, params, lambda view, pages: gather(web, view, pages, params))
    rows = found.links + found.named + found.words + found.context + found.place
    reached = (rows > 0).sum(axis=0, dtype=np.int32) if len(start.used) > 1 else None
    told = Told(web, start.used, found, params.names > 0)
    return Scores(found.pages.pages, rows.sum(axis=0), start.used, start.never, reached=reached, evidence=told)


def gather(web: Web, view: View, pages: Sequence[int], params: Params) -> Blend:
    """Everything that may be related to pages, and what speaks for it."""
    named = [same_name_pages(web, page, params) for page in pages]
    parents = [
        [parents_of(view, each, params.parents, params.window, blocks=True) for each in (page, *others)]
        for page, (others, _) in zip(pages, named, strict=True)
    ]
    children = [children_of(view, page, params.children) for page in pages]
    alike = [near_in_words(web, page) for page in pages] if params.words else []
    room = [np.minimum(web.graph.in_degree[each], LONGEST).sum(dtype=np.int64) for each in children]
    known = sum(len(each) for each in (*children, *alike)) + sum(
        1 + each.shown + len(each.pages) for parts in parents for each in parts
    )
    numbered = Numbered(int(known + sum(room)))
    around = [
        read_around(view, numbered, page, parts, worths, *each)
        for page, parts, (_, worths), *each in zip(pages, parents, named, children, room, strict=True)
    ]
    for each in alike:
        numbered.add(each)
    merged = merge(view, numbered.pages)
    own = is_one_of(merged.pages, representatives(view, np.array(pages, np.uint32)))
    blend = Blend(merged, around, *np.zeros((5, len(pages), len(merged.pages))))
    for row, one in enumerate(around):
        listed = by_links(web, view, numbered, merged, own, one, params, blend.links[row], blend.named[row])
        if web.vectors is not None:
            by_words(web.vectors, web.graph.in_degree, blend, row, one.page, params)
            blend.words[row, own] = blend.context[row, own] = 0
            if listed:
                found = np.flatnonzero(blend.links[row] + blend.named[row] + blend.words[row] + blend.context[row])
                blend.place[row, found] = by_place(web.graph, web.vectors, merged.pages[found], one.page)
    return blend if blend.enough else by_address(view, around)


def by_address(view: View, around: Sequence[Around]) -> Blend:
    """Of pages for which nothing speaks: those beside them on their host, by the part of the path that they share."""
    graph, hosts, found = view.graph, view.graph.units("host"), set[int]()
    for one in around:
        beside = range(max(0, one.page - BESIDE), min(graph.pages, one.page + BESIDE + 1))
        found.update(page for page in beside if hosts[page] == hosts[one.page] and not view.refuses(page))
    found -= {page for page in found if graph.lead(page) != page} | {one.page for one in around}
    merged = merge(view, np.array(sorted(found), np.uint32))
    blend = Blend(merged, around, *np.zeros((5, len(around), len(merged.pages))))
    paths = [graph.canonical(page).split("/") for page in merged.pages.tolist()]
    for row, one in enumerate(around):
        own = graph.canonical(one.page).split("/")
        shared = [
            sum(1 for _ in takewhile(lambda parts: parts[0] == parts[1], zip(own, path, strict=False)))
            for path in paths
        ]
        blend.place[row] = SAME_HOST / len(own) * np.array(shared, np.float64)
    return blend


def same_name_pages(web: Web, page: int, params: Params) -> tuple[list[int], list[float]]:
    """Pages that links call by the same name as a page, and what links to them count."""
    if web.vectors is None or not params.names:
        return [], []
    others, alike = web.vectors.same_name_pages(page)
    return others.tolist(), (params.names * alike).tolist()


def near_in_words(web: Web, page: int) -> Pages:
    """Pages that are like a page in words."""
    return web.vectors.near(page, ALIKE) if web.vectors is not None else NO_PAGES


def read_around(
    view: View, numbered: Numbered, page: int, parts: list[Parents], worths: list[float], children: Pages, room: int
) -> Around:
    """Number the pages around a page: siblings, spouses, parents (`parts`: its own, its same-name pages'), children."""
    parents = parts[0]
    for each in parts:
        numbered.add_windows(each)
    numbered.add(np.array([each.of for each in parts[1:]], np.uint32))
    numbered.add(parents.pages)
    numbered.add(children)
    starts, spouses = np.zeros(len(children) + 1, np.int64), np.empty(int(room), np.uint32)
    count = evidence.read_spouses(
        view.graph.into, view.out, children, LONGEST, page, view.refused, numbered.table, numbered.local,
        numbered.room, numbered.count, spouses, starts,
    )  # fmt: skip
    sound(view, count)
    numbered.count = int(count)
    listing = joined(parts)
    counts = shares(view, page, listing.pages)
    counts *= np.repeat([1.0, *worths], [len(each.pages) for each in parts])
    counts[listing.pages == page] = 0  # what the page itself lists beside its same-name page
    for at, each in enumerate(parts[1:], 1):  # a list that has both is for the page
        begin = sum(len(before.pages) for before in parts[:at])
        counts[begin : begin + len(each.pages)][is_one_of(each.pages, listing.pages[:begin])] = 0
    return Around(page, parents, listing, counts, children, starts, spouses)


def by_links(
    web: Web, view: View, numbered: Numbered, merged: Merged, own: NDArray[np.bool_], around: Around, params: Params,
    links: Values, named: Values,
) -> bool:  # fmt: skip
    """What links say of each page and of its same-name pages, beside one query page; nothing of those that are `own`.

    Returns whether any of them stand in a block with it.
    """
    graph, listing, children = view.graph, around.listing, around.children
    groups, _ = group(view, listing.pages)
    totals = np.zeros((2, len(merged.pages)))
    evidence.add_together(
        listing.pages, listing.starts, listing.places, listing.whole, listing.targets, listing.attributes,
        graph.out_degree[listing.pages], params.window, np.argsort(groups, kind="stable"), groups, around.counts,
        params.near, params.elsewhere, graph.repeats, view.refused,
        numbered.table, numbered.local, merged.number, totals,
    )  # fmt: skip
    totals[:, own] = 0
    in_block = totals[evidence.IN_BLOCK]
    links += totals[evidence.ON_PAGE]
    links += in_block * popular(graph.in_degree, merged.pages, params)
    say = shares(view, around.page, children) / np.log(2.0 + graph.in_degree[children])
    say /= np.sqrt(max(1, len(children)))
    evidence.add_shared(around.starts, around.spouses, say, numbered.table, numbered.local, merged.number, links)
    add_linked(view, numbered, merged, around, links)
    links[own] = 0
    links /= np.sqrt(max(float(links.max(initial=0)), LEAST))
    if web.vectors is not None and params.names:
        evidence.add_same_name(
            web.vectors.same_name, merged.pages, numbered.table, numbered.local, merged.number, in_block, named
        )
        named[own] = 0
        named *= SAME_NAME_SHARE / max(float(named.max(initial=0)), LEAST)
    return bool(in_block.any())


def popular(in_degree: Pages, pages: Pages, params: Params) -> Values:
    """What many links into a page multiply."""
    return np.asarray(np.maximum(1, in_degree[pages]).astype(np.float64) ** params.popularity)


def by_words(vectors: Vectors, in_degree: Pages, blend: Blend, row: int, page: int, params: Params) -> None:
    """What words say of each page: its own, and, of the pages in front, those of the lists that it stands in."""
    pages = blend.pages.pages
    if params.words:
        weight = params.words + SAID * min(ENOUGH, int(vectors.text_words[page])) ** 2
        blend.words[row] = weight * vectors.cosines(page, pages)
    if params.context:
        scores = np.round(blend.links[row] + blend.named[row] + blend.words[row], DIGITS)
        last = max(0, len(pages) - IN_FRONT)
        front = np.flatnonzero(scores >= np.partition(scores, last)[last]) if last else np.arange(len(pages))
        few = pages[front]
        said = params.context * vectors.context_cosines(page, few) * popular(in_degree, few, params)
        blend.context[row, front] = said


def by_place(graph: Graph, vectors: Vectors, pages: Pages, page: int) -> Values:
    """What the places of pages say beside that of one that is listed."""
    hosts = graph.units("host")
    return np.asarray(SAME_HOST * (hosts[pages] == hosts[page]) + HOME * (vectors.home[pages] == 1))


def add_linked(view: View, numbered: Numbered, merged: Merged, around: Around, links: Values) -> None:
    """Add what links between the page and others say."""
    parents, children = np.unique(around.parents.pages), np.unique(around.children)
    both = np.intersect1d(parents, children, assume_unique=True)
    for pages, worth in ((parents, LINKED), (children, LINKED), (both, BOTH_WAYS)):
        numbers = numbered.numbers(pages)
        np.add.at(links, merged.number[numbers], worth * shares(view, around.page, pages))


def shares(view: View, page: int, others: Pages) -> Values:
    """What the word of each page counts: less if it is of the site of the page asked about."""
    if view.switches.unit == "none":
        return np.ones(len(others))
    units = view.units_of(np.append(others, np.uint32(page)))
    return np.where(units[:-1] == units[-1], OWN_SITE, 1.0)


class Told:
    """Tells whether links or words spoke for an answer, the louder first."""

    def __init__(self, web: Web, used: Sequence[int], found: Blend, by_names: bool) -> None:
        self._web, self._used, self._found, self._by_names = web, used, found, by_names

    def __call__(self, page: int) -> list[dict[str, Any]]:
        """What spoke for a page, beside each query page."""
        at = np.flatnonzero(self._found.pages.pages == page)
        if not len(at):
            return []
        heard = [self._beside(row, seed, page, int(at[0])) for row, seed in enumerate(self._used)]
        if all(alone for alone, _ in heard):
            return []  # links alone are the reason
        return [reason for _, said in heard for reason in said]

    def _beside(self, row: int, seed: int, page: int, at: int) -> tuple[bool, list[dict[str, Any]]]:
        """What spoke for a page beside one query page, and whether that were links alone."""
        found = self._found
        parts = (found.links, found.named, found.words, found.context, found.place)
        links, named, words, context, place = (float(each[row, at]) for each in parts)
        total = max(links + named + words + context + place, LEAST)
        by_name = self._names(seed, page)
        by_place = self._place(seed, page, total, alone=place == total) if place else []
        by_links = links > TOLD * (total - place)
        told = [
            (links, [{"kind": "links", "page": seed, "share": round(links / total, 3)}, *by_name]),
            (named, self._same_name(row, seed, page, named / total) if named else []),
        ]
        if not by_links or by_name:
            told += [
                (words, self._words(seed, page, words / total)),
                (context, self._context(seed, page, context / total)),
            ]
        said = [reason for value, of in sorted(told, key=lambda each: -each[0]) for reason in (of if value > 0 else ())]
        return by_links and not (by_name or by_place or named), said + by_place

    def _place(self, seed: int, page: int, total: float, alone: bool) -> list[dict[str, Any]]:
        """What the place of a page gave; `alone`: nothing but the host did."""
        if alone:
            return [{"kind": "same host", "page": seed, "share": 1.0}]
        hosts, vectors = self._web.graph.units("host"), self._web.vectors
        there = {
            "same host": SAME_HOST * bool(hosts[seed] == hosts[page]),
            "first page of its host": HOME * bool(vectors is not None and vectors.home[page] == 1),
        }
        return [{"kind": kind, "page": seed, "share": round(gave / total, 3)} for kind, gave in there.items() if gave]

    def _names(self, seed: int, page: int) -> list[dict[str, Any]]:
        """That a page has the name of the one asked about, or stands beside one that has."""
        vectors = self._web.vectors
        others = vectors.same_name_pages(seed)[0].tolist() if vectors is not None and self._by_names else []
        if page in others:
            return [{"kind": "same name", "page": seed}]
        one = self._found.around[self._used.index(seed)]
        for at in range(len(one.parents.pages), len(one.listing.pages)):
            low, high = one.listing.starts[at : at + 2]
            if one.counts[at] and page in one.listing.targets[low:high]:
                other = int(one.listing.targets[one.listing.places[at]])
                return [{"kind": "beside the same name", "page": seed, "through": self._web.graph.address(other)}]
        return []

    def _same_name(self, row: int, seed: int, page: int, share: float) -> list[dict[str, Any]]:
        """That a page of this one's name stands beside the one asked about."""
        found, vectors = self._found, self._web.vectors
        others = vectors.same_name_pages(page)[0].tolist() if vectors is not None else []
        linked = found.pages.pages[found.links[row] > 0]
        through = next((other for other in others if other in linked), None)
        if through is None:
            return []
        address = self._web.graph.address(through)
        return [{"kind": "its name beside", "page": seed, "share": round(share, 3), "through": address}]

    def _words(self, seed: int, page: int, share: float) -> list[dict[str, Any]]:
        vectors = self._web.vectors
        common = telling(vectors.common(seed, page, 4 * NAMED)) if vectors is not None else ()
        if vectors is None or not common:
            return []
        count = {"count": len(common), "of": len(vectors.of(seed)[0])}
        return [{"kind": "words", "page": seed, "share": round(share, 3), "words": common, **count}]

    def _context(self, seed: int, page: int, share: float) -> list[dict[str, Any]]:
        vectors = self._web.vectors
        common = telling(vectors.common_context(seed, page, 4 * NAMED)) if vectors is not None else ()
        return [{"kind": "company", "page": seed, "share": round(share, 3), "words": common}] if common else []


def telling(words: list[str]) -> tuple[str, ...]:
    """The first words that tell a reader something; "the" only where there are no others."""
    empty = stop_words(DEFAULT_LANGUAGE)
    return tuple([word for word in words if word not in empty] or words)[:NAMED]
