"""The pages most related to every page, by cocitation, proximity or extended_cocitation, as on one machine.

The web is divided into parts (`parts.py`). A task makes a Graph in memory of each part (`subweb.py`) and runs the
method on each of its pages. A page with too little evidence gets the results of a shorter address of its site, as in
`neighbourhood/scores.py`; these addresses are looked up by a join on keys.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite import __version__
from cocite.errors import BadParameter
from cocite.graph.build.derive import SAMPLE_PARENTS
from cocite.graph.build.names import key_array, text_buffers
from cocite.kernels.addresses.canonical import key_addresses
from cocite.pages.address import chop
from cocite.pages.key import from_key
from cocite.pages.stop_lists import stop_addresses
from cocite.related.methods import Method
from cocite.related.methods import method as method_of
from cocite.related.methods.cocitation import MIN_CITATIONS, MIN_SIBLINGS
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import HASH_SEED, MERGED_NOTHING, PUBLISHED, is_one_of
from cocite.results.ask import check_k
from cocite.sources.folders import WORK
from cocite.spark import functions as F
from cocite.spark.arrays import Integers, list_starts, numbers, pack_lists, positions, spread, unpack_lists
from cocite.spark.batches import Batches, each_run, on_batches
from cocite.spark.outputs import JobFolder, OnStep, open_shards
from cocite.spark.parts import MAX_PART_LINKS, PART_RELATIONS, Needs, RelatedJob, make_parts
from cocite.spark.session import MAX_TASKS, task_count
from cocite.spark.subweb import SubWeb, make_subgraph

RELATED_DONE = "_related.json"
SPARE_RESULTS = 2
"""More results than requested: a page that gets another's results must not get itself, nor its representative."""
BATCH_QUERIES = 4096
SPARK_METHODS = ("cocitation", "proximity", "extended_cocitation")


def is_enough(method: str, scores: Scores) -> bool:
    """Whether a method has enough evidence, by its own rule."""
    if method != "cocitation":
        return len(scores.pages) > 0
    twice = (scores.values >= MIN_CITATIONS) & ~is_one_of(scores.pages, scores.excluded)
    return int(np.count_nonzero(twice)) >= MIN_SIBLINGS


def check(call: str) -> Method:
    """A method that Spark can run with its parameters."""
    method = method_of(call)
    if method.name not in SPARK_METHODS:
        raise BadParameter(f"Spark runs {', '.join(SPARK_METHODS)}, not {method.name}: use cocite batch for that")
    params = method.params
    if params.merge == PUBLISHED and params.merged_as_published != MERGED_NOTHING:
        raise BadParameter(f"Spark doesn't merge as published for {method.name}: give merge=true or merge=false")
    if params.trust:
        raise BadParameter("Spark doesn't compute trust, which takes all of the web: leave out trust")
    if params.seed != HASH_SEED:
        raise BadParameter(f"Spark chooses parents with the seed {HASH_SEED} only: leave out seed")
    plain = params.rel == "all" and params.boilerplate and not params.stop and not params.stop_degree
    if not plain and params.parents > SAMPLE_PARENTS:
        raise BadParameter(
            f"If some links or pages don't count, Spark chooses among {SAMPLE_PARENTS:,} parents: lower parents"
        )
    return method


