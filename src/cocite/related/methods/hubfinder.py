"""HubFinder: hubs, or authorities, some links away from a set of pages (Chirita, Olmedilla & Nejdl 2004, §4).

The start set is extended by all children and at most d = 50 parents of each page (Kleinberg's extension). New pages are
extended again, σ times, but of each new set only the interesting pages are kept:

    N_new = (100 − 10·lg N_old) / (1 + α(D − 1)) · N_old / 100,   at least 1

where D is the number of extensions so far. Interesting pages rank first by a criterion: a global rank (HubRank for
hubs, its authority variant for authorities), the number of links, the similarity of texts, or a Python function. A new
hub also needs min(2 + D, 10) out-links. At the end, pages can be filtered by the similarity of their text with that of
a start page: the cosine of tf-idf vectors of the first 1000 words.

The paper leaves open, and here: σ = 3, α = 2, and D is 2 in the first round; see docs/decisions/0032.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log10

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.kernels.related.samples import Extension, SampledLists, extend
from cocite.parameters import parameter
from cocite.related.neighbourhood.gather import Numbered
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import HASH_SEED, Pages
from cocite.web import Web

Criterion = Callable[[Web, Pages], NDArray[np.float64]]
RANKS = {"hubs": "hubrank", "authorities": "hubrank(bias=authorities)"}
DEGREES = ("out_degree", "in_degree")


@dataclass(frozen=True, kw_only=True)
class Params:
    """How far to go, and what to keep."""

    kind: str = parameter("hubs", "What to look for", choices=("hubs", "authorities"))
    rounds: int = parameter(3, "σ: extensions after the first", minimum=0, maximum=5)
    in_links: int = parameter(50, "d: maximum number of parents of each page, chosen by hash", minimum=0)
    alpha: float = parameter(2.0, "α: how much fewer pages are kept at greater distances", minimum=0, maximum=1e6)
    criterion: str = parameter("", "Criterion: a rank, out_degree, in_degree or text (empty: by kind)")
    filter_degree: bool = parameter(True, "Hubs need min(2 + D, 10) out-links")
    likeness: float = parameter(0.0, "Minimum cosine of texts with a start page (0: any)", minimum=0, maximum=1)
    trim: bool = parameter(True, "Keep interesting pages only; false: all, as in HITS")


@dataclass(frozen=True)
class Step:
    """One extension: the number of pages found, of those that passed the filter, and of those kept."""

    distance: int
    found: int
    filtered: int
    kept: int


@dataclass(frozen=True)
class Explored:
    """The pages that HubFinder kept, without the start pages."""

    pages: Pages
    origin: Pages  # the page from which each was reached
    values: NDArray[np.float64]  # by the criterion
    steps: list[Step]

    @property
    def explored(self) -> int:
        """Pages kept, whose links are followed in turn."""
        return sum(step.kept for step in self.steps)

    @property
    def met(self) -> int:
        """All pages found."""
        return sum(step.found for step in self.steps)

    def path(self, page: int) -> list[int]:
        """The pages through which a page was reached, from the start page on."""
        from_page = dict(zip(self.pages.tolist(), self.origin.tolist(), strict=True))
        path = [page]
        while path[-1] in from_page:
            path.append(from_page[path[-1]])
        return path[::-1]


def relate(
    web: Web, seeds: Sequence[int], params: Params, criterion: Criterion | None = None, max_compared_links: int = 0
) -> Scores:
    """Hubs, or authorities, around the query pages, by the criterion.

    Steps count the pages found and kept in each round; for rounds of at most `max_compared_links` links, also
    the pages that the extension without trimming would have explored.
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
    for at, step in enumerate(steps if max_compared_links else ()):
        step["untrimmed"] = whole[at] if at < len(whole) else None
    return Scores(found.pages, values, list(dict.fromkeys(seeds)), never, facts=facts, steps=steps, path=found.path)


def untrimmed(graph: Graph, seeds: Sequence[int], params: Params, max_links: int) -> list[int]:
    """The pages that HITS would explore in each round: the same extension without trimming.

    It stops before a round that would read more than `max_links` links.
    """
    gamma, found = _Gamma(graph, np.array(list(dict.fromkeys(seeds)), np.uint32)), list[int]()
    while len(found) <= params.rounds and gamma.links(params.in_links) <= max_links:
        new, origin = gamma.extended(params.in_links)
        gamma.add(new, origin)
        found.append(len(new))
    return found


