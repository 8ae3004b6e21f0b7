"""Randomized HITS: hubs and authorities of a surfer who follows links both ways (Ng, Zheng & Jordan 2001).

    a(p) = (1 - c) · Σ h(q) / |O(q)| over the pages q that link to p,     + c
    h(p) = (1 - c) · Σ a(q) / |I(q)| over the pages q that p links to,    + c

The surfer alternately follows a link forwards and backwards, or jumps to any page. So a small community can't take all
the weight, as in HITS, and a few changed links change little. The mean is 1. What pages without links to follow hold is
spread evenly, which the paper leaves open.
"""

from dataclasses import dataclass

import numpy as np

from cocite.graph.generation import Progress
from cocite.graph.store import Graph
from cocite.parameters import parameter
from cocite.related.ranks import Iteration, Ranked
from cocite.related.ranks._iteration import Blocks, Mixing, RankWorkers, Watch, equal_values


@dataclass(frozen=True, kw_only=True)
class Params(Iteration):
    """How often the surfer jumps, and which of the two is wanted."""

    jump: float = parameter(0.15, "c: how often the surfer goes to any page instead", minimum=0.001, maximum=0.999)
    of: str = parameter("authorities", "authorities or hubs", choices=("authorities", "hubs"))


def compute(graph: Graph, params: Params, progress: Progress, threads: int) -> Ranked:
    """The authority (or hub) value of every page."""
    if not graph.links:
        return Ranked(equal_values(graph), 0, 0.0, True)
    flow, pages, watch = 1 - params.jump, len(graph), Watch(progress, params.tolerance)
    with RankWorkers(graph, threads) as workers:
        even, hubs, shared = equal_values(graph), np.empty(graph.pages), np.empty(graph.pages)
        authorities = even.copy()
        into, out = Blocks(workers, graph.into), Blocks(workers, graph.out)
        mixing = Mixing(workers, authorities)
        for done in range(1, params.rounds + 1):
            held = workers.share(authorities, graph.in_degree, shared, flow)
            out.add_up(shared, hubs, watch.read)
            hubs += (params.jump + flow * held / pages) * even
            held = workers.share(hubs, graph.out_degree, shared, flow)
            into.add_up(shared, authorities, watch.read)
            authorities += (params.jump + flow * held / pages) * even
            residual = float(np.abs(authorities - mixing.before).sum()) / pages
            watch.changed(residual)
            if residual <= params.tolerance or done == params.rounds:
                break
            mixing.improve(residual)
    return Ranked(hubs if params.of == "hubs" else authorities, done, residual, residual <= params.tolerance)