def write_related(
    spark: Any,
    store: str,
    output: str,
    call: str = "cocitation",
    k: int = 10,
    *,
    relations: int = PART_RELATIONS,
    links: int = MAX_PART_LINKS,
    on_step: OnStep | None = None,
) -> dict[str, Any]:
    """Find related pages of every page of a store's shards; rows are query, rank, url and score. Return facts."""
    method, k = check(call), check_k(k)
    shards, folder = open_shards(spark, store), JobFolder(spark, output, on_step)
    facts, params = shards.facts, method.params
    plan = {"job": "related", "store": facts, "method": str(method), "k": k, "version": __version__}
    if (done := folder.claim(plan, RELATED_DONE)) is not None:
        return done
    kind = str(facts["number"])
    spark.conf.set("spark.sql.shuffle.partitions", task_count(spark, int(facts["links"])))
    stop = _stop_numbers(shards.pages, params.stop)
    all_links = params.rel == "all" and params.boilerplate
    plain = all_links and not params.stop_degree and not len(stop)
    needs = Needs(
        units=params.named_unit != "none",
        fingerprints=not plain,
        attributes=method.name == "proximity" or not all_links,
        children=getattr(params, "children", 0) if getattr(params, "child_parents", 0) else 0,
        whole=not all_links,
        window=params.window if method.name == "proximity" and plain else 0,
    )
    pages = shards.pages.withColumn("unit", F.col(params.named_unit) if needs.units else F.lit(0))
    if params.merge is not True:
        pages = pages.withColumn("representative", F.lit(None).cast("long"))
    job = RelatedJob(folder, shards._replace(pages=pages), needs, params.parents if plain else SAMPLE_PARENTS, kind)

    def answer() -> Any:
        rows, parts = make_parts(job, relations, links)
        tasks = min(parts, MAX_TASKS)
        rows = _to_task(rows, tasks, F.col("part") % tasks)
        if tasks < parts:
            rows = rows.sortWithinPartitions("part")
        schema = "page long, enough boolean, answers binary, scores binary"
        return rows.mapInArrow(lambda batches: answer_parts(batches, call, k, kind, stop), schema)

    answered = folder.step(f"{WORK}/answers", answer)
    results = _results(pages, answered, params.chop, k, kind)
    urls = pages.select("number", "url")
    results = results.join(urls.withColumnRenamed("number", "answer"), "answer")
    results = results.join(urls.selectExpr("number as page", "url as query"), "page")
    results = results.select("page", "query", "rank", "url", "score")
    results = results.repartitionByRange(task_count(spark, int(facts["pages"]) * k), "page")
    related = folder.step("related", results.sortWithinPartitions("page", "rank").drop("page"))
    counts = {"answers": related.count(), "pages": related.where("rank = 1").count()}
    return folder.finish(RELATED_DONE, {"method": str(method), "k": k, **counts})


def _stop_numbers(pages: Any, texts: Sequence[str]) -> Integers:
    """The pages of a stop list, ascending. Unknown addresses are ignored."""
    if not texts:
        return np.zeros(0, np.int64)
    keys = [bytearray(key) for key in keys_of(stop_addresses(texts)).to_pylist() if key]
    listed = pages.where(F.col("key").isin(keys))
    return np.unique([row[0] for row in listed.select(F.coalesce("leads_to", "number")).collect()]).astype(np.int64)


def _to_task(rows: Any, tasks: int, task: Any) -> Any:
    """Partition rows by a column with the number of their task, from 0 to tasks - 1.

    Spark 4.0 hashes what it partitions by, so each task gets a number whose hash leads to it.
    """
    numbers_of: dict[int, int] = {}
    tried = 4 * tasks
    while len(numbers_of) < tasks:  # hashes leave some tasks without a number until enough were tried
        tried *= 4
        number = F.col("id").cast("int")
        hashes = rows.sparkSession.range(tried).select(F.pmod(F.hash(number), tasks), number)
        numbers_of = dict(map(tuple, hashes.collect()))
    by_task = F.array(*(F.lit(numbers_of[each]) for each in range(tasks)))
    return rows.repartition(tasks, F.element_at(by_task, (task + 1).cast("int")))


def answer_parts(batches: Batches, call: str, k: int, kind: str, stop: Integers) -> Iterator[pa.RecordBatch]:
    """The results for the pages of parts, whose rows come one part after another."""
    for rows in each_run(batches, "part"):
        graph, queries = make_subgraph(pa.Table.from_batches(rows), kind)
        rows.clear()  # frees the memory
        stop_pages = np.searchsorted(graph.numbers, stop[np.isin(stop, graph.numbers)]).astype(np.uint32)
        web, method = SubWeb(graph, stop_pages), method_of(call)
        for start in range(0, len(queries), BATCH_QUERIES):
            yield _answer(web, method, queries[start : start + BATCH_QUERIES], k + SPARE_RESULTS, kind)


