"""Pages around a page, under limits: parents with windows on their links, children, and the children's other parents.

B, BF, F and FB of the papers are `parents`, `window`, `children` and `child_parents` here. Which parents are taken, if
there are more than the limit, is a matter of hashes: the same in every store that has the same addresses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import all_blocks
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.related import counting, vicinity
from cocite.related.neighbourhood.view import NO_PAGES, SEED, Pages, View


class Parents(NamedTuple):
    """Chosen parents of a page and their links that count: parent i's are targets[starts[i]:starts[i + 1]]."""

    of: int
    window: int
    pages: Pages
    starts: NDArray[np.int64]
    places: NDArray[np.int64]  # of the link to the page, in `targets`
    whole: NDArray[np.bool_]  # false: a long list, of which only the window was read
    targets: Pages
    attributes: Pages  # see kernels/codec/attributes.py; empty unless asked for

    @property
    def shown(self) -> int:
        """At most so many links are in the windows."""
        lengths = self.starts[1:] - self.starts[:-1]
        return int((np.minimum(lengths, self.window + 1) if self.window else lengths).sum())


def parents_of(view: View, page: int, most: int, window: int, blocks: bool = False) -> Parents:
    """Up to `most` parents of a page, chosen by hash, with their links; `window` 0 is the whole parent."""
    pages = parents_to_choose_from(view, page, most)
    count, *links = vicinity.read_parents(view.out, pages, page, most, window, view.refused, blocks)
    sound(view, count)
    return Parents(page, window, pages[:count], *links)


def chosen_only(page: int, pages: Pages) -> Parents:
    """Parents whose links are not kept."""
    nothing = np.zeros(0, np.int64)
    return Parents(page, 0, pages, nothing, nothing, np.zeros(0, np.bool_), NO_PAGES, NO_PAGES)


def read_again(view: View, parents: Parents, window: int) -> Parents:
    """The same parents with the blocks of their links."""
    pages = parents.pages.copy()
    count, *links = vicinity.read_parents(view.out, pages, parents.of, len(pages), window, view.refused, True)
    sound(view, count)
    return Parents(parents.of, window, pages[:count], *links)


def joined(parts: list[Parents]) -> Parents:
    """Several pages' parents as those of the first."""
    if len(parts) == 1:
        return parts[0]
    before = np.concatenate([[0], np.cumsum([each.starts[-1] for each in parts])])
    places = list(zip(parts, before.tolist(), strict=False))
    return Parents(
        parts[0].of,
        parts[0].window,
        np.concatenate([each.pages for each in parts]),
        np.append(np.concatenate([each.starts[:-1] + first for each, first in places]), before[-1]),
        np.concatenate([each.places + first for each, first in places]),
        np.concatenate([each.whole for each in parts]),
        np.concatenate([each.targets[: each.starts[-1]] for each in parts]),
        np.concatenate([each.attributes[: each.starts[-1]] for each in parts]),
    )


def parents_to_choose_from(view: View, page: int, most: int) -> Pages:
    """The parents that may be chosen, in an array of their own; a stop page has none."""
    return np.array(NO_PAGES if view.refuses(page) or most == 0 else _pool(view, page, most), np.uint32)


def _pool(view: View, page: int, most: int) -> Pages:
    """The parents to choose from, in the order of choice if there are more than `most`.

    Of a page with more parents than the store keeps ready, those kept are the pool: else a question that refuses some
    of them would have to read them all.
    """
    graph, seed = view.graph, view.switches.seed
    if seed == SEED:
        sampled = graph.array("sample.page")
        row = int(find_position(sampled, page)) if len(sampled) else -1
        ready = len(graph.array("sample.parent")) // max(1, len(sampled))
        if row >= 0 and most <= ready:
            found: Pages = graph.array("sample.parent")[row * ready : (row + 1) * ready]
            if found.max(initial=0) >= graph.pages:
                raise graph.damaged()
            return found[:most] if view.plain else found
    parents = graph.links_to(page)
    if len(parents) <= most:
        return parents
    keep = most if view.plain else len(parents)
    ordered = np.empty(keep, np.uint32)
    count = vicinity.first_by_hash(parents, page, graph.fingerprints, seed, keep, ordered)
    return ordered[:count]


def chosen_parents(view: View, page: int, most: int) -> Pages:
    """Up to `most` parents of a page, chosen by hash, without their links."""
    if not view.plain:
        return parents_of(view, page, most, 0).pages
    return _pool(view, page, most)[:most] if most else NO_PAGES


def children_of(view: View, page: int, most: int | None = None) -> Pages:
    """The first `most` children of a page, in page order."""
    degree = int(view.graph.out_degree[page])
    targets = np.empty(degree, np.uint32)
    attributes = np.empty(degree, np.uint32) if view.refused.flags else NO_PAGES
    count = vicinity.read_children(view.out, page, view.refused, targets, attributes)
    sound(view, count)
    return targets[:count][:most]


