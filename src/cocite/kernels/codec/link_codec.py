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
from cocite.kernels.jit import CHECKED, inline, kernel, lean_inline

CHANGE = 1 << 8
SYMBOLS = 1 << 9
ESCAPE = SYMBOLS  # the symbol before an uncoded one
RAW_BITS = 9  # an escaped symbol
MASK = np.uint64((1 << 12) - 1)
DAMAGED = -1
NO_PAGE = 0xFFFFFFFF


def link_table(table: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The table of a code (graph/huffman.py) with the bits of a link, without its attributes, from bit 16 on.

    None has more than 52; damaged ones, whose targets don't exist, have up to 63, by which a word may be shifted.
    """
    length = (table >> np.uint32(4) & np.uint32(63)).astype(np.int64)
    size = np.minimum(63, (table & np.uint32(15)) + np.maximum(0, length - 1))
    found: NDArray[np.uint32] = table | size.astype(np.uint32) << np.uint32(16)
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
def next_link(words, position, table):
    """(The bits of the stream from a link on, its symbol, the bits of its code, and those without attributes).

    The last is 0 if there is no such code. Decoding waits for the place of the next link, so the table has the sum.
    """
    bits = short_window(words, position)
    entry = np.int64(table[bits & MASK])
    used, symbol, size = entry & 15, entry >> 4 & 1023, entry >> 16
    if symbol == ESCAPE:
        bits = window(words, position)
        symbol = np.int64((bits >> uint64(used)) & uint64((1 << RAW_BITS) - 1))
        used += RAW_BITS
        size = min(63, used + max(0, (symbol & 63) - 1))
    return bits, symbol, used, size


@lean_inline
def distance_of(bits, symbol, used):
    """The distance of a link from its origin, up or down, without a branch."""
    length = symbol & 63
    top = (np.int64(1) << length) >> 1  # 2^(L - 1), or 1/2 rounded down for L = 0
    low = np.int64(bits >> uint64(used)) & (top - np.int64(length != 0))
    down = -((symbol >> 6) & 1)
    return ((top + low + 1) ^ down) - down


@lean_inline
def origin_of(symbol, page, previous):
    """What the distance of a link counts from, without a branch."""
    return previous + ((page - previous) & -(symbol >> 7 & 1))


@lean_inline
def next_target(words, table, position, page, previous):
    """(The bit after a link and its attributes, its target). Arithmetic instead of branches, which none can predict."""
    bits, symbol, used, size = next_link(words, position, table)
    more = np.int64(bits >> uint64(size)) & 63
    change = 14 + (more >> 1)
    change += (1 - change) & -(more & 1)
    return position + size + (change & -(symbol >> 8)), origin_of(symbol, page, previous) + distance_of(
        bits, symbol, used
    )


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
            # A link is at most 12 + 9 + 31 bits, a change at most 38: one piece each.
            if lengths[symbol] > 0:
                piece, bits = uint64(codes[symbol]), np.int64(lengths[symbol])
            else:
                bits = np.int64(lengths[ESCAPE])
                piece = uint64(codes[ESCAPE]) | uint64(symbol) << uint64(bits)
                bits += RAW_BITS
            if length > 1:
                piece |= uint64(distance - (np.int64(1) << (length - 1))) << uint64(bits)
                bits += length - 1
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
