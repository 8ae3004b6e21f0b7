"""Auto, the default: links, sections, words, names and popularity together, weighted by how much of each the page has.

With parents q of the page u, each of weight c_q, children x that u and s share, M links in all, r(n) = 1 / ln(2 + n):

    together(s) = Σ c_q · (r(links in section) + near / √d if both are in one section, and elsewhere · r(links of q))
    listed(s)   = in_degree(s)^popularity · max(0, together(s) − in_degree(s) / M · Σ together)
    shared(s)   = Σ c_q · r(links of q)                      parents without sections: nobody has sorted their links
                + Σ c_x · r(in-links of x)
                + direct · (r(links of u) + r(in-links of s)) for a link from u to s, and likewise for one from s to u;
                  each twice if there are both
    linked(s)   = shared(s) / size(u) · √(n(u) / n(s))
                + walk · (visits of s by a walk from u / √n(s)),                         if no section lists u
                + best · Σ over the five best t so far: linked(t) · Σ r of what s and t share / √(n(s) · n(t)), likewise
    score(s)    = listed(s) / √(max of listed) + linked(s) + 0.15 · (together of s's same-name pages) / (max of that)
                + weight · cosine(words of u, words of s)
                + context · in_degree(s)^popularity · cosine(context words of u, context words of s)
                + 0.25 if s is on u's host, and 0.2 if it is the home page of its own     if sections list u
    weight      = words + 0.003 · (different words of u's text, at most 30)²

A section counts for what it has beyond chance: a page that everybody links to is listed with everything. Links that
nobody has sorted are compared as a whole, by the cosine of two neighbourhoods. There each page is also a parent and a
child of its own. So popularity is divided out: size(u) = Σ c_q · r + Σ c_x · r over all that was read of u, with u
itself, and n counts the links in and out of a page (of u, those that were read), and 2 for the page itself.
Near-duplicates are worth what the strongest of them is.

In a sparse graph few pages share anything with u, and in a dense one many share a little. So a short walk with restarts
(methods/walk.py) finds pages that are further away, and pages that are like the best ones get more. What both give is
scaled: the page that the walk visits most gets `walk` times the largest value of `linked`, and the page most like the
best ones `best` times; then the largest is made what it was.

Parents of u's same-name pages (words/make_vectors.py) are parents too; their weight is `names` times the similarity of
the names. A parent that repeats s or u in another section has them together there, too, without `near` and `elsewhere`:
in at most three sections that repeat u, and not on lists of more than 4,096 links. The context words of a page are
those of the sections that list it. k parents of one site, and k sections of one parent, count as √k, and pages of u's
own site a quarter: their links are often one template. But where u and all its parents are on one site, as in a wiki,
sites don't matter, and in-links are no independent votes: there the exponent is 0. Words count more the more text a
page has. A page without links or without text gets results from what there is. One with neither gets the addresses
beside it on its host, by 0.25 times the part of its path that they share. With several query pages, scores add up,
after the number reached.

Weights for lists were chosen on some and tested on others, the others on all collections together: docs/decisions/0050
and 0051, which also list what did not help.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import all_blocks
from cocite.kernels.hash_tables import find_places
from cocite.kernels.related import blend as kernels
from cocite.kernels.related.blend import Spouses
from cocite.kernels.related.independence import coherence
from cocite.kernels.related.neighbourhood import Parents
from cocite.parameters import parameter
from cocite.related import evidence as kinds
from cocite.related.evidence import Evidence
from cocite.related.methods.walk import Params as WalkParams
from cocite.related.methods.walk import Walked, walk
from cocite.related.neighbourhood.scores import MIN_SCORE, LinkEvidence, Scores, Values, begin, for_query
from cocite.related.neighbourhood.view import (
    NO_PAGES,
    GraphView,
    Merged,
    Numbered,
    Pages,
    Switches,
    is_one_of,
)
from cocite.web import Web
from cocite.words.vectors import SharedTerms, Vectors

LINK_PART, NAME_PART, TEXT_PART, CONTEXT_PART, PLACE_PART = range(5)
"""The parts of a score."""


@dataclass(frozen=True, kw_only=True)
class Params(Switches):
    """Limits, and the weight of each part."""

    parents: int = parameter(2000, "Maximum number of parents, chosen by hash", minimum=0)
    window: int = parameter(2000, "Links of a parent that count, around its link to the page (0: all)", minimum=0)
    children: int = parameter(100, "Maximum number of children, the first", minimum=0, maximum=100_000)
    elsewhere: float = parameter(0.1, "Weight of a link in another section of the same page", minimum=0, maximum=100)
    near: float = parameter(0.12, "Weight of being near each other in a section", minimum=0, maximum=100)
    walk: float = parameter(0.2, "Weight of a walk from the page, where no section lists it", minimum=0, maximum=100)
    best: float = parameter(0.5, "Weight of what pages share with the best ones, likewise", minimum=0, maximum=100)
    popularity: float = parameter(0.18, "Exponent of in-links that multiplies the section part", minimum=0, maximum=10)
    words: float = parameter(0.7, "Weight of similar text", minimum=0, maximum=1000)
    context: float = parameter(0.6, "Weight of being listed in sections about the same things", minimum=0, maximum=1000)
    names: float = parameter(0.5, "Weight of a link to a same-name page, compared with the page", minimum=0, maximum=1)


@dataclass(frozen=True)
class Tunables:
    """Constants: docs/decisions/0050 and 0051 say how they were chosen."""

    direct: float = 0.15  # a link from one page to the other, compared with a shared neighbour; twice if there are both
    best_pages: int = 5
    best_links: int = 200  # links in, and links out, of each of the best pages that count,
    max_linker_links: int = 500  # from and to pages with no more links
    own_site: float = 0.25  # factor for parents and children on the site of the query page
    same_name: float = 0.15  # the most that a page gets for its same-name pages
    same_host: float = 0.25  # lists are often of repositories of one host,
    home_page: float = 0.2  # or of home pages
    text: float = 0.003  # added to the weight of words for the squared number of different words,
    max_text_words: int = 30  # up to this many
    max_child_parents: int = 1000  # children with more parents don't count: everybody links there
    similar_pages: int = 200  # candidates by text alone
    nearby_addresses: int = 10  # before and after a page without any other candidate
    context_pages: int = 250  # candidates whose context words are compared: the best by links and words
    digits: int = 6  # scores that differ by less are equal
    max_link_share: float = 0.95  # where links give more than this of a score, words are not evidence
    named_words: int = 8  # words that evidence names
    share_digits: int = 3


TUNABLES = Tunables()
SHORT_WALK = WalkParams(restart=0.5, least=1e-4)
"""Follows at most 20,000 links."""


class Around(NamedTuple):
    """The parents and children of one query page."""

    page: int
    parents: Parents
    listing: Parents  # its parents, and those of its same-name pages
    weights: Values  # of each page of `listing`; copies have none
    coherence: float  # of their sections, the mean
    children: Pages
    spouses: Spouses
    one_site: bool  # the page and all its parents are on one site, which therefore doesn't matter
    walked: Walked | None  # where no section lists the page


@dataclass(frozen=True)
class Blend:
    """Candidates and the parts of their scores: parts[LINK_PART] and so on have a row for each query page."""

    pages: Merged
    numbered: Numbered
    around: Sequence[Around]
    parts: Values
    in_section: list[Values] = field(default_factory=list)  # for each query page: the part by common sections


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by the sum of all parts."""
    start, found = begin(web, seeds, params, lambda view, pages: blend(web, view, pages, params))
    rows = found.parts.sum(axis=0)
    evidence = AutoEvidence(web, start.view, found, params)
    return start.scores(found.pages.pages, rows.sum(axis=0), rows, evidence=evidence)


