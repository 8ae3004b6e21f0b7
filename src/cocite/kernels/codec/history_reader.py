"""Reading captures: see history_codec.py. Whatever the units say, it stays inside its arrays and ends.

A page, a day or a link that can't exist is damage. So are units that are missing or left over.
"""

import numpy as np

from cocite.kernels.codec.history_codec import (
    ADDED,
    ADDINGS,
    AT_END,
    ATTRIBUTE,
    ATTRIBUTE_BITS,
    BEFORE,
    CAPTURE_KINDS,
    CRAWLS,
    DAY_GAP,
    DAY_LIMIT,
    DAYS,
    FACT_BITS,
    FIRST_CRAWL,
    INSTEAD,
    LEAD_BITS,
    LEADS,
    MAX_PAGE_CAPTURES,
    MAX_PAGE_LINKS,
    NO_LEAD,
    ORIGIN,
    OTHER_FACTS,
    OTHER_LEAD,
    OTHER_LINKS,
    PAGE,
    PARTIAL_DAY,
    PARTIAL_KIND,
    PARTIALS,
    RECORDS,
    SHIFT,
    SHIFTS,
    SIZE_CLASSES,
    SKIPPED,
    TARGET_DISTANCE,
    UNLIKE,
    UNUSUAL,
    copied_chance,
    shifted,
    size_class,
    span_of,
    state_of,
)
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.range_coder import (
    EVEN,
    NUMBER,
    begin_reading,
    read_bit,
    read_number,
    read_place,
    read_raw,
    take_places,
)
from cocite.kernels.jit import lean_inline, lean_kernel


@lean_inline
def unzigzag(value):
    """The number of a zigzag."""
    return -((value + 1) >> 1) if value & 1 else value >> 1


@lean_inline
def read_target(units, model, coder, context, origins):
    """(A target, the decoder after it); -1 if the page doesn't exist."""
    which = PAGE
    other, coder = read_bit(units, model, coder, ORIGIN)
    if other:
        instead, coder = read_bit(units, model, coder, ORIGIN + 1)
        which = INSTEAD if instead else BEFORE
    node = np.int64(1)
    for _ in range(6):
        bit, coder = read_bit(units, model, coder, TARGET_DISTANCE + 64 * which + node)
        node = node << 1 | bit
    first, last = span_of(origins[which], node - 64, len(context.weight) - 1)
    if first > last:
        return np.int64(-1), coder
    if first < last:
        start, total = context.weight[first], context.weight[last + 1] - context.weight[first]
        place = start + read_place(coder, total)
        low, high = first, last
        while low < high:
            middle = (low + high + 1) >> 1
            if context.weight[middle] <= place:
                low = middle
            else:
                high = middle - 1
        first = low
        coder = take_places(
            units, coder, context.weight[low] - start, context.weight[low + 1] - context.weight[low], total
        )
    return first, coder


@lean_inline
def read_days(units, model, coder, context, newer):
    """(The day of a capture, the decoder after it); a negative day makes no sense."""
    if newer < 0:
        back, coder = read_number(units, model, coder, FIRST_CRAWL)
        crawl = len(context.first_day) - 2 - back
    else:
        back, coder = read_number(units, model, coder, CRAWLS)
        if back == 0:
            gap, coder = read_number(units, model, coder, DAY_GAP)
            return newer - gap, coder
        crawl = context.crawl[newer] - back
    if crawl < 0:
        return np.int64(-1), coder
    low, high = context.first_day[crawl], context.first_day[crawl + 1]
    while high - low > 1:
        middle = (low + high) >> 1
        later, coder = read_bit(units, model, coder, DAYS + middle, DAY_LIMIT)
        if later:
            low = middle
        else:
            high = middle
    return low, coder


