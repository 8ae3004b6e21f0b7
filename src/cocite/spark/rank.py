"""PageRank and HubRank of every page, as `ranks/` defines them, on blocks of pages.

With E scaled to a sum of 1 the ranks are in proportion to y = E + flow · (what comes in by links), as in
`ranks/_surfer.py`: what dead ends hold needs no extra sum. A block is a range of pages with the links of its pages; in
a round it works out what its pages give, and sends every other block one sum a page. Anderson's mixing (after
`ranks/_mixing.py`) takes the next values from the last rounds: only a few scalar products come to the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite import __version__
from cocite.errors import BadParameter
from cocite.related import ranks as known
from cocite.spark.arrays import Batches, cut, joined, numbers, runs
from cocite.spark.outputs import WORK, Output, Tell, print_nothing
from cocite.spark.shards import open_shards
from cocite.spark.shuffles import task_count

DONE = "_rank.json"
MEMORY = 3
"""Rounds that mixing remembers."""
KEPT = 10
"""Rounds after which values are written down, so that a lost worker costs no more than these."""
Vector = NDArray[np.float64]


class Links(NamedTuple):
    """The links of one block: page owners[i] has degrees[i] of them, to others[places[…]], one after another."""

    owners: NDArray[np.int64]  # from the block's first page
    degrees: NDArray[np.int64]
    others: NDArray[np.int64]  # page numbers, ascending, each once
    places: NDArray[np.int32]


@dataclass(frozen=True)
class Values:
    """The values of one block's pages, and what is remembered of rounds."""

    bias: Vector  # E
    x: Vector  # before the round
    g: Vector  # after it
    moves: tuple[Vector, ...] = ()  # differences of g - x, the newest first
    steps: tuple[Vector, ...] = ()  # differences of g

    def mixed(self, parts: Vector) -> Vector:
        """Where to start the next round."""
        found = self.g.copy()
        for part, step in zip(parts, self.steps, strict=False):
            found -= part * step
        return found

    def after(self, x: Vector, g: Vector, forget: bool) -> Values:
        """A round later."""
        moves = () if forget else ((g - x) - (self.g - self.x), *self.moves)
        steps = () if forget else (g - self.g, *self.steps)
        return replace(self, x=x, g=g, moves=moves[:MEMORY], steps=steps[:MEMORY])

    def sums(self) -> Vector:
        """Change, whole, and the scalar products of moves with each other and with the last one, as one array."""
        f = self.g - self.x
        products = np.zeros((MEMORY, MEMORY + 1))
        for i, one in enumerate(self.moves):
            products[i, MEMORY] = one @ f
            for k, other in enumerate(self.moves):
                products[i, k] = one @ other
        return np.concatenate([[np.abs(f).sum(), self.g.sum()], products.ravel()])


def check(call: str) -> known.Rank:
    """A rank, if Spark has it."""
    rank = known.rank(call)
    if rank.name not in ("pagerank", "hubrank"):
        raise BadParameter(f"Spark ranks by pagerank and hubrank, not by {rank.name}: use cocite rank for that")
    return rank


