"""PageRank and HubRank of every page, as `related/ranks` defines them, on blocks of pages.

With E scaled to a sum of 1, ranks are proportional to y = E + flow · (what comes in by links), as in
`ranks/_iteration.py`, so pages without out-links need no extra sum. A block is a range of pages with their links. In a
round it computes what its pages give, and sends every other block one sum per page. Anderson mixing makes the next
values from those of the last rounds; only a few scalar products come to the driver.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite import __version__
from cocite.errors import BadParameter
from cocite.related import ranks
from cocite.sources.folders import WORK
from cocite.spark import functions as F
from cocite.spark.arrays import Integers, numbers, run_starts, unpack_lists
from cocite.spark.batches import on_batches, on_runs
from cocite.spark.outputs import JobFolder, OnStep, open_shards
from cocite.spark.parts import gather_parents
from cocite.spark.session import task_count

RANK_DONE = "_rank.json"
MIXED_ROUNDS = 3
"""Rounds that mixing remembers."""
CHECKPOINT_ROUNDS = 10
"""Rounds after which values are written to disk: a lost worker costs at most these."""
BIAS = {"hubs": "out_degree", "authorities": "in_degree"}
Vector = NDArray[np.float64]


class BlockLinks(NamedTuple):
    """The links of one block: page owners[i] has degrees[i] of them, to others[places[…]], one after another."""

    owners: Integers  # counted from the block's first page; a page may occur several times
    degrees: Integers
    others: Integers  # page numbers, ascending, without repeats
    places: NDArray[np.int32]


class BlockValues(NamedTuple):
    """The values of one block's pages, and the differences of the last rounds, the newest first."""

    bias: Vector  # E
    x: Vector  # before the round
    g: Vector  # after it
    moves: tuple[Vector, ...] = ()  # differences of g - x
    steps: tuple[Vector, ...] = ()  # differences of g

    def mixed(self, parts: Vector) -> Vector:
        """The start values of the next round."""
        taken_back = sum(part * step for part, step in zip(parts, self.steps, strict=False))
        return np.asarray(self.g - taken_back)

    def next(self, x: Vector, received: Iterable[tuple[Any, Vector]] | None, forget: bool) -> "BlockValues":
        """The values after a round that started from x."""
        g = self.bias.copy()
        for pages, sums in received or ():
            g[pages] += sums
        if forget:
            return BlockValues(self.bias, x, g)
        moves, steps = ((g - x) - (self.g - self.x), *self.moves), (g - self.g, *self.steps)
        return BlockValues(self.bias, x, g, moves[:MIXED_ROUNDS], steps[:MIXED_ROUNDS])

    def sums(self) -> Vector:
        """Change, total, and the scalar products of the moves with each other and with the last one, as one array."""
        f = self.g - self.x
        products = np.zeros((MIXED_ROUNDS, MIXED_ROUNDS + 1))
        for i, move in enumerate(self.moves):
            products[i, : len(self.moves)] = [move @ other for other in self.moves]
            products[i, MIXED_ROUNDS] = move @ f
        return np.concatenate([[np.abs(f).sum(), self.g.sum()], products.ravel()])


def check(call: str) -> ranks.Rank:
    """A rank that Spark can compute."""
    rank = ranks.rank(call)
    if rank.name not in ("pagerank", "hubrank"):
        raise BadParameter(f"Spark ranks by pagerank and hubrank, not by {rank.name}: use cocite rank for that")
    return rank


