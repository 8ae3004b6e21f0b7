"""Tests whether one method is better than another on the same queries, or whether the difference is chance."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLES = 10_000
EQUAL = 1e-12
"""A smaller difference is a tie: a rounding error."""
MAX_EXACT_QUERIES = 13
"""Up to as many differences all 2ⁿ signs are tried; SciPy does that up to 9,999 signs."""


class Tests(NamedTuple):
    """A comparison of two methods, query by query; p-values are two-sided."""

    better: int  # queries on which the first is better
    worse: int
    sign: float  # Sign Test: are better and worse equally likely?
    signed_rank: float  # Wilcoxon's signed ranks: paired, the usual one
    difference: float  # of the means
    low: float  # 95 % interval of the difference, by resampling queries
    high: float


class Tests1999(NamedTuple):
    """A comparison as in Dean & Henzinger 1999, Table 6: is the first method better than the second?

    p-values are one-sided. The paper doesn't say so, but its rows are named "Companion better than Cocitation", and its
    six values of the Sign Test are one tail of the normal curve for possible numbers of queries; four of them can't be
    two-sided.
    """

    better: int
    worse: int
    sign: float
    rank_sum: float  # Wilcoxon's Sum of Ranks, an unpaired test


def compare_as_1999(first: Sequence[float], second: Sequence[float]) -> Tests1999:
    """The tests of Table 6, on the values of two methods for the same queries."""
    from scipy.stats import binomtest, mannwhitneyu

    _, better, worse = _differences(first, second)
    if better + worse == 0:
        return Tests1999(0, 0, 1.0, 1.0)
    sign = binomtest(better, better + worse, alternative="greater").pvalue
    rank_sum = mannwhitneyu(first, second, alternative="greater", method="asymptotic").pvalue
    return Tests1999(better, worse, float(sign), float(rank_sum))


def compare(first: Sequence[float], second: Sequence[float], seed: int = 1) -> Tests:
    """The standard tests, on the values of two methods for the same queries."""
    from scipy.stats import PermutationMethod, binomtest, wilcoxon

    gap, better, worse = _differences(first, second)
    if better + worse == 0:
        return Tests(0, 0, 1.0, 1.0, 0.0, 0.0, 0.0)
    sign, rank = binomtest(better, better + worse).pvalue, 1.0
    if better + worse > 1:  # for few queries all signs are tried: with ties SciPy would use the normal curve
        exact = PermutationMethod() if better + worse <= MAX_EXACT_QUERIES else "auto"
        rank = wilcoxon(gap[np.abs(gap) > EQUAL], method=exact).pvalue
    return Tests(better, worse, float(sign), float(rank), float(gap.mean()), *interval(resampled(gap, seed)))


def holm(values: Sequence[float]) -> list[float]:
    """p-values of several tests, corrected for their number (Holm 1979).

    >>> holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]
    """
    corrected, highest = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda at: values[at])):
        highest = max(highest, min(1.0, values[place] * (len(values) - rank)))
        corrected[place] = highest
    return corrected


def _differences(first: Sequence[float], second: Sequence[float]) -> tuple[NDArray[np.float64], int, int]:
    """The differences, and the numbers of queries on which the first is better and worse."""
    if len(first) != len(second):
        raise ValueError("Give the values of the same queries")
    gap = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    return gap, int((gap > EQUAL).sum()), int((gap < -EQUAL).sum())


def resampled(values: NDArray[np.float64], seed: int = 1) -> NDArray[np.float64]:
    """The means of samples drawn with replacement, each as large as the original."""
    rng = np.random.default_rng(seed)
    return np.array([values[rng.integers(0, len(values), len(values))].mean() for _ in range(SAMPLES)])


def interval(means: NDArray[np.float64]) -> tuple[float, float]:
    """The interval with 95 % of the means."""
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
