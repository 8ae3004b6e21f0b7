"""Communities for display: addresses, titles and keywords instead of page numbers, and why pages were removed.

A community without pages of its own is not shown. With a text query, communities are ordered by fit × singular value:
the fit is the mean search score of the first ten authorities, relative to the best result. Without one, they are
ordered by singular value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, overload

import numpy as np

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.kernels.jit import stopwatch
from cocite.parameters import values_of
from cocite.related.methods import community as method
from cocite.related.methods.community import BaseSet, Communities, Community, Params, WeightedPages
from cocite.related.neighbourhood.scores import rounded
from cocite.related.neighbourhood.view import Pages
from cocite.results.ask import MOST_QUERIES, about_store, check_address, check_k
from cocite.results.community_words import distinctive_words, words_of_pages
from cocite.results.naming import Titles
from cocite.results.present import one_line
from cocite.web import Web
from cocite.words.tokens import words_of

MAX_KEYWORDS = 8
SCORED_RESULTS = 2000
"""Search results whose scores tell how well pages match the query."""
FIT_AUTHORITIES = 10
"""Authorities whose match is averaged; with fewer, the missing ones count as 0."""
STATISTICS = {"avg": "mean", "max": "maximum", "min": "minimum"}


@dataclass(frozen=True)
class Member:
    """A hub or an authority of a community."""

    url: str
    title: str
    score: float
    root: bool  # in the root set: found by the search, or given
    page: int  # number in the store

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"url": self.url, "title": self.title, "score": self.score, "root": self.root}


@dataclass(frozen=True)
class NoisePage:
    """A page that NPEA removed: its measure is below that of the root set."""

    url: str
    title: str
    measure: float
    links: int  # root pages with which it is linked
    why: str
    page: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        about = {"url": self.url, "title": self.title, "measure": self.measure}
        return {**about, "root_pages_linked": self.links, "why": self.why}


@dataclass(frozen=True)
class CommunityResult:
    """One community for display."""

    vector: int  # 1: the principal singular vector
    end: str  # positive or negative
    value: float  # singular value
    fit: float | None  # match with the query, from 0 to 1; None without a text query
    pages: int  # pages of its own: they weigh more here than in any other community
    keywords: tuple[str, ...]
    hubs: tuple[Member, ...]
    authorities: tuple[Member, ...]
    links: tuple[tuple[int, int], ...]  # (hub, authority), as indices of the two tuples
    eliminated: tuple[NoisePage, ...]  # noise pages linked with its pages, most links first
    eliminated_in_all: int

    @property
    def name(self) -> str:
        """`principal`, or the vector and its end."""
        return "principal" if self.vector == 1 and self.end == "positive" else f"vector {self.vector}, {self.end} end"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "vector": self.vector,
            "end": self.end,
            "singular_value": self.value,
            "fit": self.fit,
            "pages": self.pages,
            "keywords": list(self.keywords),
            "hubs": [each.to_dict() for each in self.hubs],
            "authorities": [each.to_dict() for each in self.authorities],
            "links": [list(pair) for pair in self.links],
            "eliminated": [each.to_dict() for each in self.eliminated],
            "eliminated_in_all": self.eliminated_in_all,
        }


@dataclass(frozen=True, repr=False)
class CommunitiesFound(Sequence[CommunityResult]):
    """The communities for one query, and what NPEA removed from its base set."""

    query: str  # the text query, if there is one
    pages: tuple[str, ...]  # the given addresses
    params: Mapping[str, Any]
    communities: tuple[CommunityResult, ...]
    root: int
    base: int
    links: int
    eliminated: int
    threshold: float
    k: int
    rank: int
    noise: tuple[NoisePage, ...]  # the noise pages nearest to the threshold
    left_out: frozenset[int]  # all noise pages, by number
    store: Mapping[str, Any]
    milliseconds: float
    found: Communities = field(repr=False, compare=False)  # by page number, with the base set
    plain: CommunitiesFound | None = field(default=None, repr=False, compare=False)  # without eliminating noise

    @overload
    def __getitem__(self, index: int) -> CommunityResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[CommunityResult]: ...
    def __getitem__(self, index: int | slice) -> CommunityResult | Sequence[CommunityResult]:
        return self.communities[index]

    def __len__(self) -> int:
        return len(self.communities)

    def __iter__(self) -> Iterator[CommunityResult]:
        return iter(self.communities)

    def __repr__(self) -> str:
        rows = [f"{each.pages:5d} pages  {', '.join(each.keywords)}" for each in self]
        head = f"communities on {self.query or ', '.join(self.pages)}"
        return "\n".join(map(one_line, [head, *(rows or ["nothing"])]))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "query": self.query or list(self.pages),
            "method": "community",
            "params": dict(self.params),
            "base_set": {
                "root": self.root,
                "pages": self.base,
                "links": self.links,
                "eliminated": self.eliminated,
                "threshold": self.threshold,
                "k": self.k,
                "rank": self.rank,
                "noise": [each.to_dict() for each in self.noise],
            },
            "communities": [each.to_dict() for each in self.communities],
            "store": dict(self.store),
            "milliseconds": round(self.milliseconds, 3),
            **({"without_npea": [each.to_dict() for each in self.plain]} if self.plain is not None else {}),
        }

    def to_html(self) -> str:
        """One HTML page that needs no other file: every community drawn, hubs left, authorities right, and noise."""
        from cocite.results.pictures.communities import communities_page

        return communities_page(self)

    def _repr_html_(self) -> str:
        """That page in a sandboxed frame."""
        page = escape(self.to_html(), quote=True)
        return f'<iframe sandbox srcdoc="{page}" width="100%" height="640" style="border:1px solid #8884"></iframe>'

    def to_gexf(self) -> str:
        """The whole base set as GEXF 1.3, for Gephi and NetworkX: communities, weights, positions and colours."""
        from cocite.results.pictures.gexf import communities_gexf

        return communities_gexf(self)


def root_set(web: Web, query: str, urls: Sequence[str], params: Params) -> tuple[list[int], Mapping[int, float] | None]:
    """The best search results for a query, the given pages, or both; and how well pages match the query.

    The match is a search score divided by the best one; 1 for given pages. It is None without a query.
    Raises BadParameter if neither is given, UnknownPage and BadAddress.
    """
    if not isinstance(query, str):
        raise BadParameter(f"the query must be a text, not {query!r:.100}")
    if not query.strip() and not urls:
        raise BadParameter("nothing to look for: give some words, or pages by --page")
    if len(urls) > MOST_QUERIES:
        raise BadParameter(f"more than {MOST_QUERIES:,} addresses: give fewer at once")
    given = [web.graph.find(check_address(url)) for url in urls]
    if not query.strip():
        return list(dict.fromkeys(given)), None
    results = web.search.find(query, max(params.results, SCORED_RESULTS))
    best = max((score for _, score in results), default=1.0)
    match = {page: score / best for page, score in results} | dict.fromkeys(given, 1.0)
    return list(dict.fromkeys([*given, *(page for page, _ in results[: params.results])])), match


def find(web: Web, query: str, urls: Sequence[str], params: Params, k: int = 10) -> CommunitiesFound:
    """Communities for words or pages, each with its k best hubs and authorities."""
    k = check_k(k)
    with stopwatch() as passed:
        root, match = root_set(web, query, urls, params)
        found = method.communities(web, root, params, match)
        base = found.base
        words = words_of_pages(web.graph, base.edges) if found else {}
        search, asked = (None, frozenset[str]()) if match is None else (web.search, frozenset(words_of(query)))
        display = _Display(web.graph, base, k)
        communities = tuple(
            CommunityResult(
                vector=each.vector,
                end="positive" if each.end > 0 else "negative",
                value=rounded(each.value),
                fit=None if match is None else rounded(_fit(each, match)),
                pages=len(each.members),
                keywords=tuple(distinctive_words(words, each, MAX_KEYWORDS, search, asked)),
                hubs=display.members(each.hubs),
                authorities=display.members(each.authorities),
                links=display.links(each),
                eliminated=display.noise(each.eliminated[:k]),
                eliminated_in_all=len(each.eliminated),
            )
            for each in _ordered(found, match)
        )
        return CommunitiesFound(
            query=query.strip(),
            pages=tuple(urls),
            params=values_of(params),
            communities=communities,
            root=int(base.root.sum()),
            base=len(base.root),
            links=len(base.edges.ends),
            eliminated=len(base.root) - len(base.rest.pages),
            threshold=rounded(base.measured.threshold),
            k=base.measured.k,
            rank=base.measured.rank,
            noise=display.noise(display.nearest_noise()),
            left_out=frozenset(base.edges.pages[~base.measured.keep].tolist()),
            store=about_store(web.graph),
            milliseconds=passed(),
            found=found,
        )


def _ordered(found: Communities, match: Mapping[int, float] | None) -> list[Community]:
    """Communities with pages of their own, in display order."""
    own = [each for each in found if len(each.members)]
    return own if match is None else sorted(own, key=lambda each: -rounded(_fit(each, match) * each.value))


def _fit(community: Community, match: Mapping[int, float]) -> float:
    first = community.authorities.pages[:FIT_AUTHORITIES].tolist()
    return sum(match.get(page, 0.0) for page in first) / FIT_AUTHORITIES


class _Display:
    """Addresses, titles and explanations for the pages of a base set; the first k of each list."""

    def __init__(self, graph: Graph, base: BaseSet, k: int) -> None:
        self._graph, self._base, self._k, self._titles = graph, base, k, Titles(graph)
        statistic = STATISTICS.get(base.params.npea, "")
        self._threshold = f"is below {base.measured.threshold:.3g}, the {statistic} of the root set"
        self._roots = int(base.root.sum())

    def members(self, side: WeightedPages) -> tuple[Member, ...]:
        """Hubs or authorities."""
        pages, weights = side.pages[: self._k], side.weights[: self._k]
        root = self._base.root[np.searchsorted(self._base.edges.pages, pages)]
        return tuple(
            Member(self._graph.address(page), self._titles.of(page), rounded(weight), in_root, page)
            for page, weight, in_root in zip(pages.tolist(), weights.tolist(), root.tolist(), strict=True)
        )

    def links(self, community: Community) -> tuple[tuple[int, int], ...]:
        """Links from the displayed hubs to the displayed authorities."""
        edges = self._base.edges
        index = {page: at for at, page in enumerate(community.authorities.pages[: self._k].tolist())}
        links = []
        for hub, page in enumerate(community.hubs.pages[: self._k].tolist()):
            at = int(np.searchsorted(edges.pages, page))
            targets = edges.pages[edges.ends[edges.starts[at] : edges.starts[at + 1]]].tolist()
            links += [(hub, authority) for authority in sorted(index[page] for page in targets if page in index)]
        return tuple(links)

    def nearest_noise(self) -> Pages:
        """The noise pages nearest to the threshold."""
        measured = self._base.measured
        noise = np.flatnonzero(~measured.keep)
        order = np.lexsort((noise, -np.round(measured.measure[noise], 9)))
        pages: Pages = self._base.edges.pages[noise[order][: self._k]]
        return pages

    def noise(self, pages: Pages) -> tuple[NoisePage, ...]:
        """Noise pages, each with the reason why it was removed."""
        measured = self._base.measured
        found = []
        for page, at in zip(pages.tolist(), np.searchsorted(self._base.edges.pages, pages).tolist(), strict=True):
            measure, links = float(measured.measure[at]), int(measured.ties[at])
            linked = f"linked with {links} of {self._roots} root pages" if links else "no link with root pages"
            why = f"{linked}; its measure {measure:.3g} {self._threshold}"
            url, title = self._graph.address(page), self._titles.of(page)
            found.append(NoisePage(url, title, rounded(measure), links, why, page))
        return tuple(found)
