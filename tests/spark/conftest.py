"""One Spark session for all tests here.

In long trials, two executors of 1 GB in processes of their own, as on a cluster, and 1 GB for the Python of each; else
threads of one process, which start in a third of the time.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cocite.graph.store import Graph
from cocite.sources.records import Page
from tests.conftest import RUN_LONG, long
from tests.spark.webs import build_records, build_store, messy_web

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In `make test` one store is written by Spark and compared; all other jobs are long.

    Its tests come first of all: then one of the processes that share the tests has them all, and only one starts Spark.
    """
    for item in items:
        if "spark" in inspect.signature(getattr(item, "function", len)).parameters:
            item.add_marker(long)
    items.sort(key=lambda item: "shards" not in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A cluster on this machine, or threads of one process."""
    pytest.importorskip("pyspark", reason="needs the extra spark")
    if shutil.which("java") is None:
        pytest.skip("needs Java 17")
    from cocite.spark.session import start

    session = start(
        "tests",
        "local-cluster[2,1,1024]" if RUN_LONG else "local[2]",
        {
            "spark.executor.memory": "1g",
            **({"spark.executor.pyspark.memory": "1g"} if RUN_LONG else {}),
            "spark.default.parallelism": "2",
            "spark.sql.shuffle.partitions": "2",
            # Of a few rows nothing is to be learnt, and compiling for them takes longer than doing without.
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.extraJavaOptions": JAVA,
            "spark.executor.extraJavaOptions": JAVA,
        },
    )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def messy() -> list[list[Page]]:
    """Pages in three files: mirrors, redirects, circles, several captures, partial pages, invalid addresses."""
    return messy_web(seed=1)


@pytest.fixture(scope="session")
def records(fast_root: Path, messy: list[list[Page]]) -> Path:
    """The same as Parquet."""
    return build_records(fast_root / "spark-records", messy)


@pytest.fixture(scope="session")
def graph(fast_root: Path, records: Path) -> Graph:
    """The store that one machine builds of them."""
    return build_store(records, fast_root / "spark.cocite")


@pytest.fixture(scope="session")
def shards(spark: Any, fast_root: Path, records: Path) -> Path:
    """The shards that Spark makes of them."""
    from cocite.spark.store import write_store

    write_store(spark, str(records), str(fast_root / "spark-shards"))
    return fast_root / "spark-shards"
