"""Is one method better than another, or was it luck? Tests over the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLES = 10_000
EQUAL = 1e-12
"""Values that differ by no more are ties: they differ by how sums are rounded."""
FEW = 13
"""Differences of which all 2ⁿ signs can be gone through, as SciPy does up to 9,999."""


class Tests(NamedTuple):
    """Two methods compared, query by query; p-values are two-sided."""

    better: int  # queries on which the first is better
    worse: int
    sign: float  # Sign Test: are better and worse equally likely?
    signed_rank: float  # Wilcoxon's signed ranks: paired, the usual one
    difference: float  # of the means
    low: float  # 95 % interval of the difference, by resampling queries
    high: float


class Tests1999(NamedTuple):
    """Two methods compared as in Dean & Henzinger 1999, Table 6: is the first better than the second?

    p-values are one-sided. The paper does not say so, but it names rows "Companion better than Cocitation", and its six
    values of the Sign Test are each one tail of the normal curve for numbers of queries that it can have had; four are
    no two-sided value of any.
    """

    better: int
    worse: int
    sign: float
    rank_sum: float  # Wilcoxon's Sum of Ranks, which takes the two methods' queries for different ones


def compare_as_1999(first: Sequence[float], second: Sequence[float]) -> Tests1999:
    """Table 6's tests of the values of two methods for the same queries, in the same order."""
    from scipy.stats import binomtest, mannwhitneyu

    one, other, better, worse = _paired(first, second)
    if better + worse == 0:
        return Tests1999(0, 0, 1.0, 1.0)
    sign = binomtest(better, better + worse, alternative="greater").pvalue
    rank_sum = mannwhitneyu(one, other, alternative="greater", method="asymptotic").pvalue
    return Tests1999(better, worse, float(sign), float(rank_sum))


def _paired(
    first: Sequence[float], second: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int, int]:
    """Both as arrays, and on how many queries the first is better and worse."""
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.shape != other.shape:
        raise ValueError("values of the same queries are compared")
    return one, other, int((one - other > EQUAL).sum()), int((other - one > EQUAL).sum())


def compare(first: Sequence[float], second: Sequence[float], seed: int = 1) -> Tests:
    """Tests of the values of two methods for the same queries, in the same order."""
    from scipy.stats import binomtest

    one, other, better, worse = _paired(first, second)
    gap = one - other
    if better + worse == 0:
        return Tests(0, 0, 1.0, 1.0, 0.0, 0.0, 0.0)
    sign = float(binomtest(better, better + worse).pvalue)
    low, high = interval(resampled(gap, seed))
    return Tests(better, worse, sign, signed_rank(gap[np.abs(gap) > EQUAL]), float(gap.mean()), low, high)


def signed_rank(gap: NDArray[np.float64]) -> float:
    """Wilcoxon's signed ranks: how likely differences, of which none is 0, are so far to one side by chance.

    Of few all signs are gone through; with ties among them SciPy would take the normal curve.
    """
    from scipy.stats import PermutationMethod, wilcoxon

    if len(gap) == 1:
        return 1.0
    return float(wilcoxon(gap, method=PermutationMethod() if len(gap) <= FEW else "auto").pvalue)


def resampled(values: NDArray[np.float64], seed: int = 1) -> NDArray[np.float64]:
    """The means of samples drawn with replacement, each as large as what it is drawn from."""
    rng = np.random.default_rng(seed)
    return np.array([values[rng.integers(0, len(values), len(values))].mean() for _ in range(SAMPLES)])


def interval(means: NDArray[np.float64]) -> tuple[float, float]:
    """Where 95 % of the means of samples lie."""
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