def explore(web: Web, seeds: Sequence[int], params: Params, criterion: Criterion | None = None) -> Explored:
    """Extend, filter and trim; `criterion` is a function of pages that replaces the named one."""
    graph = web.graph
    interesting = _checked(criterion or named(web, seeds, params))
    gamma = _Gamma(graph, np.array(list(dict.fromkeys(seeds)), np.uint32))
    steps = []
    for distance in range(1, params.rounds + 2):
        new, origin = gamma.extended(params.in_links)
        found = len(new)
        if distance > 1 and params.kind == "hubs" and params.filter_degree:
            enough = graph.out_degree[new] >= min(2 + distance, 10)
            new, origin = new[enough], origin[enough]
        filtered = len(new)
        if distance > 1 and params.trim:
            order = best(graph, new, interesting(web, new), kept(filtered, distance, params.alpha))
            new, origin = new[order], origin[order]
        steps.append(Step(distance, found, filtered, len(new)))
        gamma.add(new, origin)
        if not len(new):
            break
    pages, origin = gamma.without_start()
    return Explored(pages, origin, interesting(web, pages), steps)


def _checked(criterion: Criterion) -> Criterion:
    """A criterion whose results are checked."""

    def interesting(web: Web, pages: Pages) -> NDArray[np.float64]:
        try:
            values = np.asarray(criterion(web, pages), np.float64)
        except (TypeError, ValueError) as error:
            raise BadParameter(f"a criterion must return one finite number for every page ({error})") from error
        if values.shape != pages.shape or not np.isfinite(values).all():
            raise BadParameter("a criterion must return one finite number for every page")
        return values

    return interesting


def kept(old: int, distance: int, alpha: float) -> int:
    """N_new of N_old pages."""
    if old == 0:
        return 0
    share = min(100.0, max(0.0, (100 - 10 * log10(old)) / (1 + alpha * (distance - 1))))
    return max(1, ceil(share * old / 100 - 1e-9))


def best(graph: Graph, pages: Pages, values: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """The indices of the pages of highest value; then by in-links, then by address."""
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
    """The greatest cosine of each page's text with that of a start page; word frequencies are those of these pages."""
    from cocite.words.tfidf import cosine, text_vectors

    if not len(pages):
        return np.zeros(0)
    matrix = text_vectors(web.graph, [*seeds, *pages.tolist()]).matrix
    found: NDArray[np.float64] = cosine(matrix[len(seeds) :], matrix[: len(seeds)]).max(axis=1)
    return found


class _Gamma:
    """Γ, the growing set, with the page from which each was reached; and Γ′, the pages that the last round added."""

    def __init__(self, graph: Graph, start: Pages) -> None:
        self._graph, self._start = graph, start
        self._pages, self._origin, self._new = start, start, start

    def extended(self, in_links: int) -> tuple[Pages, Pages]:
        """The pages that the extension of Γ′ adds to Γ, and their origins. Pages trimmed before may come again."""
        graph, pages, in_links = self._graph, self._new, min(in_links, self._graph.pages)
        known = Numbered(len(self._pages) + self.links(in_links))
        known.add(self._pages)
        before, origin = known.count, np.empty(len(known.set.members), np.int64)
        samples = graph.array("sample.page"), graph.array("sample.parent")
        into, extension = SampledLists(graph.into, *samples, graph.fingerprints), Extension(known.set, origin)
        count = extend(graph.out, into, HASH_SEED, pages, in_links, extension, before)
        if count < 0:
            raise graph.damaged()
        return known.set.members[before:count].copy(), pages[origin[before:count]]

    def links(self, in_links: int) -> int:
        """The number of links that the extension of Γ′ reads."""
        graph, most = self._graph, min(in_links, self._graph.pages)
        links = int(graph.out_degree[self._new].sum(dtype=np.int64))
        if links > len(graph.links):
            raise graph.damaged()  # validated before allocating
        return links + int(np.minimum(graph.in_degree[self._new], most).sum(dtype=np.int64))

    def add(self, pages: Pages, origin: Pages) -> None:
        """Γ ← Γ + Γ″, Γ′ ← Γ″."""
        self._pages, self._origin = np.append(self._pages, pages), np.append(self._origin, origin)
        self._new = pages

    def without_start(self) -> tuple[Pages, Pages]:
        """All pages but the start pages, and their origins."""
        return self._pages[len(self._start) :], self._origin[len(self._start) :]
