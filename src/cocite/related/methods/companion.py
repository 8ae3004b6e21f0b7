"""Companion: authorities of the vicinity graph of a page (Dean & Henzinger 1999, §2.1).

1. The vicinity graph: the page; up to B parents with the BF links around their link to the page; the first F children,
   and of each the FB parents of highest in-degree. Its edges are all links between two of these on different units.
2. Near-duplicates are merged: into the store's representative, or with `merge=published` into the graph's own.
3. k edges from one unit to one page have authority weight 1/k each; l edges from one page to one unit hub weight 1/l.
4. Power iteration; the pages of highest authority are the results.

The paper's unit is the host; where only the page's own site links to it, each page counts by itself (`unit=auto`). Its
step "go forward, then back" calls FB BF as well. It does not give F and FB.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from cocite.kernels.related.neighbourhood import VicinityLimits, gather_vicinity
from cocite.parameters import parameter
from cocite.related.neighbourhood.hits import Vicinity, rank_authorities
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import MERGED_NODES, GraphView, Switches
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params(Switches):
    """The limits of the vicinity graph, and of the iteration."""

    merged_as_published: ClassVar[str] = MERGED_NODES
    parents: int = parameter(2000, "B: maximum number of parents, chosen by hash", minimum=0)
    window: int = parameter(8, "BF: links of a parent around its link to the page (0: all)", minimum=0)
    children: int = parameter(40, "F: maximum number of children, the first", minimum=0)
    child_parents: int = parameter(8, "FB: maximum number of parents of each child, by in-degree", minimum=0)
    rounds: int = parameter(200, "Maximum number of rounds of the iteration", minimum=1)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """The authorities of the graph around the query pages."""
    return rank_authorities(web, seeds, params, gather, weighted=True)


def gather(view: GraphView, page: int, params: Params) -> Vicinity:
    """The pages of the vicinity graph, parents first."""
    graph, candidates = view.graph, view.candidate_parents(page, params.parents)
    limits = VicinityLimits(params.parents, params.window, params.children, min(params.child_parents, graph.pages))
    best = graph.links.stored_parents("best")
    state, pages, parents = gather_vicinity(view.out, graph.into, best, candidates, page, limits, view.refused)
    view.check(state)
    return Vicinity(pages, parents, True)
