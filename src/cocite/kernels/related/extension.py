"""Kleinberg's extension of a set of pages of any size: all children, and a few parents, of each page."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.build.parents import sample_parents
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, expect, most_links, read_list
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import kernel
from cocite.kernels.related.vicinity import AHEAD, number


class BothLinks(NamedTuple):
    """Links in both directions, the stored samples of parents, and the fingerprints by which parents are chosen."""

    out: Lists
    into: Lists
    sample_page: NDArray[np.uint32]
    sample_parent: NDArray[np.uint32]
    fingerprints: NDArray[np.uint64]


class Extended(NamedTuple):
    """Pages numbered in order, and the index of the page from which each was reached.

    `table` and `number` are a hash table of the numbers.
    """

    table: NDArray[np.uint32]
    number: NDArray[np.int32]
    pages: NDArray[np.uint32]
    origin: NDArray[np.int64]


@kernel
def extend(both, seed, pages, most, extended, count):
    """Add all children, and the `most` parents with the smallest hashes, of pages; returns how many there are then.

    Parents come from a stored sample if it is large enough. `extended` must have room for all. DAMAGED if a list cannot
    be read.
    """
    out, into, sample_page, sample_parent, fingerprints = both
    table, local, found, origin = extended
    none = np.empty(0, np.uint32)
    links = np.empty(1024, np.uint32)
    hashes, chosen, few = np.empty(1024, np.uint64), np.empty(1024, np.uint32), np.empty(max(1, most), np.uint32)
    ready = len(sample_parent) // max(1, len(sample_page))
    for i in range(len(pages)):
        page = np.int64(pages[i])
        expect(out, pages, i, AHEAD)
        degree = np.int64(out.degree[page])
        if max(degree, np.int64(into.degree[page])) > max(most_links(out), most_links(into)):
            return np.int64(DAMAGED)
        if degree > len(links):
            links = np.empty(2 * degree, np.uint32)
        if read_list(out, page, links, none) != degree:
            return np.int64(DAMAGED)
        for k in range(degree):
            before = count
            count = number(table, local, found, count, links[k])
            if count > before:
                origin[before] = i
        degree = np.int64(into.degree[page])
        if most == 0 or degree == 0:
            continue
        row = np.int64(-1)
        if degree > ready and most <= ready:
            row = find_position(sample_page, page)
        if row >= 0:
            taken = np.int64(most)
            for k in range(taken):
                few[k] = sample_parent[row * ready + k]
                if few[k] >= len(into.degree):
                    return np.int64(DAMAGED)
        else:
            if degree > len(links):
                links = np.empty(2 * degree, np.uint32)
            if read_list(into, page, links, none) != degree:
                return np.int64(DAMAGED)
            if degree > len(hashes):
                hashes, chosen = np.empty(2 * degree, np.uint64), np.empty(2 * degree, np.uint32)
            if degree <= most:
                taken = degree
                for k in range(taken):
                    few[k] = links[k]
            else:
                taken = sample_parents(
                    links[:degree], fingerprints[page], fingerprints, seed, most, hashes, chosen, few
                )
        for k in range(taken):
            before = count
            count = number(table, local, found, count, few[k])
            if count > before:
                origin[before] = i
    return count