def blend(web: Web, view: GraphView, pages: Sequence[int], params: Params) -> tuple[Blend, bool]:
    """The candidates around some pages, and their parts; and whether there is any candidate but nearby addresses."""
    named = [same_name_pages(web, page, params) for page in pages]
    parents = [
        [view.parents_of(each, params.parents, params.window, sections=True) for each in (page, *others)]
        for page, (others, _) in zip(pages, named, strict=True)
    ]
    children = [view.children_of(page, params.children) for page in pages]
    walked = [walk_around(view, parts[0], params) for parts in parents]
    similar = (
        [web.vectors.most_similar(page, TUNABLES.similar_pages) for page in pages]
        if params.words and web.vectors
        else []
    )
    room = [np.minimum(web.graph.in_degree[each], TUNABLES.max_child_parents).sum(dtype=np.int64) for each in children]
    known = sum(len(each) for each in (*children, *similar, *(each.pages for each in walked if each))) + sum(
        1 + each.max_siblings + len(each.pages) for parts in parents for each in parts
    )
    numbered = Numbered(int(known + sum(room)))
    around = [
        read_around(view, numbered, page, parts, weights, *each)
        for page, parts, (_, weights), *each in zip(pages, parents, named, children, room, walked, strict=True)
    ]
    for each in similar:
        numbered.add(each)
    merged = view.merge(numbered.pages)
    own = view.are_seeds(merged.pages, pages)
    found = Blend(merged, numbered, around, np.zeros((5, len(pages), len(merged.pages))))
    for row, one in enumerate(around):
        parts = found.parts[:, row]
        add_links(web, view, found, row, own, params)
        if web.vectors is not None:
            add_words(web.vectors, web.graph.in_degree, one, merged.pages, parts, params)
            parts[TEXT_PART, own] = parts[CONTEXT_PART, own] = 0
            if found.in_section[row].any():
                some = np.flatnonzero(parts.sum(axis=0))
                hosts, candidates = view.graph.units("host"), merged.pages[some]
                parts[PLACE_PART, some] = TUNABLES.same_host * (hosts[candidates] == hosts[one.page])
                parts[PLACE_PART, some] += TUNABLES.home_page * (web.vectors.home[candidates] == 1)
    enough = bool((found.parts[[LINK_PART, TEXT_PART, CONTEXT_PART]] > 0).any())
    return found if enough else nearby_addresses(view, around), enough


