"""cocite spark: what it prints and refuses; what the jobs do is tested in tests/spark."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cocite.errors import BadSource
from cocite.sources.page_records import write_parquet
from cocite.sources.records import Page, batch
from cocite.spark import session
from cocite.spark import store as store_job
from cocite.spark.beforehand import check_records, check_shards
from tests.surfaces.conftest import run


class Session:
    """Instead of Spark's."""

    stopped = False

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The sessions that were asked for."""
    found: list[tuple[Any, ...]] = []

    def start(*given: Any) -> Session:
        found.append((*given, Session()))
        return found[-1][-1]

    monkeypatch.setattr(session, "start", start)
    return found


@pytest.fixture
def records(place: Path) -> str:
    """Page records, and what Spark writes beside them and passes over."""
    folder = place / "records"
    (folder / "group=00000").mkdir(parents=True)
    (folder / "_pages.json").write_text("{}")
    write_parquet([batch([Page("https://a.example/")])], folder / "group=00000" / "part-0.parquet")
    return str(folder)


def test_store(started: list[tuple[Any, ...]], records: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(spark: Session, records: str, output: str, tell: Any) -> dict[str, Any]:
        tell("keyed")
        return {"pages": 2, "links": 1, "made": [records, output]}

    monkeypatch.setattr(store_job, "write_store", write)
    ran = run("spark", "store", "pages", "-o", "shards", "--master", "yarn", "--conf", "a.b=c=d")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("shards  2 pages, 1 link in ")
    assert ran.err.endswith(": keyed\n")
    name, master, conf, spark = started[0]
    assert (name, master, conf, spark.stopped) == ("store", "yarn", {"a.b": "c=d"}, True)
    found = json.loads(run("spark", "store", records, "-o", "shards", "--json").out)
    assert found["made"] == [records, "shards"]


def test_failures_are_one_line(started: list[tuple[Any, ...]], records: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*_: Any, **__: Any) -> None:
        raise BadSource("no records")

    monkeypatch.setattr(store_job, "write_store", write)
    ran = run("spark", "store", records, "-o", "shards")
    assert (ran.code, ran.err) == (2, "cocite: no records\n")
    assert started[0][-1].stopped


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["related", "shards", "-o", "x", "-m", "companion"], "not by companion: use cocite batch"),
        (["related", "{records}", "-o", "x", "-k", "0"], "k"),
        (["related", "no-such-shards", "-o", "x"], "no shards that are whole: make them with cocite spark store"),
        (["rank", "file:{records}", "-o", "x", "--master", "yarn"], "no shards that are whole"),
        (["rank", "{records}", "-o", "x", "--by", "hits"], "not by hits: use cocite rank"),
        (["rank", "{records}", "-o", "x", "--by", "unheard-of"], "there is no rank"),
        (["store", "{records}", "-o", "x", "--conf", "memory"], "is no setting"),
        (["store", "no-such-folder", "-o", "x"], "does not exist"),
        (["store", "{lines}", "-o", "x"], "pages.jsonl is no Parquet file; make them with cocite spark pages"),
        (["store", "{lines}/pages.jsonl", "-o", "x"], "pages.jsonl is no Parquet file"),
        (["store", "{empty}", "-o", "x"], "holds no page records as Parquet; make them"),
        (["store", "{half}", "-o", "x"], "half/group=00001 is not whole: what writes it is at work or was stopped"),
        (["pages", "-o", "x", "--list", "no-such-file"], "is not a file"),
        (["pages", "-o", "x"], "no source"),
        (["pages", "{records}", "no-such-file", "-o", "x"], "no-such-file does not exist"),
    ],
)
def test_wrong_use_is_told_before_spark_is_started(
    started: list[tuple[Any, ...]], records: str, place: Path, arguments: list[str], message: str
) -> None:
    (place / "empty").mkdir()
    (place / "lines").mkdir()
    (place / "lines" / "pages.jsonl").write_text('{"url": "https://a.example/"}\n')
    shutil.copytree(records, place / "half")
    (place / "half" / "group=00001" / "_temporary" / "0").mkdir(parents=True)
    named = {"records": records, **{name: place / name for name in ("lines", "empty", "half")}}
    ran = run("spark", *(each.format(**named) for each in arguments))
    assert ran.code == 2 and ran.err.count("\n") == 1
    assert message in ran.err
    assert not started


@pytest.mark.parametrize("master", ["yarn", "spark://head:7077", "k8s://https://head"])
def test_paths_of_a_cluster_are_not_looked_for_here(master: str) -> None:
    check_records("no-such-folder", master)
    check_records("hdfs://head/no-such-folder", None)
    check_shards("no-such-folder", master)


# What Java says when it does not start

TRACE = ["at org.apache.spark.deploy.SparkSubmit.error(SparkSubmit.scala:1068)", "... 9 more"]
LOG = [
    "WARNING: Using incubator modules: jdk.incubator.vector",
    "Using Spark's default log4j profile: org/apache/spark/log4j2-defaults.properties",
    "26/11/16 22:23:50 WARN Utils: Set SPARK_LOCAL_IP if you need to bind to another address",
]
GONE = "[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number."
NEEDS = " (it needs Java 17; JAVA_HOME may name it)"
MASTER = "Master must either be yarn or start with spark, k8s, or local"
PARSE = "Could not parse Master URL: 'local[zz]'"


@pytest.mark.parametrize(
    ("error", "said", "expected"),
    [
        (GONE, [*LOG, f'Exception in thread "main" org.apache.spark.SparkException: {MASTER}', *TRACE], MASTER),
        (f"An error occurred while calling x.\n: org.apache.spark.SparkException: {PARSE}\n\tat a.b(c)", LOG, PARSE),
        (GONE, ["Invalid maximum heap size: -Xmxabc", "Error: Could not create the Java Virtual Machine."],
         f"Invalid maximum heap size: -Xmxabc{NEEDS}"),
        (GONE, LOG, f"{GONE}{NEEDS}"),
        ("", [], f"no reason was given{NEEDS}"),
    ],
)  # fmt: skip
def test_why_spark_did_not_start(error: str, said: list[str], expected: str) -> None:
    assert session.why_not_started(error, said) == expected


def test_a_master_that_there_is_not(records: str, place: Path) -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("needs Java 17")
    command = [sys.executable, "-c", "from cocite.surfaces.cli import main; main()", "spark", "store", records]
    ran = subprocess.run([*command, "-o", str(place / "out"), "--master", "bogus://x"], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (2, f"cocite: Spark did not start: {MASTER}\n")


def test_what_is_written_while_java_starts_is_kept_back(capfd: pytest.CaptureFixture[str]) -> None:
    with session.hushed() as said:
        java = subprocess.Popen(
            [sys.executable, "-c", "import os; os.write(2, b'noise\\n'); input(); os.write(2, b'news\\n')"],
            stdin=subprocess.PIPE,
        )
        while not said:
            time.sleep(0.01)
    assert said == ["noise"]
    java.communicate(b"\n")
    os.write(2, b"own\n")
    shown = ""
    while "news" not in shown:
        time.sleep(0.01)
        shown += capfd.readouterr().err
    assert sorted(shown.split()) == ["news", "own"]


def test_without_java_the_cause_is_told(records: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    from pyspark import SparkContext

    if SparkContext._gateway is not None:
        pytest.skip("Java runs already")
    monkeypatch.setenv("JAVA_HOME", str(place))
    ran = run("spark", "store", records, "-o", str(place / "shards"))
    assert ran.code == 2 and ran.err.count("\n") == 1
    assert "Spark did not start: " in ran.err and f"{place}/bin/java: No such file" in ran.err
