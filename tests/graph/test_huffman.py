"""Codes: complete, short enough, as good as they can be."""

from __future__ import annotations

import heapq
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.huffman import MAX_CODE_BITS, Code, limited_lengths

counts = st.lists(st.integers(0, 50) | st.integers(0, 10**9), min_size=1, max_size=60)


def huffman_cost(weights: list[int]) -> tuple[int, int]:
    """(bits, longest code) of an unlimited Huffman code, the shallowest of equals."""
    heap = [(weight, 0) for weight in weights if weight]
    heapq.heapify(heap)
    total = 0
    while len(heap) > 1:
        (a, depth_a), (b, depth_b) = heapq.heappop(heap), heapq.heappop(heap)
        total += a + b
        heapq.heappush(heap, (a + b, 1 + max(depth_a, depth_b)))
    return total, heap[0][1]


@given(counts)
def test_lengths_are_a_whole_code_and_the_best(weights: list[int]) -> None:
    lengths = limited_lengths(np.array(weights, np.int64)).tolist()
    used = [length for length, weight in zip(lengths, weights, strict=True) if weight]
    assert all(length == 0 for length, weight in zip(lengths, weights, strict=True) if not weight)
    if len(used) > 1:
        assert sum(Fraction(1, 2**length) for length in used) == 1, "Kraft's sum"
        assert 1 <= min(used) <= max(used) <= MAX_CODE_BITS
        cost, depth = huffman_cost(weights)
        mine = sum(length * weight for length, weight in zip(lengths, weights, strict=True))
        assert mine == cost if depth <= MAX_CODE_BITS else mine >= cost


def test_lengths_are_limited() -> None:
    # Fibonacci weights make the deepest tree: 30 symbols would need codes of 29 bits.
    weights = [1, 1]
    while len(weights) < 30:
        weights.append(weights[-1] + weights[-2])
    lengths = limited_lengths(np.array(weights, np.int64)).tolist()
    assert max(lengths) == MAX_CODE_BITS
    assert sum(Fraction(1, 2**length) for length in lengths) == 1
    assert lengths == sorted(lengths, reverse=True)


def test_as_many_symbols_as_there_are_codes() -> None:
    assert set(limited_lengths(np.ones(1 << MAX_CODE_BITS, np.int64)).tolist()) == {MAX_CODE_BITS}


def test_a_code_worked_out_by_hand() -> None:
    # Lengths 1, 2, 3, 3: codes 0, 10, 110, 111; stored with their first bit lowest: 0, 01, 011, 111.
    code = Code.from_lengths(np.array([3, 1, 3, 2], np.uint8))
    assert code.codes.tolist() == [0b011, 0b0, 0b111, 0b01]
    assert [int(code.table[bits]) for bits in (0b000, 0b001, 0b011, 0b111)] == [
        1 << 4 | 1,
        3 << 4 | 2,
        0 << 4 | 3,
        2 << 4 | 3,
    ]


@given(counts)
def test_every_code_decodes_to_its_symbol(weights: list[int]) -> None:
    code = Code.from_counts(np.array(weights, np.int64))
    assert len(code.lengths) == len(weights) + 1
    assert code.lengths[-1] > 0, "there is always an escape"
    for symbol, length in enumerate(code.lengths.tolist()):
        if length:
            for rest in (0, (1 << MAX_CODE_BITS) - 1):
                bits = (int(code.codes[symbol]) | rest << length) & ((1 << MAX_CODE_BITS) - 1)
                assert int(code.table[bits]) == symbol << 4 | length
    again = Code.from_lengths(code.lengths)
    assert np.array_equal(again.codes, code.codes)
    assert np.array_equal(again.table, code.table)


def test_rare_symbols_are_escaped() -> None:
    # Of 100,000 symbols, 12 are less than one in 2^13 = 8,192: not worth a code of 12 bits.
    code = Code.from_counts(np.array([100_000, 12, 13], np.int64))
    assert code.lengths.tolist() == [1, 0, 2, 2]


@pytest.mark.parametrize("weights", [[0], [0, 0, 0], [5], [0, 7, 0]])
def test_one_symbol_or_none(weights: list[int]) -> None:
    code = Code.from_counts(np.array(weights, np.int64))
    assert code.lengths.tolist() == [int(weight > 0) for weight in weights] + [1]


def test_unused_codes_are_damage() -> None:
    code = Code.from_lengths(np.array([2, 2, 0], np.uint8))
    assert code.codes.tolist() == [0b00, 0b10, 0], "00 and 01, first bit lowest"
    assert sum(int(entry) & 15 == 0 for entry in code.table) == len(code.table) // 2


@pytest.mark.parametrize("lengths", [[1, 1, 1], [13], [255, 1], [1, 2, 2, 12]])
def test_lengths_of_no_code_are_refused(lengths: list[int]) -> None:
    with pytest.raises(ValueError, match="prefix"):
        Code.from_lengths(np.array(lengths, np.uint8))
