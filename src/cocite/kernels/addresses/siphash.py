"""SipHash-1-3 with 128 bits (Aumasson & Bernstein 2012): a hash that nobody can aim without its secret key.

A build draws a key, and hashes every address that it reads with it. Whoever writes addresses doesn't know the key, so
he can't choose two that have the same hash, nor many that crowd a hash table. Nobody ever sees a hash either, so the
variant of few rounds is enough, as in the hash tables of Python and Rust.
"""

import secrets

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.addresses.xxh64 import _rotate, _word
from cocite.kernels.jit import inline, kernel

HashKey = NDArray[np.uint64]  # two numbers


def new_key() -> HashKey:
    """A secret key, at random."""
    return np.frombuffer(secrets.token_bytes(16), np.uint64).copy()


@inline
def _round(a, b, c, d):
    a, c = a + b, c + d
    b, d = _rotate(b, 13) ^ a, _rotate(d, 16) ^ c
    a = _rotate(a, 32)
    c, a = c + b, a + d
    b, d = _rotate(b, 17) ^ c, _rotate(d, 21) ^ a
    return a, b, _rotate(c, 32), d


@inline
def siphash(data, start, stop, key):
    """Both halves of the hash of `data[start:stop]`, an array of bytes."""
    at, stop = np.uintp(start), np.uintp(stop)
    last = np.uint64(stop - at) << np.uint64(56)
    a, b = key[0] ^ np.uint64(0x736F6D6570736575), key[1] ^ np.uint64(0x646F72616E646F6D) ^ np.uint64(0xEE)
    c, d = key[0] ^ np.uint64(0x6C7967656E657261), key[1] ^ np.uint64(0x7465646279746573)
    while at + np.uintp(8) <= stop:
        word = _word(data, at, 8)
        d ^= word
        a, b, c, d = _round(a, b, c, d)
        a ^= word
        at += np.uintp(8)
    shift = np.uint64(0)
    while at < stop:
        last |= np.uint64(data[at]) << shift
        shift += np.uint64(8)
        at += np.uintp(1)
    d ^= last
    a, b, c, d = _round(a, b, c, d)
    a, c = a ^ last, c ^ np.uint64(0xEE)
    for _ in range(3):
        a, b, c, d = _round(a, b, c, d)
    first, b = a ^ b ^ c ^ d, b ^ np.uint64(0xDD)
    for _ in range(3):
        a, b, c, d = _round(a, b, c, d)
    return first, a ^ b ^ c ^ d


@kernel
def hash_all(data, offsets, key, first, second):
    """Both halves of the hash of each `data[offsets[i]:offsets[i + 1]]`; 0 where it is empty."""
    for i in range(len(first)):
        first[i] = second[i] = np.uint64(0)
        if offsets[i + 1] > offsets[i]:
            first[i], second[i] = siphash(data, offsets[i], offsets[i + 1], key)
