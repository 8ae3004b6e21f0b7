"""The rows that make a part of the web: `subweb.ROWS`, each with the number of its part.

Proximity reads only windows of its parents' links: a number of links on either side of a page's link. Long lists are
shortened to these windows, in order, so every window shows what it showed in the whole list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.build.derive import MANY_PARENTS
from cocite.spark.arrays import batch_of, numbers, on_batches, pack_lists, positions, unpack_lists
from cocite.spark.outputs import WORK, Output
from cocite.spark.session import F
from cocite.spark.subweb import CHILD, LIST, NEAR, POOL, POPULAR, QUERY


@dataclass(frozen=True)
class Needs:
    """What a method looks at, beside chosen parents and their links."""

    unit: str  # none: no unit is asked for
    fingerprints: bool  # parents are chosen again among those that are not refused
    attributes: bool
    children: int  # 0: no children, and no spouses
    whole: bool  # all links of spouses are read, not only those to children
    window: int = 0  # of lists longer than that only what stands so near round a page asked about; 0: all


@dataclass(frozen=True)
class Shards:
    """A store's shards, and what was chosen of them."""

    output: Output
    pages: Any
    out: Any
    into: Any
    pools: Any
    kind: str
    count: int


@dataclass(frozen=True)
class Cut:
    """Where parts begin; the last is the end of all pages."""

    bounds: NDArray[np.int64]

    @property
    def parts(self) -> int:
        return len(self.bounds) - 1

    def of(self, pages: NDArray[np.int64]) -> NDArray[np.int32]:
        """The part of each page."""
        return (np.searchsorted(self.bounds, pages, "right") - 1).astype(np.int32)


PLAIN = Needs("none", False, False, 0, False)


def _rows(found: Any, what: int, needs: Needs, **columns: Any) -> Any:
    """Rows of one kind; `found` has part and page, and whatever the given columns are made of."""
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
    names = [] if needs.unit == "none" else [needs.unit]
    names += ["fingerprint"] if needs.fingerprints else []
    return shards.pages.select(F.col("number").alias("page"), *names) if names else None


def query_rows(shards: Shards, needs: Needs, cut: Cut) -> Any:
    names = ["page", "in_degree", "fingerprint", *([] if needs.unit == "none" else [needs.unit])]
    asked = F.col("in_degree") + (F.col("out_degree") if needs.children else F.lit(0)) > 0
    pages = shards.pages.where(asked).withColumnRenamed("number", "page").select(*names)
    return _rows(_with_part(pages, cut), QUERY, needs, degree=F.col("in_degree"))


def _with_part(rows: Any, cut: Cut) -> Any:
    """Rows with the part of their page."""
    from pyspark.sql.types import IntegerType, StructField, StructType

    schema = StructType([*rows.schema.fields, StructField("part", IntegerType())])

    def work(batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.append_column("part", pa.array(cut.of(numbers(batch.column("page")))))

    return rows.mapInArrow(on_batches(work), schema)


def pool_rows(shards: Shards, cut: Cut) -> Any:
    return _rows(_with_part(shards.pools.select("page", "parents"), cut), POOL, PLAIN, x=F.col("parents"))


def popular_lists(shards: Shards) -> Any:
    """page, popularity, targets, degrees of every page that links: of its links only those to pages of many parents."""
    schema, kind = "page long, popularity long, targets binary, degrees binary", shards.kind

    def popular(batch: pa.RecordBatch) -> pa.RecordBatch:
        targets, starts = unpack_lists(batch.column("targets"), kind)
        degrees, _ = unpack_lists(batch.column("degrees"), kind)
        kept = degrees > MANY_PARENTS
        ends = np.append(0, np.cumsum(kept))[starts]
        page, popularity = batch.column("page"), batch.column("popularity")
        targets, degrees = pack_lists(targets[kept], ends), pack_lists(degrees[kept], ends)
        return batch_of(page=page, popularity=popularity, targets=targets, degrees=degrees)

    lists = shards.out.select("page", "popularity", "targets", "degrees")
    return shards.output.step(f"{WORK}/popular", lambda: lists.mapInArrow(on_batches(popular), schema))


def list_rows(shards: Shards, needs: Needs, cut: Cut, wanted: Any, popular: Any) -> list[Any]:
    """Lists of links for every part that needs them: whole ones, and those to pages of many parents."""
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
    names = [F.col("number").alias("page"), F.col("in_degree"), F.col("fingerprint")]
    facts = shards.pages.select(*names, *([] if needs.unit == "none" else [needs.unit]))
    found = children.join(facts, "page").join(best, "page")
    return _rows(found, CHILD, needs, degree=F.col("in_degree"), x=F.col("parents"))


def near_rows(shards: Shards, cut: Cut, wanted: Any, children: Any) -> Any:
    """The near-duplicates among the pages of each part, with what stands for them; None if there are none."""
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


def shorten(lists: Any, parts: Cut, window: int, kind: str) -> Any:
    """Lists for parts; long ones shortened to the windows of the part's pages."""

    is_long = F.length("targets") > (window + 1) * np.dtype(kind).itemsize
    return lists.where(~is_long).union(
        lists.where(is_long).mapInArrow(on_batches(_shortened, parts, window, kind), lists.schema)
    )


def _shortened(batch: pa.RecordBatch, parts: Cut, window: int, kind: str) -> pa.RecordBatch:
    targets, starts = unpack_lists(batch.column("targets"), kind)
    part = np.repeat(numbers(batch.column("part")), np.diff(starts))
    asked = (targets >= parts.bounds[part]) & (targets < parts.bounds[part + 1])
    kept = shown(asked, starts, window)
    ends = np.append(0, np.cumsum(kept))[starts]
    columns = {name: batch.column(name) for name in batch.schema.names}
    for name, dtype in {"targets": kind, "attributes": np.uint32, "degrees": kind}.items():
        columns[name] = pack_lists(unpack_lists(columns[name], dtype)[0][kept], ends)
    return batch_of(**columns)


def shown(asked: NDArray[np.bool_], starts: NDArray[np.int64], window: int) -> NDArray[np.bool_]:
    """Which links are in the window of a link in `asked`. Lists have more than window + 1 links.

    They must keep more than that, since a shorter list is seen whole from any link: so the first others are kept too.
    """
    at, sizes = np.flatnonzero(asked), np.diff(starts)
    list_of = np.searchsorted(starts, at, "right") - 1
    first = np.maximum(at - window // 2, starts[list_of])
    last = np.minimum(at + window // 2 + 1, starts[list_of + 1])
    opened = np.bincount(first, minlength=len(asked) + 1) - np.bincount(last, minlength=len(asked) + 1)
    kept = np.cumsum(opened[:-1]) > 0
    before = np.append(0, np.cumsum(kept))
    missing = window + 2 - np.diff(before[starts])
    passed_over = positions(starts) - (before[:-1] - np.repeat(before[starts[:-1]], sizes))  # before a link
    return np.asarray(kept | (passed_over < np.repeat(missing, sizes)))
