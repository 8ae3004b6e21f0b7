"""The commands in processes of their own, as Spark comes: plans that adapt, compiled queries; Python is kept short."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cocite.graph.store import Graph
from cocite.operations.pages.batch import batch
from cocite.related import ranks
from tests.conftest import long
from tests.spark.webs import build_records, build_store, messy_web, table

CLUSTER = ["--master", "local-cluster[2,1,1024]", "--conf", "spark.executor.memory=1g"]
MAIN = "from cocite.cli import main; main()"
LIMIT = ["--conf", "spark.executor.pyspark.memory=1g"]


def run(*arguments: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", MAIN, "spark", *arguments, *CLUSTER, *LIMIT], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr


@long
@pytest.mark.skipif(shutil.which("java") is None, reason="needs Java 17")
def test_all_jobs(place: Path) -> None:
    pytest.importorskip("pyspark", reason="needs the extra spark")
    records = build_records(place / "records", messy_web(seed=2))
    alone = build_store(records, place / "alone.cocite")
    pages, shards = place / "pages", place / "shards"
    run("pages", str(records), "-o", str(pages))
    run("store", str(pages), "-o", str(shards))
    assert_same_pages(alone, shards)
    run("rank", str(shards), "-o", str(place / "rank"))
    values = table(place / "rank" / "rank")["value"].to_numpy()
    np.testing.assert_allclose(values, ranks.rank("pagerank").compute(alone).values, rtol=1e-6)
    for call in ("cocitation", "extended_cocitation"):
        run("related", str(shards), "-o", str(place / call), "-m", call)
        batch(alone, call, place / f"{call}.parquet", processes=1)
        assert table(place / call / "related").to_pylist() == table(place / f"{call}.parquet").to_pylist()


def assert_same_pages(alone: Graph, shards: Path) -> None:
    pages = table(shards / "pages")
    assert (pages["fingerprint"].to_numpy().view(np.uint64) == alone.fingerprints).all()
    for name, degrees in (("in_degree", alone.in_degree), ("out_degree", alone.out_degree)):
        assert (pages[name].to_numpy() == degrees).all()
