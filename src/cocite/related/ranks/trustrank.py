"""TrustRank: PageRank whose surfer jumps to pages that somebody trusts (Gyöngyi, Garcia-Molina & Pedersen 2004, §5).

    T(p) = (1 - c) · Σ T(q) / |O(q)| over the pages q that link to p, + c · E(p)

E is the same for all seeds and 0 for other pages, and its mean is 1. Good pages rarely link to bad ones, so trust comes
to pages that the seeds lead to, and gets less with every step. A page that no seed leads to has exactly 0. What pages
without out-links hold goes back to the seeds. The paper computes 20 rounds; here they go on until they change little.
"""

from contextlib import suppress
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadParameter
from cocite.graph.generation import Progress, no_progress
from cocite.graph.store import Graph
from cocite.parameters import parameter
from cocite.related.ranks import Iteration, Ranked
from cocite.related.ranks._iteration import RankWorkers, Surfer

Pages = NDArray[np.uint32]
_last: WeakKeyDictionary[Graph, tuple[tuple[str, ...], Pages]] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True)
class Params(Iteration):
    """Which pages are trusted, and how often the surfer goes back to them."""

    seeds: tuple[str, ...] = parameter((), "addresses of pages that are trusted")
    jump: float = parameter(0.15, "c: how often the surfer goes to a seed instead", minimum=0.001, maximum=0.999)


def compute(graph: Graph, params: Params, progress: Progress, threads: int) -> Ranked:
    """The trust of every page."""
    seeds = np.zeros(graph.pages, np.uint32)
    for address in params.seeds:
        with suppress(BadAddress):
            page = graph.get(address)
            seeds[[] if page is None else page] = 1
    if not seeds.any():
        raise BadParameter("The store has none of the trusted pages: give addresses of pages that it has")
    with RankWorkers(graph, threads) as workers:
        surfer = Surfer(workers, graph.into, graph.out_degree, seeds, 1 - params.jump)
        surfer.values[:] = seeds  # pages that no seed leads to stay at 0
        return surfer.rank(params, progress)


def untrusted_pages(graph: Graph, seeds: tuple[str, ...]) -> Pages:
    """The pages without any trust, ascending; those of the last seeds are remembered."""
    known = _last.get(graph)
    if known is None or known[0] != seeds:
        trust = compute(graph, Params(seeds=seeds), no_progress, 1).values
        known = _last[graph] = seeds, np.flatnonzero(trust == 0).astype(np.uint32)
    return known[1]
