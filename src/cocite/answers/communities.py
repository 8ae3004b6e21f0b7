"""Communities as they are shown: addresses, titles and words in place of page numbers, and why pages were left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from cocite.answers.ask import MOST_QUERIES, about_store, check_k
from cocite.answers.naming import title_of
from cocite.answers.telling import keywords, page_words
from cocite.answers.timing import stopwatch
from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.methods import community as method
from cocite.methods.community import Base, Params, Weighed
from cocite.neighbourhood.scores import rounded
from cocite.neighbourhood.view import Pages
from cocite.parameters import values_of
from cocite.web import Web

KEYWORDS = 8
MEAN = {"avg": "mean", "max": "greatest", "min": "least"}


@dataclass(frozen=True)
class Member:
    """A hub or an authority of a community."""

    url: str
    title: str
    score: float
    page: int  # its number in the store

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"url": self.url, "title": self.title, "score": self.score}


@dataclass(frozen=True)
class Eliminated:
    """A noise page: its measure is below that of the root set."""

    url: str
    title: str
    measure: float
    links: int  # root pages that it is linked with
    why: str
    page: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        found = {"url": self.url, "title": self.title, "measure": self.measure}
        return {**found, "root_pages_linked": self.links, "why": self.why}


@dataclass(frozen=True)
class Shown:
    """One community."""

    vector: int  # 1: the principal one
    end: str  # positive or negative
    value: float
    pages: int  # that belong to it more than to any other
    keywords: tuple[str, ...]
    hubs: tuple[Member, ...]
    authorities: tuple[Member, ...]
    eliminated: tuple[Eliminated, ...]  # noise pages that were linked with its pages, most linked first
    eliminated_in_all: int

    @property
    def name(self) -> str:
        """`principal`, or which end of which vector."""
        return "principal" if self.vector == 1 and self.end == "positive" else f"vector {self.vector}, {self.end} end"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        found = {"name": self.name, "vector": self.vector, "end": self.end, "singular_value": self.value}
        lists = {name: [each.to_dict() for each in getattr(self, name)] for name in ("hubs", "authorities")}
        noise = {
            "eliminated": [each.to_dict() for each in self.eliminated],
            "eliminated_in_all": self.eliminated_in_all,
        }
        return {**found, "pages": self.pages, "keywords": list(self.keywords), **lists, **noise}


@dataclass(frozen=True)
class CommunitiesFound(Sequence[Shown]):
    """The communities of one question, and what NPEA did to its base set."""

    query: str  # words, if it was asked in words
    pages: tuple[str, ...]  # addresses, if pages were given
    params: Mapping[str, Any]
    communities: tuple[Shown, ...]
    root: int
    base: int
    links: int
    eliminated: int
    threshold: float
    k: int
    rank: int
    noise: tuple[Eliminated, ...]  # those with the largest measures: they nearly stayed
    left_out: frozenset[int]  # all of them, by page number
    store: Mapping[str, Any]
    milliseconds: float

    @overload
    def __getitem__(self, index: int) -> Shown: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Shown]: ...
    def __getitem__(self, index: int | slice) -> Shown | Sequence[Shown]:
        return self.communities[index]

    def __len__(self) -> int:
        return len(self.communities)

    def __iter__(self) -> Iterator[Shown]:
        return iter(self.communities)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        base = {"root": self.root, "pages": self.base, "links": self.links, "eliminated": self.eliminated}
        found = {"threshold": self.threshold, "k": self.k, "rank": self.rank}
        return {
            "query": self.query or list(self.pages),
            "method": "community",
            "params": dict(self.params),
            "base_set": {**base, **found, "noise": [each.to_dict() for each in self.noise]},
            "communities": [each.to_dict() for each in self.communities],
            "store": dict(self.store),
            "milliseconds": round(self.milliseconds, 3),
        }


def root_set(web: Web, query: str, urls: Sequence[str], params: Params) -> list[int]:
    """The pages to start from: the best results for words, given pages, or both together.

    Raises BadParameter where nothing is asked, UnknownPage and BadAddress. Words that no page has give no pages.
    """
    if not query.strip() and not urls:
        raise BadParameter("nothing to look for: give some words, or pages by --page")
    if len(urls) > MOST_QUERIES:
        raise BadParameter(f"more than {MOST_QUERIES:,} addresses: give fewer at once")
    given = [web.graph.find(url) for url in urls]
    results = [page for page, _ in web.search.find(query, params.results)] if query.strip() else []
    return list(dict.fromkeys([*given, *results]))


def find(web: Web, query: str, urls: Sequence[str], params: Params, k: int = 10) -> CommunitiesFound:
    """Communities for words or pages, each with its k best hubs and authorities."""
    with stopwatch() as passed:
        return _find(web, query, urls, params, k, passed)


def _find(
    web: Web, query: str, urls: Sequence[str], params: Params, k: int, passed: Callable[[], float]
) -> CommunitiesFound:
    root = root_set(web, query, urls, params)
    found = method.communities(web, root, params)
    base, graph, k = found.base, web.graph, check_k(k)
    words = page_words(graph, base.edges) if found else {}
    noise = _Noise(graph, base)
    shown = [
        Shown(
            each.vector,
            "positive" if each.end > 0 else "negative",
            rounded(each.value),
            len(each.members),
            tuple(keywords(words, each, KEYWORDS, web.search if query.strip() else None)),
            _members(graph, each.hubs, k),
            _members(graph, each.authorities, k),
            noise.told(each.eliminated[:k]),
            len(each.eliminated),
        )
        for each in found
    ]
    measured = base.measured
    return CommunitiesFound(
        query=query.strip(),
        pages=tuple(urls),
        params=values_of(params),
        communities=tuple(shown),
        root=int(base.root.sum()),
        base=len(base.root),
        links=len(base.edges.ends),
        eliminated=len(base.root) - len(base.rest.pages),
        threshold=rounded(measured.threshold),
        k=measured.k,
        rank=measured.rank,
        noise=noise.told(noise.nearest(k)),
        left_out=frozenset(base.edges.pages[~measured.keep].tolist()),
        store=about_store(graph),
        milliseconds=passed(),
    )


def _members(graph: Graph, side: Weighed, k: int) -> tuple[Member, ...]:
    pairs = zip(side.pages[:k].tolist(), side.weights[:k].tolist(), strict=True)
    return tuple(Member(graph.address(page), title_of(graph, page), rounded(weight), page) for page, weight in pairs)


class _Noise:
    """Tells why pages of a base set were left out."""

    def __init__(self, graph: Graph, base: Base) -> None:
        self.graph, self.base = graph, base
        measured = base.measured
        mean = MEAN.get(base.params.npea, "")
        self._of_root = f"below {measured.threshold:.3g}, the {mean} of the root set"
        self._roots = int(base.root.sum())

    def nearest(self, k: int) -> Pages:
        """The noise pages that nearly stayed."""
        measured, pages = self.base.measured, self.base.edges.pages
        noise = np.flatnonzero(~measured.keep)
        found: Pages = pages[noise[np.lexsort((noise, -np.round(measured.measure[noise], 9)))][:k]]
        return found

    def told(self, pages: Pages) -> tuple[Eliminated, ...]:
        """Each of the pages with its reason."""
        places = np.searchsorted(self.base.edges.pages, pages)
        measured = self.base.measured
        return tuple(
            self._eliminated(page, float(measured.measure[at]), int(measured.ties[at]))
            for page, at in zip(pages.tolist(), places.tolist(), strict=True)
        )

    def _eliminated(self, page: int, measure: float, links: int) -> Eliminated:
        tied = (
            f"linked with {links} of {self._roots} root pages" if links else "linked with no root page of other sites"
        )
        why = f"{tied}, measure {measure:.3g} {self._of_root}"
        return Eliminated(self.graph.address(page), title_of(self.graph, page), rounded(measure), links, why, page)
