"""The evidence of the default method: each part of a score with what it was computed from, the largest part first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related.together import MAX_REPEATS
from cocite.related.evidence import (
    ByLinks,
    ContextWords,
    Evidence,
    HomePage,
    ListedWithSameName,
    SameHost,
    SameName,
    SameNameListed,
    SimilarText,
)
from cocite.related.neighbourhood.blend import WEIGHTS, Blend, BlendParams, same_name_pages
from cocite.related.neighbourhood.gather import find_places
from cocite.related.neighbourhood.link_evidence import LinkEvidence
from cocite.related.neighbourhood.scores import LEAST
from cocite.related.neighbourhood.view import Pages, View
from cocite.web import Web
from cocite.words.tokens import DEFAULT_LANGUAGE, stop_words
from cocite.words.vectors import SharedTerms, Vectors

MAX_WORDS = 8
"""Words that are named."""
MAX_LINK_SHARE = 0.95
"""Where links give more than this of a score, words are not evidence."""
NAMED_SHARE = 3
"""Digits of a part of the score."""


class BlendEvidence:
    """Finds the evidence for the results of one question."""

    def __init__(self, web: Web, view: View, used: Sequence[int], found: Blend, params: BlendParams) -> None:
        self._web, self._view, self._used, self._found, self._params = web, view, used, found, params
        self._words: dict[int, str] = {}
        self._dull = stop_words(DEFAULT_LANGUAGE)

    def __call__(self, pages: Pages) -> list[list[Evidence]]:
        """The evidence for each of some results, for each query page the largest part first."""
        found, params = self._found, self._params
        parents = [one.parents for one in found.around]
        links = LinkEvidence(self._view, self._used, parents, params.children, MAX_REPEATS)(pages)
        places = find_places(found.pages.pages, pages)
        rows = [_Row(self, row, pages, places) for row in range(len(self._used))]
        joined: list[list[Evidence]] = []
        for i, place in enumerate(places.tolist()):
            parts = [row.parts(i) for row in rows] if place >= 0 else []
            if all(by_links for by_links, _ in parts):
                joined.append(links[i])
                continue
            said = [each for _, some in parts for each in some]
            first = next((at for at, each in enumerate(said) if isinstance(each, ByLinks)), None)
            joined.append(said if first is None else [*said[:first], *links[i], *said[first:]])
        return joined

    def terms(self, vectors: Vectors, shared: SharedTerms) -> tuple[str, ...]:
        """The first terms, without stop words."""
        named: list[str] = []
        for number in shared.terms:
            word = self._words.get(number)
            if word is None:
                word = self._words[number] = vectors.words[number]
            if word not in self._dull:
                named.append(word)
                if len(named) == MAX_WORDS:
                    break
        return tuple(named)


class _Row:
    """The evidence that relates results to one query page."""

    def __init__(self, of: BlendEvidence, row: int, pages: Pages, places: NDArray[np.int64]) -> None:
        found, self._of, self._row, self._pages = of._found, of, row, pages.tolist()
        self._vectors, self._around, self._places = of._web.vectors, found.around[row], places.tolist()
        self._query = self._around.page if len(of._used) > 1 else None
        known = np.maximum(0, places)
        parts = (found.links, found.named, found.words, found.context, found.place)
        self._values = np.array([each[row, known] for each in parts]).T.tolist() if len(found.pages.pages) else []
        hosts = of._web.graph.units("host")
        self._same_host = (hosts[pages] == hosts[self._around.page]).tolist()
        self._same_name = set(same_name_pages(of._web, self._around.page, of._params)[0])
        self._through = self._listed_with_same_name(pages)
        self._text = self._context = list[SharedTerms]()
        if self._vectors is not None:
            self._text = self._vectors.shared_terms(self._around.page, pages)
            self._context = self._vectors.shared_context(self._around.page, pages)

    def parts(self, i: int) -> tuple[bool, list[Evidence]]:
        """Whether links alone give the score of result i; and the evidence of all parts, the largest first."""
        links, named, words, context, place = self._values[i]
        total = max(links + named + words + context + place, LEAST)
        by_name, by_place = self._by_name(i), self._by_place(i, place, total)
        by_links = links > MAX_LINK_SHARE * (total - place)
        if by_links and not (by_name or by_place or named):
            return True, [ByLinks(share=share(links, total), query=self._query)] if links > 0 else []
        found: list[tuple[float, list[Evidence]]] = [
            (links, [ByLinks(share=share(links, total), query=self._query), *by_name]),
            (named, self._same_name_listed(i, named / total) if named else []),
        ]
        if not by_links or by_name:
            found += [(words, self._by_text(i, words / total)), (context, self._by_context(i, context / total))]
        found.sort(key=lambda each: -each[0])
        return False, [each for value, some in found if value > 0 for each in some] + by_place

    def _by_name(self, i: int) -> list[Evidence]:
        page = self._pages[i]
        if page in self._same_name:
            return [SameName(query=self._query)]
        return [ListedWithSameName(through=self._through[page], query=self._query)] if page in self._through else []

    def _listed_with_same_name(self, pages: Pages) -> dict[int, int]:
        """Results that a list of a same-name page has, with that page: the first such list that counts."""
        listing, counts, first = self._around.listing, self._around.counts, len(self._around.parents.pages)
        if first == len(listing.pages):
            return {}
        begin, half = int(listing.starts[first]), listing.window // 2
        hits = begin + np.flatnonzero(np.isin(listing.targets[begin : int(listing.starts[-1])], pages))
        owners = np.searchsorted(listing.starts, hits, "right") - 1
        lengths = listing.starts[owners + 1] - listing.starts[owners]
        seen = np.abs(hits - listing.places[owners]) <= half if listing.window else np.ones(len(hits), np.bool_)
        counted = (counts[owners] > 0) & (seen | (lengths <= listing.window + 1))
        found: dict[int, int] = {}
        for hit, owner in zip(hits[counted].tolist(), owners[counted].tolist(), strict=True):
            found.setdefault(int(listing.targets[hit]), int(listing.targets[listing.places[owner]]))
        return found

    def _same_name_listed(self, i: int, part: float) -> list[Evidence]:
        found, vectors = self._of._found, self._vectors
        others = vectors.same_name_pages(self._pages[i])[0] if vectors is not None else self._around.children[:0]
        numbers = found.numbered.find(others)
        for other, number in zip(others.tolist(), numbers.tolist(), strict=True):
            place = int(found.pages.number[number]) if number >= 0 else self._places[i]
            if place != self._places[i] and found.in_section[self._row][place] > 0:
                return [SameNameListed(through=other, share=share(part), query=self._query)]
        return []

    def _by_text(self, i: int, part: float) -> list[Evidence]:
        if self._vectors is None or not self._text[i].number:
            return []
        shared, of = self._text[i], len(self._vectors.of(self._around.page)[0])
        terms = self._of.terms(self._vectors, shared)
        return [SimilarText(terms=terms, shared=shared.number, of=of, share=share(part), query=self._query)]

    def _by_context(self, i: int, part: float) -> list[Evidence]:
        if self._vectors is None or not self._context[i].number:
            return []
        terms = self._of.terms(self._vectors, self._context[i])
        return [ContextWords(terms=terms, share=share(part), query=self._query)]

    def _by_place(self, i: int, place: float, total: float) -> list[Evidence]:
        if not place:
            return []
        if place == total:  # nothing but the address relates them
            return [SameHost(share=1.0, query=self._query)]
        found: list[Evidence] = []
        if self._same_host[i]:
            found.append(SameHost(share=share(WEIGHTS.same_host, total), query=self._query))
        if self._vectors is not None and self._vectors.home[self._pages[i]] == 1:
            found.append(HomePage(share=share(WEIGHTS.home_page, total), query=self._query))
        return found


def share(value: float, total: float = 1.0) -> float:
    """A part of a score, rounded."""
    return round(value / total, NAMED_SHARE)
