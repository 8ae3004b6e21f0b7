"""Links of pages that count in a question.

Costs depend on the neighbourhood, not on the store. Of a list of more than WHOLE_LIST_LINKS links, only the part around
one link is read, from the entry points that the store keeps; or single targets are found by bisection.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.bundles import lent
from cocite.kernels.codec.attributes import flags_of
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, Place, bounds_of, decode_part, is_inside, read_list, room_for
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.hash_tables import keep_likely, number_of
from cocite.kernels.jit import inline, kernel, lean_inline

WHOLE_LIST_LINKS = 4096
LONG_LIST_LINKS, SKIP_LINKS = 512, 128
"""Lists of more than LONG_LIST_LINKS links have entry points, one every SKIP_LINKS links."""
SEARCH_RATIO = 16
"""A list with this many times as many links as there are pages to find in it is searched rather than read."""


@lent
class OutLists(NamedTuple):
    """Links out, with the entry points into long lists; see graph/FORMAT.md."""

    lists: Lists
    page: NDArray[np.uint32]
    first: NDArray[np.uint64]
    bit: NDArray[np.uint32]
    before: NDArray[np.uint32]
    attribute: NDArray[np.uint32]
    link: NDArray[np.uint64]
    target: NDArray[np.uint32]
    place: NDArray[np.uint32]


@lent
class Excluded(NamedTuple):
    """What a question excludes: links with one of these flags, stop pages, pages of at least `degree` in-links."""

    flags: int
    stop: NDArray[np.uint32]  # ascending
    degree: int  # 0: no limit
    in_degree: NDArray[np.uint32]


@lean_inline
def is_excluded(excluded, page):
    """Whether a page is a stop page for this question."""
    if excluded.degree > 0 and excluded.in_degree[page] >= excluded.degree:
        return True
    return len(excluded.stop) > 0 and find_position(excluded.stop, page) >= 0


@lean_inline
def is_counted(excluded, target, attribute):
    """Whether a link counts."""
    return flags_of(attribute) & excluded.flags == 0 and not is_excluded(excluded, target)


@lean_inline
def excludes_nothing(excluded):
    """Whether every link counts."""
    return excluded.flags == 0 and excluded.degree == 0 and len(excluded.stop) == 0


@inline
def read_counted(out, page, excluded, targets, attributes):
    """Read the links of a page that count, in order. Returns how many, or DAMAGED. Both arrays have room for all."""
    if excludes_nothing(excluded):
        return read_list(out.lists, page, targets, attributes)
    return read_not_excluded(out, page, excluded, targets, attributes)


@kernel
def read_not_excluded(out, page, excluded, targets, attributes):
    """`read_counted` if something is excluded. Not inlined: rarely needed code takes registers from the usual case."""
    if is_excluded(excluded, page):
        return np.int64(0)
    found = attributes if len(attributes) > 0 else np.empty(len(targets), np.uint32)
    count = read_list(out.lists, page, targets, found)
    kept = np.int64(0)
    for k in range(count):
        if is_counted(excluded, targets[k], found[k]):
            targets[kept] = targets[k]
            found[kept] = found[k]
            kept += 1
    return kept if count >= 0 else count


@inline
def read_targets(out, page, excluded, room):
    """Read the targets that count into `room`, or into a larger array. Returns (how many or DAMAGED, the array)."""
    room = room_for(out.lists, page, room)
    return read_counted(out, page, excluded, room, room[:0]), room


@kernel
def links_to(out, page, excluded, child, room):
    """Whether a page has a link to `child` that counts. Returns (0, 1 or DAMAGED; `room` or a larger array)."""
    count, room = read_targets(out, page, excluded, room)
    for k in range(count):
        if room[k] == child:
            return np.int64(1), room
    return min(count, np.int64(0)), room


@inline
def sorted_targets(out, page):
    """The bounds in `out.target` of a long list's targets, which ascend there. -1 if the store has none."""
    at = find_position(out.page, page)
    if at < 0:
        return np.int64(-1), np.int64(-1)
    low = np.int64(out.link[at])
    return low, low + np.int64(out.lists.degree[page])


@lean_inline
def is_searched(out, page, excluded, pages):
    """Whether to search a list for some pages rather than to read it. Flags would have to be read."""
    long = np.int64(out.lists.degree[page]) > max(SEARCH_RATIO * pages, LONG_LIST_LINKS)
    return long and excluded.flags == 0 and not is_excluded(excluded, page)


@kernel
def search_links(out, page, pages):
    """Which of the pages a long list has: (how many or DAMAGED, an array with their indexes)."""
    found, count = np.empty(len(pages), np.uint32), np.int64(0)
    low, high = sorted_targets(out, page)
    if low < 0:
        return np.int64(DAMAGED), found
    for i in range(len(pages)):
        found[count] = i
        count += find_position(out.target[low:high], pages[i]) >= 0
    return count, found


@lean_inline
def number_links(links, count, wanted, bits, numbers):
    """The numbers of the links that are in a set, into an array, which may be `links`. Returns how many."""
    count, kept = keep_likely(bits, links, count, numbers), np.int64(0)
    for k in range(count):
        number = number_of(wanted.table, numbers[k])
        numbers[kept] = number
        kept += number >= 0
    return kept


@inline
def find_links(out, page, excluded, wanted, bits, room):
    """Which members of a set, whose filter is `bits`, a page links to: (how many or DAMAGED, their numbers)."""
    if is_searched(out, page, excluded, len(wanted.members)):
        return search_links(out, page, wanted.members)
    count, room = read_targets(out, page, excluded, room)
    return number_links(room, count, wanted, bits, room) if count >= 0 else count, room


@lean_inline
def read_around(out, page, child, half, targets, attributes):
    """Read the links of a long list within `half` of its link to `child`: (how many, the place of that link or -1)."""
    at = find_position(out.page, page)
    if at < 0:
        return np.int64(DAMAGED), np.int64(-1)
    low = np.int64(out.link[at])
    high = low + np.int64(out.lists.degree[page])
    found = find_position(out.target[low:high], child)
    if found < 0:
        return np.int64(0), np.int64(-1)
    place = np.int64(out.place[low + found])
    first, last = max(np.int64(0), place - half), min(np.int64(out.lists.degree[page]), place + half + 1)
    begin = first // SKIP_LINKS * SKIP_LINKS
    point = np.int64(out.first[at]) + first // SKIP_LINKS
    count = last - begin
    start, stop = bounds_of(out.lists, np.int64(page))
    if not (0 <= point < len(out.bit) and 0 < count <= len(targets) and is_inside(out.lists, start, stop)):
        return np.int64(DAMAGED), np.int64(-1)
    before, attribute = np.int64(out.before[point]), np.int64(out.attribute[point])
    at_point = Place(start + np.int64(out.bit[point]), stop, before, attribute)
    if decode_part(out.lists, np.int64(page), at_point, count, targets, attributes, 0) < 0:
        return np.int64(DAMAGED), np.int64(-1)
    for k in range(first, last):
        targets[k - first] = targets[k - begin]
        if len(attributes) > 0:
            attributes[k - first] = attributes[k - begin]
    return last - first, place - first