def walk_around(view: GraphView, parents: Parents, params: Params) -> Walked | None:
    """A walk from a page that no section lists, if all links count."""
    listed = all_blocks(parents.attributes[parents.places]).any()
    wanted = view.plain and not listed and (params.walk or params.best)
    return walk(view.graph, np.array([parents.of], np.uint32), SHORT_WALK) if wanted else None


def same_name_pages(web: Web, page: int, params: Params) -> tuple[list[int], list[float]]:
    """The same-name pages of a page, and the weight of links to them."""
    if web.vectors is None or not params.names:
        return [], []
    others, cosines = web.vectors.same_name_pages(page)
    return others.tolist(), (params.names * cosines).tolist()


def read_around(
    view: GraphView, numbered: Numbered, page: int, parts: list[Parents], names: list[float], children: Pages,
    room: int, walked: Walked | None,
) -> Around:  # fmt: skip
    """Number the siblings, parents, children and spouses of a page; `parts`: parents of it and its same-name pages."""
    parents, listing = parts[0], join_parents(parts)
    for each in parts:
        numbered.add_windows(each)
    for some in (
        np.array([each.of for each in parts[1:]], np.uint32),
        parents.pages,
        children,
        *((walked.pages,) if walked else ()),
    ):
        numbered.add(some)
    spouses = Spouses(np.zeros(len(children) + 1, np.int64), np.empty(int(room), np.uint32))
    count = kernels.read_spouses(
        view.out, view.graph.into, children, TUNABLES.max_child_parents, page, view.refused, spouses,
        (numbered.set, numbered.count),
    )  # fmt: skip
    view.check(count)
    numbered.count = int(count)
    units = view.units_of(np.append(parents.pages, np.uint32(page)))
    one_site = len(units) > 1 and bool((units == units[-1]).all())
    weights = np.ones(len(listing.pages)) if one_site else site_weights(view, page, listing.pages)
    weights *= np.repeat([1.0, *names], [len(each.pages) for each in parts])
    weights[listing.pages == page] = 0  # the query page itself lists its same-name page
    begin = len(parents.pages)
    for each in parts[1:]:  # a list that has both counts for the query page alone
        end = begin + len(each.pages)
        weights[begin:end][is_one_of(each.pages, listing.pages[:begin])] = 0
        begin = end
    weights[~view.originals(listing)] = 0
    counted = weights > 0
    credit = coherence(listing, counted, view.graph.in_degree, view.graph.facts.lists)
    mean = float(credit[counted].mean()) if counted.any() else 1.0
    return Around(page, parents, listing, weights * credit, mean, children, spouses, one_site, walked)


