"""Hash tables with open addressing, of 2^b slots: numbered sets, stamped sets, a bit filter, pages of tags.

A search begins at the slot that the hash names, and goes on to the next slot until it finds the key or an unused slot.
Whoever writes pages chooses what is in a table. So each table of pages has a random factor in its last entry, behind
its slots: nobody can choose pages that crowd around one slot, where every search would read all of them.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.instructions import prefetch_item
from cocite.kernels.jit import inline, kernel, lean_inline

EMPTY = 0xFFFFFFFFFFFFFFFF
MISSING = 0xFFFFFFFF  # the number of an unknown page
LOW_HALF = np.uint64(0xFFFFFFFF)
RECENT_SLOTS = 1 << 14
GROUP_TAGS = 32
AHEAD = 16  # memory at random places is asked for so many steps before it is read
GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)


@kernel
def random_factor():
    """An odd number at random. Each thread of Numba has a generator of its own, seeded by the system."""
    high, low = np.random.randint(0, 1 << 32), np.random.randint(0, 1 << 32)  # noqa: NPY002 - compiled
    return uint64(high) << uint64(32) | uint64(low) | uint64(1)


@lean_inline
def spread(member, factor):
    """A hash of a page number, or of another number below 2^32, by multiplication (Dietzfelbinger et al. 1997)."""
    return (uint64(member) * factor) >> uint64(32)


@lean_inline
def table_size(members):
    """The number of slots of a table: a power of two, more than twice the number of members."""
    size = np.int64(16)
    while size <= 2 * members:
        size *= 2
    return size


@inline
def new_table(members, unused):
    """A table with room for some members, whose slots have the value `unused`; its last entry is a random factor."""
    table = np.full(table_size(members) + 1, uint64(unused))
    table[len(table) - 1] = random_factor()
    return table


# -------------------------------------------------------------------------------------------------------- numbered sets


class NumberedSet(NamedTuple):
    """A growing set of numbers below 2^32, mostly pages, numbered 0, 1, … in order. Whoever adds keeps the count."""

    table: NDArray[np.uint64]  # member << 32 | its number, or EMPTY; and a factor
    members: NDArray[np.uint32]  # by number


@inline
def new_set(room):
    """An empty set with room for some members."""
    return NumberedSet(new_table(room, EMPTY), np.empty(room, np.uint32))


@inline
def new_page_set(room, pages):
    """An empty set with room for some of the pages below `pages`. If the table is long enough, each has its own slot.

    With the factor 2^32 the hash of a page is its number, so that two pages never meet, and half as many slots do. One
    stays unused: there a search for a page that doesn't exist ends.
    """
    members = min(room, pages)
    if table_size(members) <= pages:
        return new_set(members)
    table = np.full(table_size((pages + 1) // 2) + 1, uint64(EMPTY))
    table[len(table) - 1] = uint64(1 << 32)
    return NumberedSet(table, np.empty(members, np.uint32))


@lean_inline
def slot_of(table, member):
    """The slot where a member is, or would be."""
    mask = uint64(len(table) - 2)
    slot = spread(member, table[len(table) - 1]) & mask
    while table[slot] >> uint64(32) != uint64(member) and table[slot] != uint64(EMPTY):
        slot = (slot + uint64(1)) & mask
    return slot


@lean_inline
def number_of(table, member):
    """The number of a member, or -1."""
    entry = table[slot_of(table, member)]
    return np.int64(entry & LOW_HALF) if entry != uint64(EMPTY) else np.int64(-1)


@lean_inline
def add_member(numbered, count, member):
    """Add a member unless it is there. Returns its number, which is `count`, the members so far, if it is new."""
    slot = slot_of(numbered.table, member)
    if numbered.table[slot] != uint64(EMPTY):
        return np.int64(numbered.table[slot] & LOW_HALF)
    numbered.table[slot] = uint64(member) << uint64(32) | uint64(count)
    numbered.members[count] = member
    return np.int64(count)


@kernel
def add_members(numbered, count, more):
    """Add several members. Returns how many there are then."""
    for member in more:
        count += add_member(numbered, count, member) == count
    return count


# ------------------------------------------------------------------------------------------ a bit filter; stamped sets


@inline
def bit_filter(members):
    """One bit for each member in 2^b bytes: 8 to 16 bits for each, so that they stay in the fastest cache."""
    bits = np.zeros(table_size(len(members)) // 2, np.uint8)
    for member in members:
        bit = spread(member, GOLDEN_RATIO) & uint64(8 * len(bits) - 1)
        bits[bit >> uint64(3)] |= np.uint8(1) << np.uint8(bit & uint64(7))
    return bits


@lean_inline
def is_likely(bits, member):
    """1 if the bit of a number is set, else 0: 1 for members, rarely for others."""
    bit = spread(member, GOLDEN_RATIO) & uint64(8 * len(bits) - 1)
    return np.int64(bits[bit >> uint64(3)] >> np.uint8(bit & uint64(7)) & np.uint8(1))


@lean_inline
def keep_likely(bits, links, count, kept):
    """Copy the links whose bit is set to `kept`, which may be `links`, without branches. Returns how many."""
    at = np.int64(0)
    for k in range(count):
        page = links[k]
        kept[at] = page
        at += is_likely(bits, page)
    return at


@lean_inline
def stamped_slot(table, stamp, member):
    """The slot of `stamp << 32 | member`. Entries of other stamps count as unused: a new stamp empties the set."""
    mask = uint64(len(table) - 2)
    entry = stamp << uint64(32) | uint64(member)
    slot = spread(member, table[len(table) - 1]) & mask
    while table[slot] >> uint64(32) == stamp and table[slot] != entry:
        slot = (slot + uint64(1)) & mask
    return slot, entry


# ---------------------------------------------------------------- tags, which are hashes with the secret key of a build


@kernel
def mark_unseen(tags, checks, spellings, seen, fresh):
    """fresh[i] = this page in this spelling isn't in `seen`, a lossy table of 2^b entries. Enters it. 0 isn't a page.

    Pages are compared by their checks: if two have one tag by chance, both are entered, and `fill_table` notices.
    Eight entries, a cache line, are searched; a new one takes the place that its hash names. Two threads may share the
    table: after a race, a page may be reported twice, but never not at all.
    """
    mask = uint64(len(seen) - 1) & ~uint64(7)
    # Pages of a site are crawled together and link to the same pages: half of all are among the last few thousand.
    recent = np.zeros(RECENT_SLOTS, np.uint64)
    count = 0
    for i in range(len(tags)):
        if i + AHEAD < len(tags):
            later = uint64(checks[i + AHEAD]) ^ (uint64(spellings[i + AHEAD]) * GOLDEN_RATIO)
            prefetch_item(seen, np.int64((later >> uint64(17)) & mask))
        mixed = uint64(checks[i]) ^ (uint64(spellings[i]) * GOLDEN_RATIO)
        slot = (mixed >> uint64(7)) & uint64(RECENT_SLOTS - 1)
        fresh[i] = tags[i] != uint64(0) and recent[slot] != mixed
        if not fresh[i]:
            continue
        recent[slot] = mixed
        line = (mixed >> uint64(17)) & mask
        free = line + (mixed & uint64(7))
        for k in range(8):
            entry = seen[line + uint64(k)]
            if entry == mixed:
                fresh[i] = False
                break
            if entry == uint64(0):
                free = line + uint64(k)
                break
        if fresh[i]:
            seen[free] = mixed
            count += 1
    return count


@kernel
def fill_table(table, tags, low, high):
    """Enter the tags in [low, high] with their page numbers into a table of pairs.

    A tag that several pages have by chance leads to none of them. Returns how many pages there are of this kind.
    """
    mask = uint64((len(table) >> 1) - 1)
    twins = np.int64(0)
    for i in range(len(tags)):
        tag = uint64(tags[i])
        if tag < low or tag > high:
            continue
        slot = tag & mask
        while table[slot << uint64(1)] != uint64(0) and table[slot << uint64(1)] != tag:
            slot = (slot + uint64(1)) & mask
        value = (slot << uint64(1)) + uint64(1)
        if table[slot << uint64(1)] == tag:
            twins += 1 + (table[value] != uint64(MISSING))
            table[value] = uint64(MISSING)
        else:
            table[slot << uint64(1)] = tag
            table[value] = uint64(i)
    return twins


@kernel
def look_up(table, tags, low, high, numbers):
    """numbers[i] = page of tags[i], if in [low, high]; groups are read, then compared: branches don't wait."""
    mask = uint64((len(table) >> 1) - 1)
    keys, values = np.empty(GROUP_TAGS, np.uint64), np.empty(GROUP_TAGS, np.uint64)
    for first in range(0, len(tags), GROUP_TAGS):
        last = min(first + GROUP_TAGS, len(tags))
        for i in range(first, last):
            slot = (uint64(tags[i]) & mask) << uint64(1)
            keys[i - first] = table[slot]
            values[i - first] = table[slot + uint64(1)]
        for i in range(first, last):
            tag = uint64(tags[i])
            if tag < low or tag > high:
                continue
            if keys[i - first] == tag and tag != uint64(0):
                numbers[i] = values[i - first]
                continue
            numbers[i] = MISSING
            slot = tag & mask
            while tag != uint64(0) and table[slot << uint64(1)] != uint64(0):
                if table[slot << uint64(1)] == tag:
                    numbers[i] = table[(slot << uint64(1)) + uint64(1)]
                    break
                slot = (slot + uint64(1)) & mask
