"""PageRank: a page is important if important pages link to it (Brin & Page 1998).

    PR(p) = (1 - c) · Σ PR(q) / |O(q)| over the pages q that link to p, + c · E(p)

E is 1 for every page, so the mean is 1. What pages without out-links hold is spread evenly: the paper leaves that open.
A repeated link counts once; links of a page to itself don't count.
"""

from dataclasses import dataclass

import numpy as np

from cocite.graph.generation import Progress
from cocite.graph.store import Graph
from cocite.parameters import parameter
from cocite.related.ranks import Iteration, Ranked
from cocite.related.ranks._iteration import RankWorkers, Surfer, pages_there


@dataclass(frozen=True, kw_only=True)
class Params(Iteration):
    """How often the surfer jumps."""

    jump: float = parameter(0.15, "c: how often the surfer goes to any page instead", minimum=0.001, maximum=0.999)


def compute(graph: Graph, params: Params, progress: Progress, threads: int) -> Ranked:
    """The PageRank of every page."""
    if not len(graph):
        return Ranked(np.zeros(graph.pages), 0, 0.0, True)
    with RankWorkers(graph, threads) as workers:
        return Surfer(workers, graph.into, graph.out_degree, pages_there(graph), 1 - params.jump).rank(params, progress)
