"""Links among a set of pages as a small graph, weights of its edges, and power iteration on it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import most_links, prefetch, read_list
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.hash_tables import add_member, add_members, bit_filter, keep_likely, new_set, number_of
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related import counted_links as counted
from cocite.kernels.related.merging import merge_pages


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
    room, longest = np.int64(0), max(counted.SEARCH_RATIO * np.int64(len(nodes)), np.int64(counted.LONG_LIST_LINKS))
    for i in range(len(nodes)):
        degree = np.int64(out.lists.degree[nodes[i]])
        if i < len(read.whole) and read.whole[i]:
            room += read.starts[i + 1] - read.starts[i]
        else:
            room += degree if excluded.flags != 0 else min(degree, longest)  # longer lists are searched
    valid = room <= most_links(out.lists)
    starts, found = np.zeros(len(nodes) + 1, np.int64), np.empty(room if valid else np.int64(0), np.uint32)
    total = edges_among(out, nodes, read, excluded, unit, starts, found) if valid else np.int64(DAMAGED)
    ends = found[: max(total, 0)].view(np.int32)
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
def edges_among(out, nodes, read, excluded, unit, starts, ends):
    """All links between nodes of different units; `ends` has room for all lists that are read. Returns how many."""
    numbered, size = new_set(len(nodes)), len(nodes)
    add_members(numbered, np.int64(0), nodes)
    if keep_links(out, nodes, read, excluded, bit_filter(nodes), starts, ends) < 0:
        return np.int64(DAMAGED)
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
    return count


@inline
def keep_links(out, nodes, read, excluded, bits, kept_starts, kept):
    """Links from nodes to pages that pass the filter, nearly all of them nodes. Returns how many, or DAMAGED."""
    room, count, plain = np.empty(counted.LONG_LIST_LINKS, np.uint32), np.int64(0), counted.excludes_nothing(excluded)
    for i in range(len(nodes)):
        kept_starts[i] = count
        if i < len(read.whole) and read.whole[i]:
            start, stop = read.starts[i], read.starts[i + 1]
            count += keep_likely(bits, read.targets[start:stop], stop - start, kept[count:])
            continue
        prefetch(out.lists, nodes, i)
        page = np.int64(nodes[i])
        degree = np.int64(out.lists.degree[page])
        if counted.is_searched(out, page, excluded, len(nodes)):
            got = search_all(out, page, nodes, kept[count:])
            if got < 0:
                return np.int64(DAMAGED)
            count += got
            continue
        if degree > len(room):
            room = np.empty(2 * degree, np.uint32)
        if plain:
            degree = read_list(out.lists, page, room, room[:0])
        else:
            degree = counted.read_not_excluded(out, page, excluded, room, room[:0])
        if degree < 0:
            return np.int64(DAMAGED)
        count += keep_likely(bits, room, degree, kept[count:])
    kept_starts[len(nodes)] = count
    return count


@kernel
def search_all(out, page, nodes, kept):
    """The nodes that are in a long list. Returns how many, or DAMAGED."""
    low, high = counted.sorted_targets(out, page)
    count = np.int64(0 if low >= 0 else DAMAGED)
    for j in range(len(nodes) if low >= 0 else 0):
        if find_position(out.target[low:high], nodes[j]) >= 0:
            kept[count] = nodes[j]
            count += 1
    return count


@kernel
def merge_edges(edges, merged):
    """The same edges with node i merged into merged[i], which `pages` and `unit` are by already."""
    size, unit = len(edges.pages), edges.unit
    starts = np.zeros(size + 1, np.int64)
    for i in range(len(merged)):
        starts[merged[i] + 1] += edges.starts[i + 1] - edges.starts[i]
    for i in range(size):
        starts[i + 1] += starts[i]
    raw, following = np.empty(starts[size], np.int32), starts[:-1].copy()
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
    for length in range(longest + 1):
        counts[length + 1] += counts[length]
    filled = counts[longest]
    order, rank = np.empty(size, np.int32), np.empty(size, np.int32)
    for i in range(size):
        place = longest - (starts[i + 1] - starts[i])
        rank[i] = counts[place]
        order[counts[place]] = i
        counts[place] += 1
    return order[:filled], rank


@kernel
def arrange(edges):
    """The edges twice, with weights of 1: by hub and by authority. Other ends are given by their rank in the other."""
    starts, ends, size = edges.starts, edges.ends, len(edges.starts) - 1
    raw = np.zeros(size + 1, np.int64)
    for k in range(starts[size]):
        raw[ends[k] + 1] += 1
    for i in range(size):
        raw[i + 1] += raw[i]
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
    longest = np.int64(0)
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    share = 1.0 / np.maximum(1, np.arange(longest + 1))
    seen = np.zeros(units, np.int64)  # the last list that has the unit << 32 | the number of its edges to it
    for i in range(len(starts) - 1):
        fresh = np.int64(i + 1) << 32
        for k in range(starts[i], starts[i + 1]):
            own = unit[ends[k]]
            seen[own] = max(seen[own], fresh) + 1
        for k in range(starts[i], starts[i + 1]):
            weights[k] = share[seen[unit[ends[k]]] & 0xFFFFFFFF]


@inline
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


@inline
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
    for r in range(len(hubs)):
        hub_scores[by_hub.order[r]] = hubs[r]
    for r in range(len(authorities)):
        authority_scores[by_authority.order[r]] = authorities[r]
    return hub_scores, authority_scores, rounds, change
