"""Parts of the default method's kernels against literal versions. tests/related/methods/ compares the whole."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.kernels.related.likeness import best_pages
from cocite.kernels.related.neighbourhood import NearPages, merge_members
from cocite.kernels.words.word_vectors import nth_greatest
from cocite.related.neighbourhood.view import Numbered

PAGES = 40
pages = st.integers(0, PAGES - 1)


@given(st.lists(pages, unique=True, max_size=30), st.dictionaries(pages, pages, max_size=PAGES))
def test_near_duplicates_among_members_are_merged(members: list[int], near: dict[int, int]) -> None:
    """With fewer and with more near-duplicates than members: these are searched in different ways."""
    stored = NearPages(np.array(sorted(near), np.uint32), np.array([near[page] for page in sorted(near)], np.uint32))
    for each in stored:
        each.flags.writeable = False
    numbered = Numbered(len(members), np.array(members, np.uint32))
    merged, numbers, found = merge_members(stored, numbered.set, numbered.count, PAGES)
    represented = [near.get(page, page) for page in members]
    truth = list(dict.fromkeys(represented))
    assert found.tolist() == truth
    assert numbers.tolist() == [truth.index(page) for page in represented]
    assert merged.members[: len(found)].tolist() == truth


@given(st.lists(st.integers(0, 6).map(lambda n: n / 3), max_size=30), st.integers(0, 8))
def test_the_best_values_are_chosen_without_some_of_equal_ones(values: list[float], most: int) -> None:
    found = best_pages(np.array(values), most)
    after = sorted(values, reverse=True)[most] if len(values) > most else 0.0
    assert found.tolist() == ([i for i, value in enumerate(values) if value > after] if most else [])


@given(st.lists(st.integers(0, 9).map(float), min_size=1, max_size=60), st.data())
def test_the_nth_greatest_value_is_found(values: list[float], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(values)))
    assert nth_greatest(np.array(values), n) == sorted(values, reverse=True)[n - 1]
