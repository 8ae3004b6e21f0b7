"""Near-duplicates merged into their representatives, and pages grouped by unit."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.build.near_duplicates import find_root, unite
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.hash_tables import add_member, new_set
from cocite.kernels.jit import kernel


class NearPages(NamedTuple):
    """Pages that have near-duplicates, ascending, and the representative of each."""

    page: NDArray[np.uint32]
    representative: NDArray[np.uint32]


@kernel
def representatives(near_page, near_representative, pages, found):
    """found[i] = the representative of pages[i]; flat arguments pass faster. Returns how many aren't their own."""
    others = np.int64(0)
    for i in range(len(pages)):
        found[i] = pages[i]
        at = find_position(near_page, pages[i])
        if at >= 0 and near_representative[at] != pages[i]:
            found[i] = near_representative[at]
            others += 1
    return others


@kernel
def merge_pages(near, pages):
    """Merge near-duplicates among different pages: (representatives, the index of each page's, how many changed)."""
    merged, found = np.arange(len(pages)).astype(np.int32), np.empty(len(pages), np.uint32)
    others = representatives(near.page, near.representative, pages, found) if len(near.page) > 0 else np.int64(0)
    if others == 0:
        return pages, merged, others
    numbered, count = new_set(len(pages)), np.int64(0)
    for i in range(len(pages)):
        merged[i] = add_member(numbered, count, found[i])
        count += merged[i] == count
    return numbered.members[:count], merged, others


@kernel
def group(first, second):
    """Items with the same `first` or the same `second` value form a group, transitively: (group numbers, how many)."""
    above, owner = np.arange(len(first)), np.empty(len(first), np.int64)
    for values in (first, second):
        numbered, count = new_set(len(values)), np.int64(0)
        for i in range(len(values)):
            at = add_member(numbered, count, values[i])
            if at == count:
                owner[at] = i
                count += 1
            else:
                unite(above, owner[at], i)
    groups, count = np.empty(len(first), np.int32), np.int64(0)
    for i in range(len(first)):
        top = find_root(above, i)
        groups[i] = count if top == i else groups[top]
        count += top == i
    return groups, count
