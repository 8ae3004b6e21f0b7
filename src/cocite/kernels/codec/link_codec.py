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

from cocite.kernels.codec.attributes import block_of, flags_of
from cocite.kernels.instructions import leading_zeros, word_at
from cocite.kernels.jit import CHECKED, inline, kernel, lean_inline, lean_kernel

CHANGE = 1 << 8
SYMBOLS = 1 << 9
ESCAPE = SYMBOLS  # the symbol before an uncoded one
RAW_BITS = 9  # an escaped symbol
MASK = np.uint64((1 << 12) - 1)
DAMAGED = -1
NO_PAGE = 0xFFFFFFFF
MAX_LINK_BITS = 108  # of a link with its attributes, damaged or not: 64 + 44


# An entry of the table that decodes links has the bits of the code, from bit LOW_BITS on the low bits of the
# distance, from bit LAST_BIT on the last bit of the link, counted from 0, and then single bits.
LOW_BITS, LAST_BIT, CHANGES, RARE, FROM_PAGE, ONE_MORE, DOWN = 8, 16, 22, 23, 24, 30, 31


def _entry(symbol, used):  # of numbers or of arrays
    """The entry of a symbol whose code has `used` bits. If a link changes the attribute, "next block" is its last bit.

    A distance is 2^(L - 1) and the low bits, plus ONE_MORE unless L is 0. Down that is the complement, plus the rest.
    """
    length, down, change = symbol & 63, symbol >> 6 & 1, symbol >> 8 & 1
    some = (length > 0) * 1
    low = length - some
    last = (used + low + change - 1) & 63
    more = (some ^ down) << ONE_MORE | down << DOWN | (symbol >> 7 & 1) << FROM_PAGE | change << CHANGES
    return used | low << LOW_BITS | last << LAST_BIT | more


_entry_of = lean_inline(_entry)


def link_table(table: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The table of a code (graph/huffman.py) as links are decoded by it. Those without a code, or escaped, are RARE."""
    symbol, used = (table >> np.uint32(4)).astype(np.int64), (table & np.uint32(15)).astype(np.int64)
    rare = (symbol == ESCAPE) | (used == 0)
    found: NDArray[np.uint32] = np.where(rare, used | 1 << RARE, _entry(symbol, used)).astype(np.uint32)
    return found


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
def next_entry(words, position, table):
    """(The bits of the stream from a link on, the entry of its code)."""
    bits = short_window(words, position)
    return bits, np.int64(np.int32(table[bits & MASK]))


@lean_inline
def next_link(words, position, table):
    """`next_entry`, also of an escaped symbol. Its code has 0 bits if there is no such code."""
    bits, entry = next_entry(words, position, table)
    if entry >> RARE & 1:
        bits, used = window(words, position), entry & 63
        symbol = np.int64(bits >> uint64(used)) & ((1 << RAW_BITS) - 1)
        entry = np.int64(np.int32(_entry_of(symbol, used + RAW_BITS))) if used > 0 else np.int64(0)
    return bits, entry


@lean_inline
def target_of(bits, entry, page, previous):
    """The target of a link, without a branch."""
    low = uint64(entry >> LOW_BITS & 63)
    top = uint64(1) << low
    distance = np.int64((bits >> uint64(entry & 63) & (top - uint64(1))) + top)
    origin = page if entry >> FROM_PAGE & 1 else previous
    return origin + (distance ^ (entry >> DOWN)) + (entry >> ONE_MORE & 1)


@lean_inline
def next_target(words, table, position, page, previous):
    """(The bit after a link and its attributes, its target), at most MAX_LINK_BITS bits further on; -1 for no target.

    The next link waits for the place where it begins, so that is worked out first, and of the usual link alone.
    """
    bits, entry = next_entry(words, position, table)
    last = entry >> LAST_BIT & 63
    other_flags = ~np.int64(bits >> uint64(last))
    if (entry >> RARE & 1) | (entry >> CHANGES & other_flags & 1):
        return next_rare(words, table, position, page, previous)
    return position + last + 1, target_of(bits, entry, page, previous)


@lean_kernel
def next_rare(words, table, position, page, previous):
    """`next_target` of a link with an escaped symbol, or with an attribute that isn't the next block."""
    bits, entry = next_link(words, position, table)
    last = entry >> LAST_BIT & 63
    more = np.int64(bits >> uint64(last))
    position += last + 1 + ((13 + (more >> 1 & 31)) & -(entry >> CHANGES & ~more & 1))
    return position, target_of(bits, entry, page, previous) if entry & 63 else np.int64(-1)


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
