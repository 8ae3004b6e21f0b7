"""MatchSim: pages are similar if their parents match well, each with one other (Lin, Lyu & King 2009).

    s(a, b) = W(a, b) / max(|I(a)|, |I(b)|)

where W is the greatest sum of similarities of parents of a with parents of b, each in one pair at most: a maximum
matching. s(a, a) = 1, and 0 if one of them has no parents. In rounds, from 0 for different pages; nothing decays, so
two pages with the same parents have similarity 1.

All pairs are worked out: of a store of up to `pages` pages exactly, of a larger one among as many pages around the
query page (`neighbourhood/subweb.py`), with degrees as in the whole store. Of a page with more than `matched` parents
there, the most linked ones are matched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cocite.kernels.related.matching import match_parents
from cocite.parameters import parameter
from cocite.related.neighbourhood.pairs import Matrix, in_blocks
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.several import Found, join
from cocite.related.neighbourhood.subweb import Links, Subweb, solved
from cocite.web import Web

CLOSE = 1e-8


@dataclass(frozen=True, kw_only=True)
class Params:
    """How long, and how much of the web."""

    rounds: int = parameter(10, "so many steps away at most", minimum=1, maximum=100)
    matched: int = parameter(100, "so many parents of a page are matched, the most linked", minimum=1, maximum=1000)
    pages: int = parameter(200, "so many pages around the query page in a larger store", minimum=2, maximum=2000)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by MatchSim."""
    around, (found, into) = solved(web.graph, seeds, params.pages, params, lambda part: all_pairs(part, params))

    def find(seed: int) -> Found:
        path = lambda page: around.connected(meeting, into, seed, page)  # noqa: E731
        return Found(around.pages, found[around.place(seed)], path)

    return join(seeds, find, around.facts)


def all_pairs(around: Subweb, params: Params) -> tuple[Matrix, Links]:
    """MatchSim of all pairs, and the links in that count."""
    into = _most_linked(around, params.matched)
    degree = around.in_degree
    found = np.eye(len(around))
    for _ in range(params.rounds):
        fresh = np.zeros_like(found)
        before = found
        in_blocks(
            lambda first, last, old=before, new=fresh: match_parents(  # type: ignore[misc]
                into.starts, into.links, degree, old, first, last, new
            ),
            len(around),
        )
        found = fresh + fresh.T
        np.fill_diagonal(found, 1.0)
        if float(np.abs(found - before).max(initial=0.0)) < CLOSE:
            break
    return found, into


def _most_linked(around: Subweb, most: int) -> Links:
    """Links in from the `most` parents of each page that have most links in themselves, then by address."""
    into, degree = around.into, around.in_degree
    chosen = [
        parents if len(parents) <= most else np.sort(parents[np.lexsort((parents, -degree[parents]))[:most]])
        for parents in map(into.of, range(len(around)))
    ]
    starts = np.zeros(len(around) + 1, np.int64)
    np.cumsum([len(each) for each in chosen], out=starts[1:])
    return Links(starts, np.concatenate(chosen))


def meeting(into: Links, a: int, b: int) -> list[int]:
    """The shortest way from one place up to a common one, as many links from both, and down; empty if there is none."""
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


def _parents(into: Links, ring: dict[int, int]) -> dict[int, int]:
    """The parents of some places, each with the place from which it was reached first."""
    found: dict[int, int] = {}
    for place in ring:
        for parent in into.of(place).tolist():
            found.setdefault(parent, place)
    return found
