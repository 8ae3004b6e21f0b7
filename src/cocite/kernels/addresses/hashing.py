"""Hash tables over page fingerprints: which were seen, which page has which number, and the store's own look-up.

Fingerprints are uniform 64-bit hashes, so their own bits serve as table positions.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from cocite.kernels.jit import inline, kernel

RECENT = 1 << 14
GROUP = 32
MISSING = 0xFFFFFFFF
"""The page number of an unknown page."""


@kernel
def mark_unseen(fingerprints, spellings, seen, fresh):
    """fresh[i] = this page in this spelling is not in `seen` (a lossy table of 2^b entries); enters it.

    Eight entries, a cache line, are looked at; a new one takes the place that its hash names. Two threads may share
    the table: a race at worst reports a page twice, never not at all.
    """
    mask = uint64(len(seen) - 1) & ~uint64(7)
    # Pages of a site are crawled together and link to the same pages: half of all are among the last few thousand.
    recent = np.zeros(RECENT, np.uint64)
    count = 0
    for i in range(len(fingerprints)):
        fingerprint = uint64(fingerprints[i])
        if fingerprint == uint64(0):
            fresh[i] = False
            continue
        mixed = fingerprint ^ (uint64(spellings[i]) * uint64(0x9E3779B97F4A7C15))
        slot = (mixed >> uint64(7)) & uint64(RECENT - 1)
        if recent[slot] == mixed:
            fresh[i] = False
            continue
        recent[slot] = mixed
        line = (mixed >> uint64(17)) & mask
        found = False
        free = line + (mixed & uint64(7))
        for k in range(8):
            entry = seen[line + uint64(k)]
            if entry == mixed:
                found = True
                break
            if entry == uint64(0):
                free = line + uint64(k)
                break
        fresh[i] = not found
        if not found:
            seen[free] = mixed
            count += 1
    return count


@kernel
def copy_chosen(data, offsets, chosen, out, out_offsets):
    """The chosen texts one after another."""
    at = np.int64(0)
    k = 0
    out_offsets[0] = 0
    for i in range(len(offsets) - 1):
        if chosen[i]:
            for j in range(offsets[i], offsets[i + 1]):
                out[at] = data[j]
                at += 1
            k += 1
            out_offsets[k] = at
    return at


@kernel
def fill_table(table, fingerprints, low, high):
    """Enter (fingerprint, page number) of the fingerprints in [low, high] into an open-addressing table of pairs."""
    mask = uint64((len(table) >> 1) - 1)
    for i in range(len(fingerprints)):
        fingerprint = uint64(fingerprints[i])
        if fingerprint < low or fingerprint > high:
            continue
        slot = fingerprint & mask
        while table[slot << uint64(1)] != uint64(0):
            slot = (slot + uint64(1)) & mask
        table[slot << uint64(1)] = fingerprint
        table[(slot << uint64(1)) + uint64(1)] = uint64(i)


@kernel
def look_up(table, fingerprints, low, high, numbers):
    """numbers[i] = page number of fingerprints[i], MISSING if it has none; those outside [low, high] stay unchanged.

    Entries are fetched for a group of fingerprints, then compared: a wrongly guessed branch does not wait for memory.
    """
    mask = uint64((len(table) >> 1) - 1)
    keys, values = np.empty(GROUP, np.uint64), np.empty(GROUP, np.uint64)
    for first in range(0, len(fingerprints), GROUP):
        last = min(first + GROUP, len(fingerprints))
        for i in range(first, last):
            slot = (uint64(fingerprints[i]) & mask) << uint64(1)
            keys[i - first] = table[slot]
            values[i - first] = table[slot + uint64(1)]
        for i in range(first, last):
            fingerprint = uint64(fingerprints[i])
            if fingerprint < low or fingerprint > high:
                continue
            if keys[i - first] == fingerprint and fingerprint != uint64(0):
                numbers[i] = values[i - first]
                continue
            numbers[i] = MISSING
            slot = fingerprint & mask
            while fingerprint != uint64(0) and table[slot << uint64(1)] != uint64(0):
                if table[slot << uint64(1)] == fingerprint:
                    numbers[i] = table[(slot << uint64(1)) + uint64(1)]
                    break
                slot = (slot + uint64(1)) & mask


@kernel
def count_buckets(fingerprints, shift, starts):
    """First half of the look-up index: how many fingerprints have these top bits."""
    for i in range(len(fingerprints)):
        starts[(uint64(fingerprints[i]) >> uint64(shift)) + uint64(1)] += 1
    for b in range(1, len(starts)):
        starts[b] += starts[b - 1]


@kernel
def fill_buckets(fingerprints, shift, starts, pages):
    """Second half: page numbers by the top bits of their fingerprints, ascending within a bucket.

    Returns how many pages have the fingerprint of an earlier one.
    """
    twins = np.int64(0)
    following = starts[:-1].copy()
    for i in range(len(fingerprints)):
        bucket = uint64(fingerprints[i]) >> uint64(shift)
        for k in range(starts[bucket], following[bucket]):
            if fingerprints[pages[k]] == fingerprints[i]:
                twins += 1
                break
        pages[following[bucket]] = i
        following[bucket] += 1
    return twins


@inline
def find_fingerprint(fingerprints, starts, pages, shift, fingerprint):
    """The page with a fingerprint, or -1."""
    bucket = uint64(fingerprint) >> uint64(shift)
    stop = min(np.int64(starts[bucket + uint64(1)]), np.int64(len(pages)))
    for k in range(np.int64(starts[bucket]), stop):
        page = np.int64(pages[k])
        if page < len(fingerprints) and fingerprints[page] == fingerprint:
            return page
    return np.int64(-1)
