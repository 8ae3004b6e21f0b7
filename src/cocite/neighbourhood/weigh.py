"""Hubs and authorities of a set of pages: all links among them, weighed by unit, and power iteration.

k edges from one unit to one page have authority weight 1/k each; l edges from one page to one unit have hub weight 1/l
each (Dean & Henzinger 1999, §2.1.3): a site is one voice, however many pages it has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.kernels import hubs_authorities as loops
from cocite.kernels import vicinity
from cocite.neighbourhood.clean import merge
from cocite.neighbourhood.gather import Numbered, Parents
from cocite.neighbourhood.view import NO_PAGES, Pages, View

TOLERANCE = 1e-8


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


def edges_among(view: View, nodes: Numbered, read: Parents | None = None) -> Edges:
    """Every link between two of the pages on different units, near-duplicates put together.

    `read` are parents whose lists were read already, if they are the first nodes.
    """
    pages = nodes.pages
    unit, units = _number_units(view, pages)
    degree = view.graph.out_degree[pages]
    known = 0 if read is None else len(read.pages)
    starts = np.empty(len(pages) + 1, np.int64)
    ends = np.empty(int(np.minimum(degree, len(pages)).sum(dtype=np.int64)), np.int32)
    count = loops.edges_among(
        view.out,
        pages,
        known,
        np.zeros(1, np.int64) if read is None else read.starts,
        NO_PAGES if read is None else read.targets,
        np.zeros(0, np.bool_) if read is None else read.whole,
        view.refused,
        unit,
        nodes.table,
        nodes.local,
        starts,
        ends,
    )
    if count < 0:
        raise BadStore(f"{view.graph.path} is damaged: run cocite check -i {view.graph.path}")
    merged = merge(view, pages)
    if merged.pages is pages:
        return Edges(pages, unit, units, starts, ends[:count])
    unit, units = _number_units(view, merged.pages)
    new_starts, new_ends = np.empty(len(merged.pages) + 1, np.int64), np.empty(count, np.int32)
    count = loops.merge_edges(starts, ends[:count], merged.number, unit, new_starts, new_ends)
    return Edges(merged.pages, unit, units, new_starts, new_ends[:count])


def _number_units(view: View, pages: Pages) -> tuple[NDArray[np.int32], int]:
    units = view.units_of(pages)
    numbered = Numbered(len(pages))
    numbered.add(units)
    number = np.empty(len(pages), np.int32)
    vicinity.numbers_of(numbered.table, numbered.local, units, number)
    return number, numbered.count


def iterate(edges: Edges, weighted: bool, rounds: int) -> Iterated:
    """Hub and authority scores, each of length 1; without edges all are 0."""
    size = len(edges.pages)
    hubs, authorities = np.zeros(size), np.zeros(size)
    if not len(edges.ends):
        return Iterated(hubs, authorities, 0, 0.0)
    in_starts, in_ends = np.empty(size + 1, np.int64), np.empty(len(edges.ends), np.int32)
    loops.turn_edges(edges.starts, edges.ends, in_starts, in_ends)
    hub_weights, authority_weights = np.ones(len(edges.ends)), np.ones(len(edges.ends))
    if weighted:
        loops.shares(edges.starts, edges.ends, edges.unit, edges.units, hub_weights)
        loops.shares(in_starts, in_ends, edges.unit, edges.units, authority_weights)
    done, change = loops.iterate(
        edges.starts, edges.ends, hub_weights, in_starts, in_ends, authority_weights, rounds, TOLERANCE,
        hubs, authorities,
    )  # fmt: skip
    return Iterated(hubs, authorities, int(done), float(change))
