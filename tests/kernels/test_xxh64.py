"""XXH64 against the reference library."""

from __future__ import annotations

import numpy as np
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from cocite.kernels.addresses.hashes import FINGERPRINT_SEED, fingerprint_of, hash_keys, hash_long, xxh64
from tests.kernels.encoded import callable_

UINT64 = st.integers(0, 2**64 - 1)


@given(st.binary(max_size=200), st.integers(0, 40), UINT64)
@settings(deadline=None)
def test_equals_the_reference(data: bytes, start: int, seed: int) -> None:
    start = min(start, len(data))
    array = np.frombuffer(data, np.uint8)
    assert int(xxh64(array, start, len(data), np.uint64(seed))) == xxhash.xxh64_intdigest(data[start:], seed)
    assert fingerprint_of(data) == xxhash.xxh64_intdigest(data, FINGERPRINT_SEED)


@given(st.lists(st.binary(max_size=70), max_size=20))
def test_every_key_has_its_own_hash(keys: list[bytes]) -> None:
    found = np.zeros(len(keys), np.uint64)
    hash_keys(np.frombuffer(b"".join(keys), np.uint8), np.cumsum([0, *map(len, keys)]), found)
    assert found.tolist() == [xxhash.xxh64_intdigest(key, seed=42) for key in keys]


@given(UINT64, UINT64)
@settings(deadline=None)
def test_of_an_integer(value: int, seed: int) -> None:
    expected = xxhash.xxh64_intdigest(value.to_bytes(8, "little"), seed)
    assert int(callable_(hash_long)(np.uint64(value), np.uint64(seed))) == expected


def test_equals_spark() -> None:
    """Spark's documentation of `xxhash64` gives 5602566077635097486 for `xxhash64('Spark', array(123), 2)`.

    Spark hashes column by column, the hash so far being the next seed: 'Spark' as UTF-8, 123 and 2 as integers, which
    take four bytes.
    """
    state = int(xxh64(np.frombuffer(b"Spark", np.uint8), 0, 5, FINGERPRINT_SEED))
    for number in (123, 2):
        four = np.frombuffer(number.to_bytes(4, "little"), np.uint8)
        state = int(xxh64(four, 0, 4, np.uint64(state)))
    assert state == 5602566077635097486
