"""Where did people go next? Held-out click paths judge the results of methods for the page before.

Every click of a path is a question: of the pages related to the one it left, at what rank is the page it went to?
Candidates are all pages, or those that the page links to, which are all that can be clicked. Rank r counts 1/r (MRR),
and hits@k is the share of ranks up to k. A page that a method doesn't return counts 0 among all pages. Among
links it comes after those returned, the most linked first, so that all methods rank the same candidates.

Paths of one game, with the same first and last page, are in the same part, by hash: `part_of`. Clicks of one path
aren't independent, so tests compare the means of paths: a paired bootstrap and Wilcoxon's test.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.evaluate.significance import SAMPLES, interval, resampled
from cocite.graph.store import Graph
from cocite.related.neighbourhood.scores import Scores

PARTS = ("train", "train", "dev", "test")
"""Half of the games train, a quarter chooses parameters, a quarter is reported."""
HITS = (1, 5, 10)
Ranks = NDArray[np.float64]


class Steps(NamedTuple):
    """The clicks of some paths."""

    path: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]


class Difference(NamedTuple):
    """How much higher the mean reciprocal rank of one method is than another's, by path."""

    mean: float
    low: float  # 95 % of resamples lie between
    high: float
    bootstrap: float  # two-sided p: how often a resample has the other sign
    wilcoxon: float  # two-sided p
    better: int  # paths
    worse: int


def part_of(first: str, last: str) -> str:
    """The part of the paths from one page to another."""
    return PARTS[hashlib.blake2b(f"{first} {last}".encode(), digest_size=8).digest()[0] // 64]


def steps_of(paths: Sequence[Sequence[int]]) -> Steps:
    """All clicks from a page to another."""
    found = [(n, a, b) for n, path in enumerate(paths) for a, b in pairwise(path) if a != b]
    return Steps(*np.array(found, np.int64).reshape(-1, 3).T)


class Found(NamedTuple):
    """The rank of the page that each click went to; infinite if the method doesn't return it."""

    among_links: Ranks
    among_all: Ranks


def ranks_of(graph: Graph, steps: Steps, relate: Callable[[int], Scores]) -> Found:
    """How a method ranks the pages that clicks went to."""
    found = Found(np.full(len(steps.path), np.inf), np.full(len(steps.path), np.inf))
    order = np.argsort(steps.source, kind="stable")
    pages, starts = np.unique(steps.source[order], return_index=True)
    for page, places in zip(pages.tolist(), np.split(order, starts[1:]), strict=True):
        answers = [answer for answer, _ in relate(page).ranked(graph.in_degree, 1000)]
        for ranks, candidates in zip(found, (_among(graph, page, answers), answers), strict=True):
            rank = {candidate: place for place, candidate in enumerate(candidates, 1)}
            ranks[places] = [rank.get(target, np.inf) for target in steps.target[places].tolist()]
    return found


def _among(graph: Graph, page: int, answers: list[int]) -> list[int]:
    """The pages that a page links to: first those returned, in their order, then the others, the most linked first."""
    children = set(graph.links_from(page).targets.tolist()) - {page}
    named = [answer for answer in answers if answer in children]
    others = sorted(children.difference(named), key=lambda child: (-int(graph.in_degree[child]), child))
    return named + others


def measures(ranks: Ranks) -> Mapping[str, float]:
    """MRR and hits@k."""
    return {"MRR": float(np.mean(1 / ranks)), **{f"hits@{k}": float(np.mean(ranks <= k)) for k in HITS}}


def compare(steps: Steps, one: Ranks, other: Ranks, seed: int = 1) -> Difference:
    """By how much the first method is better than the second, and whether that may be chance."""
    from scipy.stats import wilcoxon

    paths, at = np.unique(steps.path, return_inverse=True)
    clicks = np.bincount(at, minlength=len(paths))
    means = np.bincount(at, 1 / one - 1 / other, len(paths)) / clicks
    samples = resampled(means, seed)
    low, high = interval(samples)
    against = min(np.mean(samples <= 0), np.mean(samples >= 0))
    p = 1.0 if not means.any() else float(wilcoxon(means).pvalue)
    bootstrap = min(1.0, 2 * max(float(against), 1 / SAMPLES))
    better, worse = int(np.count_nonzero(means > 0)), int(np.count_nonzero(means < 0))
    return Difference(float(means.mean()), low, high, bootstrap, p, better, worse)
