"""SimRank: pages are similar if similar pages link to them (Jeh & Widom 2002).

    s(a, a) = 1,   s(a, b) = C / (|I(a)|·|I(b)|) · Σ s(i, j) over the parents i of a and j of b

and 0 if one of them has no parents. It is computed in rounds, from 0 for different pages; after T rounds values are at
most C^(T+1) below the limit. C = 0.8 and T = 10.

In a store of up to `exact` pages, all pairs are computed at once by partial sums (Lizorkin et al. 2008) and cached. In
larger stores, one page is compared with all others, or with one, in time that does not grow with the store. SimRank is
then the probability that two walks against the links meet within T steps, after ideas of SLING (Tian & Xiao 2016),
PRSim and ExactSim (Wei et al. 2019, 2020); `kernels/related/simrank.py` has the formula. If a walk reaches more pages
than `draws`, a sample drawn by hash is followed. `error` among the facts of a result bounds the difference from the
exact score after T rounds, with 99 % confidence over all seeds. It adds up what is skipped and what is left to chance:

- A draw at step l has weight 1/draws and changes no similarity by more than C^(l/2)/draws. By Azuma and Hoeffding, n_l
  draws at step l err by at most √(Σ n_l·C^l/draws² · ln(2/δ)/2), except with probability δ = 1 %.
- A value not carried down from step l, because it is small (MIN_VALUE, MIN_SHARE) or there are too many links, costs
  at most value·C^(l/2).
- d(w) is estimated with draws, too: 2.58 standard errors of it (99 %), the greatest of each step carried down. For
  pages of little weight, d(w) is set to 1 - C/|I(w)|, which adds at most h(l, u, w)·(C - C/|I(w)|)·C^(l/2).
- For a page with more than 16,384 parents, the 2,000 that the store keeps are used: value²·C^l/2000 more under the
  first root.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.store import Graph
from cocite.kernels.related import simrank as kernels
from cocite.kernels.related.samples import SampledLists
from cocite.parameters import parameter
from cocite.related.neighbourhood import small_web
from cocite.related.neighbourhood.scores import Scores, SeedScores, Values, combine_seeds
from cocite.related.neighbourhood.small_web import Adjacency, Matrix
from cocite.related.neighbourhood.view import HASH_SEED, NO_PAGES, Numbered, Pages
from cocite.web import Web

MAX_PAGES = 20_000
"""All pairs of more pages would take over 10 GB."""
ERROR_PROBABILITY, STANDARD_ERRORS = 0.01, 2.58
MIN_WEIGHT = 1e-3
"""Minimum weight of a page for which d is computed. With 3e-4 the overlap is the same, and time doubles."""
DRAWS_PER_PARTING_DRAW = 25
"""d gets one draw for this many. With 50 the bound is 0.023 rather than 0.013, and time a third less."""
MIN_VALUE, MIN_SHARE = 1e-4, 1e-3
"""Values below both, the second as a share of the greatest probability, are not carried down."""
MAX_LINKS = 120_000
"""Links followed down at the last step; at each step before, C times as many, since they contribute less."""
ROUGH_BITS = 46
"""Bits of a double that are ignored to group values roughly: 64 groups from each power of two to the next."""


@dataclass(frozen=True, kw_only=True)
class Params:
    """C, T, and how exact the result is."""

    decay: float = parameter(0.8, "C: decay per step", minimum=0, maximum=0.99)
    rounds: int = parameter(10, "T: maximum number of steps", minimum=1, maximum=100)
    exact: int = parameter(1000, "Stores of up to this many pages are computed exactly", minimum=0, maximum=10_000)
    draws: int = parameter(50_000, "Pages that a walk is followed to in larger stores", minimum=1000, maximum=10**7)
    seed: int = parameter(HASH_SEED, "Seed of the draws, which are by hash", minimum=0, maximum=2**63 - 1)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by SimRank."""
    if len(web.graph) <= params.exact:
        around, similar = small_web.small_web(web, (), params.exact), _exact(web, params)
        connect = lambda a, b: small_web.connect(similar, [around.into], a, b)  # noqa: E731
        return replace(small_web.scores_around(around, seeds, similar.__getitem__, connect), facts={"error": 0.0})
    errors = [0.0]

    def find(seed: int) -> SeedScores:
        found = similar_pages(Walk(web.graph, seed, params))
        errors.append(found.error)
        return SeedScores(*found.steps[0], found.path)

    scores = combine_seeds(seeds, find)
    return replace(scores, facts={"error": _rounded_up(max(errors))})


