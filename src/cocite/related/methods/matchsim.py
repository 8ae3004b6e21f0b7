"""MatchSim: pages are similar if their parents match well, each with one other (Lin, Lyu & King 2009).

    s(a, b) = W(a, b) / max(|I(a)|, |I(b)|)

where W is the maximum weight of a matching between the parents of a and the parents of b, weighted by their
similarities. s(a, a) = 1, and 0 if one of them has no parents. It is computed in rounds, from 0 for different pages.
Nothing decays, so two pages with the same parents have similarity 1.

All pairs are computed: exactly in a store of up to `pages` pages; in a larger one among as many pages around the query
page (`neighbourhood/small_web.py`), with the degrees of the whole store. Of a page with more than `matched` parents,
those with most in-links are matched.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from cocite.kernels.related.small_webs import match_parents
from cocite.parameters import parameter
from cocite.related.neighbourhood import small_web
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.small_web import Adjacency, Matrix, SmallWeb
from cocite.web import Web

MAX_LAST_CHANGE = 1e-8


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
    around, (similar, into) = small_web.solve_around(web, seeds, params, all_pairs)
    return small_web.scores_around(around, seeds, similar.__getitem__, partial(common_ancestor_path, into))


def all_pairs(around: SmallWeb, params: Params) -> tuple[Matrix, Adjacency]:
    """MatchSim of all pairs, and the in-links that are matched."""
    into, degree, limit = around.into, around.in_degree, params.matched
    order = around.graph.names.address_keys(around.pages)
    chosen = [
        parents if len(parents) <= limit else np.sort(parents[np.lexsort((order[parents], -degree[parents]))[:limit]])
        for parents in map(into.of, range(len(around)))
    ]
    into = Adjacency(np.cumsum([0, *map(len, chosen)]), np.concatenate(chosen))
    similar = np.eye(len(around))
    for _ in range(params.rounds):
        before, half = similar, np.zeros_like(similar)

        def match(first: int, last: int, before: Matrix = before, half: Matrix = half) -> None:
            match_parents(into.starts, into.links, degree, before, first, last, half)

        small_web.in_blocks(match, len(around))
        similar = half + half.T
        np.fill_diagonal(similar, 1.0)
        if float(np.abs(similar - before).max(initial=0.0)) < MAX_LAST_CHANGE:
            break
    return similar, into


def common_ancestor_path(into: Adjacency, a: int, b: int) -> list[int]:
    """The shortest path up to a common ancestor, equally far from both nodes, and down; empty if there is none."""
    rings: list[list[dict[int, int]]] = [[{a: a}, {b: b}]]  # nodes, and from which each was reached first
    common: set[int] = set()
    while not common and all(rings[-1]) and len(rings) <= len(into.starts):
        rings.append([{}, {}])
        for ring, above in zip(*rings[-2:], strict=True):
            for node in ring:
                for parent in into.of(node).tolist():
                    above.setdefault(parent, node)
        common = rings[-1][0].keys() & rings[-1][1].keys()
    if not common:
        return []
    halves: list[list[int]] = [[min(common)], [min(common)]]
    for pair in rings[:0:-1]:
        for half, reached_from in zip(halves, pair, strict=True):
            half.append(reached_from[half[-1]])
    return halves[0][::-1] + halves[1][1:]
