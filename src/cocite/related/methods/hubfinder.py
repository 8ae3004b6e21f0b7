"""HubFinder: hubs, or authorities, some links away from a set of pages (Chirita, Olmedilla & Nejdl 2004, §4).

The start set is extended by all children and at most d = 50 parents of each page (Kleinberg's extension). New pages are
extended again, σ times, but of each new set only the interesting pages are kept:

    N_new = (100 − 10·lg N_old) / (1 + α(D − 1)) · N_old / 100,   at least 1

where D is the number of extensions so far. The first extension isn't trimmed. Interesting pages rank first by a
criterion: a global rank (HubRank for hubs, its authority variant for authorities), the number of links, the similarity
of texts, or a Python function. A hub also needs min(2 + D, 10) out-links: 3 after the first extension. At the end,
pages can be filtered by the similarity of their text with that of a start page: the cosine of tf-idf vectors of the
first 1000 words. How rare a word is depends on all pages of the store.

The paper leaves open, and here: σ = 3 and α = 2; see docs/decisions/0032.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil, log10

import numpy as np

from cocite.errors import BadParameter
from cocite.graph.arrays import IN_MEMORY
from cocite.graph.store import Graph
from cocite.kernels.related.samples import Extension, SampledLists, extend
from cocite.parameters import parameter
from cocite.related.neighbourhood.scores import Scores, Values
from cocite.related.neighbourhood.view import HASH_SEED, Numbered, Pages
from cocite.web import Web

Criterion = Callable[[Web, Pages], Values]
DEFAULT_RANKS = {"hubs": "hubrank", "authorities": "hubrank(bias=authorities)"}
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
class Explored:
    """The pages that HubFinder kept, without the start pages."""

    pages: Pages
    origin: Pages  # the page from which each was reached
    values: Values  # by the criterion
    steps: list[dict[str, int]]  # of each extension: its distance, pages met, passed by the filter, explored

    @property
    def explored(self) -> int:
        """Pages kept, whose links are followed in turn."""
        return sum(step["explored"] for step in self.steps)

    def path(self, page: int) -> list[int]:
        """The pages through which a page was reached, from the start page on."""
        origin = dict(zip(self.pages.tolist(), self.origin.tolist(), strict=True))
        path = [page]
        while path[-1] in origin:
            path.append(origin[path[-1]])
        return path[::-1]


def relate(
    web: Web, seeds: Sequence[int], params: Params, criterion: Criterion | None = None, max_compared_links: int = 0
) -> Scores:
    """Hubs, or authorities, around the query pages, by the criterion.

    Steps count the pages found and kept in each round; for rounds of at most `max_compared_links` links, also
    the pages that the extension without trimming would have explored.
    """
    found, used = explore(web, seeds, params, criterion), list(dict.fromkeys(seeds))
    values = found.values
    if params.likeness > 0 and len(found.pages):
        values = np.where(likeness(web, seeds, found.pages) >= params.likeness, values, 0.0)
    facts = {
        f"{what} at distance {step['distance']}": step[what] for what in ("met", "explored") for step in found.steps
    }
    steps: list[dict[str, int | None]] = [dict(step) for step in found.steps]
    if max_compared_links:
        whole = untrimmed(web.graph, seeds, params, max_compared_links)
        for step, explored in zip_longest(steps, whole[: len(steps)]):
            step["untrimmed"] = explored
    excluded = np.array(used, np.uint32)
    return Scores(found.pages, values, used, excluded, facts=facts, steps=steps, path=found.path)


def untrimmed(graph: Graph, seeds: Sequence[int], params: Params, max_links: int) -> list[int]:
    """The pages that HITS would explore in each round: the same extension without trimming.

    It stops before a round that would read more than `max_links` links.
    """
    gamma, found = Gamma(graph, seeds), list[int]()
    while len(found) <= params.rounds and gamma.links(params.in_links) <= max_links:
        new, origin = gamma.extended(params.in_links)
        gamma.add(new, origin)
        found.append(len(new))
    return found


def explore(web: Web, seeds: Sequence[int], params: Params, criterion: Criterion | None = None) -> Explored:
    """Extend, filter and trim; `criterion` is a function of pages that replaces the named one."""
    graph, gamma, steps = web.graph, Gamma(web.graph, seeds), list[dict[str, int]]()
    criterion = criterion or named_criterion(web, seeds, params)

    def interest(pages: Pages) -> Values:
        try:
            values = np.asarray(criterion(web, pages), np.float64)
        except (TypeError, ValueError) as error:
            raise BadParameter(f"a criterion must return one finite number for every page ({error})") from error
        if values.shape != pages.shape or not np.isfinite(values).all():
            raise BadParameter("a criterion must return one finite number for every page")
        return values

    for distance in range(1, params.rounds + 2):
        new, origin = gamma.extended(params.in_links)
        met = len(new)
        if params.kind == "hubs" and params.filter_degree:
            passing = graph.out_degree[new] >= min(2 + distance, 10)
            new, origin = new[passing], origin[passing]
        passed = len(new)
        if distance > 1 and params.trim:  # the best by interest, then by in-links, then by address
            order = np.lexsort((graph.names.address_keys(new), -graph.in_degree[new].astype(np.int64), -interest(new)))
            order = order[: kept(passed, distance, params.alpha)]
            new, origin = new[order], origin[order]
        steps.append({"distance": distance, "met": met, "passed": passed, "explored": len(new)})
        gamma.add(new, origin)
        if not len(new):
            break
    start = gamma.start
    pages, origin = gamma.pages[start:], gamma.origin[start:]
    return Explored(pages, origin, interest(pages), steps)


def kept(old: int, distance: int, alpha: float) -> int:
    """N_new of N_old pages."""
    if old == 0:
        return 0
    share = min(100.0, max(0.0, (100 - 10 * log10(old)) / (1 + alpha * (distance - 1))))
    return max(1, ceil(share * old / 100 - 1e-9))


def named_criterion(web: Web, seeds: Sequence[int], params: Params) -> Criterion:
    """The criterion that the parameters name."""
    name = params.criterion or DEFAULT_RANKS[params.kind]
    if name in DEGREES:
        return lambda web, pages: getattr(web.graph, name)[pages].astype(np.float64)
    if name == "text":
        return lambda web, pages: likeness(web, seeds, pages)
    values = web.rank(name).values
    return lambda web, pages: values[pages]


def likeness(web: Web, seeds: Sequence[int], pages: Pages) -> Values:
    """The greatest cosine of each page's text with that of a start page; raises BadStore without a search index."""
    from cocite.words.tfidf import DocumentFrequencies, cosine, text_vectors

    if not len(pages) or not web.graph.texts:
        return np.zeros(len(pages))

    def count() -> DocumentFrequencies:
        return DocumentFrequencies.of(web.graph, None if web.graph.path == IN_MEMORY else web.search)

    frequencies = web.cached("document frequencies", web.edition, count)
    matrix = text_vectors(web.graph, [*seeds, *pages.tolist()], frequencies).matrix
    found: Values = cosine(matrix[len(seeds) :], matrix[: len(seeds)]).max(axis=1)
    return found


