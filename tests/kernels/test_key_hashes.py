"""Fingerprints of many keys: each is xxhash's own."""

from __future__ import annotations

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from cocite.kernels.addresses.key_hashes import hash_keys


@given(st.lists(st.binary(max_size=70), max_size=20))
def test_every_key_has_its_own_hash(keys: list[bytes]) -> None:
    found = np.zeros(len(keys), np.uint64)
    hash_keys(np.frombuffer(b"".join(keys), np.uint8), np.cumsum([0, *map(len, keys)]), found)
    assert found.tolist() == [xxhash.xxh64_intdigest(key, seed=42) for key in keys]
