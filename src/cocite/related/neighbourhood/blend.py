"""The parts of the default method, each a row of values for every query page; methods/auto.py has the formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related import together
from cocite.parameters import parameter
from cocite.related.neighbourhood.clean import Merged, group, merge, representatives
from cocite.related.neighbourhood.gather import Numbered, Parents, children_of, joined, parents_of, sound
from cocite.related.neighbourhood.scores import LEAST
from cocite.related.neighbourhood.view import Pages, Switches, View, is_one_of
from cocite.web import Web
from cocite.words.vectors import Vectors

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class BlendParams(Switches):
    """Limits, and the weight of each part."""

    parents: int = parameter(2000, "maximum number of parents, chosen by hash", minimum=0)
    window: int = parameter(2000, "links of a parent that count, around its link to the page (0: all)", minimum=0)
    children: int = parameter(100, "maximum number of children, the first ones", minimum=0, maximum=100_000)
    elsewhere: float = parameter(0.1, "weight of a link in another section of the same page", minimum=0, maximum=100)
    near: float = parameter(0.12, "weight of being near each other in a section", minimum=0, maximum=100)
    popularity: float = parameter(0.18, "exponent of in-links that multiplies the section part", minimum=0, maximum=10)
    words: float = parameter(0.7, "weight of similar text", minimum=0, maximum=1000)
    context: float = parameter(0.6, "weight of being listed in sections about the same things", minimum=0, maximum=1000)
    names: float = parameter(0.5, "weight of a link to a same-name page, compared with the page", minimum=0, maximum=1)


@dataclass(frozen=True)
class Weights:
    """Constants that were chosen on some lists and tested on others: docs/decisions/0050."""

    one_way: float = 0.05  # a link from one page to the other
    both_ways: float = 0.9  # added if there are both
    own_site: float = 0.25  # factor for parents and children on the site of the query page
    same_name: float = 0.15  # the most that a page gets for its same-name pages
    same_host: float = 0.25  # lists are often of repositories of one host,
    home_page: float = 0.2  # or of home pages
    text: float = 0.003  # added to the weight of words for the squared number of different words,
    max_text_words: int = 100  # up to this many
    max_child_parents: int = 1000  # children with more parents don't count: everybody links there
    similar_pages: int = 200  # candidates by text alone
    nearby_addresses: int = 10  # before and after a page without any other candidate
    context_pages: int = 250  # candidates whose context words are compared: the best by links and words,
    context_digits: int = 6  # rounded to this many digits


WEIGHTS = Weights()


class Around(NamedTuple):
    """The parents and children of one query page."""

    page: int
    parents: Parents
    listing: Parents  # its parents, and those of its same-name pages
    counts: Values  # the weight of each page of `listing`
    children: Pages
    starts: NDArray[np.int64]  # where each child's other parents begin in `spouses`
    spouses: Pages


@dataclass(frozen=True)
class Blend:
    """Candidates and the parts of their scores, a row for each query page."""

    pages: Merged
    numbered: Numbered
    around: Sequence[Around]
    links: Values
    named: Values  # for links to same-name pages of a candidate
    words: Values
    context: Values
    place: Values
    in_section: list[Values] = field(default_factory=list)  # for each query page: the part by common sections

    @property
    def enough(self) -> bool:
        """Whether there is any candidate."""
        return any(bool((each > 0).any()) for each in (self.links, self.words, self.context))


def blend(web: Web, view: View, pages: Sequence[int], params: BlendParams) -> Blend:
    """The candidates around some pages, and their parts."""
    named = [same_name_pages(web, page, params) for page in pages]
    parents = [
        [parents_of(view, each, params.parents, params.window, blocks=True) for each in (page, *others)]
        for page, (others, _) in zip(pages, named, strict=True)
    ]
    children = [children_of(view, page, params.children) for page in pages]
    similar = [web.vectors.near(page, WEIGHTS.similar_pages) for page in pages] if params.words and web.vectors else []
    room = [np.minimum(web.graph.in_degree[each], WEIGHTS.max_child_parents).sum(dtype=np.int64) for each in children]
    known = sum(len(each) for each in (*children, *similar)) + sum(
        1 + each.shown + len(each.pages) for parts in parents for each in parts
    )
    numbered = Numbered(int(known + sum(room)))
    around = [
        read_around(view, numbered, page, parts, weights, *each)
        for page, parts, (_, weights), *each in zip(pages, parents, named, children, room, strict=True)
    ]
    for each in similar:
        numbered.add(each)
    merged = merge(view, numbered.pages)
    own = is_one_of(merged.pages, representatives(view, np.array(pages, np.uint32)))
    found = Blend(merged, numbered, around, *np.zeros((5, len(pages), len(merged.pages))))
    for row in range(len(around)):
        by_links(web, view, found, row, own, params)
        if web.vectors is not None:
            by_words(web.vectors, web.graph.in_degree, found, row, params)
            found.words[row, own] = found.context[row, own] = 0
            if found.in_section[row].any():
                some = np.flatnonzero(found.links[row] + found.named[row] + found.words[row] + found.context[row])
                found.place[row, some] = by_place(view, web.vectors, merged.pages[some], around[row].page)
    return found if found.enough else by_address(view, around)


def same_name_pages(web: Web, page: int, params: BlendParams) -> tuple[list[int], list[float]]:
    """The same-name pages of a page, and the weight of links to them."""
    if web.vectors is None or not params.names:
        return [], []
    others, cosines = web.vectors.same_name_pages(page)
    return others.tolist(), (params.names * cosines).tolist()


def read_around(
    view: View, numbered: Numbered, page: int, parts: list[Parents], weights: list[float], children: Pages, room: int
) -> Around:
    """Number the siblings, parents, children and spouses of a page; `parts`: parents of it and its same-name pages."""
    parents = parts[0]
    for each in parts:
        numbered.add_windows(each)
    numbered.add(np.array([each.of for each in parts[1:]], np.uint32))
    numbered.add(parents.pages)
    numbered.add(children)
    starts, spouses = np.zeros(len(children) + 1, np.int64), np.empty(int(room), np.uint32)
    room_for = together.SpouseRoom(spouses, starts, numbered.table, numbered.local, numbered.room)
    count = together.read_spouses(
        view.graph.into, view.out, children, WEIGHTS.max_child_parents, page, view.refused, room_for, numbered.count
    )
    sound(view, count)
    numbered.count = int(count)
    listing = joined(parts)
    counts = shares(view, page, listing.pages)
    counts *= np.repeat([1.0, *weights], [len(each.pages) for each in parts])
    counts[listing.pages == page] = 0  # the query page itself lists its same-name page
    for at, each in enumerate(parts[1:], 1):  # a list that has both counts for the query page alone
        begin = sum(len(before.pages) for before in parts[:at])
        counts[begin : begin + len(each.pages)][is_one_of(each.pages, listing.pages[:begin])] = 0
    return Around(page, parents, listing, counts, children, starts, spouses)


def by_links(web: Web, view: View, found: Blend, row: int, own: NDArray[np.bool_], params: BlendParams) -> None:
    """The parts by links, and by links to same-name pages, for one query page; the pages that are `own` get nothing."""
    graph, merged, numbered, around = view.graph, found.pages, found.numbered, found.around[row]
    listing, links, named = around.listing, found.links[row], found.named[row]
    groups, _ = group(view, listing.pages)
    totals = np.zeros((2, len(merged.pages)))
    candidates = together.Candidates(numbered.table, numbered.local, merged.number)
    order, degrees = np.argsort(groups, kind="stable"), graph.out_degree[listing.pages]
    parents = together.ParentWeights(order, groups, around.counts, degrees, params.near, params.elsewhere)
    together.add_together(listing, parents, graph.repeats, view.refused, candidates, totals)
    totals[:, own] = 0
    in_section = totals[together.IN_SECTION]
    found.in_section.append(in_section)
    links += totals[together.ON_PAGE]
    links += in_section * popular(graph.in_degree, merged.pages, params)
    children = around.children
    weights = shares(view, around.page, children) / np.log(2.0 + graph.in_degree[children])
    weights /= np.sqrt(max(1, len(children)))
    together.add_shared(around.starts, around.spouses, weights, candidates, links)
    add_direct(view, found, around, links)
    links[own] = 0
    links /= np.sqrt(max(float(links.max(initial=0)), LEAST))
    if web.vectors is not None and params.names:
        together.add_same_name(web.vectors.same_name, merged.pages, candidates, in_section, named)
        named[own] = 0
        named *= WEIGHTS.same_name / max(float(named.max(initial=0)), LEAST)


def add_direct(view: View, found: Blend, around: Around, links: Values) -> None:
    """Add the weights of links between the query page and others."""
    parents, children = np.unique(around.parents.pages), np.unique(around.children)
    both = np.intersect1d(parents, children, assume_unique=True)
    for pages, weight in ((parents, WEIGHTS.one_way), (children, WEIGHTS.one_way), (both, WEIGHTS.both_ways)):
        numbers = found.numbered.numbers(pages)
        np.add.at(links, found.pages.number[numbers], weight * shares(view, around.page, pages))


def shares(view: View, page: int, others: Pages) -> Values:
    """The weight of each parent or child: less on the site of the query page."""
    if view.switches.unit == "none":
        return np.ones(len(others))
    units = view.units_of(np.append(others, np.uint32(page)))
    return np.where(units[:-1] == units[-1], WEIGHTS.own_site, 1.0)


def popular(in_degree: Pages, pages: Pages, params: BlendParams) -> Values:
    """The factor by which in-links multiply what sections give."""
    return np.asarray(np.maximum(1, in_degree[pages]).astype(np.float64) ** params.popularity)


def by_words(vectors: Vectors, in_degree: Pages, found: Blend, row: int, params: BlendParams) -> None:
    """The part by similar text and, for the best candidates, that by context words."""
    pages, page = found.pages.pages, found.around[row].page
    if params.words:
        weight = params.words + WEIGHTS.text * min(WEIGHTS.max_text_words, int(vectors.text_words[page])) ** 2
        found.words[row] = weight * vectors.cosines(page, pages)
    if params.context:
        scores = np.round(found.links[row] + found.named[row] + found.words[row], WEIGHTS.context_digits)
        last = max(0, len(pages) - WEIGHTS.context_pages)
        best = np.flatnonzero(scores >= np.partition(scores, last)[last]) if last else np.arange(len(pages))
        some = pages[best]
        found.context[row, best] = (
            params.context * vectors.context_cosines(page, some) * popular(in_degree, some, params)
        )


def by_place(view: View, vectors: Vectors, pages: Pages, page: int) -> Values:
    """The part by host, for a query page that sections list."""
    hosts = view.graph.units("host")
    same, home = hosts[pages] == hosts[page], vectors.home[pages] == 1
    return np.asarray(WEIGHTS.same_host * same + WEIGHTS.home_page * home)


def by_address(view: View, around: Sequence[Around]) -> Blend:
    """Without any other candidate: the nearest addresses on the host, by the part of the path that they share."""
    graph, hosts, near = view.graph, view.graph.units("host"), set[int]()
    for one in around:
        first, last = one.page - WEIGHTS.nearby_addresses, one.page + WEIGHTS.nearby_addresses
        beside = range(max(0, first), min(len(graph), last + 1))
        near.update(page for page in beside if hosts[page] == hosts[one.page] and not view.refuses(page))
    near -= {page for page in near if graph.lead(page) != page} | {one.page for one in around}
    merged = merge(view, np.array(sorted(near), np.uint32))
    found = Blend(merged, Numbered(0), around, *np.zeros((5, len(around), len(merged.pages))))
    paths = [graph.canonical(page).split("/") for page in merged.pages.tolist()]
    for row, one in enumerate(around):
        own = graph.canonical(one.page).split("/")
        shared = [
            sum(1 for _ in takewhile(lambda parts: parts[0] == parts[1], zip(own, path, strict=False)))
            for path in paths
        ]
        found.place[row] = WEIGHTS.same_host / len(own) * np.array(shared, np.float64)
    return found