@lean_kernel
def read_links(units, model, coder, context, page, lists, at, span):
    """Read links `at` to `at + span[1]` of a capture; returns (the decoder after them, whether they exist)."""
    (old_target, old_attribute), (new_target, new_attribute) = lists
    i, skipped, added, shift = span
    for k in range(added):
        j = at + k
        before = np.int64(new_target[j - 1]) if j > 0 else page
        instead = np.int64(old_target[i + k]) if i + k < len(old_target) else page
        target, coder = read_target(units, model, coder, context, (page, before, instead))
        last = np.int64(new_attribute[j - 1]) if j > 0 else np.int64(0)
        attribute = shifted(np.int64(old_attribute[i + k]), shift) if k < skipped else last
        other, coder = read_bit(units, model, coder, ATTRIBUTE)
        if other:
            attribute = last
            other, coder = read_bit(units, model, coder, ATTRIBUTE + 1)
        if other:
            attribute = last + 1
            other, coder = read_bit(units, model, coder, ATTRIBUTE + 2)
        if other:
            attribute, coder = read_raw(units, coder, ATTRIBUTE_BITS)
        if target < 0 or coder[2] > len(units):
            return coder, False
        new_target[j], new_attribute[j] = target, attribute
    return coder, True


@lean_kernel
def read_edit(units, model, coder, context, page, old, new, edits_before):
    """Read an edit of the links `old` into `new`.

    Returns (number of links, number of edits, the decoder after it); DAMAGED links if it makes no sense.
    """
    old_target, old_attribute = old
    new_target, new_attribute = new
    i, j, shift, edits, resumed, only_shifted = np.int64(0), np.int64(0), np.int64(0), np.int64(0), False, False
    more = True
    while more:
        skipped, added, moved = np.int64(0), np.int64(0), np.int64(0)
        more = i < len(old_target)
        if more:
            chance = copied_chance(edits_before, edits, resumed, len(old_target) - i)
            changed, coder = read_bit(units, model, coder, chance)
            if not changed:
                if j == len(new_target):
                    return np.int64(DAMAGED), edits, coder
                new_target[j] = old_target[i]
                new_attribute[j] = shifted(np.int64(old_attribute[i]), shift)
                i, j, resumed, only_shifted = i + 1, j + 1, False, False
                continue
            skipped, added = np.int64(1), np.int64(1)
            unlike, coder = read_bit(units, model, coder, UNLIKE)
            if unlike:
                skipped, coder = read_number(units, model, coder, SKIPPED)
                added, coder = read_number(units, model, coder, ADDED + min(skipped, ADDINGS - 1) * NUMBER)
                shifts, coder = read_bit(units, model, coder, SHIFTS)
                if shifts:
                    sign, coder = read_number(units, model, coder, SHIFT)
                    moved = unzigzag(sign)
            idle = skipped == 0 and added == 0
            if idle and (moved == 0 or only_shifted):
                return np.int64(DAMAGED), edits, coder
            resumed, only_shifted = True, idle
        else:
            added, coder = read_number(units, model, coder, AT_END + (NUMBER if edits > 0 else 0))
        if coder[2] > len(units) or skipped > len(old_target) - i or added > len(new_target) - j:
            return np.int64(DAMAGED), edits, coder
        span = i, skipped, added, shift
        coder, good = read_links(units, model, coder, context, page, (old, new), j, span)
        if not good:
            return np.int64(DAMAGED), edits, coder
        i, j, shift = i + skipped, j + added, shift + moved
        edits += 1 if more or added > 0 else 0
    return j, edits, coder


