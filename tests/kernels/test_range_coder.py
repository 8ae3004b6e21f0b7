"""The range coder writes what one with numbers of any size writes, and reads it back."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cocite.kernels.codec.range_coder import (
    EVEN,
    NUMBER,
    WHOLE,
    begin_reading,
    end_writing,
    put_bit,
    put_number,
    put_place,
    put_raw,
    read_bit,
    read_number,
    read_place,
    read_raw,
    take_places,
)
from cocite.kernels.jit import lean_kernel

BIT, NUMBERED, RAW, PLACE = range(4)
CHANCES = 4
Step = tuple[int, int, int, int, int]  # kind, and up to four numbers


@lean_kernel
def write(steps, model, out):  # type: ignore[no-untyped-def]
    model[:] = EVEN
    coder = np.int64(0), np.int64(WHOLE), np.int64(0)
    for kind, a, b, c, _ in steps:
        if kind == BIT:
            coder = put_bit(out, model, coder, a, b)
        elif kind == NUMBERED:
            coder = put_number(out, model, coder, CHANCES, b)
        elif kind == RAW:
            coder = put_raw(out, coder, b, a)
        else:
            coder = put_place(out, coder, a, b, c)
    return end_writing(out, coder)


@lean_kernel
def read(units, steps, model):  # type: ignore[no-untyped-def]
    model[:] = EVEN
    coder, good = begin_reading(units), True
    for kind, a, b, c, _ in steps:
        if kind == BIT:
            value, coder = read_bit(units, model, coder, a)
        elif kind == NUMBERED:
            value, coder = read_number(units, model, coder, CHANCES)
        elif kind == RAW:
            value, coder = read_raw(units, coder, a)
        else:
            place = read_place(coder, c)
            value = b if a <= place < a + b else np.int64(-1)
            coder = take_places(units, coder, a, b, c)
        good = good and value == b
    return good and coder[2] == len(units)


def parts(steps: list[Step]) -> list[tuple[str, int, int, int]]:
    """Each decision: (its chance, the bit, 0, 0), or ("", first, size, total)."""
    found = list[tuple[str, int, int, int]]()
    for kind, a, b, c, _ in steps:
        if kind == BIT:
            found.append((f"bit {a}", b, 0, 0))
        elif kind == PLACE:
            found.append(("", a, b, c))
        else:
            value, bits = (b + 1, (b + 1).bit_length() - 1) if kind == NUMBERED else (b, a)
            if kind == NUMBERED:
                found += [(f"longer {k}", int(k < bits), 0, 0) for k in range(min(bits + 1, 32))]
                for k in range(min(bits, 3)):
                    found.append((f"{bits}: {value >> (bits - k)}", value >> (bits - k - 1) & 1, 0, 0))
                bits -= min(bits, 3)
            while bits:
                some = min(bits, 16)
                bits -= some
                found.append(("", value >> bits & ((1 << some) - 1), 1, 1 << some))
    return found


def literally(steps: list[Step]) -> list[int]:
    """The units, worked out with one number of all bits."""
    low, size, units, chances = 0, 1 << 48, 3, dict[str, tuple[int, int]]()
    for name, a, b, c in parts(steps):
        if name:
            zero, seen = chances.get(name, (1 << 21, 0))
            zeros, rate = (size >> 22) * zero, (1 << 17) // (2 * seen + 3)
            low, size = (low + zeros, size - zeros) if a else (low, zeros)
            chances[name] = zero + (-(zero * rate >> 16) if a else ((1 << 22) - zero) * rate >> 16), min(seen + 1, 255)
        else:
            low, size = low + size // c * a, size // c * b
        while size < 1 << 32:
            low, size, units = low << 16, size << 16, units + 1
    return [low >> 16 * (units - 1 - k) & 0xFFFF for k in range(units)]


bits = st.tuples(st.just(BIT), st.integers(0, CHANCES - 1), st.integers(0, 1), st.just(0), st.just(0))
numbers = st.one_of(st.integers(0, 20), st.integers(0, 2**32 - 1), st.just(2**33 - 2))
numbered = st.builds(lambda value: (NUMBERED, 0, value, 0, 0), numbers)
raw = st.integers(0, 56).flatmap(lambda n: st.builds(lambda value: (RAW, n, value, 0, 0), st.integers(0, 2**n - 1)))
totals = st.one_of(st.integers(1, 9), st.integers(2**32 - 9, 2**32 - 1))
places = totals.flatmap(
    lambda total: st.integers(0, total - 1).flatmap(
        lambda first: st.builds(lambda size: (PLACE, first, size, total, 0), st.integers(1, total - first))
    )
)
likely = st.builds(lambda bit, count: [(BIT, 0, bit, 0, 0)] * count, st.integers(0, 1), st.integers(1, 3000))
steps = st.lists(st.one_of(likely, st.lists(st.one_of(bits, numbered, raw, places), min_size=1)), max_size=12)


@settings(max_examples=300)
@given(steps)
def test_writes_what_is_right_and_reads_it(given_steps: list[list[Step]]) -> None:
    flat = [step for some in given_steps for step in some]
    rows, model = np.array(flat, np.int64).reshape(-1, 5), np.zeros(CHANCES + NUMBER, np.uint32)
    units = np.zeros(write(rows, model, np.zeros(0, np.uint16)), np.uint16)
    for room in (1, len(units) // 2, len(units) - 1):
        assert write(rows, model, np.zeros(room, np.uint16)) == len(units)  # the others are only counted
    assert write(rows, model, units) == len(units)
    assert units.tolist() == literally(flat)
    assert read(units, rows, model)


def test_a_carry_goes_through_units_that_are_full() -> None:
    """The last of 2^32 - 1 places, again and again, fills units with ones; what is left of the range overflows them."""
    flat: list[Step] = (
        [(PLACE, 2**32 - 2, 1, 2**32 - 1, 0)] * 9 + [(RAW, 16, 65535, 0, 0)] * 9 + [(BIT, 0, 1, 0, 0)] * 99
    )
    rows, model = np.array(flat, np.int64), np.zeros(CHANCES + NUMBER, np.uint32)
    units = np.zeros(200, np.uint16)
    count = write(rows, model, units)
    assert units[:count].tolist() == literally(flat)
    assert read(units[:count], rows, model)
