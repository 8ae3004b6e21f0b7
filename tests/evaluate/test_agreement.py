"""Agreement of raters: examples of the literature, and literal readings of Fleiss (1971) and Krippendorff."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.evaluate.agreement import agreement_of, agreement_table


def raters_of(*rows: str) -> list[dict[str, str]]:
    """The ratings of raters, a text for each: a space is a missing rating."""
    return [{str(n): rating for n, rating in enumerate(row) if rating != " "} for row in rows]


def kappa(ratings: list[list[str]]) -> float:
    """Fleiss 1971: each result has the same number of ratings."""
    size, every = len(ratings[0]), [rating for of in ratings for rating in of]
    observed = [sum(n * (n - 1) for n in Counter(of).values()) / (size * (size - 1)) for of in ratings]
    chance = sum((n / len(every)) ** 2 for n in Counter(every).values())
    return (sum(observed) / len(observed) - chance) / (1 - chance)


def alpha(ratings: list[list[str]]) -> float:
    """Krippendorff, by the table of coincidences: each ordered pair of ratings of a result counts 1 / (m − 1)."""
    table: Counter[tuple[str, str]] = Counter()
    for of in ratings:
        for one, other in permutations(range(len(of)), 2):
            table[of[one], of[other]] += 1 / (len(of) - 1)
    sums: Counter[str] = Counter()
    for (one, _), number in table.items():
        sums[one] += number
    total = sum(sums.values())
    observed = sum(number for (one, other), number in table.items() if one != other)
    chance = sum(sums[one] * sums[other] for one in sums for other in sums if one != other) / (total - 1)
    return 1 - observed / chance


def test_krippendorffs_binary_example() -> None:
    """Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, A: two observers, ten units, α = 0.095."""
    found = agreement_of(raters_of("0100000010", "1110010000"))
    assert found is not None
    assert found.alpha == pytest.approx(0.095, abs=5e-4)
    assert (found.results, found.pairs) == (10, 0.6)


def test_an_example_by_hand() -> None:
    """Four results, three ratings each: 111, 110, 000, 001. P = (1 + 1/3 + 1 + 1/3) / 4 = 2/3, chance 1/2, κ = 1/3."""
    found = agreement_of(raters_of("1100", "1100", "1001"))
    assert found is not None
    assert found.kappa == pytest.approx(1 / 3)
    assert (found.kappa_results, found.kappa_ratings) == (4, 3)


@given(st.lists(st.lists(st.sampled_from("01x "), min_size=4, max_size=4), min_size=1, max_size=30))
def test_any_ratings(rows: list[list[str]]) -> None:
    """κ is of the results with the most frequent number of ratings, of larger ones if two are as frequent."""
    found = agreement_of(raters_of(*("".join(row[n] for row in rows) for n in range(4))))
    given = [ratings for row in rows if len(ratings := [each for each in row if each in "01"]) > 1]
    if not given:
        assert found is None
        return
    sizes = Counter(map(len, given))
    size = max(sizes, key=lambda each: (sizes[each], each))
    alike = [ratings for ratings in given if len(ratings) == size]
    assert found is not None
    assert (found.results, found.kappa_results, found.kappa_ratings) == (len(given), len(alike), size)
    for value, literal, of in ((found.kappa, kappa, alike), (found.alpha, alpha, given)):
        same = len({rating for ratings in of for rating in ratings}) == 1
        assert value is None if same else value == pytest.approx(literal(of))


def test_the_table() -> None:
    assert agreement_table(raters_of("10", "  ")) is None
    head, rows = agreement_table(raters_of("11", "11")) or ([], [])
    assert head == ["agreement", "value", "results", "ratings of each"]
    assert rows[0] == ["equal pairs of ratings", "1.000", 2, "two or more"]
    assert rows[1] == ["Fleiss' κ", "undefined: all ratings are the same", 2, 2]
