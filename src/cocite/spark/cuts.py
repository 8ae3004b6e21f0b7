"""How the pages of a web are cut into parts, ranges of page numbers, and what a method needs of it.

Parts are cut by the number of parents and children of their pages; a part that would bring too many links together is
cut again, down to single pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.spark.outputs import Output

CELLS = 1 << 18
"""Cells, of which parts are made: as many as a driver can count."""
RELATIONS = 500_000
"""Parents and children of all pages of a part: some seconds of work, and on the standard graph 8 M links."""
MOST_LINKS = 8_000_000
"""Links that a part of several pages may bring together: 400 MB, with all that is made of them."""


@dataclass(frozen=True)
class Needs:
    """What a method looks at, beside chosen parents and their links."""

    unit: str  # none: no unit is asked for
    fingerprints: bool  # parents are chosen again among those that are not refused
    attributes: bool
    children: int  # 0: no children, and no spouses
    whole: bool  # all links of spouses are read, not only those to children
    window: int = 0  # of lists longer than that only what stands so near round a page asked about; 0: all


@dataclass(frozen=True)
class Shards:
    """A store's shards, and what was chosen of them."""

    output: Output
    pages: Any
    out: Any
    into: Any
    pools: Any
    kind: str
    count: int


@dataclass(frozen=True)
class Cut:
    """Where parts begin; the last is the end of all pages."""

    bounds: NDArray[np.int64]

    @property
    def parts(self) -> int:
        return len(self.bounds) - 1

    def of(self, pages: NDArray[np.int64]) -> NDArray[np.int32]:
        """The part of each page."""
        return (np.searchsorted(self.bounds, pages, "right") - 1).astype(np.int32)


def first_cut(shards: Shards, most: int, children: int, relations: int = RELATIONS) -> Cut:
    """Parts of about equally many parents and children to look at."""
    from pyspark.sql import functions as F

    width = max(1, -(-shards.count // CELLS))
    weight = F.least(F.col("in_degree"), F.lit(most)) + F.least(F.col("out_degree"), F.lit(children)) + 1
    cells = shards.pages.groupBy(F.floor(F.col("number") / width).alias("cell")).agg(F.sum(weight)).collect()
    weights = np.zeros(-(-shards.count // width))
    for cell, total in cells:
        weights[cell] = total
    before = np.cumsum(weights) - weights
    part = before // relations
    starts = np.flatnonzero(np.append(True, part[1:] != part[:-1])) * width
    return Cut(np.append(starts, shards.count).astype(np.int64))


def cut_again(cut: Cut, sizes: dict[int, int], most: int = MOST_LINKS, finer: int = 1) -> Cut:
    """The same parts, those that bring too many links together in pieces; as they are if all such are single pages."""
    bounds = [0]
    for part in range(cut.parts):
        low, high = int(cut.bounds[part]), int(cut.bounds[part + 1])
        size = sizes.get(part, 0)
        pieces = min(high - low, -(-size * 3 * finer // (2 * most)) if size > most else 1)
        bounds.extend(low + (high - low) * (piece + 1) // pieces for piece in range(pieces))
    return Cut(np.array(bounds, np.int64))
