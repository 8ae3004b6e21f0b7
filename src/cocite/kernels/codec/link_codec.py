"""The code of link lists: both directions, order kept, blocks and flags folded in.

A list belongs to a page, its *base*. Each target is written as the distance from the target before it or from the base,
whichever is cheaper, upwards or downwards: four modes. With d the distance less one and L its bit length, a link is

    ┌───────────────────────────────┬────────────────┬ if `change`: ────────────────────────────┐
    │ Huffman code of the symbol    │ low bits of d  │ 1                       next block       │
    │ change << 8 | mode << 6 | L   │ L - 1 bits     │ 0, size (5), block + 1 (size), flags (8) │
    └───────────────────────────────┴────────────────┴──────────────────────────────────────────┘

The Huffman code is made for each store (see graph/huffman.py). `change` means that the attribute (attributes.py)
differs from that of the link before; "next block" keeps the flags. A sorted list (links in) is the same code without
changes. Streams are 64-bit words filled from the lowest bit. Our own code, because WebGraph's keeps neither page order
nor attributes: 3.9 bits per link of cnr-2000 in page order, where BVGraph takes 3.0 for sorted lists.
"""

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of, flags_of, pack
from cocite.kernels.instructions import byte_at, leading_zeros, unlikely, word_at
from cocite.kernels.jit import CHECKED, inline, kernel, lean_inline, lean_kernel

CHANGE = 1 << 8
SYMBOLS = 1 << 9
ESCAPE = SYMBOLS  # the symbol before an uncoded one
RAW_BITS = 9  # an escaped symbol
MASK = np.uint64((1 << 12) - 1)
DAMAGED = -1
NO_PAGE = 0xFFFFFFFF
MAX_BLOCK_BITS = 24
MAX_LINK_BITS = 12 + RAW_BITS + 62 + 14 + MAX_BLOCK_BITS  # of a link with its attributes, damaged or not

# A table that decodes links begins with a record for each value of the next bits of a stream: four numbers of 32 bits.
# Behind them is the table of the code. With the low bits of a distance behind the code, `low`, a target is
# origin + ADDEND + (low & LOW_MASK), or the complement of the latter if it is down. Other links are for `next_rare`.
QUICK_BITS = 10
QUICK_MASK = np.uint64((1 << QUICK_BITS) - 1)
ADDEND, LOW_MASK, OTHER_BIT, BYTES = range(4)
"""OTHER_BIT is the bit of `low` that says "next block", if the attribute changes; a 0 there is rare."""
USED, LINK_BITS, DOWN, FROM_PAGE = range(12, 16)
"""The bytes of BYTES, counted from the record: bits of the code and of the link; 255 for down; 1: not from previous."""
CODE_TABLE = 4 << QUICK_BITS
NEVER_SET, ALL_BUT_ONE = 2, 63  # after so many bits there is only one, and the second of one isn't set


