"""How alike pages are by their links: in sections, where somebody sorted the links, and else as a whole.

methods/auto.py has the formulas; this file has the parts `listed` and `linked` of its scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import all_blocks
from cocite.kernels.related import blend as kernels
from cocite.kernels.related.blend import Spouses
from cocite.kernels.related.neighbourhood import Parents
from cocite.parameters import parameter
from cocite.related.neighbourhood.scores import MIN_SCORE, Values
from cocite.related.neighbourhood.view import GraphView, Numbered, Pages, Switches, is_one_of

DIRECT = 0.25
"""A link from one page to the other, compared with a shared neighbour."""
MAX_BEST_LINKS = 100
"""Parents and children of each of the best pages that count, and links of such a parent."""
MAX_LINKER_LINKS = 1000
"""A shared child with more in-links doesn't count: everybody links there."""
SCORE_DIGITS = 6
"""Scores that differ by less are equal."""


@dataclass(frozen=True, kw_only=True)
class LikenessParams(Switches):
    """What is read around a page, and the weight of each kind of link."""

    parents: int = parameter(2000, "Maximum number of parents, chosen by hash", minimum=0)
    window: int = parameter(2000, "Links of a parent that count, around its link to the page (0: all)", minimum=0)
    children: int = parameter(100, "Maximum number of children, the first", minimum=0, maximum=100_000)
    elsewhere: float = parameter(0.1, "Weight of a link in another section of the same page", minimum=0, maximum=100)
    near: float = parameter(0.12, "Weight of being near each other in a section", minimum=0, maximum=100)
    best: int = parameter(5, "Best pages: what is like them counts half, where no section lists the page", minimum=0,
                          maximum=100)  # fmt: skip
    popularity: float = parameter(0.18, "Exponent of in-links that multiplies the section part", minimum=0, maximum=10)


class Limits(NamedTuple):
    """How much is read around a page."""

    parents: int
    window: int
    children: int


class Around(NamedTuple):
    """The parents and children of one page."""

    page: int
    parents: Parents
    listing: Parents  # its parents, and those of its same-name pages
    weights: Values  # of each page of `listing`
    children: Pages
    one_site: bool  # the page and all its parents are on one site, which therefore doesn't matter


class Alike(NamedTuple):
    """Pages that are like a page by their links; near-duplicates are merged."""

    pages: Pages
    in_section: Values  # by common sections
    values: Values
    best: Sequence[tuple[int, "Alike"]] = ()  # the best pages, where no section lists the page, and what is like them

    def value_of(self, page: int) -> float:
        """How much a page is like it."""
        return float(self.values[self.pages == page].sum())


def read_around(view: GraphView, page: int, names: dict[int, float], limits: Limits) -> Around:
    """Read the parents and children of a page, and the parents of its same-name pages with their weights."""
    parts = [view.parents_of(each, limits.parents, limits.window, sections=True) for each in (page, *names)]
    parents, listing = parts[0], join_parents(parts)
    units = view.units_of(np.append(parents.pages, np.uint32(page)))
    one_site = len(units) > 1 and bool((units == units[-1]).all())
    weights = np.repeat([1.0, *names.values()], [len(each.pages) for each in parts])
    weights[listing.pages == page] = 0  # the page itself lists its same-name page
    begin = len(parents.pages)
    for each in parts[1:]:  # a list that has both counts for the page alone
        end = begin + len(each.pages)
        weights[begin:end][is_one_of(each.pages, listing.pages[:begin])] = 0
        begin = end
    return Around(page, parents, listing, weights, view.children_of(page, limits.children), one_site)


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


def alike_pages(view: GraphView, around: Around, seeds: Sequence[int], params: LikenessParams) -> Alike:
    """The pages that are like a page by its links and, where no section lists it, those that are like the best ones."""
    found = first_step(view, around, seeds, params)
    if not params.best or all_blocks(around.parents.attributes[around.parents.places]).any():
        return found
    values = np.round(found.values / max(float(found.values.max(initial=0)), MIN_SCORE), SCORE_DIGITS)
    others = params.best + 1
    some = np.flatnonzero(values > (np.partition(values, -others)[-others] if len(values) >= others else 0))
    if not len(some):  # too many are equally good
        return found
    limits = Limits(MAX_BEST_LINKS, MAX_BEST_LINKS, MAX_BEST_LINKS)
    best = [
        (page, first_step(view, read_around(view, page, {}, limits), [*seeds, page], params))
        for page in found.pages[some].tolist()
    ]
    return second_step(found, some, best)