def similarity_of(web: Web, first: int, second: int, params: Params | None = None) -> tuple[float, float]:
    """SimRank of two pages, and a bound on its error."""
    params = params or Params()
    if len(web.graph) <= params.exact:
        return float(_exact(web, params)[first, second]), 0.0
    value, error = similarity(Walk(web.graph, first, params), Walk(web.graph, second, params))
    return value, _rounded_up(error)


def all_pairs(
    starts: NDArray[np.int64], links: NDArray[Any], pages: int, decay: float = 0.8, rounds: int = 10
) -> Matrix:
    """SimRank of all pairs: the parents of page i are links[starts[i]:starts[i + 1]]."""
    starts, links = np.asarray(starts, np.int64), np.asarray(links, np.int64)
    if not 0 <= pages <= MAX_PAGES:
        raise BadParameter(f"all pairs of {pages:,} pages: at most {MAX_PAGES:,}; compare single pages instead")
    fits = len(starts) == pages + 1 and starts[0] == 0 and starts[-1] == len(links) and (np.diff(starts) >= 0).all()
    if not fits or (len(links) and not 0 <= links.min() <= links.max() < pages):
        raise BadParameter(f"invalid links into {pages:,} pages: give starts and links as of a CSC matrix")
    if not (0 <= decay <= 1 and rounds >= 0):
        raise BadParameter("decay must be a number from 0 to 1, rounds a whole number of at least 0")
    into = Adjacency(starts, links)
    return small_web.simrank_matrix(into, into.shares(), decay, rounds)


def _exact(web: Web, params: Params) -> Matrix:
    """SimRank of all pairs of a small store, cached."""
    around, key = small_web.small_web(web, (), params.exact), (params.decay, params.rounds)
    into = around.into
    found: Matrix = web.cached(__name__, key, lambda: all_pairs(into.starts, into.links, len(around), *key))
    return found


def _rounded_up(error: float) -> float:
    return ceil(error * 1e4) / 1e4


# ------------------------------------------------------------------------------------- larger stores: where walks meet


class Level(NamedTuple):
    """The pages where a walk may be after some steps, with probabilities, and the index from which each was reached."""

    pages: Pages
    values: Values
    origin: NDArray[np.int32]


class Walk:
    """A walk from one page, against the links: `levels` are where it may be after 0, 1, … steps."""

    def __init__(self, graph: Graph, page: int, params: Params) -> None:
        self.graph, self.page, self.params, decay = graph, page, params, params.decay
        samples = graph.links.stored_parents("sample")
        self.parents = parents = SampledLists(graph.into, samples, graph.fingerprints)  # what the walk follows
        root, least, sampled = sqrt(decay), 1 / params.draws, samples.size
        level = Level(np.array([page], np.uint32), np.ones(1), np.full(1, -1, np.int32))
        self.levels, self.variation = [level], 0.0  # the sum of the squares of what each draw can change
        for steps in range(1, params.rounds + 1):
            room = int(kernels.room_above(graph.in_degree, level.pages, level.values, root, least))
            numbered, origin = Numbered(room), np.empty(room, np.int32)
            values, random = np.empty((2, room))
            reached = kernels.Reached(numbered.set, values, random, origin)
            count, made = kernels.climb(parents, self.key(steps), level.pages, level.values, root, least, reached)
            if count < 0:
                raise graph.damaged()
            if count == 0:
                break
            long = graph.in_degree[level.pages] > kernels.MAX_PARENTS_READ
            self.variation += made * least**2 * decay**steps
            self.variation += float((level.values[long] ** 2).sum()) * decay**steps / max(1, sampled)
            order = np.argsort(numbered.set.members[:count])  # neighbours lie close to each other in memory
            level = Level(numbered.set.members[order], values[order], origin[order])
            self.levels.append(level)

    def key(self, steps: int) -> np.uint64:
        """The seed of the draws at one step: the same in every store that has the page."""
        fingerprint, seed = int(self.graph.fingerprints[self.page]), self.params.seed
        return np.uint64((fingerprint * 0x9E3779B97F4A7C15 + seed * 0xBF58476D1CE4E5B9 + steps) % (1 << 64))


