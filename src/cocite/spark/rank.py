"""PageRank and HubRank of every page, as `ranks/` defines them, on blocks of pages.

With E scaled to a sum of 1, ranks are proportional to y = E + flow · (what comes in by links), as in
`ranks/_iteration.py`, so pages without out-links need no extra sum. A block is a range of pages with their links. In a
round it computes what its pages give, and sends every other block one sum per page. Anderson mixing takes the next
values from the last rounds; only a few scalar products come to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite import __version__
from cocite.errors import BadParameter
from cocite.related import ranks as known
from cocite.spark.arrays import batch_of, numbers, on_batches, pack_lists, run_starts, unpack_lists
from cocite.spark.outputs import WORK, OnStep, Output, ignore_step, open_shards
from cocite.spark.session import F, task_count

DONE = "_rank.json"
MEMORY = 3
"""Rounds that mixing remembers."""
KEPT = 10
"""Rounds after which values are written down, so that a lost worker costs no more than these."""
Vector = NDArray[np.float64]
Numbers = NDArray[np.int64]


class BlockLinks(NamedTuple):
    """The links of one block: page owners[i] has degrees[i] of them, to others[places[…]], one after another."""

    owners: NDArray[np.int64]  # from the block's first page
    degrees: NDArray[np.int64]
    others: NDArray[np.int64]  # page numbers, ascending, each once
    places: NDArray[np.int32]


@dataclass(frozen=True)
class BlockValues:
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

    def after(self, x: Vector, g: Vector, forget: bool) -> BlockValues:
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
    spark: Any, store: str, output: str, call: str = "pagerank", on_step: OnStep = ignore_step
) -> dict[str, Any]:
    """Rank every page of a store's shards; rows are number, url and value. Returns what is noted of them."""
    rank = check(call)
    noted, pages, out, into = open_shards(spark, store)
    folder = Output(spark, output, on_step)
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
            on_batches(_spread, width), "number long, value double"
        )
        values = rows.join(pages.select("number", "url"), "number").select("number", "url", "value")
    done = folder.step("rank", lambda: values.repartitionByRange(blocks, "number").sortWithinPartitions("number"))
    converged = residual <= params.tolerance
    facts = {"rank": str(rank), "pages": done.count(), "rounds": rounds, "residual": residual, "converged": converged}
    folder.finish(DONE, facts)
    return facts


def _by_block(rows: Any, blocks: int, join: Callable[..., Any]) -> Any:
    """(block, join(block, three arrays)) of rows that have a block number and three packed columns."""

    def joined(item: tuple[int, Iterable[Any]]) -> tuple[int, Any]:
        block, parts = item[0], list(item[1])
        return block, join(
            block, *(np.concatenate([np.frombuffer(each[i], np.int64) for each in parts]) for i in range(3))
        )

    pairs = rows.rdd.map(lambda row: (row[0], tuple(bytes(each) for each in row[1:])))
    return pairs.groupByKey(blocks).map(joined, preservesPartitioning=True)


