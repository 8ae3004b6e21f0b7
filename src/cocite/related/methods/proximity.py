"""Proximity: cocitation that counts how near two links are, and whether in one section (after Gipp & Beel 2009).

A parent that links to the page and, d links away, to s, gives s

    d^-alpha + block_weight / ln(2 + n) if both links are in one known section, of n links; else d^-alpha

Parents add up; parents that count as one give their best value once. The sum is multiplied by (in-links of s) to the
power of `popularity`. Only links within `window` links around the page's link count, also for n.

Citation Proximity Analysis has the distance alone; sections, which a reader sees as one list under one heading, are
our addition.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related.cocitation import add_nearness
from cocite.kernels.related.neighbourhood import Parents
from cocite.parameters import parameter
from cocite.related.neighbourhood.scores import LinkEvidence, Scores, begin
from cocite.related.neighbourhood.view import UNITS, GraphView, Pages, Switches, number_siblings
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params(Switches):
    """Limits, and the weights of distance and section."""

    parents: int = parameter(2000, "Maximum number of parents, chosen by hash", minimum=0)
    window: int = parameter(2000, "Links of a parent around its link to the page (0: all)", minimum=0)
    unit: str = parameter("none", "Parents on one unit count as one", choices=UNITS)
    alpha: float = parameter(0.81, "How fast the weight decreases with the distance", minimum=0, maximum=100)
    block_weight: float = parameter(10.0, "Weight of a common section", minimum=0, maximum=1e6)
    popularity: float = parameter(0.0, "Exponent of in-links that multiplies the score", minimum=-10, maximum=10)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Siblings by how near their links are to those of the query pages."""
    start, (pages, rows, parents) = begin(web, seeds, params, lambda view, some: gather(view, some, params))
    values = rows.sum(axis=0)
    if params.popularity:
        values *= web.graph.in_degree[pages].astype(np.float64) ** params.popularity
    return start.scores(pages, values, rows, evidence=LinkEvidence(start.view, parents))


def gather(
    view: GraphView, pages: Sequence[int], params: Params
) -> tuple[tuple[Pages, NDArray[np.float64], list[Parents]], bool]:
    """Siblings, for each query page (row) how near they are to it, its parents; and whether there is any sibling."""
    parents = [view.parents_of(page, params.parents, params.window, sections=True) for page in pages]
    view.choose_unit(pages, [each.pages for each in parents])
    siblings = number_siblings(parents)
    merged = view.merge(siblings.pages)
    rows = np.zeros((len(pages), len(merged.pages)))
    longest = max((int((each.starts[1:] - each.starts[:-1]).max(initial=0)) for each in parents), default=0)
    with np.errstate(divide="ignore"):
        powers = np.arange(longest + 1, dtype=np.float64) ** -params.alpha
    bonuses = params.block_weight / np.log(2 + np.arange(longest + 1, dtype=np.float64))
    for row, each in zip(rows, parents, strict=True):
        groups, _ = view.group_parents(each)
        order = np.argsort(groups, kind="stable")
        add_nearness(each, order, groups, powers, bonuses, siblings.set, merged.number, row)
    return (merged.pages, rows, parents), len(merged.pages) > 0
