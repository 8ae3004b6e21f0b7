"""Evidence from links: which parents link to both pages, which links both have, and links from one to the other.

It is computed for all kept results at once, from the parents that the method chose. Only links that the method counts
are evidence. A result and the near-duplicates that it represents are one subject: evidence for any of them counts,
and names the near-duplicate.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from cocite.kernels.related import listings
from cocite.kernels.related.listings import DISTANCE, MAX_EXAMPLES, MEMBER, PARENT, SECTION, UNKNOWN_DISTANCE, Subjects
from cocite.related.evidence import (
    Evidence,
    LinkedFrom,
    LinksThrough,
    LinksTo,
    ListedTogether,
    Listing,
    NearDuplicates,
    SharedLink,
    SharedLinks,
)
from cocite.related.neighbourhood.clean import group
from cocite.related.neighbourhood.gather import Parents, children_of, parents_of, read_again, sound
from cocite.related.neighbourhood.view import Pages, Switches, View, stop_pages
from cocite.web import Web

WINDOW_LINKS = 2000
"""Links that are read around the link to the query page in long lists; the rest is looked up."""
MAX_PARENTS, MAX_CHILDREN = 2000, 4096
"""What is read, unless the method reads more."""
MAX_NAMED_COPIES = 5


class LinkEvidence:
    """Finds the evidence from links for the results of one question."""

    def __init__(
        self, view: View, used: Sequence[int], parents: int | Sequence[Parents], children: int = 0, repeats: int = 0
    ) -> None:
        """`used` are the query pages; `parents` those that the method chose for each, or their maximum number.

        `repeats`: of the sections in which a parent repeats its link to the query page, this many count.
        """
        self._view, self._used, self._repeats = view, used, repeats
        self._parents, self._children = parents, max(MAX_CHILDREN, children)

    def __call__(self, pages: Pages) -> list[list[Evidence]]:
        """The evidence for each of some results, strongest first; empty if no link relates a result."""
        subjects, copies = subjects_of(self._view, pages)
        several = len(self._used) > 1
        limit = max(1, MAX_EXAMPLES // max(1, len(self._used)))
        found = [self._about(at, subjects, several).evidence(limit) for at in range(len(self._used))]
        joined = take_turns(found) if several else found[0] if found else [[] for _ in pages]
        for r, some in copies.items():
            joined[r].append(NearDuplicates(count=len(some), examples=tuple(some[:MAX_NAMED_COPIES].tolist())))
        return joined

    def _about(self, at: int, subjects: Subjects, several: bool) -> _About:
        view, page = self._view, self._used[at]
        if isinstance(self._parents, int):
            parents = parents_of(view, page, self._parents, WINDOW_LINKS, blocks=True)
        else:
            parents = self._parents[at]
            if not len(parents.attributes):
                parents = read_again(view, parents, WINDOW_LINKS)
        return _About(view, parents, subjects, self._children, self._repeats, page if several else None)


class _About:
    """The evidence that relates results to one query page."""

    def __init__(
        self, view: View, parents: Parents, subjects: Subjects, children: int, repeats: int, query: int | None
    ) -> None:
        self._view, self._parents, self._subjects, self._query = view, parents, subjects, query
        self._members = subjects.members.tolist()
        self._results = [self._members[start] for start in subjects.starts[:-1].tolist()]
        self._listed(repeats)
        every = children_of(view, parents.of)
        state, shared = listings.find_shared(view.out, parents.of, every, children, subjects, view.refused)
        sound(view, state)
        self._shared = shared
        self._children, self._of = every.tolist(), min(len(every), children)

    def _listed(self, repeats: int) -> None:
        view, parents = self._view, self._parents
        count, hits, last = listings.find_listings(
            view.out, parents, self._subjects, view.graph.repeats, repeats, view.refused
        )
        sound(view, count)
        groups = group(view, parents.pages)[0]
        found = listings.choose_listings(hits, last, parents.pages, groups, view.graph.in_degree)
        self._counts, self._groups, self._best = (each.tolist() for each in found)
        places = found[2][found[2] >= 0]
        rows = hits[places]
        pages = parents.pages[rows[:, PARENT]].tolist()
        self._hits = dict(zip(places.tolist(), zip(pages, rows.tolist(), strict=True), strict=True))

    def evidence(self, limit: int) -> list[list[Evidence]]:
        """Of each result the `limit` best examples, then counts."""
        shared = [each.tolist() for each in self._shared]
        found: list[list[Evidence]] = []
        missing = []
        for r, row in enumerate(zip(self._best, self._counts, self._groups, *shared, strict=True)):
            together, counts = self._together(r, *row[:3])
            both, shared_counts = self._both(r, *row[3:6])
            direct = self._direct(r, *row[6:])
            best = [*together, *direct, *both]
            if together and both:
                best = [*together[:2], both[0], *direct, *together[2:], *both[1:]]
            if not best:
                missing.append(r)
            found.append([*best[:limit], *counts, *shared_counts])
        for r, between in self._between(missing):
            found[r].append(between)
        return found

    def _copy(self, r: int, member: int) -> int | None:
        page: int = self._members[member]
        return None if page == self._results[r] else page

    def _together(self, r: int, best: list[int], count: int, groups: int) -> tuple[list[Evidence], list[Evidence]]:
        if not count:
            return [], []
        examples: list[Evidence] = []
        for hit in best:
            if hit >= 0:
                page, row = self._hits[hit]
                distance, section = row[DISTANCE], row[SECTION]
                examples.append(
                    Listing(
                        page=page,
                        section=section - 1 if section else None,
                        distance=None if distance == UNKNOWN_DISTANCE else distance,
                        copy=self._copy(r, row[MEMBER]),
                        query=self._query,
                    )
                )
        best_one = examples[0]
        assert isinstance(best_one, Listing)
        of = len(self._parents.pages)
        return examples, [ListedTogether(lists=count, of=of, groups=groups, best=best_one, query=self._query)]

    def _both(
        self, r: int, count: int, children: list[int], members: list[int]
    ) -> tuple[list[Evidence], list[Evidence]]:
        if not count:
            return [], []
        pairs = [(self._children[j], m) for j, m in zip(children, members, strict=True) if j >= 0]
        examples: list[Evidence] = [SharedLink(to=to, copy=self._copy(r, m), query=self._query) for to, m in pairs]
        named = tuple(to for to, _ in pairs)
        return examples, [SharedLinks(count=count, of=self._of, examples=named, query=self._query)]

    def _direct(self, r: int, linked: int, links: int) -> list[Evidence]:
        found: list[Evidence] = []
        mutual = linked >= 0 and linked == links
        if linked >= 0:
            found.append(LinkedFrom(mutual=mutual, copy=self._copy(r, linked), query=self._query))
        if links >= 0:
            found.append(LinksTo(mutual=mutual, copy=self._copy(r, links), query=self._query))
        return found

    def _between(self, missing: list[int]) -> list[tuple[int, Evidence]]:
        """For results without other evidence: a page that they link to and that links to the query page."""
        if not missing:
            return []
        view, subjects = self._view, self._subjects
        members = [subjects.members[subjects.starts[r] : subjects.starts[r + 1]] for r in missing]
        some = make_subjects(members)
        between, by = np.full((2, len(missing)), -1, np.int64)
        sound(view, listings.find_between(view.out, np.sort(self._parents.pages), some, view.refused, between, by))
        pages = some.members.tolist()
        return [
            (
                r,
                LinksThrough(
                    through=through,
                    copy=None if pages[m] == self._results[r] else pages[m],
                    query=self._query,
                ),
            )
            for r, through, m in zip(missing, between.tolist(), by.tolist(), strict=True)
            if through >= 0
        ]


def subjects_of(view: View, pages: Pages) -> tuple[Subjects, dict[int, Pages]]:
    """Results with the near-duplicates that they represent; and of each result that has any, these."""
    near, _ = view.graph.facts.near
    copies: dict[int, Pages] = {}
    if view.switches.merge and len(near):
        at = np.minimum(np.searchsorted(near, pages), len(near) - 1)
        for r in np.flatnonzero(near[at] == pages).tolist():
            some = view.graph.facts.near_duplicates(int(pages[r]))
            if len(some):
                copies[r] = some
    if not copies:
        starts = np.arange(len(pages) + 1)
        return listings.index_subjects(np.ascontiguousarray(pages, np.uint32), starts), copies
    return make_subjects(
        [np.append(page, copies[r]) if r in copies else [page] for r, page in enumerate(pages)]
    ), copies


def make_subjects(members: Sequence[Any]) -> Subjects:
    """Subjects by the members of each."""
    starts = np.zeros(len(members) + 1, np.int64)
    np.cumsum([len(each) for each in members], out=starts[1:])
    joined = np.concatenate([np.zeros(0, np.uint32), *members]).astype(np.uint32)
    found: Subjects = listings.index_subjects(joined, starts)
    return found


def take_turns(found: Sequence[list[list[Evidence]]]) -> list[list[Evidence]]:
    """Evidence about several query pages as one list for each result: the best of each page, then the second, …"""
    return [
        [one for turn in zip_longest(*each) for one in turn if one is not None] for each in zip(*found, strict=True)
    ]


def links_around(web: Web, used: Sequence[int], params: Any) -> LinkEvidence:
    """Evidence from links for a method that keeps none itself."""
    switches = params if isinstance(params, Switches) else Switches(merge=False, unit="none")
    view = View(web.graph, used, switches, stop_pages(web.graph, switches.stop))
    return LinkEvidence(view, used, int(getattr(params, "parents", MAX_PARENTS)), int(getattr(params, "children", 0)))