def second_step(found: Alike, some: NDArray[np.int64], best: Sequence[tuple[int, Alike]]) -> Alike:
    """The mean of what is like the page, and of what is like the best pages by how much these are like it.

    How much a page is like itself says nothing: for one of the best pages the others count, if there are any.
    """
    numbered = Numbered(sum(len(each.pages) for each in (found, *(of for _, of in best))), found.pages)
    for _, of in best:
        numbered.add(of.pages)
    known, weights = len(found.pages), found.values[some]
    in_section, values, through = np.zeros((3, numbered.count))
    in_section[:known], values[:known] = found.in_section, found.values
    for weight, (_, of) in zip(weights, best, strict=True):
        through[numbered.find(of.pages)] += weight * of.values
    total = np.full(numbered.count, weights.sum())
    if len(some) > 1:
        total[some] -= weights
    else:
        through[some] = weights**2
    values += through / np.maximum(total, MIN_SCORE)
    return Alike(numbered.pages, in_section, values / 2, best)


def first_step(view: GraphView, around: Around, seeds: Sequence[int], params: LikenessParams) -> Alike:
    """The pages that share parents or children with a page, or are linked with it; `seeds` get 0."""
    graph, listing = view.graph, around.listing
    numbered, spouses = number_around(view, around)
    merged = view.merge(numbered.pages)
    candidates = kernels.Candidates(numbered.set, merged.number)
    groups, _ = view.group(listing.pages, units=not around.one_site)
    totals = np.zeros((2, len(merged.pages)))
    order, degrees = np.argsort(groups, kind="stable"), graph.out_degree[listing.pages]
    weights = kernels.ParentWeights(order, groups, around.weights, degrees, params.near, params.elsewhere)
    kernels.add_together(listing, weights, graph.links.repeats, view.refused, candidates, totals)
    own = view.are_seeds(merged.pages, seeds)
    totals[:, own] = 0
    in_section, shared = totals[kernels.IN_SECTION], totals[kernels.ON_PAGE]
    in_links = graph.in_degree[merged.pages].astype(np.float64)
    by_chance = in_links * (in_section.sum() / max(1, len(graph.links)))
    listed = np.maximum(in_section - by_chance, 0.0) * popularity(graph.in_degree, merged.pages, around, params)
    kernels.add_shared(spouses, rarity(graph.in_degree[around.children]), candidates, shared)
    pages, direct = linked_directly(view, around)
    strongest = np.zeros(len(shared))  # of near-duplicates
    np.maximum.at(strongest, merged.number[numbered.find(pages)], direct)
    neighbours = in_links + graph.out_degree[merged.pages] + 2
    values = listed / np.sqrt(max(float(listed.max(initial=0)), MIN_SCORE))
    values += (shared + strongest) * size_factor(view, around) / np.sqrt(neighbours)
    values[own] = 0
    return Alike(merged.pages, in_section, values)


def number_around(view: GraphView, around: Around) -> tuple[Numbered, Spouses]:
    """Number the siblings, parents, children and spouses of a page."""
    graph, listing, children = view.graph, around.listing, around.children
    room = int(np.minimum(graph.in_degree[children], MAX_LINKER_LINKS).sum(dtype=np.int64))
    numbered = Numbered(listing.max_siblings + len(listing.pages) + len(children) + room)
    numbered.add_windows(listing)
    numbered.add(around.parents.pages)
    numbered.add(children)
    spouses = Spouses(np.zeros(len(children) + 1, np.int64), np.empty(room, np.uint32))
    count = kernels.read_spouses(
        view.out, graph.into, children, MAX_LINKER_LINKS, around.page, view.refused, spouses,
        (numbered.set, numbered.count),
    )  # fmt: skip
    view.check(count)
    numbered.count = int(count)
    return numbered, spouses


def linked_directly(view: GraphView, around: Around) -> tuple[Pages, Values]:
    """The parents and children of a page, and what the links between them and the page give."""
    graph, page, parents, children = view.graph, around.page, around.parents.pages, around.children
    pages = np.unique(np.concatenate((parents, children)))
    into = np.isin(pages, parents) * (rarity(graph.out_degree[pages]) + rarity(graph.in_degree[page]))
    out = np.isin(pages, children) * (rarity(graph.in_degree[pages]) + rarity(graph.out_degree[page]))
    return pages, DIRECT * (into + out)


def size_factor(view: GraphView, around: Around) -> float:
    """√n(u) / size(u) of a page, for what was read of it."""
    graph, listing, children = view.graph, around.listing.pages, around.children
    size = float((around.weights * rarity(graph.out_degree[listing])).sum() + rarity(graph.in_degree[children]).sum())
    size += float(rarity(graph.in_degree[around.page]) + rarity(graph.out_degree[around.page]))
    return float(np.sqrt(np.count_nonzero(around.weights) + len(children) + 2)) / size


def rarity(links: Any) -> Any:
    """The weight of one of this many links."""
    return 1 / np.log(2.0 + links)


def popularity(in_degree: Pages, pages: Pages, around: Around, params: LikenessParams) -> Values:
    """In-links multiply the parts by sections by this factor: by 1 where one site links only to itself."""
    if around.one_site:
        return np.ones(len(pages))
    return np.asarray(np.maximum(1, in_degree[pages]).astype(np.float64) ** params.popularity)
