"""Two hashes of names: XXH64, which is public, and SipHash, which nobody can aim.

XXH64 names a page in 64 bits: a page's fingerprint is the XXH64 of its key's UTF-8 bytes. Spark's built-in
`xxhash64(string)` computes the same, so both sides agree without exchanging a table. Kernels, which hash an address in
24 ns, can't call the `xxhash` package.

SipHash-1-3 with 128 bits (Aumasson & Bernstein 2012) needs a secret key, which a build draws. It hashes every address
that it reads with it. Whoever writes addresses doesn't know the key, so he can't choose two that have the same hash,
nor many that crowd a hash table. Nobody ever sees a hash either, so the variant of few rounds is enough, as in the hash
tables of Python and Rust.
"""

import secrets

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.jit import inline, kernel

FINGERPRINT_SEED = 42  # Spark's seed
HashKey = NDArray[np.uint64]  # two numbers
_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)


@inline
def _rotate(value, bits):
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


@inline
def _word(data, at, size):
    """The number in 4 or 8 bytes, little-endian; LLVM makes one load of it."""
    word = np.uint64(0)
    for i in range(size):
        word |= np.uint64(data[at + np.uintp(i)]) << np.uint64(8 * i)
    return word


@inline
def _round(state, word):
    return _rotate(state + word * _P2, 31) * _P1


@inline
def _avalanche(total):
    total = (total ^ total >> np.uint64(33)) * _P2
    total = (total ^ total >> np.uint64(29)) * _P3
    return total ^ (total >> np.uint64(32))


@inline
def hash_long(value, seed):
    """XXH64 of the eight little-endian bytes of an unsigned integer: an evenly spread order for page numbers."""
    total = np.uint64(seed) + _P5 + np.uint64(8)
    total ^= _round(np.uint64(0), np.uint64(value))
    return _avalanche(_rotate(total, 27) * _P1 + _P4)


@kernel
def xxh64(data, start, stop, seed):
    """XXH64 of `data[start:stop]`, an array of bytes."""
    seed, at, stop = np.uint64(seed), np.uintp(start), np.uintp(stop)
    length = stop - at
    if length >= np.uintp(32):
        one, two, three, four = seed + _P1 + _P2, seed + _P2, seed, seed - _P1
        while at + np.uintp(32) <= stop:
            one = _round(one, _word(data, at, 8))
            two = _round(two, _word(data, at + np.uintp(8), 8))
            three = _round(three, _word(data, at + np.uintp(16), 8))
            four = _round(four, _word(data, at + np.uintp(24), 8))
            at += np.uintp(32)
        total = _rotate(one, 1) + _rotate(two, 7) + _rotate(three, 12) + _rotate(four, 18)
        for state in (one, two, three, four):
            total = (total ^ _round(np.uint64(0), state)) * _P1 + _P4
    else:
        total = seed + _P5
    total += np.uint64(length)
    while at + np.uintp(8) <= stop:
        total = _rotate(total ^ _round(np.uint64(0), _word(data, at, 8)), 27) * _P1 + _P4
        at += np.uintp(8)
    if at + np.uintp(4) <= stop:
        total = _rotate(total ^ (_word(data, at, 4) * _P1), 23) * _P2 + _P3
        at += np.uintp(4)
    while at < stop:
        total = _rotate(total ^ (np.uint64(data[at]) * _P5), 11) * _P1
        at += np.uintp(1)
    return _avalanche(total)


@kernel
def hash_keys(data, offsets, fingerprints):
    """fingerprints[i] = XXH64 of data[offsets[i]:offsets[i + 1]]."""
    for i in range(len(fingerprints)):
        fingerprints[i] = xxh64(data, offsets[i], offsets[i + 1], FINGERPRINT_SEED)


def fingerprint_of(key: bytes) -> int:
    """XXH64 of one key."""
    found = np.empty(1, np.uint64)
    hash_keys(np.frombuffer(key, np.uint8), np.array([0, len(key)]), found)
    return int(found[0])


def new_key() -> HashKey:
    """A secret key, at random."""
    return np.frombuffer(secrets.token_bytes(16), np.uint64).copy()


@inline
def _sip_round(a, b, c, d):
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
        a, b, c, d = _sip_round(a, b, c, d)
        a ^= word
        at += np.uintp(8)
    shift = np.uint64(0)
    while at < stop:
        last |= np.uint64(data[at]) << shift
        shift += np.uint64(8)
        at += np.uintp(1)
    d ^= last
    a, b, c, d = _sip_round(a, b, c, d)
    a, c = a ^ last, c ^ np.uint64(0xEE)
    for _ in range(3):
        a, b, c, d = _sip_round(a, b, c, d)
    first, b = a ^ b ^ c ^ d, b ^ np.uint64(0xDD)
    for _ in range(3):
        a, b, c, d = _sip_round(a, b, c, d)
    return first, a ^ b ^ c ^ d


@kernel
def hash_all(data, offsets, key, first, second):
    """Both halves of the hash of each `data[offsets[i]:offsets[i + 1]]`; 0 where it is empty."""
    for i in range(len(first)):
        first[i] = second[i] = np.uint64(0)
        if offsets[i + 1] > offsets[i]:
            first[i], second[i] = siphash(data, offsets[i], offsets[i + 1], key)
