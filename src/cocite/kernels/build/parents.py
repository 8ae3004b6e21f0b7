"""What a store keeps ready of long lists: entry points, and chosen parents of pages with many."""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.addresses.hashes import hash_long
from cocite.kernels.bundles import lent
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Place, address_key, bounds_of, decode_part, read_grown, sort_by_address
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import inline, kernel


class SkipPoints(NamedTuple):
    """Entry points into long lists: see `skip` and `long` in graph/FORMAT.md."""

    bit: NDArray[np.uint32]
    before: NDArray[np.uint32]
    attribute: NDArray[np.uint32]
    target: NDArray[np.uint32]
    place: NDArray[np.uint32]


@kernel
def skip_points(lists, pages, every, points, with_attributes):
    """Entry points before every `every`-th link; with attributes, also each list's targets, ascending, with places."""
    targets = np.empty(lists.degree[pages].max() if len(pages) > 0 else 0, np.uint32)
    attributes = np.empty(len(targets) if with_attributes else 0, np.uint32)
    point = link = np.int64(0)
    for number in pages:
        page = np.int64(number)
        degree = np.int64(lists.degree[page])
        start, stop = bounds_of(lists, page)
        position, previous, attribute, done = start, page, np.int64(0), np.int64(0)
        while done < degree:
            points.bit[point] = position - start
            points.before[point] = previous
            if with_attributes:
                points.attribute[point] = attribute
            point += 1
            part = min(np.int64(every), degree - done)
            place = Place(position, stop, previous, attribute)
            position = decode_part(lists, page, place, part, targets, attributes, done)
            if position < 0:
                return np.int64(DAMAGED)
            done += part
            previous = np.int64(targets[done - 1])
            if with_attributes:
                attribute = np.int64(attributes[done - 1])
        if with_attributes:
            order = np.argsort(targets[:degree])
            for k in range(degree):
                points.target[link + k] = targets[order[k]]
                points.place[link + k] = order[k]
            link += degree
    return point


@lent
class StoredParents(NamedTuple):
    """Parents that the store keeps for pages with many, best first or a sample: a row for each page."""

    page: NDArray[np.uint32]
    first: NDArray[np.uint64]  # where the row of each begins in `parent`
    parent: NDArray[np.uint32]
    size: int  # parents in each row


_EMPTY = np.frombuffer(b"", np.uint32)  # read-only, as the arrays of a store are
NONE_STORED = StoredParents(_EMPTY, np.frombuffer(b"", np.uint64), _EMPTY, 0)


@inline
def row_of(stored, page):
    """Where the row of a page begins in `stored.parent`; -1 if it has none, or if the row is not inside."""
    at = find_position(stored.page, page)
    first = np.int64(stored.first[at]) if at >= 0 else np.int64(-1)
    return first if first + np.int64(stored.size) <= len(stored.parent) else np.int64(-1)


