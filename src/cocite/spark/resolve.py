"""Which capture of a page counts, where aliases lead, and page numbers: the second and third pass of a build, as joins.

Everything is by fingerprint. Of several captures the newest counts, of equals the last one read; partial ones add up.
An address that leads to another is an alias; each round follows chains twice as far. Pages are numbered in key order.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.build.names import text_buffers
from cocite.graph.build.number import SiteWriter
from cocite.graph.build.scratch import ALIAS_ONLY, BY_CANONICAL, PARTIAL
from cocite.graph.generation import MemoryWriter
from cocite.graph.names import CONTROL
from cocite.pages.key import APART, from_key, shown
from cocite.pages.site import Sites
from cocite.spark.arrays import Batches, batch_of
from cocite.spark.outputs import WORK, Output
from cocite.spark.records import CAPTURE, NAME
from cocite.spark.session import F


class Resolved(NamedTuple):
    """Captures whose links count, and aliases with the page that each leads to (None: there are none)."""

    captures: Any  # fingerprint, sequence, targets, attributes
    aliases: Any  # fingerprint, target
    tidy: bool  # whether every name that was read is surely of a page


def resolve(output: Output, keyed: Any) -> Resolved:
    """Choose captures and follow aliases."""
    read = keyed.where(F.col("what") == CAPTURE)
    has = read.agg(
        F.max(F.col("kind").bitwiseAND(ALIAS_ONLY) != 0).alias("aliases"),
        F.max(F.col("kind").bitwiseAND(PARTIAL) == 0).alias("whole"),
        F.max(F.col("loose") | (F.col("fingerprint") == 0)).alias("loose"),  # what a record of no page names
    ).first()
    captures = read.where(F.col("fingerprint") != 0)
    if not has["whole"]:
        return Resolved(captures, None, not has["loose"])
    brief = captures.select("fingerprint", "sequence", "kind", "alias", "captured")
    best = _best(brief)
    lost = output.step(
        f"{WORK}/lost",
        lambda: (
            brief.where(F.col("kind").bitwiseAND(PARTIAL) == 0)
            .select("fingerprint", "sequence")
            .join(best.select("fingerprint", "sequence"), ["fingerprint", "sequence"], "left_anti")
        ),
    )
    if not has["aliases"] and lost.isEmpty():
        return Resolved(captures, None, not has["loose"])
    aliases = None
    if has["aliases"]:
        aliases = _aliases(output, keyed, brief, best)
        if aliases is not None:  # the end of a circle has its best capture that is no alias itself
            ends = _circle_captures(brief, output)
            lost = lost if ends is None else lost.join(ends, ["fingerprint", "sequence"], "left_anti")
    captures = captures.where(F.col("kind").bitwiseAND(ALIAS_ONLY) == 0)
    captures = captures.join(lost, ["fingerprint", "sequence"], "left_anti")
    if aliases is not None:
        captures = captures.join(aliases, "fingerprint", "left_anti")
    return Resolved(captures, aliases, False)


def _best(brief: Any) -> Any:
    """Of each page the whole capture that counts: of its own address rather than another's, the newest, the last."""
    whole = brief.where(F.col("kind").bitwiseAND(PARTIAL) == 0)
    direct = (F.col("kind").bitwiseAND(BY_CANONICAL) == 0).cast("int")
    best = F.max(F.struct(direct.alias("direct"), "captured", "sequence", "kind", "alias"))
    return whole.groupBy("fingerprint").agg(best.alias("best")).select("fingerprint", "best.*")


def _aliases(output: Output, keyed: Any, brief: Any, best: Any) -> Any:
    """Every alias with the page at its end; None if there are none."""
    leads = best.where((F.col("kind").bitwiseAND(ALIAS_ONLY) != 0) & (F.col("alias") != 0))
    steps = output.step(f"{WORK}/alias-0", lambda: leads.select("fingerprint", F.col("alias").alias("target")))
    if steps.isEmpty():
        return None
    count, rounds = steps.count(), 0
    ways = steps
    while 2**rounds < count:  # after that many steps a way has ended, or goes round in a circle
        rounds += 1
        after = ways.select(F.col("fingerprint").alias("target"), F.col("target").alias("further"))
        joined = ways.join(after, "target", "left")
        further = joined.select("fingerprint", F.coalesce("further", "target").alias("target"))
        longer = output.keep(f"{WORK}/alias-{rounds}", further)
        if longer.join(ways, ["fingerprint", "target"], "left_anti").isEmpty():
            ways = longer
            break
        ways = longer
    on_circle = ways.join(steps.select(F.col("fingerprint").alias("target")), "target").select("target").distinct()
    if not on_circle.isEmpty():
        ways = _open_circles(output, keyed, brief, steps, ways, on_circle)
    return ways.where("fingerprint != target")


