"""The pages most related to every page, by cocitation, proximity or extended_cocitation, as on one machine.

Parents are chosen first (`parents.py`), then the web is divided into parts (`parts.py`). A task makes a Graph in memory
of each part (`subweb.py`) and runs the method on each of its pages. A page with too little evidence gets the results of
a shorter address of its site, as in `neighbourhood/start.py`; addresses are looked up by a join on fingerprints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite import __version__
from cocite.errors import BadParameter
from cocite.graph.build.derive import SAMPLE_PARENTS
from cocite.kernels.addresses.canonical import key_addresses
from cocite.pages.key import from_key
from cocite.related.methods import Method
from cocite.related.methods import method as method_of
from cocite.related.methods.cocitation import MIN_CITATIONS, MIN_SIBLINGS
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import HASH_SEED, is_one_of
from cocite.results.ask import check_k
from cocite.spark.arrays import (
    Batches,
    batch_of,
    each_run,
    numbers,
    on_batches,
    pack_lists,
    positions,
    signed,
    unpack_lists,
)
from cocite.spark.outputs import WORK, OnStep, Output, ignore_step, open_shards
from cocite.spark.parents import choose_parents
from cocite.spark.part_rows import Needs, Shards
from cocite.spark.parts import MOST_LINKS, RELATIONS, make_parts
from cocite.spark.session import MOST_TASKS, F, task_count, to_task
from cocite.spark.subweb import SubGraph, SubWeb, make_subweb

DONE = "_related.json"
SPARE = 2
"""More answers than wanted: a page that is answered with another's answers is none itself, nor what stands for it."""
ANSWERS = "page long, enough boolean, answers binary, scores binary"


def _cocited(scores: Scores) -> bool:
    twice = (scores.values >= MIN_CITATIONS) & ~is_one_of(scores.pages, scores.excluded)
    return int(np.count_nonzero(twice)) >= MIN_SIBLINGS


def _any(scores: Scores) -> bool:
    return len(scores.pages) > 0


IS_ENOUGH: dict[str, Callable[[Scores], bool]] = {
    "cocitation": _cocited,
    "proximity": _any,
    "extended_cocitation": _any,
}
"""The methods that Spark runs, and when each has enough to answer from: as they say of what they gathered."""


def write_related(
    spark: Any,
    store: str,
    output: str,
    call: str = "cocitation",
    k: int = 10,
    *,
    relations: int = RELATIONS,
    links: int = MOST_LINKS,
    on_step: OnStep = ignore_step,
) -> dict[str, Any]:
    """Answer for every page of a store's shards; rows are query, rank, url and score. Returns what is noted of them."""
    method, k = check(call), check_k(k)
    noted, pages, out, into = open_shards(spark, store)
    folder = Output(spark, output, on_step)
    plan = {"job": "related", "store": noted, "method": str(method), "k": k, "version": __version__}
    ended = folder.claim(plan, DONE)
    if ended is not None:
        return ended
    kind, params = str(noted["number"]), method.params
    spark.conf.set("spark.sql.shuffle.partitions", task_count(spark, int(noted["links"])))
    stop = stop_numbers(pages, params.stop)
    plain = not (params.rel != "all" or not params.boilerplate or params.stop_degree or len(stop))
    most = params.parents if plain else SAMPLE_PARENTS
    pools = choose_parents(folder, into, most, kind)
    needs = Needs(
        unit=params.unit,
        fingerprints=not plain,
        attributes=method.name == "proximity" or params.rel != "all" or not params.boilerplate,
        children=getattr(params, "children", 0) if getattr(params, "child_parents", 0) else 0,
        whole=params.rel != "all" or not params.boilerplate,
        window=params.window if method.name == "proximity" and plain else 0,
    )
    if not params.merge:
        pages = pages.withColumn("representative", F.lit(None).cast("long"))
    shards = Shards(folder, pages, out, into, pools, kind, int(noted["pages"]))

    def ask() -> Any:
        rows, parts = make_parts(shards, needs, most, relations, links)
        tasks = min(parts, MOST_TASKS)
        rows = to_task(rows, tasks, F.col("part") % tasks)
        if tasks < parts:  # one after another
            rows = rows.sortWithinPartitions("part")
        return rows.mapInArrow(lambda batches: answer_parts(batches, call, k, kind, stop), ANSWERS)

    asked = folder.step(f"{WORK}/answers", ask)
    chosen = answers_of(pages, asked, params.chop, k, kind)
    urls = pages.select("number", "url")
    answers = chosen.join(urls.withColumnRenamed("number", "answer"), "answer")
    queries = urls.select(F.col("number").alias("page"), F.col("url").alias("query"))
    answers = answers.join(queries, "page").select("page", "query", "rank", "url", "score")
    tasks = task_count(spark, int(noted["pages"]) * k)
    answers = answers.repartitionByRange(tasks, "page").sortWithinPartitions("page", "rank").drop("page")
    done = folder.step("related", lambda: answers)
    facts = {"method": str(method), "k": k, "answers": done.count(), "pages": done.where("rank = 1").count()}
    folder.finish(DONE, facts)
    return facts


