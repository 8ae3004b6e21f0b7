"""One opinion, one voice: near-duplicates stand under one name, pages of one unit speak together.

Which pages are near-duplicates is worked out once, when a store is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related import vicinity
from cocite.related.neighbourhood.view import Pages, View


class Merged(NamedTuple):
    """Pages put together: page i belongs to number[i], for which pages[number[i]] stands."""

    pages: Pages
    number: NDArray[np.int32]


def near_duplicates(view: View) -> tuple[Pages, Pages]:
    """The pages that are near-duplicates, ascending, and what stands for each; none if they are not put together."""
    near, standing = view.graph.facts.near
    return (near, standing) if view.switches.merge else (near[:0], standing[:0])


def representatives(view: View, pages: Pages) -> Pages:
    """The page that stands for each page: itself, unless it is a near-duplicate."""
    near, standing = near_duplicates(view)
    if not len(near):
        return pages
    found = np.empty(len(pages), np.uint32)
    others = vicinity.representatives(near, standing, pages, found)
    return found if others else pages


def sets_with(view: View, pages: Pages, sets: Sequence[Pages]) -> NDArray[np.int32]:
    """In how many sets of pages each page is, near-duplicates counting as one."""
    found = np.zeros(len(pages), np.int32)
    for each in sets:
        found += np.isin(pages, representatives(view, each))
    return found


def merge(view: View, pages: Pages) -> Merged:
    """Near-duplicates among pages (all different) put together."""
    if representatives(view, pages) is pages:  # nearly always, and then a first run has one loop less to compile
        return Merged(pages, np.arange(len(pages), dtype=np.int32))
    found, number, _ = vicinity.put_together(*near_duplicates(view), pages)
    return Merged(found, number)


def group(view: View, pages: Pages) -> tuple[NDArray[np.int32], int]:
    """The group of each page, and how many there are: pages on one unit, or near-duplicates, are one; transitively."""
    table = np.empty(1 << max(4, (2 * len(pages)).bit_length()), np.uint32)
    groups = np.empty(len(pages), np.int32)
    count = vicinity.group(
        view.units_of(pages),
        representatives(view, pages),
        table,
        np.empty(len(table), np.int32),
        np.empty(len(pages), np.int64),
        groups,
    )
    return groups, int(count)
