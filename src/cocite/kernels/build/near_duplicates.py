"""Pages with nearly the same links, without comparing all pairs.

Two pages with more than 10 links each are near-duplicates if the links they share are at least 95 % of the longer list.
Two lists of up to 19 links must then be equal, which a hash of the set tells. Else, a page of d links shares at
least d - m of them with any partner, m = the whole part of d / 20; so if every page orders its links by one rule,
rarest first, partners share a link among the first m + 1 of each (prefix filtering). Only pages that share such a link,
agree in length and in a 64-bit sketch of their links are compared. Of more than WINDOW pages with one such link, each
is compared with the WINDOW pages before it in the order of length and number only: a million pages of one template stay
cheap.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from cocite.kernels.build.parents import sift_down
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import read_list
from cocite.kernels.jit import inline, kernel

MORE_THAN = 10
SHORTEST = 19  # lists of this length can lack one link of a list of 20
WINDOW = 256
NO_ATTRIBUTES = np.zeros(0, np.uint32)


@inline
def mix(value):
    """Spread the bits of a page number."""
    x = uint64(value) * uint64(0x9E3779B97F4A7C15)
    x ^= x >> uint64(29)
    x *= uint64(0xBF58476D1CE4E5B9)
    return x ^ (x >> uint64(32))


@inline
def find_root(parent, page):
    """The root of a page's component; paths are halved on the way."""
    while parent[page] != page:
        parent[page] = parent[parent[page]]
        page = np.int64(parent[page])
    return page


@inline
def unite(parent, a, b):
    """Put two components together."""
    a, b = find_root(parent, a), find_root(parent, b)
    if a < b:
        parent[b] = a
    elif b < a:
        parent[a] = b


