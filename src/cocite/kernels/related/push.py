"""Random walk with restart from one page, pushed along links only where that still matters."""

from __future__ import annotations

import numpy as np

from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import read_list
from cocite.kernels.jit import inline, kernel
from cocite.kernels.related.vicinity import EMPTY, slot_of


@inline
def degree_of(out, into, both, page):
    """Links that a walk may take from a page."""
    return np.int64(out.degree[page]) + (np.int64(into.degree[page]) if both else np.int64(0))


@kernel
def push(out, into, both, restart, least, table, local, pages, ranks, rests, origin, queue, waiting, count, head, tail):
    """Push until no page's rest is above `least` for each of its links, or there is no room for more pages.

    ranks and rests together make the walk; `queue` is a ring of places whose rests are to be pushed, from `head` to
    `tail`, `waiting` tells which are in it. Returns (how many pages there are, or DAMAGED; head; tail): if head is not
    tail, call it again with more room.
    """
    none = np.empty(0, np.uint32)
    links = np.empty(1024, np.uint32)
    size = np.int64(len(queue))
    while head != tail:
        place = np.int64(queue[head % size])
        page = np.int64(pages[place])
        degree = degree_of(out, into, both, page)
        if count + degree > len(pages):
            return count, head, tail
        head += 1
        waiting[place] = False
        rest = rests[place]
        rests[place] = 0.0
        ranks[place] += restart * rest
        if degree == 0:
            ranks[place] += (1.0 - restart) * rest  # a walk that cannot go on ends here
            continue
        if degree > len(links):
            links = np.empty(2 * degree, np.uint32)
        found = read_list(out, page, links, none)
        if found < 0:
            return np.int64(DAMAGED), head, tail
        if both:
            more = read_list(into, page, links[found:], none)
            if more < 0:
                return np.int64(DAMAGED), head, tail
            found += more
        share = (1.0 - restart) * rest / degree
        for k in range(found):
            slot = slot_of(table, links[k])
            if table[slot] == EMPTY:
                table[slot] = links[k]
                local[slot] = count
                pages[count] = links[k]
                ranks[count] = 0.0
                rests[count] = 0.0
                origin[count] = place
                waiting[count] = False
                count += 1
            other = np.int64(local[slot])
            rests[other] += share
            if not waiting[other] and rests[other] >= least * max(1, degree_of(out, into, both, np.int64(links[k]))):
                waiting[other] = True
                queue[tail % size] = other
                tail += 1
    return count, head, tail
