"""PageRank: a page is important that important pages link to (Brin & Page; 002 §2.1).

    PR(p) = (1 - c) · Σ PR(q) / |O(q)| over the pages q that link to p, + c · E(p)

E is 1 for every page, so the mean page has 1. What pages without links out hold is spread over all pages evenly, which
the paper leaves open. A link counts once however often it is repeated; links of a page to itself do not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocite.graph.generation import Progress, empty_array
from cocite.graph.store import Graph
from cocite.parameters import parameter
from cocite.related.ranks import Iteration, Ranked
from cocite.related.ranks._blocks import work_on
from cocite.related.ranks._surfer import Surfer


@dataclass(frozen=True, kw_only=True)
class Params(Iteration):
    """How often the surfer jumps."""

    jump: float = parameter(0.15, "c: how often the surfer goes to any page instead", minimum=0.001, maximum=0.999)


def compute(graph: Graph, params: Params, progress: Progress, threads: int) -> Ranked:
    """The PageRank of every page."""
    if not graph.pages:
        return Ranked(np.zeros(0), 0, 0.0, True)
    with work_on(graph, threads) as workers:
        surfer = Surfer(workers, graph.into, graph.out_degree, empty_array(np.dtype(np.uint32)), 1 - params.jump)
        return surfer.rank(params.tolerance, params.rounds, progress)
