"""The code of captures: each is written as what differs from the next newer capture of its page.

A page has its captures newest first. The links of a capture are an edit of a *reference*: the links of the next newer
capture that has any, and for the newest one the links that the store has. So a link that was never changed costs
nothing, and a capture that changed nothing costs about a bit. An edit is

    length - length of the reference, if it differs; then until all links are there:
    copy n links of the reference, or all │ skip s of them, add n, shift the blocks of later copies │ the links to add

Encoding has two steps: `compare_captures` makes *tokens*, whose Huffman codes are made from their counts; then
`write_tokens` writes bits. A token is a symbol of a *field* and raw bits that follow. A number below 192 is a symbol, a
larger one is that of its bit length and its other bits. FORMAT.md gives every bit. Decoding stays inside its arrays
whatever the bits say.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.codec.attributes import block_of, flags_of
from cocite.kernels.codec.link_codec import DAMAGED, MASK, bit_length, flush, put, window
from cocite.kernels.jit import inline, kernel

RECORDS, DAY, FLAGS, LENGTH, COPY, EDIT, MORE, SHIFT, TARGET, ATTRIBUTE, RAW = range(11)
"""The fields. RAW has no symbols: its token gives the number of bits."""
TOKEN_FIELDS = RAW
FIELD_SYMBOLS = 256
TOKEN_ESCAPE = FIELD_SYMBOLS  # the symbol before an uncoded one, of 8 bits
SAME_LINKS, SAME_FACTS, LEADS, IS_PARTIAL, OTHER_LENGTH = 1, 2, 4, 8, 16  # flags of a capture
SAME, NEXT_BLOCK, OTHER = 0, 1, 2  # the attribute of an added link beside that of the link before it
FACT_BITS, LEAD_BITS, ATTRIBUTE_BITS = 8 + 16 + 32, 32, 32
LENGTHS = 33  # bit lengths of a number
DIRECT_NUMBERS = 192  # numbers that are symbols
EDIT_BASE = 6  # an edit's symbol is skipped * 6 + added, with 5 for more, and 36 more if blocks shift
WINDOW_LINKS = 32  # how far an edit looks for the place where both lists go on alike
PARTIAL_KIND = 1  # of a record, as in graph/build/scratch.py


class Captures(NamedTuple):
    """Captures of neighbouring pages: those of a page follow each other, partial ones first, then newest first."""

    page: NDArray[np.uint32]
    day: NDArray[np.uint32]  # index into the table of days, 0: unknown
    facts: NDArray[np.uint64]  # kind, status << 8, language << 24
    lead: NDArray[np.uint32]  # the page that an alias leads to, NO_LEAD for others
    before: NDArray[np.uint32]  # partial captures of the page before it in the sources, for those that aren't partial
    first: NDArray[np.int64]  # its first link; one more for the end
    target: NDArray[np.uint32]
    attribute: NDArray[np.uint32]


class References(NamedTuple):
    """The links that the store has of pages [low, low + n)."""

    low: int
    last_day: int  # index of the newest day of all captures
    first: NDArray[np.int64]  # the first link of each page; one more for the end
    target: NDArray[np.uint32]
    attribute: NDArray[np.uint32]


class CodedHistory(NamedTuple):
    """The bits of all captures."""

    words: NDArray[np.uint64]
    tables: NDArray[np.uint32]  # by field and the next 12 bits: symbol << 4 | code length
    longest: int  # links of one capture or reference, at most


NO_LEAD = 0xFFFFFFFF


@inline
def shifted(attribute, shift):
    """An attribute with its block moved; an unknown block stays unknown."""
    return attribute + shift if block_of(attribute) > 0 else attribute


@inline
def zigzag(value):
    """A number of either sign as a natural number: 0, -1, 1, -2 …"""
    return value << 1 if value >= 0 else (-value << 1) - 1


@inline
def unzigzag(value):
    """The number of a zigzag."""
    return -((value + 1) >> 1) if value & 1 else value >> 1


@inline
def note(symbols, rests, at, field, symbol, rest):
    """Add a token, if there is room: without room, tokens are only counted."""
    if at < len(symbols):
        symbols[at] = field << 8 | symbol
        rests[at] = uint64(rest)
    return at + 1


@inline
def note_number(symbols, rests, at, field, value):
    """Add a number: a symbol, or its bit length, and the bits after the highest."""
    if value < DIRECT_NUMBERS:
        return note(symbols, rests, at, field, value, np.int64(0))
    length = bit_length(value)
    return note(symbols, rests, at, field, DIRECT_NUMBERS + length, value - (np.int64(1) << (length - 1)))


@inline
def step_to(page, previous, target):
    """(mode, distance) of a target: from the link before or from the page, upwards or downwards."""
    near = target - previous - 1 if target > previous else previous - target - 1
    far = target - page - 1 if target > page else page - target - 1
    if target != previous and (near <= far or target == page):
        return (0 if target > previous else 1), near
    return (2 if target > page else 3), far


@inline
def may_follow(a, b):
    """Whether two attributes differ by a shift of blocks at most."""
    return flags_of(a) == flags_of(b) and (block_of(a) > 0) == (block_of(b) > 0)


@kernel
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


@kernel
def note_edit(symbols, rests, at, page, old, new):
    """Add the tokens that make the links `new` of the links `old`: both are (targets, attributes)."""
    old_target, old_attribute = old
    new_target, new_attribute = new
    if len(new_target) != len(old_target):
        at = note_number(symbols, rests, at, LENGTH, zigzag(np.int64(len(new_target)) - np.int64(len(old_target))))
    i, j, shift = np.int64(0), np.int64(0), np.int64(0)
    while j < len(new_target):
        start = j
        while i < len(old_target) and j < len(new_target) and old_target[i] == new_target[j]:
            if shifted(np.int64(old_attribute[i]), shift) != np.int64(new_attribute[j]):
                break
            i, j = i + 1, j + 1
        if j == len(new_target):
            at = note_number(symbols, rests, at, COPY, np.int64(0))
            break
        at = note_number(symbols, rests, at, COPY, j - start + 1)
        skipped, added, found = find_resume(old_target[i:], old_attribute[i:], new_target[j:], new_attribute[j:])
        moved = np.int64(0)
        if found:
            olds = np.int64(block_of(np.int64(old_attribute[i + skipped])))
            moved = np.int64(block_of(np.int64(new_attribute[j + added]))) - olds - (shift if olds > 0 else np.int64(0))
        symbol = (
            min(skipped, EDIT_BASE - 1) * EDIT_BASE
            + min(added, EDIT_BASE - 1)
            + (EDIT_BASE * EDIT_BASE if moved != 0 else 0)
        )
        at = note(symbols, rests, at, EDIT, symbol, np.int64(0))
        if skipped >= EDIT_BASE - 1:
            at = note_number(symbols, rests, at, MORE, skipped - EDIT_BASE + 1)
        if added >= EDIT_BASE - 1:
            at = note_number(symbols, rests, at, MORE, added - EDIT_BASE + 1)
        if moved != 0:
            at = note_number(symbols, rests, at, SHIFT, zigzag(moved))
        for k in range(j, j + added):
            previous = np.int64(new_target[k - 1]) if k > 0 else page
            before = np.int64(new_attribute[k - 1]) if k > 0 else np.int64(0)
            mode, distance = step_to(page, previous, np.int64(new_target[k]))
            length = bit_length(distance)
            rest = distance - (np.int64(1) << (length - 1)) if length > 1 else np.int64(0)
            at = note(symbols, rests, at, TARGET, mode * LENGTHS + length, rest)
            attribute = np.int64(new_attribute[k])
            if attribute == before:
                at = note(symbols, rests, at, ATTRIBUTE, SAME, np.int64(0))
            elif attribute == before + 1:
                at = note(symbols, rests, at, ATTRIBUTE, NEXT_BLOCK, np.int64(0))
            else:
                at = note(symbols, rests, at, ATTRIBUTE, OTHER, attribute)
        i, j = i + skipped, j + added
        shift += moved
    return at


@kernel
def compare_captures(captures, references, symbols, rests, starts):
    """Tokens of the captures of pages [low, low + n), and where those of each page start; returns their number.

    Call it with empty `symbols` and `rests` to count them first.
    """
    at, row = np.int64(0), np.int64(0)
    for own in range(len(references.first) - 1):
        page = np.int64(references.low + own)
        starts[own] = at
        stop = row
        while stop < len(captures.page) and np.int64(captures.page[stop]) == page:
            stop += 1
        at = note_number(symbols, rests, at, RECORDS, stop - row)
        first, last = references.first[own], references.first[own + 1]
        old = references.target[first:last], references.attribute[first:last]
        facts, day, partials = np.uint64(0), np.int64(references.last_day), np.int64(0)
        for r in range(row, stop):
            first, last = captures.first[r], captures.first[r + 1]
            new = captures.target[first:last], captures.attribute[first:last]
            same = len(new[0]) == len(old[0])
            for k in range(len(new[0]) if same else 0):
                if new[0][k] != old[0][k] or new[1][k] != old[1][k]:
                    same = False
                    break
            partial = np.int64(captures.facts[r]) & PARTIAL_KIND > 0
            leads = captures.lead[r] != NO_LEAD
            flags = SAME_LINKS if same else 0
            flags |= (SAME_FACTS if captures.facts[r] == facts else 0) | (LEADS if leads else 0)
            flags |= (IS_PARTIAL if partial else 0) | (OTHER_LENGTH if len(new[0]) != len(old[0]) else 0)
            at = note(symbols, rests, at, FLAGS, flags, np.int64(0))
            if captures.facts[r] != facts:
                facts = captures.facts[r]
                at = note(symbols, rests, at, RAW, FACT_BITS, np.int64(facts))
            if leads:
                at = note(symbols, rests, at, RAW, LEAD_BITS, np.int64(captures.lead[r]))
            own_day = np.int64(captures.day[r])
            if partial:
                at = note_number(symbols, rests, at, RECORDS, own_day)
                partials += 1
            else:
                at = note_number(symbols, rests, at, DAY, day - own_day)
                day = own_day
                if partials > 0:
                    at = note_number(symbols, rests, at, RECORDS, np.int64(captures.before[r]))
            if not same:
                at = note_edit(symbols, rests, at, page, old, new)
            if len(new[0]) > 0:
                old = new
        row = stop
    starts[len(references.first) - 1] = at
    return at


@inline
def rest_bits(field, symbol):
    """The number of raw bits after a symbol."""
    if field == RAW:
        return symbol
    if field == ATTRIBUTE:
        return np.int64(ATTRIBUTE_BITS) if symbol == OTHER else np.int64(0)
    length = symbol % LENGTHS if field == TARGET else symbol - DIRECT_NUMBERS
    return length - 1 if length > 1 else np.int64(0)


@kernel
def write_tokens(symbols, rests, codes, lengths, words, starts, bits):
    """Write tokens into `words`; bits[i] receives the bit of token starts[i]. Returns the number of bits."""
    position, pending, own = np.int64(0), uint64(0), np.int64(0)
    for k in range(len(symbols) + 1):
        while own < len(starts) and starts[own] == k:
            bits[own] = position
            own += 1
        if k == len(symbols):
            break
        field, symbol = np.int64(symbols[k]) >> 8, np.int64(symbols[k]) & 255
        if field != RAW:
            if lengths[field, symbol] > 0:
                position, pending = put(
                    words, position, pending, uint64(codes[field, symbol]), np.int64(lengths[field, symbol])
                )
            else:
                escape = np.int64(lengths[field, TOKEN_ESCAPE])
                piece = uint64(codes[field, TOKEN_ESCAPE]) | uint64(symbol) << uint64(escape)
                position, pending = put(words, position, pending, piece, escape + 8)
        more = rest_bits(field, symbol)
        if more > 0:
            position, pending = put(words, position, pending, rests[k], more)
    flush(words, position, pending)
    return position


# Reading. A position of DAMAGED stays so, and every value read there is 0.


@inline
def read_bits(words, position, bits):
    """The number in the next bits, at most 63, and the position after them."""
    if position < 0 or position + bits > (np.int64(len(words)) - 1) << 6:
        return np.int64(0), np.int64(DAMAGED)
    return np.int64(window(words, position) & ((uint64(1) << uint64(bits)) - uint64(1))), position + bits


@inline
def read_symbol(coded, position, field):
    """The next symbol of a field, and the position after it."""
    if position < 0 or position >= (np.int64(len(coded.words)) - 1) << 6:
        return np.int64(0), np.int64(DAMAGED)
    entry = np.int64(coded.tables[field, np.int64(window(coded.words, position) & MASK)])
    symbol, length = entry >> 4, entry & 15
    if length == 0:
        return np.int64(0), np.int64(DAMAGED)
    if symbol == TOKEN_ESCAPE:
        return read_bits(coded.words, position + length, np.int64(8))
    return symbol, position + length


@inline
def read_rest(coded, position, length):
    """The number of a bit length, and the position after it."""
    if position < 0 or length >= LENGTHS:
        return np.int64(0), np.int64(DAMAGED)
    if length <= 1:
        return length, position
    low, position = read_bits(coded.words, position, length - 1)
    return (np.int64(1) << (length - 1)) + low, position


@inline
def read_value(coded, position, field):
    """The next number of a field, and the position after it."""
    symbol, position = read_symbol(coded, position, field)
    return (symbol, position) if symbol < DIRECT_NUMBERS else read_rest(coded, position, symbol - DIRECT_NUMBERS)


@kernel
def read_edit(coded, position, page, pages, old, new, is_as_long):
    """Read an edit of the links `old` into `new`; returns (number of links, position): DAMAGED if it makes no sense."""
    old_target, old_attribute = old
    new_target, new_attribute = new
    length = np.int64(len(old_target))
    if not is_as_long:
        change, position = read_value(coded, position, LENGTH)
        length += unzigzag(change)
    if position < 0 or not 0 <= length <= len(new_target):
        return np.int64(0), np.int64(DAMAGED)
    i, j, shift = np.int64(0), np.int64(0), np.int64(0)
    while j < length:
        copied, position = read_value(coded, position, COPY)
        copied = length - j if copied == 0 else copied - 1
        if position < 0 or copied > length - j or copied > len(old_target) - i:
            return np.int64(0), np.int64(DAMAGED)
        for _ in range(copied):
            new_target[j] = old_target[i]
            new_attribute[j] = shifted(np.int64(old_attribute[i]), shift)
            i, j = i + 1, j + 1
        if j == length:
            break
        symbol, position = read_symbol(coded, position, EDIT)
        skipped, added, moved = symbol % (EDIT_BASE * EDIT_BASE) // EDIT_BASE, symbol % EDIT_BASE, np.int64(0)
        if skipped == EDIT_BASE - 1:
            more, position = read_value(coded, position, MORE)
            skipped += more
        if added == EDIT_BASE - 1:
            more, position = read_value(coded, position, MORE)
            added += more
        if symbol >= EDIT_BASE * EDIT_BASE:
            moved, position = read_value(coded, position, SHIFT)
        if position < 0 or skipped > len(old_target) - i or added > length - j:
            return np.int64(0), np.int64(DAMAGED)
        for _ in range(added):
            previous = np.int64(new_target[j - 1]) if j > 0 else page
            before = np.int64(new_attribute[j - 1]) if j > 0 else np.int64(0)
            symbol, position = read_symbol(coded, position, TARGET)
            distance, position = read_rest(coded, position, symbol % LENGTHS)
            mode = symbol // LENGTHS
            start = previous if mode < 2 else page
            target = start + 1 + distance if mode & 1 == 0 else start - 1 - distance
            kind, position = read_symbol(coded, position, ATTRIBUTE)
            attribute = before
            if kind == NEXT_BLOCK:
                attribute = before + 1
            elif kind == OTHER:
                attribute, position = read_bits(coded.words, position, np.int64(ATTRIBUTE_BITS))
            if position < 0 or not 0 <= target < pages:
                return np.int64(0), np.int64(DAMAGED)
            new_target[j], new_attribute[j] = target, attribute
            j += 1
        if position < 0 or (copied == 0 and skipped == 0 and added == 0 and moved == 0):
            return np.int64(0), np.int64(DAMAGED)
        i += skipped
        shift += unzigzag(moved)
    return length, position


@kernel
def read_captures(coded, position, references, pages, until, out, rows):
    """Read the captures of pages [low, low + n) into `out`, those that may count on day `until` (an index).

    These are the partial ones, and the newest one of each kind: under the page's own address or another, an alias or
    not. All if `until` is negative. rows[r] receives the number of capture r among all of these pages, that of the
    first one of its page, and the number of links before it. Returns (captures, links, all captures, position), a
    position of DAMAGED for damage. Call it with empty arrays to count them first.
    """
    longest = coded.longest
    targets, attributes = np.empty((2, longest), np.uint32), np.empty((2, longest), np.uint32)
    count, links, number, passed = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    bad = (count, links, number, np.int64(DAMAGED))
    for own in range(len(references.first) - 1):
        page = np.int64(references.low + own)
        total, position = read_value(coded, position, RECORDS)
        if position < 0:
            return bad
        first, last = references.first[own], references.first[own + 1]
        old = references.target[first:last], references.attribute[first:last]
        facts, day, turn, chosen = np.int64(0), np.int64(references.last_day), 0, np.int64(0)
        start, partials = number, np.int64(0)
        for _ in range(total):
            flags, position = read_symbol(coded, position, FLAGS)
            if flags & SAME_FACTS == 0:
                facts, position = read_bits(coded.words, position, np.int64(FACT_BITS))
            lead = np.int64(NO_LEAD)
            if flags & LEADS:
                lead, position = read_bits(coded.words, position, np.int64(LEAD_BITS))
                if lead >= pages:
                    return bad
            partial = flags & IS_PARTIAL > 0
            own_day, before = np.int64(0), np.int64(0)
            if partial:
                own_day, position = read_value(coded, position, RECORDS)
                partials += 1
            else:
                gap, position = read_value(coded, position, DAY)
                own_day = day - gap
                day = own_day
                if partials > 0:
                    before, position = read_value(coded, position, RECORDS)
            if position < 0 or own_day < 0:
                return bad
            new = old
            if flags & SAME_LINKS == 0:
                size, position = read_edit(
                    coded, position, page, pages, old, (targets[turn], attributes[turn]), flags & OTHER_LENGTH == 0
                )
                if position < 0:
                    return bad
                new = targets[turn][:size], attributes[turn][:size]
                if size > 0:
                    turn = 1 - turn
            kind = np.int64(1) << ((facts >> 1) & 3)
            wanted = until < 0 or (own_day <= until and (partial or chosen & kind == 0))
            if wanted:
                chosen |= np.int64(0) if partial else kind
                if count < len(out.page):
                    out.page[count], out.day[count], out.facts[count] = page, own_day, uint64(facts)
                    out.lead[count], out.before[count], out.first[count] = lead, before, links
                    rows[count, 0], rows[count, 1], rows[count, 2] = number, start, passed
                    for k in range(min(len(new[0]), len(out.target) - links)):
                        out.target[links + k], out.attribute[links + k] = new[0][k], new[1][k]
                count += 1
                links += len(new[0])
            number += 1
            passed += len(new[0])
            if len(new[0]) > 0:
                old = new
    return count, links, number, position
