"""Page records → pages in the order of their numbers, and links in both directions, as Parquet.

pages/  number, key, fingerprint, url, host, domain, site (hashes of their names), in_degree, out_degree,
        representative (of near-duplicates), leads_to (of aliases)
out/    page, popularity (its links in), targets, attributes, degrees (the targets' links in): lists, as bytes
in/     page, source, parents (the page's links in), links (the source's links out), popularity (its links in), hash (of
        both: parents are chosen by it)

Each is sorted, by page (and source), over all its files. Numbers, lists and near-duplicates are those that a build on
one machine makes of the same records.
"""

import secrets
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from cocite import __version__
from cocite.errors import BadSource
from cocite.graph.build.scratch import PARTIAL
from cocite.sources.folders import PAGES_DONE, WORK, unfinished_folder
from cocite.spark import functions as F
from cocite.spark.arrays import Integers, numbers, pack_lists, positions, run_starts, spread, unpack_lists
from cocite.spark.batches import Batches, on_batches, on_runs
from cocite.spark.near_duplicates import near_duplicates
from cocite.spark.outputs import SHARDS_DONE, JobFolder, OnStep
from cocite.spark.pages import counts_of, most_skipped, report_accumulator
from cocite.spark.records import KEYED_SCHEMA, drop_twins, find_twins, key_batches, read_records
from cocite.spark.resolve import Resolution, number_pages, resolve
from cocite.spark.session import task_count

SHARDS_FORMAT = 1


def write_store(spark: Any, records: str, output: str, on_step: OnStep | None = None) -> dict[str, Any]:
    """Make the shards of page records. Return facts about them."""
    folder, source = JobFolder(spark, output, on_step), JobFolder(spark, records)
    if source.is_unfinished(PAGES_DONE):
        raise unfinished_folder(records)
    folder.refuse_inside(records)
    plan = {"job": "store", "records": source.address, "size": source.size(), "version": __version__}
    if (done := folder.claim(plan, SHARDS_DONE)) is not None:
        return done
    report, counts = report_accumulator(spark), folder.read_json(f"{WORK}/read.json")
    if counts is None:
        folder.remove(f"{WORK}/keyed")  # it may be complete, but what was skipped is counted while it is made
    if (hashing := folder.read_json(f"{WORK}/hash.json")) is None:
        folder.write_json(f"{WORK}/hash.json", hashing := {"key": secrets.token_hex(16)})
    keyed = folder.step(f"{WORK}/keyed", lambda: _keyed(spark, records, hashing["key"], report), ("what",))
    if counts is None:
        counts = {name: value for name, value in counts_of(report.value).items() if name != "read"}
        folder.write_json(f"{WORK}/read.json", counts)
    if twins := find_twins(keyed):
        keyed = folder.step(f"{WORK}/apart", drop_twins(keyed, twins), ("what",))
    resolved = resolve(folder, keyed)
    lists = folder.step(f"{WORK}/lists", lambda: _lists(resolved))
    links = int(lists.agg(F.sum(F.length("targets"))).first()[0] or 0) // 8
    if not links and keyed.isEmpty():
        folder.remove("")
        raise BadSource(f"{records} has no usable page{most_skipped(Counter(counts['skipped']))}")
    tasks = task_count(spark, links)
    spark.conf.set("spark.sql.shuffle.partitions", tasks)
    numbered = number_pages(folder, keyed, _mentioned(resolved), tasks)
    pages = folder.step(f"{WORK}/pages", _with_degrees(numbered, lists))
    count = pages.count()
    kind = "<u4" if count < 1 << 32 else "<u8"
    numbered_links = folder.step(f"{WORK}/links", _numbered_links(lists, pages))
    out = folder.step("out", _out(numbered_links, tasks, kind))
    # A page with very many links in may be in several tasks.
    names = ("target as page", "page as source", "degree as parents", "links", "popularity", "hash")
    into = numbered_links.selectExpr(*names).repartitionByRange(tasks, "page", "source")
    into = folder.step("in", into.sortWithinPartitions("page", "source"))
    near = near_duplicates(folder, out, kind)
    named = folder.step("pages", _pages(pages, near, resolved.aliases, tasks))
    sizes = {"pages": count, "lists": out.count(), "links": links, "number": kind}
    made_by = {"format": SHARDS_FORMAT, "by": f"cocite {__version__}", "id": _id(named, into)}
    return folder.finish(SHARDS_DONE, {**made_by, **sizes, **counts})


