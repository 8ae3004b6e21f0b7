"""From keys to pages and from values to places."""

from __future__ import annotations

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocite.kernels.codec import look_up
from tests.kernels.encoded import callable_
from tests.kernels.test_hash_tables import array, fingerprints
from tests.kernels.test_name_codec import Names as Encoded
from tests.kernels.test_name_codec import key_lists

find_fingerprint = callable_(look_up.find_fingerprint)


def index_of(known: NDArray[np.uint64], starts: NDArray[np.uint32], pages: NDArray[np.uint32]) -> look_up.NameIndex:
    return look_up.NameIndex(Encoded([b"a"]).coded, known, starts, pages)


@given(key_lists, key_lists)
def test_keys_are_found(texts: list[bytes], others: list[bytes]) -> None:
    encoded = Encoded(texts)
    prints = array([xxhash.xxh64_intdigest(text, seed=42) for text in texts])
    starts, pages = np.zeros(5, np.int64), np.zeros(len(texts), np.uint32)
    look_up.fill_buckets(prints, 62, starts, pages)
    index = look_up.NameIndex(encoded.coded, prints, starts.astype(np.uint32), pages)
    truth = {text: i for i, text in enumerate(texts)}
    for text in [*texts, *others]:
        assert look_up.find_key(index, np.frombuffer(text, np.uint8), encoded.buffer) == truth.get(text, -1)


@given(
    st.lists(fingerprints, unique=True, min_size=1, max_size=60), st.integers(1, 6), st.lists(fingerprints, max_size=20)
)
def test_buckets_find_what_is_in_them(known: list[int], bits: int, others: list[int]) -> None:
    starts, pages = np.zeros((1 << bits) + 1, np.int64), np.zeros(len(known), np.uint32)
    assert look_up.fill_buckets(array(known), 64 - bits, starts, pages) == 0
    assert sorted(pages.tolist()) == list(range(len(known)))
    truth = {value: i for i, value in enumerate(known)}
    for value in [*known, *others]:
        found = find_fingerprint(index_of(array(known), starts.astype(np.uint32), pages), np.uint64(value))
        assert found == truth.get(value, -1)


def test_two_pages_with_one_fingerprint_are_noticed() -> None:
    starts, pages = np.zeros(3, np.int64), np.zeros(4, np.uint32)
    twins = array([5, 9, 7, 9])
    assert look_up.fill_buckets(twins, 63, starts, pages) == 1


@given(
    st.lists(st.integers(0, 2**32 - 1), min_size=5, max_size=5),
    st.lists(st.integers(0, 2**32 - 1), min_size=4, max_size=4),
)
def test_damaged_buckets_stay_in_bounds(starts: list[int], pages: list[int]) -> None:
    known = array([1, 2**62, 2**63, 2**64 - 1])
    for value in known:
        found = find_fingerprint(index_of(known, np.array(starts, np.uint32), np.array(pages, np.uint32)), value)
        assert -1 <= found < 4


@given(st.lists(st.integers(0, 2**32 - 1), unique=True).map(sorted), st.integers(0, 2**32 - 1))
def test_positions(values: list[int], other: int) -> None:
    truth = {value: i for i, value in enumerate(values)}
    for value in [*values, other]:
        assert look_up.find_position(np.array(values, np.uint32), value) == truth.get(value, -1)
