"""Compiled loops over word vectors: pages that share words with a vector, and their cosines with it.

Row r of a sparse matrix is ids[starts[r]:ends[r]] with weights likewise, in units of 1 / SCALE. Rows of a damaged file
that point outside the arrays are cut.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.bundles import lent
from cocite.kernels.hash_tables import (
    EMPTY,
    NumberedSet,
    add_member,
    add_members,
    bit_filter,
    is_likely,
    new_set,
    new_table,
    number_of,
)
from cocite.kernels.instructions import prefetch_item
from cocite.kernels.jit import kernel, lean_inline

SCALE = 65535.0
PREFETCH_ROWS = 8  # rows between prefetching one and reading it
CHUNK_WORDS = 256  # words of a row that are filtered at once
MAX_SAME_NAME = 3  # same-name pages kept for each page


@lent
class Sparse(NamedTuple):
    """A sparse matrix by rows."""

    starts: NDArray[np.int64]
    ids: NDArray[np.uint32]
    weights: NDArray[np.uint16]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, starts: NDArray[np.int64], ids: NDArray[np.uint32], weights: NDArray[np.uint16]) -> Self:
        """Rows that follow each other: `starts` has one more, for the end."""
        return cls(starts, ids, weights, starts[1:])


@lean_inline
def row_of(matrix, row):
    """The bounds of a row, cut to the arrays; a missing row is empty."""
    if row >= len(matrix.ends):
        return np.int64(0), np.int64(0)
    low = min(max(np.int64(matrix.starts[row]), 0), len(matrix.ids))
    return low, min(max(np.int64(matrix.ends[row]), low), len(matrix.ids))


@lean_inline
def insert_best(items, values, count, item, value):
    """Insert an item among the greatest values, best first, of equal ones the lower item. Returns how many there are.

    Both arrays have as many places as are kept; `count` of them are in use.
    """
    at = min(count, len(items))
    while at > 0 and (values[at - 1] < value or (values[at - 1] == value and items[at - 1] > item)):
        at -= 1
        if at + 1 < len(items):
            items[at + 1], values[at + 1] = items[at], values[at]
    if at < len(items):
        items[at], values[at] = item, value
    return min(count + 1, len(items))


@kernel
def cosines(rows, row, stop_words, pages, found):
    """Set found[i] to the cosine of row pages[i] and a row. It is 0 if they share stop words alone.

    Most words of most pages aren't in the row: a filter passes few of them, without branches. With rows prefetched,
    that takes 0.4 × the time of looking up every word.
    """
    start, stop = row_of(rows, row)
    words, weights, is_content = rows.ids[start:stop], np.empty(stop - start), np.empty(stop - start, np.bool_)
    for at in range(len(words)):
        weights[at] = rows.weights[start + at] / SCALE
        word = np.int64(words[at])  # a damaged file may name words that there are not
        is_content[at] = word < len(stop_words) and stop_words[word] == 0
    numbered, bits, likely = new_set(len(words)), bit_filter(words), np.empty(CHUNK_WORDS, np.int64)
    add_members(numbered, np.int64(0), words)
    table, ids, row_weights, size = numbered.table, rows.ids, rows.weights, len(rows.ends)
    for i in range(len(pages) if len(words) > 0 else 0):
        if i + 2 * PREFETCH_ROWS < len(pages) and pages[i + 2 * PREFETCH_ROWS] < size:
            prefetch_item(rows.starts, np.int64(pages[i + 2 * PREFETCH_ROWS]))
        if i + PREFETCH_ROWS < len(pages):
            begin = row_of(rows, pages[i + PREFETCH_ROWS])[0]
            prefetch_item(ids, begin)
            prefetch_item(row_weights, begin)
        low, high = row_of(rows, pages[i])
        total, any_content = 0.0, False
        for first in range(low, high, CHUNK_WORDS):
            count = np.int64(0)
            for k in range(first, min(high, first + CHUNK_WORDS)):
                likely[count] = k
                count += is_likely(bits, ids[k])
            for at in range(count):
                k = likely[at]
                number = number_of(table, ids[k])
                if number >= 0:
                    total += weights[number] * row_weights[k]
                    any_content |= is_content[number]
        found[i] = total / SCALE if any_content else 0.0
    if len(words) == 0:
        found[:] = 0.0


class Recent(NamedTuple):
    """Rows of a matrix that replace others: which they are, which of them are gone, and the columns they have now."""

    changed: NDArray[np.bool_]
    gone: NDArray[np.bool_]
    columns: Sparse


def _none(dtype: type[np.generic]) -> NDArray[Any]:
    return np.frombuffer(b"", dtype)  # read-only, as the arrays of a store are


@lent
class Words(NamedTuple):
    """The words of all pages, as kernels take them: see words/vectors.py. Empty arrays where a store has none."""

    pages: Sparse  # the words of each page
    columns: Sparse  # the pages of each word
    context: Sparse
    same_name: Sparse
    recent: Recent
    text_words: NDArray[np.uint16]
    stop: NDArray[np.uint8]
    home: NDArray[np.uint8]
    short_text: int  # words of a text to which those of linked pages are added


NO_ROWS = Sparse(_none(np.int64), _none(np.uint32), _none(np.uint16), _none(np.int64))
NONE_RECENT = Recent(_none(np.bool_), _none(np.bool_), NO_ROWS)
NO_WORDS = Words(*4 * (NO_ROWS,), NONE_RECENT, _none(np.uint16), *2 * (_none(np.uint8),), 0)


@lean_inline
def is_changed(recent, page):
    """Whether a page has other rows now."""
    return page < len(recent.changed) and recent.changed[page]


@lean_inline
def add_sum(numbered, sums, count, page, value):
    """Add a value to the sum of a page. Returns how many pages there are."""
    at = add_member(numbered, count, page)
    if at == count:
        sums[at] = 0.0
        count += 1
    sums[at] += value
    return count


@lean_inline
def is_gone(recent, page):
    """Whether a page is none any more."""
    return page < len(recent.gone) and recent.gone[page]


@kernel
def heaviest_words(rows, row):
    """The words of a row with their weights, the heaviest first."""
    low, high = row_of(rows, row)
    order = np.empty(high - low, np.int64)
    for k in range(high - low):
        order[k] = (np.int64(SCALE) - np.int64(rows.weights[low + k])) << 32 | k
    order.sort()
    words, weights = np.empty(len(order), np.uint32), np.empty(len(order))
    for i in range(len(order)):
        k = low + (order[i] & 0xFFFFFFFF)
        words[i], weights[i] = rows.ids[k], rows.weights[k] / SCALE
    return words, weights


@kernel
def pages_with(columns, recent, words, weights, room):
    """The pages that have any of the words, the first words first: (pages, what these words add to the cosine of each).

    A word on more pages than there is room for is skipped; if all are, the first pages of the first word are used.
    """
    is_read, left = np.empty(len(words), np.bool_), np.int64(room)
    for i in range(len(words)):
        low, high = row_of(columns, words[i])
        first, last = row_of(recent.columns, words[i])
        is_read[i] = high - low + last - first <= left
        left -= high - low + last - first if is_read[i] else 0
    pages, sums, count = np.empty(room - left, np.uint32), np.empty(room - left), np.int64(0)
    numbered = NumberedSet(new_table((room - left) * 3 // 4, EMPTY), pages)  # at least twice as long, not four times
    for i in range(len(words)):
        low, high = row_of(columns, words[i])
        first, last = row_of(recent.columns, words[i])
        for k in range(low, high if is_read[i] else low):
            if not is_changed(recent, columns.ids[k]):
                count = add_sum(numbered, sums, count, columns.ids[k], weights[i] * columns.weights[k])
        for k in range(first, last if is_read[i] else first):
            count = add_sum(numbered, sums, count, recent.columns.ids[k], weights[i] * recent.columns.weights[k])
    if count > 0 or len(words) == 0:
        return pages[:count], sums[:count]
    low, high = row_of(columns, words[0])
    high = min(high, low + left)
    pages, sums = np.empty(high - low, np.uint32), np.empty(high - low)
    for k in range(low, high):
        if not is_changed(recent, columns.ids[k]):
            pages[count], sums[count] = columns.ids[k], weights[0] * columns.weights[k]
            count += 1
    return pages[:count], sums[:count]


@kernel
def most_similar(words_of, page, most, room):
    """The `most` pages that are most similar to a page, in any order, among `room` that share its heaviest words.

    Of equally similar ones the first are taken.
    """
    words, weights = heaviest_words(words_of.pages, page)
    pages, sums = pages_with(words_of.columns, words_of.recent, words, weights, room)
    known, count = len(words_of.text_words), np.int64(0)
    for i in range(len(pages)):
        pages[count], sums[count] = pages[i], sums[i]
        count += pages[i] != page and pages[i] < known  # a damaged file may name others
    if count <= most:
        return pages[:count]
    pages, sums = pages[:count], sums[:count]
    least, kept = nth_greatest(sums, most) if most > 0 else np.inf, np.int64(0)
    equal = np.sort(pages[sums == least])
    for i in range(count):
        pages[kept] = pages[i]
        kept += sums[i] > least
    for i in range(min(most - kept, len(equal))):
        pages[kept + i] = equal[i]
    return pages[:most]


@kernel
def nth_greatest(values, n):
    """The n-th greatest of at least n values."""
    heap = values[:n].copy()
    for at in range(n // 2 - 1, -1, -1):
        sink(heap, at)
    for value in values[n:]:
        if value > heap[0]:
            heap[0] = value
            sink(heap, 0)
    return heap[0]


@lean_inline
def sink(heap, at):
    """Restore a heap with its least value on top, where the value at one place may be too great."""
    value, child = heap[at], 2 * at + 1
    while child < len(heap):
        if child + 1 < len(heap) and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = value


class Shown(NamedTuple):
    """How many terms evidence shows of those that two rows share."""

    terms: int
    least: float  # only terms that count this share of the first one


@kernel
def shared_terms(rows, row, others, most, stop_words):
    """How many terms each other row shares with a row, and the `most` of greatest product; -1 fills the rest.

    Stop words, for which `stop_words` is 1, are no terms.
    """
    counts, terms = np.zeros(len(others), np.int64), np.full((len(others), most), -1, np.int64)
    weights = np.zeros((len(others), most))
    first, last = row_of(rows, row)
    for i in range(len(others)):
        a, (b, stop), best, best_weights = first, row_of(rows, others[i]), terms[i], weights[i]
        while a < last and b < stop:
            if rows.ids[a] != rows.ids[b]:
                a, b = (a + 1, b) if rows.ids[a] < rows.ids[b] else (a, b + 1)
                continue
            term = np.int64(rows.ids[a])
            if term < len(stop_words) and stop_words[term] == 0:
                weight = (rows.weights[a] / SCALE) * (rows.weights[b] / SCALE)
                insert_best(best, best_weights, min(counts[i], most), term, weight)
                counts[i] += 1
            a, b = a + 1, b + 1
    return counts, terms, weights


@kernel
def strong_terms(rows, row, others, shown, stop_words):
    """For each other row: how many terms it shares with a row, and those that count most; -1 fills the rest."""
    counts, terms, weights = shared_terms(rows, row, others, shown.terms, stop_words)
    found = np.full((len(others), shown.terms + 1), -1)
    for i in range(len(others)):
        found[i, 0] = counts[i]
        for k in range(min(counts[i], shown.terms)):
            if weights[i, k] >= shown.least * weights[i, 0]:
                found[i, k + 1] = terms[i, k]
    return found
