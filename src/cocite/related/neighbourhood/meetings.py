"""SimRank of one page with all others, or with one, on a web of any size: where walks against the links meet.

`kernels/related/simrank.py` has the formula. Time and memory depend on the number of draws, not on the store. The error
bound adds up what is skipped and what is left to chance:

- A draw at step l carries 1/draws and changes no similarity by more than C^(l/2)/draws. By Azuma and Hoeffding, n_l
  draws at step l err by at most √(Σ n_l·C^l/draws² · ln(2/δ)/2), except with probability δ = 1 %.
- A value not carried down from step l, because it is small (MIN_VALUE, MIN_SHARE) or there are too many links, takes
  away at most value·C^(l/2).
- d(w) is estimated with draws, too: 2.58 standard errors of it (99 %), the greatest of each step carried down. For
  pages of little weight, d(w) is taken as 1 - C/|I(w)|, which adds at most h(l, u, w)·(C - C/|I(w)|)·C^(l/2).
- For a page with more than 16,384 parents, the 2,000 that the store keeps are used: value²·C^l/2000 more under the
  first root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.kernels.related import simrank as kernels
from cocite.kernels.related.samples import SampledLists
from cocite.related.neighbourhood.gather import Numbered
from cocite.related.neighbourhood.view import NO_PAGES, Pages

Values = NDArray[np.float64]
NO_ORIGIN = np.zeros(0), np.zeros(0, np.int32)
ERROR_PROBABILITY = 0.01  # δ
STANDARD_ERRORS = 2.58
MIN_WEIGHT = 1e-3
"""Minimum weight of a page for which d is computed. With 3e-4 the overlap is the same, and time doubles."""
DRAWS_PER_PARTING_DRAW = 25
"""d gets one draw for this many. With 50 the bound is 0.023 rather than 0.013, and time a third less."""
MIN_VALUE, MIN_SHARE = 1e-4, 1e-3
"""Values below both, the second as a share of the greatest probability, are not carried down."""
MAX_LINKS = 120_000
"""Links followed down at the last step; at each step before, C times as many, since they contribute less."""


class Level(NamedTuple):
    """The pages where a walk may be after some steps, with probabilities, and the index from which each was reached."""

    pages: Pages
    values: Values
    origin: NDArray[np.int32]


@dataclass(frozen=True)
class Walk:
    """A walk from one page, against the links."""

    graph: Graph
    page: int
    decay: float
    rounds: int
    draws: int
    seed: int

    @property
    def levels(self) -> list[Level]:
        """Where the walk may be after 0, 1, … steps."""
        return self._climbed[0]

    @property
    def variation(self) -> float:
        """The sum of the squares of what each draw can change."""
        return self._climbed[1]

    @cached_property
    def _climbed(self) -> tuple[list[Level], float]:
        graph, root, least = self.graph, sqrt(self.decay), 1 / self.draws
        parents = _parent_lists(graph)
        sampled = len(parents.sample_parent) // max(1, len(parents.sample_page))
        level = Level(np.array([self.page], np.uint32), np.ones(1), np.full(1, -1, np.int32))
        levels, variation = [level], 0.0
        for steps in range(1, self.rounds + 1):
            room = int(kernels.room_above(graph.in_degree, level.pages, level.values, root, least))
            reached = _room(room)
            count, made = kernels.climb(parents, self.key(steps), level.pages, level.values, root, least, reached)
            if count < 0:
                raise graph.damaged()
            if count == 0:
                break
            long = graph.in_degree[level.pages] > kernels.MAX_PARENTS_READ
            variation += made * least**2 * self.decay**steps
            variation += float((level.values[long] ** 2).sum()) * self.decay**steps / max(1, sampled)
            level = Level(reached.found.members[:count], reached.values[:count], reached.origin[:count])
            levels.append(level)
        return levels, variation

    def key(self, steps: int) -> np.uint64:
        """The seed of the draws at one step: the same in every store that has the page."""
        mixed = int(self.graph.fingerprints[self.page]) * 0x9E3779B97F4A7C15 + self.seed * 0xBF58476D1CE4E5B9 + steps
        return np.uint64(mixed % (1 << 64))

    def path_to(self, steps: int, at: int) -> list[int]:
        """The pages from the first one up to the page at an index of a level."""
        path = []
        for level in self.levels[steps::-1]:
            path.append(int(level.pages[at]))
            at = int(level.origin[at])
        return path[::-1]


def _parent_lists(graph: Graph) -> SampledLists:
    return SampledLists(graph.into, graph.array("sample.page"), graph.array("sample.parent"), graph.fingerprints)


def _room(count: int) -> kernels.Reached:
    """Room for as many pages."""
    numbered = Numbered(count)
    values, random, origin = np.empty(count), np.empty(count), np.empty(count, np.int32)
    return kernels.Reached(numbered.set, values, random, origin)


class Parting(NamedTuple):
    """d of the pages of each level after the first, its certain error, and its standard deviation."""

    values: list[Values]
    certain_error: float
    deviation: float


def parting(walk: Walk, levels: Sequence[Level]) -> Parting:
    """The probabilities that two walks from a page do not meet in the remaining rounds."""
    graph, decay, rounds = walk.graph, walk.decay, walk.rounds
    pages, index = np.unique(np.concatenate([level.pages for level in levels]), return_inverse=True)
    values = np.concatenate([level.values for level in levels])
    weight = np.bincount(index, values, len(pages))
    heavy = np.flatnonzero(weight >= MIN_WEIGHT)
    met, variances = np.zeros((len(heavy), rounds + 1)), np.zeros(len(heavy))
    draws = max(1, walk.draws // DRAWS_PER_PARTING_DRAW)
    damaged = kernels.meet_again(
        _parent_lists(graph), walk.key(0), pages[heavy], weight[heavy], decay, draws, met, variances
    )
    if damaged:
        raise graph.damaged()
    row = np.full(len(pages), -1)
    row[heavy] = np.arange(len(heavy))
    degree = graph.in_degree[pages].astype(np.float64)
    once = np.divide(decay, degree, out=np.zeros(len(pages)), where=degree > 0)
    deviations = np.zeros(len(pages))
    deviations[heavy] = np.sqrt(variances)
    found, at, certain_error, deviation = [], 0, 0.0, 0.0
    for steps, level in enumerate(levels, 1):
        which = index[at : at + len(level.pages)]
        at += len(which)
        if steps == rounds:
            found.append(np.ones(len(which)))
            continue
        meeting, known = once[which], row[which] >= 0
        meeting[known] = np.clip(met[row[which[known]], rounds - steps], meeting[known], decay)
        light = level.values * np.where(~known & (degree[which] > 0), decay - meeting, 0.0)
        certain_error += float(light.max(initial=0.0)) * decay ** (steps / 2)
        deviation += float((level.values * deviations[which]).max(initial=0.0)) * decay ** (steps / 2)
        found.append(1 - meeting)
    return Parting(found, certain_error, deviation)


@dataclass(frozen=True)
class Similar:
    """Pages with their similarity to one page, which is among them, and a bound on the error."""

    walk: Walk
    steps: list[tuple[Pages, Values]]  # by the number of steps above the pages, from 0
    error: float

    @property
    def pages(self) -> Pages:
        """The pages that are similar."""
        return self.steps[0][0]

    @property
    def values(self) -> Values:
        """Their similarities."""
        return self.steps[0][1]

    def path(self, page: int) -> list[int]:
        """The pages from the query page up to a common ancestor, and from there down to another page."""
        path, graph = [page], self.walk.graph
        for steps in range(1, len(self.steps)):
            parents = graph.links_to(path[-1])
            level, above = self.walk.levels[steps], self.steps[steps]
            at = _greatest(parents, level.pages, level.values)
            if at >= 0:
                return self.walk.path_to(steps, at) + path[::-1]
            at = _greatest(parents, *above)
            if at < 0:
                break
            path.append(int(above[0][at]))
        raise graph.damaged()  # in-links and out-links disagree


def _greatest(wanted: Pages, pages: Pages, values: Values) -> int:
    """The index of the greatest value among the wanted pages, the first of equal ones; -1 if there is none."""
    there = np.isin(pages, wanted)
    return int(np.where(there, values, -1.0).argmax()) if there.any() else -1


def similar(walk: Walk) -> Similar:
    """All pages similar to one."""
    graph, root, levels = walk.graph, sqrt(walk.decay), walk.levels[1:]
    if not levels:
        return Similar(walk, [(NO_PAGES, np.zeros(0))], 0.0)
    apart = parting(walk, levels)
    certain_error = apart.certain_error
    drop = min(MIN_VALUE, MIN_SHARE * max(float(level.values.max()) for level in levels))
    pages, values = levels[-1].pages, levels[-1].values * apart.values[-1]
    steps = [(pages, values)]
    for step in range(len(levels), 0, -1):
        here = levels[step - 2].pages if step > 1 else NO_PAGES
        here_values = levels[step - 2].values * apart.values[step - 2] if step > 1 else np.zeros(0)
        least, room = _affordable(graph, pages, values, drop, int(MAX_LINKS * walk.decay ** (step - 1)))
        certain_error += float(values[values < least].max(initial=0.0)) * walk.decay ** (step / 2)
        numbered = Numbered(room + len(here))
        numbered.add(here)
        below = np.empty(room + len(here))
        below[: len(here)] = here_values
        reached = kernels.Reached(numbered.set, below, *NO_ORIGIN)
        count = kernels.descend(graph.out, graph.in_degree, pages, values, root, least, reached, numbered.count)
        if count < 0:
            raise graph.damaged()
        pages, values = numbered.set.members[:count], below[:count]
        steps.append((pages, values))
    return Similar(walk, steps[::-1], certain_error + _random_error(walk.variation, apart.deviation))


def _affordable(graph: Graph, pages: Pages, values: Values, drop: float, most: int) -> tuple[float, int]:
    """The minimum value to carry down, and the number of links of such pages."""
    room = int(kernels.room_below(graph.out_degree, pages, values, drop))
    if room <= most:
        return drop, room
    order = np.argsort(-values, kind="stable")
    links = np.cumsum(graph.out_degree[pages[order]], dtype=np.int64)
    last = max(1, int(np.searchsorted(links, most)))  # the greatest is always carried down
    if last < len(order):
        drop = max(drop, float(np.nextafter(values[order[last]], np.inf)))
    room = int(kernels.room_below(graph.out_degree, pages, values, drop))
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
    if not any(len(level.pages) for level in ups):
        return 0.0, _random_error(first.variation + second.variation, 0.0)
    # d is computed more exactly for higher weights: the root makes them comparable to those of one page.
    rooted = [level._replace(values=np.sqrt(level.values)) for level in ups]
    apart = parting(first, rooted)
    value = sum(float((level.values * d).sum()) for level, d in zip(ups, apart.values, strict=True))
    return value, apart.certain_error + _random_error(first.variation + second.variation, apart.deviation)
