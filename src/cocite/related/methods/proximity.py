"""Proximity: cocitation that counts how near two links stand, and whether in one block (after Gipp & Beel 2009).

A parent that links to the page and, d links away, to s, gives s

    d^-alpha + block_weight / ln(2 + n) if both links stand in one known block, of n links; else d^-alpha

Parents add up; parents that count as one give their best value once. The sum is multiplied by (links into s) to the
power of `popularity`.
Only what stands within `window` links around the page's link is seen, also for n.

Citation Proximity Analysis has the distance alone; blocks, which a reader sees as one list under one heading, are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related import counting
from cocite.parameters import parameter
from cocite.related.neighbourhood.clean import Merged, group, merge
from cocite.related.neighbourhood.gather import Numbered, Parents, parents_of
from cocite.related.neighbourhood.link_evidence import LinkEvidence
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.start import begin
from cocite.related.neighbourhood.view import UNITS, Switches, View
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params(Switches):
    """Limits, and what distance and block are worth."""

    parents: int = parameter(2000, "so many parents at most, chosen by hash", minimum=0)
    window: int = parameter(2000, "links of a parent that are seen around its link to the page (0: all)", minimum=0)
    unit: str = parameter("none", "parents on one unit count as one", choices=UNITS)
    alpha: float = parameter(0.81, "how fast distance takes away", minimum=0, maximum=100)
    block_weight: float = parameter(10.0, "what a common block is worth", minimum=0, maximum=1e6)
    popularity: float = parameter(0.0, "the power of links in that multiplies the score", minimum=-10, maximum=10)


@dataclass(frozen=True)
class Near:
    """Siblings, and for each query page how near they stand to it."""

    pages: Merged
    parts: NDArray[np.float64]  # a row for each query page
    parents: Sequence[Parents]

    @property
    def enough(self) -> bool:
        """Whether there is any."""
        return len(self.pages.pages) > 0


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Siblings by how near to the query pages' links theirs stand."""
    start, near = begin(web.graph, seeds, params, lambda view, pages: gather(view, pages, params))
    values = near.parts.sum(axis=0)
    if params.popularity:
        values *= web.graph.in_degree[near.pages.pages].astype(np.float64) ** params.popularity
    reached = (near.parts > 0).sum(axis=0, dtype=np.int32) if len(start.used) > 1 else None
    evidence = LinkEvidence(start.view, start.used, near.parents)
    return Scores(near.pages.pages, values, start.used, start.never, reached=reached, evidence=evidence)


def gather(view: View, pages: Sequence[int], params: Params) -> Near:
    """Siblings and nearness, per query page."""
    parents = [parents_of(view, page, params.parents, params.window, blocks=True) for page in pages]
    siblings = Numbered(sum(each.shown for each in parents))
    for each in parents:
        siblings.add_windows(each)
    merged = merge(view, siblings.pages)
    parts = np.zeros((len(pages), len(merged.pages)))
    longest = max((int((each.starts[1:] - each.starts[:-1]).max(initial=0)) for each in parents), default=0)
    with np.errstate(divide="ignore"):
        powers = np.arange(longest + 1, dtype=np.float64) ** -params.alpha
    bonuses = params.block_weight / np.log(2 + np.arange(longest + 1, dtype=np.float64))
    for row, each in zip(parts, parents, strict=True):
        groups, _ = group(view, each.pages)
        counting.add_nearness(
            each.starts, each.places, each.targets, each.attributes, params.window, np.argsort(groups, kind="stable"),
            groups, powers, bonuses, siblings.table, siblings.local, merged.number, row,
        )  # fmt: skip
    return Near(merged, parts, parents)
