"""Cocitation (Dean & Henzinger 1999, §2.2) and proximity, read word by word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

from tests.related.methods.naive_start import Start
from tests.related.methods.naive_web import NaiveWeb, Ranking, Switches, View, rank

MIN_SIBLINGS, MIN_SHARED_PARENTS = 15, 2
"""Cocitation is content with a page that has 15 siblings cocited twice."""


def unmerged(switches: Switches) -> Switches:
    """As published, these methods merge no near-duplicates."""
    return {**switches, "merge": switches.get("merge", True) is True}


def siblings(view: View, seeds: Sequence[int], parents: int, window: int) -> set[int]:
    """S: what the windows of the chosen parents show, of all query pages together."""
    return {
        child
        for page in seeds
        for parent in view.random_parents(page, parents)
        for child in view.window(parent, page, window)
    }


def cocitation_degrees(view: View, seeds: Sequence[int], parents: int, window: int) -> dict[int, list[int]]:
    """For each sibling, and each query page, the number of that page's chosen parents that link to the sibling.

    Parents on one unit, or near-duplicates, are one parent that has the links of all.
    """
    candidates = siblings(view, seeds, parents, window)
    view = view.with_unit(seeds, {parent for page in seeds for parent in view.random_parents(page, parents)})
    degrees = {view.node(page): [0] * len(seeds) for page in candidates}
    for which, page in enumerate(seeds):
        chosen = view.random_parents(page, parents)
        for group in view.groups(chosen, around={page: chosen}):
            linked = {child for parent in group for child in view.children(parent) if child in candidates}
            for sibling in {view.node(child) for child in linked}:
                degrees[sibling][which] += 1
    return degrees


def cocitation(
    web: NaiveWeb,
    seeds: list[int],
    *,
    parents: int = 2000,
    window: int = 8,
    unit: str = "none",
    **switches: Unpack[Switches],
) -> Ranking:
    """Siblings by the number of chosen parents that they share with the query page."""

    def good(view: View, page: int) -> bool:
        degrees = cocitation_degrees(view, [page], parents, window)
        siblings = (degree for sibling, [degree] in degrees.items() if sibling != view.node(page))
        return sum(degree >= MIN_SHARED_PARENTS for degree in siblings) >= MIN_SIBLINGS

    start = Start(web, seeds, unit, unmerged(switches), good)
    degrees = cocitation_degrees(start.view, start.used, parents, window)
    return rank(
        web,
        {sibling: (sum(counts),) for sibling, counts in degrees.items()},
        {sibling: sum(count > 0 for count in counts) for sibling, counts in degrees.items()},
        start.never,
        start.used,
    )


def nearness(view: View, parent: int, page: int, window: int, alpha: float, block_weight: float) -> dict[int, float]:
    """How near to its link to a page a parent's other links are: distance^-alpha, and more in the same block.

    A block of n links adds block_weight / ln(2 + n) to each: the fewer it holds, the more it says about them. What is
    outside the window is not seen.
    """
    shown = {page, *view.window(parent, page, window)}
    links = [link for link in view.links(parent) if link.target in shown]
    at = next(place for place, link in enumerate(links) if link.target == page)
    block = links[at].block
    size = sum(link.block == block for link in links)
    return {
        link.target: abs(place - at) ** -alpha
        + (block_weight / math.log(2 + size) if link.block == block and block >= 0 else 0.0)
        for place, link in enumerate(links)
        if place != at
    }


def proximity(
    web: NaiveWeb,
    seeds: list[int],
    *,
    parents: int = 2000,
    window: int = 2000,
    unit: str = "none",
    alpha: float = 0.81,
    block_weight: float = 10.0,
    popularity: float = 0.0,
    **switches: Unpack[Switches],
) -> Ranking:
    """Siblings by the sum, over the chosen parents, of how near to the query page's link theirs stands.

    Parents on one unit, or near-duplicates, give the best of their values once. The sum is multiplied by the sibling's
    in-degree to the power of `popularity`.
    """
    start = Start(
        web, seeds, unit, unmerged(switches), lambda view, page: bool(siblings(view, [page], parents, window))
    )
    view = start.view
    view = view.with_unit(start.used, {parent for page in start.used for parent in view.random_parents(page, parents)})
    candidates = siblings(view, start.used, parents, window)
    scores = {view.node(page): [0.0] * len(start.used) for page in candidates}
    for which, page in enumerate(start.used):
        chosen = view.random_parents(page, parents)
        for group in view.groups(chosen, around={page: chosen}):
            best: dict[int, float] = {}
            for parent in group:
                for sibling, near in nearness(view, parent, page, window, alpha, block_weight).items():
                    if sibling in candidates:
                        best[view.node(sibling)] = max(near, best.get(view.node(sibling), 0.0))
            for sibling, near in best.items():
                scores[sibling][which] += near
    return rank(
        web,
        {sibling: (sum(parts) * web.in_degree(sibling) ** popularity,) for sibling, parts in scores.items()},
        {sibling: sum(part > 0 for part in parts) for sibling, parts in scores.items()},
        start.never,
        start.used,
    )
