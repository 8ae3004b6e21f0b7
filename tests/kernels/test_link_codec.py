"""Link lists in bits: examples worked out by hand, and any list comes back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocite.graph.encode import encode
from cocite.graph.huffman import Code
from cocite.kernels.codec import link_codec
from cocite.kernels.codec import lists as reading
from cocite.kernels.codec.link_codec import DAMAGED, ESCAPE, SYMBOLS, link_table
from cocite.kernels.codec.lists import Lists, Place
from tests.graph.webs import examples
from tests.kernels.encoded import callable_

bit_length, decode_part = callable_(link_codec.bit_length), callable_(reading.decode_part)

NONE = np.zeros(0, np.uint32)
MAX_PAGES = 2**32 - 2
"""The most pages a store can have; the last one has number MAX_PAGES - 1."""


def code_of(lengths: dict[int, int]) -> Code:
    """A code with a few symbols only."""
    return Code.from_lengths(np.array([lengths.get(symbol, 0) for symbol in range(SYMBOLS + 1)], np.uint8))


def encoded(base: int, targets: list[int], attributes: list[int], code: Code) -> tuple[NDArray[np.uint64], int]:
    """One list as (words, bits)."""
    arrays = np.array(targets, np.uint32), np.array(attributes, np.uint32), np.array([0, len(targets)])
    words, bits, ends, _ = encode(*arrays, np.array([base], np.uint32), code)
    assert ends.tolist() == [bits]
    return words, bits


def stream(words: NDArray[np.uint64], code: Code, pages: int) -> Lists:
    """Lists of so many pages, without their offsets."""
    none = np.zeros(0, np.uint64)
    return Lists(words, none, none.astype(np.uint32), np.broadcast_to(np.uint32(0), pages), link_table(code.table))


def decoded(words: NDArray[np.uint64], bits: int, count: int, base: int, code: Code, pages: int = MAX_PAGES) -> object:
    """(targets, attributes) of one list, or DAMAGED."""
    targets, attributes = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    words = np.append(words[: (bits + 63) >> 6], np.uint64(0))
    place = Place(0, bits, base, 0)
    end = decode_part(stream(words, code, pages), base, place, count, targets, attributes, 0)
    return (targets.tolist(), attributes.tolist()) if end == bits else DAMAGED


def in_order(words: NDArray[np.uint64], bits: int) -> str:
    """Bits as they stand in the stream, first to last."""
    return "".join(str(int(words[i >> 6]) >> (i & 63) & 1) for i in range(bits))


def test_a_list_worked_out_by_hand() -> None:
    # Page 10 links to 12 and 11 in block 0, and to 21 in block 1: attributes 1, 1, 2.
    # Four codes of two bits, by symbol: 64 is 00, 257 is 01, 260 is 10, the escape (512) is 11.
    code = code_of({64: 2, 257: 2, 260: 2, ESCAPE: 2})
    words, bits = encoded(10, [12, 11, 21], [1, 1, 2], code)
    assert in_order(words, bits) == "".join(
        [
            "01",  # 12 = 10 + 1 + d, d = 1, L = 1, mode 0, changed: symbol 256 + 0 + 1 = 257; of d no further bits
            "1",  # attribute 0 + 1: the next block
            "00",  # 11 = 12 - 1 - d, d = 0, L = 0, mode 1: symbol 64 (mode 2 from the base needs the escape: dearer)
            "10",  # 21 = 11 + 1 + d, d = 9 = 1001, L = 4, mode 0, changed: symbol 256 + 0 + 4 = 260
            "100",  # the three low bits of 9 are 001, lowest first
            "1",  # attribute 1 + 1
        ]
    )
    assert int(words[0]) == 2 + 4 + 32 + 128 + 1024
    assert decoded(words, bits, 3, 10, code) == ([12, 11, 21], [1, 1, 2])


def test_an_escape_and_a_jump_worked_out_by_hand() -> None:
    # Page 5 links to 3 with flags 17 (nofollow 1, boilerplate 16) in block 4: attribute 17 << 24 | 5.
    code = code_of({0: 1, ESCAPE: 1})  # symbol 0 is 0, the escape is 1
    words, bits = encoded(5, [3], [17 << 24 | 5], code)
    assert in_order(words, bits) == "".join(
        [
            "1",  # the escape, for
            "100000101",  # 3 = 5 - 1 - d, d = 1, L = 1, mode 1, changed: 256 + 64 + 1 = 321 = 101000001, lowest first
            "0",  # not the next block
            "11000",  # block + 1 = 5 = 101 has three bits: 00011, lowest first
            "101",  # 5
            "10001000",  # 17 = 00010001
        ]
    )
    assert decoded(words, bits, 1, 5, code) == ([3], [17 << 24 | 5])


def test_the_cheaper_of_base_and_previous_is_taken() -> None:
    code = code_of(dict.fromkeys([mode << 6 | length for mode in range(4) for length in range(8)], 6) | {ESCAPE: 6})
    near_base, _ = encoded(1000, [500, 1001], [], code)
    # 500 = 1000 - 1 - 499 needs the escape (15 bits) and 8 of L = 9; 1001 = 1000 + 1 + 0 from the base: 6, not 15 + 8.
    assert encoded(1000, [500, 1001], [], code)[1] == 6 + 9 + 8 + 6
    assert decoded(near_base, 29, 2, 1000, code) == ([500, 1001], [0, 0])


attributes = st.one_of(
    st.just(0),
    st.integers(1, 4),
    st.integers(0, 2**24 - 1),
    st.builds(lambda f, b: f << 24 | b, st.integers(0, 255), st.integers(0, 9)),
)
small = st.integers(0, 300)
anywhere = st.integers(0, MAX_PAGES - 1) | st.sampled_from([0, 1, MAX_PAGES - 2, MAX_PAGES - 1, 2**31, 2**16])


@st.composite
def lists(draw: st.DrawFn) -> tuple[int, list[int], list[int]]:
    """(base, distinct targets without it, attributes)."""
    pages = draw(st.sampled_from([small, anywhere]))
    base = draw(pages)
    targets = draw(st.lists(pages.filter(lambda target: target != base), unique=True, max_size=40))
    return base, targets, draw(st.lists(attributes, min_size=len(targets), max_size=len(targets)))


@given(st.lists(lists(), min_size=1, max_size=5), st.sampled_from(["own", "flat", "none", "other"]))
def test_lists_come_back(some: list[tuple[int, list[int], list[int]]], kind: str) -> None:
    counts = np.zeros(SYMBOLS, np.int64)
    flat = np.full(SYMBOLS + 1, 6, np.uint8)
    for base, targets, attrs in some[:1] if kind == "other" else some:
        link_codec.count_symbols(
            np.array(targets, np.uint32), np.array(attrs, np.uint32), np.array([0, len(targets)]),
            np.array([base], np.uint32), flat, counts,
        )  # fmt: skip
    if kind == "flat":
        counts[:] = 1
    elif kind == "none":  # everything is escaped
        counts[:] = 0
    code = Code.from_counts(counts)
    for base, targets, attrs in some:
        words, bits = encoded(base, targets, attrs, code)
        assert decoded(words, bits, len(targets), base, code) == (targets, attrs)
        plain, plain_bits = encoded(base, targets, [], code)
        assert decoded(plain, plain_bits, len(targets), base, code) == (targets, [0] * len(targets))


@examples(40)
@given(lists(), st.integers(0, 39))
def test_decoding_can_begin_in_the_middle(one: tuple[int, list[int], list[int]], cut: int) -> None:
    base, targets, attrs = one
    cut = min(cut, len(targets))
    code = Code.from_counts(np.ones(SYMBOLS, np.int64))
    words, bits = encoded(base, targets, attrs, code)
    words = np.append(words[: (bits + 63) >> 6], np.uint64(0))
    found, found_attrs = np.zeros(len(targets), np.uint32), np.zeros(len(targets), np.uint32)
    one_list = stream(words, code, MAX_PAGES)
    middle = decode_part(one_list, base, Place(0, bits, base, 0), cut, found, found_attrs, 0)
    previous, attribute = (targets[cut - 1], attrs[cut - 1]) if cut else (base, 0)
    rest = len(targets) - cut
    end = decode_part(one_list, base, Place(middle, bits, previous, attribute), rest, found, found_attrs, cut)
    assert end == bits
    assert (found.tolist(), found_attrs.tolist()) == (targets, attrs)


@examples(60)
@given(lists(), st.integers(0, 63), st.integers(0, 200))
def test_damage_stays_in_bounds(one: tuple[int, list[int], list[int]], bit: int, word: int) -> None:
    base, targets, attrs = one
    code = Code.from_counts(np.ones(SYMBOLS, np.int64))
    words, bits = encoded(base, targets, attrs, code)
    if not bits:
        return
    pages = max([base, *targets]) + 1
    words[word % ((bits + 63) >> 6)] ^= np.uint64(1) << np.uint64(bit)
    found = decoded(words, bits, len(targets), base, code, pages)
    assert found == DAMAGED or all(target < pages for target in found[0])  # type: ignore[index]


@given(st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=20), st.integers(0, 100), st.integers(1, 1000))
def test_noise_stays_in_bounds(noise: list[int], count: int, pages: int) -> None:
    words = np.array(noise, np.uint64)
    targets, attrs = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    stop = (len(words) - 1) * 64
    for code in (Code.from_counts(np.ones(SYMBOLS, np.int64)), code_of({ESCAPE: 1}), code_of({})):
        end = decode_part(stream(words, code, pages), 0, Place(0, stop, 0, 0), count, targets, attrs, 0)
        assert DAMAGED <= end <= stop
        assert (targets < pages).all()


@pytest.mark.parametrize("value", [0, 1, 2, 3, 4, 15, 16, 255, 256, 65535, 65536, 2**24 - 1, 2**31, 2**32 - 1])
def test_bit_length(value: int) -> None:
    assert bit_length(np.int64(value)) == value.bit_length()


def test_unusable_links_are_not_counted() -> None:
    counts = np.zeros(SYMBOLS, np.int64)
    targets = np.array([7, 7, 5, 0xFFFFFFFF, 8], np.uint32)
    link_codec.count_symbols(
        targets, NONE, np.array([0, 5]), np.array([5], np.uint32), np.full(SYMBOLS + 1, 6, np.uint8), counts
    )
    assert {symbol: count for symbol, count in enumerate(counts.tolist()) if count} == {
        1: 1,  # 7 = 5 + 1 + 1: d = 1, L = 1
        0: 1,  # 8 = 7 + 1 + 0; the second 7, the page itself and "no page" are left out
    }