def join_parents(parts: list[Parents]) -> Parents:
    """Several pages' parents as those of the first."""
    if len(parts) == 1:
        return parts[0]
    lengths = [int(each.starts[-1]) for each in parts]
    shifted = list(zip(parts, np.cumsum([0, *lengths[:-1]]).tolist(), strict=True))
    starts = np.append(np.concatenate([each.starts[:-1] + first for each, first in shifted]), sum(lengths))
    places = np.concatenate([each.places + first for each, first in shifted])
    pages, whole = (
        np.concatenate(column) for column in zip(*((each.pages, each.whole) for each in parts), strict=True)
    )
    links = ((each.targets[:n], each.attributes[:n]) for each, n in zip(parts, lengths, strict=True))
    return Parents(*parts[0][:2], pages, starts, places, whole, *map(np.concatenate, zip(*links, strict=True)))


def add_links(web: Web, view: GraphView, found: Blend, row: int, own: NDArray[np.bool_], params: Params) -> None:
    """Set the parts by links, and by links to same-name pages, for one query page; the pages that are `own` get 0."""
    graph, merged, numbered, around = view.graph, found.pages, found.numbered, found.around[row]
    listing, named = around.listing, found.parts[NAME_PART, row]
    units = listing.pages if around.one_site else view.units_of(listing.pages)
    groups = np.unique(units, return_inverse=True)[1].astype(np.int32)
    totals = np.zeros((2, len(merged.pages)))
    candidates = kernels.Candidates(numbered.set, merged.number)
    order, degrees = np.argsort(groups, kind="stable"), graph.out_degree[listing.pages]
    parents = kernels.ParentWeights(order, groups, around.weights, degrees, params.near, params.elsewhere)
    kernels.add_together(listing, parents, graph.links.repeats, view.refused, candidates, totals)
    totals[:, own] = 0
    in_section, shared = totals[kernels.IN_SECTION], totals[kernels.ON_PAGE]
    found.in_section.append(in_section)
    in_links = graph.in_degree[merged.pages].astype(np.float64)
    by_chance = in_links * (in_section.sum() / max(1, len(graph.links)))
    listed = np.maximum(in_section - by_chance, 0.0) * popularity(graph.in_degree, merged.pages, around, params)
    links = listed / np.sqrt(max(float(listed.max(initial=0)), MIN_SCORE))
    neighbours = np.sqrt(in_links + graph.out_degree[merged.pages] + 2)
    shared = linked(view, found, around, shared) / neighbours
    shared[own] = 0
    links += shared if around.walked is None else further(view, found, around, shared, neighbours, params)
    links[own] = 0
    found.parts[LINK_PART, row] = links
    if web.vectors is not None and params.names:
        kernels.add_same_name(web.vectors.same_name, merged.pages, candidates, in_section, named)
        named[own] = 0
        named *= TUNABLES.same_name / max(float(named.max(initial=0)), MIN_SCORE)


