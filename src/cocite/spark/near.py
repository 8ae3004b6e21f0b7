"""Pages with nearly the same links: as `kernels/near_duplicates.py` finds them, by sorts and joins.

Lists that are equal are found by a hash of their links. Of lists that may be alike, pairs of candidates share one of
their rarest links; both lists are then compared. Pages that hang together by such pairs are one, and the page of
highest in-degree stands for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.kernels.build.near_duplicates import MORE_THAN, SHORTEST, WINDOW
from cocite.spark.arrays import Batches, cut, joined, numbers, runs, whole_runs
from cocite.spark.outputs import WORK, Output

SKETCHES = "page long, popularity long, size int, hash long, sketch long, rarest binary"
PAIRS = "one long, other long"


def near_duplicates(output: Output, out: Any, kind: str) -> Any:
    """number, representative of pages that have near-duplicates; None if no page has."""
    from pyspark.sql import functions as F

    def sketch(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _sketch(batch, kind)

    some = out.where(F.length("targets") > MORE_THAN * np.dtype(kind).itemsize)
    lists = some.select("page", "popularity", "targets", "degrees")
    sketches = output.step(f"{WORK}/sketches", lambda: lists.mapInArrow(sketch, SKETCHES))
    equal = output.step(f"{WORK}/equal", lambda: _same(_equal(sketches), some, kind, equal=True))
    alone = sketches.where(F.col("size") >= SHORTEST)
    if not equal.isEmpty():
        firsts = output.step(f"{WORK}/equal-groups", lambda: components(output, "equal", equal))
        alone = alone.join(firsts.where("page != first").select("page"), "page", "left_anti")
    alike = output.step(f"{WORK}/alike", lambda: _same(_candidates(alone), some, kind, equal=False))
    pairs = equal.union(alike)
    if pairs.isEmpty():
        return None
    groups = output.step(f"{WORK}/groups", lambda: components(output, "all", pairs))
    popularity = sketches.select("page", "popularity")
    best = F.min(F.struct((-F.col("popularity")).alias("rank"), F.col("page").alias("representative")))
    found = groups.join(popularity, "page").groupBy("first").agg(best.alias("best"))
    return groups.join(found, "first").select(F.col("page").alias("number"), "best.representative")


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`mix` of the kernels, for arrays."""
    x = values * np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    return np.asarray(x ^ (x >> np.uint64(32)))


def _sketch(batch: pa.RecordBatch, kind: str) -> pa.RecordBatch:
    """Hash, sketch and rarest links of lists."""
    targets, starts = joined(batch.column("targets"), kind)
    degrees, _ = joined(batch.column("degrees"), kind)
    sizes = np.diff(starts)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    mixed = _mix(targets.astype(np.uint64))
    bits = np.uint64(1) << (mixed >> np.uint64(58))
    hashes = np.add.reduceat(mixed, starts[:-1]) if len(sizes) else np.zeros(0, np.uint64)
    sketches = np.bitwise_or.reduceat(bits, starts[:-1]) if len(sizes) else np.zeros(0, np.uint64)
    order = np.lexsort((targets, degrees, owner))
    prefix = np.where(sizes >= SHORTEST, sizes // 20 + 1, 0)
    first = np.arange(len(order)) - np.repeat(starts[:-1], sizes) < np.repeat(prefix, sizes)
    ends = np.append(0, np.cumsum(prefix))
    return pa.RecordBatch.from_arrays(
        [
            batch.column("page"),
            batch.column("popularity"),
            pa.array(sizes.astype(np.int32)),
            pa.array(hashes.view(np.int64)),
            pa.array(sketches.view(np.int64)),
            cut(targets[order][first].astype(np.int64), ends),
        ],
        names=["page", "popularity", "size", "hash", "sketch", "rarest"],
    )


def _equal(sketches: Any) -> Any:
    """Neighbours among lists of one length and hash."""
    rows = sketches.select("page", "size", "hash").repartition("hash").sortWithinPartitions("hash", "size", "page")

    def neighbours(batches: Batches) -> Iterator[pa.RecordBatch]:
        for table in whole_runs(batches, "hash"):
            page, size, hashed = (numbers(table[name]) for name in ("page", "size", "hash"))
            same = np.flatnonzero((size[1:] == size[:-1]) & (hashed[1:] == hashed[:-1]))
            yield _pairs(page[same], page[same + 1])

    return rows.mapInArrow(neighbours, PAIRS)


def _pairs(one: NDArray[np.int64], other: NDArray[np.int64]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(one), pa.array(other)], names=["one", "other"])