def _open_circles(output: Output, keyed: Any, brief: Any, steps: Any, ways: Any, on_circle: Any) -> Any:
    """Let every circle end at its first page that has a capture of its own, or at its first page of all."""
    members = on_circle.withColumnRenamed("target", "fingerprint")
    own = brief.where(F.col("kind").bitwiseAND(PARTIAL | ALIAS_ONLY) == 0)
    own = _best(own.join(members, "fingerprint", "left_semi")).select("fingerprint", "sequence")
    own = output.step(f"{WORK}/circle-captures", lambda: own)
    keys = keyed.where(F.col("what") == NAME).groupBy("fingerprint").agg(F.min("key").alias("key"))
    ring = steps.join(members, "fingerprint", "left_semi").join(keys, "fingerprint")
    ring = ring.join(own.select("fingerprint", F.lit(False).alias("has")), "fingerprint", "left")
    first = F.struct(F.coalesce("has", F.lit(True)).alias("bare"), "key", "fingerprint")
    ring = output.step(f"{WORK}/circle-0", lambda: ring.select("fingerprint", "target", first.alias("first")))
    count, rounds = ring.count(), 0
    while 2**rounds < count:
        rounds += 1
        after = ring.select(
            F.col("fingerprint").alias("target"), F.col("target").alias("further"), F.col("first").alias("other")
        )
        joined = ring.join(after, "target").select(
            "fingerprint", F.col("further").alias("target"), F.least("first", "other").alias("first")
        )
        ring = output.keep(f"{WORK}/circle-{rounds}", joined)
    ends = ring.select(F.col("fingerprint").alias("target"), F.col("first.fingerprint").alias("end"))
    found = ways.join(ends, "target", "left")
    return output.step(
        f"{WORK}/aliases", lambda: found.select("fingerprint", F.coalesce("end", "target").alias("target"))
    )


def _circle_captures(brief: Any, output: Output) -> Any:
    """The captures that count for pages on circles, None if there are no circles."""
    return output.read(f"{WORK}/circle-captures") if output.exists(f"{WORK}/circle-captures/_SUCCESS") else None


NUMBERED = "part int, row long, key binary, fingerprint long, url string, host long, domain long, site long"


def number_pages(output: Output, keyed: Any, mentioned: Any, partitions: int) -> Any:
    """number, key, fingerprint, url, and host, domain and site as hashes of their names; in order.

    `mentioned` are the fingerprints of pages that there are, None if that is all.
    """

    def sort() -> Any:
        names = keyed.where(F.col("what") == NAME)
        first = F.min(F.struct("order", F.coalesce("shown", F.lit("")).alias("shown"), "fingerprint"))
        names = names.groupBy("key").agg(first.alias("first")).select("key", "first.*")
        if mentioned is not None:
            names = names.join(mentioned, "fingerprint", "left_semi")
        ordered = names.repartitionByRange(partitions, "key").sortWithinPartitions("key")
        ordered = ordered.select(F.spark_partition_id().alias("part"), "key", "order", "shown", "fingerprint")
        return ordered.mapInArrow(_describe, NUMBERED)

    sorted_names = output.step(f"{WORK}/names", sort)
    sizes = {row["part"]: row["count"] for row in sorted_names.groupBy("part").count().collect()}
    parts = sorted(sizes)
    before = dict(zip(parts, accumulate((sizes[part] for part in parts), initial=0), strict=False))
    starts = F.array(*(F.lit(before.get(part, 0)).cast("long") for part in range(max(parts, default=0) + 1)))
    number = F.element_at(starts, (F.col("part") + 1).cast("int"))  # a map would be searched for every row
    return sorted_names.select(
        (number + F.col("row")).cast("long").alias("number"),
        *("key", "fingerprint", "url", "host", "domain", "site"),
    )


def _describe(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Names of one range, in order, with their rows, addresses and units."""
    row = 0
    sites = Sites()
    for batch in batches:
        if not batch.num_rows:
            continue
        keys = batch.column("key")
        data, offsets = text_buffers(keys)
        units = _units(data, offsets, sites)
        yield batch_of(
            part=batch.column("part"),
            row=np.arange(row, row + len(batch)),
            key=keys,
            fingerprint=batch.column("fingerprint"),
            url=pa.array(_addresses(batch), pa.string()),
            **dict(zip(("host", "domain", "site"), units, strict=True)),
        )
        row += len(batch)


def _addresses(batch: pa.RecordBatch) -> Iterator[str]:
    """As `graph.names.addresses` shows them."""
    for raw, order, text in zip(*(batch.column(name).to_pylist() for name in ("key", "order", "shown")), strict=True):
        spelling = order & 0xFF
        found = text if spelling == APART else shown(from_key(raw.decode("utf-8", "replace")), spelling)
        yield CONTROL.sub(" ", found)


def _units(data: NDArray[np.uint8], offsets: NDArray[np.int64], sites: Sites) -> list[NDArray[np.int64]]:
    """Host, domain and site of each page, as hashes of their names: the same in every task."""
    writer = MemoryWriter()
    SiteWriter(writer, sites).append(data, offsets)
    host_of, site_of = writer.map("page.host"), writer.map("page.site")
    raw = data.tobytes()

    def canonical(page: int) -> str:
        return from_key(raw[offsets[page] : offsets[page + 1]].decode("utf-8", "replace"))

    hosts = [sites.host(canonical(int(page))) for page in writer.map("host.page")]
    domains = [sites.domain(host) for host in hosts]
    own = [sites.site(canonical(int(page))) for page in writer.map("site.page")]
    return [_hashed(hosts)[host_of], _hashed(domains)[host_of], _hashed(own)[site_of]]


def _hashed(names: list[str]) -> NDArray[np.int64]:
    """Names as numbers that differ if they differ, but for one chance in 2^64."""
    return np.frombuffer(b"".join(blake2b(name.encode(), digest_size=8).digest() for name in names), np.int64)
