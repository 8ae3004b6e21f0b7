"""Page records → pages in the order of their numbers, and links in both directions, as Parquet.

pages/  number, key, fingerprint, url, host, domain, site (hashes of their names), in_degree, out_degree,
        representative (of near-duplicates), leads_to (of aliases)
out/    page, popularity (its links in), targets, attributes, degrees (the targets' links in): lists, as bytes
in/     page, source, parents (the page's links in), links (the source's links out), popularity (its links in), hash (of
        both: parents are chosen by it)

Each is sorted, by page (and source), over all its files. Numbers, lists and near-duplicates are those that a build on
one machine gives the same records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from cocite import __version__
from cocite.errors import BadSource
from cocite.graph.build.scratch import PARTIAL
from cocite.sources.folders import PAGES_DONE, unfinished_folder
from cocite.spark.arrays import (
    Batches,
    batch_of,
    numbers,
    on_runs,
    pack_lists,
    positions,
    run_starts,
    unpack_lists,
    whole_runs,
)
from cocite.spark.inputs import SHARDS_DONE
from cocite.spark.near_duplicates import near_duplicates
from cocite.spark.outputs import WORK, OnStep, Output, ignore_step
from cocite.spark.pages import Tally, accumulator, reasons
from cocite.spark.records import SCHEMA, key_batches, read_records
from cocite.spark.resolve import Resolved, number_pages, resolve
from cocite.spark.session import F, task_count, to_task

FORMAT = 1


def write_store(spark: Any, records: str, output: str, on_step: OnStep = ignore_step) -> dict[str, Any]:
    """Make the shards of page records; returns what is noted of them."""
    folder, source = Output(spark, output, on_step), Output(spark, records)
    if source.is_unfinished(PAGES_DONE):
        raise unfinished_folder(records)
    folder.refuse_inside(records)
    plan = {"job": "store", "records": source.place, "size": source.size(), "version": __version__}
    done = folder.claim(plan, SHARDS_DONE)
    if done is not None:
        return done
    tally = accumulator(spark)
    counted = folder.exists(f"{WORK}/read.json")
    if not counted:
        folder.remove(f"{WORK}/keyed")  # what was passed over is counted while they are made, and would be lost
    keyed = folder.step(f"{WORK}/keyed", lambda: _keyed(spark, records, tally), ("what",))
    if not counted:
        folder.note(f"{WORK}/read.json", {"skipped": tally.value.skipped, "example": tally.value.example})
    resolved = resolve(folder, keyed)
    lists = folder.step(f"{WORK}/lists", lambda: _lists(resolved))
    links = int(lists.agg(F.sum(F.length("targets"))).first()[0] or 0) // 8
    if not links and keyed.isEmpty():
        skipped = (folder.noted(f"{WORK}/read.json") or {}).get("skipped")
        folder.remove("")
        raise BadSource(f"{records} holds no page that can be used{reasons(Counter(skipped))}")
    tasks = task_count(spark, links)
    spark.conf.set("spark.sql.shuffle.partitions", tasks)
    numbered = number_pages(folder, keyed, _mentioned(resolved), tasks)
    pages = folder.step(f"{WORK}/pages", lambda: _with_degrees(numbered, lists))
    count = pages.count()
    width = -(-count // tasks)
    kind = "<u4" if count < 1 << 32 else "<u8"
    numbered_links = folder.step(f"{WORK}/links", lambda: _links_by_number(lists, pages))
    out = folder.step("out", lambda: _out(numbered_links, tasks, width, kind))
    into = folder.step("in", lambda: _in(numbered_links, tasks))
    near = near_duplicates(folder, out, kind)
    named = folder.step("pages", lambda: _pages(pages, near, resolved.aliases, tasks))
    noted = folder.noted(f"{WORK}/read.json") or {}
    counts = {"pages": count, "lists": out.count(), "links": links}
    facts = {"format": FORMAT, "by": f"cocite {__version__}", "id": _id(named, into), **counts, "number": kind, **noted}
    folder.finish(SHARDS_DONE, facts)
    return facts


def _id(pages: Any, into: Any) -> str:
    """The same for the same pages and links: a job that goes on must have the shards that it was begun with."""
    known = F.xxhash64("number", "fingerprint", "in_degree", "out_degree", "representative", "leads_to")
    found = [rows.agg(F.bit_xor(hashed)).first()[0] or 0 for rows, hashed in ((pages, known), (into, F.col("hash")))]
    return f"{(found[0] ^ found[1]) % (1 << 64):016x}"


def _keyed(spark: Any, records: str, tally: Any) -> Any:
    """Names and captures, of page records in the order of files and rows."""
    from pyspark.sql import DataFrame
    from pyspark.sql.pandas.types import from_arrow_schema

    tables, place_of = read_records(spark, records)

    def read(batches: Batches) -> Iterator[pa.RecordBatch]:
        return key_batches(batches, place_of, lambda report: tally.add(Tally.of(report)))

    return reduce(DataFrame.union, (rows.mapInArrow(read, from_arrow_schema(SCHEMA)) for rows in tables))


def _mentioned(resolved: Resolved) -> Any:
    """Fingerprints of the pages that there are; None if that is every name."""
    if resolved.tidy:
        return None
    found = resolved.captures.select("fingerprint")
    targets = _links(resolved.captures).select("target")
    found = found.unionByName(targets.withColumnRenamed("target", "fingerprint"))
    if resolved.aliases is not None:
        for name in ("fingerprint", "target"):
            found = found.union(resolved.aliases.select(name))
    return found.distinct()


# Lists by fingerprint


def _links(captures: Any) -> Any:
    """A row for every link of captures, as fingerprints."""
    return captures.select("fingerprint", "sequence", "targets", "attributes").mapInArrow(
        _explode, "source long, sequence long, place long, target long, attribute int"
    )


def _explode(batches: Batches) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        targets, starts = unpack_lists(batch.column("targets"), np.int64)
        attributes, _ = unpack_lists(batch.column("attributes"), np.int32)
        known = targets != 0
        source, sequence = (
            np.repeat(numbers(batch.column(name)), np.diff(starts))[known] for name in ("fingerprint", "sequence")
        )
        place = positions(starts)[known]
        yield batch_of(
            source=source, sequence=sequence, place=place, target=targets[known], attribute=attributes[known]
        )


def _lists(resolved: Resolved) -> Any:
    """Of each page that links: fingerprint, targets, attributes. A link counts once, where it comes first."""
    captures, aliases = resolved.captures, resolved.aliases
    schema = "fingerprint long, targets binary, attributes binary"
    if aliases is not None:
        followed = aliases.select(F.col("fingerprint").alias("target"), F.col("target").alias("end"))
        links = _links(captures).join(followed, "target", "left")
        links = links.withColumn("target", F.coalesce("end", "target")).drop("end")
        links = links.repartition("source").sortWithinPartitions("source", "sequence", "place")
        return links.mapInArrow(_gather, schema)
    several = not captures.where(F.col("kind").bitwiseAND(PARTIAL) != 0).isEmpty()
    if several:
        captures = captures.repartition("fingerprint").sortWithinPartitions("fingerprint", "sequence")
    return captures.select("fingerprint", "targets", "attributes").mapInArrow(_join, schema)


def _join(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The lists of captures, those of one page one after another, as one list."""
    for table in whole_runs(batches, "fingerprint", 1 << 13):
        targets, starts = unpack_lists(table["targets"], np.int64)
        attributes, _ = unpack_lists(table["attributes"], np.int32)
        yield from _once(np.repeat(numbers(table["fingerprint"]), np.diff(starts)), targets, attributes)