class Parting(NamedTuple):
    """d of the pages of each level after the first, its certain error, and its standard deviation."""

    values: list[Values]
    certain_error: float
    deviation: float


def parting(walk: Walk, levels: Sequence[Level]) -> Parting:
    """The probabilities that two walks from a page do not meet in the remaining rounds."""
    graph, decay, rounds = walk.graph, walk.params.decay, walk.params.rounds
    reached = np.concatenate([level.pages for level in levels])
    numbered, index = Numbered(len(reached)), np.empty(len(reached), np.int64)
    pages = numbered.set.members[: kernels.number_each(numbered.set, reached, index)]
    weight = np.bincount(index, np.concatenate([level.values for level in levels]), len(pages))
    heavy = np.flatnonzero(weight >= MIN_WEIGHT)
    met, variances = np.zeros((len(heavy), rounds + 1)), np.zeros(len(heavy))
    draws = max(1, walk.params.draws // DRAWS_PER_PARTING_DRAW)
    if kernels.meet_again(walk.parents, walk.key(0), pages[heavy], weight[heavy], decay, draws, met, variances):
        raise graph.damaged()
    row = np.full(len(pages), -1, np.int32)
    row[heavy] = np.arange(len(heavy))
    degree, deviations = graph.in_degree[pages].astype(np.float64), np.sqrt(variances)
    once = np.divide(decay, degree, out=np.zeros(len(pages)), where=degree > 0)
    unknown = np.where((row < 0) & (degree > 0), decay - once, 0.0)
    found, certain_error, deviation = list[Values](), 0.0, 0.0
    ends = np.cumsum([len(level.pages) for level in levels])
    for steps, (level, which) in enumerate(zip(levels, np.split(index, ends[:-1]), strict=True), 1):
        if steps == rounds:
            found.append(np.ones(len(which)))
            continue
        meeting, known = once[which], np.flatnonzero(row[which] >= 0)
        rows = row[which[known]]
        meeting[known] = np.clip(met[rows, rounds - steps], meeting[known], decay)
        certain_error += float((level.values * unknown[which]).max(initial=0.0)) * decay ** (steps / 2)
        deviation += float((level.values[known] * deviations[rows]).max(initial=0.0)) * decay ** (steps / 2)
        found.append(1 - meeting)
    return Parting(found, certain_error, deviation)


@dataclass(frozen=True)
class WalkSimilarities:
    """Pages with their similarity to one page, which is among them, and a bound on the error."""

    walk: Walk
    steps: list[tuple[Pages, Values]]  # by the number of steps above the pages; the first has the similarities
    error: float

    def path(self, page: int) -> list[int]:
        """The pages from the query page up to a common ancestor, and from there down to another page."""
        down, up, graph, levels = [page], list[int](), self.walk.graph, self.walk.levels
        for steps in range(1, len(self.steps)):
            parents = graph.links_to(down[-1])
            at = _greatest(parents, levels[steps].pages, levels[steps].values)
            if at >= 0:
                for level in levels[steps::-1]:
                    up.append(int(level.pages[at]))
                    at = int(level.origin[at])
                return up[::-1] + down[::-1]
            at = _greatest(parents, *self.steps[steps])
            if at < 0:
                break
            down.append(int(self.steps[steps][0][at]))
        raise graph.damaged()  # in-links and out-links disagree


def _greatest(wanted: Pages, pages: Pages, values: Values) -> int:
    """The index of the greatest value among the wanted pages, the first of equal ones; -1 if there is none."""
    there = np.isin(pages, wanted)
    return int(np.where(there, values, -1.0).argmax()) if there.any() else -1


def similar_pages(walk: Walk) -> WalkSimilarities:
    """All pages similar to one."""
    graph, decay, levels = walk.graph, walk.params.decay, walk.levels[1:]
    if not levels:
        return WalkSimilarities(walk, [(NO_PAGES, np.zeros(0))], 0.0)
    apart = parting(walk, levels)
    certain_error = apart.certain_error
    drop = min(MIN_VALUE, MIN_SHARE * max(float(level.values.max()) for level in levels))
    meeting = [(NO_PAGES, np.zeros(0))]
    meeting += [(level.pages, level.values * d) for level, d in zip(levels, apart.values, strict=True)]
    pages, values = meeting[-1]
    steps = [(pages, values)]
    for step in range(len(levels), 0, -1):
        here, here_values = meeting[step - 1]
        least, room = _affordable(graph, pages, values, drop, int(MAX_LINKS * decay ** (step - 1)))
        certain_error += float(values[values < least].max(initial=0.0)) * decay ** (step / 2)
        numbered, sums, carried = Numbered(room + len(here), here), np.zeros(room + len(here)), values >= least
        found = numbered.set
        count = kernels.descend(graph.out, pages[carried], values[carried], found, sums, numbered.count)
        if count < 0:
            raise graph.damaged()
        pages = found.members[:count]
        values = sums[:count] * (sqrt(decay) / np.maximum(1, graph.in_degree[pages]))
        values[: len(here)] += here_values
        steps.append((pages, values))
    return WalkSimilarities(walk, steps[::-1], certain_error + _random_error(walk.variation, apart.deviation))


def _affordable(graph: Graph, pages: Pages, values: Values, drop: float, max_links: int) -> tuple[float, int]:
    """The minimum value to carry down, and the number of links of such pages."""
    degrees = graph.out_degree[pages].astype(np.int64)
    room = int(degrees[values >= drop].sum())
    if room <= max_links:
        return drop, room
    # Only the greatest are sorted: those above a value with few bits that leaves too many links.
    rough = values.view(np.int64) >> ROUGH_BITS
    low = int(rough.min())
    totals = np.bincount(rough - low, degrees)[::-1].cumsum()
    some = np.flatnonzero(rough - low >= len(totals) - 1 - np.searchsorted(totals, max_links))
    order = some[np.argsort(-values[some], kind="stable")]
    last = max(1, int(np.searchsorted(np.cumsum(degrees[order]), max_links)))  # the greatest is always carried down
    if last < len(order):
        drop = max(drop, float(np.nextafter(values[order[last]], np.inf)))
    room = int(degrees[values >= drop].sum())
    if room > len(graph.links):
        raise graph.damaged()
    return drop, room


def _random_error(variation: float, deviation: float) -> float:
    return sqrt(variation * log(2 / ERROR_PROBABILITY) / 2) + STANDARD_ERRORS * deviation


def similarity(first: Walk, second: Walk) -> tuple[float, float]:
    """The similarity of two pages, and a bound on its error: walks from both, and where they meet."""
    if first.page == second.page:
        return 1.0, 0.0
    if second.graph.fingerprints[second.page] < first.graph.fingerprints[first.page]:
        first, second = second, first  # so that the result is symmetric
    ups = []
    for one, other in zip(first.levels[1:], second.levels[1:], strict=False):
        pages, ones, others = np.intersect1d(one.pages, other.pages, assume_unique=True, return_indices=True)
        ups.append(Level(pages, one.values[ones] * other.values[others], ones.astype(np.int32)))
    variation = first.variation + second.variation
    if not any(len(level.pages) for level in ups):
        return 0.0, _random_error(variation, 0.0)
    # d is computed more exactly for higher weights: the root makes them comparable to those of one page.
    apart = parting(first, [level._replace(values=np.sqrt(level.values)) for level in ups])
    value = sum(float((level.values * d).sum()) for level, d in zip(ups, apart.values, strict=True))
    return value, apart.certain_error + _random_error(variation, apart.deviation)
