"""Random walk with restart from one page, pushed along links only where that still matters.

In rounds: a round pushes what pages had when it began, so that no order of pages or links changes a rank.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, read_list
from cocite.kernels.hash_tables import NumberedSet, add_member
from cocite.kernels.jit import kernel, lean_inline


class WalkedLinks(NamedTuple):
    """The links that a walk follows: those of `first`, and with `both` those of `second`."""

    first: Lists
    second: Lists
    both: bool


class WalkState(NamedTuple):
    """Pages of a walk with ranks, and rests to push on. `queue` is a ring of pages to push; `waiting` marks them.

    `amounts` has what the pages of this round push.
    """

    found: NumberedSet
    ranks: NDArray[np.float64]
    rests: NDArray[np.float64]
    origin: NDArray[np.int32]
    waiting: NDArray[np.bool_]
    queue: NDArray[np.int32]
    amounts: NDArray[np.float64]


@lean_inline
def degree_of(links, page):
    """The number of links that a walk may follow from a page."""
    return np.int64(links.first.degree[page]) + (np.int64(links.second.degree[page]) if links.both else np.int64(0))


@kernel
def push(followed, restart, least, state, count, head, end, tail):
    """Push rests of at least `least` per link, while there is room: (pages, head, end, tail); done if head is tail.

    The pages queue[head:end] are those of this round, and queue[end:tail] those of the next.
    """
    found, ranks, rests, origin, waiting, queue, amounts = state
    first, second, both = followed  # once: taking a list out of a tuple counts references to all its arrays
    links, none, size = np.empty(1024, np.uint32), np.empty(0, np.uint32), np.int64(len(queue))
    while head != tail:
        if head == end:
            end = tail
            for k in range(head, end):
                at = np.int64(queue[k % size])
                amounts[k % size] = rests[at]
                waiting[at], rests[at] = False, 0.0
        at = np.int64(queue[head % size])
        page = np.int64(found.members[at])
        degree = degree_of(followed, page)
        if count + degree > len(found.members):
            return count, head, end, tail
        rest = amounts[head % size]
        head += 1
        ranks[at] += restart * rest
        if degree == 0:
            ranks[at] += (1.0 - restart) * rest  # a walk that cannot go on ends here
            continue
        if degree > len(links):
            links = np.empty(2 * degree, np.uint32)
        some = read_list(first, page, links, none)
        more = np.int64(0)
        if both and some >= 0:
            more = read_list(second, page, links[some:], none)
        if some < 0 or more < 0:
            return np.int64(DAMAGED), head, end, tail
        share = (1.0 - restart) * rest / degree
        for k in range(some + more):
            other = add_member(found, count, links[k])
            if other == count:
                ranks[other], rests[other], origin[other], waiting[other] = 0.0, 0.0, at, False
                count += 1
            rests[other] += share
            if not waiting[other] and rests[other] >= least * max(1, degree_of(followed, np.int64(links[k]))):
                waiting[other] = True
                queue[tail % size] = other
                tail += 1
    return count, head, end, tail
