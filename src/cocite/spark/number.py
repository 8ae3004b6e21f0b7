"""Names → page numbers in the order of their keys, and whose page each is: the second pass of a build, as one sort."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.all_addresses import CONTROL
from cocite.graph.build.columns import text_buffers
from cocite.graph.build.number_sites import SiteWriter
from cocite.graph.generation import MemoryWriter
from cocite.pages.key import APART, from_key, shown
from cocite.pages.site import Sites
from cocite.spark.arrays import Batches
from cocite.spark.keyed import NAME
from cocite.spark.outputs import WORK, Output

SCHEMA = "part int, row long, key binary, fingerprint long, url string, host long, domain long, site long"


def number_pages(output: Output, keyed: Any, mentioned: Any, partitions: int) -> Any:
    """number, key, fingerprint, url, and host, domain and site as hashes of their names; in order.

    `mentioned` are the fingerprints of pages that there are, None if that is all.
    """
    from pyspark.sql import functions as F

    def sort() -> Any:
        names = keyed.where(F.col("what") == NAME)
        first = F.min(F.struct("order", F.coalesce("shown", F.lit("")).alias("shown"), "fingerprint"))
        names = names.groupBy("key").agg(first.alias("first")).select("key", "first.*")
        if mentioned is not None:
            names = names.join(mentioned, "fingerprint", "left_semi")
        ordered = names.repartitionByRange(partitions, "key").sortWithinPartitions("key")
        ordered = ordered.select(F.spark_partition_id().alias("part"), "key", "order", "shown", "fingerprint")
        return ordered.mapInArrow(_describe, SCHEMA)

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
        yield pa.RecordBatch.from_arrays(
            [
                batch.column("part"),
                pa.array(np.arange(row, row + len(batch))),
                keys,
                batch.column("fingerprint"),
                pa.array(_addresses(batch), pa.string()),
                *(pa.array(unit) for unit in units),
            ],
            names=["part", "row", "key", "fingerprint", "url", "host", "domain", "site"],
        )
        row += len(batch)


def _addresses(batch: pa.RecordBatch) -> Iterator[str]:
    """As `graph.all_addresses` shows them."""
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
