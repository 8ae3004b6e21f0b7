"""Probabilistic SimRank: SimRank where a link exists with a probability, its weight (Du, Li, Chen, Tan & Zhang 2015).

A walk against the links goes, in each possible world, to one of the parents that are there, all alike. Over all worlds
it goes from page b to its parent a with probability

    P(b → a) = p(a, b) · E[1 / (1 + X)],   X = how many of the other links into b exist

and stops with the probability that none exists. With these in place of 1/|I(b)| the rounds are those of SimRank: every
step is taken in a world of its own, as in the paper. With all probabilities 1 it is SimRank.

E[1/(1 + X)] is the integral of Π (1 - p + p·t) over the other links, t from 0 to 1, and worked out as such.

All pairs are worked out: of a store of up to `pages` pages exactly, of a larger one among as many pages around the
query page (`neighbourhood/subweb.py`). Links from elsewhere count as existing with the mean probability of those
inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter, BadStore
from cocite.kernels.related.expected_shares import expected_shares
from cocite.parameters import parameter
from cocite.related.neighbourhood.pairs import Matrix, Rounds, connect
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.several import Found, join
from cocite.related.neighbourhood.subweb import Subweb, solved
from cocite.web import Web

PANELS, POINTS = 24, 12
"""The interval is halved so often towards 1, where products of many links lie; with so many points in each part."""


@dataclass(frozen=True, kw_only=True)
class Params:
    """C, and how much of the web."""

    decay: float = parameter(0.8, "C: what one step away still counts", minimum=0, maximum=0.99)
    rounds: int = parameter(10, "so many steps away at most", minimum=1, maximum=100)
    pages: int = parameter(1000, "so many pages around the query page in a larger store", minimum=2, maximum=5000)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by probabilistic SimRank."""
    around, found = solved(web.graph, seeds, params.pages, params, lambda part: all_pairs(part, params))

    def find(seed: int) -> Found:
        path = lambda page: around.connected(connect, found, [around.into], seed, page)  # noqa: E731
        return Found(around.pages, found[around.place(seed)], path)

    return join(seeds, find, around.facts)


def all_pairs(around: Subweb, params: Params) -> Matrix:
    """Probabilistic SimRank of all pairs."""
    try:
        weights = transitions(around.into.starts, around.weights[around.turned], around.in_degree)
    except BadParameter as error:
        raise BadStore(f"{error}: build the store {around.graph.path} anew") from error
    found, work = np.eye(len(around)), Rounds(len(around))
    for _ in range(params.rounds):
        np.multiply(work.spread(around.into.starts, around.into.links, weights, found), params.decay, out=found)
        np.fill_diagonal(found, 1.0)
    return found


def transitions(
    starts: NDArray[np.int64], probabilities: NDArray[np.float64], degree: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """P(b → a) of all links in, those of page b from starts[b] to starts[b + 1]; `degree` counts links unseen, too."""
    wrong = np.flatnonzero(~((probabilities >= 0) & (probabilities <= 1)))
    if len(wrong):
        raise BadParameter(f"the probability of a link is from 0 to 1, not {probabilities[wrong[0]]:g}")
    seen = np.diff(starts)
    unseen = np.zeros(len(seen)) if degree is None else np.maximum(0.0, degree - seen)
    points, weights = _nodes()
    found = np.empty(len(probabilities))
    expected_shares(starts, probabilities.astype(np.float64), unseen, points, weights, found)
    return found


def _nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points and weights of the integral from 0 to 1."""
    points, weights = np.polynomial.legendre.leggauss(POINTS)
    ends = np.append(1 - 0.5 ** np.arange(PANELS + 1), 1.0)
    low, width = ends[:-1, None], np.diff(ends)[:, None]
    return (low + width * (points + 1) / 2).ravel(), (width * weights / 2).ravel()
