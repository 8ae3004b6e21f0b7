"""Random walk with restart from one page, pushed along links only where that still matters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, read_list
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.vicinity import EMPTY, slot_of


class WalkedLinks(NamedTuple):
    """The links that a walk follows: those of `first`, and with `both` those of `second`."""

    first: Lists
    second: Lists
    both: bool


class WalkState(NamedTuple):
    """Pages of a walk, numbered in order, each with a rank and a rest to push on.

    `table` and `number` are a hash table of the numbers. `queue` is a ring of pages to push; `waiting` marks them.
    """

    table: NDArray[np.uint32]
    number: NDArray[np.int32]
    pages: NDArray[np.uint32]
    ranks: NDArray[np.float64]
    rests: NDArray[np.float64]
    origin: NDArray[np.int32]
    waiting: NDArray[np.bool_]
    queue: NDArray[np.int32]


@inline
def degree_of(links, page):
    """The links that a walk may follow from a page."""
    return np.int64(links.first.degree[page]) + (np.int64(links.second.degree[page]) if links.both else np.int64(0))


@kernel
def push(followed, restart, least, state, count, head, tail):
    """Push until no page's rest is at least `least` for each of its links, or there is no room for more pages.

    `head` and `tail` are positions in the queue. Returns (number of pages, or DAMAGED; head; tail): if head is not
    tail, call it again with more room.
    """
    table, number, pages, ranks, rests, origin, waiting, queue = state
    none = np.empty(0, np.uint32)
    links = np.empty(1024, np.uint32)
    size = np.int64(len(queue))
    while head != tail:
        at = np.int64(queue[head % size])
        page = np.int64(pages[at])
        degree = degree_of(followed, page)
        if count + degree > len(pages):
            return count, head, tail
        head += 1
        waiting[at] = False
        rest = rests[at]
        rests[at] = 0.0
        ranks[at] += restart * rest
        if degree == 0:
            ranks[at] += (1.0 - restart) * rest  # a walk that cannot go on ends here
            continue
        if degree > len(links):
            links = np.empty(2 * degree, np.uint32)
        found = read_list(followed.first, page, links, none)
        if found < 0:
            return np.int64(DAMAGED), head, tail
        if followed.both:
            more = read_list(followed.second, page, links[found:], none)
            if more < 0:
                return np.int64(DAMAGED), head, tail
            found += more
        share = (1.0 - restart) * rest / degree
        for k in range(found):
            slot = slot_of(table, links[k])
            if table[slot] == EMPTY:
                table[slot] = links[k]
                number[slot] = count
                pages[count] = links[k]
                ranks[count] = 0.0
                rests[count] = 0.0
                origin[count] = at
                waiting[count] = False
                count += 1
            other = np.int64(number[slot])
            rests[other] += share
            if not waiting[other] and rests[other] >= least * max(1, degree_of(followed, np.int64(links[k]))):
                waiting[other] = True
                queue[tail % size] = other
                tail += 1
    return count, head, tail
