"""XXH64, the hash that names a page in 64 bits.

A page's fingerprint is the XXH64 of its key's UTF-8 bytes under `SEED`, which is what Spark's built-in
`xxhash64(string)` computes, so both sides agree on every page without exchanging a table.
"""

from __future__ import annotations

import numpy as np

from cocite.kernels.jit import inline, kernel

SEED = 42  # Spark's seed

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)


@inline
def _rotate(value, bits):
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


@inline
def _word(data, at):
    """Eight bytes, little-endian; LLVM makes one load of it."""
    return (
        np.uint64(data[at])
        | np.uint64(data[at + np.uintp(1)]) << np.uint64(8)
        | np.uint64(data[at + np.uintp(2)]) << np.uint64(16)
        | np.uint64(data[at + np.uintp(3)]) << np.uint64(24)
        | np.uint64(data[at + np.uintp(4)]) << np.uint64(32)
        | np.uint64(data[at + np.uintp(5)]) << np.uint64(40)
        | np.uint64(data[at + np.uintp(6)]) << np.uint64(48)
        | np.uint64(data[at + np.uintp(7)]) << np.uint64(56)
    )


@inline
def _half(data, at):
    return (
        np.uint64(data[at])
        | np.uint64(data[at + np.uintp(1)]) << np.uint64(8)
        | np.uint64(data[at + np.uintp(2)]) << np.uint64(16)
        | np.uint64(data[at + np.uintp(3)]) << np.uint64(24)
    )


@inline
def _round(state, word):
    return _rotate(state + word * _P2, 31) * _P1


@inline
def _merge(total, state):
    return (total ^ _round(np.uint64(0), state)) * _P1 + _P4


@inline
def _avalanche(total):
    total ^= total >> np.uint64(33)
    total *= _P2
    total ^= total >> np.uint64(29)
    total *= _P3
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
    seed = np.uint64(seed)
    at = np.uintp(start)
    stop = np.uintp(stop)
    length = stop - at
    if length >= np.uintp(32):
        one, two, three, four = seed + _P1 + _P2, seed + _P2, seed, seed - _P1
        while at + np.uintp(32) <= stop:
            one = _round(one, _word(data, at))
            two = _round(two, _word(data, at + np.uintp(8)))
            three = _round(three, _word(data, at + np.uintp(16)))
            four = _round(four, _word(data, at + np.uintp(24)))
            at += np.uintp(32)
        total = _rotate(one, 1) + _rotate(two, 7) + _rotate(three, 12) + _rotate(four, 18)
        total = _merge(_merge(_merge(_merge(total, one), two), three), four)
    else:
        total = seed + _P5
    total += np.uint64(length)
    while at + np.uintp(8) <= stop:
        total = _rotate(total ^ _round(np.uint64(0), _word(data, at)), 27) * _P1 + _P4
        at += np.uintp(8)
    if at + np.uintp(4) <= stop:
        total = _rotate(total ^ (_half(data, at) * _P1), 23) * _P2 + _P3
        at += np.uintp(4)
    while at < stop:
        total = _rotate(total ^ (np.uint64(data[at]) * _P5), 11) * _P1
        at += np.uintp(1)
    return _avalanche(total)


def xxh64_in_python(data: bytes, seed: int = SEED) -> int:
    """The same without compilation, for the first few: 10 µs for a key."""
    mask = 0xFFFFFFFFFFFFFFFF
    p1, p2, p3, p4, p5 = (int(prime) for prime in (_P1, _P2, _P3, _P4, _P5))

    def rotate(value: int, bits: int) -> int:
        value &= mask
        return (value << bits | value >> (64 - bits)) & mask

    def enter(state: int, word: int) -> int:
        return rotate(state + word * p2, 31) * p1 & mask

    at = 0
    if len(data) >= 32:
        states = [seed + p1 + p2, seed + p2, seed, seed - p1]
        while at + 32 <= len(data):
            for i in range(4):
                states[i] = enter(states[i], int.from_bytes(data[at : at + 8], "little"))
                at += 8
        total = sum(rotate(state, bits) for state, bits in zip(states, (1, 7, 12, 18), strict=True))
        for state in states:
            total = (total ^ enter(0, state)) * p1 + p4 & mask
    else:
        total = seed + p5
    total += len(data)
    while at + 8 <= len(data):
        total = rotate(total ^ enter(0, int.from_bytes(data[at : at + 8], "little")), 27) * p1 + p4
        at += 8
    if at + 4 <= len(data):
        total = rotate(total ^ int.from_bytes(data[at : at + 4], "little") * p1, 23) * p2 + p3
        at += 4
    for byte in data[at:]:
        total = rotate(total ^ byte * p5, 11) * p1
    total &= mask
    total = (total ^ total >> 33) * p2 & mask
    total = (total ^ total >> 29) * p3 & mask
    return total ^ total >> 32
