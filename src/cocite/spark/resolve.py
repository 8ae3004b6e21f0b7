"""Which capture of a page counts, the targets of aliases, and page numbers: the next passes of a build, as joins.

Everything is by tag. Of several captures the newest counts, of equals the last one read; partial ones add up.
An address that leads to another is an alias; each round follows chains twice as far. Pages are numbered in key order.
"""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cocite.graph.build.names import text_buffers
from cocite.graph.build.number import SiteWriter
from cocite.graph.build.scratch import ALIAS_ONLY, BY_CANONICAL, PARTIAL
from cocite.graph.generation import MemoryWriter
from cocite.graph.names import CONTROL
from cocite.pages.key import APART, from_key, shown
from cocite.pages.site import Sites
from cocite.sources.folders import WORK
from cocite.spark import functions as F
from cocite.spark.arrays import Integers
from cocite.spark.batches import Batches
from cocite.spark.outputs import JobFolder
from cocite.spark.records import CAPTURE_ROWS, NAME_ROWS


class Resolution(NamedTuple):
    """The captures whose links count, and aliases with their targets."""

    captures: Any  # tag, sequence, kind, targets, attributes
    aliases: Any  # tag, target; None if there are none
    all_named: bool  # whether every name that was read is certainly that of a page


def _has(flags: int) -> Any:
    return F.col("kind").bitwiseAND(flags) != 0


def resolve(folder: JobFolder, keyed: Any) -> Resolution:
    """Choose captures and follow aliases."""
    read = keyed.where(F.col("what") == CAPTURE_ROWS)
    # Records without a page may name addresses, too.
    loose = F.max(F.col("loose") | (F.col("tag") == 0))
    has_aliases, has_complete, is_loose = read.agg(F.max(_has(ALIAS_ONLY)), F.max(~_has(PARTIAL)), loose).first()
    captures, same = read.where("tag != 0"), ["tag", "sequence"]
    if not has_complete:
        return Resolution(captures, None, not is_loose)
    brief = captures.select("tag", "sequence", "kind", "alias", "captured")
    best = _best(brief)
    replaced = brief.where(~_has(PARTIAL)).select(*same).join(best.select(*same), same, "left_anti")
    replaced = folder.step(f"{WORK}/lost", replaced)
    if not has_aliases and replaced.isEmpty():
        return Resolution(captures, None, not is_loose)
    aliases = None
    leads = best.where(_has(ALIAS_ONLY) & (F.col("alias") != 0)).selectExpr("tag", "alias as target")
    if has_aliases and not (steps := folder.step(f"{WORK}/alias-0", leads)).isEmpty():
        ends = _follow(folder, steps)
        members = ends.join(steps.selectExpr("tag as target"), "target").selectExpr("target as tag")
        members = members.distinct()  # of circles
        if not members.isEmpty():
            own = brief.where(~_has(PARTIAL | ALIAS_ONLY)).join(members, "tag", "left_semi")
            own = _best(own).select(*same)
            ends = _open_circles(folder, keyed, own, steps.join(members, "tag", "left_semi"), ends)
            replaced = replaced.join(own, same, "left_anti")
        aliases = ends.where("tag != target")
    captures = captures.where(~_has(ALIAS_ONLY)).join(replaced, same, "left_anti")
    if aliases is not None:
        captures = captures.join(aliases, "tag", "left_anti")
    return Resolution(captures, aliases, False)


def _best(brief: Any) -> Any:
    """The complete capture of each page that counts: of its own address rather than another's, the newest, the last."""
    best = F.max(F.struct((~_has(BY_CANONICAL)).alias("direct"), "captured", "sequence", "kind", "alias"))
    return brief.where(~_has(PARTIAL)).groupBy("tag").agg(best.alias("best")).select("tag", "best.*")


def _follow(folder: JobFolder, steps: Any) -> Any:
    """tag, target: every alias with the end of its chain, or with a member of the circle that it leads into."""
    count, rounds, ends = steps.count(), 0, steps
    while 2**rounds < count:
        rounds += 1
        further = ends.join(ends.selectExpr("tag as target", "target as further"), "target", "left")
        further = further.selectExpr("tag", "coalesce(further, target) as target")
        before, ends = ends, folder.step(f"{WORK}/alias-{rounds}", further)
        if ends.join(before, ["tag", "target"], "left_anti").isEmpty():
            break
    return ends


def _open_circles(folder: JobFolder, keyed: Any, own: Any, steps: Any, ends: Any) -> Any:
    """Let every circle end at its first page with a capture of its own, or at its first page."""
    keys = keyed.where(F.col("what") == NAME_ROWS).groupBy("tag").agg(F.min("key").alias("key"))
    circles = connected(folder, "circle", steps.selectExpr("tag as one", "target as other"))
    circles = circles.selectExpr("page as tag", "first").join(keys, "tag")
    circles = circles.join(own.withColumnRenamed("sequence", "own"), "tag", "left")
    chosen = F.expr("min(struct(own is null as bare, key, tag as final)).final as final")
    opened = circles.join(circles.groupBy("first").agg(chosen), "first").selectExpr("tag as target", "final")
    found = ends.join(opened, "target", "left").selectExpr("tag", "coalesce(final, target) as target")
    return folder.step(f"{WORK}/aliases", found)


