"""Count pairs of keywords on several threads: those on the same page, and those that pages link to."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.kernels.words.keyword_pairs import Pairs, Room, Rows, confidence_range, count_one, count_rows, room

PARTS = 64
"""Parts of about equal work for the threads, which so end at about the same time."""
CHUNK_ROWS = 1 << 16
"""Rows whose work is summed at a time."""
Output = TypeVar("Output")


def transposed(rows: Rows, columns: int) -> Rows:
    """The rows of each column, ascending."""
    starts = np.zeros(columns + 1, np.int64)
    np.cumsum(np.bincount(rows.columns, minlength=columns), out=starts[1:])
    of_row = np.repeat(np.arange(len(rows.starts) - 1, dtype=np.uint32), np.diff(rows.starts))
    return Rows(starts, of_row[np.argsort(rows.columns, kind="stable")])


def count_both(words: Rows, pages_of: Rows) -> Pairs:
    """The number of pages with both words, for each two different words, in either order."""
    return product(pages_of, words, len(pages_of.starts) - 1)


def reached_words(words: Rows, links: Rows, vocabulary: int) -> Rows:
    """The different words of the pages that each page links to, ascending."""
    found = product(links, words, vocabulary, diagonal=True, counted=False)
    return Rows(found.starts, found.other)


def product(left: Rows, right: Rows, columns: int, diagonal: bool = False, counted: bool = True) -> Pairs:
    """The number of middles between each row and each column.

    Every row is counted twice, first for its length. Raises BadParameter if the result needs too much memory.
    """
    spare: list[Room] = []  # one for each thread
    parts, sizes = cut(left, right), np.zeros(len(left.starts) - 1, np.int64)

    def count(pairs: Pairs) -> None:
        def work(first: int, last: int) -> None:
            space = spare.pop() if spare else room(columns)
            count_rows(left, right, first, last, diagonal, space, sizes, pairs)
            spare.append(space)

        in_parts(parts, work)

    nothing = np.empty(0, np.uint32)
    starts = np.zeros(len(left.starts), np.int64)
    count(Pairs(starts, nothing, nothing))
    total = int(sizes.sum())
    check_memory(total * (8 if counted else 4), memory_of_machine())
    starts = np.concatenate([starts[:1], np.cumsum(sizes)])
    found = Pairs(starts, np.empty(total, np.uint32), np.empty(total, np.uint32) if counted else nothing)
    count(found)
    return found


def check_memory(wanted: int, memory: int) -> None:
    """Raise BadParameter for a table of more than a third of the memory: there are two, and links besides."""
    if wanted > memory // 3:
        raise BadParameter(
            f"Pairs of keywords need {wanted / 1e9:,.1f} GB, but this machine has {memory / 1e9:,.1f} GB: choose fewer "
            "keywords per page, with cocite keywords --make --per-page 10"
        )


def memory_of_machine() -> int:
    """Bytes of memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def row_of(left: Rows, right: Rows, columns: int, row: int, minimum: int) -> Pairs:
    """One row of `product` as a matrix of its own; empty if it has fewer than `minimum` middles."""
    other, count, size = np.empty(columns, np.uint32), np.empty(columns, np.uint32), 0
    if left.starts[row + 1] - left.starts[row] >= minimum:
        size = count_one(left, right, row, room(columns), other, count)
    return Pairs(np.array([0, size]), other[:size], count[:size])


def shares(left: Rows, right: Rows, columns: int, minimum: int) -> tuple[float, float, int]:
    """The lowest and highest share of a row's middles that lead to one column, and the number of such pairs."""

    def work(first: int, last: int) -> tuple[float, float, int]:
        found: tuple[float, float, int] = confidence_range(left, right, first, last, minimum, room(columns))
        return found

    found = in_parts(cut(left, right), work)
    lows, highs, pairs = zip(*found, strict=True) if found else ((0.0,), (0.0,), (0,))
    return min(lows), max(highs), sum(pairs)


def cut(left: Rows, right: Rows) -> list[tuple[int, int]]:
    """Ranges of rows with about the same work."""
    sizes, work, done = np.diff(right.starts), np.arange(len(left.starts)), 0
    for first in range(0, len(left.starts) - 1, CHUNK_ROWS):  # there may be 100 million links
        rows = left.starts[first : first + CHUNK_ROWS + 1]
        before = np.zeros(int(rows[-1] - rows[0]) + 1, np.int64)
        np.cumsum(sizes[left.columns[rows[0] : rows[-1]]], out=before[1:])
        work[first + 1 : first + len(rows)] += done + before[rows[1:] - rows[0]]
        done += int(before[-1])
    return ranges(work)


def ranges(work: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of rows with about the same work; `work` is the total before each row, and at the end."""
    inner = np.searchsorted(work, work[-1] * np.arange(1, PARTS) // PARTS)
    borders = np.unique(np.concatenate([[0], inner, [len(work) - 1]])).tolist()
    return list(pairwise(borders))


def in_parts(parts: list[tuple[int, int]], work: Callable[[int, int], Output]) -> list[Output]:
    """The results of work(first row, last row) for all parts, in order."""
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        return list(pool.map(lambda part: work(*part), parts))
