"""Hubs and authorities of a set of pages: all links among them, weighed by unit, and power iteration.

k edges from one unit to one page have authority weight 1/k each; l edges from one page to one unit have hub weight 1/l
each (Dean & Henzinger 1999, §2.1.3): a site is one voice, however many pages it has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels import hubs_authorities as loops
from cocite.kernels import vicinity
from cocite.kernels.counting import LONGER
from cocite.kernels.vicinity import LONG
from cocite.neighbourhood.clean import merge
from cocite.neighbourhood.gather import Numbered, Parents, sound
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
    known = 0 if read is None else len(read.pages)
    starts = np.empty(len(pages) + 1, np.int64)
    degree = view.graph.out_degree[pages]
    if not view.refused.flags:  # longer lists are not read: the pages are looked up in them
        degree = np.minimum(degree, max(LONGER * len(pages), LONG))
    found = np.empty(int(degree.sum(dtype=np.int64)), np.uint32)
    size = 1 << (2 * len(pages)).bit_length()
    table, marks = np.empty(size, np.uint64), np.empty(size // 2, np.uint8)
    loops.tabulate(pages, table, marks)
    count = loops.edges_among(
        view.out,
        pages,
        known,
        np.zeros(1, np.int64) if read is None else read.starts,
        NO_PAGES if read is None else read.targets,
        np.zeros(0, np.bool_) if read is None else read.whole,
        view.refused,
        unit,
        table,
        marks,
        starts,
        found,
    )
    sound(view, count)
    ends = found[:count].view(np.int32)
    merged = merge(view, pages)
    if merged.pages is pages:
        return Edges(pages, unit, units, starts, ends)
    unit, units = _number_units(view, merged.pages)
    new_starts, new_ends = np.empty(len(merged.pages) + 1, np.int64), np.empty(count, np.int32)
    count = loops.merge_edges(starts, ends, merged.number, unit, new_starts, new_ends)
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
    size, count = len(edges.pages), len(edges.ends)
    hubs, authorities = np.zeros(size), np.zeros(size)
    if not count:
        return Iterated(hubs, authorities, 0, 0.0)
    orders = np.empty((4, size), np.int32)
    hub_rank, hub_order, rank, order = orders
    starts, in_starts = np.empty((2, size + 1), np.int64)
    ends, in_ends = np.empty((2, count), np.int32)
    some_hubs, some = loops.arrange(
        edges.starts, edges.ends, hub_rank, hub_order, starts, ends, rank, order, in_starts, in_ends
    )
    hub_order, order, starts, in_starts = (
        hub_order[:some_hubs],
        order[:some],
        starts[: some_hubs + 1],
        in_starts[: some + 1],
    )
    hub_weights, weights = np.empty((2, count)) if weighted else np.ones((2, count))
    if weighted:
        loops.weigh(starts, ends, edges.unit[order], edges.units, hub_weights)
        loops.weigh(in_starts, in_ends, edges.unit[hub_order], edges.units, weights)
    hub_values, values = np.empty(some_hubs), np.empty(some)
    done, change = loops.iterate(
        starts, ends, hub_weights, in_starts, in_ends, weights, rounds, TOLERANCE, hub_values, values
    )
    hubs[hub_order], authorities[order] = hub_values, values
    return Iterated(hubs, authorities, int(done), float(change))
