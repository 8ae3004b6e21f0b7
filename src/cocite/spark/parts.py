"""The web in parts: ranges of pages, with all rows that answering for these pages takes.

Parents of each page are chosen first, before anything is joined with them. A page with more parents than may be chosen
keeps those of smallest hash, the rule of `kernels/build/parents.py`. A limit on the hash leaves about that many, so a
page with a million parents costs no more rows than its choice.

Parts have about equally many parents and children; one with too many links is split again, down to single pages. A list
of links goes once to every part that needs it. Pages of a site are neighbours, so most lists go to few parts. Proximity
reads only windows of its parents' links: a number of links on either side of a page's link. Long lists are shortened to
these windows, in order, so every window shows what it showed in the whole list.
"""

from dataclasses import dataclass
from functools import reduce
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.build.derive import BEST_PARENTS, MANY_PARENTS
from cocite.sources.folders import WORK
from cocite.spark import functions as F
from cocite.spark.arrays import Integers, list_starts, numbers, pack_lists, positions, run_starts, unpack_lists
from cocite.spark.batches import on_batches, on_runs
from cocite.spark.outputs import JobFolder, Shards
from cocite.spark.subweb import CHILD_ROW, LIST_ROW, NEAR_ROW, POOL_ROW, POPULAR_ROW, QUERY_ROW, ROW_TYPES

PARENTS_SCHEMA, PART_PAGES = "page long, parents binary", "part int, page long"
MAX_HASH = 18446744073709549568.0  # the largest double below 2^64
CELLS_PER_WEB = 1 << 18
"""Parts consist of cells: as many as a driver can count."""
PART_RELATIONS = 500_000
"""Parents and children of all pages of a part: some seconds of work, and on the standard graph 8 M links."""
MAX_PART_LINKS = 8_000_000
"""Links of a part of several pages: 400 MB, with everything that is made of them."""
MAX_SPLITS = 8
"""More than necessary: seven splits, each finer than the one before, make at least 2, 4, 7, 13, 25, 49 and 97 pieces of
a part, 86 million in total; a part that is still too large is a single page."""


@dataclass(frozen=True)
class Needs:
    """What a method reads, beside chosen parents and their links."""

    units: bool
    fingerprints: bool  # parents are chosen again, among those that count
    attributes: bool
    children: int  # 0: no children, and no spouses
    whole: bool  # all links of spouses are read, not only those to children
    window: int = 0  # of longer lists, only the links this near to a query page; 0: all


@dataclass(frozen=True)
class RelatedJob:
    """The input of all steps."""

    folder: JobFolder
    shards: Shards
    needs: Needs
    max_parents: int
    kind: str  # the type of page numbers


def choose_parents(folder: JobFolder, into: Any, most: int, kind: str) -> Any:
    """page, parents: up to `most` parents of every page that has any.

    Parents ascend. If there are more than `most`, they are in the order of their hashes.
    """

    def gather(rows: Any, *limit: int) -> Any:
        return rows.select("page", "source").mapInArrow(on_runs(gather_parents, "page", kind, *limit), PARENTS_SCHEMA)

    def smallest_hashes(rows: Any) -> Any:
        return gather(rows.repartition("page").sortWithinPartitions("page", "hash"), most)

    light, heavy = gather(into.where(f"parents <= {most}")), into.where(f"parents > {most}")
    if most == 0 or heavy.isEmpty():
        return folder.step(f"{WORK}/pools", light)
    # Spark's numbers are signed, hashes are compared unsigned.
    unsigned = F.col("hash").bitwiseXOR(F.lit(-(2**63)).cast("long")).alias("hash")
    heavy = heavy.select("page", "source", "parents", unsigned)
    share = F.lit(most + 8 * sqrt(most) + 8) / F.col("parents")
    limit = (share * F.lit(MAX_HASH) - F.lit(2.0**63)).cast("long")
    first = folder.step(f"{WORK}/heavy", smallest_hashes(heavy.where((share >= 1) | (F.col("hash") <= limit))))
    short = first.where(F.length("parents") < most * np.dtype(kind).itemsize).select("page")
    if not short.isEmpty():  # too few hashes were below the limit: for these pages all are sorted
        all_sorted = smallest_hashes(heavy.join(short, "page", "left_semi"))
        first = first.join(short, "page", "left_anti").union(all_sorted)
    return folder.step(f"{WORK}/pools", light.union(first))


