"""Probabilistic SimRank: a link exists with a probability, its weight (Du, Li, Chen, Tan & Zhang 2015).

In each possible world, a walk against the links goes to one of the existing parents, all equally likely. Over all
worlds it goes from page b to its parent a with probability

    P(b → a) = p(a, b) · E[1 / (1 + X)],   X = the number of other links into b that exist

and stops with the probability that none exists. With P in place of 1/|I(b)|, the rounds are those of SimRank: every
step is in a world of its own, as in the paper. With all probabilities 1 it is SimRank.

E[1/(1 + X)] is computed as the integral of Π (1 - p + p·t) over the other links, for t from 0 to 1.

All pairs are computed: exactly in a store of up to `pages` pages; in a larger one among as many pages around the query
page (`neighbourhood/small_web.py`). Links from outside count with the mean probability of those inside.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter, BadStore
from cocite.kernels.related.small_webs import expected_shares
from cocite.related.neighbourhood import small_web
from cocite.related.neighbourhood.scores import Scores, Values
from cocite.related.neighbourhood.small_web import Matrix, SmallWeb, SmallWebParams
from cocite.web import Web

PANELS, PANEL_POINTS = 24, 12
"""Intervals of the integral, each half as long as the one before, as products of many links lie near 1."""


class Params(SmallWebParams):
    """C, and the size of the web."""


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by probabilistic SimRank."""
    around, similar = small_web.solve_around(web, seeds, params, all_pairs)
    return small_web.scores_around(
        around, seeds, similar.__getitem__, lambda a, b: small_web.connect(similar, [around.into], a, b)
    )


def all_pairs(around: SmallWeb, params: Params) -> Matrix:
    """Probabilistic SimRank of all pairs."""
    try:
        weights = transitions(around.into.starts, around.in_weights, around.in_degree)
    except BadParameter as error:
        raise BadStore(f"{error}: build the store {around.graph.path} again") from error
    return small_web.simrank_matrix(around.into, weights, params.decay, params.rounds)


def transitions(starts: NDArray[np.int64], probabilities: Values, degree: Values | None = None) -> Values:
    """P(b → a) of all in-links, those of page b at starts[b]:starts[b + 1]; `degree` counts links from outside, too."""
    invalid = np.flatnonzero(~((probabilities >= 0) & (probabilities <= 1)))
    if len(invalid):
        raise BadParameter(f"the probability of a link must be from 0 to 1, not {probabilities[invalid[0]]:g}")
    inside = np.diff(starts)
    outside = np.zeros(len(inside)) if degree is None else np.maximum(0.0, degree - inside)
    points, weights = np.polynomial.legendre.leggauss(PANEL_POINTS)
    ends = np.append(1 - 0.5 ** np.arange(PANELS + 1), 1.0)
    low, width = ends[:-1, None], np.diff(ends)[:, None]
    points, weights = (low + width * (points + 1) / 2).ravel(), (width * weights / 2).ravel()
    found = np.empty(len(probabilities))
    expected_shares(starts, probabilities.astype(np.float64), outside, points, weights, found)
    return found
