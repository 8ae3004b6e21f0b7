"""Fingerprints of many keys at once."""

from __future__ import annotations

from cocite.kernels.addresses.xxh64 import SEED, xxh64
from cocite.kernels.jit import kernel


@kernel
def hash_keys(data, offsets, fingerprints):
    """fingerprints[i] = XXH64 of data[offsets[i]:offsets[i + 1]]."""
    for i in range(len(fingerprints)):
        fingerprints[i] = xxh64(data, offsets[i], offsets[i + 1], SEED)