def link_table(table: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The table for decoding links, made from that of a code (graph/huffman.py)."""
    some = table[: 1 << QUICK_BITS].astype(np.int64)
    symbol, used = some >> 4, some & 15
    length, down, change = symbol & 63, symbol >> 6 & 1, symbol >> 8 & 1
    rare = (symbol == ESCAPE) | (used == 0) | (used > QUICK_BITS) | (length > 31)
    low = np.where(rare, 0, np.maximum(length - 1, 0))
    first = np.where(length > 0, 1 << low, 0)  # the least distance of this length
    whole = used + low + change
    found = np.zeros((1 << QUICK_BITS, 4), np.int64)
    found[:, ADDEND] = np.where(down, -first, first + 1)
    found[:, LOW_MASK] = (1 << low) - 1
    found[:, OTHER_BIT] = np.where(rare, NEVER_SET, change << low)
    found[:, BYTES] = np.where(rare, ALL_BUT_ONE, used | whole << 8 | down * 255 << 16 | (symbol >> 7 & 1) << 24)
    return np.concatenate((found.astype(np.uint32).ravel(), table.astype(np.uint32)))


@lean_inline
def window(words, position):
    """The next 64 bits of a stream; the stream has a spare word at its end."""
    index = position >> 6
    shift = uint64(position & 63)
    return (words[index] >> shift) | ((words[index + 1] << uint64(1)) << (uint64(63) - shift))


@lean_inline
def short_window(words, position):
    """The next 57 bits of a stream, and up to 7 more: one load instead of two."""
    if CHECKED:
        words[(position >> 6) + 1]
    return word_at(words, position >> 3) >> uint64(position & 7)


@lean_inline
def next_link(words, table, position, page, previous, attribute):
    """(The bit after a link, its target, its attribute); -1 for no target.

    The usual link has no branch and three shifts: of these a processor does two at a time, and more of all others.
    """
    bits = short_window(words, position)
    at = (bits & QUICK_MASK) << uint64(2)
    low = bits >> (byte_at(table, at, USED) & uint64(63))
    other = uint64(table[at + uint64(OTHER_BIT)])
    if unlikely((other & ~low) != uint64(0)):
        return next_rare(words, table, position, page, previous, attribute)
    distance = np.int64(low & uint64(table[at + uint64(LOW_MASK)])) ^ np.int64(np.int8(byte_at(table, at, DOWN)))
    origin = page if byte_at(table, at, FROM_PAGE) != uint64(0) else previous
    target = origin + np.int64(np.int32(table[at])) + distance
    return position + np.int64(byte_at(table, at, LINK_BITS)), target, attribute + np.int64(other != uint64(0))


@lean_inline
def next_target(words, table, position, page, previous):
    """`next_link` without attributes: (the bit after a link, its target), at most MAX_LINK_BITS bits further on."""
    position, target, _ = next_link(words, table, position, page, previous, np.int64(0))
    return position, target


@lean_kernel
def next_rare(words, table, position, page, previous, attribute):
    """`next_link` of any link: a long code, an escaped symbol, a great distance, or not the next block."""
    bits = window(words, position)
    entry = np.int64(table[uint64(CODE_TABLE) + (bits & MASK)])
    symbol, used = entry >> 4, entry & 15
    if used == 0:
        return position, np.int64(-1), attribute
    if symbol == ESCAPE:
        symbol, used = np.int64(bits >> uint64(used)) & (SYMBOLS - 1), used + RAW_BITS
    length = symbol & 63
    low = max(length - 1, 0)
    first = uint64(length > 0) << uint64(low)
    distance = np.int64(((bits >> uint64(used)) & ((uint64(1) << uint64(low)) - uint64(1))) + first) + 1
    target = (page if symbol >> 7 & 1 else previous) + (-distance if symbol >> 6 & 1 else distance)
    position += used + low
    if symbol & CHANGE:
        if position >> 6 >= len(words) - 1:
            return position, np.int64(-1), attribute
        bits = short_window(words, position)
        width = np.int64((bits >> uint64(1)) & uint64(31))
        if bits & uint64(1):
            return position + 1, target, attribute + 1
        if width > MAX_BLOCK_BITS:
            return position, np.int64(-1), attribute
        block = np.int64((bits >> uint64(6)) & ((uint64(1) << uint64(width)) - uint64(1)))
        attribute = pack(block, np.int64((bits >> uint64(6 + width)) & uint64(255)))
        position += 14 + width
    return position, target, attribute


@inline
def put(words, position, pending, value, bits):
    """Append the low `bits` of `value`; `pending`, the unfinished word, stays in a register, which halves the time."""
    shift = position & 63
    pending |= value << uint64(shift)
    if shift + bits >= 64:
        words[position >> 6] = pending
        pending = (value >> uint64(1)) >> uint64(63 - shift)
    return position + bits, pending


@inline
def flush(words, position, pending):
    """Write the word that is not full."""
    if position & 63:
        words[position >> 6] = pending


@inline
def bit_length(value):
    """Bits of a number; 0 if it is negative."""
    return 64 - np.int64(leading_zeros(uint64(value))) if value > 0 else 0


@inline
def cheapest_step(base, previous, target, lengths, escape_cost):
    """The cheapest (mode, bit length, distance) for a target."""
    if target > previous:
        mode, distance = 0, target - previous - 1
    else:
        mode, distance = 1, previous - target - 1
    length = bit_length(distance)
    if base == previous:
        return mode, length, distance
    if target > base:
        mode2, distance2 = 2, target - base - 1
    else:
        mode2, distance2 = 3, base - target - 1
    length2 = bit_length(distance2)
    cost = length + (lengths[mode << 6 | length] or escape_cost)
    cost2 = length2 + (lengths[mode2 << 6 | length2] or escape_cost)
    if distance2 >= 0 and (distance < 0 or cost2 < cost):
        return mode2, length2, distance2
    return mode, length, distance


@kernel
def count_symbols(targets, attributes, starts, bases, lengths, counts):
    """Add the symbols of lists to `counts`; list i is targets[starts[i]:starts[i + 1]], unusable links are skipped."""
    escape_cost = lengths[ESCAPE] + RAW_BITS
    for i in range(len(starts) - 1):
        base = np.int64(bases[i])
        previous = base
        attribute = np.int64(0)
        for k in range(starts[i], starts[i + 1]):
            target = np.int64(targets[k])
            if target in (previous, base, NO_PAGE):
                continue
            mode, length, _ = cheapest_step(base, previous, target, lengths, escape_cost)
            symbol = mode << 6 | length
            if len(attributes) > 0 and np.int64(attributes[k]) != attribute:
                attribute = np.int64(attributes[k])
                symbol += CHANGE
            counts[symbol] += 1
            previous = target


@inline
def link_bits(codes, lengths, symbol, length, distance):
    """(The bits of a link, how many): at most 12 + 9 + 31. What changes its attribute is another piece, of 38."""
    if lengths[symbol] > 0:
        piece, bits = uint64(codes[symbol]), np.int64(lengths[symbol])
    else:
        bits = np.int64(lengths[ESCAPE])
        piece = uint64(codes[ESCAPE]) | uint64(symbol) << uint64(bits)
        bits += RAW_BITS
    if length > 1:
        piece |= uint64(distance - (np.int64(1) << (length - 1))) << uint64(bits)
        bits += length - 1
    return piece, bits


@kernel
def encode_lists(targets, attributes, starts, bases, codes, lengths, words, ends):
    """Write lists of distinct targets into `words`; list i ends at bit ends[i]. Without attributes, links are plain."""
    escape_cost = lengths[ESCAPE] + RAW_BITS
    position, pending = np.int64(0), uint64(0)
    for i in range(len(starts) - 1):
        base = np.int64(bases[i])
        previous = base
        attribute = np.int64(0)
        for k in range(starts[i], starts[i + 1]):
            target = np.int64(targets[k])
            mode, length, distance = cheapest_step(base, previous, target, lengths, escape_cost)
            symbol = mode << 6 | length
            changed = len(attributes) > 0 and np.int64(attributes[k]) != attribute
            if changed:
                symbol += CHANGE
            piece, bits = link_bits(codes, lengths, symbol, length, distance)
            position, pending = put(words, position, pending, piece, bits)
            if changed:
                new = np.int64(attributes[k])
                piece, bits = uint64(1), np.int64(1)
                block = block_of(new)
                if new != attribute + 1 or block == 0:
                    size = np.int64(bit_length(block))
                    piece = uint64(size << 1 | block << 6 | flags_of(new) << (6 + size))
                    bits = 14 + size
                position, pending = put(words, position, pending, piece, bits)
                attribute = new
            previous = target
        ends[i] = position
    flush(words, position, pending)
    return position
