"""From keys to pages and from values to places."""

from __future__ import annotations

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from cocite.kernels.addresses import hashing
from cocite.kernels.codec import look_up
from tests.kernels.encoded import callable_
from tests.kernels.test_hash_tables import array
from tests.kernels.test_name_codec import Names as Encoded
from tests.kernels.test_name_codec import key_lists


@given(key_lists, key_lists)
def test_keys_are_found(texts: list[bytes], others: list[bytes]) -> None:
    encoded = Encoded(texts)
    prints = array([xxhash.xxh64_intdigest(text, seed=42) for text in texts])
    starts, pages = np.zeros(5, np.int64), np.zeros(len(texts), np.uint32)
    hashing.count_buckets(prints, 62, starts)
    hashing.fill_buckets(prints, 62, starts, pages)
    index = look_up.NameIndex(encoded.coded, prints, starts.astype(np.uint32), pages)
    truth = {text: i for i, text in enumerate(texts)}
    for text in [*texts, *others]:
        assert look_up.find(index, np.frombuffer(text, np.uint8), encoded.buffer) == truth.get(text, -1)


def test_bucket_bits() -> None:
    assert [callable_(look_up.bucket_bits)(starts) for starts in (3, 5, 9, 1025)] == [1, 2, 3, 10]


@given(st.lists(st.integers(0, 2**32 - 1), unique=True).map(sorted), st.integers(0, 2**32 - 1))
def test_positions(values: list[int], other: int) -> None:
    truth = {value: i for i, value in enumerate(values)}
    for value in [*values, other]:
        assert look_up.find_position(np.array(values, np.uint32), value) == truth.get(value, -1)