def _answer(web: SubWeb, method: Method, queries: NDArray[np.uint32], most: int, kind: str) -> pa.RecordBatch:
    """The results of each query page, without chopping, and whether it has enough evidence."""
    graph, best = web.graph, method.best_of_each(web, queries, most)
    if best is not None:
        enough, counts, pages, values = best.enough, best.counts, best.pages, best.scores
    else:
        alone = replace(method, params=replace(method.params, chop="none"))
        found, enough = [], np.zeros(len(queries), np.bool_)
        for i, page in enumerate(queries.tolist()):
            scores = alone.relate(web, [page])
            found.append(list(islice(scores.ranked(graph.in_degree, most, graph.order), most)))
            enough[i] = is_enough(method.name, scores)
        counts = np.array([len(each) for each in found])
        pages = np.array([page for each in found for page, _ in each], np.int64)
        values = np.array([value for each in found for _, value in each], np.float64)
    starts = list_starts(counts)
    lists = {"answers": pack_lists(graph.numbers[pages].astype(kind), starts), "scores": pack_lists(values, starts)}
    return pa.record_batch({"page": graph.numbers[queries], "enough": enough, **lists})


def _results(pages: Any, answered: Any, chopping: str, k: int, kind: str) -> Any:
    """page, rank, answer, score for every page with links: its own results, or those of a shorter address."""
    given = answered.select("page", "answers", "scores")
    if chopping != "none":
        own, enough = given, answered.where("enough").select("page", "answers", "scores")
        too_little = pages.where("in_degree + out_degree > 0").selectExpr("number as page", "key", "site")
        too_little = too_little.join(enough.select("page"), "page", "left_anti")
        shorter = too_little.mapInArrow(on_batches(_shorter), "page long, site long, level int, key binary")
        known = pages.selectExpr("coalesce(leads_to, number) as other", "key")
        found = shorter.join(known, "key").join(pages.selectExpr("number as other", "site as other_site"), "other")
        found = found if chopping == "host" else found.where("site = other_site")
        found = found.join(enough.selectExpr("page as other"), "other")
        first = found.groupBy("page").agg(F.expr("min(struct(level, other)).other as other"))
        instead = first.join(enough.withColumnRenamed("page", "other"), "other").select("page", "answers", "scores")
        given = enough.union(instead)
        if chopping != "strict":
            given = given.union(own.join(given.select("page"), "page", "left_anti"))
    near = pages.where("representative is not null").selectExpr("number as page", "representative")
    given = given.join(near, "page", "left").fillna(-1, ["representative"])
    return given.mapInArrow(on_batches(_first_results, k, kind), "page long, rank int, answer long, score double")


def _first_results(batch: pa.RecordBatch, k: int, kind: str) -> pa.RecordBatch:
    """The first k results that are neither the page itself nor its representative."""
    answers, starts = unpack_lists(batch.column("answers"), kind)
    scores, _ = unpack_lists(batch.column("scores"), np.float64)
    page, representative = spread(batch, starts, "page", "representative").values()
    others = np.flatnonzero((answers != page) & (answers != representative))
    rank = positions(np.searchsorted(others, starts)) + 1
    first, rank = others[rank <= k], rank[rank <= k].astype(np.int32)
    columns = {"page": page[first], "rank": rank, "answer": answers[first].astype(np.int64), "score": scores[first]}
    return pa.record_batch(columns)


def _shorter(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The keys of ever shorter addresses of pages."""
    addresses = [from_key(key.decode("utf-8", "replace")) for key in batch.column("key").to_pylist()]
    found = [(row, *each) for row, text in enumerate(addresses) for each in enumerate(chop(text))]
    keys = keys_of([address for _, _, address in found])
    usable = np.flatnonzero(pc.binary_length(keys))
    row = np.array([row for row, _, _ in found], np.int64)[usable]
    level = np.array([level for _, level, _ in found], np.int32)[usable]
    own = {name: numbers(batch.column(name))[row] for name in ("page", "site")}
    return pa.record_batch({**own, "level": level, "key": keys.take(pa.array(usable))})


def keys_of(texts: Sequence[str]) -> pa.Array:
    """Keys of addresses, with or without a scheme; empty for texts of other kinds."""
    spelled = [text if "://" in text or text.startswith("name:") else f"https://{text}" for text in texts]
    raw = pa.array([text.encode("utf-8", "replace") for text in spelled], pa.binary())
    keyed = key_addresses(*text_buffers(raw))
    return key_array(keyed.data, keyed.offsets, np.ones(len(texts), np.bool_))
