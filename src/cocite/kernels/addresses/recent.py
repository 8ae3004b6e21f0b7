"""Tags of addresses by how they are written: an address that was read before needs no second reading.

Texts are compared by both halves of a hash with the secret key of a build (hashes.py): within a batch by all 128 bits,
in the table of recent addresses by 64 and by the bits of their line. What is read from memory at random places is asked
for some texts ahead.
"""

import numpy as np
from numba import uint64

from cocite.kernels.addresses.hashes import siphash
from cocite.kernels.hash_tables import LOW_HALF, table_size
from cocite.kernels.instructions import prefetch_item
from cocite.kernels.jit import kernel

LINE_ENTRIES = 4  # of two numbers each: 64 bytes, a cache line
GROUP_TEXTS = 32


@kernel
def number_texts(data, offsets, key, numbers, firsts, hashes):
    """Number the distinct texts `data[offsets[i]:offsets[i + 1]]` in order. Returns how many there are.

    numbers[i] is the number of text i, firsts[n] where text n is first, hashes[n] its hash.
    """
    slots, found = np.zeros(table_size(len(numbers)), np.uint64), np.int64(0)
    mask, group = uint64(len(slots) - 1), np.empty((GROUP_TEXTS, 2), np.uint64)
    for begin in range(0, len(numbers), GROUP_TEXTS):
        end = min(begin + GROUP_TEXTS, len(numbers))
        for i in range(begin, end):
            one, two = siphash(data, offsets[i], offsets[i + 1], key)
            group[i - begin, 0], group[i - begin, 1] = one, two
            prefetch_item(slots, np.int64(one & mask))
        for i in range(begin, end):
            one, two = group[i - begin, 0], group[i - begin, 1]
            slot, number = one & mask, found
            while slots[slot] != uint64(0):
                if (slots[slot] ^ one) <= LOW_HALF:  # half of one half is in the table
                    other = np.int64(slots[slot] & LOW_HALF) - 1
                    if hashes[other, 1] == two and hashes[other, 0] == one:
                        number = other
                        break
                slot = (slot + uint64(1)) & mask
            if number == found:
                hashes[found, 0], hashes[found, 1] = one, two
                firsts[found] = i
                found += 1
                slots[slot] = (one & ~LOW_HALF) | uint64(found)
            numbers[i] = number
    return found


@kernel
def recall_tags(hashes, table, tags):
    """tags[i] = the tag that the table has for a text with hash i, 0 if it has none.

    An entry is (half of the hash ^ tag, tag). Threads share the table without a lock: where two have written one entry
    at once, its numbers don't fit each other, and nobody finds it.
    """
    mask = uint64(len(table) // (2 * LINE_ENTRIES) - 1)
    for i in range(len(tags)):
        if i + GROUP_TEXTS < len(tags):
            prefetch_item(table, np.int64((hashes[i + GROUP_TEXTS, 0] & mask) * uint64(2 * LINE_ENTRIES)))
        line, tag = (hashes[i, 0] & mask) * uint64(2 * LINE_ENTRIES), uint64(0)
        for k in range(LINE_ENTRIES):
            entry = line + uint64(2 * k)
            kept = table[entry + uint64(1)]
            if kept != uint64(0) and table[entry] ^ kept == hashes[i, 1]:
                tag = kept
        tags[i] = tag


@kernel
def remember_tags(hashes, tags, table):
    """Enter the tags other than 0 of texts with these hashes. In a full line, one takes the place of another."""
    mask = uint64(len(table) // (2 * LINE_ENTRIES) - 1)
    for i in range(len(tags)):
        if tags[i] == uint64(0):
            continue
        line = (hashes[i, 0] & mask) * uint64(2 * LINE_ENTRIES)
        chosen = line + (hashes[i, 0] >> uint64(62)) * uint64(2)
        for k in range(LINE_ENTRIES):
            if table[line + uint64(2 * k + 1)] == uint64(0):
                chosen = line + uint64(2 * k)
                break
        table[chosen], table[chosen + uint64(1)] = hashes[i, 1] ^ tags[i], tags[i]