def connected(folder: JobFolder, name: str, pairs: Any) -> Any:
    """page, first: the smallest page that each page of the pairs (one, other) is connected with.

    In each round a page gets the smallest number of itself and its neighbours, and then that page's: paths halve.
    """
    edges = pairs.select("one", "other").union(pairs.select("other", "one")).distinct()
    edges = folder.step(f"{WORK}/{name}-edges", edges)
    labels = edges.groupBy("one").agg(F.expr("least(one, min(other)) as first")).withColumnRenamed("one", "page")
    labels, rounds = folder.step(f"{WORK}/{name}-0", labels), 0
    while True:
        rounds += 1
        near = edges.join(labels.withColumnRenamed("page", "other"), "other").groupBy("one")
        near = near.agg(F.min("first").alias("near")).withColumnRenamed("one", "page")
        nearer = labels.join(near, "page").selectExpr("page", "least(first, near) as first")
        nearer = nearer.join(labels.selectExpr("page as first", "first as further"), "first")
        nearer = nearer.selectExpr("page", "least(first, further) as first")
        before, labels = labels, folder.step(f"{WORK}/{name}-{rounds}", nearer)
        if labels.join(before, ["page", "first"], "left_anti").isEmpty():
            return labels


def number_pages(folder: JobFolder, keyed: Any, mentioned: Any, partitions: int) -> Any:
    """number, key, tag, fingerprint, url, and host, domain and site as hashes of their names; in order.

    `mentioned` are the tags of all pages, None if every name is that of a page.
    """
    names = keyed.where(F.col("what") == NAME_ROWS)
    first = F.expr("min(struct(`order`, coalesce(shown, '') as shown, tag)) as first")
    names = names.groupBy("key").agg(first).select("key", "first.*")
    if mentioned is not None:
        names = names.join(mentioned, "tag", "left_semi")
    names = names.repartitionByRange(partitions, "key").sortWithinPartitions("key")
    names = names.select(F.spark_partition_id().alias("part"), "key", "order", "shown", "tag")
    schema = "part int, key binary, tag long, row long, url string, host long, domain long, site long"
    names = folder.step(f"{WORK}/names", names.mapInArrow(_describe, schema))
    sizes = dict(map(tuple, names.groupBy("part").count().collect()))
    starts = accumulate((sizes.get(part, 0) for part in range(max(sizes, default=0))), initial=0)
    start_of = F.array(*(F.lit(start).cast("long") for start in starts))  # a map would be searched for every row
    number = F.element_at(start_of, (F.col("part") + 1).cast("int")) + F.col("row")
    names = names.withColumns({"number": number.cast("long"), "fingerprint": F.xxhash64("key")})
    return names.drop("part", "row")


def _describe(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Names of one range, in order, with their rows, addresses and units."""
    row, sites = 0, Sites()
    for batch in batches:
        if batch.num_rows:
            names = [from_key(raw.decode("utf-8", "replace")) for raw in batch.column("key").to_pylist()]
            spellings = zip(names, *(batch.column(name).to_pylist() for name in ("order", "shown")), strict=True)
            urls = [text if order & 0xFF == APART else shown(name, order & 0xFF) for name, order, text in spellings]
            columns = {name: batch.column(name) for name in ("part", "key", "tag")}
            columns |= {"row": np.arange(row, row + len(batch)), "url": [CONTROL.sub(" ", url) for url in urls]}
            columns |= zip(("host", "domain", "site"), _units(batch.column("key"), names, sites), strict=True)
            yield pa.record_batch(columns)
            row += len(batch)


def _units(keys: pa.Array, names: list[str], sites: Sites) -> list[Integers]:
    """Host, domain and site of each page, as hashes of their names: the same in every task."""
    writer = MemoryWriter()
    SiteWriter(writer, sites).append(*text_buffers(keys))
    hosts = [sites.host(names[page]) for page in writer.map("host.page")]
    own_sites = [sites.site(names[page]) for page in writer.map("site.page")]
    host_of, site_of = writer.map("page.host"), writer.map("page.site")
    return [_hash(hosts)[host_of], _hash([sites.domain(host) for host in hosts])[host_of], _hash(own_sites)[site_of]]


def _hash(names: list[str]) -> Integers:
    """Names as numbers: different ones are equal with a chance of 1 in 2^64."""
    return np.frombuffer(b"".join(blake2b(name.encode(), digest_size=8).digest() for name in names), np.int64)
