"""Pages around a page, under limits: parents with windows on their links, and children.

B, BF, F and FB of the papers are `parents`, `window`, `children` and `child_parents` here. If a page has more parents
than the limit, hashes decide which are chosen: the same in every store that has the same addresses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cocite.kernels import hash_tables
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.related import neighbourhood
from cocite.kernels.related.counted_links import read_children
from cocite.kernels.related.neighbourhood import Parents
from cocite.related.neighbourhood.view import HASH_SEED, NO_PAGES, GraphView, Pages

NO_TIMES = np.empty(0, np.int32)


def parents_of(view: GraphView, page: int, limit: int, window: int, sections: bool = False) -> Parents:
    """Up to `limit` parents of a page, chosen by hash, with their links; `window` 0 is the whole parent."""
    return read_parents(view, page, candidate_parents(view, page, limit), limit, window, sections)


def read_parents(view: GraphView, page: int, pages: Pages, limit: int, window: int, sections: bool) -> Parents:
    """The first `limit` of some parents whose link to the page counts, with their links; overwrites `pages`."""
    parents: Parents
    count, parents = neighbourhood.read_parents(view.out, pages, page, limit, window, view.refused, sections)
    view.check(count)
    return parents


def candidate_parents(view: GraphView, page: int, limit: int) -> Pages:
    """The parents that may be chosen, as a new array; a stop page has none."""
    return np.array(NO_PAGES if view.refuses(page) or limit == 0 else _candidates(view, page, limit), np.uint32)


def chosen_parents(view: GraphView, page: int, limit: int) -> Pages:
    """Up to `limit` parents of a page, chosen by hash, without their links."""
    if not view.plain:
        return parents_of(view, page, limit, 0).pages
    return _candidates(view, page, limit)[:limit] if limit else NO_PAGES


def _candidates(view: GraphView, page: int, limit: int) -> Pages:
    """The parents to choose from, in the order of choice if there are more than `limit`.

    Of a page with more parents than the store keeps ready, only those kept are candidates. Otherwise a question that
    ignores some of them would have to read them all.
    """
    graph, seed = view.graph, view.switches.seed
    if seed == HASH_SEED:
        sampled = graph.array("sample.page")
        row = int(find_position(sampled, page)) if len(sampled) else -1
        ready = len(graph.array("sample.parent")) // max(1, len(sampled))
        if row >= 0 and limit <= ready:
            found: Pages = graph.array("sample.parent")[row * ready : (row + 1) * ready]
            if found.max(initial=0) >= graph.pages:
                raise graph.damaged()
            return found[:limit] if view.plain else found
    parents = graph.links_to(page)
    if len(parents) <= limit:
        return parents
    keep = limit if view.plain else len(parents)
    ordered = np.empty(keep, np.uint32)
    return ordered[: neighbourhood.first_by_hash(parents, page, graph.fingerprints, seed, keep, ordered)]


def children_of(view: GraphView, page: int, limit: int | None = None) -> Pages:
    """The first `limit` children of a page, in page order."""
    degree = int(view.graph.out_degree[page])
    targets = np.empty(degree, np.uint32)
    attributes = np.empty(degree, np.uint32) if view.refused.flags else NO_PAGES
    count = read_children(view.out, page, view.refused, targets, attributes)
    view.check(count)
    return targets[:count][:limit]


class Numbered:
    """A growing set of pages, numbered 0, 1, … in the order in which they are added."""

    def __init__(self, capacity: int) -> None:
        table = np.full(1 << max(4, (2 * capacity).bit_length()), hash_tables.EMPTY, np.uint64)
        self.set, self.count = hash_tables.NumberedSet(table, np.empty(capacity, np.uint32)), 0

    @property
    def pages(self) -> Pages:
        """The pages, in the order of their numbers."""
        return self.set.members[: self.count]

    def add(self, pages: Pages) -> None:
        """Number more pages."""
        self.count = int(hash_tables.add_members(self.set, self.count, pages))

    def find(self, pages: Pages) -> NDArray[np.int32]:
        """The numbers of pages; -1 for a page that has none."""
        found = np.empty(len(pages), np.int32)
        hash_tables.numbers_of(self.set, pages, found)
        return found

    def add_windows(self, parents: Parents) -> None:
        """Number the pages in the windows of parents, without the page itself."""
        self.count = int(neighbourhood.add_windows(parents, self.set, self.count, NO_TIMES))


def number_siblings(parents: Sequence[Parents]) -> Numbered:
    """The pages in the windows of all parents."""
    siblings = Numbered(sum(each.max_siblings for each in parents))
    for each in parents:
        siblings.add_windows(each)
    return siblings
