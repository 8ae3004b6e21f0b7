"""Links among a set of pages as a small graph, weights of its edges, and power iteration on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import expect, most_links, read_list
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.counting import LONGER, look_up_rather, members_of
from cocite.kernels.related.vicinity import (
    AHEAD,
    EMPTY,
    LONG,
    keep_marked,
    number_of,
    put_together,
    read_counted,
    refuses_nothing,
    slot_of,
    table_size,
    tabulate,
)


class ReadLists(NamedTuple):
    """The lists of the first nodes, as `read_parents` left them: targets[starts[i]:starts[i + 1]], if `whole`."""

    starts: NDArray[np.int64]
    targets: NDArray[np.uint32]
    whole: NDArray[np.bool_]


class NearDuplicates(NamedTuple):
    """Pages, ascending, and the representative of each."""

    page: NDArray[np.uint32]
    representative: NDArray[np.uint32]


class WeightedLists(NamedTuple):
    """Edges by one of their ends, with weights: list i is ends[starts[i]:starts[i + 1]]."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int32]
    weights: NDArray[np.float64]


class Arranged(NamedTuple):
    """Edges by one of their ends, longest lists first: order[r] is the node of rank r."""

    rank: NDArray[np.int32]
    order: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int32]


@kernel
def connect(out, nodes, read, refused, units, near):
    """All links among some pages that lead to another unit, with near-duplicates merged.

    Returns a state (DAMAGED is below 0), the pages, the unit of each, the number of units, starts and ends. `units` has
    the unit of every page of the store; if it is empty, each page is its own unit.
    """
    starts, known = read.starts, len(read.starts) - 1
    unit, many = number_units(units, nodes)
    room, longest = np.int64(0), max(LONGER * np.int64(len(nodes)), np.int64(LONG))
    for i in range(len(nodes)):
        degree = np.int64(out.lists.degree[nodes[i]])
        if i < known and read.whole[i]:
            room += starts[i + 1] - starts[i]
        else:
            room += degree if refused.flags != 0 else min(degree, longest)  # in longer lists, nodes are looked up
    sound = room <= most_links(out.lists)
    edge_starts, found = np.zeros(len(nodes) + 1, np.int64), np.empty(room if sound else np.int64(0), np.uint32)
    count = np.int64(DAMAGED)
    if sound:
        count = edges_among(out, nodes, read, refused, unit, edge_starts, found)
    ends = found[: max(count, 0)].view(np.int32)
    pages, merged, others = put_together(near.page, near.representative, nodes)
    if count < 0 or others == 0:
        return count, nodes, unit, many, edge_starts, ends
    unit, many = number_units(units, pages)
    new_starts, new_ends = np.empty(len(pages) + 1, np.int64), np.empty(count, np.int32)
    count = merge_edges(edge_starts, ends, merged, unit, new_starts, new_ends)
    return count, pages, unit, many, new_starts, new_ends[:count]


@inline
def number_units(units, pages):
    """The unit of each page, numbered from 0 in order of appearance, and the number of units."""
    of = units[pages] if len(units) > 0 else pages.copy()
    size = table_size(len(pages))
    table, local = np.full(size, np.uint32(EMPTY)), np.empty(size, np.int32)
    numbers, count = np.empty(len(pages), np.int32), np.int64(0)
    for i in range(len(of)):
        slot = slot_of(table, of[i])
        if table[slot] == EMPTY:
            table[slot] = of[i]
            local[slot] = count
            count += 1
        numbers[i] = local[slot]
    return numbers, count


