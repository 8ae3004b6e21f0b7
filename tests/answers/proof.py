"""Is a reason true? Read off the links of a store, word by word, by the slow truth's view of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from cocite.graph.store import Graph
from cocite.results.answer import Reason
from tests.related.methods.naive import NaiveWeb, View

LOOKED_AT = 2000
UNKNOWN = 1 << 40
"""Further apart than any links: by that, reasons without a distance come last."""


def view_of(graph: Graph, truth: NaiveWeb, used: Sequence[int], params: Any, stop: Iterable[int]) -> View:
    """The web as a question with these parameters sees it."""
    return View(
        truth,
        used,
        params.unit,
        merge=params.merge,
        stop=frozenset(stop),
        rel=params.rel,
        boilerplate=params.boilerplate,
        seed=params.seed,
    )


SPOKE = ("links", "words", "company", "its name beside", "same host", "first page of its host")
"""Kinds that tell what gave how much of a score."""


class Proof:
    """Knows the links that count for one question."""

    def __init__(
        self, graph: Graph, view: View, used: Sequence[int], parents: int, repeats: int = 0, window: int = 0
    ) -> None:
        """Of the blocks that have a page again the method hears `repeats`, and of longer lists `window` links."""
        self.graph, self.view, self.used = graph, view, used
        self.repeats, self.window = repeats, window
        self.looked_at = cache(lambda query: view.random_parents(query, parents))
        self.groups = cache(lambda query: view.groups(self.looked_at(query)))

    def prove(self, answer: int, reasons: Sequence[Reason]) -> None:
        """Every reason is true; those of one kind stand best first; the counts come after the evidence."""
        for reason in reasons:
            getattr(self, reason.kind.replace(" ", "_").replace("-", "_"))(
                reason, self.subject(answer, reason), self.query(reason)
            )
        counts = [reason.count is not None for reason in reasons if reason.kind not in SPOKE]
        assert counts == sorted(counts), "counts come last"
        assert not any(reason.copy for reason in reasons if reason.count is not None), "of all copies together"
        for query in self.used:
            self.voices([reason for reason in reasons if reason.by and self.query(reason) == query], query)

    def voices(self, shown: Sequence[Reason], query: int) -> None:
        """Of parents that count as one only one is shown, unless there is no other."""
        groups = self.groups(query)
        voice = [next(i for i, each in enumerate(groups) if self.graph.find(reason.by) in each) for reason in shown]
        different = len(set(voice))
        assert len(set(voice[:different])) == different

    def query(self, reason: Reason) -> int:
        """The query page that a reason speaks of; which one is said only if there are several."""
        if len(self.used) == 1:
            assert reason.query == ""
            return self.used[0]
        if not reason.query:
            assert reason.kind == "stands for near-duplicates"
            return self.used[0]
        page = self.graph.find(reason.query)
        assert page in self.used
        return page

    def subject(self, answer: int, reason: Reason) -> int:
        """The answer, or the near-duplicate of it that a reason speaks of."""
        if not reason.copy:
            return answer
        copy = self.graph.find(reason.copy)
        assert copy != answer == self.view.node(copy)
        return copy

    def links(self, reason: Reason, page: int, query: int) -> None:
        """Links spoke: by which part of what was said."""
        assert reason.share is not None
        assert 0 < reason.share <= 1

    def words(self, reason: Reason, page: int, query: int) -> None:
        """Words spoke: those that stand in the texts of links to both, or in their headings."""
        assert reason.share is not None
        assert 0 < reason.share <= 1
        for one in (page, query):
            assert set(reason.words) <= {word.lower() for text in self.graph.headings(one) for word in text.split()}

    def company(self, reason: Reason, page: int, query: int) -> None:
        """Words of headings, or of pages, of blocks that list each of both; so many of the score."""
        assert reason.share is not None
        assert 0 < reason.share <= 1
        assert reason.words

    def its_name_beside(self, reason: Reason, page: int, query: int) -> None:
        """Another page that links call by the name of the answer."""
        assert reason.share is not None
        assert 0 < reason.share <= 1
        assert self.graph.find(reason.through) not in (page, query)

    def same_host(self, reason: Reason, page: int, query: int) -> None:
        """Both are on one host."""
        assert reason.share is not None
        assert 0 < reason.share <= 1
        assert self.view.web.unit("host", page) == self.view.web.unit("host", query)

    def first_page_of_its_host(self, reason: Reason, page: int, query: int) -> None:
        """Its address has no path."""
        assert reason.share is not None
        assert 0 < reason.share <= 1
        assert "/" not in self.graph.address(page).partition("://")[2].rstrip("/")

    def cited_together(self, reason: Reason, page: int, query: int) -> None:
        parent = self.graph.find(reason.by)
        assert parent in self.looked_at(query)
        assert reason.title == self.graph.title(parent)
        near = self.nearness(parent, page, query)
        assert near is not None, "the parent links to both"
        apart, distance, block = near
        assert reason.distance == (None if distance == UNKNOWN else distance)
        headings = self.graph.headings(parent)
        heading = headings[block] if 0 <= block < len(headings) else ""
        assert reason.block == (None if apart else heading)

    def nearness(self, parent: int, page: int, query: int) -> tuple[bool, int, int] | None:
        """(not in one block, links apart, block) on a parent that links to both."""
        links = self.view.links(parent)
        places = {link.target: place for place, link in enumerate(links)}
        if page not in places or query not in places:
            return None
        distance, block = abs(places[page] - places[query]), links[places[page]].block
        if 0 <= block == links[places[query]].block:
            return False, distance, block
        own = self.blocks(parent, query)
        both = {block, *self.blocks(parent, page)} & {links[places[query]].block, *own[: self.repeats]} - {-1}
        seen = not self.window or len(links) <= self.window + 1 or distance <= self.window // 2
        # In one of them again: nobody knows where.
        return (False, UNKNOWN, min(both)) if both and seen and self.repeats else (True, distance, -1)

    def blocks(self, parent: int, page: int) -> list[int]:
        """The other blocks in which a parent links to a page again."""
        return sorted(link.block for link in self.view.again(parent, 2000) if link.target == page)

    def cited_together_in_all(self, reason: Reason, page: int, query: int) -> None:
        looked, same = self.looked_at(query), self.same(page)
        both = {parent for parent in looked if same & self.view.child_set(parent)}
        assert (reason.count, reason.of) == (len(both), len(looked))
        assert reason.voices == sum(1 for voice in self.groups(query) if voice & both)

    def same(self, page: int) -> set[int]:
        """An answer and the near-duplicates that it stands for."""
        copies = self.view.web.representatives.items() if self.view.merge else ()
        return {page, *(other for other, by in copies if by == page)}

    def best(self, page: int, query: int) -> tuple[bool, int] | None:
        """The nearest that the two stand together anywhere."""
        found = [self.nearness(parent, each, query) for parent in self.looked_at(query) for each in self.same(page)]
        return min((each[:2] for each in found if each is not None), default=None)

    def links_to_the_same_page(self, reason: Reason, page: int, query: int) -> None:
        child = self.graph.find(reason.to)
        assert child in self.view.child_set(page) & self.view.child_set(query)

    def links_to_the_same_pages_in_all(self, reason: Reason, page: int, query: int) -> None:
        shared = {child for each in self.same(page) for child in self.view.child_set(each)} & self.view.child_set(query)
        assert (reason.count, reason.of) == (len(shared), len(self.view.child_set(query)))

    def linked_by_the_query(self, reason: Reason, page: int, query: int) -> None:
        assert page in self.view.child_set(query)

    def links_to_the_query(self, reason: Reason, page: int, query: int) -> None:
        assert query in self.view.child_set(page)

    def links_to_a_page_that_links_to_the_query(self, reason: Reason, page: int, query: int) -> None:
        between = self.graph.find(reason.through)
        assert between in self.view.child_set(page)
        assert query in self.view.child_set(between)

    def stands_for_near_duplicates(self, reason: Reason, page: int, query: int) -> None:
        copies = [other for other, by in self.view.web.representatives.items() if by == page and other != page]
        assert reason.count == len(copies)
        assert self.view.merge
        assert [self.graph.find(each) for each in reason.pages] == sorted(copies)[:5]
