"""Writing captures: see history_codec.py."""

import numpy as np

from cocite.kernels.codec.attributes import block_of, flags_of
from cocite.kernels.codec.history_codec import (
    ADDED,
    ADDINGS,
    AT_END,
    ATTRIBUTE,
    ATTRIBUTE_BITS,
    BEFORE,
    CRAWLS,
    DAY_GAP,
    DAY_LIMIT,
    DAYS,
    FACT_BITS,
    FIRST_CRAWL,
    INSTEAD,
    LEAD_BITS,
    LEADS,
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
    WINDOW_LINKS,
    copied_chance,
    shifted,
    size_class,
    span_of,
    state_of,
)
from cocite.kernels.codec.link_codec import bit_length
from cocite.kernels.codec.range_coder import (
    CHANCE_BITS,
    COUNT_BITS,
    EVEN,
    NUMBER,
    WHOLE,
    end_writing,
    put_bit,
    put_number,
    put_place,
    put_raw,
)
from cocite.kernels.jit import lean_inline, lean_kernel


@lean_inline
def zigzag(value):
    """A number of either sign as a natural number: 0, -1, 1, -2 …"""
    return value << 1 if value >= 0 else (-value << 1) - 1


@lean_inline
def may_follow(a, b):
    """Whether two attributes differ by a shift of blocks at most."""
    return flags_of(a) == flags_of(b) and (block_of(a) > 0) == (block_of(b) > 0)


@lean_kernel
def find_resume(old, old_attribute, new, new_attribute):
    """How many links to skip and to add until both lists have the same link: the smallest sum; all if there is none."""
    olds, news = min(len(old), WINDOW_LINKS), min(len(new), WINDOW_LINKS)
    for total in range(olds + news + 1):
        for skipped in range(max(0, total - news), min(olds, total) + 1):
            added = total - skipped
            if skipped == olds or added == news or old[skipped] != new[added]:
                continue
            if may_follow(np.int64(old_attribute[skipped]), np.int64(new_attribute[added])):
                return skipped, added, True
    return olds, news, False


@lean_inline
def step_to(origin, target):
    """The step from an origin to another page."""
    return 32 + bit_length(target - origin) - 1 if target > origin else bit_length(origin - target) - 1


@lean_inline
def bits_of(value):
    """256 times the binary logarithm of a number below 2^40, and 256 more; nearly."""
    length = bit_length(value)
    return (length << 8) + ((value << 8) >> (length - 1) & 255)


@lean_inline
def cost_of(model, context, chance, origin, target):
    """The bits that a target takes from an origin, 256 to a bit, but for those of the origin."""
    if origin == target:
        return np.int64(1) << 40
    step, node, cost = step_to(origin, target), np.int64(1), np.int64(0)
    for k in range(5, -1, -1):
        zero, bit = np.int64(model[chance + node]) >> COUNT_BITS, step >> k & 1
        cost += bits_of(np.int64(1) << CHANCE_BITS) - bits_of((1 << CHANCE_BITS) - zero if bit else zero)
        node = node << 1 | bit
    first, last = span_of(origin, step, len(context.weight) - 1)
    total, own = context.weight[last + 1] - context.weight[first], context.weight[target + 1] - context.weight[target]
    return cost + bits_of(total) - bits_of(own)


@lean_inline
def origin_cost(model, origin):
    """The bits that an origin takes, 256 to a bit."""
    other = np.int64(model[ORIGIN]) >> COUNT_BITS
    cost = bits_of(np.int64(1) << CHANCE_BITS) - bits_of(other if origin == PAGE else (1 << CHANCE_BITS) - other)
    if origin != PAGE:
        zero = np.int64(model[ORIGIN + 1]) >> COUNT_BITS
        cost += bits_of(np.int64(1) << CHANCE_BITS) - bits_of(zero if origin == BEFORE else (1 << CHANCE_BITS) - zero)
    return cost


