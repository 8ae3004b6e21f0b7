"""Pages with nearly the same links, by the rules of `kernels/build/near_duplicates.py`, with sorts and joins.

Equal lists have the same digest. Lists that may be similar share one of their rarest links, and are compared. Pages
connected by such pairs are one group, represented by the page of highest in-degree.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cocite.kernels.build.near_duplicates import MAX_COMPARED_PAGES, MIN_LINKS, MIN_PREFIX_LINKS
from cocite.sources.folders import WORK
from cocite.spark.arrays import list_starts, numbers, pack_lists, positions, run_starts, spread, unpack_lists
from cocite.spark.batches import Batches, on_batches, whole_runs
from cocite.spark.outputs import JobFolder
from cocite.spark.resolve import connected

PAIRS = "one long, other long"


def near_duplicates(folder: JobFolder, out: Any, kind: str) -> Any:
    """number, representative of pages that have near-duplicates; None if no page has."""
    lists = out.where(f"length(targets) >= {MIN_LINKS * np.dtype(kind).itemsize}")
    lists = lists.select("page", "popularity", "targets", "degrees")
    schema = "page long, popularity long, size long, sketch long, ascending binary, rarest binary"
    sketches = lists.mapInArrow(on_batches(_sketch, kind), schema)
    sketches = sketches.selectExpr("*", "sha2(ascending, 256) as digest").drop("ascending")
    sketches = folder.step(f"{WORK}/sketches", sketches)
    firsts = sketches.groupBy("digest").agg({"page": "min"}).withColumnRenamed("min(page)", "other")
    equal = sketches.selectExpr("page as one", "digest").join(firsts, "digest").where("one != other")
    equal = folder.step(f"{WORK}/equal", equal.select("one", "other"))
    # Pages that share a rarest link are compared if they have about the same length and sketch.
    alone = sketches.where(f"size >= {MIN_PREFIX_LINKS}").join(equal.selectExpr("one as page"), "page", "left_anti")
    tokens = alone.mapInArrow(on_batches(_rarest), "token long, size long, page long, sketch long")
    tokens = tokens.repartition("token").sortWithinPartitions("token", "size", "page")
    pairs = tokens.mapInArrow(_candidates, PAIRS).distinct()
    for name in ("one", "other"):
        pairs = pairs.join(lists.selectExpr(f"page as {name}", f"targets as {name}_targets"), name)
    pairs = equal.union(folder.step(f"{WORK}/alike", pairs.mapInArrow(on_batches(_similar, kind), PAIRS)))
    if pairs.isEmpty():
        return None
    groups = folder.step(f"{WORK}/groups", lambda: connected(folder, "all", pairs))
    ranked = groups.join(sketches, "page").selectExpr("first", "struct(-popularity as rank, page) as best")
    best = ranked.groupBy("first").agg({"best": "min"}).selectExpr("first", "`min(best)`.page as representative")
    return groups.join(best, "first").selectExpr("page as number", "representative")


def _sketch(batch: pa.RecordBatch, kind: str) -> pa.RecordBatch:
    """Sketch, ascending links and rarest links of lists."""
    targets, starts = unpack_lists(batch.column("targets"), kind)
    degrees, _ = unpack_lists(batch.column("degrees"), kind)
    sizes = np.diff(starts)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    mixed = targets.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # as the kernel's `mix`
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = np.uint64(1) << ((mixed ^ (mixed >> np.uint64(32))) >> np.uint64(58))
    sketches = np.bitwise_or.reduceat(bits, starts[:-1]) if len(sizes) else np.zeros(0, np.uint64)
    prefix = np.where(sizes >= MIN_PREFIX_LINKS, sizes // 20 + 1, 0)
    rarest = targets[np.lexsort((targets, degrees, owner))][positions(starts) < np.repeat(prefix, sizes)]
    columns = {"page": batch.column("page"), "popularity": batch.column("popularity"), "size": sizes}
    columns |= {"sketch": sketches.view(np.int64)}
    columns["ascending"] = pack_lists(targets[np.lexsort((targets, owner))], starts)
    columns["rarest"] = pack_lists(rarest.astype(np.int64), list_starts(prefix))
    return pa.record_batch(columns)


def _rarest(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A row for every rarest link of pages."""
    tokens, starts = unpack_lists(batch.column("rarest"), np.int64)
    return pa.record_batch({"token": tokens, **spread(batch, starts, "size", "page", "sketch")})


def _candidates(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Pairs to compare. Of many pages with one rarest link, each is paired with MAX_COMPARED_PAGES before it."""
    for table in whole_runs(batches, "token"):
        token, size, page = (numbers(table[name]) for name in ("token", "size", "page"))
        sketch = numbers(table["sketch"], np.uint64)
        longest = int(np.diff(run_starts(token)).max(initial=0))
        for step in range(1, min(MAX_COMPARED_PAGES, longest - 1) + 1):
            later, before = slice(step, None), slice(None, -step)
            at = np.flatnonzero((token[later] == token[before]) & (20 * size[before] >= 19 * size[later]))
            bits = np.bitwise_count(sketch[at] ^ sketch[at + step]).astype(np.int64)
            at = at[10 * bits <= size[at + step]]
            yield pa.record_batch({"one": page[at], "other": page[at + step]})


def _similar(batch: pa.RecordBatch, kind: str) -> pa.RecordBatch:
    """The pairs whose lists share at least 95 % of the longer one, without those that link to each other."""
    lists = [unpack_lists(batch.column(f"{name}_targets"), kind) for name in ("one", "other")]
    sizes = [np.diff(starts) for _, starts in lists]
    row = np.concatenate([np.repeat(np.arange(len(batch)), each) for each in sizes])
    target = np.concatenate([targets for targets, _ in lists])
    order = np.lexsort((target, row))
    row, target = row[order], target[order]
    both = row[1:][(row[1:] == row[:-1]) & (target[1:] == target[:-1])]  # no list has a link twice
    shared = np.bincount(both, minlength=len(batch))
    links = np.zeros((2, len(batch)), np.bool_)
    for linked, (targets, starts), partner in zip(links, lists, ("other", "one"), strict=True):
        owner = np.repeat(np.arange(len(batch)), np.diff(starts))
        linked[owner[targets == numbers(batch.column(partner))[owner]]] = True
    alike = (20 * shared >= 19 * np.maximum(*sizes)) & ~links.all(axis=0)
    return batch.filter(pa.array(alike)).select(["one", "other"])
