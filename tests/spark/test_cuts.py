"""Parts are cut until none of several pages brings too many links together."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.spark.parts import ROUNDS, Cut, cut_again


def test_only_parts_that_are_too_large_are_cut() -> None:
    cut = Cut(np.array([0, 10, 20, 21]))
    again = cut_again(cut, {0: 100, 1: 201, 2: 900}, most=100)
    assert again.bounds.tolist() == [0, 10, 12, 15, 17, 20, 21]  # 201 · 1.5 / 100: 4 pieces; one page is left
    assert cut_again(cut, {0: 100, 1: 101}, most=100, finer=2).bounds.tolist() == [0, 10, 12, 15, 17, 20, 21]


@given(st.lists(st.integers(0, 300), min_size=1, max_size=500), st.sampled_from([2, 30, 100]))
def test_what_is_still_too_large_is_a_single_page(links: list[int], most: int) -> None:
    ends = np.append(0, np.cumsum(links))
    cut = Cut(np.array([0, len(links)], np.int64))
    for attempt in range(ROUNDS - 1):
        sizes = {part: int(ends[cut.bounds[part + 1]] - ends[cut.bounds[part]]) for part in range(cut.parts)}
        cut = cut_again(cut, sizes, most, 1 << attempt)
    assert (np.diff(cut.bounds) > 0).all() and cut.bounds[[0, -1]].tolist() == [0, len(links)]
    large = np.diff(ends[cut.bounds]) > most
    assert (np.diff(cut.bounds)[large] == 1).all()
