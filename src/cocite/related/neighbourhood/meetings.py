"""Where walks against the links meet: SimRank of one page with all others, or with one, on a web of any size.

`kernels/simrank.py` has the formula. Time and memory follow from the number of draws, not from the store. What is left
out, or to chance, adds up to an error bound:

- A draw at step l carries 1/draws and changes no similarity by more than C^(l/2)/draws: by Azuma and Hoeffding, n_l
  draws at step l err by at most √(Σ n_l·C^l/draws² · ln(2/δ)/2), except with probability δ = 1 %.
- A value not carried down from step l, since it is small (DROP, SMALL) or there are too many links, takes at
  most value·C^(l/2) away.
- d(w) is estimated with draws, too: 2.58 standard errors of it (99 %), the greatest of each step carried down. Of pages
  of little weight d(w) is taken as 1 - C/|I(w)|, which adds at most h(l, u, w)·(C - C/|I(w)|)·C^(l/2).
- Of a page with more than 16,384 parents the 2,000 that the store keeps are taken for all: value²·C^l/2000 more under
  the first root.
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
from cocite.kernels.related import simrank as loops
from cocite.related.neighbourhood.gather import Numbered
from cocite.related.neighbourhood.view import NO_PAGES, Pages

Values = NDArray[np.float64]
DOUBT = 0.01  # δ
DEVIATIONS = 2.58
LIGHT = 1e-3
"""The least weight of a page of which d is worked out. With 3e-4 overlap is the same, and time twice as long."""
PART_DRAWS = 25
"""d gets one draw for so many. With 50 the bound is 0.023 rather than 0.013, and time a third less."""
DROP, SMALL = 1e-4, 1e-3
"""Values below either, or below that share of the greatest probability, are not carried down."""
MOST_LINKS = 120_000
"""Links that are followed down at the last step; at each step before, C of that, since less comes of them."""


class Level(NamedTuple):
    """The pages where a walk may be after some steps and with what probability; from where each was reached first."""

    pages: Pages
    values: Values
    origin: NDArray[np.int32]


@dataclass(frozen=True)
class Walk:
    """The ways up from one page, against the links."""

    graph: Graph
    page: int
    decay: float
    rounds: int
    draws: int
    seed: int

    @property
    def levels(self) -> list[Level]:
        """Where a walk may be after 0, 1, … steps."""
        return self._climbed[0]

    @property
    def variation(self) -> float:
        """The sum of the squares of what each draw can change."""
        return self._climbed[1]

    @cached_property
    def _climbed(self) -> tuple[list[Level], float]:
        graph, root, least = self.graph, sqrt(self.decay), 1 / self.draws
        level = Level(np.array([self.page], np.uint32), np.ones(1), np.full(1, -1, np.int32))
        levels, variation = [level], 0.0
        for steps in range(1, self.rounds + 1):
            room = int(loops.room_above(graph.in_degree, level.pages, level.values, root, least))
            numbered, values, origin = Numbered(room), np.empty(room), np.empty(room, np.int32)
            count, made = loops.climb(
                graph.into, *_samples(graph), graph.fingerprints, self.key(steps), level.pages, level.values, root,
                least, numbered.table, numbered.local, numbered.room, values, origin,
            )  # fmt: skip
            if count < 0:
                raise graph.damaged()
            if count == 0:
                break
            long = graph.in_degree[level.pages] > loops.WHOLE
            variation += made * least**2 * self.decay**steps
            variation += float((level.values[long] ** 2).sum()) * self.decay**steps / max(1, _kept_parents(graph))
            level = Level(numbered.room[:count], values[:count], origin[:count])
            levels.append(level)
        return levels, variation

    def key(self, steps: int) -> np.uint64:
        """What draws at one step begin with: the same in every store that has the page."""
        mixed = int(self.graph.fingerprints[self.page]) * 0x9E3779B97F4A7C15 + self.seed * 0xBF58476D1CE4E5B9 + steps
        return np.uint64(mixed % (1 << 64))

    def way_up(self, steps: int, place: int) -> list[int]:
        """The pages from the first one up to the one at a place of a level."""
        way = []
        for level in self.levels[steps::-1]:
            way.append(int(level.pages[place]))
            place = int(level.origin[place])
        return way[::-1]


def _samples(graph: Graph) -> tuple[Pages, Pages]:
    return graph.array("sample.page"), graph.array("sample.parent")


def _kept_parents(graph: Graph) -> int:
    pages, parents = _samples(graph)
    return len(parents) // max(1, len(pages))


class Parting(NamedTuple):
    """d of the pages of each level after the first; what that adds to the error surely, and its standard deviation."""

    values: list[Values]
    surely: float
    deviation: float


def parting(walk: Walk, levels: Sequence[Level]) -> Parting:
    """The probabilities that two walks from a page do not meet in the rounds that are left."""
    graph, decay, rounds = walk.graph, walk.decay, walk.rounds
    pages, place = np.unique(np.concatenate([level.pages for level in levels]), return_inverse=True)
    values = np.concatenate([level.values for level in levels])
    weight = np.bincount(place, values, len(pages))
    heavy = np.flatnonzero(weight >= LIGHT)
    met, spread = np.zeros((len(heavy), rounds + 1)), np.zeros(len(heavy))
    damaged = loops.meet_again(
        graph.into, *_samples(graph), graph.fingerprints, walk.key(0), pages[heavy], weight[heavy], decay, rounds,
        max(1, walk.draws // PART_DRAWS), met, spread,
    )  # fmt: skip
    if damaged:
        raise graph.damaged()
    row = np.full(len(pages), -1)
    row[heavy] = np.arange(len(heavy))
    degree = graph.in_degree[pages].astype(np.float64)
    once = np.divide(decay, degree, out=np.zeros(len(pages)), where=degree > 0)
    deviations = np.zeros(len(pages))
    deviations[heavy] = np.sqrt(spread)
    found, at, surely, deviation = [], 0, 0.0, 0.0
    for steps, level in enumerate(levels, 1):
        which = place[at : at + len(level.pages)]
        at += len(which)
        if steps == rounds:
            found.append(np.ones(len(which)))
            continue
        meeting, known = once[which], row[which] >= 0
        meeting[known] = np.clip(met[row[which[known]], rounds - steps], meeting[known], decay)
        light = level.values * np.where(~known & (degree[which] > 0), decay - meeting, 0.0)
        surely += float(light.max(initial=0.0)) * decay ** (steps / 2)
        deviation += float((level.values * deviations[which]).max(initial=0.0)) * decay ** (steps / 2)
        found.append(1 - meeting)
    return Parting(found, surely, deviation)


@dataclass(frozen=True)
class Similar:
    """Pages with their similarity to one page, itself among them, and by how much it may be wrong."""

    walk: Walk
    steps: list[tuple[Pages, Values]]  # from the pages themselves, 0, up
    error: float

    @property
    def pages(self) -> Pages:
        """The pages that are similar."""
        return self.steps[0][0]

    @property
    def values(self) -> Values:
        """How similar each is."""
        return self.steps[0][1]

    def path(self, page: int) -> list[int]:
        """The pages from the one asked about up to a common one, and from there down to another."""
        way, graph = [page], self.walk.graph
        for steps in range(1, len(self.steps)):
            parents = graph.links_to(way[-1])
            level, above = self.walk.levels[steps], self.steps[steps]
            place = _greatest(parents, level.pages, level.values)
            if place >= 0:
                return self.walk.way_up(steps, place) + way[::-1]
            place = _greatest(parents, *above)
            if place < 0:
                break
            way.append(int(above[0][place]))
        raise graph.damaged()  # links in and links out do not fit


def _greatest(wanted: Pages, pages: Pages, values: Values) -> int:
    """The place of the greatest value among the wanted pages, the first of equal ones; -1 if none is wanted."""
    there = np.isin(pages, wanted)
    return int(np.where(there, values, -1.0).argmax()) if there.any() else -1


def similar(walk: Walk) -> Similar:
    """All pages similar to one."""
    graph, root, levels = walk.graph, sqrt(walk.decay), walk.levels[1:]
    if not levels:
        return Similar(walk, [(NO_PAGES, np.zeros(0))], 0.0)
    apart = parting(walk, levels)
    surely = apart.surely
    drop = min(DROP, SMALL * max(float(level.values.max()) for level in levels))
    pages, values = levels[-1].pages, levels[-1].values * apart.values[-1]
    steps = [(pages, values)]
    for step in range(len(levels), 0, -1):
        here = levels[step - 2].pages if step > 1 else NO_PAGES
        here_values = levels[step - 2].values * apart.values[step - 2] if step > 1 else np.zeros(0)
        least, room = _affordable(graph, pages, values, drop, int(MOST_LINKS * walk.decay ** (step - 1)))
        surely += float(values[values < least].max(initial=0.0)) * walk.decay ** (step / 2)
        numbered, below = Numbered(room + len(here)), np.empty(room + len(here))
        numbered.add(here)
        below[: len(here)] = here_values
        count = loops.descend(
            graph.out, graph.in_degree, pages, values, root, least, numbered.table, numbered.local, numbered.room,
            below, numbered.count,
        )  # fmt: skip
        if count < 0:
            raise graph.damaged()
        pages, values = numbered.room[:count], below[:count]
        steps.append((pages, values))
    return Similar(walk, steps[::-1], surely + _by_chance(walk.variation, apart.deviation))


def _affordable(graph: Graph, pages: Pages, values: Values, drop: float, most: int) -> tuple[float, int]:
    """The least value to carry down, and how many links that are."""
    room = int(loops.room_below(graph.out_degree, pages, values, drop))
    if room <= most:
        return drop, room
    order = np.argsort(-values, kind="stable")
    links = np.cumsum(graph.out_degree[pages[order]], dtype=np.int64)
    last = max(1, int(np.searchsorted(links, most)))  # the greatest is carried down, however many links it has
    if last < len(order):
        drop = max(drop, float(np.nextafter(values[order[last]], np.inf)))
    room = int(loops.room_below(graph.out_degree, pages, values, drop))
    if room > graph.links:
        raise graph.damaged()
    return drop, room


def _by_chance(variation: float, deviation: float) -> float:
    return sqrt(variation * log(2 / DOUBT) / 2) + DEVIATIONS * deviation


def similarity(first: Walk, second: Walk) -> tuple[float, float]:
    """The similarity of two pages, and by how much it may be wrong: both are climbed from, and meet on the way."""
    if first.page == second.page:
        return 1.0, 0.0
    if second.graph.fingerprints[second.page] < first.graph.fingerprints[first.page]:
        first, second = second, first  # the same both ways round
    ups = []
    for one, other in zip(first.levels[1:], second.levels[1:], strict=False):
        pages, places, others = np.intersect1d(one.pages, other.pages, assume_unique=True, return_indices=True)
        ups.append(Level(pages, one.values[places] * other.values[others], places.astype(np.int32)))
    if not any(len(level.pages) for level in ups):
        return 0.0, _by_chance(first.variation + second.variation, 0.0)
    # d is worked out the better, the more it counts: the root makes that the same as for one page with itself.
    rooted = [level._replace(values=np.sqrt(level.values)) for level in ups]
    apart = parting(first, rooted)
    value = sum(float((level.values * d).sum()) for level, d in zip(ups, apart.values, strict=True))
    return value, apart.surely + _by_chance(first.variation + second.variation, apart.deviation)
