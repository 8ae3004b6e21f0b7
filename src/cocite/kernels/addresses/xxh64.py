"""XXH64, the hash that names a page in 64 bits.

A page's fingerprint is the XXH64 of its key's UTF-8 bytes. Spark's built-in `xxhash64(string)` computes the same, so
both sides agree without exchanging a table. Kernels, which hash an address in 24 ns, can't call the `xxhash` package.
"""

import numpy as np

from cocite.kernels.jit import inline, kernel

FINGERPRINT_SEED = 42  # Spark's seed
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