def write_rank(
    spark: Any, store: str, output: str, call: str = "pagerank", on_step: OnStep | None = None
) -> dict[str, Any]:
    """Rank every page of a store's shards; rows are number, url and value. Return facts about the iteration."""
    rank = check(call)
    shards, folder = open_shards(spark, store), JobFolder(spark, output, on_step)
    plan = {"job": "rank", "store": shards.facts, "rank": str(rank), "version": __version__}
    if (done := folder.claim(plan, RANK_DONE)) is not None:
        return done
    params, pages, links = rank.params, int(shards.facts["pages"]), int(shards.facts["links"])
    blocks, kind = task_count(spark, links), str(shards.facts["number"])
    spark.conf.set("spark.sql.shuffle.partitions", blocks)
    width = -(-pages // blocks)
    bias = BIAS.get(getattr(params, "bias", ""))
    rounds, residual = 0, 0.0
    if bias and not links:
        values = shards.pages.select("number", "url", F.lit(1.0).alias("value"))
    else:
        spark.sparkContext.setCheckpointDir(f"{folder.folder}/{WORK}/kept")
        lists, popularity = shards.out.select("page", "targets"), "in_degree"
        if getattr(params, "transposed", False):
            sources = shards.into.select("page", "source")
            lists = sources.mapInArrow(on_runs(gather_parents, "page", kind), "page long, parents binary")
            lists, popularity = lists.withColumnRenamed("parents", "targets"), "out_degree"
        start = _start(shards.pages, bias, popularity, width, blocks, 1 - params.jump, pages, links)
        state, rounds, residual, total = _iterate(_links(lists, kind, width, blocks), start, width, blocks, params)
        scaled = state.map(lambda item: (item[0], (item[1].g * (pages / total)).tobytes()))
        rows = spark.createDataFrame(scaled, "block int, data binary")
        rows = rows.mapInArrow(on_batches(_page_rows, width), "number long, value double")
        values = rows.join(shards.pages.select("number", "url"), "number").select("number", "url", "value")
    ranked = folder.step("rank", values.repartitionByRange(blocks, "number").sortWithinPartitions("number"))
    facts = {"rank": str(rank), "pages": ranked.count(), "rounds": rounds, "residual": residual}
    return folder.finish(RANK_DONE, {**facts, "converged": residual <= params.tolerance})


def _by_block(rows: Any, width: int, blocks: int, make: Callable[[int, pa.Table], Any]) -> Any:
    """(block, make(first page, the block's rows)) of every block of pages, partitioned by block."""

    def work(table: pa.Table) -> pa.Table:
        block = table["block"][0].as_py()
        made = pickle.dumps(make(block * width, table))
        return pa.table({"block": pa.array([block], pa.int32()), "data": pa.array([made], pa.binary())})

    grouped = rows.withColumn("block", F.floor(F.col("page") / width).cast("int")).groupBy("block")
    made = grouped.applyInArrow(work, "block int, data binary").rdd
    return made.map(lambda row: (row[0], pickle.loads(row[1]))).partitionBy(blocks)


def _links(lists: Any, kind: str, width: int, blocks: int) -> Any:
    """(block, BlockLinks) of every block that has links. Workers keep them for all rounds."""
    from pyspark import StorageLevel

    def make(first: int, table: pa.Table) -> BlockLinks:
        targets, starts = unpack_lists(table["targets"], kind)
        others, places = np.unique(targets, return_inverse=True)
        owners = numbers(table["page"]) - first
        return BlockLinks(owners, np.diff(starts), others.astype(np.int64), places.astype(np.int32))

    return _by_block(lists, width, blocks, make).persist(StorageLevel.MEMORY_AND_DISK)


def _start(
    pages: Any, bias: str | None, popularity: str, width: int, blocks: int, flow: float, count: int, links: int
) -> Any:
    """(block, BlockValues) before the first round: popular pages start near their final value."""
    total, share = float(links if bias else count), flow / (1 - flow) / max(1, links)

    def make(first: int, table: pa.Table) -> BlockValues:
        order = np.argsort(numbers(table["page"]))
        even = numbers(table["bias"])[order] / total
        values = even + numbers(table["popularity"])[order] * share
        return BlockValues(even, values, values)

    rows = pages.selectExpr("number as page", f"{bias or 1} as bias", f"{popularity} as popularity")
    return _by_block(rows, width, blocks, make)


def _iterate(links: Any, state: Any, width: int, blocks: int, params: Any) -> tuple[Any, int, float, float]:
    """Rounds until one changes at most the tolerance: (values, rounds, change of the last, sum of all values)."""
    from pyspark import StorageLevel

    flow, parts, forget, last, before = 1 - params.jump, np.zeros(0), True, np.inf, None
    for rounds in range(1, params.rounds + 1):
        begun = state.mapValues(lambda values, parts=parts: (values, values.mixed(parts)))
        given = links.join(begun, blocks).flatMap(lambda item: _give(item[1][0], item[1][1][1], width, flow))
        received = begun.leftOuterJoin(given.groupByKey(blocks), blocks)
        state = received.mapValues(lambda pair, forget=forget: pair[0][0].next(pair[0][1], pair[1], forget))
        state = state.persist(StorageLevel.MEMORY_AND_DISK)
        if rounds % CHECKPOINT_ROUNDS == 0:
            state.checkpoint()
        sums = state.values().map(lambda values: values.sums()).reduce(np.add)
        if before is not None:
            before.unpersist()
        before, total = state, float(sums[1])
        change = float(sums[0]) / total
        if change <= params.tolerance:
            break
        forget, last = change > last, change  # mixing did harm, which rounds alone never do
        products = sums[2:].reshape(MIXED_ROUNDS, MIXED_ROUNDS + 1)
        parts = np.zeros(0) if forget else _mixing_parts(products)
    return state, rounds, change, total


def _mixing_parts(products: NDArray[np.float64]) -> Vector:
    """How much of each remembered step is taken back: least squares, as in `ranks/_iteration.py`."""
    own = np.diag(products[:, :MIXED_ROUNDS])
    scale = np.where(own > 0, 1 / np.sqrt(np.where(own > 0, own, 1.0)), 0.0)
    matrix, right = products[:, :MIXED_ROUNDS] * scale * scale[:, None], products[:, MIXED_ROUNDS] * scale
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-10)[0] * scale)


def _give(links: BlockLinks, x: Vector, width: int, flow: float) -> Iterator[tuple[int, tuple[Any, Any]]]:
    """What a block's pages give to the pages of each block: (block, (pages counted from its first, sums))."""
    degrees = np.bincount(links.owners, links.degrees)
    shares = flow * x[links.owners] / degrees[links.owners]
    sums = np.bincount(links.places, np.repeat(shares, links.degrees), len(links.others))
    for low, high in pairwise(run_starts(links.others // width).tolist()):
        block = int(links.others[low] // width)
        yield block, ((links.others[low:high] - block * width).astype(np.uint32), sums[low:high])


def _page_rows(batch: pa.RecordBatch, width: int) -> pa.RecordBatch:
    """A row for every page of blocks."""
    values, starts = unpack_lists(batch.column("data"), np.float64)
    first = numbers(batch.column("block")) * width
    number = np.repeat(first - starts[:-1], np.diff(starts)) + np.arange(len(values))
    return pa.record_batch({"number": number, "value": values})
