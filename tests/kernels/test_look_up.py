"""From keys to pages and from values to places."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.build.number import look_up_arrays
from cocite.kernels.codec import look_up
from cocite.pages.address import canonical
from cocite.pages.key import key
from tests.forged import all_forged, hash_of
from tests.kernels.test_hash_tables import array, fingerprints
from tests.kernels.test_name_codec import Names as Encoded
from tests.kernels.test_name_codec import key_lists

ORDERED, BY_NUMBER = (np.frombuffer(bytes([flag]), np.uint8) for flag in (1, 0))


class Index:
    """Names with an index."""

    def __init__(self, texts: list[bytes], ordered: bool, start_bits: int = 2) -> None:
        self.encoded = Encoded(texts)
        self.prints = array([xxhash.xxh64_intdigest(text, seed=42) for text in texts])
        starts, pages = np.zeros((1 << start_bits) + 1, np.int64), np.zeros(len(texts), np.uint32)
        self.twins = look_up.fill_buckets(self.prints, 64 - start_bits, starts, pages, 64 if ordered else 0)
        flag = ORDERED if ordered else BY_NUMBER
        self.index = look_up.NameIndex(self.encoded.coded, self.prints, starts.astype(np.uint32), pages, flag)

    def find(self, key: bytes) -> int:
        return int(look_up.find_key(self.index, np.frombuffer(key, np.uint8), self.encoded.buffer))


@given(key_lists, key_lists, st.booleans())
def test_keys_are_found(texts: list[bytes], others: list[bytes], ordered: bool) -> None:
    made, truth = Index(texts, ordered), {text: i for i, text in enumerate(texts)}
    assert made.twins == 0
    for text in [*texts, *others]:
        assert made.find(text) == truth.get(text, -1)


@pytest.mark.parametrize("ordered", [True, False])
def test_names_distinguish_pages_of_one_fingerprint(ordered: bool) -> None:
    victim = b"com,victim)"
    forged = [key(canonical(address)).encode() for address in islice(all_forged(hash_of("https://victim.com/")), 12)]
    texts = sorted([victim, *forged[:-1], b"com,a)", b"org,z)"])
    made = Index(texts, ordered)
    assert len(set(made.prints.tolist())) == 3 and made.twins == (11 if ordered else 0)
    assert [made.find(text) for text in texts] == list(range(len(texts)))
    assert made.find(forged[-1]) == -1, "an unknown address has the fingerprint of known ones"


@given(st.lists(fingerprints | st.integers(1, 9), min_size=1, max_size=60), st.integers(1, 6))
def test_buckets_are_in_order(known: list[int], bits: int) -> None:
    starts, pages = np.zeros((1 << bits) + 1, np.int64), np.zeros(len(known), np.uint32)
    twins = look_up.fill_buckets(array(known), 64 - bits, starts, pages, 64)
    assert pages.tolist() == sorted(range(len(known)), key=lambda page: (known[page], page))
    assert twins == len(known) - len(set(known))
    for bucket in range(1 << bits):
        assert all(known[page] >> (64 - bits) == bucket for page in pages[starts[bucket] : starts[bucket + 1]])


def test_crowded_buckets_are_sorted_too() -> None:
    """Somebody makes addresses for one bucket: it is sorted as a whole, not by comparing all with all."""
    random = np.random.default_rng(1)
    prints = np.concatenate([random.integers(0, 300, 2000), random.integers(0, 1 << 62, 50)]).astype(np.uint64)
    starts, pages, twins = look_up_arrays(prints)
    assert pages.tolist() == sorted(range(2050), key=lambda page: (prints[page], page))
    assert twins == 2050 - len(np.unique(prints)) and starts[1] == 2000
    _, by_number, _ = look_up_arrays(prints, ordered=False)
    assert by_number[: starts[1]].tolist() == sorted(pages[: starts[1]].tolist())


@given(
    st.lists(st.integers(0, 2**32 - 1), min_size=5, max_size=5),
    st.lists(st.integers(0, 2**32 - 1), min_size=4, max_size=4),
    st.booleans(),
)
def test_damaged_buckets_stay_in_bounds(starts: list[int], pages: list[int], ordered: bool) -> None:
    texts = [b"a", b"b", b"c", b"d"]
    made = Index(texts, ordered)
    made.index = made.index._replace(start=np.array(starts, np.uint32), page=np.array(pages, np.uint32))
    for text in texts:
        assert -1 <= made.find(text) < 4


@given(st.lists(st.integers(0, 2**32 - 1), unique=True).map(sorted), st.integers(0, 2**32 - 1))
def test_positions(values: list[int], other: int) -> None:
    truth = {value: i for i, value in enumerate(values)}
    for value in [*values, other]:
        assert look_up.find_position(np.array(values, np.uint32), value) == truth.get(value, -1)
