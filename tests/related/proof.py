"""Is a reason true? Every number in it is computed again from the links and texts of a store, word by word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from math import ceil, e, log
from typing import Any

import pytest

from cocite.graph.store import Graph
from cocite.kernels.related.independence import GROUPED, SECTIONS
from cocite.results.answer import Reason
from cocite.web import Web
from cocite.words.vectors import heaviest_first
from tests.related.methods.naive import NaiveWeb, View
from tests.related.methods.naive_auto import counted_parents
from tests.related.methods.naive_hits import vicinity

LOOKED_AT = 2000
Trails = Sequence[tuple[Sequence[int], float]]
"""Pages that people visited, each from the one before, and how many people did."""
UNKNOWN = 1 << 40
"""Further apart than any links: by that, reasons without a distance come last."""


def view_of(graph: Graph, truth: NaiveWeb, used: Sequence[int], params: Any, stop: Iterable[int]) -> View:
    """The web as a question with these parameters sees it."""
    published = "published" if params.merged_as_published != "nothing" else False
    view = View(
        truth,
        used,
        params.unit,
        merge=published if params.merge == "published" else params.merge,
        stop=frozenset(stop),
        rel=params.rel,
        boilerplate=params.boilerplate,
        seed=params.seed,
    )
    if params.merge == "published" and params.merged_as_published == "nodes":
        limits = params.parents, params.window, params.children, params.child_parents
        view = view.within(set().union(*(vicinity(view, page, *limits)[0] for page in used)))
    limit = getattr(params, "parents", LOOKED_AT)
    return view.with_unit(used, {parent for page in used for parent in view.random_parents(page, limit)})


SHARED = (
    "links", "words", "company", "usage", "its name beside", "same host", "first page of its host",
    "keywords in common",
)  # fmt: skip
"""Kinds that are parts of a score, or counts of their own."""


class Proof:
    """Knows the links that count for one question."""

    def __init__(
        self, graph: Graph, view: View, used: Sequence[int], parents: int, repeats: int = 0, window: int = 0,
        web: Web | None = None, params: Any = None, trails: Trails = (), copies: int = GROUPED,
    ) -> None:  # fmt: skip
        """`repeats` sections that repeat a page count, and `window` links of longer lists; `copies` that count once.

        `web` and `params` are for reasons by words, `trails` for clicks; with one query page, shares are parts of the
        score.
        """
        self.trails = trails
        self.web, self.params, self.score, self.shares = web, params, 0.0, list[float]()
        self.graph, self.view, self.used = graph, view, used
        self.repeats, self.window = repeats, window
        self.looked_at = cache(lambda query: view.random_parents(query, parents))
        self.copies = cache(
            lambda query: (
                view.originals(query, self.looked_at(query), window, copies == SECTIONS)
                if copies
                else {parent: view.original(parent) for parent in self.looked_at(query)}
            )
        )
        self.groups = cache(
            lambda query: view.groups(self.looked_at(query), copies=self.copies(query) if copies else None)
        )

    def prove(self, answer: int, reasons: Sequence[Reason], score: float = 0.0) -> None:
        """Every reason is true; those of one kind come best first; counts come after examples; shares sum up to 1."""
        self.score, self.shares = score if len(self.used) == 1 else 0.0, []
        for reason in reasons:
            getattr(self, reason.kind.replace(" ", "_").replace("-", "_"))(
                reason, self.subject(answer, reason), self.query(reason)
            )
        assert sum(self.shares) <= len(self.used) * 1.003
        for query in {reason.query for reason in reasons}:
            about = [reason for reason in reasons if reason.query == query and reason.kind not in SHARED]
            counts = [reason.count is not None for reason in about]
            assert counts == sorted(counts), "counts come last"
        assert not any(reason.copy for reason in reasons if reason.count is not None), "of all copies together"
        for query in self.used:
            self.voices([reason for reason in reasons if reason.by and self.query(reason) == query], query)

    def voices(self, shown: Sequence[Reason], query: int) -> None:
        """Of parents that count as one only one is shown, unless there is no other; never a list and its copy."""
        groups, lists = self.groups(query), [self.copies(query)[self.graph.find(reason.by)] for reason in shown]
        assert len(set(lists)) == len(lists)
        voice = [next(i for i, each in enumerate(groups) if self.graph.find(reason.by) in each) for reason in shown]
        different = len(set(voice))
        assert len(set(voice[:different])) == different

    def query(self, reason: Reason) -> int:
        """The query page that a reason speaks of; which one is said only if there are several."""
        if len(self.used) == 1:
            assert reason.query == ""
            return self.used[0]
        if not reason.query:
            assert reason.kind in ("stands for near-duplicates", "reached by links")
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

    def part(self, reason: Reason, value: float | None = None) -> None:
        """A share of the score; with one query page, that of the value which gives it."""
        assert reason.share is not None
        assert 0 <= reason.share <= 1
        self.shares.append(reason.share)
        if self.score and value is not None:
            assert reason.share == pytest.approx(value / self.score, abs=0.002)

    def links(self, reason: Reason, page: int, query: int) -> None:
        """Links give a part of the score."""
        self.part(reason)
        assert reason.share

    def words(self, reason: Reason, page: int, query: int) -> None:
        """Terms of the texts, headings and links of both pages; all that they share are counted."""
        assert self.web is not None
        vectors = self.web.vectors
        assert vectors is not None
        own, theirs = (dict(zip(*(each.tolist() for each in vectors.of(one)), strict=True)) for one in (query, page))
        shared = own.keys() & theirs.keys()
        content = {number for number in own if not vectors.stop[number]}
        assert (reason.count, reason.of) == (len(shared & content), len(content))
        assert reason.words
        assert set(reason.words) <= {vectors.words[number] for number in shared & content}
        read = [self.texts_read(one) for one in (page, query)]
        assert reason.text.startswith("Similar text, with that of linked pages") == any(len(each) > 1 for each in read)
        for pages in read:
            texts = [text for one in pages for text in self.texts_of(one)]
            assert set(reason.words) <= {word.lower() for text in texts for word in text.split()}
        weight = self.params.words * log(e + int(vectors.text_words[query]))
        self.part(reason, weight * sum(own[number] * theirs[number] for number in shared))

    def texts_of(self, page: int) -> list[str]:
        """The texts of a page alone."""
        return [*self.graph.headings(page), self.graph.title(page), self.graph.texts.text(page)]

    def texts_read(self, page: int) -> set[int]:
        """Pages whose texts give the words of a page: those that it exchanges links with, too, if its text is short."""
        if not 0 < len(set(self.graph.texts.text(page).split())) < 65:
            return {page}
        return {page, *(set(self.graph.links_from(page).targets.tolist()) & set(self.graph.links_to(page).tolist()))}

    def company(self, reason: Reason, page: int, query: int) -> None:
        """Context words of both pages; their cosine gives a part of the score."""
        assert self.web is not None
        vectors = self.web.vectors
        assert vectors is not None
        rows = [heaviest_first(vectors.context, one) for one in (query, page)]
        own, theirs = (dict(zip(*(each.tolist() for each in row), strict=True)) for row in rows)
        shared = own.keys() & theirs.keys()
        assert reason.words
        assert set(reason.words) <= {vectors.words[number] for number in shared}
        votes = vectors.votes if self.params.counted_copies else self.graph.in_degree
        popular = max(1, int(votes[page])) ** self.params.popularity
        counted = counted_parents(self.view, query, self.looked_at(query), self.window, self.params.copies)
        weight = self.params.context * (sum(counted.values()) / len(counted) if counted else 1.0)
        self.part(reason, weight * popular * sum(own[number] * theirs[number] for number in shared))

    def usage(self, reason: Reason, page: int, query: int) -> None:
        """Clicks from one page to the other or its near-duplicates, and sessions with both that have no such click."""
        self.part(reason)
        assert reason.share
        others = [other for other in range(self.graph.pages) if other == page or self.view.node(other) == page]
        assert reason.count == ceil(sum(self.clicks(query, other) for other in others))
        assert reason.back == ceil(sum(self.clicks(other, query) for other in others))
        assert reason.of == ceil(sum(self.clicks(query, other) for other in range(self.graph.pages)))
        sessions = [times for other in others for pages, times in self.trails if {other, query} <= {*pages}]
        linked = sum(self.clicks(query, other) + self.clicks(other, query) for other in others)
        assert reason.together == ceil(sum(sessions) - linked)

    def clicks(self, source: int, target: int) -> float:
        """How often people went from one page to another."""
        return sum(times for pages, times in self.trails for step in pairwise(pages) if step == (source, target))

    def its_name_beside(self, reason: Reason, page: int, query: int) -> None:
        """Another page that links call by the name of the result."""
        self.part(reason)
        assert self.graph.find(reason.through) not in (page, query)

    def same_host(self, reason: Reason, page: int, query: int) -> None:
        """Both are on one host; without other evidence the address gives the whole score."""
        self.part(reason, self.score if reason.share == 1 else 0.25)
        assert self.view.web.unit("host", page) == self.view.web.unit("host", query)

    def first_page_of_its_host(self, reason: Reason, page: int, query: int) -> None:
        """Its address has no path."""
        self.part(reason, 0.25)
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
        originals = len({self.copies(query)[parent] for parent in both})
        same = "copies of each other" if originals == reason.voices else "copies or pages of one site"
        same = "pages of one site" if originals == len(both) else same
        assert (f"({same}, counted" in reason.text) == (reason.voices < len(both) and len(looked) > 1)

    def same(self, page: int) -> set[int]:
        """An answer and its near-duplicates."""
        return {page, *(other for other in self.view.web.representatives if self.view.node(other) == page)}

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
        copies = self.same(page) - {page}
        assert reason.count == len(copies)
        assert self.view.merge
        assert [self.graph.find(each) for each in reason.pages] == sorted(copies)[:5]

    # Methods that compare pages by words, or by paths

    def children(self, page: int) -> set[int]:
        """All pages that a page links to."""
        return {int(target) for target in self.graph.links_from(page).targets} - {page}

    def reached_by_links(self, reason: Reason, page: int, query: int) -> None:
        """A chain from a query page to the result, each linked with the next."""
        chain = [self.graph.find(each) for each in reason.pages]
        assert chain[-1] == page
        assert chain[0] in self.used
        assert all(b in self.children(a) or a in self.children(b) for a, b in pairwise(chain))

    def like_a_related_page(self, reason: Reason, page: int, query: int) -> None:
        """The page between is related by links to the result and to the query page."""
        between = self.graph.find(reason.through)
        assert self.related_by_links(between, page)
        assert self.related_by_links(between, query)

    def related_by_links(self, one: int, other: int) -> bool:
        """Whether one links to the other, or both share a parent or a child; or their near-duplicates."""
        first, second = (
            [{link for each in self.same(page) for link in of(each)} for of in (self.view.child_set, self.view.parents)]
            for page in (one, other)
        )
        linked = any(self.same(a) & links for a, both in ((one, second), (other, first)) for links in both)
        return linked or any(a & b for a, b in zip(first, second, strict=True))

    def sites_cited_alike(self, reason: Reason, page: int, query: int) -> None:
        """From the site of the query page to that of the result."""
        assert (reason.pages[0], reason.pages[-1]) == (self.graph.site(query), self.graph.site(page))

    def keywords(self, page: int) -> set[str]:
        """The keywords of a page."""
        assert self.web is not None
        found = self.web.keywords
        return {found.words[int(number)] for number in found.ids[found.starts[page] : found.starts[page + 1]]}

    def keywords_in_common(self, reason: Reason, page: int, query: int) -> None:
        own, theirs = self.keywords(query), self.keywords(page)
        assert (reason.count, reason.of) == (len(own & theirs), len(own))
        assert set(reason.words) <= own & theirs
        assert len(reason.words) == min(8, len(own & theirs))

    def relevance_of(self, one: str, other: str) -> float:
        """r_s of two words."""
        assert self.web is not None
        numbers = {word: number for number, word in enumerate(self.web.keywords.words)}
        return float(self.web.relevance.all_similar(numbers[one])[numbers[other]])

    def keywords_alike(self, reason: Reason, page: int, query: int, together: bool = True) -> None:
        """Pairs, one keyword of each page; the first is the most relevant."""
        pairs = [tuple(pair.split(" – ")) for pair in reason.words]
        assert reason.share == pytest.approx(self.relevance_of(*pairs[0]), abs=2e-6)
        for one, other in pairs:
            assert (one in self.keywords(query), other in self.keywords(page)) == (True, True)
            assert together == any({one, other} <= self.keywords(each) for each in range(self.graph.pages))

    def keywords_apart(self, reason: Reason, page: int, query: int) -> None:
        self.keywords_alike(reason, page, query, together=False)

    def semantic(self, one: int, other: int) -> float:
        """Sim_s of two pages, by its definition."""
        if one == other:
            return 1.0
        own, theirs = self.keywords(one), self.keywords(other)
        if not own or not theirs:
            return 0.0
        best = [max(1.0 if a == b else self.relevance_of(a, b) for b in theirs) for a in own]
        best += [max(1.0 if a == b else self.relevance_of(a, b) for a in own) for b in theirs]
        return sum(best) / len(best)

    def links_to_pages_alike(self, reason: Reason, page: int, query: int) -> None:
        one, other = (self.graph.find(each) for each in reason.pages)
        assert (one in self.children(query), other in self.children(page)) == (True, True)
        assert reason.share == pytest.approx(self.semantic(one, other), abs=2e-6)

    def linked_by_pages_alike(self, reason: Reason, page: int, query: int) -> None:
        one, other = (self.graph.find(each) for each in reason.pages)
        assert (query in self.children(one), page in self.children(other)) == (True, True)
        assert reason.share == pytest.approx(self.semantic(one, other), abs=2e-6)
