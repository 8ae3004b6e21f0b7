"""Parents of every page, chosen before anything is joined with them: by hash, and by in-degree.

A page with more parents than may be chosen keeps those of smallest hash, the rule of `kernels/build/parents.py`. A
limit on the hash leaves about that many, so a page with a million parents costs no more rows than its choice.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from cocite.graph.build.derive import BEST_PARENTS, MANY_PARENTS
from cocite.spark.arrays import (
    batch_of,
    numbers,
    on_batches,
    on_runs,
    pack_lists,
    positions,
    run_starts,
)
from cocite.spark.outputs import WORK, Output
from cocite.spark.session import F

POOLS = "page long, parents binary, links binary"
WHOLE = 18446744073709549568.0  # the largest number below 2^64 that a double can be


def choose_parents(output: Output, into: Any, most: int, kind: str) -> Any:
    """page, parents, links (how many each parent has): up to `most` parents of every page that has any.

    Parents ascend, unless there are more than `most`: then they are in the order of their hashes.
    """

    gather = on_runs(_gathered, "page", kind)
    light = into.where(F.col("parents") <= most).select("page", "source", "links").mapInArrow(gather, POOLS)
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
    # Spark's numbers are signed, hashes are compared unsigned.
    rows = heavy.withColumn("hash", F.col("hash").bitwiseXOR(F.lit(-(2**63)).cast("long")))
    if not sure:
        share = F.lit(most + 8 * sqrt(most) + 8) / F.col("parents")
        limit = (share * F.lit(WHOLE) - F.lit(2.0**63)).cast("long")
        rows = rows.where((share >= 1) | (F.col("hash") <= limit))
    rows = rows.select("page", "hash", "source", "links").repartition("page").sortWithinPartitions("page", "hash")

    return rows.mapInArrow(on_runs(_gathered, "page", kind, most), POOLS)


def _gathered(table: pa.Table, kind: str, most: int | None = None) -> pa.RecordBatch:
    """One row for each page: its parents, the first `most` of them, and how many links each parent has."""
    columns = {name: numbers(table[name]) for name in ("page", "source", "links") if name in table.column_names}
    if most is not None:
        kept = positions(run_starts(columns["page"])) < most
        columns = {name: values[kept] for name, values in columns.items()}
    starts = run_starts(columns["page"])
    found = {"page": columns["page"][starts[:-1]], "parents": pack_lists(columns["source"].astype(kind), starts)}
    if "links" in columns:
        found["links"] = pack_lists(columns["links"].astype(np.uint32), starts)
    return batch_of(**found)


def best_parents(output: Output, into: Any, kind: str) -> Any:
    """page, parents: all parents of a page that has few; of one that has many, the best, as a store keeps them."""
    schema = "page long, parents binary"
    rows = into.select("page", "source", "popularity", "parents")
    few = rows.where(F.col("parents") <= MANY_PARENTS).repartition("page").sortWithinPartitions("page", "source")
    many = rows.where(F.col("parents") > MANY_PARENTS)
    # First within each batch, so that no task sends a million parents of one page.
    many = many.mapInArrow(on_batches(_best_of_batch), many.schema).repartition("page")
    many = many.sortWithinPartitions("page", F.desc("popularity"), "source").select("page", "source")
    few = few.select("page", "source").mapInArrow(on_runs(_gathered, "page", kind), schema)
    many = many.mapInArrow(on_runs(_gathered, "page", kind, BEST_PARENTS), schema)
    return output.step(f"{WORK}/best", lambda: few.union(many))


def _best_of_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of a batch without parents that can't be among the best of their page."""
    page, source, popularity = (numbers(batch.column(name)) for name in ("page", "source", "popularity"))
    order = np.lexsort((source, -popularity, page))
    kept = order[positions(run_starts(page[order])) < BEST_PARENTS]
    return batch.take(pa.array(np.sort(kept)))
