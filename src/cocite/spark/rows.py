"""The rows that make parts of the web: `subweb.ROWS`, each with the part that is to have it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cocite.graph.build.derive import MANY_PARENTS
from cocite.spark.arrays import Batches, joined, numbers
from cocite.spark.arrays import cut as cut_up
from cocite.spark.cuts import Cut, Needs, Shards
from cocite.spark.outputs import WORK
from cocite.spark.subweb import CHILD, LIST, NEAR, POOL, POPULAR, QUERY
from cocite.spark.windows import shorten

PLAIN = Needs("none", False, False, 0, False)


def _rows(found: Any, what: int, needs: Needs, **columns: Any) -> Any:
    """Rows of one kind; `found` has part and page, and whatever the given columns are made of."""
    from pyspark.sql import functions as F

    unit = F.lit(0) if needs.unit == "none" or needs.unit not in found.columns else F.col(needs.unit)
    fingerprint = F.col("fingerprint") if "fingerprint" in found.columns else F.lit(0)
    given = {"degree": F.lit(0), "other": F.lit(0), **columns}
    kinds = {"x": "binary", "y": "binary", "z": "binary"}
    return found.select(
        "part",
        F.lit(what).alias("what"),
        F.col("page").cast("long").alias("page"),
        fingerprint.cast("long").alias("fingerprint"),
        unit.cast("long").alias("unit"),
        *(given[name].cast("long").alias(name) for name in ("degree", "other")),
        *(given.get(name, F.lit(None)).cast(kinds[name]).alias(name) for name in kinds),
    )


def _facts(shards: Shards, needs: Needs) -> Any:
    """What is asked of pages, None if it is nothing."""
    from pyspark.sql import functions as F

    names = [] if needs.unit == "none" else [needs.unit]
    names += ["fingerprint"] if needs.fingerprints else []
    return shards.pages.select(F.col("number").alias("page"), *names) if names else None


def query_rows(shards: Shards, needs: Needs, cut: Cut) -> Any:
    from pyspark.sql import functions as F

    names = ["page", "in_degree", "fingerprint", *([] if needs.unit == "none" else [needs.unit])]
    asked = F.col("in_degree") + (F.col("out_degree") if needs.children else F.lit(0)) > 0
    pages = shards.pages.where(asked).withColumnRenamed("number", "page").select(*names)
    return _rows(_with_part(pages, cut), QUERY, needs, degree=F.col("in_degree"))


def _with_part(rows: Any, cut: Cut) -> Any:
    """Rows with the part of their page."""
    from pyspark.sql.types import IntegerType, StructField, StructType

    schema = StructType([*rows.schema.fields, StructField("part", IntegerType())])

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            part = pa.array(cut.of(numbers(batch.column("page"))))
            yield pa.RecordBatch.from_arrays([*batch.columns, part], names=[*batch.schema.names, "part"])

    return rows.mapInArrow(work, schema)


def pool_rows(shards: Shards, cut: Cut) -> Any:
    from pyspark.sql import functions as F

    return _rows(_with_part(shards.pools.select("page", "parents"), cut), POOL, PLAIN, x=F.col("parents"))


def popular_lists(shards: Shards) -> Any:
    """page, popularity, targets, degrees of every page that links: of its links only those to pages of many parents."""
    schema, kind = "page long, popularity long, targets binary, degrees binary", shards.kind

    def popular(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            targets, starts = joined(batch.column("targets"), kind)
            degrees, _ = joined(batch.column("degrees"), kind)
            kept = degrees > MANY_PARENTS
            ends = np.append(0, np.cumsum(kept))[starts]
            lists = [cut_up(targets[kept], ends), cut_up(degrees[kept], ends)]
            columns = [batch.column("page"), batch.column("popularity"), *lists]
            yield pa.RecordBatch.from_arrays(columns, names=["page", "popularity", "targets", "degrees"])

    lists = shards.out.select("page", "popularity", "targets", "degrees")
    return shards.output.step(f"{WORK}/popular", lambda: lists.mapInArrow(popular, schema))


def list_rows(shards: Shards, needs: Needs, cut: Cut, wanted: Any, popular: Any) -> list[Any]:
    """Lists of links for every part that needs them: whole ones, and those to pages of many parents."""
    from pyspark.sql import functions as F

    copies = wanted.withColumnRenamed("source", "page")
    facts = _facts(shards, needs)
    if facts is not None:
        copies = copies.join(facts, "page")
    attributes = F.col("attributes") if needs.attributes else F.lit(None)
    lists = copies.where("whole").join(shards.out, "page")
    if needs.window:
        lists = shorten(lists, cut, needs.window, shards.kind)
    parts = {"degree": F.col("popularity"), "x": F.col("targets"), "z": F.col("degrees")}
    found = [_rows(lists, LIST, needs, y=attributes, **parts)]
    if popular is not None:
        found.append(_rows(copies.where("not whole").join(popular, "page"), POPULAR, needs, **parts))
    return found


def children_rows(shards: Shards, needs: Needs, children: Any, best: Any) -> Any:
    from pyspark.sql import functions as F

    names = [F.col("number").alias("page"), F.col("in_degree"), F.col("fingerprint")]
    facts = shards.pages.select(*names, *([] if needs.unit == "none" else [needs.unit]))
    found = children.join(facts, "page").join(best, "page")
    return _rows(found, CHILD, needs, degree=F.col("in_degree"), x=F.col("parents"))


def near_rows(shards: Shards, cut: Cut, wanted: Any, children: Any) -> Any:
    """The near-duplicates among the pages of each part, with what stands for them; None if there are none."""
    from pyspark.sql import functions as F

    known = shards.pages.where("representative is not null").select(F.col("number").alias("page"), "representative")
    if known.isEmpty():
        return None
    linked = known.join(shards.into.select("page", "source"), "page")
    read = wanted.where("whole").select("part", "source")  # of others only links to children
    found = read.join(linked, "source").select("part", "page", "representative")
    owners = wanted.select("part", F.col("source").alias("page")).join(known, "page")
    found = found.union(owners.select("part", "page", "representative"))
    found = found.union(_with_part(known, cut).select("part", "page", "representative"))
    if children is not None:
        found = found.union(children.join(known, "page").select("part", "page", "representative"))
    degrees = shards.pages.select(F.col("number").alias("representative"), F.col("in_degree"))
    found = found.distinct().join(degrees, "representative")
    return _rows(found, NEAR, PLAIN, degree=F.col("in_degree"), other=F.col("representative"))
