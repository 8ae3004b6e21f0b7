"""Chosen parents of every page: all of them, or those of smallest hash, before anything is joined with them.

A page with more parents than may be chosen keeps those whose hash is small enough for about so many to be left, and of
these the first: the rule of `kernels/parents.py`. So a page with a million parents costs no more rows than its choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from cocite.spark.arrays import Batches, cut, numbers, places, runs, whole_runs
from cocite.spark.outputs import WORK, Output

SCHEMA = "page long, parents binary, links binary"
WHOLE = 18446744073709549568.0  # the largest number below 2^64 that a double can be


def choose_parents(output: Output, into: Any, most: int, kind: str) -> Any:
    """page, parents, links (how many each parent has): up to `most` parents of every page that has any.

    Parents ascend, unless there are more than `most`: then they are in the order of their hashes.
    """
    from pyspark.sql import functions as F

    def ascending(batches: Batches) -> Iterator[pa.RecordBatch]:
        for table in whole_runs(batches, "page"):
            page, source, links = (numbers(table[name]) for name in ("page", "source", "links"))
            yield _gathered(page, source, links, kind)

    light = into.where(F.col("parents") <= most).select("page", "source", "links").mapInArrow(ascending, SCHEMA)
    heavy = into.where(F.col("parents") > most)
    if most == 0 or heavy.isEmpty():
        return output.step(f"{WORK}/pools", lambda: light)
    first = output.step(f"{WORK}/heavy", lambda: _first_by_hash(heavy, most, kind, sure=False))
    short = first.where(F.length("parents") < most * np.dtype(kind).itemsize).select("page")
    if not short.isEmpty():  # somebody's addresses have great hashes: for them all are looked at
        again = heavy.join(short, "page", "left_semi")
        first = first.join(short, "page", "left_anti").union(_first_by_hash(again, most, kind, sure=True))
    return output.step(f"{WORK}/pools", lambda: light.union(first))


def _first_by_hash(heavy: Any, most: int, kind: str, sure: bool) -> Any:
    """Of every page the `most` parents of smallest hash; unless `sure`, perhaps fewer."""
    from pyspark.sql import functions as F

    # Spark's numbers are signed, hashes are compared unsigned.
    rows = heavy.withColumn("hash", F.col("hash").bitwiseXOR(F.lit(-(2**63)).cast("long")))
    if not sure:
        share = F.lit(most + 8 * sqrt(most) + 8) / F.col("parents")
        limit = (share * F.lit(WHOLE) - F.lit(2.0**63)).cast("long")
        rows = rows.where((share >= 1) | (F.col("hash") <= limit))
    rows = rows.select("page", "hash", "source", "links").repartition("page").sortWithinPartitions("page", "hash")

    def first(batches: Batches) -> Iterator[pa.RecordBatch]:
        for table in whole_runs(batches, "page"):
            page, source, links = (numbers(table[name]) for name in ("page", "source", "links"))
            starts = runs(page)
            kept = places(starts) < most
            yield _gathered(page[kept], source[kept], links[kept], kind)

    return rows.mapInArrow(first, SCHEMA)


def _gathered(page: Any, source: Any, links: Any, kind: str) -> pa.RecordBatch:
    """Rows of one page, one after another, as one row."""
    starts = runs(page)
    return pa.RecordBatch.from_arrays(
        [pa.array(page[starts[:-1]]), cut(source.astype(kind), starts), cut(links.astype(np.uint32), starts)],
        names=["page", "parents", "links"],
    )
