"""HubFinder: hubs, or authorities, some links away from a set of pages (Chirita, Olmedilla & Nejdl 2004, §4).

The start set is extended by all children and at most d = 50 parents of each page (Kleinberg's extension), and what is
new is extended again, σ times; but of each new set only the interesting pages are kept:

    N_new = (100 − 10·lg N_old) / (1 + α(D − 1)) · N_old / 100,   at least 1

where D is the number of extensions so far. Interesting is what a pluggable criterion ranks first: a global rank,
HubRank for hubs and its authority variant for authorities; the number of links; the likeness of texts; a Python
function. When looking for hubs, a new page also needs min(2 + D, 10) links out. At the end pages whose texts are unlike
those of all start pages can be left out: the cosine of tf-idf vectors of the first 1000 words.

Left open by the paper and decided: σ = 3, α = 2, and D is 2 in the first round; see docs/decisions/0032.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log10

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.kernels.related.extension import extend
from cocite.parameters import parameter
from cocite.related.neighbourhood.gather import Numbered
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import SEED, Pages
from cocite.web import Web

Criterion = Callable[[Web, Pages], NDArray[np.float64]]
RANKS = {"hubs": "hubrank", "authorities": "hubrank(bias=authorities)"}
DEGREES = ("out_degree", "in_degree")


@dataclass(frozen=True, kw_only=True)
class Params:
    """How far to go, what to keep."""

    kind: str = parameter("hubs", "what to look for", choices=("hubs", "authorities"))
    rounds: int = parameter(3, "σ: extensions after the first", minimum=0, maximum=5)
    in_links: int = parameter(50, "d: so many pages that link to each page, chosen by hash", minimum=0)
    alpha: float = parameter(2.0, "α: how much more distance asks for", minimum=0, maximum=1e6)
    criterion: str = parameter("", "what is interesting: a rank, out_degree, in_degree or text (empty: as kind says)")
    filter_degree: bool = parameter(True, "hubs need min(2 + D, 10) links out")
    likeness: float = parameter(0.0, "least cosine of texts with a start page (0: any)", minimum=0, maximum=1)
    trim: bool = parameter(True, "keep the interesting pages only; false: all, as plain HITS would")


@dataclass(frozen=True)
class Step:
    """One extension: how many pages it came upon, how many passed the filter, how many were kept."""

    distance: int
    found: int
    filtered: int
    kept: int


@dataclass(frozen=True)
class Explored:
    """The set that HubFinder built, without the start pages."""

    pages: Pages
    origin: Pages  # the page from which each was reached
    values: NDArray[np.float64]  # by the criterion
    steps: list[Step]

    @property
    def explored(self) -> int:
        """The pages that were kept, whose own links are followed in turn."""
        return sum(step.kept for step in self.steps)

    @property
    def met(self) -> int:
        """All pages that were come upon."""
        return sum(step.found for step in self.steps)

    def path(self, page: int) -> list[int]:
        """The pages through which a page was reached, from the start page on."""
        from_page = dict(zip(self.pages.tolist(), self.origin.tolist(), strict=True))
        way = [page]
        while way[-1] in from_page:
            way.append(from_page[way[-1]])
        return way[::-1]


def relate(
    web: Web, seeds: Sequence[int], params: Params, criterion: Criterion | None = None, max_compared_links: int = 0
) -> Scores:
    """The hubs, or authorities, around the query pages, by the criterion.

    Steps count what each round met and explored. For a round with at most `max_compared_links` links, they also count
    what the extension without trimming would have explored.
    """
    found = explore(web, seeds, params, criterion)
    values = found.values
    if params.likeness > 0 and len(found.pages):
        values = np.where(likeness(web, seeds, found.pages) >= params.likeness, values, 0.0)
    never = np.array(list(dict.fromkeys(seeds)), np.uint32)
    facts = {f"met at distance {step.distance}": step.found for step in found.steps}
    facts |= {f"explored at distance {step.distance}": step.kept for step in found.steps}
    whole = untrimmed(web.graph, seeds, params, max_compared_links) if max_compared_links else []
    steps: list[dict[str, int | None]] = [
        {"distance": step.distance, "met": step.found, "passed": step.filtered, "explored": step.kept}
        for step in found.steps
    ]
    for at, told in enumerate(steps if max_compared_links else ()):
        told["untrimmed"] = whole[at] if at < len(whole) else None
    return Scores(found.pages, values, list(dict.fromkeys(seeds)), never, facts=facts, steps=steps, path=found.path)


def untrimmed(graph: Graph, seeds: Sequence[int], params: Params, most: int) -> list[int]:
    """What HITS would explore in each round: the pages that the same extension adds if nothing is left out.

    It ends, perhaps before the last round, where a round would have to read more than `most` links.
    """
    gamma, found = _Gamma(graph, np.array(list(dict.fromkeys(seeds)), np.uint32)), list[int]()
    while len(found) <= params.rounds and gamma.links(params.in_links) <= most:
        fresh, origin = gamma.extended(params.in_links)
        gamma.add(fresh, origin)
        found.append(len(fresh))
    return found


def explore(web: Web, seeds: Sequence[int], params: Params, criterion: Criterion | None = None) -> Explored:
    """Extend, filter and trim; `criterion` is a function of pages that takes the place of the named one."""
    graph = web.graph
    interesting = _checked(criterion or named(web, seeds, params))
    gamma = _Gamma(graph, np.array(list(dict.fromkeys(seeds)), np.uint32))
    steps = []
    for distance in range(1, params.rounds + 2):
        fresh, origin = gamma.extended(params.in_links)
        found = len(fresh)
        if distance > 1 and params.kind == "hubs" and params.filter_degree:
            enough = graph.out_degree[fresh] >= min(2 + distance, 10)
            fresh, origin = fresh[enough], origin[enough]
        filtered = len(fresh)
        if distance > 1 and params.trim:
            order = best(graph, fresh, interesting(web, fresh), kept(filtered, distance, params.alpha))
            fresh, origin = fresh[order], origin[order]
        steps.append(Step(distance, found, filtered, len(fresh)))
        gamma.add(fresh, origin)
        if not len(fresh):
            break
    pages, origin = gamma.without_start()
    return Explored(pages, origin, interesting(web, pages), steps)


def _checked(criterion: Criterion) -> Criterion:
    """A criterion, perhaps a stranger's, that gives what it should or says so."""

    def interesting(web: Web, pages: Pages) -> NDArray[np.float64]:
        try:
            values = np.asarray(criterion(web, pages), np.float64)
        except (TypeError, ValueError) as error:
            raise BadParameter(f"a criterion gives one finite number for every page ({error})") from error
        if values.shape != pages.shape or not np.isfinite(values).all():
            raise BadParameter("a criterion gives one finite number for every page")
        return values

    return interesting


