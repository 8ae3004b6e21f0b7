"""Instructions of the processor against Python's integers."""

from __future__ import annotations

from numba import njit
from numpy import uint64

from cocite.kernels import instructions

VALUES = [1, 2, 2**63, 2**64 - 1, 0x5555555555555555, 12345678901234567890]


@njit
def apply(word: int) -> tuple[int, int, int, int]:
    return (
        instructions.leading_zeros(word),
        instructions.trailing_zeros(word),
        instructions.count_ones(word),
        instructions.reversed_bytes(word),
    )


def test_instructions() -> None:
    for value in VALUES:
        leading, trailing = 64 - value.bit_length(), (value & -value).bit_length() - 1
        swapped = int.from_bytes(value.to_bytes(8, "little"), "big")
        assert apply(uint64(value)) == (leading, trailing, value.bit_count(), swapped)
