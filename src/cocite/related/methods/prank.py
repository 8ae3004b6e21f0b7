"""P-Rank: pages are similar if similar pages link to them, and if they link to similar pages (Zhao, Han & Sun 2009).

    s(a, b) = λ·C/(|I(a)|·|I(b)|)·Σ s(i, j)  +  (1 - λ)·C/(|O(a)|·|O(b)|)·Σ s(o, p)

over parents i, j and children o, p of the two pages; s(a, a) = 1, and a side on which one page has no links gives 0.
λ = 0.5, C = 0.8; λ = 1 is SimRank.

All pairs are worked out: of a store of up to `pages` pages exactly, of a larger one among as many pages around the
query page (`neighbourhood/subweb.py`), with degrees as in the whole store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cocite.parameters import parameter
from cocite.related.neighbourhood.pairs import Matrix, Rounds, connect, shares
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.several import Found, join
from cocite.related.neighbourhood.subweb import Subweb, solved
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params:
    """λ, C, and how much of the web."""

    balance: float = parameter(0.5, "λ: how much links in count, the rest is for links out", minimum=0, maximum=1)
    decay: float = parameter(0.8, "C: what one step away still counts", minimum=0, maximum=0.99)
    rounds: int = parameter(10, "so many steps away at most", minimum=1, maximum=100)
    pages: int = parameter(1000, "so many pages around the query page in a larger store", minimum=2, maximum=5000)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by P-Rank."""
    around, found = solved(web.graph, seeds, params.pages, params, lambda part: all_pairs(part, params))

    def find(seed: int) -> Found:
        place = around.place(seed)
        sides = [around.into, around.out]
        return Found(around.pages, found[place], lambda page: around.connected(connect, found, sides, seed, page))

    return join(seeds, find, around.facts)


def all_pairs(around: Subweb, params: Params) -> Matrix:
    """P-Rank of all pairs."""
    found, work = np.eye(len(around)), Rounds(len(around))
    sides = [(params.balance, around.into, around.in_degree), (1 - params.balance, around.out, around.out_degree)]
    for _ in range(params.rounds):
        fresh = np.zeros_like(found)
        for part, links, degree in sides:
            if part:
                fresh += part * params.decay * work.spread(links.starts, links.links, shares(links, degree), found)
        np.fill_diagonal(fresh, 1.0)
        found = fresh
    return found
