"""Communities as they are shown: addresses, titles and words in place of page numbers, and why pages were left out.

A community to which no page belongs more than to another is not shown. Where words were asked for, communities come by
how well they suit them times how strong they are: the mean of what search gives their first ten authorities, as a part
of what it gives the best result, times the singular value. Else they come in the order of singular values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, overload

import numpy as np

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.kernels.jit import stopwatch
from cocite.parameters import values_of
from cocite.related.methods import community as method
from cocite.related.methods.community import Base, Communities, Community, Params, Weighed
from cocite.related.neighbourhood.scores import rounded
from cocite.related.neighbourhood.view import Pages
from cocite.results.ask import MOST_QUERIES, about_store, check_address, check_k
from cocite.results.naming import Titles
from cocite.results.present import one_line
from cocite.results.telling import keywords, page_words
from cocite.web import Web
from cocite.words.tokens import words_of

KEYWORDS = 8
SUITING = 2000
"""So many results of a search are known to suit the words, and how well."""
FITTING = 10
"""Authorities by which it is told how well a community suits the words; fewer count as if more suited nothing."""
MEAN = {"avg": "mean", "max": "greatest", "min": "least"}


@dataclass(frozen=True)
class Member:
    """A hub or an authority of a community."""

    url: str
    title: str
    score: float
    root: bool  # of the root set: found by the words, or given
    page: int  # its number in the store

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"url": self.url, "title": self.title, "score": self.score, "root": self.root}


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
    fit: float | None  # how well it suits the words, from 0 to 1; None: none were asked for
    pages: int  # that belong to it more than to any other
    keywords: tuple[str, ...]
    hubs: tuple[Member, ...]
    authorities: tuple[Member, ...]
    links: tuple[tuple[int, int], ...]  # from which of these hubs to which of these authorities, by place
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
        about = {"fit": self.fit, "pages": self.pages, "keywords": list(self.keywords)}
        return {**found, **about, **lists, "links": [list(pair) for pair in self.links], **noise}


@dataclass(frozen=True, repr=False)
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
    found: Communities = field(repr=False, compare=False)  # by page number, with the base set
    plain: CommunitiesFound | None = field(default=None, repr=False, compare=False)  # without eliminating noise

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

    def __repr__(self) -> str:
        asked = self.query or ", ".join(self.pages)
        rows = [f"{each.pages:5d} pages  {', '.join(each.keywords)}" for each in self]
        return "\n".join(map(one_line, [f"communities on {asked}", *(rows or ["nothing"])]))

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
            **({"without_npea": [each.to_dict() for each in self.plain]} if self.plain is not None else {}),
        }

    def to_html(self) -> str:
        """A page that needs nothing else: every community drawn, hubs left, authorities right; what was left out."""
        from cocite.results.drawing import page

        return page(self)

    def _repr_html_(self) -> str:
        """That page in a frame of its own, in which nothing may run."""
        page = escape(self.to_html(), quote=True)
        return f'<iframe sandbox srcdoc="{page}" width="100%" height="640" style="border:1px solid #8884"></iframe>'

    def to_gexf(self) -> str:
        """The whole base set as GEXF 1.3, for Gephi and NetworkX: communities, weights, places and colours."""
        from cocite.results.drawing_gexf import gexf

        return gexf(self)


def root_set(web: Web, query: str, urls: Sequence[str], params: Params) -> list[int]:
    """The pages to start from: the best results for words, given pages, or both together.

    Raises BadParameter where nothing is asked, UnknownPage and BadAddress. Words that no page has give no pages.
    """
    return _start(web, query, urls, params)[0]


def _start(web: Web, query: str, urls: Sequence[str], params: Params) -> tuple[list[int], Mapping[int, float] | None]:
    """The root set, and how well pages suit the words: 1 are the best result and pages that were given."""
    if not isinstance(query, str):
        raise BadParameter(f"what to look for is given as a text of words, not {query!r:.100}")
    if not query.strip() and not urls:
        raise BadParameter("nothing to look for: give some words, or pages by --page")
    if len(urls) > MOST_QUERIES:
        raise BadParameter(f"more than {MOST_QUERIES:,} addresses: give fewer at once")
    given = [web.graph.find(check_address(url)) for url in urls]
    if not query.strip():
        return list(dict.fromkeys(given)), None
    results = web.search.find(query, max(params.results, SUITING))
    best = max((score for _, score in results), default=1.0)
    suits = {page: score / best for page, score in results} | dict.fromkeys(given, 1.0)
    return list(dict.fromkeys([*given, *(page for page, _ in results[: params.results])])), suits


def find(web: Web, query: str, urls: Sequence[str], params: Params, k: int = 10) -> CommunitiesFound:
    """Communities for words or pages, each with its k best hubs and authorities."""
    with stopwatch() as passed:
        return _find(web, query, urls, params, check_k(k), passed)


def _find(
    web: Web, query: str, urls: Sequence[str], params: Params, k: int, passed: Callable[[], float]
) -> CommunitiesFound:
    root, suits = _start(web, query, urls, params)
    found = method.communities(web, root, params, suits)
    base, measured = found.base, found.base.measured
    words = page_words(web.graph, base.edges) if found else {}
    search, asked = (None, frozenset[str]()) if suits is None else (web.search, frozenset(words_of(query)))
    tell = _Teller(web.graph, base, k)
    shown = tuple(
        Shown(
            vector=each.vector,
            end="positive" if each.end > 0 else "negative",
            value=rounded(each.value),
            fit=None if suits is None else rounded(_fit(each, suits)),
            pages=len(each.members),
            keywords=tuple(keywords(words, each, KEYWORDS, search, asked)),
            hubs=tell.members(each.hubs),
            authorities=tell.members(each.authorities),
            links=tell.links(each),
            eliminated=tell.noise(each.eliminated[:k]),
            eliminated_in_all=len(each.eliminated),
        )
        for each in _in_order(found, suits)
    )
    return CommunitiesFound(
        query=query.strip(),
        pages=tuple(urls),
        params=values_of(params),
        communities=shown,
        root=int(base.root.sum()),
        base=len(base.root),
        links=len(base.edges.ends),
        eliminated=len(base.root) - len(base.rest.pages),
        threshold=rounded(measured.threshold),
        k=measured.k,
        rank=measured.rank,
        noise=tell.noise(tell.nearest()),
        left_out=frozenset(base.edges.pages[~measured.keep].tolist()),
        store=about_store(web.graph),
        milliseconds=passed(),
        found=found,
    )


def _in_order(found: Communities, suits: Mapping[int, float] | None) -> list[Community]:
    """Communities that have pages of their own, as they are shown."""
    own = [each for each in found if len(each.members)]
    return own if suits is None else sorted(own, key=lambda each: -rounded(_fit(each, suits) * each.value))


def _fit(community: Community, suits: Mapping[int, float]) -> float:
    """How well a community suits the words."""
    return sum(suits.get(page, 0.0) for page in community.authorities.pages[:FITTING].tolist()) / FITTING


class _Teller:
    """Addresses, titles and reasons for the pages of a base set, the first k of each list."""

    def __init__(self, graph: Graph, base: Base, k: int) -> None:
        self._graph, self._base, self._k, self._titles = graph, base, k, Titles(graph)
        mean = MEAN.get(base.params.npea, "")
        self._of_root = f"below {base.measured.threshold:.3g}, the {mean} of the root set"
        self._roots = int(base.root.sum())

    def members(self, side: Weighed) -> tuple[Member, ...]:
        """Hubs or authorities."""
        pages, weights = side.pages[: self._k], side.weights[: self._k]
        root = self._base.root[np.searchsorted(self._base.edges.pages, pages)]
        return tuple(
            Member(self._graph.address(page), self._titles.of(page), rounded(weight), of_root, page)
            for page, weight, of_root in zip(pages.tolist(), weights.tolist(), root.tolist(), strict=True)
        )

    def links(self, community: Community) -> tuple[tuple[int, int], ...]:
        """The links from shown hubs to shown authorities."""
        edges = self._base.edges
        place = {page: at for at, page in enumerate(community.authorities.pages[: self._k].tolist())}
        found = []
        for hub, page in enumerate(community.hubs.pages[: self._k].tolist()):
            at = int(np.searchsorted(edges.pages, page))
            ends = edges.pages[edges.ends[edges.starts[at] : edges.starts[at + 1]]].tolist()
            found += [(hub, authority) for authority in sorted(place[end] for end in ends if end in place)]
        return tuple(found)

    def nearest(self) -> Pages:
        """The noise pages that nearly stayed."""
        measured, pages = self._base.measured, self._base.edges.pages
        noise = np.flatnonzero(~measured.keep)
        order = np.lexsort((noise, -np.round(measured.measure[noise], 9)))
        found: Pages = pages[noise[order][: self._k]]
        return found

    def noise(self, pages: Pages) -> tuple[Eliminated, ...]:
        """Each of the pages with the reason why it was left out."""
        places = np.searchsorted(self._base.edges.pages, pages)
        measured = self._base.measured
        return tuple(
            self._eliminated(page, float(measured.measure[at]), int(measured.ties[at]))
            for page, at in zip(pages.tolist(), places.tolist(), strict=True)
        )

    def _eliminated(self, page: int, measure: float, links: int) -> Eliminated:
        tied = (
            f"linked with {links} of {self._roots} root pages" if links else "linked with no root page of other sites"
        )
        why = f"{tied}, measure {measure:.3g} {self._of_root}"
        return Eliminated(self._graph.address(page), self._titles.of(page), rounded(measure), links, why, page)
