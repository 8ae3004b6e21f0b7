"""How alike pages are by their links: in sections, where somebody sorted the links, and else as a whole.

methods/auto.py has the formulas; this file has its part `links`, kernels/related/likeness.py computes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cocite.kernels.related import likeness as kernels
from cocite.kernels.related.independence import GROUPED, NEAR_DUPLICATES, SECTIONS
from cocite.kernels.related.likeness import Around, AroundLimits, LikenessWeb, LinkWeights
from cocite.kernels.related.neighbourhood import Parents
from cocite.parameters import parameter
from cocite.related.neighbourhood.scores import Values
from cocite.related.neighbourhood.view import GraphView, Pages, Switches, is_one_of

COPIES = {"none": GROUPED, "lists": NEAR_DUPLICATES, "sections": SECTIONS}


@dataclass(frozen=True, kw_only=True)
class LikenessParams(Switches):
    """How many links are read around a page, and the weight of each kind."""

    parents: int = parameter(2000, "Maximum number of parents, chosen by hash", minimum=0)
    window: int = parameter(2000, "Links of a parent that count, around its link to the page (0: all)", minimum=0)
    children: int = parameter(100, "Maximum number of children, the first", minimum=0, maximum=100_000)
    elsewhere: float = parameter(0.1, "Weight of a link in another section of the same page", minimum=0, maximum=100)
    near: float = parameter(0.12, "Weight of being near each other in a section", minimum=0, maximum=100)
    best: int = parameter(5, "Best pages: what is like them counts half, where no section lists the page", minimum=0,
                          maximum=100)  # fmt: skip
    copies: str = parameter("lists", "Which copies count once: near-duplicates, or all lists with the same section",
                            choices=tuple(COPIES))  # fmt: skip
    popularity: float = parameter(0.18, "Exponent of in-links that multiplies the section part", minimum=0, maximum=10)

    @property
    def counted_copies(self) -> int:
        """Which copies count once, as kernels take it: none where near-duplicates aren't merged."""
        return COPIES[self.copies] if self.merge is True else GROUPED


class Alike(NamedTuple):
    """Pages that are like a page by their links; near-duplicates are merged."""

    pages: Pages
    in_section: Values  # by common sections
    values: Values
    best: Pages  # pages that what is like them counts, too; none where a section lists the page


def likeness_web(view: GraphView, params: LikenessParams) -> LikenessWeb:
    """What kernels read."""
    counted = view.counted._replace(copies=params.counted_copies)
    near, links = view.near_duplicates, len(view.graph.links)
    return LikenessWeb(counted, view.into, near, view.choice, links, view.in_degree, view.lists, view.votes)


def read_around(view: GraphView, page: int, names: dict[int, float], params: LikenessParams) -> Around:
    """Read the parents and children of a page, and the parents of its same-name pages with their weights."""
    around: Around
    web, limits = likeness_web(view, params), AroundLimits(params.parents, params.window, params.children)
    state, around = kernels.read_around(web, page, limits)
    view.check(state)
    if not names:
        return around
    parents = around.parents
    parts = [parents, *(view.parents_of(each, limits.parents, limits.window, sections=True) for each in names)]
    listing = join_parents(parts)
    weights = np.repeat([1.0, *names.values()], [len(each.pages) for each in parts])
    weights[listing.pages == page] = 0  # the page itself lists its same-name page
    begin = len(parents.pages)
    for each in parts[1:]:  # a list that has both counts for the page alone
        end = begin + len(each.pages)
        weights[begin:end][is_one_of(each.pages, listing.pages[:begin])] = 0
        begin = end
    weights, reliability = kernels.weigh_parents(web, listing, weights, len(parents.pages))
    return around._replace(listing=listing, weights=weights, reliability=reliability)


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
    weights = LinkWeights(params.near, params.elsewhere, params.popularity, params.best)
    own = view.representatives(np.array(seeds, np.uint32))
    state, *found = kernels.alike_pages(likeness_web(view, params), around, own, weights)
    view.check(state)
    return Alike(*found)


def most_alike(view: GraphView, best: Pages, pages: Pages, seeds: Sequence[int], params: LikenessParams) -> Pages:
    """For each of some pages the best page that it is most like, or MISSING."""
    weights = LinkWeights(params.near, params.elsewhere, params.popularity, params.best)
    own = view.representatives(np.array(seeds, np.uint32))
    state, through = kernels.most_alike(likeness_web(view, params), best, pages, own, weights)
    view.check(state)
    return np.asarray(through)


def popularity(in_degree: Pages, pages: Pages, around: Around, params: LikenessParams) -> Values:
    """In-links multiply the parts by sections by this factor: by 1 where one site links only to itself."""
    if around.one_site:
        return np.ones(len(pages))
    return np.asarray(np.maximum(1, in_degree[pages]).astype(np.float64) ** params.popularity)
