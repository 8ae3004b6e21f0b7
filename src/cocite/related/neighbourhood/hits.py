"""Hubs and authorities of a set of pages (HITS): all links among them, weighted by unit, and power iteration.

k edges from one unit to one page have authority weight 1/k each; l edges from one page to one unit have hub weight 1/l
each (Dean & Henzinger 1999, §2.1.3): a site counts once, however many pages it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related import hubs_authorities as kernels
from cocite.related.neighbourhood.clean import near_duplicates, sets_with
from cocite.related.neighbourhood.gather import Numbered, Parents, sound
from cocite.related.neighbourhood.link_evidence import LinkEvidence
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.start import begin
from cocite.related.neighbourhood.view import NO_PAGES, Pages, Switches, View
from cocite.web import Web

TOLERANCE = 1e-8
NOTHING_READ = kernels.ReadLists(np.zeros(1, np.int64), NO_PAGES, np.zeros(0, np.bool_))


class Edges(NamedTuple):
    """A small directed graph: ends[starts[i]:starts[i + 1]] are the nodes to which node i links."""

    pages: Pages  # the page of each node
    unit: NDArray[np.int32]  # the unit of each node, numbered from 0
    units: int
    starts: NDArray[np.int64]
    ends: NDArray[np.int32]


class Iterated(NamedTuple):
    """Scores of all nodes, the number of rounds, and the greatest change in the last round."""

    hubs: NDArray[np.float64]
    authorities: NDArray[np.float64]
    rounds: int
    residual: float


def edges_among(view: View, pages: Pages, read: Parents | None = None) -> Edges:
    """Every link between two of the pages (all different) on different units, with near-duplicates merged.

    `read` are parents whose lists are read already, if they are the first pages.
    """
    known = NOTHING_READ if read is None else kernels.ReadLists(read.starts, read.targets, read.whole)
    near = kernels.NearDuplicates(*near_duplicates(view))
    count, *edges = kernels.connect(view.out, pages, known, view.refused, view.units, near)
    sound(view, count)
    return Edges(*edges)


def iterate(edges: Edges, weighted: bool, rounds: int) -> Iterated:
    """Hub and authority scores, each of length 1; without edges all are 0."""
    return Iterated(*kernels.rank_nodes(edges.starts, edges.ends, edges.unit, edges.units, weighted, rounds, TOLERANCE))


@dataclass(frozen=True)
class Vicinity:
    """The pages around a page; `read` are parents whose lists are read already, if they are the first pages."""

    pages: Pages
    read: Parents | None


@dataclass(frozen=True)
class _Around:
    """The vicinities of all query pages, and the links among all of their pages."""

    each: list[Vicinity]
    edges: Edges

    @property
    def enough(self) -> bool:
        return len(self.edges.ends) > 0


def rank_authorities(
    web: Web,
    seeds: Sequence[int],
    switches: Switches,
    gather: Callable[[View, int], Vicinity],
    weighted: bool,
    rounds: int,
) -> Scores:
    """Gather the vicinity of every query page, iterate on all together, and score by authority."""

    def together(view: View, pages: list[int]) -> _Around:
        each = [gather(view, page) for page in pages]
        if len(each) == 1:
            return _Around(each, edges_among(view, each[0].pages, each[0].read))
        nodes = Numbered(sum(len(one.pages) for one in each))
        for one in each:
            nodes.add(one.pages)
        return _Around(each, edges_among(view, nodes.pages))

    start, around = begin(web.graph, seeds, switches, together)
    edges = around.edges
    done = iterate(edges, weighted, rounds)
    sets = [one.pages for one in around.each]
    reached = sets_with(start.view, edges.pages, sets) if len(sets) > 1 else None
    facts = {"rounds": done.rounds, "residual": done.residual, "nodes": len(edges.pages), "edges": len(edges.ends)}
    read = [one.read for one in around.each if one.read is not None]
    limits = (read if len(read) == len(sets) else getattr(switches, "parents", 0)), getattr(switches, "children", 0)
    return Scores(
        edges.pages, done.authorities, start.used, start.never, reached=reached, facts=facts,
        evidence=LinkEvidence(start.view, start.used, *limits),
    )  # fmt: skip