def _gather(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The same of a row for every link."""
    for table in whole_runs(batches, "source"):
        yield from _once(*(numbers(table[name]) for name in ("source", "target", "attribute")))


def _once(source: Any, targets: Any, attributes: Any) -> Iterator[pa.RecordBatch]:
    """Lists without repeated links, links of a page to itself, and what is no page; a page without links has no row."""
    order = np.lexsort((targets, source))  # stable: of equals the first comes first
    same = np.zeros(len(order), np.bool_)
    one, other = order[1:], order[:-1]
    same[1:] = (source[one] == source[other]) & (targets[one] == targets[other])
    kept = np.ones(len(order), np.bool_)
    kept[order[same]] = False
    kept &= (targets != source) & (targets != 0)
    source, targets, attributes = source[kept], targets[kept], attributes[kept]
    starts = run_starts(source)
    if len(source):
        attributes = pack_lists(attributes.astype(np.int32), starts)
        yield batch_of(fingerprint=source[starts[:-1]], targets=pack_lists(targets, starts), attributes=attributes)


# Numbers


def _with_degrees(numbered: Any, lists: Any) -> Any:
    """Pages with the numbers of their links in and out."""
    into = lists.select("targets").mapInArrow(_targets, "fingerprint long, count long")
    into = into.groupBy("fingerprint").agg(F.sum("count").alias("in_degree"))
    out = lists.select("fingerprint", (F.length("targets") / 8).cast("long").alias("out_degree"))
    found = numbered.join(into, "fingerprint", "left").join(out, "fingerprint", "left")
    return found.fillna(0, ["in_degree", "out_degree"])


def _targets(batches: Batches) -> Iterator[pa.RecordBatch]:
    """How often each page is linked in a batch: a page that all link to is one row of it."""
    for batch in batches:
        found, counts = np.unique(unpack_lists(batch.column("targets"), np.int64)[0], return_counts=True)
        yield batch_of(fingerprint=found, count=counts)


def _links_by_number(lists: Any, pages: Any) -> Any:
    """A row for every link: numbers, the degrees of both ends, and the hash by which parents are chosen.

    The store's hash64 with the seed 42 is Spark's own: `kernels/parents.py`.
    """
    own = pages.select(
        "fingerprint",
        F.col("number").alias("page"),
        F.col("in_degree").alias("popularity"),
        F.col("out_degree").alias("links"),
    )
    links = lists.join(own, "fingerprint").mapInArrow(
        _spread, "page long, popularity long, links long, of_page long, place int, fingerprint long, attribute int"
    )
    ends = pages.select("fingerprint", F.col("number").alias("target"), F.col("in_degree").alias("degree"))
    links = links.join(ends, "fingerprint").withColumn("hash", F.xxhash64("fingerprint", "of_page"))
    return links.drop("fingerprint", "of_page")


def _spread(batches: Batches) -> Iterator[pa.RecordBatch]:
    """A row for every link of a list."""
    for batch in batches:
        targets, starts = unpack_lists(batch.column("targets"), np.int64)
        attributes, _ = unpack_lists(batch.column("attributes"), np.int32)
        own = {"page": "page", "popularity": "popularity", "links": "links", "of_page": "fingerprint"}
        yield batch_of(
            **{name: np.repeat(numbers(batch.column(column)), np.diff(starts)) for name, column in own.items()},
            place=positions(starts).astype(np.int32),
            fingerprint=targets,
            attribute=attributes,
        )


def _out(links: Any, tasks: int, width: int, kind: str) -> Any:
    """Lists of links out, in order."""
    rows = links.select("page", "popularity", "place", "target", "degree", "attribute")
    rows = to_task(rows, tasks, F.floor(F.col("page") / width)).sortWithinPartitions("page", "place")
    schema = "page long, popularity long, targets binary, attributes binary, degrees binary"

    def collect(table: pa.Table) -> pa.RecordBatch:
        page = numbers(table["page"])
        starts = run_starts(page)
        return batch_of(
            page=page[starts[:-1]],
            popularity=numbers(table["popularity"])[starts[:-1]],
            targets=pack_lists(numbers(table["target"], kind), starts),
            attributes=pack_lists(numbers(table["attribute"], np.int32), starts),
            degrees=pack_lists(numbers(table["degree"], kind), starts),
        )

    return rows.mapInArrow(on_runs(collect, "page"), schema)


def _in(links: Any, tasks: int) -> Any:
    """Links turned round, in order. A page with very many links in may take several tasks."""
    named = {"target": "page", "page": "source", "degree": "parents", "links": "links", "popularity": "popularity"}
    turned = links.select(*(F.col(name).alias(other) for name, other in named.items()), "hash")
    return turned.repartitionByRange(tasks, "page", "source").sortWithinPartitions("page", "source")


def _pages(pages: Any, near: Any, aliases: Any, tasks: int) -> Any:
    """All that is known of pages, in order."""
    found = pages.join(near, "number", "left") if near is not None else pages.withColumn("representative", F.lit(None))
    if aliases is None:
        found = found.withColumn("leads_to", F.lit(None))
    else:
        ends = pages.select(F.col("fingerprint").alias("target"), F.col("number").alias("leads_to"))
        ends = aliases.join(ends, "target").drop("target")
        found = found.join(ends, "fingerprint", "left")
    columns = [F.col(name).cast("long").alias(name) for name in ("representative", "leads_to")]
    known = ("number", "key", "fingerprint", "url", "host", "domain", "site", "in_degree", "out_degree")
    return found.select(*known, *columns).repartitionByRange(tasks, "number").sortWithinPartitions("number")
