"""Links among a set of pages as a small graph, weights of its edges, and power iteration on it."""

from __future__ import annotations

import numpy as np

from cocite.kernels import inline, kernel
from cocite.kernels.link_codec import DAMAGED
from cocite.kernels.look_up import find_position
from cocite.kernels.vicinity import EMPTY, read_counted, slot_of

LONGER = 16  # times as many links as there are nodes: such a list is not read, the nodes are looked up in it


@kernel
def edges_among(out, nodes, known, starts, targets, whole, refused, unit, table, local, edge_starts, ends):
    """All links from one node to another of a different unit: edge_starts[i]:edge_starts[i + 1] are those of node i.

    The lists of the first `known` nodes, where `whole`, are as `read_parents` left them. `table` and `local` give a
    page's number, `unit` that of a node. Returns how many there are, or DAMAGED.
    """
    count = np.int64(0)
    none = np.empty(0, np.uint32)
    room = np.empty(1024, np.uint32)
    size = len(nodes)
    for i in range(size):
        edge_starts[i] = count
        page = np.int64(nodes[i])
        if i < known and whole[i]:
            links = targets[starts[i] : starts[i + 1]]
            degree = np.int64(len(links))
        else:
            degree = np.int64(out.lists.degree[page])
            if degree > LONGER * size + 512 and refused.flags == 0:
                at = find_position(out.page, page)
                if at < 0:
                    return np.int64(DAMAGED)
                members = out.target[np.int64(out.link[at]) : np.int64(out.link[at + 1])]
                for j in range(size):
                    if unit[j] != unit[i] and find_position(members, nodes[j]) >= 0:
                        ends[count] = j
                        count += 1
                continue
            if degree > len(room):
                room = np.empty(2 * degree, np.uint32)
            links = room
            degree = read_counted(out, page, refused, links, none)
            if degree < 0:
                return np.int64(DAMAGED)
        for k in range(degree):
            slot = slot_of(table, links[k])
            if table[slot] != EMPTY:
                j = local[slot]
                if unit[j] != unit[i]:
                    ends[count] = j
                    count += 1
    edge_starts[size] = count
    return count


@kernel
def merge_edges(edge_starts, ends, merged, unit, new_starts, new_ends):
    """The same with nodes put together: merged[i] is node i's new number, `unit` by new number; returns how many."""
    size = len(new_starts) - 1
    counts = np.zeros(size + 1, np.int64)
    for i in range(len(merged)):
        counts[merged[i] + 1] += edge_starts[i + 1] - edge_starts[i]
    for i in range(size):
        counts[i + 1] += counts[i]
    raw = np.empty(counts[size], np.int32)
    following = counts[:-1].copy()
    for i in range(len(merged)):
        source = merged[i]
        for k in range(edge_starts[i], edge_starts[i + 1]):
            raw[following[source]] = merged[ends[k]]
            following[source] += 1
    last = np.full(size, -1, np.int32)  # the last source that had this target
    at = np.int64(0)
    for i in range(size):
        new_starts[i] = at
        for k in range(counts[i], counts[i + 1]):
            if last[raw[k]] != i and unit[raw[k]] != unit[i]:
                last[raw[k]] = i
                new_ends[at] = raw[k]
                at += 1
    new_starts[size] = at
    return at


@kernel
def turn_edges(starts, ends, in_starts, in_ends):
    """The same edges by target."""
    size = len(starts) - 1
    in_starts[:] = 0
    for k in range(starts[size]):
        in_starts[ends[k] + 1] += 1
    for i in range(size):
        in_starts[i + 1] += in_starts[i]
    following = in_starts[:-1].copy()
    for i in range(size):
        for k in range(starts[i], starts[i + 1]):
            in_ends[following[ends[k]]] = i
            following[ends[k]] += 1


@kernel
def shares(starts, ends, unit, units, weights):
    """weights[k] = 1 / the number of edges of the same list whose other ends are of the same unit."""
    seen = np.zeros(units, np.int32)
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            seen[unit[ends[k]]] += 1
        for k in range(starts[i], starts[i + 1]):
            weights[k] = 1.0 / seen[unit[ends[k]]]
        for k in range(starts[i], starts[i + 1]):
            seen[unit[ends[k]]] = 0


@inline
def renew(starts, ends, weights, given, fresh):
    """fresh[i] = weighted sum of `given` over list i; returns the sum of squares."""
    square = 0.0
    for i in range(len(starts) - 1):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += weights[k] * given[ends[k]]
        fresh[i] = total
        square += total * total
    return square


@inline
def scale(fresh, square, values):
    """values = fresh scaled to length 1; returns the greatest change."""
    factor = 1.0 / np.sqrt(square)
    change = 0.0
    for i in range(len(values)):
        value = fresh[i] * factor
        change = max(change, abs(value - values[i]))
        values[i] = value
    return change


@kernel
def iterate(starts, ends, hub_weights, in_starts, in_ends, authority_weights, rounds, tolerance, hubs, authorities):
    """Power iteration from 1 everywhere: authorities from hubs, then hubs from the new authorities.

    Stops when no value changes by `tolerance` or more. Returns (rounds made, last change).
    """
    fresh = np.empty(len(hubs))
    hubs[:] = 1.0
    authorities[:] = 1.0
    change = 0.0
    for turn in range(rounds):
        square = renew(in_starts, in_ends, authority_weights, hubs, fresh)
        change = scale(fresh, square, authorities)
        square = renew(starts, ends, hub_weights, authorities, fresh)
        change = max(change, scale(fresh, square, hubs))
        if change < tolerance:
            return turn + 1, change
    return rounds, change
