"""Links among a set of pages as a small graph, weights of its edges, and power iteration on it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.lists import prefetch, read_list, room_for
from cocite.kernels.codec.look_up import add_before
from cocite.kernels.hash_tables import add_member, add_members, bit_filter, keep_likely, new_set, number_of
from cocite.kernels.jit import inline, kernel, lean_inline
from cocite.kernels.related import counted_links as counted
from cocite.kernels.related.neighbourhood import merge_pages


class Edges(NamedTuple):
    """A small directed graph: ends[starts[i]:starts[i + 1]] are the nodes to which node i links."""

    pages: NDArray[np.uint32]  # of each node
    unit: NDArray[np.int32]  # of each node, numbered from 0
    units: int
    starts: NDArray[np.int64]
    ends: NDArray[np.int32]


class RankedEdges(NamedTuple):
    """Edges by one of their ends, longest lists first, with weights: the list of order[r] is ends[starts[r]:][...]."""

    order: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int32]
    weights: NDArray[np.float64]


@kernel
def connect(out, nodes, read, excluded, units, near):
    """All links among pages to other units, near-duplicates merged: (state, Edges). `read`: lists of first nodes."""
    unit, count = number_units(units, nodes)
    total, starts, ends = edges_among(out, nodes, read, excluded, unit)
    pages, merged, others = merge_pages(near, nodes)
    if total < 0 or others == 0:
        return min(total, np.int64(0)), Edges(nodes, unit, count, starts, ends)
    unit, count = number_units(units, pages)
    return np.int64(0), merge_edges(Edges(pages, unit, count, starts, ends), merged)


@inline
def number_units(units, pages):
    """The unit of each page, numbered from 0 in order of appearance, and the number of units."""
    numbered, numbers, count = new_set(len(pages)), np.empty(len(pages), np.int32), np.int64(0)
    for i in range(len(pages)):
        numbers[i] = add_member(numbered, count, units[pages[i]] if len(units) > 0 else pages[i])
        count += numbers[i] == count
    return numbers, count


@kernel
def edges_among(out, nodes, read, excluded, unit):
    """All links between nodes of different units: (how many or DAMAGED, where those of each node start, the links)."""
    numbered, size = new_set(len(nodes)), len(nodes)
    add_members(numbered, np.int64(0), nodes)
    count, starts, ends = keep_links(out, nodes, read, excluded, bit_filter(nodes))
    if count < 0:
        return count, starts, ends[:0].view(np.int32)
    # Lists are read first and pages looked up then: a processor works ahead in a loop that does only one of these.
    count, begin = np.int64(0), starts[0]
    for i in range(size):
        stop, own = starts[i + 1], unit[i]
        starts[i] = count
        for k in range(begin, stop):
            j = number_of(numbered.table, ends[k])
            if j >= 0:
                ends[count] = j
                count += np.int64(unit[j] != own)  # no branch: it could not be predicted
        begin = stop
    starts[size] = count
    return count, starts, ends[:count].view(np.int32)


@inline
def keep_links(out, nodes, read, excluded, bits):
    """Links from nodes to pages that pass the filter, nearly all nodes: (how many or DAMAGED, starts, links)."""
    starts, kept, count = np.zeros(len(nodes) + 1, np.int64), np.empty(64 * len(nodes), np.uint32), np.int64(0)
    room, none = np.empty(counted.LONG_LIST_LINKS, np.uint32), np.empty(0, np.uint32)
    lists, plain = out.lists, counted.excludes_nothing(excluded)  # taken once: that counts references to all its arrays
    for i in range(len(nodes)):
        page = np.int64(nodes[i])
        if i < len(read.whole) and read.whole[i]:
            links = read.targets[read.starts[i] : read.starts[i + 1]]
            degree = np.int64(len(links))
        elif counted.is_searched(out, page, excluded, len(nodes)):
            degree, links = counted.search_links(out, page, nodes)
            for k in range(degree):
                links[k] = nodes[links[k]]
        else:
            prefetch(lists, nodes, i)
            if plain:
                room = room_for(lists, page, room)
                degree = read_list(lists, page, room, none)
            else:
                degree, room = counted.read_targets(out, page, excluded, room)
            links = room
        if degree < 0:
            return degree, starts, kept
        if count + degree > len(kept):
            larger = np.empty(2 * (count + degree), np.uint32)
            larger[:count] = kept[:count]
            kept = larger
        count += keep_likely(bits, links, degree, kept[count:])
        starts[i + 1] = count
    return count, starts, kept


@kernel
def merge_edges(edges, merged):
    """The same edges with node i merged into merged[i], which `pages` and `unit` are by already."""
    size, unit = len(edges.pages), edges.unit
    starts = np.zeros(size + 1, np.int64)
    for i in range(len(merged)):
        starts[merged[i] + 1] += edges.starts[i + 1] - edges.starts[i]
    following, raw = add_before(starts), np.empty(len(edges.ends), np.int32)
    for i in range(len(merged)):
        source = merged[i]
        for k in range(edges.starts[i], edges.starts[i + 1]):
            raw[following[source]] = merged[edges.ends[k]]
            following[source] += 1
    last = np.full(size, -1, np.int32)  # the last source of each target
    at = begin = np.int64(0)
    for i in range(size):
        stop = starts[i + 1]
        for k in range(begin, stop):
            target = raw[k]
            if last[target] != i and unit[target] != unit[i]:
                last[target] = i
                raw[at] = target
                at += 1
        begin = stop
        starts[i + 1] = at
    return Edges(edges.pages, unit, edges.units, starts, raw[:at])


@inline
def longest_first(starts):
    """Sort lists by length, so that branches are easy to predict: (the list of each rank, the rank of each list)."""
    size, longest = len(starts) - 1, np.int64(0)
    for i in range(size):
        longest = max(longest, starts[i + 1] - starts[i])
    counts = np.zeros(longest + 2, np.int64)
    for i in range(size):
        counts[longest - (starts[i + 1] - starts[i]) + 1] += 1
    following = add_before(counts)
    order, rank = np.empty(size, np.int32), np.empty(size, np.int32)
    for i in range(size):
        place = longest - (starts[i + 1] - starts[i])
        rank[i] = following[place]
        order[following[place]] = i
        following[place] += 1
    return order[: counts[longest]], rank


@kernel
def arrange(edges):
    """The edges twice, with weights of 1: by hub and by authority. Other ends are given by their rank in the other."""
    starts, ends, size = edges.starts, edges.ends, len(edges.starts) - 1
    raw = np.zeros(size + 1, np.int64)
    for k in range(starts[size]):
        raw[ends[k] + 1] += 1
    add_before(raw)
    hubs, _ = longest_first(starts)
    authorities, rank = longest_first(raw)
    hub_starts, hub_ends = np.zeros(len(hubs) + 1, np.int64), np.empty(len(ends), np.int32)
    in_starts, in_ends = np.zeros(len(authorities) + 1, np.int64), np.empty(len(ends), np.int32)
    for r in range(len(authorities)):
        in_starts[r + 1] = in_starts[r] + raw[authorities[r] + 1] - raw[authorities[r]]
    following, at = in_starts[:-1].copy(), np.int64(0)
    for r in range(len(hubs)):
        for k in range(starts[hubs[r]], starts[hubs[r] + 1]):
            authority = rank[ends[k]]
            hub_ends[at] = authority
            at += 1
            in_ends[following[authority]] = r
            following[authority] += 1
        hub_starts[r + 1] = at
    by_hub = RankedEdges(hubs, hub_starts, hub_ends, np.ones(len(ends)))
    return by_hub, RankedEdges(authorities, in_starts, in_ends, np.ones(len(ends)))


@kernel
def weigh(adjacency, unit, units):
    """Set each weight to 1 / the edges of its list to the same unit; `unit` has that of each other end, by rank."""
    _, starts, ends, weights = adjacency
    share = 1.0 / np.maximum(1, np.arange(starts[1] + 1))  # the first list is the longest
    seen = np.zeros(units, np.int64)  # the last list that has the unit << 32 | the number of its edges to it
    for i in range(len(starts) - 1):
        fresh = np.int64(i + 1) << 32
        for k in range(starts[i], starts[i + 1]):
            own = unit[ends[k]]
            seen[own] = max(seen[own], fresh) + 1
        for k in range(starts[i], starts[i + 1]):
            weights[k] = share[seen[unit[ends[k]]] & 0xFFFFFFFF]


@lean_inline
def renew(adjacency, given, fresh):
    """fresh[i] = weighted sum of `given` over list i, four at a time. Returns the sum of squares."""
    _, starts, ends, weights = adjacency
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
        fresh[i] = (a + b) + (c + d)
        square += fresh[i] * fresh[i]
    return square


@lean_inline
def normalise(fresh, square, values):
    """values = fresh scaled to length 1. Returns the greatest change."""
    factor, change = 1.0 / np.sqrt(square), 0.0
    for i in range(len(values)):
        value = fresh[i] * factor
        change = max(change, abs(value - values[i]))
        values[i] = value
    return change


@kernel
def rank_nodes(edges, weighted, max_rounds, tolerance):
    """Hub and authority scores of all nodes, each of length 1; the number of rounds; the last change. 0 without edges.

    Power iteration from 1 everywhere, until no score changes by `tolerance`. If weighted, k edges from one unit to one
    node count 1/k each as authority, l from one node to one unit 1/l as hub.
    """
    size = len(edges.starts) - 1
    hub_scores, authority_scores, rounds, change = np.zeros(size), np.zeros(size), np.int64(0), 0.0
    if len(edges.ends) == 0:
        return hub_scores, authority_scores, rounds, change
    by_hub, by_authority = arrange(edges)
    if weighted:
        weigh(by_hub, edges.unit[by_authority.order], edges.units)
        weigh(by_authority, edges.unit[by_hub.order], edges.units)
    hubs, authorities = np.ones(len(by_hub.order)), np.ones(len(by_authority.order))
    fresh_hubs, fresh = np.empty(len(hubs)), np.empty(len(authorities))
    while rounds < max_rounds and (rounds == 0 or change >= tolerance):
        square = renew(by_authority, hubs, fresh)
        change = normalise(fresh, square, authorities)
        square = renew(by_hub, authorities, fresh_hubs)
        change = max(change, normalise(fresh_hubs, square, hubs))
        rounds += 1
    hub_scores[by_hub.order], authority_scores[by_authority.order] = hubs, authorities
    return hub_scores, authority_scores, rounds, change