def check(call: str) -> Method:
    """A method that Spark runs, with parameters that it can have there."""
    method = method_of(call)
    if method.name not in IS_ENOUGH:
        raise BadParameter(f"Spark answers by {', '.join(IS_ENOUGH)}, not by {method.name}: use cocite batch for that")
    params = method.params
    if params.seed != HASH_SEED:
        raise BadParameter(f"Spark chooses parents with the seed {HASH_SEED} only: leave out seed")
    refuses = params.rel != "all" or not params.boilerplate or params.stop or params.stop_degree
    if refuses and params.parents > SAMPLE_PARENTS:
        raise BadParameter(
            f"with links or pages that do not count, Spark chooses among {SAMPLE_PARENTS:,} parents: lower parents"
        )
    return method


def stop_numbers(pages: Any, texts: Sequence[str]) -> NDArray[np.int64]:
    """The pages of a stop list, ascending; unknown addresses are no matter."""
    if not texts:
        return np.zeros(0, np.int64)
    wanted = fingerprints_of(texts)
    found = pages.where(F.col("fingerprint").isin(wanted)).select(F.coalesce("leads_to", "number")).collect()
    return np.unique(np.array([number for (number,) in found], np.int64))


def answer_parts(batches: Batches, call: str, k: int, kind: str, stop: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    """The answers to the pages of parts, whose rows come one part after another."""
    for rows in each_run(batches, "part"):
        yield from _answer_part(rows, call, k, kind, stop)


def _answer_part(
    rows: list[pa.RecordBatch], call: str, k: int, kind: str, stop: NDArray[np.int64]
) -> Iterator[pa.RecordBatch]:
    """The answers to the pages of one part; its rows are let go."""
    graph, queries = make_subweb(pa.Table.from_batches(rows), kind)
    rows.clear()
    stop_pages = np.searchsorted(graph.numbers, stop[np.isin(stop, graph.numbers)]).astype(np.uint32)
    web, method = SubWeb(graph, stop_pages), method_of(call)
    enough = IS_ENOUGH[method.name]
    for start in range(0, len(queries), PER_BATCH):
        yield _answers(web, method, queries[start : start + PER_BATCH], k + SPARE, kind, enough)


PER_BATCH = 4096


def _answers(
    web: SubWeb, method: Method, queries: NDArray[np.uint32], most: int, kind: str, enough: Callable[[Scores], bool]
) -> pa.RecordBatch:
    graph = web.graph
    best = method.best_of_each(web, queries, most)  # without chopping, but it says which pages would be chopped
    if best is not None:
        return _batch(graph, queries, best.enough, best.counts, best.pages, best.scores, kind)
    counts, sure = np.zeros(len(queries), np.int64), np.zeros(len(queries), np.bool_)
    found: list[tuple[int, float]] = []
    alone = replace(method, params=replace(method.params, chop="none"))
    for i, page in enumerate(queries.tolist()):
        scores = alone.relate(web, [page])
        sure[i] = enough(scores)
        before = len(found)
        found.extend(islice(scores.ranked(graph.in_degree, most), most))
        counts[i] = len(found) - before
    pages, values = np.array([page for page, _ in found], np.int64), np.array([score for _, score in found], np.float64)
    return _batch(graph, queries, sure, counts, pages, values, kind)


def _batch(
    graph: SubGraph,
    queries: NDArray[np.uint32],
    sure: NDArray[np.bool_],
    counts: NDArray[Any],
    pages: NDArray[Any],
    scores: NDArray[np.float64],
    kind: str,
) -> pa.RecordBatch:
    starts = np.append(0, np.cumsum(counts, dtype=np.int64))
    answers = graph.numbers[pages]
    answers, scores = pack_lists(answers.astype(kind), starts), pack_lists(scores, starts)
    return batch_of(page=graph.numbers[queries], enough=sure, answers=answers, scores=scores)


CANDIDATES = "page long, site long, level int, fingerprint long"


def answers_of(pages: Any, asked: Any, chop: str, k: int, kind: str) -> Any:
    """page, rank, answer, score for every page with links, of its own answers or of the page asked in its place."""
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

    return given.mapInArrow(on_batches(_best, k, kind), "page long, rank int, answer long, score double")


def _best(batch: pa.RecordBatch, k: int, kind: str) -> pa.RecordBatch:
    """The first k answers that are neither the page itself nor what stands for it."""
    answers, starts = unpack_lists(batch.column("answers"), kind)
    scores, _ = unpack_lists(batch.column("scores"), np.float64)
    sizes = np.diff(starts)
    page = np.repeat(numbers(batch.column("page")), sizes)
    kept = (answers != page) & (answers != np.repeat(numbers(batch.column("representative")), sizes))
    ends = np.append(0, np.cumsum(kept))[starts]
    page, answers, scores, rank = page[kept], answers[kept], scores[kept], positions(ends) + 1
    first = rank <= k
    rank, answers = rank[first].astype(np.int32), answers[first].astype(np.int64)
    return batch_of(page=page[first], rank=rank, answer=answers, score=scores[first])


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
        level = np.array(levels, np.int32)[usable]
        yield batch_of(page=page[usable], site=site[usable], level=level, fingerprint=found[usable])


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
