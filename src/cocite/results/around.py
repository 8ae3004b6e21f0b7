"""The links around one page, read once for all answers to a question: what `explain.py` finds its evidence in.

A page and the near-duplicates it stands for are one subject: evidence of any of them is evidence of the answer, as
methods count it, and names the near-duplicate for which it holds.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.look_up import find_position
from cocite.kernels.related import vicinity
from cocite.related.neighbourhood.clean import group, representatives
from cocite.related.neighbourhood.gather import Parents, children_of, parents_of, sound
from cocite.related.neighbourhood.view import NO_PAGES, Pages, View
from cocite.results.memory import Memory, memory_of

WINDOW = 2000
"""Links of a parent that are read around its link to the page; of longer lists the rest is looked up."""
TRIED = 100
"""The links of so many near-duplicates of an answer are read, those of others not."""
FEW = 32
"""So many parents are gone through one by one: below some 50, arrays take longer."""
UNKNOWN = 1 << 40
"""Of links in a block that a parent has again, how far apart they are: further than any."""
REMEMBERED = 1024
"""Parents whose names and headings are kept with a graph: answers have many of them in common."""


class Subject(NamedTuple):
    """An answer, and the near-duplicates for which it stands."""

    page: int
    copies: Pages

    @property
    def tried(self) -> list[int]:
        """The pages whose own links are read."""
        return [self.page, *self.copies[:TRIED].tolist()]


class Together(NamedTuple):
    """The parents that link to the page and to a subject, nearest first."""

    owners: list[int]  # places in `parents`
    distance: list[int]
    block: list[int]  # -1: not in one block
    subjects: list[int]  # to which page of the subject they link


class Around:
    """The parents and children of one page that an explanation may speak of."""

    def __init__(self, view: View, page: int, parents: int, children: int, repeats: int, window: int) -> None:
        """`repeats`: of the blocks in which a parent has the page again, so many tell; of `window` links around it."""
        self.view, self.graph, self.page, self._limits = view, view.graph, page, (parents, children)
        self._repeats, self._window = repeats, window
        self._about: Memory[tuple[str, str, list[str]]] = memory_of(view.graph, "about", REMEMBERED)

    @cached_property
    def address(self) -> str:
        """The address of the page."""
        return self.graph.address(self.page)

    @cached_property
    def parents(self) -> Parents:
        """The parents that the method looks at, and their links."""
        return parents_of(self.view, self.page, self._limits[0], WINDOW, blocks=True)

    @cached_property
    def voices(self) -> list[int]:
        """The voice of each parent: those of one group count as one."""
        found: list[int] = group(self.view, self.parents.pages)[0].tolist()
        return found

    @cached_property
    def children(self) -> Pages:
        """The first children of the page."""
        return self._every_child[: self._limits[1]]

    @cached_property
    def children_and_page(self) -> Pages:
        """The first children, and the page itself."""
        return np.append(self.children, np.uint32(self.page))

    @cached_property
    def _every_child(self) -> Pages:
        return children_of(self.view, self.page)

    @cached_property
    def _targets(self) -> Pages:
        return self.parents.targets[: int(self.parents.starts[-1])]

    @cached_property
    def _target_names(self) -> Pages:
        """What stands for each target. Worked out when an answer has near-duplicates: few have."""
        return representatives(self.view, self._targets)

    @cached_property
    def _blocks(self) -> Pages:
        """The block of each link read, plus one; 0 is unknown."""
        return self.parents.attributes[: len(self._targets)] & np.uint32(0xFFFFFF)

    @cached_property
    def _owners(self) -> NDArray[np.intp]:
        """The parent to which each link read belongs."""
        return np.repeat(np.arange(len(self.parents.pages)), np.diff(self.parents.starts))

    @cached_property
    def _long(self) -> list[int]:
        """The parents of which only a part was read."""
        return [int(i) for i in np.flatnonzero(~self.parents.whole)]

    @cached_property
    def _own_places(self) -> NDArray[np.int64]:
        """Where the link to the page stands on each parent with a long list; elsewhere 0."""
        found = np.zeros(len(self.parents.pages), np.int64)
        for i in self._long:
            places = self._look_up(int(self.parents.pages[i]), np.array([self.page], np.uint32))[1]
            found[i] = places[0] if len(places) else 0
        return found

    @cached_property
    def _in_lists(self) -> tuple[list[int], ...]:
        """Of every parent: where its links start, where the one to the page is, its block, links in, number."""
        parents = self.parents
        arrays = (parents.starts, parents.places, self._blocks[parents.places], self.graph.in_degree[parents.pages])
        return *(array.tolist() for array in arrays), parents.pages.tolist()

    @cached_property
    def _again(self) -> tuple[NDArray[np.int64], Pages, Pages]:
        """What parents read whole link to again in other blocks: parent, target, block plus one."""
        repeats, parents = self.graph.repeats, self.parents
        if not len(repeats.page) or not self._repeats:
            return np.zeros(0, np.int64), NO_PAGES, NO_PAGES
        low, high = (np.searchsorted(repeats.page, parents.pages, side) for side in ("left", "right"))
        counts = np.where(parents.whole, np.maximum(0, high - low), 0)
        owners = np.repeat(np.arange(len(counts)), counts)
        at = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts) + low[owners]
        attributes = repeats.attribute[at]
        counted = (attributes >> np.uint32(24)) & np.uint32(self.view.refused.flags) == 0
        return owners[counted], repeats.target[at[counted]], attributes[counted] & np.uint32(0xFFFFFF)

    @cached_property
    def _own_again(self) -> dict[int, set[int]]:
        """The other blocks, plus one, in which parents have the page: the first of them."""
        found = self._blocks_again(self.page)
        return {owner: set(sorted(blocks)[: self._repeats]) for owner, blocks in found.items()}

    def _blocks_again(self, page: int) -> dict[int, set[int]]:
        """The other blocks, plus one, in which parents have a page."""
        owners, targets, blocks = self._again
        at, found = np.flatnonzero(targets == page), dict[int, set[int]]()
        for owner, block in zip(owners[at].tolist(), blocks[at].tolist(), strict=True):
            found.setdefault(owner, set()).add(block)
        return found

    def _other_block(self, owner: int, again: dict[int, set[int]], block: int, own: int, distance: int) -> int:
        """The first block, plus one, that a parent has both in, one of them again; 0 if none, or out of the window.

        `block` and `own` are those of its first links to another page and to the page, `distance` how far apart these
        are, `again` the other's others.
        """
        shown = int(self.parents.starts[owner + 1] - self.parents.starts[owner]) <= self._window + 1
        if not shown and 0 < self._window // 2 < distance:
            return 0
        both = {block, *again.get(owner, ())} & {own, *self._own_again.get(owner, ())}
        return min(both - {0}, default=0)

    def about(self, parent: int) -> tuple[str, str, list[str]]:
        """Address, title and headings of a parent."""
        return self._about.get(parent, self._read_about)

    def _read_about(self, parent: int) -> tuple[str, str, list[str]]:
        return self.graph.address(parent), self.graph.title(parent), self.graph.headings(parent)

    def together(self, subject: Subject) -> Together:
        """The parents that link to both."""
        if not len(subject.copies) and not self._long:
            hits = (self._targets == subject.page).nonzero()[0]
            if len(hits) <= FEW:
                return self._few(subject.page, hits.tolist())
        return self._many(subject)

    def _few(self, page: int, hits: list[int]) -> Together:
        """As `_many`, where all was read, the subject is one page and few link to it: in a fifth of the time."""
        starts, places, blocks, degrees, pages = self._in_lists
        found, again = [], self._blocks_again(page)
        for hit in hits:
            owner, block = bisect_right(starts, hit) - 1, int(self._blocks[hit])
            distance = abs(hit - places[owner])
            if not 0 < block == blocks[owner]:
                block = self._other_block(owner, again, block, blocks[owner], distance)
                distance = UNKNOWN if block else distance
            found.append((not block, distance, -degrees[owner], pages[owner], hit, owner, block - 1))
        found.sort()
        return Together(
            [each[5] for each in found], [each[1] for each in found], [each[6] for each in found], [page] * len(found)
        )

    def _many(self, subject: Subject) -> Together:
        """The parents that link to both, whatever the subject and however long their lists."""
        parents = self.parents
        names = self._target_names if len(subject.copies) else self._targets
        hits = np.flatnonzero(names == subject.page)
        owners = self._owners[hits]
        far, far_distance, far_blocks, far_subjects = self._on_long_lists(subject, owners)
        distance = np.append(np.abs(hits - parents.places[owners]), far_distance)
        owners, blocks = np.append(owners, far), np.append(self._blocks[hits], far_blocks).astype(np.int64)
        subjects = np.append(self._targets[hits], far_subjects)
        own = self._blocks[parents.places[owners]]
        same = (blocks > 0) & (blocks == own)
        for page in np.unique(subjects).tolist() if len(self._again[0]) else ():
            again = self._blocks_again(page)
            for i in np.flatnonzero(~same & (subjects == page)).tolist():
                told = int(owners[i]), again, int(blocks[i]), int(own[i]), int(distance[i])
                if block := self._other_block(*told):
                    blocks[i], distance[i], same[i] = block, UNKNOWN, True
        pages = parents.pages[owners]
        degree = self.graph.in_degree[pages].astype(np.int64)
        order = np.lexsort((subjects != subject.page, pages, -degree, distance, ~same))
        if len(subject.copies):  # a parent may link to several of them: the best counts
            order = order[np.sort(np.unique(owners[order], return_index=True)[1])]
        numbers = np.where(same, blocks - 1, -1)
        return Together(*(each[order].tolist() for each in (owners, distance, numbers, subjects)))

    def _on_long_lists(
        self, subject: Subject, found: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.int64], Pages, Pages]:
        """Parents that link to a subject beyond what was read: distance, block plus one, page of the subject."""
        if not self._long:
            return found[:0], np.zeros(0, np.int64), NO_PAGES, NO_PAGES
        wanted, near = np.append(np.uint32(subject.page), subject.copies), set(found.tolist())
        far: list[tuple[int, int, int]] = []
        for i in (i for i in self._long if i not in near):
            pages, places = self._look_up(int(self.parents.pages[i]), wanted)
            if len(pages):
                apart = np.abs(places - self._own_places[i])
                nearest = int(np.argmin(apart))
                far.append((i, int(apart[nearest]), int(pages[nearest])))
        owners, distance = (np.array([each[part] for each in far], np.int64) for part in (0, 1))
        subjects = np.array([each[2] for each in far], np.uint32)
        blocks = np.zeros(len(far), np.uint32)
        for page in np.unique(subjects).tolist():
            blocks[subjects == page] = self._blocks_of(self.parents.pages[owners[subjects == page]], page)
        return owners, distance, blocks, subjects

    def _look_up(self, parent: int, pages: Pages) -> tuple[Pages, NDArray[np.int64]]:
        """To which of some pages a parent with a long list links, and where on it."""
        out = self.view.out
        at = int(find_position(out.page, parent))
        low, high = (int(out.link[at]), int(out.link[at + 1])) if at >= 0 else (0, 0)
        if low == high:
            return NO_PAGES, np.zeros(0, np.int64)
        near = np.minimum(np.searchsorted(out.target[low:high], pages), high - low - 1)
        there = out.target[low + near] == pages
        return pages[there], out.place[low + near[there]].astype(np.int64)

    def _blocks_of(self, parents: Pages, page: int) -> Pages:
        """The block, plus one, in which each of some parents links to a page."""
        done, _, at, _, _, attributes = vicinity.read_parents(
            self.view.out, parents, page, len(parents), 2, self.view.refused, True
        )
        sound(self.view, done if done == len(parents) else -1)
        found: Pages = attributes[at] & np.uint32(0xFFFFFF)
        return found

    def linked(self, subject: Subject) -> int | None:
        """The page of a subject to which the page itself links, if it does."""
        names = representatives(self.view, self._every_child) if len(subject.copies) else self._every_child
        found = self._every_child[names == subject.page]
        return None if not len(found) else subject.page if subject.page in found else int(found[0])

    def links_to(self, page: int, others: Pages) -> NDArray[np.bool_]:
        """To which of other pages a page has a link that counts. A long list is looked up, not read, if all count."""
        if not len(others) or not self.graph.out_degree[page]:
            return np.zeros(len(others), np.bool_)
        out = self.view.out
        at = int(find_position(out.page, page)) if self.view.plain else -1
        members = out.target[int(out.link[at]) : int(out.link[at + 1])] if at >= 0 else NO_PAGES
        members = members if len(members) else np.sort(children_of(self.view, page))  # `isin` takes thrice as long
        if not len(members):
            return np.zeros(len(others), np.bool_)
        places = np.minimum(np.searchsorted(members, others), len(members) - 1)
        return np.asarray(members[places] == others)