def kept(old: int, distance: int, alpha: float) -> int:
    """N_new of N_old pages."""
    if old == 0:
        return 0
    share = min(100.0, max(0.0, (100 - 10 * log10(old)) / (1 + alpha * (distance - 1))))
    return max(1, ceil(share * old / 100 - 1e-9))


def best(graph: Graph, pages: Pages, values: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """The places of the pages of highest value; then links in, then address."""
    return np.lexsort((pages, -graph.in_degree[pages].astype(np.int64), -values))[:most]


def named(web: Web, seeds: Sequence[int], params: Params) -> Criterion:
    """The criterion that the parameters name."""
    name = params.criterion or RANKS[params.kind]
    if name in DEGREES:
        return lambda web, pages: getattr(web.graph, name)[pages].astype(np.float64)
    if name == "text":
        return lambda web, pages: likeness(web, seeds, pages)
    values = web.rank(name).values
    return lambda web, pages: values[pages]


def likeness(web: Web, seeds: Sequence[int], pages: Pages) -> NDArray[np.float64]:
    """The greatest cosine of each page's text with one of the start pages'; how rare words are, these pages tell."""
    from cocite.words.tfidf import cosine, text_vectors

    if not len(pages):
        return np.zeros(0)
    matrix = text_vectors(web.graph, [*seeds, *pages.tolist()]).matrix
    found: NDArray[np.float64] = cosine(matrix[len(seeds) :], matrix[: len(seeds)]).max(axis=1)
    return found


class _Gamma:
    """Γ, the set that grows, with the page from which each was reached; and Γ′, what the last round added."""

    def __init__(self, graph: Graph, start: Pages) -> None:
        self._graph, self._start = graph, start
        self._pages, self._origin, self._fresh = start, start, start

    def extended(self, in_links: int) -> tuple[Pages, Pages]:
        """The pages that the extension of Γ′ adds to Γ, and from where. Pages trimmed before may come again."""
        graph, pages, in_links = self._graph, self._fresh, min(in_links, self._graph.pages)
        known = Numbered(len(self._pages) + self.links(in_links))
        known.add(self._pages)
        before, found, origin = known.count, known.room, np.empty(len(known.room), np.int64)
        count = extend(
            graph.out, graph.into, graph.array("sample.page"), graph.array("sample.parent"), graph.fingerprints, SEED,
            pages, in_links, known.table, known.local, found, origin, before,
        )  # fmt: skip
        if count < 0:
            raise graph.damaged()
        return found[before:count].copy(), pages[origin[before:count]]

    def links(self, in_links: int) -> int:
        """How many links the extension of Γ′ has."""
        graph, most = self._graph, min(in_links, self._graph.pages)
        links = int(graph.out_degree[self._fresh].sum(dtype=np.int64))
        if links > graph.links:
            raise graph.damaged()  # memory is taken on its word
        return links + int(np.minimum(graph.in_degree[self._fresh], most).sum(dtype=np.int64))

    def add(self, pages: Pages, origin: Pages) -> None:
        """Γ ← Γ + Γ″, Γ′ ← Γ″."""
        self._pages, self._origin = np.append(self._pages, pages), np.append(self._origin, origin)
        self._fresh = pages

    def without_start(self) -> tuple[Pages, Pages]:
        """All but the start pages, and where each was reached from."""
        return self._pages[len(self._start) :], self._origin[len(self._start) :]
