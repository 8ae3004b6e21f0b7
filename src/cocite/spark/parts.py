"""Which lists each part of the web needs, and all rows of all parts.

A list of links goes to every part that needs it once, however many pages of the part need it: pages of a site are
neighbours, so few parts need most lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.spark.arrays import Batches, joined, numbers, places
from cocite.spark.best import best_parents
from cocite.spark.cuts import MOST_LINKS, RELATIONS, Cut, Needs, Shards, cut_again, first_cut
from cocite.spark.outputs import WORK
from cocite.spark.rows import children_rows, list_rows, near_rows, pool_rows, popular_lists, query_rows

ROUNDS = 8
"""More than are needed: seven cuts, each finer than the one before, make at least 2, 4, 7, 13, 25, 49 and 97 pieces of
a part, 86 million in all; so what is too large after them is a single page."""


def make_parts(
    shards: Shards, needs: Needs, most: int, relations: int = RELATIONS, links: int = MOST_LINKS
) -> tuple[Any, int]:
    """All rows of all parts (subweb.ROWS), and how many parts there are."""
    best = best_parents(shards) if needs.children else None
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
    from pyspark.sql import functions as F

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
    from pyspark.sql import functions as F

    kind = shards.kind  # tasks cannot have the shards

    def of_pools(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            parents, starts = joined(batch.column("parents"), kind)
            links, _ = joined(batch.column("links"), np.uint32)
            part = np.repeat(cut.of(numbers(batch.column("page"))), np.diff(starts))
            yield _distinct(part, parents.astype(np.int64), links)

    pairs = shards.pools.select("page", "parents", "links").mapInArrow(of_pools, "part int, source long, links long")
    pairs = pairs.withColumn("whole", F.lit(True))
    children = None
    if needs.children:
        own, first = _own_lists(shards, needs, cut)
        children = shards.output.step(f"{WORK}/children-{attempt}", lambda: first.distinct())

        def of_best(batches: Batches) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                parents, starts = joined(batch.column("parents"), kind)
                part = np.repeat(numbers(batch.column("part"), np.int32), np.diff(starts))
                yield _distinct(part, parents.astype(np.int64), np.zeros(len(part), np.uint32))

        spouses = children.join(best, "page").select("part", "parents")
        spouses = spouses.mapInArrow(of_best, "part int, source long, links long").withColumn(
            "whole", F.lit(needs.whole)
        )
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
    columns = [pa.array(part[first]), pa.array(source[first]), pa.array(links[first].astype(np.int64))]
    return pa.RecordBatch.from_arrays(columns, names=["part", "source", "links"])


def _own_lists(shards: Shards, needs: Needs, cut: Cut) -> tuple[Any, Any]:
    """(part, source, links) of pages that link, and (part, page) of their first children."""
    most = None if needs.whole else needs.children  # some of the first may be refused
    kind = shards.kind

    def own(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            page, links = numbers(batch.column("page")), np.diff(joined(batch.column("targets"), kind)[1])
            yield _distinct(cut.of(page), page, links.astype(np.uint32))

    def children(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            targets, starts = joined(batch.column("targets"), kind)
            sizes = np.diff(starts)
            first = places(starts) < (len(targets) if most is None else most)
            part = np.repeat(cut.of(numbers(batch.column("page"))), sizes)[first]
            found = _distinct(part, targets[first].astype(np.int64), np.zeros(len(part), np.uint32))
            yield found.select(["part", "source"]).rename_columns(["part", "page"])

    lists = shards.out.select("page", "targets")
    return lists.mapInArrow(own, "part int, source long, links long"), lists.mapInArrow(children, "part int, page long")
