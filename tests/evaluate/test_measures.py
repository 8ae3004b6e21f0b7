"""Measures against values worked out by hand, and against each other."""

from __future__ import annotations

from math import erfc, log2, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.evaluate import measures
from cocite.evaluate.significance import compare, compare_as_1999

PAGES = "abcdefghijklmnop"
answers = st.lists(st.sampled_from(PAGES), unique=True, max_size=14)
right = st.frozensets(st.sampled_from(PAGES), min_size=1)
EVERY = {**measures.MEASURES, **measures.AS_1999, **measures.COVERAGE}


def test_worked_out() -> None:
    """Right answers at ranks 1, 3 and 4 of six given; five pages are right in all."""
    given_, known = list("aXbcYZ"), {"a", "b", "c", "d", "e"}
    assert measures.precision(given_, known) == 3 / 10
    assert measures.precision(given_, known, 4) == 3 / 4
    precisions = 1 / 1 + 2 / 3 + 3 / 4
    assert measures.average_precision(given_, known) == pytest.approx(precisions / 5)
    assert measures.average_precision(given_, known, 2) == pytest.approx(1 / 2)
    assert measures.average_precision_of_returned(given_, known) == pytest.approx(precisions / 3)
    gain = 1 / log2(2) + 1 / log2(4) + 1 / log2(5)
    best = sum(1 / log2(rank + 1) for rank in range(1, 6))
    assert measures.ndcg(given_, known) == pytest.approx(gain / best)
    assert measures.recall(given_, known) == 3 / 5
    assert measures.f_measure(given_, known) == pytest.approx(2 * (3 / 6) * (3 / 5) / (3 / 6 + 3 / 5))
    assert measures.answered(given_, known) == 1


@given(given_=answers, known=right, depth=st.integers(1, 12))
def test_bounds(given_: list[str], known: frozenset[str], depth: int) -> None:
    for name, measure in EVERY.items():
        assert 0 <= measure(given_, known, depth) <= 1 + 1e-12, name
        assert measure([], known, depth) == 0
        assert measure(list("XYZ"), known, depth) == (name == "answered")
    best = sorted(known)[:depth]
    for name in ("MAP", "nDCG", "AP 1999"):
        assert EVERY[name](best, known, depth) == pytest.approx(1)
    assert measures.average_precision_of_returned(given_, known, depth) >= measures.average_precision(
        given_, known, depth
    ) * min(1, depth / len(known))


def test_nothing_is_right() -> None:
    for measure in EVERY.values():
        assert measure(["a"], set(), 10) == (measure is measures.answered)


def test_significance_of_a_clear_difference() -> None:
    """Better on 20 queries of 20: the sign test gives 2 / 2^20."""
    found = compare([0.5] * 20, [0.1] * 20)
    assert (found.better, found.worse) == (20, 0)
    assert found.sign == pytest.approx(2 / 2**20)
    assert found.signed_rank < 1e-3
    assert found.difference == pytest.approx(0.4)
    assert found.low == found.high == pytest.approx(0.4)


def test_significance_of_none() -> None:
    assert compare([0.1, 0.2], [0.1, 0.2]) == (0, 0, 1, 1, 0, 0, 0)
    assert compare([], []) == (0, 0, 1, 1, 0, 0, 0)
    with pytest.raises(ValueError, match="same queries"):
        compare([1.0], [1.0, 2.0])
    found = compare([0.1, 0.3] * 10, [0.3, 0.1] * 10)
    assert found.sign == 1
    assert found.low < 0 < found.high
    assert compare([0.1, 0.3] * 10, [0.3, 0.1] * 10) == found  # the same every time


def test_as_in_1999_one_is_better() -> None:
    """One-sided: five of six is (6 + 1) / 2^6.

    Sum of ranks: 5 6 7 8 9 10 beside 0 1 2 3 4 11 have the ranks 6 to 11 and 1 to 5, 12: U = 51 - 21 = 30 of 36, mean
    18, variance 6 · 6 · 13 / 12 = 39; with half a step for continuity z = 11.5 / √39.
    """
    one, other = [5.0, 6, 7, 8, 9, 10], [0.0, 1, 2, 3, 4, 11]
    found = compare_as_1999(one, other)
    assert (found.better, found.worse) == (5, 1)
    assert found.sign == pytest.approx(7 / 64)
    assert found.rank_sum == pytest.approx(erfc(11.5 / sqrt(39) / sqrt(2)) / 2)
    turned = compare_as_1999(other, one)
    assert turned.sign == pytest.approx(63 / 64)
    assert turned.rank_sum > 0.9
    assert compare_as_1999([0.5], [0.5]) == (0, 0, 1, 1)
