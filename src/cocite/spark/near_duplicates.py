"""Pages with nearly the same links: as `kernels/build/near_duplicates.py` finds them, by sorts and joins.

Equal lists have the same hash. Lists that may be similar share one of their rarest links, and are then compared. Pages
connected by such pairs are one group, represented by the page of highest in-degree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.kernels.build.near_duplicates import MORE_THAN, SHORTEST, WINDOW
from cocite.spark.arrays import (
    Batches,
    batch_of,
    numbers,
    on_batches,
    on_runs,
    pack_lists,
    run_starts,
    unpack_lists,
    whole_runs,
)
from cocite.spark.outputs import WORK, Output
from cocite.spark.session import F

SKETCHES = "page long, popularity long, size int, hash long, sketch long, rarest binary"
PAIRS = "one long, other long"


def near_duplicates(output: Output, out: Any, kind: str) -> Any:
    """number, representative of pages that have near-duplicates; None if no page has."""

    some = out.where(F.length("targets") > MORE_THAN * np.dtype(kind).itemsize)
    lists = some.select("page", "popularity", "targets", "degrees")
    sketches = output.step(f"{WORK}/sketches", lambda: lists.mapInArrow(on_batches(_sketch, kind), SKETCHES))
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
    targets, starts = unpack_lists(batch.column("targets"), kind)
    degrees, _ = unpack_lists(batch.column("degrees"), kind)
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
    return batch_of(
        page=batch.column("page"),
        popularity=batch.column("popularity"),
        size=sizes.astype(np.int32),
        hash=hashes.view(np.int64),
        sketch=sketches.view(np.int64),
        rarest=pack_lists(targets[order][first].astype(np.int64), ends),
    )


def _equal(sketches: Any) -> Any:
    """Neighbours among lists of one length and hash."""
    rows = sketches.select("page", "size", "hash").repartition("hash").sortWithinPartitions("hash", "size", "page")

    def neighbours(table: pa.Table) -> pa.RecordBatch:
        page, size, hashed = (numbers(table[name]) for name in ("page", "size", "hash"))
        same = np.flatnonzero((size[1:] == size[:-1]) & (hashed[1:] == hashed[:-1]))
        return batch_of(one=page[same], other=page[same + 1])

    return rows.mapInArrow(on_runs(neighbours, "hash"), PAIRS)


def _candidates(sketches: Any) -> Any:
    """Pairs of pages with one rarest link in common, of about the same length and sketch, each once.

    Of many pages with such a link each is compared with the WINDOW before it, by length and number.
    """

    def spread(batch: pa.RecordBatch) -> pa.RecordBatch:
        tokens, starts = unpack_lists(batch.column("rarest"), np.int64)
        repeated = {
            name: np.repeat(numbers(batch.column(name)), np.diff(starts)) for name in ("size", "page", "sketch")
        }
        return batch_of(token=tokens, **repeated)

    rows = sketches.select("rarest", "size", "page", "sketch")
    rows = rows.mapInArrow(on_batches(spread), "token long, size long, page long, sketch long")
    rows = rows.repartition("token").sortWithinPartitions("token", "size", "page")

    def near(batches: Batches) -> Iterator[pa.RecordBatch]:
        for table in whole_runs(batches, "token"):
            token, size, page = (numbers(table[name]) for name in ("token", "size", "page"))
            sketch = numbers(table["sketch"], np.uint64)
            longest = int(np.diff(run_starts(token)).max(initial=0))
            for step in range(1, min(WINDOW, longest - 1) + 1):
                later, before = slice(step, None), slice(None, -step)
                fits = (token[later] == token[before]) & (20 * size[before] >= 19 * size[later])
                at = np.flatnonzero(fits)
                bits = np.bitwise_count(sketch[at] ^ sketch[at + step])
                at = at[10 * bits.astype(np.int64) <= size[at + step]]
                yield batch_of(one=page[at], other=page[at + step])

    return rows.mapInArrow(near, PAIRS).distinct()


def _same(pairs: Any, lists: Any, kind: str, equal: bool) -> Any:
    """The pairs whose lists are equal, or share at least 95 % of the longer one."""
    for name in ("one", "other"):
        own = lists.select(F.col("page").alias(name), F.col("targets").alias(f"of_{name}"))
        pairs = pairs.join(own, name)

    def compare(batch: pa.RecordBatch) -> pa.RecordBatch:
        lists = [unpack_lists(batch.column(name), kind) for name in ("of_one", "of_other")]
        lengths = [np.diff(starts) for _, starts in lists]
        row = np.concatenate([np.repeat(np.arange(len(batch)), sizes) for sizes in lengths])
        target = np.concatenate([targets for targets, _ in lists])
        order = np.lexsort((target, row))
        row, target = row[order], target[order]
        both = row[1:][(row[1:] == row[:-1]) & (target[1:] == target[:-1])]  # no list has a link twice
        shared = np.bincount(both, minlength=len(batch))
        longer, shorter = np.maximum(*lengths), np.minimum(*lengths)
        same = (shared == longer) & (shorter == longer) if equal else 20 * shared >= 19 * longer
        return batch.filter(pa.array(same)).select(["one", "other"])

    return pairs.select("one", "other", "of_one", "of_other").mapInArrow(on_batches(compare), PAIRS)


def components(output: Output, name: str, pairs: Any) -> Any:
    """page, first: the first page that each page of some pair is connected with.

    Each round a page takes the smallest number that it or a neighbour has, and then that page's: paths halve.
    """
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
