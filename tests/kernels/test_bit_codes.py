"""The codes, against codewords worked out by hand and against a literal writer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocite.kernels.codec import bit_codes
from cocite.kernels.codec.bit_codes import DAMAGED, LITTLE, PARAMETER, read_number
from tests.sources.bvgraph_writer import encode, packed

CODES = [
    "UNARY",
    "GAMMA",
    "DELTA",
    "NIBBLE",
    *(f"{kind}{k}" for kind in ("ZETA", "GOLOMB", "PI") for k in (1, 2, 3, 5)),
]

BY_HAND = [
    ("UNARY", 0, "1"),
    ("UNARY", 5, "000001"),
    ("GAMMA", 0, "1"),
    ("GAMMA", 1, "010"),
    ("GAMMA", 2, "011"),
    ("GAMMA", 6, "00111"),
    ("DELTA", 0, "1"),
    ("DELTA", 1, "0100"),
    ("DELTA", 7, "00100000"),
    ("ZETA3", 0, "100"),  # 1 in the range [1, 8): the one codeword of two bits
    ("ZETA3", 1, "1010"),
    ("ZETA3", 6, "1111"),
    ("ZETA3", 7, "0100000"),
    ("ZETA1", 6, "00111"),  # ζ of 1 is γ
    ("GOLOMB3", 0, "10"),  # remainders 0, 1, 2 are 0, 10, 11
    ("GOLOMB3", 7, "00110"),
    ("NIBBLE", 0, "1000"),
    ("NIBBLE", 8, "00011000"),  # octal 10
    ("PI2", 3, "11000"),  # two digits more: 1 (unary 0), 10 (two low bits), 00
    ("PI2", 20, "01000101"),
]


def code_number(name: str, little: bool = False) -> int:
    kind = name.rstrip("0123456789")
    return getattr(bit_codes, kind) + PARAMETER * int(name[len(kind) :] or 0) + (LITTLE if little else 0)


def read(bits: str, code: int, position: int = 0, little: bool = False) -> tuple[int, int]:
    value, after = read_number(np.frombuffer(packed(bits, little), np.uint8), position, code)
    return int(value), int(after)


@pytest.mark.parametrize(("name", "value", "bits"), BY_HAND)
def test_codewords_by_hand(name: str, value: int, bits: str) -> None:
    assert encode(value, name, 0) == bits
    assert read(bits, code_number(name)) == (value, len(bits))


@given(
    st.lists(st.tuples(st.sampled_from(CODES), st.integers(0, 40) | st.integers(0, 2**14)), min_size=1, max_size=12),
    st.booleans(),
    st.integers(0, 70),
)
@settings(max_examples=150, deadline=None)
def test_numbers_come_back(numbers: list[tuple[str, int]], little: bool, before: int) -> None:
    little = little and not any(name.startswith("NIBBLE") for name, _ in numbers)
    words = [encode(value, name, 0, little) for name, value in numbers]
    stream = "1" * before + "".join(words)
    position = before
    for (name, value), word in zip(numbers, words, strict=True):
        assert read(stream, code_number(name, little), position, little) == (value, position + len(word))
        position += len(word)


@given(
    st.sampled_from([code for code in CODES if code[:2] not in ("UN", "GO")]), st.integers(0, 2**52), st.integers(0, 9)
)
@settings(max_examples=100, deadline=None)
def test_large_numbers_come_back(name: str, value: int, before: int) -> None:
    word = encode(value, name, 0)
    assert read("0" * before + word, code_number(name), before) == (value, before + len(word))


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("little", [False, True])
def test_nothing_but_zeros_is_damage(name: str, little: bool) -> None:
    for size in (0, 1, 7, 8, 9, 100):
        for position in (0, 3, 8 * size, 8 * size + 1000):
            value, _ = read_number(np.frombuffer(bytes(size), np.uint8), position, code_number(name, little))
            assert value == DAMAGED


@pytest.mark.parametrize("name", ["GAMMA", "DELTA", "ZETA3", "PI2"])
def test_an_implausibly_large_number_is_damage(name: str) -> None:
    bits = encode(2**58, name, 0)
    assert read(bits, code_number(name))[0] == DAMAGED
