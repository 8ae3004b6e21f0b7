"""Communities of hubs and authorities around a root set, without noise pages (NPEA; Hou & Zhang 2002, §3.2).

The root set is the best results of a text search, or given pages; for related pages, the query pages. The base set adds
all their children, and up to d = 50 parents of each. Links inside a unit are dropped. Noise pages, which have few links
with the root set however densely they are linked with each other, are eliminated (`neighbourhood.npea` has the
formula). The remaining pages are ranked by HITS, or by weighted HITS (authority weight 1/k for k edges from one unit to
a page, hub weight 1/l for l edges from a page to one unit).

Related pages are the authorities. Communities are the ends of singular vectors of the matrix of edges (weighted:
of √(authority weight · hub weight)): one of the principal vector, and two of each further one, its positive and its
negative entries. A page belongs to the community in which its weight, as hub or authority, times the singular value is
greatest.

Departures, each measured in docs/lab/communities.md:
Of a root page with more than `window` + 1 links, only links near those to other root pages count, in the same section:
a long list in the root set would bring in everything it has. `window=0` is as published.
For related pages, the parents of the query page join the root set (`parents`), since the base set of one page has
hardly an authority but the page itself; 0 is as published.
For a text query, links to a page count by its search score, relative to the best result, and by at least `off_topic`
(relevance weights as in Bharat & Henzinger 1998, on the side of authorities); 1 is as published.
Near-duplicates are merged only if `merge` is on, as in the paper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cocite.graph.store import Graph
from cocite.kernels.codec.attributes import all_blocks
from cocite.kernels.related.hubs_authorities import Edges
from cocite.kernels.related.neighbourhood import read_children
from cocite.parameters import parameter
from cocite.related.neighbourhood.hits import edges_among, iterate, membership
from cocite.related.neighbourhood.npea import Elimination, Linkage, Marks, Measured, by_address, chosen
from cocite.related.neighbourhood.scores import MIN_SCORE, Scores, Values, begin, six_digits
from cocite.related.neighbourhood.spectra import leading
from cocite.related.neighbourhood.view import NO_PAGES, GraphView, Pages, Switches, merge_parameter
from cocite.web import Web

MIN_ENTRY = np.sqrt(MIN_SCORE)
"""Smaller entries of singular vectors are rounding errors."""


@dataclass(frozen=True, kw_only=True)
class Params(Elimination, Switches):
    """Limits of the base set, how strict NPEA is, and how the remaining pages are ranked."""

    results: int = parameter(200, "Root set of a text query: number of search results", minimum=1, maximum=2000)
    parents: int = parameter(200, "Root set of query pages: number of parents of each, chosen by hash", minimum=0)
    window: int = parameter(8, "Links of a root page around its links to other root pages, in their section (0: all)",
                            minimum=0)  # fmt: skip
    in_links: int = parameter(50, "d: maximum number of parents of each root page, chosen by hash", minimum=0)
    weighted: bool = parameter(False, "Weigh edges by unit, as Companion does")
    off_topic: float = parameter(
        0.1, "Weight of a link to a page without the query words (1: as any other)",
        minimum=0, maximum=1,
    )  # fmt: skip
    vectors: int = parameter(3, "Singular vectors that communities are made of, including the principal one",
                             minimum=1, maximum=50)  # fmt: skip
    rounds: int = parameter(200, "Maximum number of rounds", minimum=1)
    merge: bool | str = merge_parameter(False)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """The authorities of the base set of the query pages, without noise."""

    def gather(view: GraphView, pages: list[int]) -> tuple[BaseSet, bool]:
        roots = [[page, *view.chosen_parents(page, params.parents).tolist()] for page in pages]
        base = BaseSet(view, roots, params)
        return base, len(base.edges.ends) > 0

    start, base = begin(web, seeds, params, gather)
    rest, found = base.rest, base.measured
    done = iterate(rest, params.weighted, params.rounds)
    facts = {
        "rounds": done.rounds, "residual": done.residual, "root": int(base.root.sum()), "base": len(base.root),
        "eliminated": len(base.root) - len(rest.pages), "threshold": found.threshold, "k": found.k, "rank": found.rank,
    }  # fmt: skip
    return start.scores(rest.pages, done.authorities, membership(start.view, rest.pages, base.each), facts=facts)


class BaseSet:
    """A base set: its links, its root pages, and the pages that are not noise."""

    def __init__(
        self, view: GraphView, roots: Sequence[Sequence[int]], params: Params, pages: Pages | None = None
    ) -> None:
        """`roots` are the root pages in parts; the pages around each part are kept apart in `each`.

        If `pages` are given, they and the root pages are the base set.
        """
        self.view, self.params = view, params
        every = np.unique(np.array([page for part in roots for page in part], np.uint32))
        self.each = [self._around(part, every) for part in roots] if pages is None else [np.union1d(every, pages)]
        view.choose_unit(every[:1].tolist(), [every[1:]], self.each)
        found = np.unique(np.concatenate([NO_PAGES, *self.each])).astype(np.uint32)
        self.edges = by_address(edges_among(view, found), view.graph)
        self.root: Marks = np.isin(self.edges.pages, view.representatives(every))

    def _around(self, part: Sequence[int], root: Pages) -> Pages:
        """Some root pages, their children, and some of their parents; ascending."""
        found, view, params = [np.array(part, np.uint32)], self.view, self.params
        for page in part:
            found += [children_near(view, page, root, params.window), view.chosen_parents(page, params.in_links)]
        return np.unique(np.concatenate(found))

    @cached_property
    def measured(self) -> Measured:
        """The result of NPEA."""
        return Linkage(self.edges, self.root).measured(self.params)

    @cached_property
    def linkage(self) -> Linkage:
        """For NPEA with other parameters; it is large, and `measured` does not keep it."""
        return Linkage(self.edges, self.root)

    @cached_property
    def rest(self) -> Edges:
        """The links among the pages that are not noise."""
        keep = self.measured.keep
        return self.edges if bool(keep.all()) else chosen(self.edges, np.flatnonzero(keep))


def children_near(view: GraphView, page: int, others: Pages, window: int) -> Pages:
    """The children of a page that are near its links to some other pages, those included.

    Near is within window / 2 links and, if sections are known, in the same section. A page of at most window + 1 links
    gives all, and one without links to the others its first ones; a window of 0 is the whole page. `others` ascend.
    """
    targets, attributes = np.empty((2, view.graph.links.degree_of(view.graph.out, page)), np.uint32)
    count = read_children(view.out, page, view.refused, targets, attributes)
    view.check(count)
    targets = targets[:count]
    if not window or count <= window + 1:
        return targets
    at = np.flatnonzero(np.isin(targets, others))
    if not len(at):
        return targets[: window + 1]
    near = at[:, None] + np.arange(-(window // 2), window // 2 + 1)
    inside = (near >= 0) & (near < count)
    near = np.clip(near, 0, count - 1)
    sections = all_blocks(attributes[:count])  # 0: unknown
    own, other = sections[at][:, None], sections[near]
    shown = np.zeros(count, np.bool_)
    shown[near[inside & ((own == other) | (own == 0) | (other == 0))]] = True
    return targets[shown]


class WeightedPages(NamedTuple):
    """Pages of one community as hubs, or as authorities, best first."""

    pages: Pages
    weights: Values


@dataclass(frozen=True)
class WebCommunity:
    """One end of a singular vector."""

    vector: int  # 1: the principal one
    end: int  # 1: its positive end, -1: its negative end
    value: float  # the singular value
    hubs: WeightedPages
    authorities: WeightedPages
    members: Pages  # pages that weigh more here than in any other community
    eliminated: Pages  # noise pages linked with members, most links first


class WebCommunities(list[WebCommunity]):
    """The communities of one base set, in the order of their vectors."""

    def __init__(self, found: Sequence[WebCommunity], base: BaseSet) -> None:
        super().__init__(found)
        self.base = base


def communities(
    web: Web, root: Sequence[int], params: Params, match: Mapping[int, float] | None = None
) -> WebCommunities:
    """The communities of the base set of root pages; empty without a link between two units.

    `match` is how well pages match a text query, from 0, the default, to 1; None without such a query.
    """
    root = list(dict.fromkeys(root))
    base = BaseSet(GraphView(web.graph, root, params, web.known_pages(params.stop)), [root], params)
    rest = base.rest
    matrix = _matrix(rest, params.weighted)
    if match is not None:
        relevance = np.array([match.get(page, 0.0) for page in rest.pages.tolist()])
        matrix.data *= (params.off_topic + (1 - params.off_topic) * relevance)[matrix.indices]
    u, singular, v = leading(matrix, params.vectors)
    ends = [
        (at, sign, np.maximum(sign * u[:, at], 0.0), np.maximum(sign * v[:, at], 0.0))
        for at in range(len(singular))
        for sign in (1, -1)
        if (sign * v[:, at]).max(initial=0.0) > MIN_ENTRY
    ]
    owner, heaviest = np.full(len(rest.pages), -1, np.int64), np.full(len(rest.pages), MIN_ENTRY)
    for number, (at, _, hubs, authorities) in enumerate(ends):
        weight = six_digits(np.maximum(hubs, authorities) * singular[at])
        owner[weight > heaviest] = number
        heaviest = np.maximum(heaviest, weight)
    found = []
    for number, (at, sign, hubs, authorities) in enumerate(ends):
        members = rest.pages[owner == number]
        best_hubs, best = (_best(web.graph, rest.pages, weights) for weights in (hubs, authorities))
        noise = _eliminated(base, members)
        found.append(WebCommunity(at + 1, sign, float(singular[at]), best_hubs, best, members, noise))
    return WebCommunities(found, base)


def _matrix(edges: Edges, weighted: bool) -> Any:
    """The edges as a sparse matrix: hubs are rows, authorities columns."""
    from scipy.sparse import csr_array

    size = len(edges.pages)
    values = np.ones(len(edges.ends))
    if weighted and len(values):
        sources = np.repeat(np.arange(size), np.diff(edges.starts))
        to_page = edges.unit[sources].astype(np.int64) * size + edges.ends
        to_unit = sources * np.int64(edges.units) + edges.unit[edges.ends]
        for pairs in (to_page, to_unit):
            _, which, counts = np.unique(pairs, return_inverse=True, return_counts=True)
            values /= np.sqrt(counts[which])
    return csr_array((values, edges.ends, edges.starts), shape=(size, size))


def _best(graph: Graph, pages: Pages, weights: Values) -> WeightedPages:
    """Ordered by weight to six significant digits, in-links, address."""
    seen = np.flatnonzero(weights > MIN_ENTRY)
    degree = graph.in_degree[pages[seen]].astype(np.int64)
    order = seen[np.lexsort((graph.names.address_keys(pages[seen]), -degree, -six_digits(weights[seen])))]
    return WeightedPages(pages[order], weights[order])


def _eliminated(base: BaseSet, members: Pages) -> Pages:
    """Noise pages linked with some pages, in either direction, most links first."""
    edges, noise = base.edges, ~base.measured.keep
    inside = np.isin(edges.pages, members)
    sources = np.repeat(np.arange(len(edges.pages)), np.diff(edges.starts))
    links = np.zeros(len(edges.pages), np.int64)
    for one, other in ((sources, edges.ends), (edges.ends, sources)):
        links += np.bincount(one[noise[one] & inside[other]], minlength=len(links))
    found = np.flatnonzero(links)
    order = base.view.graph.names.address_keys(edges.pages[found])
    return edges.pages[found[np.lexsort((order, -links[found]))]]