@lean_kernel
def read_captures(units, model, references, context, scope, expected, room, into):
    """Read captures of pages [first, stop) of a chunk into `out`: those that may count on a day.

    `scope` is (day, first, stop). On the day, given by its index, the partial captures count, and the newest one of
    each kind: under the page's own address or another, an alias or not. All if it is negative. rows[r] receives the
    number of capture r in the chunk, that of the first one of its page, and the number of links before it. sizes[i]
    receives the captures and links of page i of the chunk that count. What `out` has no room for is only counted.
    Returns (captures, links, whether they make sense). `expected` are the captures and links that the chunk has in all,
    and `room` has four rows as long as a capture may be. A chunk is read in pieces: `model` and `state` say where the
    piece before has ended.
    """
    out, rows, sizes, state = into
    until, begin, end = scope
    coder = begin_reading(units)
    if begin == 0:
        model[:] = EVEN
        state[:] = 0
    else:
        coder = state[0], state[1], state[2]
    facts, unusual, number, passed = state[3], state[4], state[5], state[6]
    pages = len(context.weight) - 1
    turn = 0
    count, links = np.int64(0), np.int64(0)
    for own in range(begin, end):
        page, passed_before, dated = np.int64(references.low + own), passed, np.int64(0)
        count_before, links_before = count, links
        total, coder = read_number(units, model, coder, RECORDS)
        first, last = references.first[own], references.first[own + 1]
        old = references.target[first:last], references.attribute[first:last]
        chosen, start = np.int64(0), number
        day, partials, lead, edits = np.int64(-1), np.int64(0), np.int64(NO_LEAD), np.int64(0)
        for record in range(total):
            chance = OTHER_LINKS + state_of(record == 0, edits) * SIZE_CLASSES + size_class(len(old[0]))
            changed, coder = read_bit(units, model, coder, chance)
            unusual, coder = read_bit(units, model, coder, UNUSUAL + unusual)
            leads = np.int64(0)
            if unusual:
                other, coder = read_bit(units, model, coder, OTHER_FACTS)
                if other:
                    facts, coder = read_raw(units, coder, FACT_BITS)
                leads, coder = read_bit(units, model, coder, LEADS)
                if leads:
                    other, coder = read_bit(units, model, coder, OTHER_LEAD)
                    if other:
                        lead, coder = read_raw(units, coder, LEAD_BITS)
                    if lead >= pages:
                        return count, links, False
            before, partial = np.int64(0), facts & PARTIAL_KIND > 0
            if partial:
                own_day, coder = read_number(units, model, coder, PARTIAL_DAY)
                partials += 1
            else:
                own_day, coder = read_days(units, model, coder, context, day)
                day = own_day
                dated += 1
                if partials > 0:
                    before, coder = read_number(units, model, coder, PARTIALS)
            if coder[2] > len(units) or not 0 <= own_day < len(context.crawl):
                return count, links, False
            new = old
            edits_before, edits = edits, np.int64(0)
            if changed:
                new = room[turn], room[turn + 1]
                size, edits, coder = read_edit(units, model, coder, context, page, old, new, edits_before)
                if size < 0:
                    return count, links, False
                new = new[0][:size], new[1][:size]
                if size > 0:
                    turn ^= 2
            kind = np.int64(1) << ((facts >> 1) & 3)
            wanted = until < 0 or (own_day <= until and (partial or chosen & kind == 0))
            if wanted:
                chosen |= np.int64(0) if partial else kind
                if count < len(out.page):
                    out.page[count], out.day[count], out.facts[count] = page, own_day, facts
                    out.lead[count], out.before[count], out.first[count] = lead if leads else NO_LEAD, before, links
                    rows[count, 0], rows[count, 1], rows[count, 2] = number, start, passed
                for k in range(len(new[0]) if links + len(new[0]) <= len(out.target) else 0):
                    out.target[links + k], out.attribute[links + k] = new[0][k], new[1][k]
                count += 1
                links += len(new[0])
            number += 1
            passed += len(new[0])
            if number > expected[0] or passed > expected[1]:
                return count, links, False
            if number - start > MAX_PAGE_CAPTURES or passed - passed_before > MAX_PAGE_LINKS:
                return count, links, False
            if dated > CAPTURE_KINDS * len(context.crawl):
                return count, links, False
            if len(new[0]) > 0:
                old = new
        if coder[2] > len(units):
            return count, links, False
        sizes[own, 0], sizes[own, 1] = count - count_before, links - links_before
    state[0], state[1], state[2] = coder
    state[3], state[4], state[5], state[6] = facts, unusual, number, passed
    is_whole = coder[2] == len(units) and number == expected[0] and passed == expected[1]
    return count, links, is_whole or end < len(references.first) - 1
