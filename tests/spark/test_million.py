"""A page that a million pages link to: its parents are chosen before anything is joined; answers are the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from cocite.graph.names import addresses
from cocite.graph.store import Graph
from cocite.related import ranks
from cocite.related.methods import method
from cocite.results.workers import answer
from cocite.spark.outputs import JobFolder, rows_at
from cocite.spark.parts import best_parents, choose_parents
from cocite.spark.rank import write_rank
from cocite.spark.related import write_related
from cocite.spark.store import write_store
from cocite.web import Web
from tests.conftest import long
from tests.spark.webs import build_store, table

PARENTS, OTHERS, HUBS = 1_000_000, 300, 10  # every tenth parent is a hub: methods ask some hundred parents
STAR = "https://star.example/"


@pytest.fixture(scope="module")
def star_records(fast_root: Path) -> Path:
    """A million pages that link to one; every tenth links to three others, too."""
    folder = fast_root / "star-records"
    folder.mkdir()
    draw = np.random.default_rng(1)
    for part in range(4):
        pages = range(part * PARENTS // 4, (part + 1) * PARENTS // 4)
        urls = [f"https://h{page % 500}.example/{page}" for page in pages]
        sizes = np.where(np.arange(len(urls)) % HUBS == 0, 4, 1)
        ends = np.append(0, np.cumsum(sizes)).astype(np.int32)
        links = [f"https://other{n}.example/" for n in draw.integers(0, OTHERS, ends[-1]).tolist()]
        for start in ends[:-1].tolist():
            links[start] = STAR
        lists = pa.ListArray.from_arrays(pa.array(ends), pa.array(links))
        pq.write_table(pa.table({"url": urls, "links": lists}), folder / f"part-{part}.parquet")
    return folder


@pytest.fixture(scope="module")
def star_graph(fast_root: Path, star_records: Path) -> Graph:
    """The store of one machine."""
    return build_store(star_records, fast_root / "star.cocite")


@pytest.fixture(scope="module")
def compiling(spark: Any) -> Iterator[None]:
    """There are enough rows for compiled queries."""
    settings = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.fixture(scope="module")
def star_shards(spark: Any, compiling: None, fast_root: Path, star_records: Path) -> Path:
    """The shards of Spark, in executors of 1 GB."""
    write_store(spark, str(star_records), str(fast_root / "star-shards"))
    return fast_root / "star-shards"


@long
@pytest.mark.parametrize("call", ["cocitation", "proximity", "extended_cocitation"])
def test_answers_are_alike(spark: Any, star_graph: Graph, star_shards: Path, place: Path, call: str) -> None:
    write_related(spark, str(star_shards), str(place / "spark"), call)
    cited = np.flatnonzero(star_graph.in_degree).astype(np.uint32)
    assert star_graph.in_degree.max() == PARENTS
    asked = np.union1d(cited, np.arange(0, star_graph.pages, 5003, dtype=np.uint32))
    found = answer(Web(star_graph.path), method(call), asked, 10)
    urls = list(addresses(star_graph.names, 0, star_graph.pages))
    ends = np.cumsum(found.counts)
    expected = [
        (urls[page], rank, urls[other], score)
        for page, end, count in zip(asked.tolist(), ends.tolist(), found.counts.tolist(), strict=True)
        for rank, (other, score) in enumerate(
            zip(found.pages[end - count : end].tolist(), found.scores[end - count : end].tolist(), strict=True), 1
        )
    ]
    rows = table(place / "spark" / "related")
    rows = rows.filter(pc.is_in(rows["query"], pa.array([urls[page] for page in asked])))
    assert [tuple(row.values()) for row in rows.to_pylist()] == expected
    assert len([row for row in expected if row[0] == STAR]) == 10


@long
def test_ranks_are_alike(spark: Any, star_graph: Graph, star_shards: Path, place: Path) -> None:
    assert write_rank(spark, str(star_shards), str(place / "spark"))["converged"]
    values = table(place / "spark" / "rank")["value"].to_numpy()
    np.testing.assert_allclose(values, ranks.rank("pagerank").compute(star_graph).values, rtol=1e-6)
    assert int(values.argmax()) == star_graph.find(STAR)


@long
def test_parents_are_chosen_alike(spark: Any, star_graph: Graph, star_shards: Path, place: Path) -> None:
    into = rows_at(spark, f"{star_shards}/in", "shards")
    output, star = JobFolder(spark, str(place / "chosen")), star_graph.find(STAR)
    pools = choose_parents(output, into, 2000, "<u4")
    chosen = np.frombuffer(pools.where(f"page = {star}").first()["parents"], "<u4")
    assert chosen.tolist() == star_graph.array("sample.parent").reshape(-1, 2000)[0].tolist()
    best = best_parents(output, into, "<u4")
    row = np.frombuffer(best.where(f"page = {star}").first()["parents"], "<u4")
    assert row.tolist() == star_graph.best_parents(star).tolist()  # type: ignore[union-attr]
