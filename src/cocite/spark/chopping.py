"""Whose answers a page gets: its own, or those of a shorter address of its site, of which more is known.

As `neighbourhood/start.py` has it, for all pages at once: addresses are looked up by a join on their fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cocite.kernels.addresses.canonical import key_addresses
from cocite.pages.key import from_key
from cocite.spark.arrays import Batches, joined, numbers, places, signed

CANDIDATES = "page long, site long, level int, fingerprint long"


def answers_of(pages: Any, asked: Any, chop: str, k: int, kind: str) -> Any:
    """page, rank, answer, score for every page with links, of its own answers or of the page asked in its place."""
    from pyspark.sql import functions as F

    linked = pages.where("in_degree + out_degree > 0")
    own = asked.select("page", "answers", "scores")
    if chop == "none":
        given = own
    else:
        enough = asked.where("enough").select("page", "answers", "scores")
        too_little = linked.select(F.col("number").alias("page"), "key", "site")
        too_little = too_little.join(enough.select("page"), "page", "left_anti")
        candidates = too_little.mapInArrow(_shorter, CANDIDATES)
        known = pages.select(F.coalesce("leads_to", "number").alias("other"), "fingerprint")
        sites = pages.select(F.col("number").alias("other"), F.col("site").alias("of_other"))
        found = candidates.join(known, "fingerprint").join(sites, "other").where("site = of_other")
        found = found.join(enough.select(F.col("page").alias("other")), "other")
        chosen = found.groupBy("page").agg(F.min(F.struct("level", "other")).alias("first"))
        chosen = chosen.select("page", F.col("first.other").alias("other"))
        instead = chosen.join(enough.withColumnRenamed("page", "other"), "other").select("page", "answers", "scores")
        given = enough.union(instead)
        if chop == "site":
            given = given.union(own.join(given.select("page"), "page", "left_anti"))
    stands = pages.where("representative is not null").select(F.col("number").alias("page"), "representative")
    given = given.join(stands, "page", "left").fillna(-1, ["representative"])

    def best(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _best(batch, k, kind)

    return given.mapInArrow(best, "page long, rank int, answer long, score double")


def _best(batch: pa.RecordBatch, k: int, kind: str) -> pa.RecordBatch:
    """The first k answers that are neither the page itself nor what stands for it."""
    answers, starts = joined(batch.column("answers"), kind)
    scores, _ = joined(batch.column("scores"), np.float64)
    sizes = np.diff(starts)
    page = np.repeat(numbers(batch.column("page")), sizes)
    kept = (answers != page) & (answers != np.repeat(numbers(batch.column("representative")), sizes))
    ends = np.append(0, np.cumsum(kept))[starts]
    page, answers, scores, rank = page[kept], answers[kept], scores[kept], places(ends) + 1
    first = rank <= k
    columns = [page[first], rank[first].astype(np.int32), answers[first].astype(np.int64), scores[first]]
    return pa.RecordBatch.from_arrays([pa.array(each) for each in columns], names=["page", "rank", "answer", "score"])


def _shorter(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The fingerprints of ever shorter addresses of pages."""
    for batch in batches:
        texts: list[str] = []
        rows: list[int] = []
        levels: list[int] = []
        for row, key in enumerate(batch.column("key").to_pylist()):
            for level, address in enumerate(shorter(from_key(key.decode("utf-8", "replace")))):
                texts.append(address)
                rows.append(row)
                levels.append(level)
        found = np.array(fingerprints_of(texts), np.int64)
        usable = found != 0
        page, site = (numbers(batch.column(name))[rows] if rows else np.zeros(0, np.int64) for name in ("page", "site"))
        columns = [page[usable], site[usable], np.array(levels, np.int32)[usable], found[usable]]
        names = ["page", "site", "level", "fingerprint"]
        yield pa.RecordBatch.from_arrays([pa.array(each) for each in columns], names=names)


def shorter(address: str) -> Iterator[str]:
    """A canonical address without its fragment, its query string, then one path element after another."""
    while not address.startswith("name:") and any(mark in address for mark in "#?/"):
        mark = next(mark for mark in "#?/" if mark in address)
        address = address[: address.rindex(mark) if mark == "/" else address.index(mark)]
        yield address


def fingerprints_of(texts: Sequence[str]) -> list[int]:
    """Fingerprints of addresses, with or without a scheme, as Spark has numbers; 0 for what is none."""
    spelled = [text if "://" in text or text.startswith("name:") else f"https://{text}" for text in texts]
    raw = [text.encode("utf-8", "replace") for text in spelled]
    offsets = np.append(0, np.cumsum([len(each) for each in raw])).astype(np.int64)
    keyed = key_addresses(np.frombuffer(b"".join(raw), np.uint8), offsets)
    return [int(each) for each in signed(keyed.fingerprint)]