def _linked(lists: Any, kind: str, width: int, blocks: int, back: bool) -> Any:
    """(block, BlockLinks) of every block that has links, kept by the workers."""
    from pyspark import StorageLevel

    def gather(batch: pa.RecordBatch) -> pa.RecordBatch:
        page = numbers(batch.column("page"))
        if back:
            targets, degrees = numbers(batch.column("target")), np.ones(len(page), np.int64)
        else:
            values, starts = unpack_lists(batch.column("targets"), kind)
            targets, degrees = values.astype(np.int64), np.diff(starts)
        order = np.argsort(page // width, kind="stable")
        starts = np.append(0, np.cumsum(degrees))
        index = np.repeat(starts[:-1][order] - (np.cumsum(degrees[order]) - degrees[order]), degrees[order])
        targets, page, degrees = targets[index + np.arange(len(targets))], page[order], degrees[order]
        cuts = run_starts(page // width)
        ends = np.append(0, np.cumsum(degrees))[cuts]
        return batch_of(
            block=(page[cuts[:-1]] // width).astype(np.int32),
            owners=pack_lists(page, cuts),
            degrees=pack_lists(degrees, cuts),
            targets=pack_lists(targets, ends),
        )

    def join(block: int, owners: Numbers, degrees: Numbers, targets: Numbers) -> BlockLinks:
        others, inverse = np.unique(targets, return_inverse=True)
        return BlockLinks(owners - block * width, degrees, others, inverse.astype(np.int32))

    rows = lists.mapInArrow(on_batches(gather), "block int, owners binary, degrees binary, targets binary")
    return _by_block(rows, blocks, join).persist(StorageLevel.MEMORY_AND_DISK)


def _start(
    pages: Any, bias: str | None, popularity: str, total: float, links: float, width: int, blocks: int, params: Any
) -> Any:
    """(block, BlockValues) before the first round: popular pages start near their final value."""
    flow = 1 - params.jump
    share = flow / (1 - flow) / max(1.0, links)
    names = dict.fromkeys(["number", popularity, bias or popularity])  # both may be the same

    def gather(batch: pa.RecordBatch) -> pa.RecordBatch:
        number, popular = numbers(batch.column("number")), numbers(batch.column(popularity))
        own = numbers(batch.column(bias)) if bias else np.ones(len(number), np.int64)
        order = np.argsort(number // width, kind="stable")
        block = (number // width)[order]
        cuts = run_starts(block)
        columns = {"number": number, "popular": popular, "own": own}
        packed = {name: pack_lists(values[order], cuts) for name, values in columns.items()}
        return batch_of(block=block[cuts[:-1]].astype(np.int32), **packed)

    def join(block: int, number: Numbers, popular: Numbers, own: Numbers) -> BlockValues:
        even, first = np.zeros(len(number)), np.zeros(len(number))
        even[number - block * width] = own / total
        first[number - block * width] = own / total + popular * share
        return BlockValues(even, first, first)

    rows = pages.select(*names).mapInArrow(on_batches(gather), "block int, number binary, popular binary, own binary")
    return _by_block(rows, blocks, join)


def _iterate(linked: Any, state: Any, width: int, blocks: int, params: Any) -> tuple[Any, int, float, float]:
    """Rounds until one changes at most the tolerance; (values, rounds, what the last changed, the sum of all)."""
    from pyspark import StorageLevel

    flow, parts, forget, last = 1 - params.jump, np.zeros(0), True, np.inf
    before = None
    for done in range(1, params.rounds + 1):
        begun = state.mapValues(lambda values, parts=parts: (values, values.mixed(parts)))
        given = linked.join(begun, blocks).flatMap(lambda item: _give(item[1][0], item[1][1][1], width, flow))
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


def _give(links: BlockLinks, x: Vector, width: int, flow: float) -> Iterator[tuple[int, tuple[Any, Any]]]:
    """What a block's pages give to the pages of each block: (block, (pages counted from its first, sums))."""
    degrees = np.bincount(links.owners, links.degrees).astype(np.int64)  # an owner may have several runs of links
    shares = flow * x[links.owners] / degrees[links.owners]
    sums = np.bincount(links.places, np.repeat(shares, links.degrees), len(links.others))
    cuts = run_starts(links.others // width)
    for low, high in pairwise(cuts.tolist()):
        block = int(links.others[low] // width)
        yield block, ((links.others[low:high] - block * width).astype(np.uint32), sums[low:high])


def _take(pair: tuple[BlockValues, Vector], given: Iterable[tuple[Any, Any]] | None, forget: bool) -> BlockValues:
    """The values of a block after a round."""
    values, x = pair
    g = values.bias.copy()
    for at, sums in given or ():
        g[at] += sums
    return values.after(x, g, forget)


def _spread(batch: pa.RecordBatch, width: int) -> pa.RecordBatch:
    """A row for every page of blocks."""
    values, starts = unpack_lists(batch.column("data"), np.float64)
    first = numbers(batch.column("block")) * width
    number = np.repeat(first - starts[:-1], np.diff(starts)) + np.arange(len(values))
    return batch_of(number=number, value=values)
