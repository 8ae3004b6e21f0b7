"""Communities of hubs and authorities around a root set, freed from noise pages by NPEA (Hou & Zhang 2002, 003).

The root set is the best results of a text search, or given pages; as a method for related pages, the pages asked about.
With all that they link to, and up to d = 50 that link to each, it is the base set. Links inside a unit are dropped.
Noise pages, which have little to do with the root set however densely they are linked with each other, are eliminated
(`neighbourhood.npea` has the formula). On what remains HITS, every edge counting 1, or weighted HITS (authority weight
1/k for k edges from one unit to a page, hub weight 1/l for l edges from a page to one unit).

Related pages are the authorities of the iteration. Communities are ends of singular vectors of the matrix of edges, of
√(authority weight · hub weight) if weighted: the principal one gives one, each further one two, what is positive in it
and what is negative. A page belongs to the community in which its weight, as hub or as authority, times the singular
value is greatest.

Departures, each measured in docs/communities.md. Of a root page with more than `window` + 1 links only those count that
stand near its links to other root pages, in the same block: a long list in the root set would bring in all that it has,
and drift; `window=0` is as published. The parents of a page join the root set when related pages are asked for
(`parents`), since the base set of one page alone has hardly an authority but the page itself; 0 leaves them out.
Where communities are asked for in words, links to a page count by how well it suits the words, beside the best result,
and by `off_topic` at least (relevance weights as those of Bharat & Henzinger 1998, on the side of authorities); 1 is as
published. Near-duplicates stay apart unless `merge` is on, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.parameters import parameter
from cocite.related.neighbourhood.clean import representatives, sets_with
from cocite.related.neighbourhood.gather import children_near, chosen_parents
from cocite.related.neighbourhood.npea import Elimination, Linkage, Marks, Measured, ascending, chosen, measure
from cocite.related.neighbourhood.scores import LEAST, Scores, six_digits
from cocite.related.neighbourhood.spectra import leading
from cocite.related.neighbourhood.start import begin
from cocite.related.neighbourhood.view import NO_PAGES, Pages, Switches, View, stop_pages
from cocite.related.neighbourhood.weigh import Edges, edges_among, iterate
from cocite.web import Web

Weights = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Params(Elimination, Switches):
    """The limits of the base set, how strict to be, and what to make of the rest."""

    results: int = parameter(200, "root set of a text query: so many of the best results", minimum=1, maximum=2000)
    parents: int = parameter(200, "root set of pages asked about: so many parents of each, chosen by hash", minimum=0)
    window: int = parameter(8, "links of a root page around its links to other root pages, in their block (0: all)",
                            minimum=0)  # fmt: skip
    in_links: int = parameter(50, "d: so many pages that link to each root page, chosen by hash", minimum=0)
    weighted: bool = parameter(False, "weigh edges by unit, as Companion does")
    off_topic: float = parameter(
        0.1, "what a link to a page without the words asked for counts, beside the best result (1: as any)",
        minimum=0, maximum=1,
    )  # fmt: skip
    vectors: int = parameter(3, "singular vectors that communities are made of, the principal one included",
                             minimum=1, maximum=50)  # fmt: skip
    rounds: int = parameter(200, "rounds of the iteration at most", minimum=1)
    merge: bool = parameter(False, "near-duplicates count as one page")


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """The authorities of the base set of the query pages, without noise."""

    def gather(view: View, pages: list[int]) -> BaseSet:
        roots = [[page, *chosen_parents(view, page, params.parents).tolist()] for page in pages]
        return BaseSet(view, roots, params)

    start, base = begin(web.graph, seeds, params, gather)
    rest = base.rest
    done = iterate(rest, params.weighted, params.rounds)
    found = base.measured
    facts = {
        "rounds": done.rounds, "residual": done.residual, "root": int(base.root.sum()), "base": len(base.root),
        "eliminated": len(base.root) - len(rest.pages), "threshold": found.threshold, "k": found.k, "rank": found.rank,
    }  # fmt: skip
    reached = sets_with(start.view, rest.pages, base.each) if len(base.each) > 1 else None
    return Scores(rest.pages, done.authorities, start.used, start.never, reached=reached, facts=facts)


class BaseSet:
    """A base set: its links, which of its pages are root pages, and what is left without noise."""

    def __init__(self, view: View, roots: Sequence[Sequence[int]], params: Params) -> None:
        """`roots` are the root pages, in parts; what is gathered round each part is known apart from the others."""
        self.view, self.params = view, params
        every = np.unique(np.array([page for part in roots for page in part], np.uint32))
        self.each = [_around(view, part, every, params) for part in roots]
        everyone = np.unique(np.concatenate([NO_PAGES, *self.each])).astype(np.uint32)
        self.edges = ascending(edges_among(view, everyone))
        self.root: Marks = np.isin(self.edges.pages, representatives(view, every))

    @property
    def enough(self) -> bool:
        """Whether there is any link to count."""
        return len(self.edges.ends) > 0

    @cached_property
    def measured(self) -> Measured:
        """What NPEA says of every page."""
        return measure(self.edges, self.root, self.params)

    @cached_property
    def linkage(self) -> Linkage:
        """For NPEA with other parameters; it is large, and `measured` does without."""
        return Linkage(self.edges, self.root)

    @cached_property
    def rest(self) -> Edges:
        """The links among the pages that are not noise."""
        keep = self.measured.keep
        return self.edges if bool(keep.all()) else chosen(self.edges, np.flatnonzero(keep))


def _around(view: View, part: Sequence[int], root: Pages, params: Params) -> Pages:
    """Some root pages, what they link to, and some that link to each; ascending."""
    found = [np.array(part, np.uint32)]
    for page in part:
        found += [children_near(view, page, root, params.window), chosen_parents(view, page, params.in_links)]
    return np.unique(np.concatenate(found))


class WeightedPages(NamedTuple):
    """Pages of one community as hubs, or as authorities, best first."""

    pages: Pages
    weights: Weights


@dataclass(frozen=True)
class Community:
    """One end of a singular vector."""

    vector: int  # 1: the principal one
    end: int  # 1: its positive end, -1: its negative end
    value: float  # the singular value
    hubs: WeightedPages
    authorities: WeightedPages
    members: Pages  # that weigh more here than in any other community
    eliminated: Pages  # noise pages that were linked with members, those with most links first


class Communities(list[Community]):
    """The communities of one base set, in the order of their vectors."""

    def __init__(self, found: Sequence[Community], base: BaseSet) -> None:
        super().__init__(found)
        self.base = base


def communities(web: Web, root: Sequence[int], params: Params, suits: Mapping[int, float] | None = None) -> Communities:
    """The communities of the base set of root pages; none where there is no link between two units.

    `suits` says how well pages suit what was asked for, from 0, which need not be said, to 1; None: it is not known.
    """
    graph = web.graph
    root = list(dict.fromkeys(root))
    view = View(graph, root, params, stop_pages(graph, params.stop))
    base = BaseSet(view, [root], params)
    rest = base.rest
    matrix = _matrix(rest, params.weighted)
    if suits is not None:
        worth = np.array([suits.get(page, 0.0) for page in rest.pages.tolist()])
        matrix.data *= (params.off_topic + (1 - params.off_topic) * worth)[matrix.indices]
    u, singular, v = leading(matrix, params.vectors)
    ends = [
        (at, sign, np.maximum(sign * u[:, at], 0.0), np.maximum(sign * v[:, at], 0.0))
        for at in range(len(singular))
        for sign in (1, -1)
    ]
    ends = [each for each in ends if each[3].max() > np.sqrt(LEAST)]  # less than 1e-6 is rounding
    owner = _owners(rest, [(hubs, authorities, singular[at]) for at, _, hubs, authorities in ends])
    found = []
    for number, (at, sign, hubs, authorities) in enumerate(ends):
        members = rest.pages[owner == number]
        best_hubs, best = (_best(rest.pages, weights, graph.in_degree) for weights in (hubs, authorities))
        noise = _eliminated(base, members)
        found.append(Community(at + 1, sign, float(singular[at]), best_hubs, best, members, noise))
    return Communities(found, base)


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


def _owners(edges: Edges, ends: Sequence[tuple[Weights, Weights, float]]) -> NDArray[np.int64]:
    """The community of each page, by number; -1 for a page that no vector sees."""
    owner = np.full(len(edges.pages), -1, np.int64)
    best = np.full(len(edges.pages), np.sqrt(LEAST))
    for number, (hubs, authorities, value) in enumerate(ends):
        weight = six_digits(np.maximum(hubs, authorities) * value)
        owner[weight > best] = number
        best = np.maximum(best, weight)
    return owner


def _best(pages: Pages, weights: Weights, in_degree: NDArray[np.uint32]) -> WeightedPages:
    """By weight to six significant digits, links in, address."""
    seen = np.flatnonzero(weights > np.sqrt(LEAST))
    degree = in_degree[pages[seen]].astype(np.int64)
    order = seen[np.lexsort((pages[seen], -degree, -six_digits(weights[seen])))]
    return WeightedPages(pages[order], weights[order])


def _eliminated(base: BaseSet, members: Pages) -> Pages:
    """Noise pages that were linked with some pages, either way, most links first."""
    edges, noise = base.edges, ~base.measured.keep
    inside = np.isin(edges.pages, members)
    sources = np.repeat(np.arange(len(edges.pages)), np.diff(edges.starts))
    links = np.zeros(len(edges.pages), np.int64)
    for one, other in ((sources, edges.ends), (edges.ends, sources)):
        links += np.bincount(one[noise[one] & inside[other]], minlength=len(links))
    found = np.flatnonzero(links)
    return edges.pages[found[np.lexsort((found, -links[found]))]]
