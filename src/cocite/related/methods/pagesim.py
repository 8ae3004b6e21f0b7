"""PageSim: pages are similar if important pages hand much of their importance on to both (Lin, King & Lyu 2006).

Every page i hands its PageRank on along links, divided evenly at each page and decayed by d at each step:

    PG(i, v) = Σ over paths p from i to v of d^|p| · PR(i) / Π |O(x)| over all pages x of p but v,   PG(i, i) = PR(i)
    PS(u, v) = Σ over pages i of min(PG(i, u), PG(i, v))² / max(PG(i, u), PG(i, v))

d = 0.8. A path visits no page twice and has at most r = 3 links, as the paper prunes. PageRank is that of Brin & Page,
PR(v) = (1 - δ) + δ·Σ PR(q)/|O(q)|, δ = 0.85: pages without links lose their share rather than sharing it with all, so
that far parts of the web do not matter.

Decided: d counts at every step, since a page that was handed something is said to hand it on likewise.

Of a store of up to `pages` pages everything is worked out exactly; of a larger one as many pages around the query page
(`neighbourhood/subweb.py`) are the web, with degrees as in the whole store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.parameters import parameter
from cocite.related.neighbourhood.pairs import Matrix, shares
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.several import Found, join
from cocite.related.neighbourhood.subweb import Links, Subweb, solved
from cocite.web import Web

ROUNDS = 200
CLOSE = 1e-12


@dataclass(frozen=True, kw_only=True)
class Params:
    """d, r, δ, and how much of the web."""

    decay: float = parameter(0.8, "d: what is handed on at every step", minimum=0, maximum=1)
    radius: int = parameter(3, "r: links of a path at most", minimum=1, maximum=3)
    damping: float = parameter(0.85, "δ: of PageRank", minimum=0, maximum=0.99)
    pages: int = parameter(1000, "so many pages around the query page in a larger store", minimum=2, maximum=5000)


class Handed(NamedTuple):
    """PG: what the page of each row has from the page of each column."""

    rows: Matrix


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by PageSim."""
    around, handed = solved(web.graph, seeds, params.pages, params, lambda part: Handed(hand_on(part, params).T.copy()))

    def find(seed: int) -> Found:
        own = handed.rows[around.place(seed)]
        return Found(around.pages, _similar(own, handed.rows), lambda page: _path(around, handed.rows, seed, page))

    return join(seeds, find, around.facts)


def _similar(own: NDArray[np.float64], rows: Matrix) -> NDArray[np.float64]:
    given = np.flatnonzero(own > 0)
    low, high = np.minimum(own[given], rows[:, given]), np.maximum(own[given], rows[:, given])
    found: NDArray[np.float64] = (low * low / high).sum(axis=1)
    return found


def hand_on(around: Subweb, params: Params) -> Matrix:
    """PG(i, v) of all pairs: paths of up to three links are walks, less those that visit a page twice."""
    count = len(around)
    weights = shares(around.out, around.out_degree)
    step = csr_array((weights, around.out.links, around.out.starts), shape=(count, count))
    importance = page_rank(step, params.damping)
    one = step.toarray() * params.decay
    found = one.copy()
    if params.radius > 1:
        two = params.decay * (step @ one)
        back = np.diag(two).copy()  # there and back again
        found += two
        if params.radius > 2:
            walks = params.decay * (step @ two)
            paths = walks - back[:, None] * one - one * back[None, :] + one * one * one.T
            found += np.where(paths > CLOSE * walks, paths, 0.0)  # below, nothing but rounding is left
    np.fill_diagonal(found, 1.0)
    return np.asarray(found * importance[:, None])


def page_rank(step: Any, damping: float) -> NDArray[np.float64]:
    """PR(v) = (1 - δ) + δ·Σ PR(q)/|O(q)|."""
    found = np.ones(step.shape[0])
    turned = step.T.tocsr()
    for _ in range(ROUNDS):
        fresh = (1 - damping) + damping * (turned @ found)
        change = float(np.abs(fresh - found).max(initial=0.0))
        found = fresh
        if change < CLOSE:
            break
    return found


def _path(around: Subweb, rows: Matrix, seed: int, page: int) -> list[int]:
    """From the query page up to the page that gives most to both, and down to the other."""
    a, b = around.place(seed), around.place(page)
    low, high = np.minimum(rows[a], rows[b]), np.maximum(rows[a], rows[b])
    giver = int(np.divide(low * low, high, out=np.zeros(len(low)), where=high > 0).argmax())
    way = _down(around.out, giver, a)[::-1] + _down(around.out, giver, b)[1:]
    return [int(around.pages[at]) for at in way]


def _down(links: Links, first: int, last: int) -> list[int]:
    """A shortest way along links."""
    before = {first: first}
    ring = [first]
    while ring and last not in before:
        fresh = []
        for at in ring:
            for child in links.of(at).tolist():
                if child not in before:
                    before[child] = at
                    fresh.append(child)
        ring = fresh
    way = [last]
    while way[-1] != first:
        way.append(before[way[-1]])
    return way[::-1]
