"""Cocitation: pages that are linked beside the query page (Dean & Henzinger 1999, §2.2).

Up to B parents of the page are chosen. The links of each within BF/2 before and BF/2 after its link to the page are the
siblings S. The score of a sibling is the number of chosen parents that link to it, from anywhere on the page. If fewer
than 15 siblings are cocited at least twice, the address is chopped.

With a `unit` other than none, parents on one unit count as one; near-duplicate parents and siblings always do, unless
`merge` is off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related import counting
from cocite.parameters import parameter
from cocite.related.neighbourhood.clean import Merged, group, merge, near_duplicates, representatives
from cocite.related.neighbourhood.gather import (
    Numbered,
    Parents,
    chosen_only,
    parents_of,
    parents_to_choose_from,
    sound,
)
from cocite.related.neighbourhood.link_evidence import LinkEvidence
from cocite.related.neighbourhood.scores import LEAST, Best, Scores, rounded
from cocite.related.neighbourhood.start import begin
from cocite.related.neighbourhood.view import NO_PAGES, UNITS, Pages, Switches, View, is_one_of
from cocite.web import Web

ENOUGH, TWICE = 15, 2
LONG = 1e6  # a number of more than six digits, which is how many are shown


@dataclass(frozen=True, kw_only=True)
class Params(Switches):
    """B and BF of the paper, and what counts."""

    parents: int = parameter(2000, "B: so many parents at most, chosen by hash", minimum=0)
    window: int = parameter(8, "BF: links of a parent around its link to the page (0: all)", minimum=0)
    unit: str = parameter("none", "parents on one unit count as one", choices=UNITS)


@dataclass(frozen=True)
class Siblings:
    """Siblings of all query pages, and for each query page how many of its parents link to each."""

    pages: Pages
    degrees: NDArray[np.int32]  # a row for each query page
    parents: Sequence[Parents]  # those chosen for each query page
    enough: bool


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Siblings by the number of chosen parents that they share with the query pages."""
    start, siblings = begin(web.graph, seeds, params, lambda view, pages: gather(view, pages, params))
    degrees = siblings.degrees.sum(axis=0, dtype=np.float64)
    return Scores(
        siblings.pages,
        degrees,
        start.used,
        start.never,
        reached=(siblings.degrees > 0).sum(axis=0, dtype=np.int32) if len(start.used) > 1 else None,
        facts={"siblings": len(degrees), "cocited": int(np.count_nonzero(degrees >= TWICE))},
        evidence=LinkEvidence(start.view, start.used, siblings.parents),
    )


def best_of_each(web: Web, pages: Pages, params: Params, k: int) -> Best | None:
    """The k best answers to each of many pages, asked alone and without chopping; None if some link does not count.

    It gives what `relate` gives, and for most pages the way there and back takes longer than the work.
    """
    graph, view = web.graph, View(web.graph, [], params)
    if params.stop or params.stop_degree or not view.plain:
        return None
    pools = [parents_to_choose_from(view, page, params.parents) for page in pages.tolist()]
    starts = np.append(0, np.cumsum([len(pool) for pool in pools], dtype=np.int64))
    found, scores = np.empty(len(pages) * k, np.uint32), np.empty(len(pages) * k)
    counts, twice = np.empty(len(pages), np.int32), np.empty(len(pages), np.int32)
    many = counting.best_cocited(
        view.out, pages, starts, np.concatenate([NO_PAGES, *pools]), params.parents, params.window, view.refused,
        *near_duplicates(view), view.units, graph.in_degree, LEAST, k, found, scores, counts, twice,
    )  # fmt: skip
    sound(view, many)
    scores = scores[:many]
    if scores.max(initial=0.0) >= LONG:
        scores = np.array([rounded(score) for score in scores.tolist()])
    enough = twice >= (ENOUGH if params.chop != "none" else 0)
    return Best(counts, found[:many], scores, enough)


def gather(view: View, pages: Sequence[int], params: Params) -> Siblings:
    """The siblings of pages and their cocitation degrees."""
    found, degrees, parents = _alone(view, pages[0], params) if len(pages) == 1 else _together(view, pages, params)
    twice = (degrees >= TWICE).all(axis=0)
    others = ~is_one_of(found, representatives(view, np.array(pages, np.uint32)))
    return Siblings(found, degrees, parents, int(np.count_nonzero(twice & others)) >= ENOUGH)


def _alone(view: View, page: int, params: Params) -> tuple[Pages, NDArray[np.int32], list[Parents]]:
    """All in one go: for most pages the steps take longer than the work."""
    parents = parents_to_choose_from(view, page, params.parents)
    chosen, found, degrees = counting.cocited(
        view.out, parents, page, params.parents, params.window, view.refused, *near_duplicates(view), view.units
    )
    sound(view, chosen)
    return found, degrees[None, :], [chosen_only(page, parents[:chosen])]


def _together(view: View, pages: Sequence[int], params: Params) -> tuple[Pages, NDArray[np.int32], list[Parents]]:
    """Siblings of all pages, and for each page how many of its parents link to them."""
    parents = [parents_of(view, page, params.parents, params.window) for page in pages]
    siblings = Numbered(sum(each.shown for each in parents))
    for each in parents:
        siblings.add_windows(each)
    merged = merge(view, siblings.pages)
    degrees = np.zeros((len(pages), len(merged.pages)), np.int32)
    for row, each in zip(degrees, parents, strict=True):
        count_parents(view, each, siblings, merged, row)
    return merged.pages, degrees, parents


def count_parents(view: View, parents: Parents, siblings: Numbered, merged: Merged, degrees: NDArray[np.int32]) -> None:
    """How many parents, or groups of parents that count as one, link to each sibling."""
    groups, count = group(view, parents.pages)
    order = np.arange(len(groups)) if count == len(groups) else np.argsort(groups, kind="stable")
    done = counting.count_cited(
        view.out, parents.pages, parents.starts, parents.targets, parents.whole, view.refused, order, groups,
        siblings.pages, merged.number, degrees,
    )  # fmt: skip
    sound(view, done)