def linked(view: GraphView, found: Blend, around: Around, shared: Values) -> Values:
    """What candidates share with the query page, by its own size; `shared` has what parents without sections give."""
    graph, page, children = view.graph, around.page, around.children
    own_in, own_out = rarity(graph.in_degree[page]), rarity(graph.out_degree[page])
    weights = rarity(graph.in_degree[children])
    if not around.one_site:
        weights *= site_weights(view, page, children)
    kernels.add_shared(around.spouses, weights, kernels.Candidates(found.numbered.set, found.pages.number), shared)
    pages = np.unique(np.concatenate((around.parents.pages, children)))
    to_page, from_page = np.isin(pages, around.parents.pages), np.isin(pages, children)
    direct = to_page * (rarity(graph.out_degree[pages]) + own_in)
    direct += from_page * (rarity(graph.in_degree[pages]) + own_out)
    direct *= TUNABLES.direct * (1 + (to_page & from_page))
    if not around.one_site:
        direct *= site_weights(view, page, pages)
    strongest = np.zeros(len(shared))  # of near-duplicates
    np.maximum.at(strongest, found.pages.number[found.numbered.find(pages)], direct)
    listing = around.weights * rarity(graph.out_degree[around.listing.pages])
    size = float(listing.sum() + weights.sum()) + own_in + own_out
    neighbours = np.count_nonzero(around.weights) + len(children) + 2
    return np.asarray((shared + strongest) * (np.sqrt(neighbours) / size))


def further(
    view: GraphView, found: Blend, around: Around, shared: Values, neighbours: Values, params: Params
) -> Values:
    """`shared`, with what a walk from the page and the best candidates say of all; its maximum stays."""
    merged, candidates = found.pages, kernels.Candidates(found.numbered.set, found.pages.number)
    most = float(shared.max(initial=0))
    if around.walked is None or not most:
        return shared
    visits, through = np.zeros((2, len(shared)))
    np.maximum.at(visits, merged.number[found.numbered.find(around.walked.pages)], around.walked.ranks)
    visits[view.are_seeds(merged.pages, [one.page for one in found.around])] = 0
    scores = shared + of_height(visits / neighbours, params.walk * most)
    alike, others = np.round(scores / most, TUNABLES.digits), TUNABLES.best_pages + 1
    best = np.flatnonzero(alike > (np.partition(alike, -others)[-others] if len(alike) >= others else 0))
    weights = scores[best] / neighbours[best]
    for lists, read in ((view.graph.out, view.chosen_parents), (view.graph.into, view.children_of)):
        pages = [read(page, TUNABLES.best_links) for page in merged.pages[best].tolist()]
        owners = np.repeat(np.arange(len(best)), [len(each) for each in pages])
        linkers = kernels.Linkers(np.concatenate([NO_PAGES, *pages]), owners, best, weights)
        view.check(kernels.add_through(lists, linkers, TUNABLES.max_linker_links, candidates, through))
    through *= scores > 0
    scores += of_height(through / neighbours, params.best * most)
    return of_height(scores, most)


def of_height(values: Values, height: float) -> Values:
    """The values in proportion, the largest of this height."""
    return values * (height / max(float(values.max(initial=0)), MIN_SCORE))


def rarity(links: Any) -> Any:
    """The weight of one of this many links."""
    return 1 / np.log(2.0 + links)


def site_weights(view: GraphView, page: int, others: Pages) -> Values:
    """The weight of each parent or child: less on the site of the query page."""
    if view.switches.unit == "none":
        return np.ones(len(others))
    units = view.units_of(np.append(others, np.uint32(page)))
    return np.where(units[:-1] == units[-1], TUNABLES.own_site, 1.0)


def popularity(in_degree: Pages, pages: Pages, around: Around, params: Params) -> Values:
    """In-links multiply the parts by sections by this factor: by 1 where one site links only to itself."""
    if around.one_site:
        return np.ones(len(pages))
    return np.asarray(np.maximum(1, in_degree[pages]).astype(np.float64) ** params.popularity)