@lean_kernel
def put_target(out, model, coder, context, origins, target):
    """Write a target by its step from the cheapest of three origins, and its place there."""
    best, least = PAGE, np.int64(1) << 50
    for which in range(3):
        cost = cost_of(model, context, TARGET_DISTANCE + 64 * which, origins[which], target) + origin_cost(model, which)
        if cost < least:
            best, least = which, cost
    coder = put_bit(out, model, coder, ORIGIN, best != PAGE)
    if best != PAGE:
        coder = put_bit(out, model, coder, ORIGIN + 1, best == INSTEAD)
    step, node = step_to(origins[best], target), np.int64(1)
    for k in range(5, -1, -1):
        bit = step >> k & 1
        coder = put_bit(out, model, coder, TARGET_DISTANCE + 64 * best + node, bit)
        node = node << 1 | bit
    first, last = span_of(origins[best], step, len(context.weight) - 1)
    if first < last:
        start, own = context.weight[first], context.weight[target]
        size, total = context.weight[target + 1] - own, context.weight[last + 1] - start
        coder = put_place(out, coder, own - start, size, total)
    return coder


@lean_inline
def put_days(out, model, coder, context, day, newer):
    """Write the day of a capture, after that of the next newer capture of the page, -1 if there is none."""
    crawl = context.crawl[day]
    if newer < 0:
        coder = put_number(out, model, coder, FIRST_CRAWL, len(context.first_day) - 2 - crawl)
    else:
        coder = put_number(out, model, coder, CRAWLS, context.crawl[newer] - crawl)
        if crawl == context.crawl[newer]:
            return put_number(out, model, coder, DAY_GAP, newer - day)
    low, high = context.first_day[crawl], context.first_day[crawl + 1]
    while high - low > 1:
        middle = (low + high) >> 1
        coder = put_bit(out, model, coder, DAYS + middle, day >= middle, DAY_LIMIT)
        if day >= middle:
            low = middle
        else:
            high = middle
    return coder


@lean_kernel
def put_links(out, model, coder, context, page, lists, at, span):
    """Write links `at` to `at + span[1]` of a capture, which come after `span[0]` links of the reference."""
    (old_target, old_attribute), (new_target, new_attribute) = lists
    i, skipped, added, shift = span
    for k in range(added):
        j = at + k
        before = np.int64(new_target[j - 1]) if j > 0 else page
        instead = np.int64(old_target[i + k]) if i + k < len(old_target) else page
        coder = put_target(out, model, coder, context, (page, before, instead), np.int64(new_target[j]))
        last = np.int64(new_attribute[j - 1]) if j > 0 else np.int64(0)
        expected = shifted(np.int64(old_attribute[i + k]), shift) if k < skipped else last
        attribute = np.int64(new_attribute[j])
        coder = put_bit(out, model, coder, ATTRIBUTE, attribute != expected)
        if attribute != expected:
            coder = put_bit(out, model, coder, ATTRIBUTE + 1, attribute != last)
            if attribute != last:
                coder = put_bit(out, model, coder, ATTRIBUTE + 2, attribute != last + 1)
                if attribute != last + 1:
                    coder = put_raw(out, coder, attribute, ATTRIBUTE_BITS)
    return coder