def write_rank(
    spark: Any, store: str, output: str, call: str = "pagerank", tell: Tell = print_nothing
) -> dict[str, Any]:
    """Rank every page of a store's shards; rows are number, url and value. Returns what is noted of them."""
    from pyspark.sql import functions as F

    rank = check(call)
    noted, pages, out, into = open_shards(spark, store)
    folder = Output(spark, output, tell)
    ended = folder.claim({"job": "rank", "store": noted, "rank": str(rank), "version": __version__}, DONE)
    if ended is not None:
        return ended
    params, count, kind = rank.params, int(noted["pages"]), str(noted["number"])
    blocks = task_count(spark, int(noted["links"]))
    spark.conf.set("spark.sql.shuffle.partitions", blocks)
    width = -(-count // blocks)
    back = getattr(params, "transposed", False)
    bias = {"hubs": "out_degree", "authorities": "in_degree"}.get(getattr(params, "bias", ""))
    lists = into.select("page", F.col("source").alias("target")) if back else out.select("page", "targets")
    linked = _linked(lists, kind, width, blocks, back)
    total = float(noted["links"]) if bias else float(count)
    rounds, residual = 0, 0.0
    if bias and not noted["links"]:
        values = pages.select("number", "url", F.lit(1.0).alias("value"))
    else:
        spark.sparkContext.setCheckpointDir(f"{folder.folder}/{WORK}/kept")
        start = _start(
            pages, bias, "out_degree" if back else "in_degree", total, float(noted["links"]), width, blocks, params
        )
        state, rounds, residual, whole = _iterate(linked, start, width, blocks, params)
        ranked = state.map(lambda item: (item[0], (item[1].g * (count / whole)).tobytes()))
        rows = spark.createDataFrame(ranked, "block int, data binary").mapInArrow(
            _spread(width), "number long, value double"
        )
        values = rows.join(pages.select("number", "url"), "number").select("number", "url", "value")
    done = folder.step("rank", lambda: values.repartitionByRange(blocks, "number").sortWithinPartitions("number"))
    converged = residual <= params.tolerance
    facts = {"rank": str(rank), "pages": done.count(), "rounds": rounds, "residual": residual, "converged": converged}
    folder.finish(DONE, facts)
    return facts


def _linked(lists: Any, kind: str, width: int, blocks: int, back: bool) -> Any:
    """(block, Links) of every block that has links, kept by the workers."""
    from pyspark import StorageLevel

    def gather(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            page = numbers(batch.column("page"))
            if back:
                targets, degrees = numbers(batch.column("target")), np.ones(len(page), np.int64)
            else:
                values, starts = joined(batch.column("targets"), kind)
                targets, degrees = values.astype(np.int64), np.diff(starts)
            order = np.argsort(page // width, kind="stable")
            starts = np.append(0, np.cumsum(degrees))
            index = np.repeat(starts[:-1][order] - (np.cumsum(degrees[order]) - degrees[order]), degrees[order])
            targets, page, degrees = targets[index + np.arange(len(targets))], page[order], degrees[order]
            cuts = runs(page // width)
            ends = np.append(0, np.cumsum(degrees))[cuts]
            columns = [pa.array((page[cuts[:-1]] // width).astype(np.int32))]
            columns += [cut(page, cuts), cut(degrees, cuts), cut(targets, ends)]
            yield pa.RecordBatch.from_arrays(columns, names=["block", "owners", "degrees", "targets"])

    def join(parts: Iterable[tuple[Any, ...]], block: int) -> Links:
        found = list(parts)
        owners, degrees, targets = (
            np.concatenate([np.frombuffer(part[i], np.int64) for part in found]) for i in range(3)
        )
        others, inverse = np.unique(targets, return_inverse=True)
        return Links(owners - block * width, degrees, others, inverse.astype(np.int32))

    rows = lists.mapInArrow(gather, "block int, owners binary, degrees binary, targets binary").rdd
    pairs = rows.map(lambda row: (row[0], (bytes(row[1]), bytes(row[2]), bytes(row[3]))))
    grouped = pairs.groupByKey(blocks)
    return grouped.map(lambda item: (item[0], join(item[1], item[0])), preservesPartitioning=True).persist(
        StorageLevel.MEMORY_AND_DISK
    )


def _start(
    pages: Any, bias: str | None, popularity: str, total: float, links: float, width: int, blocks: int, params: Any
) -> Any:
    """(block, Values) before the first round: popular pages get about what they will have."""
    flow = 1 - params.jump
    share = flow / (1 - flow) / max(1.0, links)
    names = dict.fromkeys(["number", popularity, bias or popularity])  # both may be the same

    def gather(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            number, popular = numbers(batch.column("number")), numbers(batch.column(popularity))
            own = numbers(batch.column(bias)) if bias else np.ones(len(number), np.int64)
            order = np.argsort(number // width, kind="stable")
            cuts = runs((number // width)[order])
            columns = [pa.array(((number // width)[order][cuts[:-1]]).astype(np.int32))]
            columns += [cut(each[order], cuts) for each in (number, popular, own)]
            yield pa.RecordBatch.from_arrays(columns, names=["block", "number", "popular", "own"])

    def join(parts: Iterable[tuple[Any, ...]], block: int) -> Values:
        found = list(parts)
        at, popular, own = (np.concatenate([np.frombuffer(part[i], np.int64) for part in found]) for i in range(3))
        even, first = np.zeros(len(at)), np.zeros(len(at))
        even[at - block * width] = own / total
        first[at - block * width] = own / total + popular * share
        return Values(even, first, first)

    rows = pages.select(*names).mapInArrow(gather, "block int, number binary, popular binary, own binary").rdd
    pairs = rows.map(lambda row: (row[0], (bytes(row[1]), bytes(row[2]), bytes(row[3]))))
    grouped = pairs.groupByKey(blocks)
    return grouped.map(lambda item: (item[0], join(item[1], item[0])), preservesPartitioning=True)


def _iterate(linked: Any, state: Any, width: int, blocks: int, params: Any) -> tuple[Any, int, float, float]:
    """Rounds until one changes at most the tolerance; (values, rounds, what the last changed, the sum of all)."""
    from pyspark import StorageLevel

    flow, parts, forget, last = 1 - params.jump, np.zeros(0), True, np.inf
    before = None
    for done in range(1, params.rounds + 1):
        begun = state.mapValues(lambda values, parts=parts: (values, values.mixed(parts)))
        given = linked.join(begun, blocks).flatMap(lambda item: _give(item[1][0], item[1][1], width, flow))
        sums = given.groupByKey(blocks)
        following = begun.leftOuterJoin(sums, blocks).mapValues(
            lambda pair, forget=forget: _take(pair[0], pair[1], forget)
        )
        following = following.persist(StorageLevel.MEMORY_AND_DISK)
        if done % KEPT == 0:
            following.checkpoint()
        total = following.values().map(lambda values: values.sums()).reduce(lambda one, other: one + other)
        if before is not None:
            before.unpersist()
        before = state = following
        change, whole = float(total[0] / total[1]), float(total[1])
        if change <= params.tolerance:
            break
        forget, last = change > last, change  # mixing did harm: rounds alone never do
        products = total[2:].reshape(MEMORY, MEMORY + 1)
        parts = np.zeros(0) if forget else _parts(products)
    return state, done, change, whole


def _parts(products: NDArray[np.float64]) -> Vector:
    """How much of each remembered step is taken back."""
    own = np.diag(products[:, :MEMORY])
    used = own > 0
    scale = np.where(used, 1 / np.sqrt(np.where(used, own, 1.0)), 0.0)
    found = np.linalg.lstsq(products[:, :MEMORY] * scale * scale[:, None], products[:, MEMORY] * scale, rcond=1e-10)[0]
    return np.asarray(found * scale)


def _give(links: Links, pair: tuple[Values, Vector], width: int, flow: float) -> Iterator[tuple[int, tuple[Any, Any]]]:
    """What a block's pages give to the pages of each block: (block, (pages from its first on, sums))."""
    shares = flow * pair[1][links.owners] / _degrees(links)
    sums = np.bincount(links.places, np.repeat(shares, links.degrees), len(links.others))
    cuts = runs(links.others // width)
    for low, high in pairwise(cuts.tolist()):
        block = int(links.others[low] // width)
        yield block, ((links.others[low:high] - block * width).astype(np.uint32), sums[low:high])


def _degrees(links: Links) -> NDArray[np.int64]:
    """The number of links of each owner, of which a block may have several runs."""
    totals = np.bincount(links.owners, links.degrees).astype(np.int64)
    return np.asarray(totals[links.owners])


def _take(pair: tuple[Values, Vector], given: Iterable[tuple[Any, Any]] | None, forget: bool) -> Values:
    """The values of a block after a round."""
    values, x = pair
    g = values.bias.copy()
    for at, sums in given or ():
        g[at] += sums
    return values.after(x, g, forget)


def _spread(width: int) -> Any:
    """A row for every page of blocks."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            values, starts = joined(batch.column("data"), np.float64)
            first = numbers(batch.column("block")) * width
            number = np.repeat(first - starts[:-1], np.diff(starts)) + np.arange(len(values))
            yield pa.RecordBatch.from_arrays([pa.array(number), pa.array(values)], names=["number", "value"])

    return work
