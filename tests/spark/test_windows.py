"""What is kept of a list shows every window as the list itself does."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.spark.part_rows import shown


def window(links: list[int], place: int, size: int) -> list[int]:
    """What Proximity sees of a list, as `kernels/related/neighbourhood.window_of` has it."""
    if len(links) <= size + 1:
        return links
    return links[max(0, place - size // 2) : place + size // 2 + 1]


@given(
    size=st.integers(1, 9),
    lists=st.lists(st.lists(st.booleans(), min_size=11, max_size=40), max_size=4),
)
def test_windows_are_the_same(size: int, lists: list[list[bool]]) -> None:
    asked = np.array([each for one in lists for each in one], np.bool_)
    starts = np.append(0, np.cumsum([len(one) for one in lists])).astype(np.int64)
    kept = shown(asked, starts, size)
    for number, one in enumerate(lists):
        here = kept[starts[number] : starts[number + 1]]
        links = list(range(len(one)))
        left = [link for link in links if here[link]]
        for place in np.flatnonzero(one).tolist():
            assert window(left, left.index(place), size) == window(links, place, size)
        assert len(left) <= max(size + 2, sum(one) * (size + 1)), "no more than is needed"


def test_a_hub() -> None:
    asked = np.zeros(10_000, np.bool_)
    asked[[3, 5000]] = True
    kept = np.flatnonzero(shown(asked, np.array([0, 10_000]), 8)).tolist()
    assert kept == [*range(8), *range(4996, 5005)]