def _id(pages: Any, into: Any) -> str:
    """The same for the same pages and links: a job that continues must have the shards with which it started."""
    known = F.xxhash64("number", "fingerprint", "in_degree", "out_degree", "representative", "leads_to")
    found = [rows.agg(F.bit_xor(hashed)).first()[0] or 0 for rows, hashed in ((pages, known), (into, F.col("hash")))]
    return f"{(found[0] ^ found[1]) % (1 << 64):016x}"


def _keyed(spark: Any, records: str, secret: str, report: Any) -> Any:
    """Names and captures of page records, in the order of files and rows."""
    from pyspark.sql.pandas.types import from_arrow_schema

    tables, place_of = read_records(spark, records)
    schema = from_arrow_schema(KEYED_SCHEMA)

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        return key_batches(batches, place_of, secret, report.add)

    return reduce(lambda one, other: one.union(other), (rows.mapInArrow(work, schema) for rows in tables))


def _mentioned(resolved: Resolution) -> Any:
    """Tags of all pages; None if every name is that of a page."""
    if resolved.all_named:
        return None
    found = resolved.captures.select("tag").union(_links(resolved.captures).select("target"))
    for name in ("tag", "target") if resolved.aliases is not None else ():
        found = found.union(resolved.aliases.select(name))
    return found.distinct()


def _links(captures: Any) -> Any:
    """A row for every link of captures, as tags."""

    def work(batch: pa.RecordBatch) -> pa.RecordBatch:
        targets, starts = unpack_lists(batch.column("targets"), np.int64)
        columns = {**spread(batch, starts, "tag", "sequence"), "place": positions(starts), "target": targets}
        columns["attribute"] = unpack_lists(batch.column("attributes"), np.int32)[0]
        return pa.record_batch({name: values[targets != 0] for name, values in columns.items()})

    schema = "tag long, sequence long, place long, target long, attribute int"
    return captures.select("tag", "sequence", "targets", "attributes").mapInArrow(on_batches(work), schema)


def _lists(resolved: Resolution) -> Any:
    """Of each page with links: tag, targets, attributes. A repeated link counts where it comes first."""
    captures, aliases = resolved.captures, resolved.aliases
    schema = "tag long, targets binary, attributes binary"
    if aliases is not None:
        ends = aliases.selectExpr("tag as target", "target as final")
        links = _links(captures).join(ends, "target", "left").withColumn("target", F.coalesce("final", "target"))
        links = links.repartition("tag").sortWithinPartitions("tag", "sequence", "place")
        return links.select("tag", "target", "attribute").mapInArrow(
            on_runs(lambda table: _distinct_links(*map(numbers, table.columns)), "tag"), schema
        )

    def gather(table: pa.Table) -> pa.RecordBatch:
        targets, starts = unpack_lists(table["targets"], np.int64)
        attributes, _ = unpack_lists(table["attributes"], np.int32)
        return _distinct_links(spread(table, starts, "tag")["tag"], targets, attributes)

    if not captures.where(F.col("kind").bitwiseAND(PARTIAL) != 0).isEmpty():  # a page may have several
        captures = captures.repartition("tag").sortWithinPartitions("tag", "sequence")
    captures = captures.select("tag", "targets", "attributes")
    return captures.mapInArrow(on_runs(gather, "tag", rows=1 << 13), schema)


