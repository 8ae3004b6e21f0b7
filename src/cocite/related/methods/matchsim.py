"""MatchSim: pages are similar if their parents match well, each with one other (Lin, Lyu & King 2009).

    s(a, b) = W(a, b) / max(|I(a)|, |I(b)|)

where W is the maximum weight of a matching between the parents of a and the parents of b, weighted by their
similarities. s(a, a) = 1, and 0 if one of them has no parents. It is computed in rounds, from 0 for different pages.
Nothing decays, so two pages with the same parents have similarity 1.

All pairs are computed: exactly in a store of up to `pages` pages; in a larger one among as many pages around the query
page (`neighbourhood/small_web.py`), with the degrees of the whole store. Of a page with more than `matched` parents,
those with most in-links are matched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related.small_webs import match_parents
from cocite.parameters import parameter
from cocite.related.neighbourhood.scores import Scores, SeedScores, combine_seeds
from cocite.related.neighbourhood.small_web import (
    Adjacency,
    Matrix,
    SmallWeb,
    in_blocks,
    solve_around,
)
from cocite.web import Web

TOLERANCE = 1e-8


@dataclass(frozen=True, kw_only=True)
class Params:
    """Rounds, and the size of the web."""

    rounds: int = parameter(10, "Maximum number of steps", minimum=1, maximum=100)
    matched: int = parameter(
        100, "Maximum number of parents of a page, those with most in-links", minimum=1, maximum=1000
    )
    pages: int = parameter(200, "Pages around the query page in a larger store", minimum=2, maximum=2000)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by MatchSim."""
    around, (similar, into) = solve_around(web, seeds, params, lambda part: all_pairs(part, params))

    def find(seed: int) -> SeedScores:
        node = around.node(seed)
        path = lambda page: around.pages_of(common_ancestor_path(into, node, around.node(page)))  # noqa: E731
        return SeedScores(around.pages, similar[node], path)

    return combine_seeds(seeds, find, facts=around.facts)


def all_pairs(around: SmallWeb, params: Params) -> tuple[Matrix, Adjacency]:
    """MatchSim of all pairs, and the in-links that are matched."""
    into, degree = _best_parents(around, params.matched), around.in_degree
    similar = np.eye(len(around))
    for _ in range(params.rounds):
        before, half = similar, np.zeros_like(similar)
        in_blocks(partial(_match, into, degree, before, half), len(around))
        similar = half + half.T
        np.fill_diagonal(similar, 1.0)
        if float(np.abs(similar - before).max(initial=0.0)) < TOLERANCE:
            break
    return similar, into


def _match(into: Adjacency, degree: NDArray[np.float64], similar: Matrix, half: Matrix, first: int, last: int) -> None:
    match_parents(into.starts, into.links, degree, similar, first, last, half)


def _best_parents(around: SmallWeb, limit: int) -> Adjacency:
    """In-links from the parents of each page that have most in-links themselves, then by address."""
    into, degree = around.into, around.in_degree
    chosen = [
        parents if len(parents) <= limit else np.sort(parents[np.lexsort((parents, -degree[parents]))[:limit]])
        for parents in map(into.of, range(len(around)))
    ]
    starts = np.zeros(len(around) + 1, np.int64)
    np.cumsum([len(each) for each in chosen], out=starts[1:])
    return Adjacency(starts, np.concatenate(chosen))


def common_ancestor_path(into: Adjacency, a: int, b: int) -> list[int]:
    """The shortest path up to a common ancestor, equally far from both nodes, and down; empty if there is none."""
    ups: list[tuple[dict[int, int], dict[int, int]]] = [({a: a}, {b: b})]
    for _ in range(len(into.starts)):
        rings = tuple(_parents(into, ring) for ring in ups[-1])
        ups.append((rings[0], rings[1]))
        common = rings[0].keys() & rings[1].keys()
        if common or not (rings[0] and rings[1]):
            break
    else:
        common = set()
    if not common:
        return []
    halves: list[list[int]] = [[min(common)], [min(common)]]
    for rings in ups[:0:-1]:
        for half, ring in zip(halves, rings, strict=True):
            half.append(ring[half[-1]])
    return halves[0][::-1] + halves[1][1:]


def _parents(into: Adjacency, ring: dict[int, int]) -> dict[int, int]:
    """The parents of some nodes, each with the node from which it was reached first."""
    found: dict[int, int] = {}
    for node in ring:
        for parent in into.of(node).tolist():
            found.setdefault(parent, node)
    return found
