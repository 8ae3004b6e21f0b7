"""Hubs and authorities of a set of pages: all links among them, weighed by unit, and power iteration.

k edges from one unit to one page have authority weight 1/k each; l edges from one page to one unit have hub weight 1/l
each (Dean & Henzinger 1999, §2.1.3): a site is one voice, however many pages it has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related import hubs_authorities as loops
from cocite.related.neighbourhood.clean import near_duplicates
from cocite.related.neighbourhood.gather import Parents, sound
from cocite.related.neighbourhood.view import NO_PAGES, Pages, View

TOLERANCE = 1e-8
NOTHING_READ, NONE_WHOLE = np.zeros(1, np.int64), np.zeros(0, np.bool_)


class Edges(NamedTuple):
    """A small directed graph: ends[starts[i]:starts[i + 1]] are the nodes that node i links to."""

    pages: Pages  # the page of each node
    unit: NDArray[np.int32]  # the unit of each node, numbered from 0
    units: int
    starts: NDArray[np.int64]
    ends: NDArray[np.int32]


class Iterated(NamedTuple):
    """Scores of all nodes, the number of rounds, and the greatest change in the last."""

    hubs: NDArray[np.float64]
    authorities: NDArray[np.float64]
    rounds: int
    residual: float


def edges_among(view: View, pages: Pages, read: Parents | None = None) -> Edges:
    """Every link between two of the pages (all different) on different units, near-duplicates put together.

    `read` are parents whose lists were read already, if they are the first pages.
    """
    count, *edges = loops.connect(
        view.out,
        pages,
        0 if read is None else len(read.pages),
        NOTHING_READ if read is None else read.starts,
        NO_PAGES if read is None else read.targets,
        NONE_WHOLE if read is None else read.whole,
        view.refused,
        view.units,
        *near_duplicates(view),
    )
    sound(view, count)
    return Edges(*edges)


def iterate(edges: Edges, weighted: bool, rounds: int) -> Iterated:
    """Hub and authority scores, each of length 1; without edges all are 0."""
    return Iterated(*loops.rank_nodes(edges.starts, edges.ends, edges.unit, edges.units, weighted, rounds, TOLERANCE))