@lean_kernel
def put_edit(out, model, coder, context, page, old, new, edits_before):
    """Write an edit that makes the links `new` of the links `old`; returns (coder, number of edits)."""
    old_target, old_attribute = old
    new_target, new_attribute = new
    i, j, shift, edits, resumed = np.int64(0), np.int64(0), np.int64(0), np.int64(0), False
    while i < len(old_target):
        chance = copied_chance(edits_before, edits, resumed, len(old_target) - i)
        copied = j < len(new_target) and old_target[i] == new_target[j]
        if copied and shifted(np.int64(old_attribute[i]), shift) == np.int64(new_attribute[j]):
            coder = put_bit(out, model, coder, chance, 0)
            i, j, resumed = i + 1, j + 1, False
            continue
        coder = put_bit(out, model, coder, chance, 1)
        skipped, added, moved = np.int64(len(old_target) - i), np.int64(0), np.int64(0)
        if j < len(new_target):
            skipped, added, found = find_resume(old_target[i:], old_attribute[i:], new_target[j:], new_attribute[j:])
            if found:
                olds = np.int64(block_of(np.int64(old_attribute[i + skipped])))
                news = np.int64(block_of(np.int64(new_attribute[j + added])))
                moved = news - olds - (shift if olds > 0 else np.int64(0))
        unlike = skipped != 1 or added != 1 or moved != 0
        coder = put_bit(out, model, coder, UNLIKE, unlike)
        if unlike:
            coder = put_number(out, model, coder, SKIPPED, skipped)
            coder = put_number(out, model, coder, ADDED + min(skipped, ADDINGS - 1) * NUMBER, added)
            coder = put_bit(out, model, coder, SHIFTS, moved != 0)
            if moved != 0:
                coder = put_number(out, model, coder, SHIFT, zigzag(moved))
        coder = put_links(out, model, coder, context, page, (old, new), j, (i, skipped, added, shift))
        i, j, shift, edits, resumed = i + skipped, j + added, shift + moved, edits + 1, True
    added = len(new_target) - j
    coder = put_number(out, model, coder, AT_END + (NUMBER if edits > 0 else 0), added)
    coder = put_links(out, model, coder, context, page, (old, new), j, (i, np.int64(0), added, shift))
    return coder, edits + (1 if added > 0 else 0)


@lean_kernel
def write_captures(captures, references, context, row, model, out):
    """Write a chunk: the captures from `row` on of pages [low, low + n). Returns (rows after these, units).

    Units that `out` has no room for are only counted.
    """
    model[:] = EVEN
    coder = np.int64(0), np.int64(WHOLE), np.int64(0)
    facts, unusual = np.int64(0), np.int64(0)
    for own in range(len(references.first) - 1):
        page = np.int64(references.low + own)
        stop = row
        while stop < len(captures.page) and np.int64(captures.page[stop]) == page:
            stop += 1
        coder = put_number(out, model, coder, RECORDS, stop - row)
        first, last = references.first[own], references.first[own + 1]
        old = references.target[first:last], references.attribute[first:last]
        day, partials, lead, edits = np.int64(-1), np.int64(0), np.int64(NO_LEAD), np.int64(0)
        for r in range(row, stop):
            first, last = captures.first[r], captures.first[r + 1]
            new = captures.target[first:last], captures.attribute[first:last]
            same = len(new[0]) == len(old[0])
            for k in range(len(new[0]) if same else 0):
                if new[0][k] != old[0][k] or new[1][k] != old[1][k]:
                    same = False
                    break
            chance = OTHER_LINKS + state_of(r == row, edits) * SIZE_CLASSES + size_class(len(old[0]))
            coder = put_bit(out, model, coder, chance, not same)
            own_facts, leads = np.int64(captures.facts[r]), captures.lead[r] != NO_LEAD
            partial = own_facts & PARTIAL_KIND > 0
            is_unusual = np.int64(own_facts != facts or leads)
            coder = put_bit(out, model, coder, UNUSUAL + unusual, is_unusual)
            unusual = is_unusual
            if unusual:
                coder = put_bit(out, model, coder, OTHER_FACTS, own_facts != facts)
                if own_facts != facts:
                    coder = put_raw(out, coder, own_facts, FACT_BITS)
                coder = put_bit(out, model, coder, LEADS, leads)
                if leads:
                    coder = put_bit(out, model, coder, OTHER_LEAD, np.int64(captures.lead[r]) != lead)
                    if np.int64(captures.lead[r]) != lead:
                        lead = np.int64(captures.lead[r])
                        coder = put_raw(out, coder, lead, LEAD_BITS)
                facts = own_facts
            own_day = np.int64(captures.day[r])
            if partial:
                coder = put_number(out, model, coder, PARTIAL_DAY, own_day)
                partials += 1
            else:
                coder = put_days(out, model, coder, context, own_day, day)
                day = own_day
                if partials > 0:
                    coder = put_number(out, model, coder, PARTIALS, np.int64(captures.before[r]))
            edits_before, edits = edits, np.int64(0)
            if not same:
                coder, edits = put_edit(out, model, coder, context, page, old, new, edits_before)
            if len(new[0]) > 0:
                old = new
        row = stop
    return row, end_writing(out, coder)
