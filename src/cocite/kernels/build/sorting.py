"""Sorting links out of core: rows go to buckets of neighbouring pages, and each bucket is sorted in memory.

Bucket borders lie on *cells*, runs of 2^shift pages, so that a small table gives the bucket of a page.
Rows keep their order, so every sort below is stable and the result does not depend on threads.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of
from cocite.kernels.codec.look_up import add_before
from cocite.kernels.hash_tables import MISSING, new_table, random_factor, stamped_slot, table_size
from cocite.kernels.jit import kernel


class Cells(NamedTuple):
    """The bucket of each cell of 2^shift pages."""

    bucket: NDArray[np.int64]
    shift: int


class BatchRows(NamedTuple):
    """The records of a batch and their links: those of record r are target[first_link[r]:first_link[r + 1]]."""

    source: NDArray[np.uint32]
    taken: NDArray[np.bool_]  # whether the record's links count
    first_link: NDArray[np.int64]
    target: NDArray[np.uint32]
    attribute: NDArray[np.uint32]


class BucketRows(NamedTuple):
    """The records of a bucket, their links one after another. `order` sorts them by source."""

    order: NDArray[np.int64]
    source: NDArray[np.uint32]
    start: NDArray[np.int64]
    links: NDArray[np.uint32]  # how many
    target: NDArray[np.uint32]
    attribute: NDArray[np.uint32]


@kernel
def count_cells(pages, shift, cells):
    """Count pages by cell of 2^shift; MISSING isn't a page."""
    for page in pages:
        if page != MISSING:
            cells[np.int64(page) >> shift] += 1


@kernel
def pick(values, places):
    """values[places]: NumPy converts the places first, which takes three times as long."""
    picked = np.empty(len(places), values.dtype)
    for i in range(len(places)):
        picked[i] = values[places[i]]
    return picked


@kernel
def choose_records(sequence, pages, orders, partial, first_record, best_order, best_record):
    """For every page the record that wins: the greatest order, the latest of equals. Partial records do not compete."""
    for r in sequence:
        page = pages[r]
        if page != MISSING and not partial[r] and orders[r] >= best_order[page]:
            best_order[page] = orders[r]
            best_record[page] = first_record + r


@kernel
def find_circles(alias, circle):
    """circle[page] = the first page of the cycle that aliases form with it. Returns how many pages are in one."""
    seen = np.zeros(len(alias), np.uint32)  # on the walk from which page, and 1
    found = np.int64(0)
    for start in range(len(alias)):
        page = np.int64(start)
        while seen[page] == 0 and alias[page] != page:
            seen[page] = start + 1
            page = np.int64(alias[page])
        if seen[page] != start + 1:
            continue
        first, other = page, np.int64(alias[page])
        while other != page:
            first, other = min(first, other), np.int64(alias[other])
        while circle[page] != first:
            circle[page] = first
            page = np.int64(alias[page])
            found += 1
    return found


@kernel
def resolve_aliases(alias):
    """Follow aliases, which make no circles, to their end. Returns how many there are."""
    count = 0
    for page in range(len(alias)):
        end = np.int64(page)
        while alias[end] != end:
            end = np.int64(alias[end])
        other = np.int64(page)
        while other != end:  # all that lie on the way lead there too, so a long chain is walked once
            following = np.int64(alias[other])
            alias[other] = end
            other = following
        count += end != page
    return count


@kernel
def scatter_rows(rows, alias, cells, row_bounds, link_bounds, usable):
    """Order the records that count, and their links, by bucket of the source.

    Returns (sources, numbers of links), (places of links in the batch, targets, attributes). Replaces aliases among the
    targets (`alias` may be empty); links of a page to itself become MISSING. Bounds of rows and links by bucket go to
    two arrays of zeros. `usable` gets how many links with a target don't count, and how many do.
    """
    targets = rows.target
    for r in range(len(rows.source)):
        for k in range(rows.first_link[r], rows.first_link[r + 1]):
            usable[np.int64(rows.taken[r])] += targets[k] != MISSING
        if not rows.taken[r]:
            continue
        bucket = cells.bucket[np.int64(rows.source[r]) >> cells.shift]
        row_bounds[bucket + 1] += 1
        for k in range(rows.first_link[r], rows.first_link[r + 1]):
            if targets[k] != MISSING:
                if len(alias) > 0:
                    targets[k] = alias[targets[k]]
                if targets[k] == rows.source[r]:
                    targets[k] = MISSING
            link_bounds[bucket + 1] += targets[k] != MISSING
    row_at, link_at = add_before(row_bounds), add_before(link_bounds)
    source, count = np.empty(row_bounds[-1], np.uint32), np.empty(row_bounds[-1], np.uint32)
    link, target = np.empty(link_bounds[-1], np.uint32), np.empty(link_bounds[-1], np.uint32)
    attribute = np.empty(link_bounds[-1], np.uint32)
    for r in range(len(rows.source)):
        if not rows.taken[r]:
            continue
        bucket = cells.bucket[np.int64(rows.source[r]) >> cells.shift]
        at = begin = link_at[bucket]
        for k in range(rows.first_link[r], rows.first_link[r + 1]):
            if targets[k] != MISSING:
                link[at], target[at], attribute[at] = k, targets[k], rows.attribute[k]
                at += 1
        link_at[bucket] = at
        source[row_at[bucket]], count[row_at[bucket]] = rows.source[r], at - begin
        row_at[bucket] += 1
    return (source, count), (link, target, attribute)


