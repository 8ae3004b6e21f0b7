"""Evidence from links: which parents link to both pages, which links both have, and links from one to the other.

It is computed for all kept results at once, from the parents that the method chose. Only links that the method counts
are evidence. A result and the near-duplicates that it represents are one subject: evidence for any of them counts,
and names the near-duplicate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from cocite.kernels.related import listings
from cocite.kernels.related.listings import DISTANCE, MAX_EXAMPLES, MEMBER, PARENT, SECTION, UNKNOWN_DISTANCE, Subjects
from cocite.kernels.related.neighbourhood import Parents
from cocite.related import evidence as kinds
from cocite.related.evidence import Evidence
from cocite.related.neighbourhood.gather import Numbered, children_of, parents_of, read_parents
from cocite.related.neighbourhood.view import NO_PAGES, GraphView, Pages, Switches
from cocite.web import Web

WINDOW_LINKS = 2000
"""Links that are read around the link to the query page in long lists; the rest is looked up."""
MAX_PARENTS, MAX_CHILDREN = 2000, 4096
"""What is read, unless the method reads more."""
MAX_NAMED_COPIES = 5


@dataclass(frozen=True)
class LinkEvidence:
    """Finds the evidence from links for the results of one question."""

    view: GraphView
    parents: Sequence[Parents]  # those that the method chose for each query page
    children: int = 0  # children of a query page that the method reads
    repeats: int = 0  # of the sections in which a parent repeats its link to the query page, this many count

    def __call__(self, pages: Pages) -> list[list[Evidence]]:
        """The evidence for each of some results, strongest first; empty if no link relates a result."""
        copies = self._copies(pages)
        own = [pages[r : r + 1] for r in range(len(pages))]
        subjects = make_subjects([np.append(page, copies[r]) if r in copies else page for r, page in enumerate(own)])
        limit = max(1, MAX_EXAMPLES // max(1, len(self.parents)))
        found = [for_query(self._about(each, subjects, limit), each.of, len(self.parents)) for each in self.parents]
        joined = take_turns(found) if found else [[] for _ in pages]
        for r, some in copies.items():
            joined[r].append(kinds.MergedDuplicates(count=len(some), examples=tuple(some[:MAX_NAMED_COPIES].tolist())))
        return joined

    def _copies(self, pages: Pages) -> dict[int, Pages]:
        """The near-duplicates of each result that represents any."""
        near, facts = self.view.near[0], self.view.graph.facts
        at = np.searchsorted(near, pages)  # `isin` would sort all near-duplicates of the store
        known = [r for r in np.flatnonzero(at < len(near)).tolist() if near[at[r]] == pages[r]]
        found = {r: facts.near_duplicates(int(pages[r])) for r in known}
        return {r: some for r, some in found.items() if len(some)}

    def _about(self, parents: Parents, subjects: Subjects, limit: int) -> list[list[Evidence]]:
        """The evidence that relates results to one query page: the `limit` best examples of each, then counts."""
        view = self.view
        if not len(parents.attributes):
            parents = read_parents(view, parents.of, parents.pages.copy(), len(parents.pages), WINDOW_LINKS, True)
        members, of_result = subjects.members.members.tolist(), subjects.result.tolist()
        results = [members[start] for start in subjects.starts[:-1].tolist()]
        copies = [None if page == results[r] else page for page, r in zip(members, of_result, strict=True)]
        found: list[list[Evidence]] = []
        for listed, links in zip(
            self._listed(parents, subjects, copies), self._shared(parents.of, subjects, copies), strict=True
        ):
            shared, direct = links
            best = [*listed[:-1], *direct, *shared[:-1]]
            if listed and shared:
                best = [*listed[:-1][:2], shared[0], *direct, *listed[:-1][2:], *shared[1:-1]]
            found.append([*best[:limit], *listed[-1:], *shared[-1:]])
        missing = [r for r, each in enumerate(found) if not each]
        if missing:
            starts = subjects.starts
            some = make_subjects([subjects.members.members[starts[r] : starts[r + 1]] for r in missing])
            between, by = np.full((2, len(missing)), -1, np.int64)
            view.check(listings.find_between(view.out, np.sort(parents.pages), some, view.refused, between, by))
            for r, through, page in zip(missing, between.tolist(), some.members.members[by].tolist(), strict=True):
                if through >= 0:
                    found[r].append(kinds.LinksThrough(through=through, copy=None if page == results[r] else page))
        return found

    def _listed(self, parents: Parents, subjects: Subjects, copies: list[int | None]) -> Iterator[list[Evidence]]:
        """For each result examples of parents that link to both, and last their number; empty if there are none."""
        view = self.view
        count, hits, last = listings.find_listings(
            view.out, parents, subjects, view.graph.links.repeats, self.repeats, view.refused
        )
        view.check(count)
        if not count:
            yield from ([] for _ in last)
            return
        groups = view.group(parents.pages)[0]
        numbers, independent, places = listings.choose_listings(hits, last, parents.pages, groups, view.graph.in_degree)
        rows = hits[np.maximum(places, 0)]  # those of all results at once
        pages = parents.pages[rows[:, :, PARENT]].tolist()
        lengths = (places >= 0).sum(axis=1)
        results = (each.tolist() for each in (numbers, independent, lengths, rows))
        for lists, units, length, some, of in zip(*results, pages, strict=True):
            examples = []
            for row, page in zip(some[:length], of, strict=False):
                section, distance = row[SECTION] - 1 if row[SECTION] else None, row[DISTANCE]
                distance = None if distance == UNKNOWN_DISTANCE else distance
                examples.append(kinds.Listing(page=page, section=section, distance=distance, copy=copies[row[MEMBER]]))
            total = [kinds.ListedTogether(lists=lists, of=len(parents.pages), groups=units, best=each)
                     for each in examples[:1]]  # fmt: skip
            yield [*examples, *total]

    def _shared(
        self, page: int, subjects: Subjects, copies: list[int | None]
    ) -> Iterator[tuple[list[Evidence], list[Evidence]]]:
        """For each result examples of links that both have, and last their number; and links between the two."""
        view, children = self.view, children_of(self.view, page)
        limit = max(MAX_CHILDREN, self.children)
        state, shared = listings.find_shared(view.out, page, children, limit, subjects, view.refused)
        view.check(state)
        of = min(len(children), limit)
        for count, places, members, linked, links in zip(*(each.tolist() for each in shared), strict=True):
            pairs = [(int(children[at]), copies[m]) for at, m in zip(places, members, strict=True) if at >= 0 and count]
            both: list[Evidence] = [kinds.SharedLink(to=to, copy=copy) for to, copy in pairs]
            if count:
                both.append(kinds.SharedLinks(count=count, of=of, examples=tuple(to for to, _ in pairs)))
            mutual, direct = linked >= 0 and linked == links, list[Evidence]()
            if linked >= 0:
                direct.append(kinds.LinkedFrom(mutual=mutual, copy=copies[linked]))
            if links >= 0:
                direct.append(kinds.LinksTo(mutual=mutual, copy=copies[links]))
            yield both, direct


def make_subjects(members: Sequence[Pages]) -> Subjects:
    """Subjects by the members of each, the result first."""
    starts = np.zeros(len(members) + 1, np.int64)
    np.cumsum([len(each) for each in members], out=starts[1:])
    numbered = Numbered(int(starts[-1]))
    numbered.add(np.concatenate([NO_PAGES, *members]).astype(np.uint32))
    return Subjects(numbered.set, starts, np.repeat(np.arange(len(members), dtype=np.int32), np.diff(starts)))


def for_query(found: list[list[Evidence]], query: int, queries: int) -> list[list[Evidence]]:
    """Evidence that names its query page, if there are several."""
    return found if queries == 1 else [[replace(one, query=query) for one in each] for each in found]


def take_turns(found: Sequence[list[list[Evidence]]]) -> list[list[Evidence]]:
    """Evidence about several query pages as one list for each result: the best of each page, then the second, …"""
    return [
        [one for turn in zip_longest(*each) for one in turn if one is not None] for each in zip(*found, strict=True)
    ]


def links_around(web: Web, used: Sequence[int], params: Any) -> LinkEvidence:
    """Evidence from links for a method that keeps none itself."""
    switches = params if isinstance(params, Switches) else Switches(merge=False, unit="none")
    view = GraphView(web.graph, used, switches, web.known_pages(switches.stop))
    limit = int(getattr(params, "parents", MAX_PARENTS))
    parents = [parents_of(view, page, limit, WINDOW_LINKS, sections=True) for page in used]
    return LinkEvidence(view, parents, int(getattr(params, "children", 0)))
