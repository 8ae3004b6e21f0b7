"""SimRank: pages are similar if similar pages link to them (Jeh & Widom 2002).

    s(a, a) = 1,   s(a, b) = C / (|I(a)|·|I(b)|) · Σ s(i, j) over the parents i of a and j of b

and 0 if one of them has no parents. It is computed in rounds, from 0 for different pages; after T rounds values are at
most C^(T+1) below the limit. C = 0.8 and T = 10.

In a store of up to `exact` pages, all pairs are computed at once by partial sums (Lizorkin et al. 2008) and cached. In
larger stores, one page is compared with all others, or with one, in time that does not grow with the store. SimRank is
then the probability that two walks against the links meet within T steps, after ideas of SLING (Tian & Xiao 2016),
PRSim and ExactSim (Wei et al. 2019, 2020). If a walk reaches more pages than `draws`, a sample drawn by hash is
followed. `error` among the facts of a result bounds the difference from the exact score after T rounds, with 99 %
confidence over all seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.parameters import parameter
from cocite.related.neighbourhood.meetings import Walk, similar, similarity
from cocite.related.neighbourhood.scores import Scores, SeedScores, combine_seeds
from cocite.related.neighbourhood.small_web import (
    Adjacency,
    Matrix,
    SmallWeb,
    scores_of_matrix,
    simrank_matrix,
    small_web,
)
from cocite.related.neighbourhood.view import HASH_SEED
from cocite.web import Web

MAX_PAGES = 20_000
"""All pairs of more pages would take over 10 GB."""


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
    if web.graph.pages <= params.exact:
        around = small_web(web, seeds, params.exact)
        found = scores_of_matrix(around, _matrix(web, around, params), [around.into], seeds)
        return replace(found, facts={"error": 0.0})
    errors: list[float] = []

    def find(seed: int) -> SeedScores:
        found = similar(_walk(web, seed, params))
        errors.append(found.error)
        return SeedScores(found.pages, found.values, found.path)

    scores = combine_seeds(seeds, find)
    return replace(scores, facts={"error": _rounded_up(max(errors, default=0.0))})


def similarity_of(web: Web, first: int, second: int, params: Params | None = None) -> tuple[float, float]:
    """SimRank of two pages, and a bound on its error."""
    params = params or Params()
    if web.graph.pages <= params.exact:
        return float(_matrix(web, small_web(web, (), params.exact), params)[first, second]), 0.0
    value, error = similarity(_walk(web, first, params), _walk(web, second, params))
    return value, _rounded_up(error)


def all_pairs(
    links_in_starts: NDArray[np.int64],
    links_in: NDArray[np.integer],
    pages: int,
    decay: float = 0.8,
    rounds: int = 10,
) -> Matrix:
    """SimRank of all pairs: the parents of page i are links_in[links_in_starts[i]:links_in_starts[i + 1]]."""
    starts, links = np.asarray(links_in_starts, np.int64), np.asarray(links_in, np.int64)
    if not 0 <= pages <= MAX_PAGES:
        raise BadParameter(f"all pairs of {pages:,} pages: at most {MAX_PAGES:,}; compare single pages instead")
    fits = len(starts) == pages + 1 and starts[0] == 0 and starts[-1] == len(links) and (np.diff(starts) >= 0).all()
    if not fits or (len(links) and not 0 <= links.min() <= links.max() < pages):
        raise BadParameter(f"invalid links into {pages:,} pages: give starts and links as of a CSC matrix")
    if not (0 <= decay <= 1 and rounds >= 0):
        raise BadParameter("decay must be a number from 0 to 1, rounds a whole number of at least 0")
    into = Adjacency(starts, links)
    return simrank_matrix(into, into.shares(np.diff(starts).astype(np.float64)), decay, rounds)


def _matrix(web: Web, around: SmallWeb, params: Params) -> Matrix:
    into, key = around.into, (params.decay, params.rounds)
    found: Matrix = web.cached(__name__, key, lambda: all_pairs(into.starts, into.links, len(around), *key))
    return found


def _walk(web: Web, page: int, params: Params) -> Walk:
    return Walk(web.graph, page, params.decay, params.rounds, params.draws, params.seed)


def _rounded_up(error: float) -> float:
    return ceil(error * 1e4) / 1e4
