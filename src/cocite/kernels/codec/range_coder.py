"""A range coder: decisions take as many bits as they are improbable, by a model that learns from earlier ones.

The coder divides a range of whole numbers in proportion to the probabilities of what may follow, keeps the part of what
does follow, and shifts 16 bits out of it while it is below 2^32. A *coder* is a tuple: when encoding (low, range, units
written), when decoding (code - low, range, units read).

A model is an array of *chances*: the probability of 0 in 22 bits, and how many decisions it has seen in 10 bits. Each
decision moves the probability towards what was decided, by 1/1.5, 1/2.5 … of the difference, down to 1/(LIMIT + 1.5).
There are two more ways to write: numbers, by their bit lengths, and places, all of which are equally probable.
Martin, "Range encoding", 1979; the decisions are those of LZMA, with a rate that falls.
"""

import numpy as np

from cocite.kernels.codec.link_codec import bit_length
from cocite.kernels.jit import lean_inline

UNIT_BITS, CODE_BITS, LOW_BITS = 16, 48, 32
WHOLE = 1 << CODE_BITS
"""The range at the beginning; it stays between 2^32 and this."""
LEAD_UNITS = CODE_BITS // UNIT_BITS  # units that a decoder reads ahead
CHANCE_BITS, COUNT_BITS = 22, 10
EVEN = 1 << (CHANCE_BITS - 1) << COUNT_BITS
"""The chance of a decision before anything is known."""
LIMIT = 255
RATES = ((1 << 17) // (2 * np.arange(1024) + 3)).astype(np.int64)
LENGTHS = 33  # bit lengths of a number plus 1
TOP_BITS = 3  # bits of a number after its first that are learnt
NUMBER = LENGTHS << TOP_BITS
"""Chances of a number: of its length at 8 L, and of its bits at 8 L + 1 … 7."""


@lean_inline
def learnt(chance, bit, limit):
    """A chance after a decision."""
    zero, seen = chance >> COUNT_BITS, chance & ((1 << COUNT_BITS) - 1)
    rate = RATES[seen]
    zero += -(zero * rate >> 16) if bit else ((1 << CHANCE_BITS) - zero) * rate >> 16
    return zero << COUNT_BITS | min(seen + 1, limit)


# ------------------------------------------------------------------------------------------------------------- writing


@lean_inline
def put_part(out, coder, first, size):
    """Keep a part of the range; units that don't fit into `out` are only counted."""
    low, whole, count = coder
    low, whole = low + first, size
    if low >= WHOLE:  # carry into what is written
        low -= WHOLE
        at = count - 1
        while 0 <= at < len(out) and out[at] == (1 << UNIT_BITS) - 1:
            out[at] = 0
            at -= 1
        if 0 <= at < len(out):  # those that don't fit are written again
            out[at] += np.uint16(1)
    while whole < 1 << LOW_BITS:
        if count < len(out):
            out[count] = low >> LOW_BITS
        low, whole, count = (low & ((1 << LOW_BITS) - 1)) << UNIT_BITS, whole << UNIT_BITS, count + 1
    return low, whole, count


@lean_inline
def put_bit(out, model, coder, at, bit, limit=LIMIT):
    """Write a decision of the chance model[at]."""
    chance = np.int64(model[at])
    zeros = (coder[1] >> CHANCE_BITS) * (chance >> COUNT_BITS)
    model[at] = learnt(chance, bit, limit)
    return put_part(out, coder, zeros if bit else np.int64(0), coder[1] - zeros if bit else zeros)


@lean_inline
def put_place(out, coder, first, size, total):
    """Write a range [first, first + size) of `total` places, below 2^32."""
    each = coder[1] // total
    return put_part(out, coder, first * each, size * each)


@lean_inline
def put_number(out, model, coder, at, value):
    """Write a number from 0 to 2^33 - 2, by the chances from model[at] on."""
    value += 1
    size = bit_length(value) - 1
    for k in range(min(size + 1, LENGTHS - 1)):
        coder = put_bit(out, model, coder, at + (k << TOP_BITS), k < size)
    node, left = np.int64(1), size
    while left > 0 and node < 1 << TOP_BITS:
        left -= 1
        bit = value >> left & 1
        coder = put_bit(out, model, coder, at + (size << TOP_BITS) + node, bit)
        node = node << 1 | bit
    return put_raw(out, coder, value & ((np.int64(1) << left) - 1), left)


@lean_inline
def put_raw(out, coder, value, bits):
    """Write a number of `bits` bits; all numbers are equally probable."""
    while bits > 0:
        some = min(bits, UNIT_BITS)
        bits -= some
        coder = put_place(
            out, coder, value >> bits & ((1 << UNIT_BITS) - 1 >> UNIT_BITS - some), 1, np.int64(1) << some
        )
    return coder


@lean_inline
def end_writing(out, coder):
    """Write what is left of the range; returns the number of units."""
    low, _, count = coder
    for k in range(LEAD_UNITS):
        if count < len(out):
            out[count] = low >> (LOW_BITS - UNIT_BITS * k) & ((1 << UNIT_BITS) - 1)
        count += 1
    return count


# ------------------------------------------------------------------------------------------------------------- reading
# Units beyond the end are read as 0: whoever reads compares the number of units read with those that there are.


@lean_inline
def begin_reading(units):
    """A decoder at the beginning."""
    code, count = np.int64(0), np.int64(0)
    while count < LEAD_UNITS:
        code, count = code << UNIT_BITS | next_unit(units, count), count + 1
    return code, np.int64(WHOLE), count


@lean_inline
def next_unit(units, at):
    """The unit at a place."""
    return np.int64(units[at]) if at < len(units) else np.int64(0)


@lean_inline
def read_part(units, code, whole, count):
    """A decoder whose range is a part of what it was."""
    while whole < 1 << LOW_BITS:
        code, whole, count = code << UNIT_BITS | next_unit(units, count), whole << UNIT_BITS, count + 1
    return code, whole, count


@lean_inline
def read_bit(units, model, coder, at, limit=LIMIT):
    """(A decision of the chance model[at], the decoder after it)."""
    code, whole, count = coder
    chance = np.int64(model[at])
    zeros = (whole >> CHANCE_BITS) * (chance >> COUNT_BITS)
    bit = code >= zeros
    model[at] = learnt(chance, bit, limit)
    if bit:
        code, whole = code - zeros, whole - zeros
    else:
        whole = zeros
    return np.int64(bit), read_part(units, code, whole, count)


@lean_inline
def read_place(coder, total):
    """The place of `total`, below 2^32, that was written. `take_places` must follow."""
    return min(coder[0] // (coder[1] // total), total - 1)


@lean_inline
def take_places(units, coder, first, size, total):
    """The decoder after the range [first, first + size) of `total` places."""
    code, whole, count = coder
    each = whole // total
    return read_part(units, min(code - first * each, size * each - 1), size * each, count)  # below it unless damaged


@lean_inline
def read_number(units, model, coder, at):
    """(A number, the decoder after it)."""
    size, more = np.int64(0), np.int64(1)
    while size < LENGTHS - 1:
        more, coder = read_bit(units, model, coder, at + (size << TOP_BITS))
        if not more:
            break
        size += 1
    node, left = np.int64(1), size
    while left > 0 and node < 1 << TOP_BITS:
        left -= 1
        bit, coder = read_bit(units, model, coder, at + (size << TOP_BITS) + node)
        node = node << 1 | bit
    top = node << left  # what was learnt begins with the number's first bit
    low, coder = read_raw(units, coder, left)
    return (top | low) - 1, coder


@lean_inline
def read_raw(units, coder, bits):
    """(A number of `bits` bits, the decoder after it)."""
    value = np.int64(0)
    while bits > 0:
        some = min(bits, UNIT_BITS)
        bits -= some
        total = np.int64(1) << some
        piece = read_place(coder, total)
        coder = take_places(units, coder, piece, np.int64(1), total)
        value = value << some | piece
    return value, coder
