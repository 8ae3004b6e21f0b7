"""SimRank: pages are similar if similar pages link to them (Jeh & Widom 2002).

    s(a, a) = 1,   s(a, b) = C / (|I(a)|·|I(b)|) · Σ s(i, j) over the parents i of a and j of b

and 0 if one of them has no parents. It is computed in rounds, from 0 for different pages; T rounds are at most C^(T+1)
below the limit. C = 0.8 and T = 10 here.

In a store of up to `exact` pages all pairs are worked out at once, by partial sums (Lizorkin et al. 2008), and kept for
the next question. In larger ones one page is compared with all others, or with one, in time that does not grow with the
store: the chance that two walks against the links meet within T steps, after ideas of SLING (Tian & Xiao 2016), PRSim
and ExactSim (Wei et al. 2019, 2020). Where a walk comes to more pages than `draws`, some stand for all, drawn by
hash; `error` among the facts of an answer bounds by how much the score of a page may differ from the exact one after T
rounds, with a confidence of 99 % over all seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.parameters import parameter
from cocite.related.neighbourhood.meetings import Walk, similar, similarity
from cocite.related.neighbourhood.pairs import Matrix, Rounds, connect, shares
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.several import Found, join
from cocite.related.neighbourhood.subweb import Links, Subweb, kept, subweb
from cocite.related.neighbourhood.view import SEED
from cocite.web import Web

MOST_PAGES = 20_000
"""All pairs of more pages take over 10 GB."""


@dataclass(frozen=True, kw_only=True)
class Params:
    """C and the number of rounds; how exact."""

    decay: float = parameter(0.8, "C: what one step away still counts", minimum=0, maximum=0.99)
    rounds: int = parameter(10, "T: so many steps away at most", minimum=1, maximum=100)
    exact: int = parameter(1000, "stores of up to so many pages are worked out exactly", minimum=0, maximum=10_000)
    draws: int = parameter(50_000, "in larger ones, pages that a walk is followed to", minimum=1000, maximum=10**7)
    seed: int = parameter(SEED, "of the draws, by hash", minimum=0, maximum=2**63 - 1)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by SimRank."""
    if web.graph.pages <= params.exact:
        around = subweb(web.graph, seeds, params.exact)
        return join(seeds, lambda seed: _exactly(around, seed, params), {"error": 0.0})
    errors: list[float] = []

    def find(seed: int) -> Found:
        found = similar(_walk(web, seed, params))
        errors.append(found.error)
        return Found(found.pages, found.values, found.path)

    scores = join(seeds, find)
    return Scores(**{**vars(scores), "facts": {"error": _up(max(errors, default=0.0))}})


def similarity_of(web: Web, first: int, second: int, params: Params | None = None) -> tuple[float, float]:
    """SimRank of two pages, and a bound on its error."""
    params = params or Params()
    if web.graph.pages <= params.exact:
        around = subweb(web.graph, (), params.exact)
        return float(_matrix(around, params)[first, second]), 0.0
    value, error = similarity(_walk(web, first, params), _walk(web, second, params))
    return value, _up(error)


def all_pairs(
    links_in_starts: NDArray[np.int64],
    links_in: NDArray[np.integer],
    pages: int,
    decay: float = 0.8,
    rounds: int = 10,
) -> Matrix:
    """SimRank of all pairs: the parents of page i are links_in[links_in_starts[i]:links_in_starts[i + 1]]."""
    starts, links = np.asarray(links_in_starts, np.int64), np.asarray(links_in, np.int64)
    if not 0 <= pages <= MOST_PAGES:
        raise BadParameter(f"all pairs of {pages:,} pages: at most {MOST_PAGES:,}; ask about single pages")
    fits = len(starts) == pages + 1 and starts[0] == 0 and starts[-1] == len(links) and (np.diff(starts) >= 0).all()
    if not fits or (len(links) and not 0 <= links.min() <= links.max() < pages):
        raise BadParameter(f"these are no links into {pages:,} pages: give starts and links as of a CSC matrix")
    if not (0 <= decay <= 1 and rounds >= 0):
        raise BadParameter("decay must be a number from 0 to 1, rounds a whole number of at least 0")
    into = Links(starts, links)
    weights = shares(into, np.diff(starts).astype(np.float64))
    found, work = np.eye(pages), Rounds(pages)
    for _ in range(rounds):
        np.multiply(work.spread(starts, links, weights, found), decay, out=found)
        np.fill_diagonal(found, 1.0)
    return found


def _matrix(around: Subweb, params: Params) -> Matrix:
    def make() -> Matrix:
        return all_pairs(around.into.starts, around.into.links, len(around), params.decay, params.rounds)

    found: Matrix = kept(around.graph, ("simrank", params.decay, params.rounds), make)
    return found


def _exactly(around: Subweb, seed: int, params: Params) -> Found:
    found = _matrix(around, params)
    return Found(around.pages, found[seed], lambda page: connect(found, [around.into], seed, page))


def _walk(web: Web, page: int, params: Params) -> Walk:
    return Walk(web.graph, page, params.decay, params.rounds, params.draws, params.seed)


def _up(error: float) -> float:
    """Rounded up to four digits behind the point."""
    return ceil(error * 1e4) / 1e4