@kernel
def join_rows(rows, low, starts, kept, longest):
    """Lists of pages [low, low + len(starts) - 1): targets made distinct, the first of equals kept.

    starts[i] receives where page low + i begins in `kept`, which receives positions in `rows.target`. No page has more
    than `longest` links.
    """
    table, at, i = new_table(longest, 0), np.int64(0), 0
    for page in range(len(starts) - 1):
        starts[page] = at
        while i < len(rows.order) and np.int64(rows.source[rows.order[i]]) == low + page:
            row = rows.order[i]
            for k in range(rows.start[row], rows.start[row] + rows.links[row]):
                slot, entry = stamped_slot(table, uint64(page + 1), rows.target[k])
                if table[slot] != entry:
                    table[slot] = entry
                    kept[at] = k
                    at += 1
            i += 1
    starts[len(starts) - 1] = at
    return at


@kernel
def find_repeats(rows, low, starts, kept, longest):
    """Links that `join_rows` skipped, the first to their target in a block: pages and positions, in page order."""
    room = len(rows.target) - len(kept)
    pages, links = np.empty(room, np.uint32), np.empty(room, np.int64)
    keys, stamps = np.empty(table_size(longest), np.uint64), np.zeros(table_size(longest), np.uint32)
    mask, shift, factor = uint64(len(keys) - 1), uint64(64), random_factor()
    while uint64(1) << (uint64(64) - shift) < uint64(len(keys)):
        shift -= uint64(1)
    found, i = np.int64(0), 0
    for page in range(len(starts) - 1):
        begin, total = i, np.int64(0)
        while i < len(rows.order) and np.int64(rows.source[rows.order[i]]) == low + page:
            total += np.int64(rows.links[rows.order[i]])
            i += 1
        at, end = starts[page], starts[page + 1]
        most = found + end - at
        if total == end - at:
            continue
        for row in rows.order[begin:i]:
            for k in range(rows.start[row], rows.start[row] + rows.links[row]):
                first = at < end and np.int64(kept[at]) == k
                at += first
                block = block_of(rows.attribute[k])
                if block == 0:
                    continue
                key = uint64(rows.target[k]) << uint64(32) | uint64(block)
                slot = (key * factor) >> shift
                while stamps[slot] == page + 1 and keys[slot] != key:
                    slot = (slot + uint64(1)) & mask
                if stamps[slot] != page + 1:
                    stamps[slot], keys[slot] = page + 1, key
                    if not first and found < most:
                        pages[found], links[found] = low + page, k
                        found += 1
    return pages[:found], links[:found]


@kernel
def turn_rows(starts, low, targets, cells, bounds):
    """Links by bucket of their target, in the order of their sources: (targets, sources). `bounds` is 0 before."""
    for k in range(len(targets)):
        bounds[cells.bucket[np.int64(targets[k]) >> cells.shift] + 1] += 1
    at = add_before(bounds)
    to, of = np.empty(len(targets), np.uint32), np.empty(len(targets), np.uint32)
    for page in range(len(starts) - 1):
        for k in range(starts[page], starts[page + 1]):
            bucket = cells.bucket[np.int64(targets[k]) >> cells.shift]
            to[at[bucket]], of[at[bucket]] = targets[k], low + page
            at[bucket] += 1
    return to, of


@kernel
def sort_turned(row_target, row_source, low, starts, sources):
    """Lists of links in of pages [low, low + len(starts) - 1), each ascending because the rows are by source."""
    for k in range(len(row_target)):
        starts[np.int64(row_target[k]) - low + 1] += 1
    following = add_before(starts)
    for k in range(len(row_target)):
        i = np.int64(row_target[k]) - low
        sources[following[i]] = row_source[k]
        following[i] += 1
