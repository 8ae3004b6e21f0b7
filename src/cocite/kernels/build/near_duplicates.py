"""Pages with nearly the same links, without comparing all pairs.

Two pages with more than 10 links each are near-duplicates if the links they share are at least 95 % of the longer list.
Two lists of up to 19 links must then be equal, which a hash of the set tells. Else, a page of d links shares at
least d - m of them with any partner, m = the whole part of d / 20; so if every page orders its links by one rule,
rarest first, partners share a link among the first m + 1 of each (prefix filtering). Only pages that share such a link,
agree in length and in a 64-bit sketch of their links are compared. Each is compared with at most MAX_COMPARED_PAGES
before it that have the link, in the order of length and number: a million pages of one template stay cheap.

Two pages that link to each other are no near-duplicates: each lists the other as another page. In a complete graph
all links but two of a pair are the same.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.build.parents import sift_down
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import read_list
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.hash_tables import new_table, stamped_slot
from cocite.kernels.instructions import count_ones
from cocite.kernels.jit import inline, kernel

MIN_LINKS = 11
MIN_PREFIX_LINKS = 19  # lists of this length can lack one link of a list of 20
MAX_COMPARED_PAGES = 256


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


class Compared(NamedTuple):
    """Pages whose lists are compared: all of them, or some. They are numbered by their places here."""

    page: NDArray[np.uint32]  # ascending
    sketch: NDArray[np.uint64]
    parent: NDArray[np.uint32]  # the trees of a union-find, of places


@kernel
def sketch_lists(lists, in_degree, pages, hashes, sketches, prefix_tokens, prefix_places, longest):
    """Hash and sketch the lists of pages, 0 for short ones. Returns how many rows (token, place) of prefixes."""
    targets, keys, rows = np.empty(longest, np.uint32), np.empty(longest, np.uint64), np.int64(0)
    for i in range(len(hashes)):
        page = np.int64(pages[i])
        degree = np.int64(lists.degree[page])
        hashes[i] = sketches[i] = 0
        if degree < MIN_LINKS:
            continue
        if read_list(lists, page, targets, targets[:0]) != degree:
            return np.int64(DAMAGED)
        total = mix(degree)  # page 0 adds nothing, so the length has to tell lists with and without it apart
        sketch = uint64(0)
        for k in range(degree):
            mixed = mix(targets[k])
            total += mixed
            sketch |= uint64(1) << (mixed >> uint64(58))
        hashes[i] = total | uint64(1)
        sketches[i] = sketch
        prefix = degree // 20 + 1
        if degree < MIN_PREFIX_LINKS or rows + prefix > len(prefix_tokens):
            continue
        for k in range(degree):
            keys[k] = uint64(in_degree[targets[k]]) << uint64(32) | uint64(targets[k])
        # The rarest first, from a heap: np.sort would take four seconds to compile.
        for at in range(degree // 2 - 1, -1, -1):
            sift_down(keys, degree, at)
        for j in range(prefix):
            prefix_tokens[rows] = keys[0] & uint64(0xFFFFFFFF)
            prefix_places[rows] = i
            rows += 1
            keys[0] = keys[degree - 1 - j]
            sift_down(keys, degree - 1 - j, np.int64(0))
    return rows


@inline
def count_stamped(lists, page, table, stamp, enter, room):
    """How many links of a page have a stamp in `table`, or DAMAGED. With `enter`, gives it to all of them."""
    count, shared = read_list(lists, page, room, room[:0]), np.int64(0)
    for k in range(count):
        slot, entry = stamped_slot(table, stamp, room[k])
        shared += table[slot] == entry
        if enter:
            table[slot] = entry
    return shared if count >= 0 else count


@kernel
def unite_alike(lists, into, tokens, places, most, compared, longest):
    """Unite near-duplicates among pages with the same token; each is compared with at most `most` before it.

    Rows of (token, place) are sorted by token, the list's length, place. Tokens are links, or hashes of all links.
    """
    sketches, parent = compared.sketch, compared.parent
    table, room, stamp = new_table(longest, 0), np.empty(longest, np.uint32), uint64(0)
    linking = np.empty(0, np.uint32)  # the pages that link to b, ascending, once they matter
    start = np.int64(0)
    for i in range(len(tokens)):
        if i > 0 and tokens[i] != tokens[i - 1]:
            start = i
        place = np.int64(places[i])
        b = np.int64(compared.page[place])
        size = np.int64(lists.degree[b])
        is_marked, is_read = False, False
        for j in range(i - 1, max(start, i - most) - 1, -1):
            before = np.int64(places[j])
            a = np.int64(compared.page[before])
            other = np.int64(lists.degree[a])
            if 20 * other < 19 * size:  # shorter still from here on
                break
            different = np.int64(
                count_ones(sketches[before] ^ sketches[place])
            )  # each link of one alone sets one bit at most
            if 10 * different > size or find_root(parent, before) == find_root(parent, place):
                continue
            if not is_marked:
                stamp += uint64(1)
                if count_stamped(lists, b, table, stamp, True, room) < 0:
                    return np.int64(DAMAGED)
                is_marked = True
            slot, entry = stamped_slot(table, stamp, np.uint32(a))
            if table[slot] == entry:  # b links to a
                if not is_read:
                    linking, is_read = np.empty(np.int64(into.degree[b]), np.uint32), True
                    if read_list(into, b, linking, linking[:0]) < 0:
                        return np.int64(DAMAGED)
                if find_position(linking, a) >= 0:
                    continue
            shared = count_stamped(lists, a, table, stamp, False, room)
            if shared < 0:
                return np.int64(DAMAGED)
            if 20 * shared >= 19 * max(size, other):
                unite(parent, before, place)
    return np.int64(0)
