"""Instantaneous codes of natural numbers in a stream of bits: unary, γ, δ, ζ, Golomb, nibble, π.

These are the codes of WebGraph's files, in either bit order: *big* takes a byte's bits from the highest down (the Java
tools, and by default the Rust tools), *little* from the lowest up (the Rust tools' `endianness=little`).

Nearly every code opens with zeros ended by a one, and their number says how much follows. No number of 2^56 or more is
ever needed, so one window of 64 bits, of which at least 57 are valid, has what follows. The data counts as followed by
zeros, which begin no code: reading there gives `DAMAGED`, never a wrong place in memory.
"""

# Numba types these functions; mypy cannot follow its intrinsics.
# mypy: ignore-errors

import numpy as np

from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.instructions import leading_zeros, reversed_bytes, trailing_zeros
from cocite.kernels.jit import inline, kernel

# A code is one number: its kind, LITTLE if so, and its parameter (ζ, Golomb, π) times PARAMETER. The kinds are numbered
# as in WebGraph, whose 4, the skewed Golomb code, no part of a graph may use.
DELTA, GAMMA, GOLOMB, UNARY, ZETA, NIBBLE, PI = 1, 2, 3, 5, 6, 7, 8
KIND = 15
LITTLE = 16
PARAMETER = 32

MAX_BITS = 56
_ZERO, _ONE, _FOUR, _EMPTY = np.int64(0), np.int64(1), np.int64(4), np.uint64(0)


@inline
def zeros_before_one(word, little):
    """The zeros before the first one of a window that has one."""
    return np.int64(trailing_zeros(word)) if little else np.int64(leading_zeros(word))


@inline
def peek(data, position, little):
    """The bits from `position` on, at least 57 of them: the next one is the lowest bit if little, else the highest."""
    at = np.uintp(position >> 3)
    word = np.uint64(0)
    if at + np.uintp(8) <= np.uintp(data.size):
        for i in range(8):  # LLVM makes one load of it
            word |= np.uint64(data[at + np.uintp(i)]) << np.uint64(8 * i)
    else:
        for i in range(8):
            if at + np.uintp(i) < np.uintp(data.size):
                word |= np.uint64(data[at + np.uintp(i)]) << np.uint64(8 * i)
    skip = np.uint64(position & 7)
    return word >> skip if little else reversed_bytes(word) << skip


@inline
def take(word, skip, width, little):
    """The number in `width` bits of a window after the first `skip`; both together are at most 63."""
    if little:
        return np.int64((word >> np.uint64(skip)) & ~(~_EMPTY << np.uint64(width)))
    return np.int64(((word << np.uint64(skip)) >> np.uint64(1)) >> np.uint64(63 - width))


@inline
def read_unary(data, position, little):
    """Zeros up to the next one: (their number or DAMAGED, the position after the one)."""
    start = position
    while True:
        word = peek(data, position, little)
        if word != _EMPTY:
            position += zeros_before_one(word, little)
            return position - start, position + 1
        position += 64 - (position & 7)
        if position >= 8 * data.size:
            return np.int64(DAMAGED), position


@inline
def read_digits(data, position, width, little):
    """The number whose successor has these `width` binary digits after the first: the end of γ, δ and π."""
    if width < 0 or width > MAX_BITS:
        return np.int64(DAMAGED), position
    digits = take(peek(data, position, little), _ZERO, width, little)
    return (_ONE << width) + digits - 1, position + width


@inline
def read_gamma(data, position, little):
    """γ: the number of binary digits of value + 1 after the first in unary, then those digits."""
    word = peek(data, position, little)
    if word != _EMPTY:
        width = zeros_before_one(word, little)
        if width <= 28:  # this window holds all of the code
            return (_ONE << width) + take(word, width + 1, width, little) - 1, position + 2 * width + 1
    width, position = read_unary(data, position, little)
    return read_digits(data, position, width, little)


@inline
def read_minimal(data, position, width, short, little):
    """Minimal binary: `width` bits for a number below `short`, one bit more for the others."""
    word = peek(data, position, little)
    value = take(word, _ZERO, width, little)
    if value < short:
        return value, position + width
    return (value << 1) + take(word, width, _ONE, little) - short, position + width + 1


@inline
def read_zeta(data, position, k, little):
    """ζ of parameter k: a group h of k binary digits in unary, then value + 1 - 2^(hk) in minimal binary."""
    group, position = read_unary(data, position, little)
    if group < 0 or group > MAX_BITS or (group + 1) * k > MAX_BITS:
        return np.int64(DAMAGED), position
    left = _ONE << (group * k)
    value, position = read_minimal(data, position, (group + 1) * k - 1, left, little)
    return value + left - 1, position


@inline
def read_golomb(data, position, modulus, little):
    """Golomb: the quotient in unary, then the remainder in minimal binary."""
    quotient, position = read_unary(data, position, little)
    if quotient < 0 or quotient >> 40:
        return np.int64(DAMAGED), position
    width = 63 - np.int64(leading_zeros(np.uint64(modulus)))
    value, position = read_minimal(data, position, width, (_ONE << (width + 1)) - modulus, little)
    return quotient * modulus + value, position


@inline
def read_nibbles(data, position):
    """Nibbles: three binary digits each, behind a bit that is one for the last. Big only: the Rust tools have none."""
    value = np.int64(0)
    for _ in range(MAX_BITS // 3):
        nibble = take(peek(data, position, False), _ZERO, _FOUR, False)
        value = value << 3 | nibble & 7
        position += 4
        if nibble & 8:
            return value, position
    return np.int64(DAMAGED), position


@inline
def read_pi(data, position, k, little):
    """π of parameter k: how many digits follow in Rice code (high part in unary, k low bits plain), then the digits."""
    high, position = read_unary(data, position, little)
    if high < 0 or high > MAX_BITS:
        return np.int64(DAMAGED), position
    width = (high << k) + take(peek(data, position, little), _ZERO, k, little)
    return read_digits(data, position + k, width, little)


@kernel
def read_number(data, position, code):
    """The number at `position`, or DAMAGED, and the position after it. That may be past the end: check the last one."""
    kind = code & KIND
    little = code & LITTLE != 0
    if kind == GAMMA:
        return read_gamma(data, position, little)
    if kind == ZETA:
        return read_zeta(data, position, code // PARAMETER, little)
    if kind == UNARY:
        return read_unary(data, position, little)
    if kind == DELTA:
        width, position = read_gamma(data, position, little)
        return read_digits(data, position, width, little)
    if kind == NIBBLE:
        return read_nibbles(data, position)
    if kind == GOLOMB:
        return read_golomb(data, position, code // PARAMETER, little)
    return read_pi(data, position, code // PARAMETER, little)
