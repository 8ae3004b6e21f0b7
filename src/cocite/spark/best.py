"""The parents of highest in-degree of every page, as a store keeps them ready."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cocite.graph.build.derive import BEST_PARENTS, MANY_PARENTS
from cocite.spark.arrays import Batches, cut, numbers, places, runs, whole_runs
from cocite.spark.cuts import Shards
from cocite.spark.outputs import WORK


def best_parents(shards: Shards) -> Any:
    """page, parents: all parents of a page that has few, the best of one that has many, as a store keeps them ready."""
    from pyspark.sql import functions as F

    kind = shards.kind

    def few(batches: Batches) -> Iterator[pa.RecordBatch]:
        for table in whole_runs(batches, "page"):
            yield _best(table, kind, None)

    def many(batches: Batches) -> Iterator[pa.RecordBatch]:
        for table in whole_runs(batches, "page"):
            yield _best(table, kind, BEST_PARENTS)

    def fewer(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            page, source, popularity = (numbers(batch.column(name)) for name in ("page", "source", "popularity"))
            order = np.lexsort((source, -popularity, page))
            starts = runs(page[order])
            kept = order[places(starts) < BEST_PARENTS]
            yield batch.take(pa.array(np.sort(kept)))

    rows = shards.into.select("page", "source", "popularity", "parents")
    light = rows.where(F.col("parents") <= MANY_PARENTS).repartition("page").sortWithinPartitions("page", "source")
    light = light.mapInArrow(few, "page long, parents binary")
    heavy = rows.where(F.col("parents") > MANY_PARENTS)
    heavy = heavy.mapInArrow(fewer, heavy.schema).repartition(
        "page"
    )  # of a million parents no task sends more than some
    heavy = heavy.sortWithinPartitions("page", F.desc("popularity"), "source").mapInArrow(
        many, "page long, parents binary"
    )
    return shards.output.step(f"{WORK}/best", lambda: light.union(heavy))


def _best(table: pa.Table, kind: str, most: int | None) -> pa.RecordBatch:
    page, source = numbers(table["page"]), numbers(table["source"])
    if most is not None:
        starts = runs(page)
        kept = places(starts) < most
        page, source = page[kept], source[kept]
    starts = runs(page)
    columns = [pa.array(page[starts[:-1]]), cut(source.astype(kind), starts)]
    return pa.RecordBatch.from_arrays(columns, names=["page", "parents"])