def add_words(vectors: Vectors, in_degree: Pages, around: Around, pages: Pages, parts: Values, params: Params) -> None:
    """Set the part by similar text and, for the best candidates, that by context words."""
    page = around.page
    if params.words:
        weight = params.words + TUNABLES.text * min(TUNABLES.max_text_words, int(vectors.text_words[page])) ** 2
        parts[TEXT_PART] = weight * vectors.cosines(page, pages)
    if params.context:
        scores = np.round(parts[LINK_PART] + parts[NAME_PART] + parts[TEXT_PART], TUNABLES.digits)
        last = max(0, len(pages) - TUNABLES.context_pages)
        best = np.flatnonzero(scores >= np.partition(scores, last)[last]) if last else np.arange(len(pages))
        cosines = vectors.cosines(page, pages[best], context=True)
        weight = params.context * around.coherence
        parts[CONTEXT_PART, best] = weight * cosines * popularity(in_degree, pages[best], around, params)


def nearby_addresses(view: GraphView, around: Sequence[Around]) -> Blend:
    """Without any other candidate: the nearest addresses on the host, by the part of the path that they share."""
    graph, hosts, near = view.graph, view.graph.units("host"), set[int]()
    for one in around:
        first, last = one.page - TUNABLES.nearby_addresses, one.page + TUNABLES.nearby_addresses
        beside = range(max(0, first), min(len(graph), last + 1))
        near.update(page for page in beside if hosts[page] == hosts[one.page] and not view.refuses(page))
    near -= {page for page in near if graph.alias_target(page) != page} | {one.page for one in around}
    merged = view.merge(np.array(sorted(near), np.uint32))
    found = Blend(merged, Numbered(0), around, np.zeros((5, len(around), len(merged.pages))))
    paths = [graph.canonical(page).split("/") for page in merged.pages.tolist()]
    for row, one in enumerate(around):
        own = graph.canonical(one.page).split("/")
        pairs = (zip(own, path, strict=False) for path in paths)
        shared = [len(list(takewhile(lambda parts: parts[0] == parts[1], each))) for each in pairs]
        found.parts[PLACE_PART, row] = TUNABLES.same_host / len(own) * np.array(shared, np.float64)
    return found


# ------------------------------------------------------------------------------------------------------- the evidence