@kernel
def sketch_lists(lists, in_degree, first, hashes, sketches, prefix_tokens, prefix_pages, longest):
    """Hash and sketch of len(hashes) lists from `first` on, 0 for short ones, and (token, page) rows of the prefixes.

    Returns the number of rows.
    """
    targets = np.empty(longest, np.uint32)
    none = np.empty(0, np.uint32)
    keys = np.empty(longest, np.uint64)
    rows = np.int64(0)
    for i in range(len(hashes)):
        page = first + i
        degree = np.int64(lists.degree[page])
        hashes[i] = 0
        sketches[i] = 0
        if degree <= MORE_THAN:
            continue
        if read_list(lists, page, targets, none) != degree:
            return np.int64(DAMAGED)
        total = uint64(degree)
        sketch = uint64(0)
        for k in range(degree):
            mixed = mix(targets[k])
            total += mixed
            sketch |= uint64(1) << (mixed >> uint64(58))
        hashes[i] = total | uint64(1)
        sketches[i] = sketch
        prefix = degree // 20 + 1
        if degree < SHORTEST or rows + prefix > len(prefix_tokens):
            continue
        for k in range(degree):
            keys[k] = uint64(in_degree[targets[k]]) << uint64(32) | uint64(targets[k])
        # The rarest first, from a heap: np.sort would take four seconds to compile.
        for at in range(degree // 2 - 1, -1, -1):
            sift_down(keys, degree, at)
        for j in range(prefix):
            prefix_tokens[rows] = keys[0] & uint64(0xFFFFFFFF)
            prefix_pages[rows] = page
            rows += 1
            keys[0] = keys[degree - 1 - j]
            sift_down(keys, degree - 1 - j, np.int64(0))
    return rows


@kernel
def count_prefixes(degrees, first, count):
    """How many rows `sketch_lists` will write."""
    rows = np.int64(0)
    for i in range(first, first + count):
        if degrees[i] >= SHORTEST:
            rows += np.int64(degrees[i]) // 20 + 1
    return rows


@inline
def shared_links(lists, page, marked, stamp, buffer):
    """How many links of a page carry a stamp in the table `marked`; DAMAGED if they cannot be read."""
    none = np.empty(0, np.uint32)
    count = read_list(lists, page, buffer, none)
    mask = uint64(len(marked) - 1)
    shared = np.int64(0)
    for k in range(count):
        entry = stamp | uint64(buffer[k])
        slot = mix(buffer[k]) & mask
        while (marked[slot] & uint64(0xFFFFFFFF00000000)) == stamp and marked[slot] != entry:
            slot = (slot + uint64(1)) & mask
        shared += marked[slot] == entry
    return shared if count >= 0 else count


@inline
def mark_links(lists, page, marked, stamp, buffer):
    """Stamp the links of a page in the table `marked`."""
    none = np.empty(0, np.uint32)
    count = read_list(lists, page, buffer, none)
    mask = uint64(len(marked) - 1)
    for k in range(count):
        slot = mix(buffer[k]) & mask
        while (marked[slot] & uint64(0xFFFFFFFF00000000)) == stamp:
            slot = (slot + uint64(1)) & mask
        marked[slot] = stamp | uint64(buffer[k])
    return count


@inline
def alike(a, b, shared):
    """The 95 % rule."""
    return 20 * shared >= 19 * max(a, b)


@kernel
def unite_equal(lists, order, hashes, parent, longest):
    """Unite pages with equal sets of links: `order` sorts eligible pages by hash, then number."""
    marked = np.zeros(1 << (bit_size(2 * longest) + 1), np.uint64)
    buffer = np.empty(longest, np.uint32)
    stamp = uint64(0)
    for i in range(1, len(order)):
        a, b = np.int64(order[i - 1]), np.int64(order[i])
        if hashes[a] != hashes[b] or lists.degree[a] != lists.degree[b]:
            continue
        stamp += uint64(1) << uint64(32)
        if mark_links(lists, a, marked, stamp, buffer) < 0:
            return np.int64(DAMAGED)
        shared = shared_links(lists, b, marked, stamp, buffer)
        if shared < 0:
            return np.int64(DAMAGED)
        if shared == np.int64(lists.degree[a]):
            unite(parent, a, b)
    return np.int64(0)


@inline
def bit_size(value):
    """Bits of a number."""
    bits = 0
    while value > 0:
        bits += 1
        value >>= 1
    return bits


@inline
def popcount(value):
    """Bits set in a 64-bit number."""
    value = value - ((value >> uint64(1)) & uint64(0x5555555555555555))
    value = (value & uint64(0x3333333333333333)) + ((value >> uint64(2)) & uint64(0x3333333333333333))
    value = (value + (value >> uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((value * uint64(0x0101010101010101)) >> uint64(56))


@kernel
def unite_alike(lists, tokens, pages, sketches, parent, longest):
    """Unite near-duplicates: rows of (token, page) sorted by token, the list's length, page."""
    marked = np.zeros(1 << (bit_size(2 * longest) + 1), np.uint64)
    buffer = np.empty(longest, np.uint32)
    stamp = uint64(0)
    start = np.int64(0)
    for i in range(len(tokens)):
        if i > 0 and tokens[i] != tokens[i - 1]:
            start = i
        b = np.int64(pages[i])
        size = np.int64(lists.degree[b])
        is_marked = False
        for j in range(i - 1, max(start, i - WINDOW) - 1, -1):
            a = np.int64(pages[j])
            other = np.int64(lists.degree[a])
            if 20 * other < 19 * size:  # shorter still from here on
                break
            if 10 * popcount(sketches[a] ^ sketches[b]) > size:  # each link of one alone sets one bit at most
                continue
            if find_root(parent, a) == find_root(parent, b):
                continue
            if not is_marked:
                stamp += uint64(1) << uint64(32)
                if mark_links(lists, b, marked, stamp, buffer) < 0:
                    return np.int64(DAMAGED)
                is_marked = True
            shared = shared_links(lists, a, marked, stamp, buffer)
            if shared < 0:
                return np.int64(DAMAGED)
            if alike(size, other, shared):
                unite(parent, a, b)
    return np.int64(0)


@kernel
def choose_representatives(parent, in_degree, best):
    """best[root] = the page of highest in-degree, the first of equals, of each component; returns members of all."""
    members = np.int64(0)
    for page in range(len(parent)):
        root = find_root(parent, page)
        if in_degree[page] > in_degree[best[root]]:
            best[root] = page
        if root != page:
            members += 1
    return members