def _candidates(sketches: Any) -> Any:
    """Pairs of pages with one rarest link in common, of about the same length and sketch, each once.

    Of many pages with such a link each is compared with the WINDOW before it, by length and number.
    """

    def spread(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            tokens, starts = joined(batch.column("rarest"), np.int64)
            sizes = np.diff(starts)
            names = ("size", "page", "sketch")
            columns = [tokens, *(np.repeat(numbers(batch.column(name)), sizes) for name in names)]
            yield pa.RecordBatch.from_arrays([pa.array(each) for each in columns], names=["token", *names])

    rows = sketches.select("rarest", "size", "page", "sketch")
    rows = rows.mapInArrow(spread, "token long, size long, page long, sketch long")
    rows = rows.repartition("token").sortWithinPartitions("token", "size", "page")

    def near(batches: Batches) -> Iterator[pa.RecordBatch]:
        for table in whole_runs(batches, "token"):
            token, size, page = (numbers(table[name]) for name in ("token", "size", "page"))
            sketch = numbers(table["sketch"], np.uint64)
            longest = int(np.diff(runs(token)).max(initial=0))
            for step in range(1, min(WINDOW, longest - 1) + 1):
                later, before = slice(step, None), slice(None, -step)
                fits = (token[later] == token[before]) & (20 * size[before] >= 19 * size[later])
                at = np.flatnonzero(fits)
                bits = np.bitwise_count(sketch[at] ^ sketch[at + step])
                at = at[10 * bits.astype(np.int64) <= size[at + step]]
                yield _pairs(page[at], page[at + step])

    return rows.mapInArrow(near, PAIRS).distinct()


def _same(pairs: Any, lists: Any, kind: str, equal: bool) -> Any:
    """The pairs whose lists are equal, or share at least 95 % of the longer one."""
    from pyspark.sql import functions as F

    for name in ("one", "other"):
        own = lists.select(F.col("page").alias(name), F.col("targets").alias(f"of_{name}"))
        pairs = pairs.join(own, name)

    def compare(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            lengths, rows, targets = [], [], []
            for name in ("of_one", "of_other"):
                values, starts = joined(batch.column(name), kind)
                lengths.append(np.diff(starts))
                rows.append(np.repeat(np.arange(len(batch)), lengths[-1]))
                targets.append(values)
            row, target = np.concatenate(rows), np.concatenate(targets)
            order = np.lexsort((target, row))
            row, target = row[order], target[order]
            both = row[1:][(row[1:] == row[:-1]) & (target[1:] == target[:-1])]  # no list has a link twice
            shared = np.bincount(both, minlength=len(batch))
            longer, shorter = np.maximum(*lengths), np.minimum(*lengths)
            same = (shared == longer) & (shorter == longer) if equal else 20 * shared >= 19 * longer
            yield batch.filter(pa.array(same)).select(["one", "other"])

    return pairs.select("one", "other", "of_one", "of_other").mapInArrow(compare, PAIRS)


def components(output: Output, name: str, pairs: Any) -> Any:
    """page, first: the first page that each page of some pair hangs together with.

    Each round a page takes the least that it or a neighbour has, and then what that one has: ways halve every round.
    """
    from pyspark.sql import functions as F

    edges = pairs.select("one", "other").union(pairs.select("other", "one")).distinct()
    edges = output.step(f"{WORK}/{name}-edges", lambda: edges)
    least = edges.groupBy(F.col("one").alias("page")).agg(F.min("other").alias("first"))
    labels = output.step(f"{WORK}/{name}-0", lambda: least.select("page", F.least("page", "first").alias("first")))
    rounds = 0
    while True:
        rounds += 1
        near = edges.join(labels.withColumnRenamed("page", "other"), "other")
        near = near.groupBy(F.col("one").alias("page")).agg(F.min("first").alias("near"))
        taken = labels.join(near, "page").select("page", F.least("first", "near").alias("first"))
        further = labels.select(F.col("page").alias("first"), F.col("first").alias("next"))
        taken = taken.join(further, "first").select("page", F.least("first", "next").alias("first"))
        after = output.keep(f"{WORK}/{name}-{rounds}", taken)
        if after.join(labels, ["page", "first"], "left_anti").isEmpty():
            return after
        labels = after
