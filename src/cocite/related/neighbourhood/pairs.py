"""Similarities of all pairs of a few pages: rounds of S ← C·W·S·Wᵀ, and how two pages are connected by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related import all_pairs as loops
from cocite.related.neighbourhood.subweb import Links

Matrix = NDArray[np.float64]
FARTHEST = 10_000
ROWS = 64
"""Rows of a block that one thread takes."""


def in_blocks(work: Callable[[int, int], object], count: int) -> None:
    """Do something for blocks of rows, on all cores."""
    blocks = [(first, min(first + ROWS, count)) for first in range(0, count, ROWS)]
    if len(blocks) < 4:
        for block in blocks:
            work(*block)
        return
    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        list(pool.map(lambda block: work(*block), blocks))


class Rounds:
    """The memory that rounds need, and one half of a round: W·S·Wᵀ."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._rows, self._turned = np.empty((count, count)), np.empty((count, count))

    def spread(self, starts: NDArray[np.int64], links: NDArray[np.int64], weights: Matrix, similar: Matrix) -> Matrix:
        """W·S·Wᵀ of a symmetric S; the next call overwrites it."""
        rows, turned, count = self._rows, self._turned, self.count
        in_blocks(lambda a, b: loops.weigh_rows(starts, links, weights, similar, a, b, rows), count)
        in_blocks(lambda a, b: loops.transpose(rows, a, b, turned), count)
        in_blocks(lambda a, b: loops.weigh_rows(starts, links, weights, turned, a, b, rows), count)
        return rows


def shares(links: Links, degree: NDArray[np.float64]) -> Matrix:
    """The weight of each link: one of so many of its page."""
    return 1 / np.maximum(1.0, degree)[links.owners]


def connect(similar: Matrix, sides: Sequence[Links], a: int, b: int) -> list[int]:
    """The places through which two pages are similar, from one to the other: each time the most similar neighbours.

    For measures that decay: neighbours are then more similar than the pages, until they are one page. Empty if the
    pages are not similar.
    """
    up, down = [a], [b]
    for _ in range(FARTHEST):
        best = (-1.0, 0, 0)
        for side in sides:
            first, second = side.of(a), side.of(b)
            i, j, value = loops.greatest_pair(similar, first, second)
            if value > best[0]:
                best = (value, int(first[i]), int(second[j]))
        if best[0] <= 0:
            return []
        _, a, b = best
        if a == b:
            return [*up, a, *down[::-1]]
        up.append(a)
        down.append(b)
    return []
