"""How alike pages are by their links: in sections, where somebody sorted the links, and else as a whole.

methods/auto.py has the formulas; this file has its part `links`, kernels/related/likeness.py computes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cocite.kernels.related import likeness as kernels
from cocite.kernels.related.independence import (
    DEVIATIONS,
    GROUPED,
    MIN_SAMPLE,
    NEAR_DUPLICATES,
    SECTIONS,
    Chance,
)
from cocite.kernels.related.likeness import AroundLimits, LikenessWeb, LinkWeights
from cocite.parameters import parameter
from cocite.related.neighbourhood.view import GraphView, Pages, Switches

DIRECT = 0.25
"""A link from one page to the other, compared with a shared neighbour."""
MAX_LINKER_LINKS = 2000
"""A shared child with more in-links doesn't count: everybody links there."""
MAX_BEST_LINKS = 100
"""Parents and children of each of the best pages that count, and links of such a parent."""
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


def likeness_web(view: GraphView, params: LikenessParams) -> LikenessWeb:
    """What kernels read."""
    counted = view.counted._replace(copies=params.counted_copies)
    near, links = view.near_duplicates, len(view.graph.links)
    numbers, chance = (links, view.in_degree, view.lists, view.votes), Chance(MIN_SAMPLE, DEVIATIONS)
    return LikenessWeb(counted, view.into, near, view.choice, *numbers, chance)


def link_weights(params: LikenessParams) -> LinkWeights:
    """Parameters and constants, as kernels take them."""
    constants = DIRECT, MAX_LINKER_LINKS, MAX_BEST_LINKS
    return LinkWeights(params.near, params.elsewhere, params.popularity, params.best, *constants)


def around_limits(params: LikenessParams) -> AroundLimits:
    """How much is read around a page, as kernels take it."""
    return AroundLimits(params.parents, params.window, params.children)


def most_alike(view: GraphView, best: Pages, pages: Pages, seeds: Sequence[int], params: LikenessParams) -> Pages:
    """For each of some pages the best page that it is most like, or MISSING."""
    own = view.representatives(np.array(seeds, np.uint32))
    state, through = kernels.most_alike(likeness_web(view, params), best, pages, own, link_weights(params))
    view.check(state)
    return np.asarray(through)
