"""P-Rank: pages are similar if similar pages link to them, and if they link to similar pages (Zhao, Han & Sun 2009).

    s(a, b) = λ·C/(|I(a)|·|I(b)|)·Σ s(i, j)  +  (1 - λ)·C/(|O(a)|·|O(b)|)·Σ s(o, p)

over parents i, j and children o, p of the two pages; s(a, a) = 1, and a side on which one page has no links gives 0.
λ = 0.5, C = 0.8; λ = 1 is SimRank.

All pairs are computed: exactly in a store of up to `pages` pages; in a larger one among as many pages around the query
page (`neighbourhood/small_web.py`), with the degrees of the whole store.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cocite.parameters import parameter
from cocite.related.neighbourhood import small_web
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.small_web import Matrix, SmallWeb, SmallWebParams
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params(SmallWebParams):
    """λ, C, and the size of the web."""

    balance: float = parameter(0.5, "λ: weight of in-links; the rest is for out-links", minimum=0, maximum=1)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by P-Rank."""
    around, similar = small_web.solve_around(web, seeds, params, all_pairs)
    sides = [around.into, around.out]
    return small_web.scores_around(
        around, seeds, similar.__getitem__, lambda a, b: small_web.connect(similar, sides, a, b)
    )


def all_pairs(around: SmallWeb, params: Params) -> Matrix:
    """P-Rank of all pairs."""
    similar, spread = np.eye(len(around)), small_web.Spread(len(around))
    sides = [(params.balance, around.into, around.in_degree), (1 - params.balance, around.out, around.out_degree)]
    for _ in range(params.rounds):
        new = np.zeros_like(similar)
        for weight, links, degree in sides:
            if weight:
                new += weight * params.decay * spread(links, links.shares(degree), similar)
        np.fill_diagonal(new, 1.0)
        similar = new
    return similar
