"""The pages around a page: chosen parents with windows on their links, children, and the children's best parents.

Also near-duplicates merged into their representatives, and pages grouped by unit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.build.near_duplicates import find_root, unite
from cocite.kernels.build.parents import StoredParents, best_parents, row_of, sample_parents
from cocite.kernels.bundles import lent
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import most_links, prefetch, read_grown, read_list, read_lists
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.hash_tables import add_member, add_members, new_page_set, new_set, number_of
from cocite.kernels.jit import kernel, lean_inline
from cocite.kernels.related import counted_links as counted


class Parents(NamedTuple):
    """Chosen parents of a page and their links that count: parent i has targets[starts[i]:starts[i + 1]]."""

    of: int
    window: int  # 0: whole lists
    pages: NDArray[np.uint32]
    starts: NDArray[np.int64] = np.zeros(0, np.int64)
    places: NDArray[np.int64] = np.zeros(0, np.int64)  # of the link to the page, in `targets`
    whole: NDArray[np.bool_] = np.zeros(0, np.bool_)  # false: a long list, of which only the window was read
    targets: NDArray[np.uint32] = np.zeros(0, np.uint32)
    attributes: NDArray[np.uint32] = np.zeros(0, np.uint32)  # see codec/attributes.py; empty unless they were read

    @property
    def max_siblings(self) -> int:
        """The maximum number of links in all windows."""
        lengths = self.starts[1:] - self.starts[:-1]
        return int((np.minimum(lengths, self.window + 1) if self.window else lengths).sum())


@lent
class ParentChoice(NamedTuple):
    """How parents are chosen where a page has more than the limit."""

    sample: StoredParents  # empty, unless the store has them for this seed
    fingerprints: NDArray[np.uint64]
    seed: int


class VicinityLimits(NamedTuple):
    """B, BF, F and FB of Dean & Henzinger 1999, §2.1."""

    parents: int
    window: int
    children: int
    child_parents: int


@lean_inline
def is_read_in_part(degree, window, plain):
    """Whether only the window of a list is read."""
    return plain and window > 0 and max(window + 1, counted.WHOLE_LIST_LINKS) < degree


@lean_inline
def place_of(targets, start, stop, page):
    """The index of the last link to a page, or -1, without leaving the loop: lists are short, and this is one guess."""
    place = np.int64(-1)
    for k in range(start, stop):
        place = k if targets[k] == page else place
    return place


@kernel
def read_whole_parents(out, candidates, page, window, room):
    """`read_parents` if all links count and no list is longer than what is read of it; `room` is for all of them."""
    total = len(candidates)
    starts, places, whole = np.zeros(total + 1, np.int64), np.empty(total, np.int64), np.ones(total, np.bool_)
    state = np.int64(0 if room <= most_links(out.lists) else DAMAGED)
    targets = np.empty(room if state == 0 else 0, np.uint32)
    for i in range(total):
        starts[i + 1] = starts[i] + np.int64(out.lists.degree[candidates[i]])
    if state == 0:
        state = read_lists(out.lists, candidates, starts, targets)
    chosen, at = np.int64(0), np.int64(0)
    for i in range(total if state == 0 else 0):
        start, stop = starts[i], starts[i + 1]
        place = place_of(targets, start, stop, page)
        if place < 0:  # a damaged store: the page has this parent, the parent doesn't have this page
            continue
        if at < start:
            for k in range(start, stop):
                targets[at + k - start] = targets[k]
        candidates[chosen], starts[chosen], places[chosen] = candidates[i], at, place - start + at
        chosen, at = chosen + 1, at + stop - start
    starts[chosen] = at
    parents = Parents(
        np.int64(page), np.int64(window), candidates[:chosen], starts[: chosen + 1], places[:chosen], whole[:chosen],
        targets, np.empty(0, np.uint32),
    )  # fmt: skip
    return chosen if state >= 0 else state, parents


@kernel
def read_parents(out, candidates, page, most, window, excluded, sections):
    """Read the first `most` candidates whose link to `page` counts: (how many, Parents). Overwrites `candidates`."""
    plain, room, parts = counted.excludes_nothing(excluded), np.int64(counted.SKIP_LINKS), np.int64(0)
    for parent in candidates:
        degree = np.int64(out.lists.degree[parent])
        in_part = is_read_in_part(degree, window, plain)
        room += min(degree, np.int64(window + 1 + counted.SKIP_LINKS)) if in_part else degree
        parts += in_part
    if plain and parts == 0 and not sections:
        return read_whole_parents(out, candidates[:most], page, window, room - counted.SKIP_LINKS)
    count = np.int64(0 if room <= most_links(out.lists) + counted.SKIP_LINKS else DAMAGED)
    room = room if count == 0 else np.int64(0)  # if it cannot be true, nothing is allocated
    starts, places = np.zeros(len(candidates) + 1, np.int64), np.empty(len(candidates), np.int64)
    whole, targets = np.empty(len(candidates), np.bool_), np.empty(room, np.uint32)
    attributes = np.empty(room if sections or excluded.flags != 0 else 0, np.uint32)
    chosen, at = np.int64(0), np.int64(0)
    for i in range(len(candidates)):
        if chosen == most or count < 0:
            break
        prefetch(out.lists, candidates, i)
        parent = np.int64(candidates[i])
        some = attributes[at:] if len(attributes) > 0 else attributes
        place = np.int64(-1)
        in_part = is_read_in_part(np.int64(out.lists.degree[parent]), window, plain)
        if in_part:
            count, place = counted.read_around(out, parent, page, window // 2, targets[at:], some)
        else:
            count = counted.read_counted(out, parent, excluded, targets[at:], some)
            for k in range(count):
                if targets[at + k] == page:
                    place = k
                    break
        if count >= 0 and place >= 0:
            candidates[chosen], starts[chosen], places[chosen], whole[chosen] = parent, at, at + place, not in_part
            at += count
            chosen += 1
    chosen = chosen if count >= 0 else np.int64(0)
    starts[chosen] = at
    pages, of = candidates[:chosen], np.int64(page)
    parents = Parents(
        of, np.int64(window), pages, starts[: chosen + 1], places[:chosen], whole[:chosen], targets, attributes
    )
    return chosen if count >= 0 else count, parents


@kernel
def read_children(out, page, excluded, targets, attributes):
    """Read the links of a page that count, in order. Returns how many, or DAMAGED. Both arrays have room for all."""
    return counted.read_counted(out, page, excluded, targets, attributes)


@lean_inline
def window_of(parents, i):
    """The bounds of the links of parent i in its window: all of a short list, else half of them on either side."""
    start, stop, half = parents.starts[i], parents.starts[i + 1], parents.window // 2
    if parents.window > 0 and stop - start > parents.window + 1:
        return max(start, parents.places[i] - half), min(stop, parents.places[i] + half + 1)
    return start, stop


@lean_inline
def count_windows(parents):
    """The number of links in all windows."""
    count = np.int64(0)
    for i in range(len(parents.places)):
        low, high = window_of(parents, i)
        count += high - low
    return count


@kernel
def add_windows(parents, numbered, count, times):
    """Add the pages in the windows, without the query page, to a set. Returns how many members it has then.

    times[number] counts the windows that have a page, unless `times` is empty.
    """
    for i in range(len(parents.places)):
        low, high = window_of(parents, i)
        for k in range(low, high):
            if parents.targets[k] != parents.of:
                number = add_member(numbered, count, parents.targets[k])
                count += number == count
                if len(times) > 0:
                    times[number] += 1
    return count


@kernel
def choose_parents(into, choice, excluded, page, limit):
    """The parents to choose from, as a new array, in the order of choice if there are too many: (state, pages).

    If every link counts, these are the chosen ones. Of a page with more parents than the store keeps ready, only those
    kept are candidates. Otherwise a question that ignores some of them would have to read them all.
    """
    plain, sample, degree = counted.excludes_nothing(excluded), choice.sample, np.int64(into.degree[page])
    none = np.empty(0, np.uint32)
    if limit == 0 or counted.is_excluded(excluded, page):
        return np.int64(0), none
    if degree > limit and len(sample.page) > 0:
        stored, row = np.int64(sample.size), row_of(sample, page)
        if row >= 0 and limit <= stored:
            parents = sample.parent[row : row + stored].copy()
            for parent in parents:
                if parent >= len(into.degree):
                    return np.int64(DAMAGED), none
            return np.int64(0), parents[:limit] if plain else parents
    count, parents = read_grown(into, page, none)
    if count < 0:
        return np.int64(DAMAGED), none
    if count <= limit:
        return np.int64(0), parents[:count]
    keep = np.int64(limit) if plain else count
    ordered = np.empty(keep, np.uint32)
    kept = sample_parents(parents[:count], choice.fingerprints[page], choice.fingerprints, choice.seed, keep, ordered)
    return np.int64(0), ordered[:kept]


@kernel
def parents_of_highest_degree(out, into, best, children, other_than, keep, excluded, found):
    """Of each child the `keep` parents of highest in-degree that count, without `other_than`. Returns how many."""
    at, stored = np.int64(0), np.int64(best.size)
    heap = np.empty(stored + 513, np.uint64)
    pool, ordered = np.empty(stored + 513, np.uint32), np.empty(stored + 513, np.uint32)
    room = np.empty(64, np.uint32)
    for i in range(len(children)):
        child = np.int64(children[i])
        row = row_of(best, child)
        if row >= 0:
            count = np.int64(stored)
            ordered[:count] = best.parent[row : row + stored]
        else:
            count = np.int64(into.degree[child])
            if count > len(pool) or read_list(into, child, pool, pool[:0]) != count:
                return np.int64(DAMAGED)
            most = min(count, np.int64(keep) + 1) if counted.excludes_nothing(excluded) else count
            count = best_parents(into, pool, count, most, heap, ordered)
        end = at + keep
        for k in range(count):
            parent = np.int64(ordered[k])
            if at == end:
                break
            if parent >= len(into.degree) or at == len(found):
                return np.int64(DAMAGED)
            linked = np.int64(parent != other_than and not counted.is_excluded(excluded, parent))
            if linked > 0 and excluded.flags != 0:
                linked, room = counted.links_to(out, parent, excluded, child, room)
                if linked < 0:
                    return np.int64(DAMAGED)
            found[at] = parent
            at += linked
    return at


@kernel
def gather_vicinity(out, into, best, candidates, page, limits, excluded):
    """The vicinity graph of a page (Dean & Henzinger 1999, §2.1): (0 or DAMAGED, its pages, its parents).

    The parents, chosen among the candidates, are the first pages; then come the page, what the windows of the parents
    have, its first children, and their best parents.
    """
    chosen, parents = read_parents(out, candidates, page, limits.parents, limits.window, excluded, False)
    count, children = counted.read_targets(out, np.int64(page), excluded, np.empty(0, np.uint32))
    state = min(np.int64(0), chosen, count)
    children = children[: max(np.int64(0), min(count, np.int64(limits.children)))]
    room = np.int64(0)
    for child in children:
        room += min(np.int64(into.degree[child]), np.int64(limits.child_parents))
    spouses = np.empty(room, np.uint32)
    count = parents_of_highest_degree(out, into, best, children, page, limits.child_parents, excluded, spouses)
    state, spouses = min(state, count), spouses[: max(count, np.int64(0))]
    found = new_set(len(parents.pages) + 1 + len(children) + len(spouses) + count_windows(parents))
    count = add_members(found, np.int64(0), parents.pages)
    count += add_member(found, count, np.uint32(page)) == count
    count = add_windows(parents, found, count, np.empty(0, np.int32))
    count = add_members(found, count, children)
    count = add_members(found, count, spouses)
    return state, found.members[:count], parents


@lent
class NearPages(NamedTuple):
    """Pages that have near-duplicates, ascending, and the representative of each."""

    page: NDArray[np.uint32]
    representative: NDArray[np.uint32]


@kernel
def representatives(near_page, near_representative, pages, found):
    """found[i] = the representative of pages[i]; flat arguments pass faster. Returns how many aren't their own."""
    others = np.int64(0)
    for i in range(len(pages)):
        found[i] = pages[i]
        at = find_position(near_page, pages[i])
        if at >= 0 and near_representative[at] != pages[i]:
            found[i] = near_representative[at]
            others += 1
    return others


