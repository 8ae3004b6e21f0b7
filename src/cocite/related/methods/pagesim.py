"""PageSim: pages are similar if important pages pass much of their importance on to both (Lin, King & Lyu 2006).

Every page i passes its PageRank on along links, divided evenly at each page and decayed by d at each step:

    PG(i, v) = Σ over paths p from i to v of d^|p| · PR(i) / Π |O(x)| over all pages x of p but v,   PG(i, i) = PR(i)
    PS(u, v) = Σ over pages i of min(PG(i, u), PG(i, v))² / max(PG(i, u), PG(i, v))

d = 0.8. A path visits no page twice and has at most r = 3 links, as pruned in the paper. PageRank is that of Brin &
Page, PR(v) = (1 - δ) + δ·Σ PR(q)/|O(q)|, δ = 0.85. Pages without links keep their share rather than giving it to all,
so that distant parts of the web do not matter.

Departure: the paper leaves open where d applies; here it applies at every step.

Computed exactly in a store of up to `pages` pages; in a larger one for as many pages around the query page
(`neighbourhood/small_web.py`), with the degrees of the whole store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cocite.parameters import SERVERS, parameter
from cocite.related.neighbourhood import small_web
from cocite.related.neighbourhood.scores import Scores, Values
from cocite.related.neighbourhood.small_web import Adjacency, Matrix, SmallWeb
from cocite.web import Web

MAX_ROUNDS = 200
ROUNDING_ERROR = 1e-12


@dataclass(frozen=True, kw_only=True)
class Params:
    """d, r, δ, and the size of the web."""

    decay: float = parameter(0.8, "d: decay per step", minimum=0, maximum=1)
    radius: int = parameter(3, "r: maximum length of a path in links", minimum=1, maximum=3)
    damping: float = parameter(0.85, "δ: damping of PageRank", minimum=0, maximum=0.99)
    pages: int = parameter(1000, "Pages around the query page in a larger store", minimum=2, maximum=5000,
                           on={SERVERS: {"maximum": 2000}})  # fmt: skip


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by PageSim."""
    around, received = small_web.solve_around(web, seeds, params, lambda part, given: pass_on(part, given).T.copy())

    def path(a: int, b: int) -> list[int]:
        """From the query page up to the page that gives most to both, and down to the other."""
        low, high = np.minimum(received[a], received[b]), np.maximum(received[a], received[b])
        giver = int(np.divide(low * low, high, out=np.zeros(len(low)), where=high > 0).argmax())
        return shortest_path(around.out, giver, a)[::-1] + shortest_path(around.out, giver, b)[1:]

    return small_web.scores_around(around, seeds, lambda node: similarities(received, node), path)


def similarities(received: Matrix, node: int) -> Values:
    """PS of one page with all; row v of `received` is PG(·, v)."""
    givers = np.flatnonzero(received[node] > 0)
    own, others = received[node, givers], received[:, givers]
    low, high = np.minimum(own, others), np.maximum(own, others)
    found: Values = (low * low / high).sum(axis=1)
    return found


def pass_on(around: SmallWeb, params: Params) -> Matrix:
    """PG(i, v) of all pairs: paths of up to three links are walks minus those that visit a page twice."""
    weights = around.out.shares(around.out_degree)
    step = csr_array((weights, around.out.links, around.out.starts), shape=(len(around), len(around)))
    one = step.toarray() * params.decay
    found = one.copy()
    if params.radius > 1:
        two = params.decay * (step @ one)
        back = np.diag(two).copy()  # to a page and back
        found += two
        if params.radius > 2:
            walks = params.decay * (step @ two)
            paths = walks - back[:, None] * one - one * back[None, :] + one * one * one.T
            found += np.where(paths > ROUNDING_ERROR * walks, paths, 0.0)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found * page_rank(step, params.damping)[:, None])


def page_rank(step: Any, damping: float) -> Values:
    """PR(v) = (1 - δ) + δ·Σ PR(q)/|O(q)|."""
    found, turned = np.ones(step.shape[0]), step.T.tocsr()
    for _ in range(MAX_ROUNDS):
        before, found = found, (1 - damping) + damping * (turned @ found)
        if float(np.abs(found - before).max(initial=0.0)) < ROUNDING_ERROR:
            break
    return found


def shortest_path(links: Adjacency, first: int, last: int) -> list[int]:
    """A shortest path along links."""
    before, queue = {first: first}, [first]
    for node in queue:
        if last in before:
            break
        new = [child for child in links.of(node).tolist() if child not in before]
        before |= dict.fromkeys(new, node)
        queue += new
    path = [last]
    while path[-1] != first:
        path.append(before[path[-1]])
    return path[::-1]
