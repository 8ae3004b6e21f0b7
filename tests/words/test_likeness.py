"""Sim_s and Sim_l beside a slow truth, on random webs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.kernels.words.keyword_pairs import Rows
from cocite.words.likeness import Likeness, best_of
from tests.graph.webs import examples
from tests.related.methods.naive_zhao import NaiveZhao
from tests.words.test_relevance import relevance, rows, webs


def likeness(pages: list[set[int]], alpha: float = 0.5) -> Likeness:
    return Likeness(rows(pages), replace(relevance(pages, words=8), alpha=alpha))


@given(webs(), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
@examples(100)
def test_semantic_similarity_equals_its_definition(web: tuple[list[set[int]], list[set[int]]], alpha: float) -> None:
    pages, links = web
    found, truth = likeness(pages, alpha), NaiveZhao(pages, links, alpha)
    everything = np.arange(len(pages), dtype=np.uint32)
    for page in range(len(pages)):
        expected = [truth.semantic(page, other) for other in range(len(pages))]
        assert found.alike(page, everything).tolist() == pytest.approx(expected, abs=1e-8)
        assert found.alike(page, everything[:0]).tolist() == []


def test_worked_example() -> None:
    # Support only: (0, 1) stands on two of four pages, (1, 2) on one, which is the greatest and half of it.
    pages = [{0, 1}, {0, 1}, {1, 2}, {3}]
    found = likeness(pages, alpha=1.0)
    # 0 → 1 by r_s 1, 1 → 1; back 1 → 1, 2 → 1 by r_s 0.5: (1 + 1 + 1 + 0.5) / 4
    assert found.alike(0, np.array([1, 2, 3, 0], np.uint32)).tolist() == pytest.approx([1, 3.5 / 4, 0, 1])
    assert found.pairs(0, 2, 5) == [(0, 1, 1.0), (1, 1, 1.0)]


def test_pages_without_words() -> None:
    found = likeness([set(), set(), {1}])
    assert found.alike(0, np.array([0, 1, 2], np.uint32)).tolist() == [1, 0, 0]
    assert found.alike(2, np.array([0, 1, 2], np.uint32)).tolist() == [0, 0, 1]
    assert found.candidates(0, 1).tolist() == []
    assert found.candidates(0, 5).tolist() == [2]


@given(webs(), st.integers(1, 5), st.integers(0, 3))
@examples(100)
def test_candidates(web: tuple[list[set[int]], list[set[int]]], most: int, reach: int) -> None:
    pages, _ = web
    found = likeness(pages)
    for page in range(len(pages)):
        near = found.candidates(page, most, reach).tolist()
        assert near == sorted(set(near))
        assert len(near) <= max(most, len(pages) if len(pages) <= most else most)
        leading, values = found.leading(page, reach)
        assert pages[page] <= set(leading.tolist())
        assert all(value == 1 for word, value in zip(leading.tolist(), values, strict=True) if word in pages[page])
        if len(pages) > most:
            assert all(set(leading.tolist()) & pages[other] for other in near)
            # The page itself shares all its words: nothing can be better.
            assert not pages[page] or len(near) == most or page in near


def test_few_candidates_where_words_are_frequent() -> None:
    pages = [{0, k % 7 + 1} for k in range(14)]
    found = likeness(pages)
    assert set(found.candidates(0, 13, reach=0, postings=2).tolist()) == {0, 7}  # word 0 would lead to 14 more
    assert len(found.candidates(0, 13, reach=0, postings=16)) == 13


@given(webs())
@examples(30)
def test_a_table_that_is_too_small_is_filled_in_parts(web: tuple[list[set[int]], list[set[int]]]) -> None:
    import cocite.words.likeness as module

    pages, _ = web
    everything = np.arange(len(pages), dtype=np.uint32)
    whole = [likeness(pages).alike(page, everything).tolist() for page in range(len(pages))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_TABLE_VALUES", 1)
        patch.setattr(module, "MAX_CACHED_VALUES", 3)
        found = likeness(pages)
        assert [found.alike(page, everything).tolist() for page in range(len(pages))] == whole


def test_best_of() -> None:
    pages = np.array([9, 3, 7, 5], np.uint32)
    assert best_of(pages, np.array([1.0, 2.0, 2.0, 2.0]), 2).tolist() == [3, 5]
    assert best_of(pages, np.array([1.0, 2.0, 2.0, 2.0]), 9).tolist() == [3, 5, 7, 9]
    assert best_of(pages, np.ones(4), 0).tolist() == []
    assert Rows(np.zeros(1, np.int64), pages[:0]).columns.tolist() == []
