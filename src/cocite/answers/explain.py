"""Why is a page related? Recomputed from the links, the same way for every method.

Evidence is what a reader can look up: pages that link to both, in which block and how far apart; pages that both link
to; links from one to the other; near-duplicates that were counted together. Only links that the method counts are
evidence, and of many parents those that it looks at. The best three pieces come first, then how many there are in all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.answers.answer import (
    BEYOND,
    LINKED,
    LINKS,
    REACHED,
    SHARED,
    SHARED_IN_ALL,
    STANDS_FOR,
    TOGETHER,
    TOGETHER_IN_ALL,
    Reason,
)
from cocite.errors import BadStore
from cocite.kernels import vicinity
from cocite.kernels.look_up import find_position
from cocite.neighbourhood.clean import group
from cocite.neighbourhood.gather import Parents, children_of, parents_of
from cocite.neighbourhood.view import NO_PAGES, Pages, Switches, View, stop_pages
from cocite.web import Web

Path = Callable[[int], Sequence[int]] | None
BEST = 3
PARENTS, WINDOW, CHILDREN = 2000, 2000, 4096
"""What is looked at, unless the method says otherwise: parents, links around the page on each, children."""
NAMED, TRIED = 5, 100
"""So many near-duplicates are named; of so many evidence is sought."""


class Explainer:
    """Gives the reasons for answers to one question."""

    def __init__(self, web: Web, used: Sequence[int], params: Any, path: Path = None) -> None:
        """`used` are the pages that the method started from, `params` its parameters.

        `path` gives the pages through which an answer was reached: all there is to say of one that is further away.
        """
        graph = web.graph
        self._graph, self._path = graph, path
        switches = params if isinstance(params, Switches) else Switches()
        view = View(graph, used, switches, stop_pages(graph, switches.stop))
        parents = int(getattr(params, "parents", PARENTS)) or PARENTS
        children = max(CHILDREN, int(getattr(params, "children", 0)))
        self._around = [_Around(view, page, parents, children) for page in used]

    def reasons(self, page: int) -> tuple[Reason, ...]:
        """The reasons for one answer, best first."""
        most = max(1, BEST // max(1, len(self._around)))
        found = [around.reasons(page, most) for around in self._around]
        if len(found) > 1:
            queries = [around.address for around in self._around]
            found = [[replace(r, query=q) for r in rs] for q, rs in zip(queries, found, strict=True)]
            found = [[each[i] for each in found if i < len(each)] for i in range(max(map(len, found)))]
        copies = self._around[0].copies(page) if self._around else ()
        stands = (Reason(kind=STANDS_FOR, count=len(copies), pages=copies[:NAMED]),) if copies else ()
        reasons = (*(reason for each in found for reason in each), *stands)
        if not reasons and self._path is not None:
            way = tuple(self._graph.address(each) for each in self._path(page))
            return (Reason(kind=REACHED, pages=way),)
        return reasons


class _Around:
    """The links around one page that an explanation may speak of, read once for all answers."""

    def __init__(self, view: View, page: int, parents: int, children: int) -> None:
        self.view, self.graph, self.page, self._limits = view, view.graph, page, (parents, children)

    @cached_property
    def address(self) -> str:
        return self.graph.address(self.page)

    @cached_property
    def parents(self) -> Parents:
        return parents_of(self.view, self.page, self._limits[0], WINDOW, blocks=True)

    @cached_property
    def owner(self) -> NDArray[np.intp]:
        """The parent to which each link read belongs."""
        return np.repeat(np.arange(len(self.parents.pages)), np.diff(self.parents.starts))

    @cached_property
    def children(self) -> Pages:
        return children_of(self.view, self.page, self._limits[1])

    def copies(self, page: int) -> tuple[str, ...]:
        """The other near-duplicates of a page."""
        return tuple(self.graph.address(int(other)) for other in self._same(page))

    def _same(self, page: int) -> Pages:
        """The near-duplicates for which a page stands, without itself."""
        near, representative = self.graph.array("near.page"), self.graph.array("near.representative")
        if not self.view.switches.merge or not len(near) or find_position(near, page) < 0:
            return NO_PAGES
        found: Pages = near[(representative == page) & (near != page)]
        return found

    def reasons(self, page: int, most: int) -> list[Reason]:
        """The best pieces of evidence, then the counts; those of a copy of the answer, where it has more to say."""
        for other in self._subjects(page):
            best, counts = self._of(other)
            if best:
                copy = "" if other == page else self.graph.address(other)
                return [replace(reason, copy=copy) for reason in best[:most] + counts]
        return []

    def _subjects(self, page: int) -> list[int]:
        """A page and its copies, those first that are cited together with the query page."""
        copies = self._same(page)
        if not len(copies):
            return [page]
        pages = np.append(np.uint32(page), copies)
        together = np.isin(pages, self.parents.targets[: self.parents.starts[-1]])
        return [int(other) for other in pages[np.argsort(~together, kind="stable")][:TRIED]]

    def _of(self, page: int) -> tuple[list[Reason], list[Reason]]:
        together, together_counts = self._cited_together(page)
        shared, shared_counts = self._shared(page)
        direct = self._direct(page)
        best = together[:2] + shared[:1] + direct if together and shared else together + direct + shared
        best = best if len(best) >= BEST else [*best, *(each for each in together + shared if each not in best)]
        if not best:
            best = self._beyond(page)
        return best, together_counts + shared_counts

    def _cited_together(self, page: int) -> tuple[list[Reason], list[Reason]]:
        """The parents that link to both, nearest first, and how many there are."""
        parents = self.parents
        total = int(parents.starts[-1])
        hits = np.flatnonzero(parents.targets[:total] == page)
        owners = self.owner[hits]
        distance = np.abs(hits - parents.places[owners])
        block = parents.attributes[:total] & 0xFFFFFF
        same = (block[hits] == block[parents.places[owners]]) & (block[hits] > 0)
        far, far_distance, far_block = self._on_long_lists(page, owners)
        same = np.append(same, (far_block > 0) & (far_block == block[parents.places[far]]))
        owners, distance = np.append(owners, far), np.append(distance, far_distance)
        blocks = np.append(block[hits], far_block)
        if not len(owners):
            return [], []
        pages = parents.pages[owners]
        order = np.lexsort((pages, -self.graph.in_degree[pages].astype(np.int64), distance, ~same))
        best = [
            Reason(
                kind=TOGETHER,
                by=self.graph.address(int(pages[i])),
                title=self.graph.title(int(pages[i])),
                block=self._heading(int(pages[i]), int(blocks[i]) - 1) if same[i] else None,
                distance=int(distance[i]),
            )
            for i in order[:BEST]
        ]
        units = group(self.view, np.unique(pages))[1] if self.view.switches.unit != "none" else None
        return best, [Reason(kind=TOGETHER_IN_ALL, count=len(owners), of=len(parents.pages), sites=units)]

    def _on_long_lists(
        self, page: int, found: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.uint32]]:
        """Parents with long lists that link to the page beyond what was read; the distance, and the page's block."""
        long = np.setdiff1d(np.flatnonzero(~self.parents.whole), found)
        pages = self.parents.pages[long]
        places = [self._places(pages, each) for each in (page, self.page)]
        linked = places[0] >= 0
        chosen, width = pages[linked], 2
        count = len(chosen)
        if not count:
            return long[:0], places[0][:0], NO_PAGES
        room = int(vicinity.room_for(self.graph.out_degree, chosen, width, self.view.plain))
        targets, attributes = np.empty(room, np.uint32), np.empty(room, np.uint32)
        starts, at, whole = np.empty(count + 1, np.int64), np.empty(count, np.int64), np.empty(count, np.bool_)
        if count != vicinity.read_parents(
            self.view.out, chosen, page, count, width, self.view.refused, starts, at, whole, targets, attributes
        ):
            raise BadStore(f"{self.graph.path} is damaged: run cocite check -i {self.graph.path}")
        return long[linked], np.abs(places[0] - places[1])[linked], attributes[at] & np.uint32(0xFFFFFF)

    def _places(self, parents: Pages, page: int) -> NDArray[np.int64]:
        """Where on parents with long lists the link to a page stands, -1 if there is none."""
        out, found = self.view.out, np.full(len(parents), -1, np.int64)
        for i, parent in enumerate(parents):
            at = int(find_position(out.page, int(parent)))
            low, high = int(out.link[at]), int(out.link[at + 1])
            place = int(find_position(out.target[low:high], page))
            found[i] = -1 if place < 0 else out.place[low + place]
        return found

    def _heading(self, parent: int, block: int) -> str:
        headings = self.graph.headings(parent)
        return headings[block] if 0 <= block < len(headings) else ""

    def _shared(self, page: int) -> tuple[list[Reason], list[Reason]]:
        """The children that both have, in the order of the query page, and how many there are."""
        shared = self.children[self._links_to(page, self.children)]
        best = [Reason(kind=SHARED, to=self.graph.address(int(child))) for child in shared[:BEST]]
        return best, [Reason(kind=SHARED_IN_ALL, count=len(shared), of=len(self.children))] if best else []

    def _links_to(self, page: int, others: Pages) -> NDArray[np.bool_]:
        """To which of other pages a page has a link that counts. A long list is looked up, not read, if all count."""
        if not len(others) or not self.graph.out_degree[page]:
            return np.zeros(len(others), np.bool_)
        out = self.view.out
        at = int(find_position(out.page, page)) if self.view.plain else -1
        members = out.target[int(out.link[at]) : int(out.link[at + 1])] if at >= 0 else NO_PAGES
        if not len(members):
            return np.isin(others, children_of(self.view, page))
        places = np.minimum(np.searchsorted(members, others), len(members) - 1)
        return np.asarray(members[places] == others)

    def _direct(self, page: int) -> list[Reason]:
        linked = [Reason(kind=LINKED)] if np.any(self.children == page) else []
        links = self._links_to(page, np.array([self.page], np.uint32))[0]
        return linked + ([Reason(kind=LINKS)] if links else [])

    def _beyond(self, page: int) -> list[Reason]:
        """A page that the answer links to and that links to the query page."""
        between = self.parents.pages[self._links_to(page, self.parents.pages)]
        return [Reason(kind=BEYOND, through=self.graph.address(int(between.min())))] if len(between) else []
