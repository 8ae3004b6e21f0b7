"""Parts: split until none of several pages has too many links; shortened lists show every window unchanged."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.spark.parts import MAX_SPLITS, PageRanges, in_windows, split_ranges


def test_only_parts_that_are_too_large_are_split() -> None:
    ranges = PageRanges(np.array([0, 10, 20, 21]))
    again = split_ranges(ranges, {0: 100, 1: 201, 2: 900}, 100)
    assert again.bounds.tolist() == [0, 10, 12, 15, 17, 20, 21]  # 201 · 1.5 / 100: 4 pieces; one page is left
    assert split_ranges(ranges, {0: 100, 1: 101}, 100, finer=2).bounds.tolist() == [0, 10, 12, 15, 17, 20, 21]


@given(st.lists(st.integers(0, 300), min_size=1, max_size=500), st.sampled_from([2, 30, 100]))
def test_a_part_that_is_still_too_large_is_a_single_page(links: list[int], most: int) -> None:
    ends = np.append(0, np.cumsum(links))
    ranges = PageRanges(np.array([0, len(links)], np.int64))
    for attempt in range(MAX_SPLITS - 1):
        sizes = {part: int(ends[ranges.bounds[part + 1]] - ends[ranges.bounds[part]]) for part in range(ranges.count)}
        ranges = split_ranges(ranges, sizes, most, 1 << attempt)
    assert (np.diff(ranges.bounds) > 0).all() and ranges.bounds[[0, -1]].tolist() == [0, len(links)]
    large = np.diff(ends[ranges.bounds]) > most
    assert (np.diff(ranges.bounds)[large] == 1).all()


def window(links: list[int], place: int, size: int) -> list[int]:
    """What Proximity reads of a list, by the rule of `window_of` in `kernels/related/neighbourhood.py`."""
    if len(links) <= size + 1:
        return links
    return links[max(0, place - size // 2) : place + size // 2 + 1]


@given(
    size=st.integers(1, 9),
    lists=st.lists(st.lists(st.booleans(), min_size=11, max_size=40), max_size=4),
)
def test_windows_are_the_same(size: int, lists: list[list[bool]]) -> None:
    is_query = np.array([each for one in lists for each in one], np.bool_)
    starts = np.append(0, np.cumsum([len(one) for one in lists])).astype(np.int64)
    kept = in_windows(is_query, starts, size)
    for number, one in enumerate(lists):
        here = kept[starts[number] : starts[number + 1]]
        links = list(range(len(one)))
        left = [link for link in links if here[link]]
        for place in np.flatnonzero(one).tolist():
            assert window(left, left.index(place), size) == window(links, place, size)
        assert len(left) <= max(size + 2, sum(one) * (size + 1)), "no more than necessary"


def test_a_hub() -> None:
    is_query = np.zeros(10_000, np.bool_)
    is_query[[3, 5000]] = True
    kept = np.flatnonzero(in_windows(is_query, np.array([0, 10_000]), 8)).tolist()
    assert kept == [*range(8), *range(4996, 5005)]
