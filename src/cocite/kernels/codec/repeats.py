"""Links that a page repeats in other sections: `repeat` of graph/FORMAT.md.

They are lists like those of links out, in the same code. Only a list's bits say how many links it has.
"""

import numpy as np

from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Place, bounds_of, decode_part, is_inside, most_links
from cocite.kernels.jit import inline, kernel, lean_inline, lean_kernel


@lean_inline
def read_repeats(repeats, page, targets, attributes):
    """The links that a page repeats; returns how many, or DAMAGED. It has no more of them than of other links."""
    if len(repeats.words) == 0:
        return np.int64(0)
    start, stop = bounds_of(repeats, np.int64(page))
    return decode_to_end(repeats, np.int64(page), start, stop, targets, attributes) if start < stop else np.int64(0)


@lean_kernel
def decode_to_end(repeats, page, start, stop, targets, attributes):
    """Decode the links between two bits; returns how many, or DAMAGED."""
    most = min(np.int64(repeats.degree[page]), np.int64(len(targets)))
    count, place = np.int64(0), Place(start, stop, page, np.int64(0))
    while place.position < stop:
        if count == most or not is_inside(repeats, start, stop):
            return np.int64(DAMAGED)
        position = decode_part(repeats, page, place, np.int64(1), targets, attributes, count)
        if position < 0:
            return np.int64(DAMAGED)
        place = Place(position, stop, np.int64(targets[count]), np.int64(attributes[count]))
        count += 1
    return count


@inline
def repeats_of(repeats, page):
    """The links that a page repeats: (whether they can be read, targets, attributes)."""
    start, stop = np.int64(0), np.int64(0)
    if len(repeats.words) > 0:
        start, stop = bounds_of(repeats, np.int64(page))
    room = np.int64(repeats.degree[page]) if start < stop and is_inside(repeats, start, stop) else np.int64(0)
    room = room if room <= most_links(repeats) else np.int64(0)
    targets, attributes = np.empty(room, np.uint32), np.empty(room, np.uint32)
    count = decode_to_end(repeats, np.int64(page), start, stop, targets, attributes) if start < stop else np.int64(0)
    return count >= 0, targets[: max(count, 0)], attributes[: max(count, 0)]


@kernel
def read_some_repeats(repeats, pages, targets, attributes, starts):
    """The repeated links of some pages one after another; returns how many pages could be read, or DAMAGED."""
    starts[0] = 0
    for i in range(len(pages)):
        got = read_repeats(repeats, pages[i], targets[starts[i] :], attributes[starts[i] :])
        if got < 0:
            return np.int64(DAMAGED)
        starts[i + 1] = starts[i] + got
    return np.int64(len(pages))
