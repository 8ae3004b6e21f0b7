"""Keyword relevance: worked examples, and every pair of random webs beside a slow truth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadParameter
from cocite.kernels.words.keyword_pairs import Rows
from cocite.words.relevance import MIN_CONFIDENCE_PAGES, Range, Relevance, count_relevance, cut, row_of
from tests.graph.webs import examples
from tests.words import naive_relevance as naive


def rows(lists: list[set[int]]) -> Rows:
    starts = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Rows(starts, np.array([column for each in lists for column in sorted(each)], np.uint32))


def relevance(pages: list[set[int]], links: list[set[int]] | None = None, words: int = 0) -> Relevance:
    vocabulary = words or max((max(page, default=-1) for page in pages), default=-1) + 1
    return count_relevance(rows(pages), vocabulary, rows(links or [set() for _ in pages]))


@st.composite
def webs(draw: st.DrawFn) -> tuple[list[set[int]], list[set[int]]]:
    count, words = draw(st.integers(1, 14)), draw(st.integers(1, 8))
    pages = draw(st.lists(st.sets(st.integers(0, words - 1), max_size=words), min_size=count, max_size=count))
    links = draw(st.lists(st.sets(st.integers(0, count - 1), max_size=4), min_size=count, max_size=count))
    return pages, [targets - {page} for page, targets in enumerate(links)]


def agree(found: Relevance, pages: list[set[int]], links: list[set[int]], alpha: float, beta: float) -> None:
    alike = naive.mixed(naive.support(pages), naive.mutual(pages), alpha)
    beside = naive.mutual if found.beside == "information" else naive.support
    leading = naive.mixed(beside(pages), naive.confidence(pages, links), beta)
    for a, b in alike:
        assert found.all_similar(a)[b] == pytest.approx(alike[a, b], abs=1e-9)
        assert found.all_led_to(a)[b] == pytest.approx(leading[a, b], abs=1e-9)
    for a in naive.vocabulary(pages):
        assert found.all_similar(a)[a] == found.all_led_to(a)[a] == 1.0


@given(
    webs(),
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    st.sampled_from([0.0, 0.5, 0.8, 1.0]),
    st.sampled_from(["support", "information"]),
)
@examples(80)
def test_every_pair_equals_the_definition(
    web: tuple[list[set[int]], list[set[int]]], alpha: float, beta: float, beside: str
) -> None:
    pages, links = web
    agree(replace(relevance(pages, links, 8), alpha=alpha, beta=beta, beside=beside), pages, links, alpha, beta)


@given(webs())
@examples(30)
def test_matrices_and_counts_agree_with_single_words(web: tuple[list[set[int]], list[set[int]]]) -> None:
    found, (pages, links) = relevance(*web, words=8), web
    for word in range(8):
        part = slice(*found.both.starts[word : word + 2].tolist())
        others, values = found.both.other[part].tolist(), found.similar[part].tolist()
        assert others == sorted(set(others)) and word not in others
        assert values == found.similar_to(word)[1].tolist() == found.all_similar(word)[others].tolist()
        leads = found.led_to_by(word)[0].tolist()
        assert leads == sorted(set(leads)) and word not in leads and set(others) <= set(leads)
        counted = linked(found, word)
        assert counted == {
            other: times
            for other in range(8)
            if other != word and sum(word in page for page in pages) >= 5
            if (times := sum(word in pages[p] and any(other in pages[q] for q in links[p]) for p in range(len(pages))))
        }


def linked(found: Relevance, word: int) -> dict[int, int]:
    row = row_of(found.pages_of, found.reached, len(found.frequency), word, MIN_CONFIDENCE_PAGES)
    return dict(zip(row.other.tolist(), row.times.tolist(), strict=True))


def test_an_airline_and_a_hotel() -> None:
    """The example of §3.3: four pages on airlines link to pages on hotels. By default confidence needs five pages."""
    airline, hotel, other = range(3)
    pages: list[set[int]] = [{airline}] * 4 + [{hotel}] * 5 + [{other}]
    links: list[set[int]] = [{4}, {5}, {6, 7}, {8}, *([set()] * 6)]
    by_default = replace(relevance(pages, links, 3), beta=0.0)
    assert by_default.all_led_to(airline)[hotel] == 0
    for least, expected in ((4, 1.0), (1, 1.0), (5, 0.0)):
        found = by_default.with_least_pages(least)
        assert found.all_led_to(airline)[hotel] == expected
        assert found.confidence == by_default.with_least_pages(least).confidence


def test_more_than_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[set[int]] = [{0, 1, 2}, {0, 1, 2}]
    monkeypatch.setattr("cocite.words.relevance.machine_bytes", lambda: 3 * 48)  # six pairs of eight bytes
    assert len(relevance(pages).both.other) == 6
    monkeypatch.setattr("cocite.words.relevance.machine_bytes", lambda: 3 * 48 - 3)
    with pytest.raises(BadParameter, match="--per-page"):
        relevance(pages)


def test_work_is_summed_up_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = rows([{0, 1}, set(), {1}, {0, 1, 2}]), rows([{0}, {0, 1, 2}, {1, 2}])
    whole = cut(left, right)
    for block in (1, 2, 3):
        monkeypatch.setattr("cocite.words.relevance.CHUNK_ROWS", block)
        assert cut(left, right) == whole


def test_information_instead_of_support() -> None:
    # As in the worked example; no links, so all of r_l is information.
    found = replace(relevance([{0, 1}, {0, 1}, {0, 2}, {0}]), beside="information")
    assert (found.all_led_to(0)[1], found.all_led_to(1)[2], found.all_led_to(2)[1]) == (0.0, 0.5, 0.5)
    assert found.all_led_to(1).tolist() == [0.0, 1.0, 0.5]


def test_a_worked_example() -> None:
    # Words 0 and 1 share two of four pages, 0 and 2 one; 1 and 2 never meet. Page 3 has 0 alone.
    found = relevance([{0, 1}, {0, 1}, {0, 2}, {0}])
    assert found.support == Range(0.0, 2 / 4)
    # 0 is on every page: nothing is to be learned from it. 1 and 2 avoid each other: cells 0, 2, 1, 1 of 4.
    apart = 2 / 4 * math.log((2 / 4) / (2 / 4 * 3 / 4))
    apart += 1 / 4 * math.log((1 / 4) / (2 / 4 * 1 / 4)) + 1 / 4 * math.log((1 / 4) / (2 / 4 * 3 / 4))
    assert found.mutual == Range(0.0, pytest.approx(apart))
    assert found.all_similar(0)[1] == 0.5 * 1 + 0.5 * 0
    assert found.all_similar(0)[2] == 0.5 * 0.5 + 0.5 * 0
    assert found.all_similar(1)[2] == 0.5 * 0 + 0.5 * 1
    assert not found.meet(1, 2)


def test_confidence_needs_five_pages() -> None:
    pages = [{0} for _ in range(5)] + [{1}, {2}]
    links = [{5}, {5}, {5}, {6}, set(), {0}, set()]
    found = relevance(pages, links)
    assert found.confidence == Range(0.0, 3 / 5)
    assert (found.all_led_to(0)[1], found.all_led_to(0)[2]) == (0.5 * 1, pytest.approx(0.5 * (1 / 5) / (3 / 5)))
    assert found.all_led_to(1)[0] == 0.0  # one page has it
    assert linked(relevance(pages[1:], [{t - 1 for t in each if t} for each in links[1:]]), 0) == {}


def test_several_links_of_one_page_count_once() -> None:
    pages = [{0} for _ in range(5)] + [{1}, {1}]
    links = [{5, 6}, set(), set(), set(), set(), set(), set()]
    assert linked(relevance(pages, links), 0) == {1: 1}


@pytest.mark.parametrize("pages", [[], [set()], [set(), set()], [{0}], [{0}, {0}]])
def test_no_pairs_at_all(pages: list[set[int]]) -> None:
    found = relevance(pages)
    assert found.support == found.mutual == found.confidence == Range(0.0, 0.0)
    assert len(found.similar) == 0
    if len(found.frequency):
        assert found.all_similar(0)[0] == 1.0


def test_all_pairs_alike() -> None:
    found = relevance([{0, 1}, {0, 1}])
    assert found.support == Range(1.0, 1.0)  # the only pair: at its least and at its most
    assert found.all_similar(0)[1] == 0.5 * 1 + 0.5 * 0  # always there, so there is nothing to learn


def test_words_on_no_page_are_ignored() -> None:
    few, many = relevance([{0, 1}, {1, 2}]), relevance([{0, 1}, {1, 2}], words=5000)
    assert (few.support, few.mutual) == (many.support, many.mutual)
    assert few.all_similar(0)[2] == many.all_similar(0)[2]
