"""Kleinberg's extension of a set of pages, whatever its size: all children, and a few parents, of each page."""

from __future__ import annotations

import numpy as np

from cocite.kernels.build.parents import sample_parents
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import expect, most_links, read_list
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import kernel
from cocite.kernels.related.vicinity import AHEAD, number


@kernel
def extend(
    out, into, sample_page, sample_parent, fingerprints, seed, pages, most, table, local, found, origin, count
):  # fmt: skip
    """Number all children, and the `most` parents of smallest hash, of pages; returns how many are numbered then.

    `origin` gets, for every page that is new, the place in `pages` of the one from which it was reached. Parents kept
    ready (`sample_*`) serve where they are enough. DAMAGED if a list cannot be read. `found` must have room for all.
    """
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
