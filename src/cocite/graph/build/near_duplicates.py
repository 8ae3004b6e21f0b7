"""Which pages are merged because their links are the same, or nearly: a part of a build's fifth pass.

kernels/build/near_duplicates.py has the rule and algorithm; `View.merge` (related/neighbourhood/view.py) applies it.
"""

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.kernels.build import near_duplicates
from cocite.kernels.codec.lists import Lists

CHUNK_PAGES = 1 << 16


def near_duplicate_groups(out: Lists, in_degree: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """All pages that have near-duplicates, ascending, and the representative of each."""
    n, max_links = len(out.degree), max(1, int(out.degree.max(initial=0)))
    hashes, sketches = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    rows = int(near_duplicates.count_prefixes(out.degree, 0, n))
    tokens, pages = np.zeros(rows, np.uint32), np.zeros(rows, np.uint32)
    at = 0
    for first in range(0, n, CHUNK_PAGES):
        some = hashes[first : first + CHUNK_PAGES]
        at += verify(
            near_duplicates.sketch_lists(
                out, in_degree, first, some, sketches[first:], tokens[at:], pages[at:], max_links
            )
        )
    parent = np.arange(n, dtype=np.uint32)
    eligible = np.flatnonzero(hashes).astype(np.uint32)
    by_hash = eligible[np.argsort(hashes[eligible], kind="stable")]
    verify(near_duplicates.unite_equal(out, by_hash, hashes, parent, max_links))
    # Of pages with equal links, one is compared with the others.
    first_of_equals = parent[pages] == pages
    tokens, pages = tokens[first_of_equals], pages[first_of_equals]
    order = np.lexsort((pages, out.degree[pages], tokens))
    verify(near_duplicates.unite_alike(out, tokens[order], pages[order], sketches, parent, max_links))
    representative = np.arange(n, dtype=np.uint32)
    near_duplicates.choose_representatives(parent, in_degree, representative)
    roots = parent[parent]
    while (roots != parent).any():
        parent, roots = roots, roots[roots]
    members = np.flatnonzero(np.bincount(parent, minlength=n)[parent] > 1).astype(np.uint32)
    return members, representative[parent[members]]


def verify(result: int) -> int:
    """The result of a kernel. Raises BadStore for what it reports as damage: here, a fault of the disk, or a bug."""
    if result < 0:
        raise BadStore("the links just written cannot be read back: check the disk, and build again")
    return int(result)
