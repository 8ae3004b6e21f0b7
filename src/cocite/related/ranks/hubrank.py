"""HubRank: PageRank whose surfer jumps to pages with many out-links (Chirita, Olmedilla & Nejdl 2004, §3).

    PR(p) = (1 - c) · Σ PR(q) / |O(q)| over the pages q that link to p, + c · E(p),   E(p) = |O(p)| · NP / |O|

NP is the number of pages and |O| the number of links, so the mean is 1. A strong authority keeps a good rank, but the
top is for authorities that are also hubs. With `bias=authorities`, E(p) = |I(p)| · NP / |I|. With `transposed`, the
surfer follows links backwards, so that hubs collect what authorities have (§3, end). What pages without links to follow
hold is spread in proportion to E. In a web without links all pages are equal.
"""

from dataclasses import dataclass

from cocite.graph.generation import Progress
from cocite.graph.store import Graph
from cocite.parameters import parameter
from cocite.related.ranks import Iteration, Ranked
from cocite.related.ranks._iteration import RankWorkers, Surfer, equal_values


@dataclass(frozen=True, kw_only=True)
class Params(Iteration):
    """Where the surfer jumps to, and in which direction links are followed."""

    jump: float = parameter(0.15, "c: how often the surfer goes to a page of E instead", minimum=0.001, maximum=0.999)
    bias: str = parameter("hubs", "what E prefers: many links out, or many links in", choices=("hubs", "authorities"))
    transposed: bool = parameter(False, "follow links backwards")


def compute(graph: Graph, params: Params, progress: Progress, threads: int) -> Ranked:
    """The HubRank of every page."""
    if not graph.links:
        return Ranked(equal_values(graph), 0, 0.0, True)
    bias = graph.out_degree if params.bias == "hubs" else graph.in_degree
    lists, degree = (graph.out, graph.in_degree) if params.transposed else (graph.into, graph.out_degree)
    with RankWorkers(graph, threads) as workers:
        return Surfer(workers, lists, degree, bias, 1 - params.jump).rank(params, progress)