def gather_parents(table: pa.Table, kind: str, most: int | None = None) -> pa.RecordBatch:
    """One row for each page: its parents, or the first `most` of them."""
    page, source = numbers(table["page"]), numbers(table["source"])
    if most is not None:
        kept = positions(run_starts(page)) < most
        page, source = page[kept], source[kept]
    starts = run_starts(page)
    return pa.record_batch({"page": page[starts[:-1]], "parents": pack_lists(source.astype(kind), starts)})


def best_parents(folder: JobFolder, into: Any, kind: str) -> Any:
    """page, parents: all parents of a page that has few; of one that has many, the best, as a store keeps them."""
    rows = into.select("page", "source", "popularity", "parents")
    few = rows.where(f"parents <= {MANY_PARENTS}").repartition("page").sortWithinPartitions("page", "source")
    many = rows.where(f"parents > {MANY_PARENTS}")
    # First within each batch, so that no task sends a million parents of one page.
    many = many.mapInArrow(on_batches(_best_of_batch), many.schema).repartition("page")
    many = many.sortWithinPartitions("page", F.desc("popularity"), "source")
    few = few.mapInArrow(on_runs(gather_parents, "page", kind), PARENTS_SCHEMA)
    many = many.mapInArrow(on_runs(gather_parents, "page", kind, BEST_PARENTS), PARENTS_SCHEMA)
    return folder.step(f"{WORK}/best", few.union(many))


def _best_of_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of a batch without parents that can't be among the best of their page."""
    page, source, popularity = (numbers(batch.column(name)) for name in ("page", "source", "popularity"))
    order = np.lexsort((source, -popularity, page))
    kept = order[positions(run_starts(page[order])) < BEST_PARENTS]
    return batch.take(pa.array(np.sort(kept)))


@dataclass(frozen=True)
class PageRanges:
    """Ranges of page numbers, one for each part: bounds[i] to bounds[i + 1]."""

    bounds: Integers

    @property
    def count(self) -> int:
        return len(self.bounds) - 1

    def of(self, pages: Integers) -> NDArray[np.int32]:
        """The part of each page."""
        return (np.searchsorted(self.bounds, pages, "right") - 1).astype(np.int32)