def _distinct_links(source: Integers, targets: Any, attributes: Any) -> pa.RecordBatch:
    """Lists without repeated links, links of a page to itself, and other things than pages."""
    order = np.lexsort((targets, source))  # stable: of equals the first comes first
    kept = np.zeros(len(order), np.bool_)
    kept[order[run_starts(source[order], targets[order])[:-1]]] = True
    kept &= (targets != source) & (targets != 0)
    source, starts = source[kept], run_starts(source[kept])
    targets, attributes = pack_lists(targets[kept], starts), pack_lists(attributes[kept].astype(np.int32), starts)
    return pa.record_batch({"tag": source[starts[:-1]], "targets": targets, "attributes": attributes})


def _with_degrees(numbered: Any, lists: Any) -> Any:
    """Pages with the numbers of their links in and out."""

    def count_targets(batch: pa.RecordBatch) -> pa.RecordBatch:  # a page that all link to is one row of each batch
        found, counts = np.unique(unpack_lists(batch.column("targets"), np.int64)[0], return_counts=True)
        return pa.record_batch({"tag": found, "count": counts})

    into = lists.select("targets").mapInArrow(on_batches(count_targets), "tag long, count long")
    into = into.groupBy("tag").agg(F.sum("count").alias("in_degree"))
    out = lists.selectExpr("tag", "cast(length(targets) / 8 as long) as out_degree")
    found = numbered.join(into, "tag", "left").join(out, "tag", "left")
    return found.fillna(0, ["in_degree", "out_degree"])


def _numbered_links(lists: Any, pages: Any) -> Any:
    """A row for every link: numbers, the degrees of both ends, and the hash by which parents are chosen.

    The store's hash64 with the seed 42 is Spark's own: `kernels/build/parents.py`.
    """

    def work(batch: pa.RecordBatch) -> pa.RecordBatch:
        targets, starts = unpack_lists(batch.column("targets"), np.int64)
        columns = {**spread(batch, starts, "page", "popularity", "links", "source"), "target": targets}
        columns["place"] = positions(starts).astype(np.int32)
        columns["attribute"] = unpack_lists(batch.column("attributes"), np.int32)[0]
        return pa.record_batch(columns)

    schema = "page long, popularity long, links long, source long, target long, place int, attribute int"
    names = ("tag", "fingerprint as source", "number as page", "in_degree as popularity", "out_degree as links")
    links = lists.join(pages.selectExpr(*names), "tag").mapInArrow(on_batches(work), schema)
    targets = pages.selectExpr("tag as target", "fingerprint", "number", "in_degree as degree")
    links = links.join(targets, "target").withColumn("hash", F.xxhash64("fingerprint", "source"))
    return links.drop("target", "fingerprint", "source").withColumnRenamed("number", "target")


def _out(links: Any, tasks: int, kind: str) -> Any:
    """Lists of links out, in order."""
    lists = {"targets": ("target", kind), "attributes": ("attribute", np.int32), "degrees": ("degree", kind)}

    def collect(table: pa.Table) -> pa.RecordBatch:
        starts = run_starts(numbers(table["page"]))
        first = {name: numbers(table[name])[starts[:-1]] for name in ("page", "popularity")}
        packed = {name: pack_lists(numbers(table[column], dtype), starts) for name, (column, dtype) in lists.items()}
        return pa.record_batch({**first, **packed})

    rows = links.select("page", "popularity", "place", "target", "degree", "attribute")
    rows = rows.repartitionByRange(tasks, "page").sortWithinPartitions("page", "place")
    schema = "page long, popularity long, targets binary, attributes binary, degrees binary"
    return rows.mapInArrow(on_runs(collect, "page"), schema)


def _pages(pages: Any, near: Any, aliases: Any, tasks: int) -> Any:
    """All facts of pages, in order."""
    nothing = F.lit(None).cast("long")
    found = pages.join(near, "number", "left") if near is not None else pages.withColumn("representative", nothing)
    if aliases is None:
        found = found.withColumn("leads_to", nothing)
    else:
        targets = pages.selectExpr("tag as target", "number as leads_to")
        found = found.join(aliases.join(targets, "target").drop("target"), "tag", "left")
    names = "number key fingerprint url host domain site in_degree out_degree representative leads_to"
    return found.select(*names.split()).repartitionByRange(tasks, "number").sortWithinPartitions("number")