@dataclass(frozen=True)
class AutoEvidence:
    """Finds the evidence for results: each part of a score with what it was computed from, the largest part first."""

    web: Web
    view: GraphView
    blend: Blend
    params: Params

    def __call__(self, pages: Pages) -> list[list[Evidence]]:
        """The evidence for each of some results, for each query page the largest part first."""
        blend = self.blend
        parents = [one.parents for one in blend.around]
        links = LinkEvidence(self.view, parents, self.params.children, kernels.MAX_REPEATS)(pages)
        for page, each in zip(pages.tolist(), links, strict=True):
            if not each:
                each += self._paths(page)
        places = find_places(blend.pages.pages, np.ascontiguousarray(pages, np.uint32))
        rows, links_only = [], np.ones(len(pages), np.bool_)
        for row, one in enumerate(blend.around):
            found, only = self._about(row, pages, places)
            rows.append(for_query(found, one.page, len(blend.around)))
            links_only &= only
        joined: list[list[Evidence]] = []
        for only, by_links, *parts in zip(links_only, links, *rows, strict=True):
            some = [each for part in parts for each in part]
            first = next((at for at, each in enumerate(some) if isinstance(each, kinds.ByLinks)), None)
            if first is not None:
                some[first:first] = by_links
            joined.append(by_links if only else some)
        return joined

    def _paths(self, page: int) -> Iterator[Evidence]:
        """How a walk from the first query page that can reach a page does so."""
        for one in self.blend.around:
            if one.walked is not None and page in one.walked.pages:
                path = kinds.Path(pages=tuple(one.walked.path(page)))
                yield from for_query([[path]], one.page, len(self.blend.around))[0]
                return

    def _about(self, row: int, pages: Pages, places: NDArray[np.int64]) -> tuple[list[list[Evidence]], list[bool]]:
        """The evidence of all parts for one query page; and for which results links are the only evidence."""
        web, blend, around = self.web, self.blend, self.blend.around[row]
        vectors, hosts = web.vectors, web.graph.units("host")
        same_name, through = set(same_name_pages(web, around.page, self.params)[0]), self._listed_with(around, pages)
        text = vectors.shared_terms(around.page, pages) if vectors is not None else []
        context = vectors.shared_terms(around.page, pages, context=True) if vectors is not None else []
        found, links_only = list[list[Evidence]](), [True] * len(pages)
        for i, (page, place) in enumerate(zip(pages.tolist(), places.tolist(), strict=True)):
            if place < 0:
                found.append([])
                continue
            values = blend.parts[:, row, place].tolist()
            links, named, words, by_context, by_place = values
            total = max(links + named + words + by_context + by_place, MIN_SCORE)
            shares = [round(value / total, TUNABLES.share_digits) for value in values]
            names: list[Evidence] = [kinds.SameName()] if page in same_name else []
            if not names and page in through:
                names = [kinds.ListedWithSameName(through=through[page])]
            address: list[Evidence] = [kinds.SameHost(share=1.0)] if by_place and by_place == total else []
            if by_place and not address:
                if hosts[page] == hosts[around.page]:
                    address.append(kinds.SameHost(share=round(TUNABLES.same_host / total, TUNABLES.share_digits)))
                if vectors is not None and vectors.home[page] == 1:
                    address.append(kinds.HomePage(share=round(TUNABLES.home_page / total, TUNABLES.share_digits)))
            by_links = links > TUNABLES.max_link_share * (total - by_place)
            links_only[i] = by_links and not (names or address or named)
            parts: list[tuple[float, list[Evidence]]] = [(links, [kinds.ByLinks(share=shares[LINK_PART]), *names])]
            if named:
                parts.append((named, self._same_name_listed(row, page, place, shares[NAME_PART])))
            if vectors is not None and (not by_links or names):
                if (shared := text[i]).number:
                    of, terms = vectors.terms(around.page), named_terms(vectors, shared)
                    parts.append(
                        (words, [kinds.SimilarText(terms=terms, shared=shared.number, of=of, share=shares[TEXT_PART])])
                    )
                if context[i].number:
                    terms = named_terms(vectors, context[i])
                    parts.append((by_context, [kinds.ContextWords(terms=terms, share=shares[CONTEXT_PART])]))
            parts.sort(key=lambda part: -part[0])
            found.append([each for value, some in parts if value > 0 for each in some] + address)
        return found, links_only

    def _listed_with(self, around: Around, pages: Pages) -> dict[int, int]:
        """Results that a list of a same-name page has, with that page: the first such list that counts."""
        listing, first = around.listing, len(around.parents.pages)
        if first == len(listing.pages):
            return {}
        begin, half = int(listing.starts[first]), listing.window // 2
        hits = begin + np.flatnonzero(np.isin(listing.targets[begin : int(listing.starts[-1])], pages))
        owners = np.searchsorted(listing.starts, hits, "right") - 1
        lengths = listing.starts[owners + 1] - listing.starts[owners]
        seen = np.abs(hits - listing.places[owners]) <= half if listing.window else np.ones(len(hits), np.bool_)
        counted = (around.weights[owners] > 0) & (seen | (lengths <= listing.window + 1))
        found: dict[int, int] = {}
        for hit, owner in zip(hits[counted].tolist(), owners[counted].tolist(), strict=True):
            found.setdefault(int(listing.targets[hit]), int(listing.targets[listing.places[owner]]))
        return found

    def _same_name_listed(self, row: int, page: int, place: int, share: float) -> list[Evidence]:
        """The first same-name page of a result that is listed with the query page."""
        blend, vectors = self.blend, self.web.vectors
        others = vectors.same_name_pages(page)[0] if vectors is not None else NO_PAGES
        for other, number in zip(others.tolist(), blend.numbered.find(others).tolist(), strict=True):
            its = int(blend.pages.number[number]) if number >= 0 else place
            if its != place and blend.in_section[row][its] > 0:
                return [kinds.SameNameListed(through=other, share=share)]
        return []


def named_terms(vectors: Vectors, shared: SharedTerms) -> tuple[str, ...]:
    """The terms that count most."""
    return tuple([vectors.words[number] for number in shared.terms[: TUNABLES.named_words]])