class Gamma:
    """Γ, the growing set, with the page from which each was reached; and Γ′, the pages that the last round added."""

    def __init__(self, graph: Graph, seeds: Sequence[int]) -> None:
        self._graph = graph
        self.pages = self.origin = self._new = np.array(list(dict.fromkeys(seeds)), np.uint32)
        self.start = len(self.pages)

    def extended(self, in_links: int) -> tuple[Pages, Pages]:
        """The pages that the extension of Γ′ adds to Γ, and their origins. Pages trimmed before may come again."""
        graph, pages = self._graph, self._new
        known = Numbered(len(self.pages) + self.links(in_links), self.pages)
        before, origin = known.count, np.empty(len(known.set.members), np.int64)
        samples = graph.links.stored_parents("sample")
        into, extension = SampledLists(graph.into, samples, graph.fingerprints), Extension(known.set, origin)
        count = extend(graph.out, into, HASH_SEED, pages, min(in_links, graph.pages), extension, before)
        if count < 0:
            raise graph.damaged()
        return known.set.members[before:count].copy(), pages[origin[before:count]]

    def links(self, in_links: int) -> int:
        """The number of links that the extension of Γ′ reads."""
        graph, limit = self._graph, min(in_links, self._graph.pages)
        links = int(graph.out_degree[self._new].sum(dtype=np.int64))
        if links > len(graph.links):
            raise graph.damaged()  # validated before allocating
        return links + int(np.minimum(graph.in_degree[self._new], limit).sum(dtype=np.int64))

    def add(self, pages: Pages, origin: Pages) -> None:
        """Γ ← Γ + Γ″, Γ′ ← Γ″."""
        self.pages, self.origin, self._new = np.append(self.pages, pages), np.append(self.origin, origin), pages