def children_near(view: View, page: int, others: Pages, window: int) -> Pages:
    """The children of a page that stand near its links to some other pages, those included.

    Near is within window / 2 links and, where blocks are known, in the same block. A page of at most window + 1 links
    gives all, and one without links to the others its first ones; a window of 0 is the whole page. `others` ascend.
    """
    degree = int(view.graph.out_degree[page])
    targets, attributes = np.empty(degree, np.uint32), np.empty(degree, np.uint32)
    count = vicinity.read_children(view.out, page, view.refused, targets, attributes)
    sound(view, count)
    targets = targets[:count]
    if not window or count <= window + 1:
        return targets
    blocks = all_blocks(attributes[:count])  # 0: unknown
    place = np.minimum(np.searchsorted(others, targets), max(0, len(others) - 1))
    at = np.flatnonzero(others[place] == targets) if len(others) else np.zeros(0, np.intp)
    if not len(at):
        return targets[: window + 1]
    near = at[:, None] + np.arange(-(window // 2), window // 2 + 1)
    inside = (near >= 0) & (near < count)
    near = np.clip(near, 0, count - 1)
    own, other = blocks[at][:, None], blocks[near]
    shown = np.zeros(count, np.bool_)
    shown[near[inside & ((own == other) | (own == 0) | (other == 0))]] = True
    return targets[shown]


def best_parents_of(view: View, children: Pages, other_than: int, most: int) -> Pages:
    """Of each child its `most` parents of highest in-degree, without `other_than`; some may be repeated."""
    graph = view.graph
    most = min(most, graph.pages)
    room = int(np.minimum(graph.in_degree[children], most).sum(dtype=np.int64))
    found, starts = np.empty(room, np.uint32), np.empty(len(children) + 1, np.int64)
    count = vicinity.parents_of_highest_degree(
        graph.into, graph.array("best.page"), graph.array("best.parent"), children, other_than, most, view.out,
        view.refused, found, starts,
    )  # fmt: skip
    sound(view, count)
    return found[:count]


class Numbered:
    """A growing set of pages, numbered 0, 1, … in the order of their coming."""

    def __init__(self, capacity: int) -> None:
        size = 1 << max(4, (2 * capacity).bit_length())
        self.table, self.local = np.full(size, vicinity.EMPTY, np.uint32), np.empty(size, np.int32)
        self.room, self.count = np.empty(capacity, np.uint32), 0

    @property
    def pages(self) -> Pages:
        """The pages, in the order of their numbers."""
        return self.room[: self.count]

    def add(self, pages: Pages) -> None:
        """Number more pages."""
        self.count = int(vicinity.number_pages(self.table, self.local, self.room, self.count, pages))

    def numbers(self, pages: Pages) -> NDArray[np.int32]:
        """The numbers of pages, all of which must have one."""
        found = np.empty(len(pages), np.int32)
        vicinity.numbers_of(self.table, self.local, pages, found)
        return found

    def find(self, pages: Pages) -> NDArray[np.int32]:
        """The numbers of pages; -1 where a page has none."""
        found = np.empty(len(pages), np.int32)
        vicinity.find_numbers(self.table, self.local, pages, found)
        return found

    def add_windows(self, parents: Parents) -> None:
        """Number what the windows of parents show, without the page they stand round."""
        self.count = int(
            vicinity.number_windows(
                parents.starts, parents.places, parents.targets, parents.of, parents.window,
                self.table, self.local, self.room, self.count,
            )
        )  # fmt: skip


class Pairs(NamedTuple):
    """Links between some pages (rows, by place) and numbered pages (columns, by number)."""

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]


def links_into(view: View, owners: Pages, numbered: Numbered, read: Parents | None = None) -> Pairs:
    """Every link that counts from one of the owners to a numbered page; `read` holds the owners' lists, if they are."""
    if read is None:
        starts, whole, targets = np.zeros(len(owners) + 1, np.int64), np.zeros(len(owners), np.bool_), NO_PAGES
        room = np.minimum(view.graph.out_degree[owners], max(1, numbered.count)).sum(dtype=np.int64)
    else:
        starts, whole, targets = read.starts, read.whole, read.targets
        room = int(starts[-1]) + numbered.count * int(np.count_nonzero(~whole))
    rows, columns = np.empty(int(room), np.int32), np.empty(int(room), np.int32)
    count = counting.pair_links(
        view.out, owners, starts, targets, whole, view.refused, numbered.table, numbered.local, numbered.count,
        rows, columns,
    )  # fmt: skip
    sound(view, count)
    return Pairs(rows[:count], columns[:count])


def find_places(pages: Pages, wanted: Pages) -> NDArray[np.int64]:
    """Where each of some wanted pages is among pages; -1 if it is not there."""
    found: NDArray[np.int64] = vicinity.find_places(pages, np.ascontiguousarray(wanted, np.uint32))
    return found


def sound(view: View, count: int) -> None:
    """A negative count says that a list could not be read."""
    if count < 0:
        raise view.graph.damaged()