@kernel
def merge_pages(near, pages):
    """Merge near-duplicates among different pages: (representatives, the index of each page's, how many changed)."""
    merged, found = np.arange(len(pages)).astype(np.int32), np.empty(len(pages), np.uint32)
    others = representatives(near.page, near.representative, pages, found) if len(near.page) > 0 else np.int64(0)
    if others == 0:
        return pages, merged, others
    numbered, count = new_set(len(pages)), np.int64(0)
    for i in range(len(pages)):
        merged[i] = add_member(numbered, count, found[i])
        count += merged[i] == count
    return numbered.members[:count], merged, others


@kernel
def merge_members(near, numbered, count, pages):
    """Merge near-duplicates among the first `count` members of a set, below `pages`.

    Returns (the set of representatives, the number of each member's, the representatives).
    """
    members, numbers, others = numbered.members[:count], np.arange(count).astype(np.int32), np.int64(0)
    found = members
    if len(near.page) < count:  # fewer than members: search for these
        for i in range(len(near.page)):
            number = number_of(numbered.table, near.page[i])
            if number >= 0 and near.representative[i] != near.page[i]:
                found = members.copy() if others == 0 else found
                found[number] = near.representative[i]
                others += 1
    elif len(near.page) > 0:
        found = np.empty(count, np.uint32)
        others = representatives(near.page, near.representative, members, found)
    if others == 0:
        return numbered, numbers, members
    merged, kept = new_page_set(count, pages), np.int64(0)
    for i in range(count):
        numbers[i] = add_member(merged, kept, found[i])
        kept += numbers[i] == kept
    return merged, numbers, merged.members[:kept]


@kernel
def group(first, second):
    """Items with the same `first` or the same `second` value form a group, transitively: (group numbers, how many)."""
    above, owner = np.arange(len(first)), np.empty(len(first), np.int64)
    for values in (first, second):
        numbered, count = new_set(len(values)), np.int64(0)
        for i in range(len(values)):
            at = add_member(numbered, count, values[i])
            if at == count:
                owner[at] = i
                count += 1
            else:
                unite(above, owner[at], i)
    groups, count = np.empty(len(first), np.int32), np.int64(0)
    for i in range(len(first)):
        top = find_root(above, i)
        groups[i] = count if top == i else groups[top]
        count += top == i
    return groups, count