def first_ranges(job: RelatedJob, relations: int) -> PageRanges:
    """Ranges with about equally many parents and children to read."""
    count = int(job.shards.facts["pages"])
    width = max(1, -(-count // CELLS_PER_WEB))
    weight = f"least(in_degree, {job.max_parents}) + least(out_degree, {job.needs.children}) + 1"
    cells = job.shards.pages.groupBy(F.expr(f"floor(number / {width})")).agg(F.sum(F.expr(weight))).collect()
    weights = np.zeros(-(-count // width))
    for cell, total in cells:
        weights[cell] = total
    starts = run_starts((np.cumsum(weights) - weights) // relations)[:-1] * width
    return PageRanges(np.append(starts, count))


def split_ranges(ranges: PageRanges, links: dict[int, int], max_links: int, finer: int = 1) -> PageRanges:
    """The same ranges, with those that have too many links in pieces; unchanged if all of these are single pages."""
    bounds = [0]
    for part in range(ranges.count):
        low, high = int(ranges.bounds[part]), int(ranges.bounds[part + 1])
        size = links.get(part, 0)
        pieces = min(high - low, -(-size * 3 * finer // (2 * max_links)) if size > max_links else 1)
        bounds.extend(low + (high - low) * (piece + 1) // pieces for piece in range(pieces))
    return PageRanges(np.array(bounds, np.int64))


def make_parts(job: RelatedJob, relations: int = PART_RELATIONS, max_links: int = MAX_PART_LINKS) -> tuple[Any, int]:
    """The rows of all parts (subweb.ROW_TYPES), and the number of parts."""
    shards, needs = job.shards, job.needs
    pools = choose_parents(job.folder, shards.into, job.max_parents, job.kind)
    best = best_parents(job.folder, shards.into, job.kind) if needs.children else None
    popular = _popular_lists(job) if needs.children and not needs.whole else None
    ranges = first_ranges(job, relations)
    for attempt in range(MAX_SPLITS):
        children = _children(job, ranges, attempt) if needs.children else None
        wanted = _wanted(job, ranges, pools, children, best, attempt)
        finer = split_ranges(ranges, _link_counts(job, wanted, children, best, popular), max_links, 1 << attempt)
        if attempt == MAX_SPLITS - 1 or finer.count == ranges.count:
            break
        ranges = finer
    is_query = "in_degree + out_degree > 0" if needs.children else "in_degree > 0"
    rows = [
        _rows(_with_part(_page_facts(shards).where(is_query), ranges), QUERY_ROW),
        _rows(_with_part(pools, ranges), POOL_ROW),
        *_list_rows(job, ranges, wanted, popular),
        *_near_rows(shards, ranges, wanted, children),
    ]
    if children is not None:
        rows.append(_rows(children.join(_page_facts(shards), "page").join(best, "page"), CHILD_ROW))
    return reduce(lambda one, other: one.unionByName(other), rows), ranges.count


def _page_facts(shards: Shards) -> Any:
    return shards.pages.selectExpr("number as page", "in_degree", "out_degree", "fingerprint", "unit")


def _children(job: RelatedJob, ranges: PageRanges, attempt: int) -> Any:
    """part, page: the first children of each part's pages, or all, since some of the first may not count."""
    most = np.inf if job.needs.whole else job.needs.children
    work = on_batches(_listed_pages, "targets", job.kind, ranges, most)
    rows = job.shards.out.select("page", "targets").mapInArrow(work, PART_PAGES)
    return job.folder.step(f"{WORK}/children-{attempt}", rows.distinct())


def _wanted(job: RelatedJob, ranges: PageRanges, pools: Any, children: Any, best: Any, attempt: int) -> Any:
    """page, part, whole (whether all its links are needed), links (the number of its links)."""
    pages = job.shards.pages.selectExpr("number as page", "out_degree as links")
    pairs = pools.mapInArrow(on_batches(_listed_pages, "parents", job.kind, ranges), PART_PAGES)
    if children is not None:
        pairs = pairs.union(_with_part(pages.where("links > 0"), ranges).select("part", "page"))
    pairs = pairs.withColumn("whole", F.lit(True))
    if children is not None:
        spouses = children.join(best, "page").select("part", "parents")
        spouses = spouses.mapInArrow(on_batches(_listed_pages, "parents", job.kind), PART_PAGES)
        pairs = pairs.union(spouses.withColumn("whole", F.lit(job.needs.whole)))
    wanted = pairs.repartition("page").groupBy("page", "part").agg(F.max("whole").alias("whole"))
    return job.folder.step(f"{WORK}/wanted-{attempt}", wanted.join(pages, "page"))


def _listed_pages(
    batch: pa.RecordBatch, column: str, kind: str, ranges: PageRanges | None = None, most: float = np.inf
) -> pa.RecordBatch:
    """Pairs of part and page, each once, for the first pages of lists. Parts are a column, or those of `ranges`."""
    pages, starts = unpack_lists(batch.column(column), kind)
    part = ranges.of(numbers(batch.column("page"))) if ranges else numbers(batch.column("part"), np.int32)
    first = positions(starts) < most
    part, pages = np.repeat(part, np.diff(starts))[first], pages[first].astype(np.int64)
    order = np.lexsort((pages, part))
    once = order[run_starts(part[order], pages[order])[:-1]]
    return pa.record_batch({"part": part[once], "page": pages[once]})


def _link_counts(job: RelatedJob, wanted: Any, children: Any, best: Any, popular: Any) -> dict[int, int]:
    """Links of each part: of lists, of parents of children, and of spouses' links to popular pages."""

    def lengths(pages: Any, lists: Any, column: str) -> Any:
        length = f"length({column}) div {np.dtype(job.kind).itemsize} as links"
        return pages.select("part", "page").join(lists.selectExpr("page", length), "page").select("part", "links")

    counts = wanted.where("whole").select("part", "links")
    if children is not None:
        counts = counts.union(lengths(children, best, "parents"))
    if popular is not None:
        counts = counts.union(lengths(wanted.where("not whole"), popular, "targets"))
    return {row[0]: int(row[1]) for row in counts.groupBy("part").agg(F.sum("links")).collect()}


def _rows(found: Any, what: int) -> Any:
    """Rows of one kind; columns that `found` doesn't have are empty."""
    found = found.withColumnsRenamed({"in_degree": "degree", "popularity": "degree", "parents": "x", "targets": "x"})
    found = found.withColumnsRenamed({"attributes": "y", "degrees": "z", "representative": "other"})
    columns = {"what": F.lit(what)} | {name: F.col(name) for name in found.columns}
    empty: dict[str, Any] = {"binary": F.lit(None), "long": F.lit(0)}
    return found.select(
        *((columns[name] if name in columns else empty[t]).cast(t).alias(name) for name, t in ROW_TYPES.items())
    )


def _with_part(rows: Any, ranges: PageRanges) -> Any:
    """Rows with the part of their page."""

    def work(batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.append_column("part", pa.array(ranges.of(numbers(batch.column("page")))))

    return rows.mapInArrow(on_batches(work), rows.withColumn("part", F.lit(0)).schema)


def _popular_lists(job: RelatedJob) -> Any:
    """page, popularity, targets, degrees: of all lists, only the links to pages of many parents."""
    kind = job.kind

    def work(batch: pa.RecordBatch) -> pa.RecordBatch:
        degrees, starts = unpack_lists(batch.column("degrees"), kind)
        return keep_links(batch, degrees > MANY_PARENTS, starts, {"targets": kind, "degrees": kind})

    lists = job.shards.out.select("page", "popularity", "targets", "degrees")
    return job.folder.step(f"{WORK}/popular", lists.mapInArrow(on_batches(work), lists.schema))


def keep_links(
    batch: pa.RecordBatch, kept: NDArray[np.bool_], starts: Integers, columns: dict[str, Any]
) -> pa.RecordBatch:
    """A batch of lists with some of their links."""
    ends = list_starts(kept)[starts]
    shorter = {name: pack_lists(unpack_lists(batch.column(name), t)[0][kept], ends) for name, t in columns.items()}
    return pa.record_batch({name: shorter.get(name, batch.column(name)) for name in batch.schema.names})


def _list_rows(job: RelatedJob, ranges: PageRanges, wanted: Any, popular: Any) -> list[Any]:
    """Lists of links for every part that needs them: whole ones, and those to pages of many parents."""
    needs, copies = job.needs, wanted.drop("links")
    if needs.units or needs.fingerprints:
        copies = copies.join(_page_facts(job.shards).drop("in_degree", "out_degree"), "page")
    lists = copies.where("whole").join(job.shards.out, "page")
    if needs.window:
        is_long = f"length(targets) > {(needs.window + 1) * np.dtype(job.kind).itemsize}"
        shorten = on_batches(_shortened, ranges, needs.window, job.kind)
        lists = lists.where(f"not ({is_long})").union(lists.where(is_long).mapInArrow(shorten, lists.schema))
    rows = [_rows(lists if needs.attributes else lists.drop("attributes"), LIST_ROW)]
    if popular is not None:
        rows.append(_rows(copies.where("not whole").join(popular, "page"), POPULAR_ROW))
    return rows


def _near_rows(shards: Shards, ranges: PageRanges, wanted: Any, children: Any) -> list[Any]:
    """The near-duplicates among the pages of each part, with their representatives; none if there are none."""
    near = shards.pages.where("representative is not null").selectExpr("number as page", "representative")
    if near.isEmpty():
        return []
    linked = near.join(shards.into.select("page", "source"), "page")
    found = wanted.where("whole").selectExpr("part", "page as source").join(linked, "source")
    found = found.select("part", "page", "representative")
    for pages in (wanted, children):  # of lists in part, only links to children are read
        if pages is not None:
            found = found.union(pages.join(near, "page").select("part", "page", "representative"))
    found = found.union(_with_part(near, ranges).select("part", "page", "representative"))
    degrees = shards.pages.selectExpr("number as representative", "in_degree")
    return [_rows(found.distinct().join(degrees, "representative"), NEAR_ROW)]


def _shortened(batch: pa.RecordBatch, ranges: PageRanges, window: int, kind: str) -> pa.RecordBatch:
    targets, starts = unpack_lists(batch.column("targets"), kind)
    part = np.repeat(numbers(batch.column("part")), np.diff(starts))
    is_query = (targets >= ranges.bounds[part]) & (targets < ranges.bounds[part + 1])
    columns = {"targets": kind, "attributes": np.uint32, "degrees": kind}
    return keep_links(batch, in_windows(is_query, starts, window), starts, columns)


def in_windows(is_query: NDArray[np.bool_], starts: Integers, window: int) -> NDArray[np.bool_]:
    """Which links are in the window of a link to a query page. Lists have more than window + 1 links.

    They must keep more than that, since a method reads a shorter list whole: so the first other links are kept too.
    """
    at, sizes = np.flatnonzero(is_query), np.diff(starts)
    list_of = np.searchsorted(starts, at, "right") - 1
    first = np.maximum(at - window // 2, starts[list_of])
    last = np.minimum(at + window // 2 + 1, starts[list_of + 1])
    opened = np.bincount(first, minlength=len(is_query) + 1) - np.bincount(last, minlength=len(is_query) + 1)
    kept = np.cumsum(opened[:-1]) > 0
    before = list_starts(kept)
    missing = window + 2 - np.diff(before[starts])
    left_out_before = positions(starts) - (before[:-1] - np.repeat(before[starts[:-1]], sizes))
    return np.asarray(kept | (left_out_before < np.repeat(missing, sizes)))
