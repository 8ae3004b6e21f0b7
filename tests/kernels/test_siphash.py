"""SipHash against a literal version, and that against its authors' test vectors, which are of 2 and 4 rounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.kernels.addresses.hashes import hash_all, new_key

MASK = (1 << 64) - 1


def slow_siphash(data: bytes, key: bytes, per_word: int = 1, at_end: int = 3) -> bytes:
    """SipHash with 128 bits, as Aumasson & Bernstein define it."""

    def rotate(value: int, bits: int) -> int:
        return (value << bits | value >> (64 - bits)) & MASK

    def rounds(count: int) -> None:
        a, b, c, d = state
        for _ in range(count):
            a, b = (a + b) & MASK, rotate(b, 13)
            b, a = b ^ a, rotate(a, 32)
            c, d = (c + d) & MASK, rotate(d, 16)
            d ^= c
            a, d = (a + d) & MASK, rotate(d, 21)
            d ^= a
            c, b = (c + b) & MASK, rotate(b, 17)
            b, c = b ^ c, rotate(c, 32)
        state[:] = a, b, c, d

    one, two = (int.from_bytes(key[at : at + 8], "little") for at in (0, 8))
    state = [one ^ 0x736F6D6570736575, two ^ 0x646F72616E646F6D, one ^ 0x6C7967656E657261, two ^ 0x7465646279746573]
    state[1] ^= 0xEE
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        state[3] ^= word
        rounds(per_word)
        state[0] ^= word
    state[2] ^= 0xEE
    rounds(at_end)
    first = state[0] ^ state[1] ^ state[2] ^ state[3]
    state[1] ^= 0xDD
    rounds(at_end)
    second = state[0] ^ state[1] ^ state[2] ^ state[3]
    return first.to_bytes(8, "little") + second.to_bytes(8, "little")


def hashed(texts: list[bytes], key: bytes) -> list[bytes]:
    """What the kernel makes of texts."""
    offsets = np.cumsum([0, *map(len, texts)])
    first, second = np.empty(len(texts), np.uint64), np.empty(len(texts), np.uint64)
    data = np.frombuffer(b"".join(texts), np.uint8)
    hash_all(data, offsets, np.frombuffer(key, np.uint64).copy(), first, second)
    return [one.tobytes() + two.tobytes() for one, two in zip(first, second, strict=True)]


VECTORS = {1: "da87c1d86b99af44347659119b22fc45", 2: "8177228da4a45dc7fca38bdef60affe4"}
VECTORS |= {8: "3b62a9ba6258f5610f83e264f31497b4", 15: "5493e99933b0a8117e08ec0f97cfc3d9"}
VECTORS |= {63: "5150d1772f50834a503e069a973fbd7c"}


@pytest.mark.parametrize("length", VECTORS)
def test_the_authors_vectors(length: int) -> None:
    data, key = bytes(range(length)), bytes(range(16))
    assert slow_siphash(data, key, 2, 4).hex() == VECTORS[length]
    assert hashed([data], key) == [slow_siphash(data, key)]


@given(st.lists(st.binary(max_size=80), max_size=6), st.binary(min_size=16, max_size=16))
def test_as_the_literal_version(texts: list[bytes], key: bytes) -> None:
    assert hashed(texts, key) == [slow_siphash(text, key) if text else bytes(16) for text in texts]


def test_every_key_is_new() -> None:
    assert len({new_key().tobytes() for _ in range(10)}) == 10
