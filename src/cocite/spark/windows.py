"""Of long lists only what the windows round some pages show: all that Proximity reads of its parents' links.

A window is a number of links on either side of a page's link. What is kept of a list is in its order, and whole
within each window; so every window on it shows what it showed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.spark.arrays import Batches, cut, joined, numbers, places
from cocite.spark.cuts import Cut

LISTS = ("targets", "attributes", "degrees")


def shorten(lists: Any, parts: Cut, window: int, kind: str) -> Any:
    """Rows of lists, each for the part that is to have it: of long ones what its pages' windows show."""
    from pyspark.sql import functions as F

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _shortened(batch, parts, window, kind)

    is_long = F.length("targets") > (window + 1) * np.dtype(kind).itemsize
    return lists.where(~is_long).union(lists.where(is_long).mapInArrow(work, lists.schema))


def _shortened(batch: pa.RecordBatch, parts: Cut, window: int, kind: str) -> pa.RecordBatch:
    targets, starts = joined(batch.column("targets"), kind)
    part = np.repeat(numbers(batch.column("part")), np.diff(starts))
    asked = (targets >= parts.bounds[part]) & (targets < parts.bounds[part + 1])
    kept = shown(asked, starts, window)
    ends = np.append(0, np.cumsum(kept))[starts]
    columns = []
    for name in batch.schema.names:
        column = batch.column(name)
        if name in LISTS:
            column = cut(joined(column, np.uint32 if name == "attributes" else kind)[0][kept], ends)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def shown(asked: NDArray[np.bool_], starts: NDArray[np.int64], window: int) -> NDArray[np.bool_]:
    """Which links stand in the window of one that is asked for; lists have more than window + 1 links, and keep more.

    A list of no more would be seen whole, from any of its links: so the first of the others are kept, too.
    """
    at, sizes = np.flatnonzero(asked), np.diff(starts)
    list_of = np.searchsorted(starts, at, "right") - 1
    first = np.maximum(at - window // 2, starts[list_of])
    last = np.minimum(at + window // 2 + 1, starts[list_of + 1])
    opened = np.bincount(first, minlength=len(asked) + 1) - np.bincount(last, minlength=len(asked) + 1)
    kept = np.cumsum(opened[:-1]) > 0
    before = np.append(0, np.cumsum(kept))
    missing = window + 2 - np.diff(before[starts])
    passed_over = places(starts) - (before[:-1] - np.repeat(before[starts[:-1]], sizes))  # of the list, before a link
    return np.asarray(kept | (passed_over < np.repeat(missing, sizes)))
