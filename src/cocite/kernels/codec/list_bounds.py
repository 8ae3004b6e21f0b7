"""Where each list of one direction begins and ends: `D.bounds` and `D.far` of graph/FORMAT.md.

A header says how wide an end is. Then every sixteen pages have a record, at a place that follows from their number:

    ┌────────┬───────────┬───────┬───────┬─────┬────────┬───────────┬─
    │ width  │ first bit │ end 0 │ end 1 │  …  │ end 15 │ first bit │ …
    └────────┴───────────┴───────┴───────┴─────┴────────┴───────────┴─
      64 bits  48 bits     width                          of the next sixteen

A list begins where the one before it ends; ends are counted from the record's first bit. If sixteen lists take more
bits than an end can say, the highest bit of `first bit` is set, and the others are the number of a row of `far`: the
first bit of these lists and their sixteen ends. Two loads give the bounds of a list, from one or two lines of the
cache.
"""

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from cocite.kernels.codec.link_codec import flush, put, short_window
from cocite.kernels.jit import kernel, lean_inline

PER_RECORD = 16  # pages
HEADER_BITS, FIRST_BITS = 64, 48
FAR_BIT = FIRST_BITS - 1
MAX_WIDTH = 28  # two ends are read at once
PER_FAR = PER_RECORD + 1  # values of a row of `far`
SPAN_LENGTHS = 65  # bit lengths of the bits of some lists
CHUNK_RECORDS = 1 << 16  # a multiple of 64: these end with a whole word


@lean_inline
def record_bits(bounds):
    """The bits of a record."""
    return FIRST_BITS + PER_RECORD * np.int64(bounds[0])


@lean_inline
def has_record(bounds, page):
    """Whether there is a record for a page: those that layers have added have none."""
    bits = record_bits(bounds)
    return HEADER_BITS + ((page >> 4) + 1) * bits <= (len(bounds) - 1) << 6


@lean_inline
def record_word(bounds, page):
    """The word of `bounds` that has the beginning of a page's record."""
    return (HEADER_BITS + (page >> 4) * record_bits(bounds)) >> 6


@lean_inline
def bounds_at(bounds, far, page):
    """The first bit of a page's list, and the bit after it."""
    width = np.int64(bounds[0])
    record = HEADER_BITS + (page >> 4) * (FIRST_BITS + PER_RECORD * width)
    first = np.int64(short_window(bounds, record) & ((uint64(1) << uint64(FIRST_BITS)) - uint64(1)))
    at = page & (PER_RECORD - 1)
    if first >> FAR_BIT:
        row = PER_FAR * (first & ((1 << FAR_BIT) - 1)) + at
        if row + 1 >= len(far):
            return np.int64(0), np.int64(0)
        return np.int64(far[row]), np.int64(far[row + 1])
    ends, mask = short_window(bounds, record + FIRST_BITS + (at - 1) * width), (uint64(1) << uint64(width)) - uint64(1)
    start = np.int64(ends & mask) if at > 0 else np.int64(0)
    return first + start, first + np.int64((ends >> uint64(width)) & mask)


@kernel
def write_records(before, ends, width, rows, words, far):
    """Write the records of lists, sixteen each: `before` is the first bit, ends[i] the bit after list i.

    `far` has `rows` rows before these. Returns how many more there are.
    """
    position, pending, more = np.int64(0), uint64(0), np.int64(0)
    for first in range(0, len(ends), PER_RECORD):
        begin = np.int64(ends[first - 1]) if first > 0 else np.int64(before)
        head, is_far = begin, (np.int64(ends[first + PER_RECORD - 1]) - begin) >> width > 0
        if is_far:
            head = (np.int64(1) << FAR_BIT) | (rows + more)
            far[PER_FAR * more] = begin
            far[PER_FAR * more + 1 : PER_FAR * (more + 1)] = ends[first : first + PER_RECORD]
            more += 1
        position, pending = put(words, position, pending, uint64(head), FIRST_BITS)
        for k in range(first, first + PER_RECORD):
            end = np.int64(0) if is_far else np.int64(ends[k]) - begin
            position, pending = put(words, position, pending, uint64(end), width)
    flush(words, position, pending)
    return more


@kernel
def read_ends(bounds, far, ends):
    """The bit after each list."""
    for page in range(len(ends)):
        ends[page] = bounds_at(bounds, far, page)[1]


def lengths_of(spans: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of some spans, the bits that sixteen lists take, have each bit length."""
    found: NDArray[np.int64] = np.bincount(np.frexp(spans.astype(np.float64))[1], minlength=SPAN_LENGTHS)
    return found


def best_width(lengths: NDArray[np.int64]) -> int:
    """The width of an end that takes the least room, for spans of these bit lengths."""
    far = lengths.sum() - np.cumsum(lengths)[: MAX_WIDTH + 1]
    return int(np.argmin(PER_RECORD * lengths.sum() * np.arange(MAX_WIDTH + 1) + 64 * PER_FAR * far))


def words_of(pages: int, width: int) -> int:
    """The length of `bounds`: a header, records for the pages and for the one after the last, a spare word."""
    return 2 + -(-(pages // PER_RECORD + 1) * (FIRST_BITS + PER_RECORD * width) // 64)


def are_valid(bounds: NDArray[np.uint64], pages: int) -> bool:
    """Whether an array has the records of that many pages: kernels rely on it."""
    if not len(bounds) or bounds.dtype != np.uint64:
        return False
    return int(bounds[0]) <= MAX_WIDTH and len(bounds) == words_of(pages, int(bounds[0]))


def padded(ends: NDArray[np.uint64], last: int) -> NDArray[np.uint64]:
    """The ends of the last lists, and of empty ones up to a whole record, with one at least."""
    return np.append(ends, np.full(PER_RECORD - len(ends) % PER_RECORD, last, np.uint64))


def records(
    before: int, ends: NDArray[np.uint64], width: int, rows: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Records, sixteen lists each, and their rows of `far`, behind `rows` others."""
    spans = ends[PER_RECORD - 1 :: PER_RECORD] - np.append(np.uint64(before), ends[PER_RECORD - 1 : -1 : PER_RECORD])
    words = np.zeros(-(-len(spans) * (FIRST_BITS + PER_RECORD * width) // 64), np.uint64)
    far = np.zeros(PER_FAR * int(np.count_nonzero(spans >> np.uint64(width))), np.uint64)
    fixed = ends.view()
    fixed.flags.writeable = False  # as some are: else the kernel would be compiled twice
    write_records(before, fixed, width, rows, words, far)
    return words, far


def packed(ends: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """`bounds` and `far` of lists from bit 0 on; list i ends at bit ends[i]."""
    whole = padded(ends, int(ends[-1]) if len(ends) else 0)
    spans = np.diff(np.append(np.uint64(0), whole[PER_RECORD - 1 :: PER_RECORD])).astype(np.int64)
    width = best_width(lengths_of(spans))
    words, far = records(0, whole, width, 0)
    return np.concatenate([[np.uint64(width)], words, [np.uint64(0)]]), far
