"""Hubs and authorities of a set of pages (HITS): all links among them, weighted by unit, and power iteration.

k edges from one unit to one page have authority weight 1/k each; l edges from one page to one unit have hub weight 1/l
each (Dean & Henzinger 1999, §2.1.3): a site counts once, however many pages it has.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related import hubs_authorities as kernels
from cocite.kernels.related.hubs_authorities import Edges
from cocite.kernels.related.neighbourhood import Parents
from cocite.related.neighbourhood.scores import LinkEvidence, Scores, begin
from cocite.related.neighbourhood.view import NO_PAGES, GraphView, Numbered, Pages
from cocite.web import Web

MAX_CHANGE = 1e-8
"""The iteration stops when no score changes by more."""
NOTHING_READ = Parents(0, 0, NO_PAGES)


class Iterated(NamedTuple):
    """Scores of all nodes, the number of rounds, and the greatest change in the last round."""

    hubs: NDArray[np.float64]
    authorities: NDArray[np.float64]
    rounds: int
    residual: float


class Vicinity(NamedTuple):
    """The pages around a page, and its chosen parents."""

    pages: Pages
    parents: Parents
    read: bool  # the lists of the parents are read already, and the parents are the first pages


def edges_among(view: GraphView, pages: Pages, read: Parents | None = None) -> Edges:
    """Every link between two of the pages (all different) on different units, with near-duplicates merged.

    `read` are parents whose lists are read already, if they are the first pages.
    """
    edges: Edges
    state, edges = kernels.connect(
        view.out, pages, read or NOTHING_READ, view.refused, view.units, view.near_duplicates
    )
    view.check(state)
    return edges


def iterate(edges: Edges, weighted: bool, rounds: int) -> Iterated:
    """Hub and authority scores, each of length 1; without edges all are 0."""
    return Iterated(*kernels.rank_nodes(edges, weighted, rounds, MAX_CHANGE))


def membership(view: GraphView, pages: Pages, sets: Sequence[Pages]) -> NDArray[np.bool_] | None:
    """For each of several sets (row), which pages are in it, near-duplicates counting as one; None for one set."""
    return np.array([np.isin(pages, view.representatives(each)) for each in sets]) if len(sets) > 1 else None


def rank_authorities(
    web: Web, seeds: Sequence[int], params: Any, gather: Callable[[GraphView, int, Any], Vicinity], weighted: bool
) -> Scores:
    """Gather the vicinity of every query page, iterate on all together, and score by authority."""

    def together(view: GraphView, pages: list[int]) -> tuple[tuple[list[Vicinity], Edges], bool]:
        each = [gather(view, page, params) for page in pages]
        view.choose_unit(pages, [one.parents.pages for one in each], [one.pages for one in each])
        parts, read = [one.pages for one in each], each[0].parents if len(each) == 1 and each[0].read else None
        nodes = parts[0] if len(parts) == 1 else Numbered(sum(map(len, parts)), *parts).pages
        view.merge_nodes(nodes)
        edges = edges_among(view, nodes, read)
        return (each, edges), len(edges.ends) > 0

    start, (each, edges) = begin(web, seeds, params, together)
    done = iterate(edges, weighted, params.rounds)
    facts = {"rounds": done.rounds, "residual": done.residual, "nodes": len(edges.pages), "edges": len(edges.ends)}
    evidence = LinkEvidence(start.view, [one.parents for one in each], getattr(params, "children", 0))
    rows = membership(start.view, edges.pages, [one.pages for one in each])
    return start.scores(edges.pages, done.authorities, rows, facts=facts, evidence=evidence)
