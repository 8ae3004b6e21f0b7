"""How the pages of a web are divided into parts, ranges of page numbers, and which lists of links each part needs.

Parts have about equally many parents and children; a part with too many links is divided again, down to single pages.
A list goes once to every part that needs it. Pages of a site are neighbours, so most lists go to few parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.spark.arrays import batch_of, numbers, on_batches, positions, unpack_lists
from cocite.spark.outputs import WORK
from cocite.spark.parents import best_parents
from cocite.spark.part_rows import (
    Cut,
    Needs,
    Shards,
    children_rows,
    list_rows,
    near_rows,
    pool_rows,
    popular_lists,
    query_rows,
)
from cocite.spark.session import F

CELLS = 1 << 18
"""Cells, of which parts are made: as many as a driver can count."""
RELATIONS = 500_000
"""Parents and children of all pages of a part: some seconds of work, and on the standard graph 8 M links."""
MOST_LINKS = 8_000_000
"""Links that a part of several pages may bring together: 400 MB, with all that is made of them."""


def first_cut(shards: Shards, most: int, children: int, relations: int = RELATIONS) -> Cut:
    """Parts of about equally many parents and children to look at."""
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


NEEDED = "part int, source long, links long"
ROUNDS = 8
"""More than are needed: seven cuts, each finer than the one before, make at least 2, 4, 7, 13, 25, 49 and 97 pieces of
a part, 86 million in all; so what is too large after them is a single page."""


def make_parts(
    shards: Shards, needs: Needs, most: int, relations: int = RELATIONS, links: int = MOST_LINKS
) -> tuple[Any, int]:
    """All rows of all parts (subweb.ROWS), and how many parts there are."""
    best = best_parents(shards.output, shards.into, shards.kind) if needs.children else None
    popular = popular_lists(shards) if needs.children and not needs.whole else None
    cut = first_cut(shards, most, needs.children, relations)
    for attempt in range(ROUNDS):
        wanted, children = _wanted(shards, needs, cut, best, attempt)
        sizes = _sizes(shards, needs, wanted, children, best, popular)
        again = cut_again(cut, sizes, links, 1 << attempt)
        if attempt == ROUNDS - 1 or again.parts == cut.parts:
            break
        cut = again
    rows = [query_rows(shards, needs, cut), pool_rows(shards, cut), *list_rows(shards, needs, cut, wanted, popular)]
    if children is not None:
        rows.append(children_rows(shards, needs, children, best))
    rows.append(near_rows(shards, cut, wanted, children))
    found = [each for each in rows if each is not None]
    together = found[0]
    for each in found[1:]:
        together = together.unionByName(each, allowMissingColumns=True)
    return together, cut.parts


def _sizes(shards: Shards, needs: Needs, wanted: Any, children: Any, best: Any, popular: Any) -> dict[int, int]:
    """How many links each part brings together: lists, parents of children, and links of spouses to popular pages."""

    def lengths(lists: Any, column: str, page: str) -> Any:
        count = F.length(column) / np.dtype(shards.kind).itemsize
        return lists.select(F.col("page").alias(page), count.cast("long").alias("length"))

    lists = wanted.where("whole")
    if needs.whole and children is not None:  # of spouses nothing is known yet
        lists = lists.join(lengths(shards.out, "targets", "source"), "source").withColumn("links", F.col("length"))
    found = lists.select("part", "links")
    if children is not None:
        found = found.union(children.join(lengths(best, "parents", "page"), "page").select("part", "length"))
    if popular is not None:
        few = wanted.where("not whole").join(lengths(popular, "targets", "source"), "source")
        found = found.union(few.select("part", "length"))
    found = found.groupBy("part").agg(F.sum("links").alias("links"))
    return {row["part"]: int(row["links"]) for row in found.collect()}


def _wanted(shards: Shards, needs: Needs, cut: Cut, best: Any, attempt: int) -> tuple[Any, Any]:
    """(part, source, links, whole: whether all its links are needed) once each; (part, page) of children, or None."""
    kind = shards.kind  # tasks cannot have the shards

    def of_pools(batch: pa.RecordBatch) -> pa.RecordBatch:
        parents, starts = unpack_lists(batch.column("parents"), kind)
        links, _ = unpack_lists(batch.column("links"), np.uint32)
        part = np.repeat(cut.of(numbers(batch.column("page"))), np.diff(starts))
        return _distinct(part, parents.astype(np.int64), links)

    pairs = shards.pools.select("page", "parents", "links").mapInArrow(on_batches(of_pools), NEEDED)
    pairs = pairs.withColumn("whole", F.lit(True))
    children = None
    if needs.children:
        own, first = _own_lists(shards, needs, cut)
        children = shards.output.step(f"{WORK}/children-{attempt}", lambda: first.distinct())

        def of_best(batch: pa.RecordBatch) -> pa.RecordBatch:
            parents, starts = unpack_lists(batch.column("parents"), kind)
            part = np.repeat(numbers(batch.column("part"), np.int32), np.diff(starts))
            return _distinct(part, parents.astype(np.int64), np.zeros(len(part), np.uint32))

        spouses = children.join(best, "page").select("part", "parents").mapInArrow(on_batches(of_best), NEEDED)
        spouses = spouses.withColumn("whole", F.lit(needs.whole))
        pairs = pairs.union(own.withColumn("whole", F.lit(True))).union(spouses)
    pairs = pairs.repartition("source").groupBy("source", "part")
    wanted = pairs.agg(F.max("links").alias("links"), F.max("whole").alias("whole"))
    return shards.output.step(f"{WORK}/wanted-{attempt}", lambda: wanted), children


def _distinct(part: NDArray[np.int32], source: NDArray[np.int64], links: NDArray[np.uint32]) -> pa.RecordBatch:
    """Pairs of part and source once each."""
    order = np.lexsort((source, part))
    part, source, links = part[order], source[order], links[order]
    first = np.ones(len(part), np.bool_)
    first[1:] = (part[1:] != part[:-1]) | (source[1:] != source[:-1])
    return batch_of(part=part[first], source=source[first], links=links[first].astype(np.int64))


def _own_lists(shards: Shards, needs: Needs, cut: Cut) -> tuple[Any, Any]:
    """(part, source, links) of pages that link, and (part, page) of their first children."""
    most = None if needs.whole else needs.children  # some of the first may be refused
    kind = shards.kind

    def own(batch: pa.RecordBatch) -> pa.RecordBatch:
        page, links = numbers(batch.column("page")), np.diff(unpack_lists(batch.column("targets"), kind)[1])
        return _distinct(cut.of(page), page, links.astype(np.uint32))

    def children(batch: pa.RecordBatch) -> pa.RecordBatch:
        targets, starts = unpack_lists(batch.column("targets"), kind)
        first = positions(starts) < (len(targets) if most is None else most)
        part = np.repeat(cut.of(numbers(batch.column("page"))), np.diff(starts))[first]
        found = _distinct(part, targets[first].astype(np.int64), np.zeros(len(part), np.uint32))
        return found.select(["part", "source"]).rename_columns(["part", "page"])

    lists = shards.out.select("page", "targets")
    return lists.mapInArrow(on_batches(own), NEEDED), lists.mapInArrow(on_batches(children), "part int, page long")