@kernel
def edges_among(out, nodes, read, refused, unit, edge_starts, ends):
    """All links from one node to another of a different unit: edge_starts[i]:edge_starts[i + 1] are those of node i.

    `unit` has the unit of every node. `ends` must have room for all links of lists that are read. Returns the number of
    links, or DAMAGED.
    """
    size = table_size(len(nodes))
    table, marks = np.empty(size, np.uint64), np.empty(size // 2, np.uint8)
    tabulate(nodes, table, marks)
    if keep_links(out, nodes, read, refused, marks, edge_starts, ends) < 0:
        return np.int64(DAMAGED)
    # Lists are read first and pages looked up then: a processor works ahead in a loop that does only one of these.
    count = np.int64(0)
    size = len(nodes)
    begin = edge_starts[0]
    for i in range(size):
        stop, own = edge_starts[i + 1], unit[i]
        edge_starts[i] = count
        for k in range(begin, stop):
            j = number_of(table, ends[k])
            if j >= 0:
                ends[count] = j
                count += np.int64(unit[j] != own)  # no branch: it could not be predicted
        begin = stop
    edge_starts[size] = count
    return count


@inline
def keep_links(out, nodes, read, refused, marks, kept_starts, kept):
    """Links from nodes to marked pages, nearly all of which are nodes; returns how many, or DAMAGED."""
    starts, targets, whole = read
    known = len(starts) - 1
    none = np.empty(0, np.uint32)
    room = np.empty(LONG, np.uint32)
    count = np.int64(0)
    plain = refuses_nothing(refused)
    for i in range(len(nodes)):
        kept_starts[i] = count
        if i < known and whole[i]:
            degree = starts[i + 1] - starts[i]
            count += keep_marked(marks, targets[starts[i] : starts[i + 1]], degree, kept[count:])
            continue
        expect(out.lists, nodes, i, AHEAD)
        page = np.int64(nodes[i])
        degree = np.int64(out.lists.degree[page])
        if look_up_rather(out, page, refused, len(nodes)):
            got = look_up_all(out, page, nodes, kept[count:])
            if got < 0:
                return np.int64(DAMAGED)
            count += got
            continue
        if degree > len(room):
            room = np.empty(2 * degree, np.uint32)
        degree = read_list(out.lists, page, room, none) if plain else read_refusing(out, page, refused, room)
        if degree < 0:
            return np.int64(DAMAGED)
        count += keep_marked(marks, room, degree, kept[count:])
    kept_starts[len(nodes)] = count
    return count


@kernel
def read_refusing(out, page, refused, room):
    """`read_counted`, not inlined: rarely needed code would take registers from the usual case."""
    return read_counted(out, page, refused, room, np.empty(0, np.uint32))


@kernel
def look_up_all(out, page, nodes, kept):
    """The nodes that are in a long list; returns how many, or DAMAGED."""
    low, high = members_of(out, page)
    if low < 0:
        return np.int64(DAMAGED)
    count = np.int64(0)
    for j in range(len(nodes)):
        if find_position(out.target[low:high], nodes[j]) >= 0:
            kept[count] = nodes[j]
            count += 1
    return count


@kernel
def merge_edges(edge_starts, ends, merged, unit, new_starts, new_ends):
    """The edges with nodes merged: merged[i] is node i's new number, `unit` is by new number; returns how many."""
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


@inline
def longest_first(starts, order, rank):
    """Sort lists by length, longest first: order[r] is the list of rank r. Returns how many are not empty.

    Loops over lists of equal length have no branch that is hard to predict, and the data used most is in one place.
    """
    longest = np.int64(0)
    for i in range(len(rank)):
        longest = max(longest, starts[i + 1] - starts[i])
    counts = np.zeros(longest + 2, np.int64)
    for i in range(len(rank)):
        counts[longest - (starts[i + 1] - starts[i]) + 1] += 1
    for length in range(longest + 1):
        counts[length + 1] += counts[length]
    filled = counts[longest]
    for i in range(len(rank)):
        place = longest - (starts[i + 1] - starts[i])
        rank[i] = counts[place]
        order[counts[place]] = i
        counts[place] += 1
    return filled


@kernel
def arrange(starts, ends, by_hub, by_authority):
    """The edges twice: by hub and by authority, longest lists first, with the other end given by its rank.

    Returns how many hubs and how many authorities have edges.
    """
    hub_rank, hub_order, hub_starts, hub_ends = by_hub
    rank, order, in_starts, in_ends = by_authority
    size = len(starts) - 1
    raw = np.zeros(size + 1, np.int64)
    for k in range(starts[size]):
        raw[ends[k] + 1] += 1
    for i in range(size):
        raw[i + 1] += raw[i]
    hubs = longest_first(starts, hub_order, hub_rank)
    authorities = longest_first(raw, order, rank)
    in_starts[0] = 0
    for r in range(authorities):
        in_starts[r + 1] = in_starts[r] + raw[order[r] + 1] - raw[order[r]]
    following = in_starts[:authorities].copy()
    at = np.int64(0)
    for r in range(hubs):
        hub_starts[r] = at
        for k in range(starts[hub_order[r]], starts[hub_order[r] + 1]):
            authority = rank[ends[k]]
            hub_ends[at] = authority
            at += 1
            in_ends[following[authority]] = r
            following[authority] += 1
    hub_starts[hubs] = at
    return hubs, authorities


@kernel
def weigh(starts, ends, unit_of_end, units, weights):
    """weights[k] = 1 / the number of edges of the same list whose other ends are of the same unit."""
    longest = np.int64(0)
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    share = np.empty(longest + 1)
    for k in range(1, longest + 1):
        share[k] = 1.0 / k
    seen = np.zeros(units, np.int64)  # the last list that has the unit, and how many edges to it
    for i in range(len(starts) - 1):
        fresh = np.int64(i + 1) << 32
        for k in range(starts[i], starts[i + 1]):
            unit = unit_of_end[ends[k]]
            seen[unit] = max(seen[unit], fresh) + 1
        for k in range(starts[i], starts[i + 1]):
            weights[k] = share[seen[unit_of_end[ends[k]]] & 0xFFFFFFFF]


@inline
def renew(lists, given, fresh):
    """fresh[i] = weighted sum of `given` over list i; returns the sum of squares.

    Four sums at a time: a single one would wait for itself at every edge.
    """
    starts, ends, weights = lists
    square = 0.0
    for i in range(len(fresh)):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        k, stop = starts[i], starts[i + 1]
        while k + 4 <= stop:
            a += weights[k] * given[ends[k]]
            b += weights[k + 1] * given[ends[k + 1]]
            c += weights[k + 2] * given[ends[k + 2]]
            d += weights[k + 3] * given[ends[k + 3]]
            k += 4
        while k < stop:
            a += weights[k] * given[ends[k]]
            k += 1
        total = (a + b) + (c + d)
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
def iterate(by_hub, by_authority, rounds, tolerance, hubs, authorities):
    """Power iteration from 1 everywhere: authorities from hubs, then hubs from the new authorities.

    Stops when no value changes by `tolerance` or more. Returns (rounds made, last change).
    """
    fresh_hubs, fresh = np.empty(len(hubs)), np.empty(len(authorities))
    hubs[:] = 1.0
    authorities[:] = 1.0
    change = 0.0
    for turn in range(rounds):
        square = renew(by_authority, hubs, fresh)
        change = scale(fresh, square, authorities)
        square = renew(by_hub, authorities, fresh_hubs)
        change = max(change, scale(fresh_hubs, square, hubs))
        if change < tolerance:
            return turn + 1, change
    return rounds, change


@kernel
def rank_nodes(starts, ends, unit, units, weighted, rounds, tolerance):
    """Hub and authority scores of all nodes, each of length 1, the rounds made and the last change; 0 without edges.

    If weighted, k edges from one unit to one node count 1/k each as authority, l from one node to one unit 1/l as hub.
    """
    size, count = len(starts) - 1, len(ends)
    hubs, authorities = np.zeros(size), np.zeros(size)
    if count == 0:
        return hubs, authorities, np.int64(0), 0.0
    hub_rank, hub_order = np.empty(size, np.int32), np.empty(size, np.int32)
    rank, order = np.empty(size, np.int32), np.empty(size, np.int32)
    hub_starts, in_starts = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    hub_ends, in_ends = np.empty(count, np.int32), np.empty(count, np.int32)
    by_hub, by_authority = (
        Arranged(hub_rank, hub_order, hub_starts, hub_ends),
        Arranged(rank, order, in_starts, in_ends),
    )
    some_hubs, some = arrange(starts, ends, by_hub, by_authority)
    hub_order, order = hub_order[:some_hubs], order[:some]
    hub_starts, in_starts = hub_starts[: some_hubs + 1], in_starts[: some + 1]
    hub_weights, weights = np.empty(count), np.empty(count)
    if weighted:
        weigh(hub_starts, hub_ends, unit[order], units, hub_weights)
        weigh(in_starts, in_ends, unit[hub_order], units, weights)
    else:
        hub_weights[:] = 1.0
        weights[:] = 1.0
    hub_values, values = np.empty(some_hubs), np.empty(some)
    hub_lists, lists = WeightedLists(hub_starts, hub_ends, hub_weights), WeightedLists(in_starts, in_ends, weights)
    done, change = iterate(hub_lists, lists, rounds, tolerance, hub_values, values)
    for r in range(some_hubs):
        hubs[hub_order[r]] = hub_values[r]
    for r in range(some):
        authorities[order[r]] = values[r]
    return hubs, authorities, np.int64(done), change
