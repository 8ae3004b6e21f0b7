"""Links of pages as sets: no page twice, never the page itself, and of long lists a sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.build.parents import sample_parents
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, expect, most_links, read_list
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.jit import kernel
from cocite.kernels.related.vicinity import AHEAD


class SampledLists(NamedTuple):
    """Lists, and the stored samples of long ones, if there are any."""

    lists: Lists
    sample_page: NDArray[np.uint32]
    sample_parent: NDArray[np.uint32]


@kernel
def read_sets(sampled, fingerprints, seed, pages, most, sets):
    """The links of each page, ascending, as a row of `sets`; DAMAGED if a list is.

    Of more than `most` links, those with the smallest hashes are taken, from a stored sample if it is large enough.
    `sets` has room for min(degree, most) links of each page.
    """
    lists, sample_page, sample_parent = sampled
    starts, found = sets
    none = np.empty(0, np.uint32)
    links, few = np.empty(1024, np.uint32), np.empty(most, np.uint32)
    hashes, chosen = np.empty(1024, np.uint64), np.empty(1024, np.uint32)
    ready = len(sample_parent) // max(1, len(sample_page))
    total = np.int64(len(fingerprints))
    starts[0] = 0
    for i in range(len(pages)):
        page = np.int64(pages[i])
        expect(lists, pages, i, AHEAD)
        degree = np.int64(lists.degree[page])
        if degree > most_links(lists):
            return np.int64(DAMAGED)
        row = np.int64(-1)
        if degree > ready and most <= ready:
            row = find_position(sample_page, page)
        if row >= 0:
            taken = np.int64(most)
            few[:taken] = sample_parent[row * ready : row * ready + taken]
        else:
            if degree > len(links):
                links, hashes, chosen = (
                    np.empty(2 * degree, np.uint32), np.empty(2 * degree, np.uint64), np.empty(2 * degree, np.uint32)
                )  # fmt: skip
            if read_list(lists, page, links, none) != degree:
                return np.int64(DAMAGED)
            taken = min(degree, np.int64(most))
            if degree <= most:
                few[:taken] = links[:taken]
            else:
                taken = sample_parents(
                    links[:degree], fingerprints[page], fingerprints, seed, most, hashes, chosen, few
                )
        ordered = np.sort(few[:taken])
        at = starts[i]
        for k in range(taken):
            other = np.int64(ordered[k])
            if other >= total:
                return np.int64(DAMAGED)
            if other != page and (k == 0 or ordered[k] != ordered[k - 1]):
                found[at] = other
                at += 1
        starts[i + 1] = at
    return np.int64(len(pages))
