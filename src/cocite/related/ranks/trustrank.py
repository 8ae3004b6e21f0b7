"""TrustRank: PageRank whose surfer jumps to pages that somebody trusts (Gyöngyi, Garcia-Molina & Pedersen 2004, §5).

    T(p) = (1 - c) · Σ T(q) / |O(q)| over the pages q that link to p, + c · E(p)

E is the same for all seeds and 0 for other pages, and its mean is 1. Good pages rarely link to bad ones, so trust comes
to pages that the seeds lead to, and gets less with every step. A page that no seed leads to has exactly 0. What pages
without out-links hold goes back to the seeds. The paper computes 20 rounds; here they go on until they change little. A
seed may be a whole site: people trust sites rather than pages.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadParameter
from cocite.graph.generation import Progress, no_progress
from cocite.graph.store import Graph
from cocite.parameters import parameter
from cocite.related.ranks import Iteration, Ranked
from cocite.related.ranks._iteration import RankWorkers, Surfer

CHUNK_PAGES = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Params(Iteration):
    """Which pages are trusted, and how often the surfer goes back to them."""

    seeds: tuple[str, ...] = parameter((), "sites and addresses that are trusted, with all that is under them")
    jump: float = parameter(0.15, "c: how often the surfer goes to a seed instead", minimum=0.001, maximum=0.999)


def compute(graph: Graph, params: Params, progress: Progress, threads: int) -> Ranked:
    """The trust of every page."""
    seeds = np.zeros(graph.pages, np.uint32)
    for address in params.seeds:
        with suppress(BadAddress):
            under, page = graph.names.pages_under(address), graph.get(address)
            seeds[np.fromiter(under, np.int64)] = 1
            seeds[[] if page is None else page] = 1  # a name without a host, or another spelling of an address
    if not seeds.any():
        raise BadParameter("The store has none of the trusted pages: give sites or addresses that it has")
    with RankWorkers(graph, threads) as workers:
        surfer = Surfer(workers, graph.into, graph.out_degree, seeds, 1 - params.jump)
        surfer.values[:] = seeds  # pages that no seed leads to stay at 0
        return surfer.rank(params, progress)


class TrustedWeb(NamedTuple):
    """What is left of a web without pages that have no trust."""

    untrusted: NDArray[np.uint32]  # ascending
    in_degree: NDArray[np.uint32]  # links from other pages
    lists: int  # other pages that have links


_last: WeakKeyDictionary[Graph, tuple[tuple[str, ...], TrustedWeb]] = WeakKeyDictionary()


def trusted_web(graph: Graph, seeds: tuple[str, ...]) -> TrustedWeb:
    """What trusted pages lead to; that of the last seeds is remembered."""
    known = _last.get(graph)
    if known is None or known[0] != seeds:
        trusted = compute(graph, Params(seeds=seeds), no_progress, 1).values > 0
        in_degree = np.zeros(graph.pages, np.uint32)
        for first in range(0, graph.pages, CHUNK_PAGES):
            some = trusted[first : first + CHUNK_PAGES]
            starts, targets, _ = graph.links.read_lists(graph.out, first, len(some), attributes=False)
            in_degree += np.bincount(targets[some.repeat(np.diff(starts))], minlength=graph.pages).astype(np.uint32)
        untrusted, lists = np.flatnonzero(~trusted).astype(np.uint32), np.count_nonzero(graph.out_degree[trusted])
        in_degree.flags.writeable = False  # as that of a store, so that kernels are compiled once; stop pages are not
        known = _last[graph] = seeds, TrustedWeb(untrusted, in_degree, int(lists))
    return known[1]
