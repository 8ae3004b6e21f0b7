"""Is one method better than another, or was it luck? Tests over the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLES = 10_000


class Tests(NamedTuple):
    """Two methods compared, query by query; p-values are two-sided."""

    better: int  # queries on which the first is better
    worse: int
    sign: float  # Sign Test: are better and worse equally likely?
    rank_sum: float  # Wilcoxon's Sum of Ranks, as in Dean & Henzinger 1999: unpaired
    signed_rank: float  # Wilcoxon's signed ranks: paired, the usual one
    difference: float  # of the means
    low: float  # 95 % interval of the difference, by resampling queries
    high: float


def compare(first: Sequence[float], second: Sequence[float], seed: int = 1) -> Tests:
    """Tests of the values of two methods for the same queries, in the same order."""
    from scipy.stats import binomtest, mannwhitneyu, wilcoxon

    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.shape != other.shape:
        raise ValueError("values of the same queries are compared")
    gap = one - other
    better, worse = int((gap > 1e-12).sum()), int((gap < -1e-12).sum())
    if better + worse == 0:
        return Tests(0, 0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    sign = float(binomtest(better, better + worse).pvalue)
    rank_sum = float(mannwhitneyu(one, other, method="asymptotic").pvalue)
    signed = float(wilcoxon(np.where(np.abs(gap) > 1e-12, gap, 0), zero_method="wilcox", method="auto").pvalue)
    low, high = interval(resampled(gap, seed))
    return Tests(better, worse, sign, rank_sum, signed, float(gap.mean()), low, high)


def resampled(values: NDArray[np.float64], seed: int = 1) -> NDArray[np.float64]:
    """The means of samples drawn with replacement, each as large as what it is drawn from."""
    rng = np.random.default_rng(seed)
    return np.array([values[rng.integers(0, len(values), len(values))].mean() for _ in range(SAMPLES)])


def interval(means: NDArray[np.float64]) -> tuple[float, float]:
    """Where 95 % of the means of samples lie."""
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
