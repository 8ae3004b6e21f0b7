"""Counting pairs of keywords on several threads: which stand on the same page, and which pages of one link to pages of
another."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.kernels.words.keyword_pairs import (
    Pairs,
    Room,
    Rows,
    confidence_range,
    count_one,
    count_rows,
    measure_rows,
    room,
)

STAGE = "counting keywords of pages"
PARTS = 64
"""Parts of about equal work into which rows are cut: threads end at about the same time."""
BLOCK = 1 << 16
"""Rows whose work is summed up at a time."""
Output = TypeVar("Output")


def transposed(rows: Rows, columns: int) -> Rows:
    """The rows of each column, ascending."""
    starts = np.zeros(columns + 1, np.int64)
    np.cumsum(np.bincount(rows.columns, minlength=columns), out=starts[1:])
    of_row = np.repeat(np.arange(len(rows.starts) - 1, dtype=np.uint32), np.diff(rows.starts))
    return Rows(starts, of_row[np.argsort(rows.columns, kind="stable")])


def count_both(words: Rows, pages_of: Rows) -> Pairs:
    """On how many pages each two different words stand together; both ways round."""
    return product(pages_of, words, len(pages_of.starts) - 1)


def reached_words(words: Rows, links: Rows, vocabulary: int) -> Rows:
    """The words of the pages to which each page links, ascending, each once."""
    found = product(links, words, vocabulary, diagonal=True, counted=False)
    return Rows(found.starts, found.other)


def product(
    left: Rows, right: Rows, columns: int, least: int = 0, diagonal: bool = False, counted: bool = True
) -> Pairs:
    """How many middles lead from each row to each column, of rows that have at least `least` of them.

    Every row is counted twice: first to see how long it is. Raises BadParameter if that is too much for this machine.
    """
    spare: list[Room] = []  # as much as there are threads

    def work(kernel: Callable[..., None], first: int, last: int, output: NDArray[np.int64] | Pairs) -> None:
        space = spare.pop() if spare else room(columns)
        kernel(left, right, first, last, least, diagonal, space, output)
        spare.append(space)

    parts, sizes = cut(left, right), np.zeros(len(left.starts) - 1, np.int64)
    in_parts(parts, lambda first, last: work(measure_rows, first, last, sizes))
    starts = np.zeros(len(left.starts), np.int64)
    np.cumsum(sizes, out=starts[1:])
    total = int(starts[-1])
    check_memory(total * (8 if counted else 4), memory_of_machine())
    found = Pairs(starts, np.empty(total, np.uint32), np.empty(total if counted else 0, np.uint32))
    in_parts(parts, lambda first, last: work(count_rows, first, last, found))
    return found


def check_memory(wanted: int, memory: int) -> None:
    """Refuse a table of more than a third of the memory: there are two of them, and links besides."""
    if wanted > memory // 3:
        raise BadParameter(
            f"pairs of keywords take {wanted / 1e9:,.1f} GB, and this machine has {memory / 1e9:,.1f}: choose fewer "
            "keywords of each page, with cocite keywords --make --per-page 10"
        )


def memory_of_machine() -> int:
    """Bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def row_of(left: Rows, right: Rows, columns: int, row: int, least: int) -> Pairs:
    """One row of `product`, as a matrix of its own."""
    other, count, size = np.empty(columns, np.uint32), np.empty(columns, np.uint32), 0
    if left.starts[row + 1] - left.starts[row] >= least:
        size = count_one(left, right, row, room(columns), other, count)
    return Pairs(np.array([0, size]), other[:size], count[:size])


def shares(left: Rows, right: Rows, columns: int, least: int) -> tuple[float, float, int]:
    """Least and most share of a row's middles that lead to one column, and how many numbers `product` would have."""

    def work(first: int, last: int) -> tuple[float, float, int]:
        scratch = np.empty(columns, np.uint32), np.empty(columns, np.uint32)
        found: tuple[float, float, int] = confidence_range(left, right, first, last, least, room(columns), *scratch)
        return found

    found = in_parts(cut(left, right), work)
    lows, highs, pairs = zip(*found, strict=True) if found else ((0.0,), (0.0,), (0,))
    return min(lows), max(highs), sum(pairs)


def cut(left: Rows, right: Rows) -> list[tuple[int, int]]:
    """Ranges of rows that take about as long."""
    sizes, work, done = np.diff(right.starts), np.arange(len(left.starts)), 0
    for first in range(0, len(left.starts) - 1, BLOCK):  # not of all links at once, which may be 100 million
        rows = left.starts[first : first + BLOCK + 1]
        before = np.zeros(int(rows[-1] - rows[0]) + 1, np.int64)
        np.cumsum(sizes[left.columns[rows[0] : rows[-1]]], out=before[1:])
        work[first + 1 : first + len(rows)] += done + before[rows[1:] - rows[0]]
        done += int(before[-1])
    return ranges(work)


def ranges(work: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of rows with about as much work; `work` is what is done before each row, and in all."""
    inner = np.searchsorted(work, work[-1] * np.arange(1, PARTS) // PARTS)
    borders = np.unique(np.concatenate([[0], inner, [len(work) - 1]])).tolist()
    return list(pairwise(borders))


def in_parts(parts: list[tuple[int, int]], work: Callable[[int, int], Output]) -> list[Output]:
    """The outcome of work(first row, last row) for all parts, in order."""
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        return list(pool.map(lambda part: work(*part), parts))