@inline
def sift_down(heap, size, at):
    """Restore a heap with its smallest key on top."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[at] <= heap[child]:
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@inline
def best_parents(lists, parents, count, keep, heap, out):
    """The `keep` parents of highest in-degree, the first by address of equals, into `out`; returns how many.

    `lists` are the links in. `parents` ascend by number, and are brought into the order of addresses.
    """
    size = np.int64(0)
    sort_by_address(lists, parents, count)
    for k in range(count):
        key = uint64(lists.degree[parents[k]]) << uint64(32) | (uint64(0xFFFFFFFF) - uint64(k))
        if size < keep:
            heap[size] = key
            size += 1
            if size == keep:
                for at in range(keep // 2 - 1, -1, -1):
                    sift_down(heap, size, at)
        elif key > heap[0]:
            heap[0] = key
            sift_down(heap, size, np.int64(0))
    ordered = np.sort(heap[:size])
    for k in range(size):
        out[k] = parents[np.int64(uint64(0xFFFFFFFF) - (ordered[size - 1 - k] & uint64(0xFFFFFFFF)))]
    return size


@inline
def ranks_before(lists, one, other):
    """Whether a parent comes before another: by in-degree, then by address."""
    if lists.degree[one] != lists.degree[other]:
        return lists.degree[one] > lists.degree[other]
    return address_key(lists, one) < address_key(lists, other)


class ChosenParents(NamedTuple):
    """For each of some pages, parents to choose among: the stored ones, and more of them; without a row, all."""

    row: NDArray[np.int64]  # where the stored ones begin, -1: there are none; empty: there are none of any page
    stored: NDArray[np.uint32]
    size: int  # stored parents in a row
    more: NDArray[np.uint32]
    bounds: NDArray[np.int64]  # where those of each page begin in `more`, and where they end


NO_ROW = -2
ALL_PARENTS = ChosenParents(np.zeros(0, np.int64), _EMPTY, 0, np.zeros(0, np.uint32), np.zeros((0, 2), np.int64))


@inline
def stored_row(lists, among, i, out):
    """Copy the stored parents of pages[i] into `out`. Returns how many, NO_ROW if there are none, or DAMAGED."""
    if len(among.row) == 0 or among.row[i] < 0 or among.size != len(out):
        return np.int64(NO_ROW)
    row = among.row[i]
    if row + np.int64(among.size) > len(among.stored):
        return np.int64(DAMAGED)
    for k in range(among.size):
        parent = among.stored[row + k]
        if parent >= len(lists.degree):
            return np.int64(DAMAGED)
        out[k] = parent
    for parent in among.more[among.bounds[i, 0] : among.bounds[i, 1]]:
        if parent >= len(lists.degree):
            return np.int64(DAMAGED)
    return np.int64(among.size)


@inline
def put_in(out, size, at, parent):
    """Put a parent at a place of a row, whose last one falls out if it is full. Returns how many it has."""
    if at < len(out):
        for k in range(min(size, len(out) - 1), at, -1):
            out[k] = out[k - 1]
        out[at] = parent
        size = min(size + 1, np.int64(len(out)))
    return size


@inline
def renew_best(lists, more, size, out):
    """Put parents that are new, or whose in-degrees are others, into a row of best parents, in their places."""
    kept = np.int64(0)
    for k in range(size):
        changed = False
        for parent in more:
            changed |= parent == out[k]
        out[kept] = out[k]
        if not changed:
            kept += 1
    for parent in more:
        at = kept
        while at > 0 and ranks_before(lists, parent, out[at - 1]):
            at -= 1
        kept = put_in(out, kept, at, parent)


@kernel
def best_of_all(lists, pages, among, keep, out):
    """`best_parents` of many pages, a row of `keep` each; `among` ChosenParents."""
    parents, heap = np.empty(1024, np.uint32), np.empty(keep, np.uint64)
    for i in range(len(pages)):
        size = stored_row(lists, among, i, out[i])
        if size == NO_ROW:
            size, parents = read_grown(lists, np.int64(pages[i]), parents)
            if size >= 0:
                best_parents(lists, parents, size, keep, heap, out[i])
        elif size >= 0:
            renew_best(lists, among.more[among.bounds[i, 0] : among.bounds[i, 1]], size, out[i])
        if size < 0:
            return np.int64(DAMAGED)
    return np.int64(len(pages))


@inline
def sample_parents(parents, child, fingerprints, seed, keep, out):
    """Choose the `keep` parents of smallest hash64(seed, child's fingerprint, parent's), in order. Returns how many."""
    count = np.int64(len(parents))
    hashes, chosen = np.empty(count, np.uint64), np.empty(count, np.uint32)
    child_hash = hash_long(uint64(child), uint64(seed))
    share = (np.float64(keep) + 8.0 * np.sqrt(np.float64(keep)) + 8.0) / max(1, count)
    while True:
        limit = uint64(0xFFFFFFFFFFFFFFFF) if share >= 1.0 else uint64(share * 18446744073709549568.0)
        found = np.int64(0)
        for k in range(count):
            value = hash_long(uint64(fingerprints[parents[k]]), child_hash)
            if value <= limit:
                hashes[found] = value
                chosen[found] = parents[k]
                found += 1
        if found >= min(keep, count):
            break
        share *= 2.0
    order = np.argsort(hashes[:found])
    kept = min(np.int64(keep), found)
    for k in range(kept):
        out[k] = chosen[order[k]]
    return kept


@kernel
def reordered(stored, lists, pages, starts, changed, before, found):
    """Set found[i] if the stored best parents of pages[i] may be others, or in another order, or if it has none.

    `lists` are the links in. changed[starts[i] : starts[i + 1]] are parents of the page that are new, or whose
    in-degrees were `before` others; pages beyond its end are new. It matters if one is stored and no longer between its
    neighbours, if it isn't and now comes before the last one that is, or if the last one fell: those behind it are
    unknown.
    """
    for i in range(len(pages)):
        row, end = row_of(stored, pages[i]), stored.size - 1
        found[i] = row < 0
        if row < 0:
            continue
        kept = stored.parent[row : row + stored.size]
        if len(before) > len(lists.degree) or kept.max() >= len(lists.degree):
            return np.int64(DAMAGED)
        for k in range(starts[i], starts[i + 1]):
            parent, place = changed[k], np.int64(-1)
            if parent >= len(lists.degree):
                return np.int64(DAMAGED)
            for at in range(stored.size):
                if kept[at] == parent:
                    place = np.int64(at)
            if place < 0:
                found[i] |= ranks_before(lists, parent, kept[end])
            else:
                found[i] |= place > 0 and ranks_before(lists, parent, kept[place - 1])
                found[i] |= place < end and ranks_before(lists, kept[place + 1], parent)
                found[i] |= place == end and parent < len(before) and lists.degree[parent] < before[parent]
    return np.int64(len(pages))


@kernel
def resampled(stored, pages, starts, added, fingerprints, seed, found):
    """Set found[i] if the stored sample of the parents of pages[i] changes, or if it has none.

    added[starts[i] : starts[i + 1]] are its new parents: one matters if its hash is not above that of the last stored.
    """
    for i in range(len(pages)):
        row, page = row_of(stored, pages[i]), np.int64(pages[i])
        found[i] = row < 0
        if row < 0:
            continue
        last = stored.parent[row + stored.size - 1]
        if last >= len(fingerprints) or page >= len(fingerprints):
            return np.int64(DAMAGED)
        child_hash = hash_long(uint64(fingerprints[page]), uint64(seed))
        highest = hash_long(uint64(fingerprints[last]), child_hash)
        for k in range(starts[i], starts[i + 1]):
            if added[k] >= len(fingerprints):
                return np.int64(DAMAGED)
            found[i] |= hash_long(uint64(fingerprints[added[k]]), child_hash) <= highest
    return np.int64(len(pages))


@inline
def renew_sample(more, child, fingerprints, seed, size, out):
    """Put new parents into a sample, in the order of their hashes."""
    child_hash = hash_long(uint64(child), uint64(seed))
    for parent in more:
        value, low, high = hash_long(uint64(fingerprints[parent]), child_hash), np.int64(0), size
        while low < high:
            middle = (low + high) >> 1
            if hash_long(uint64(fingerprints[out[middle]]), child_hash) < value:
                low = middle + 1
            else:
                high = middle
        if low == size or out[low] != parent:
            size = put_in(out, size, low, parent)


@kernel
def sample_of_all(lists, pages, among, fingerprints, seed, keep, out):
    """`sample_parents` of many pages, a row of `keep` each; `among` ChosenParents."""
    parents = np.empty(1024, np.uint32)
    for i in range(len(pages)):
        child = fingerprints[np.int64(pages[i])]
        size = stored_row(lists, among, i, out[i])
        if size == NO_ROW:
            size, parents = read_grown(lists, np.int64(pages[i]), parents)
            if size >= 0:
                sample_parents(parents[:size], child, fingerprints, seed, keep, out[i])
        elif size >= 0:
            renew_sample(among.more[among.bounds[i, 0] : among.bounds[i, 1]], child, fingerprints, seed, size, out[i])
        if size < 0:
            return np.int64(DAMAGED)
    return np.int64(len(pages))
