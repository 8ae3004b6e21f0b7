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

from cocite.errors import BadSource, CociteError
from cocite.sources.page_records import write_parquet
from cocite.sources.records import Page, batch
from cocite.spark import rank as rank_job
from cocite.spark import session
from cocite.spark import store as store_job
from cocite.spark.outputs import check_records, check_shards
from tests.cli.conftest import run


class Session:
    """A replacement for Spark's session."""

    stopped = False

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The sessions that were started."""
    found: list[tuple[Any, ...]] = []

    def start(*given: Any) -> Session:
        found.append((*given, Session()))
        return found[-1][-1]

    monkeypatch.setattr(session, "start", start)
    return found


@pytest.fixture
def records(place: Path) -> str:
    """Page records, and a file of Spark that readers ignore."""
    folder = place / "records"
    (folder / "group=00000").mkdir(parents=True)
    (folder / "_pages.json").write_text("{}")
    write_parquet([batch([Page("https://a.example/")])], folder / "group=00000" / "part-0.parquet")
    return str(folder)


def test_store(started: list[tuple[Any, ...]], records: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(spark: Session, records: str, output: str, on_step: Any) -> dict[str, Any]:
        on_step("keyed")
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


@pytest.mark.parametrize("converged", [False, True])
def test_a_rank_that_did_not_converge(
    started: list[tuple[Any, ...]], place: Path, monkeypatch: pytest.MonkeyPatch, converged: bool
) -> None:
    facts = {"pages": 2, "rounds": 5, "residual": 0.1, "converged": converged}
    monkeypatch.setattr(rank_job, "write_rank", lambda *_, **__: facts)
    (place / "_store.json").write_text("{}")
    ran = run("spark", "rank", str(place), "-o", "ranks", "--by", "pagerank(rounds=5)")
    assert ran.code == 0 and "5 rounds, residual 1.0e-01" in ran.out
    assert ('allow more rounds, as in --by "pagerank(rounds=1000)"' in ran.err) is not converged


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
        (["related", "shards", "-o", "x", "-m", "companion"], "not companion: use cocite batch"),
        (["related", "{records}", "-o", "x", "-k", "0"], "k"),
        (["related", "no-such-shards", "-o", "x"], "no complete shards: make them with cocite spark store"),
        (["rank", "file:{records}", "-o", "x", "--master", "yarn"], "no complete shards"),
        (["rank", "{records}", "-o", "x", "--by", "hits"], "not by hits: use cocite rank"),
        (["rank", "{records}", "-o", "x", "--by", "unheard-of"], "Unknown rank"),
        (["store", "{records}", "-o", "x", "--conf", "memory"], "Invalid --conf"),
        (["store", "no-such-folder", "-o", "x"], "does not exist"),
        (["store", "{lines}", "-o", "x"], "(pages.jsonl is another format): make them with cocite spark pages"),
        (["store", "{lines}/pages.jsonl", "-o", "x"], "(pages.jsonl is another format)"),
        (["store", "{empty}", "-o", "x"], "has no page records as Parquet: make them"),
        (["store", "{half}", "-o", "x"], "half/group=00001 is incomplete: wait for the job that writes it"),
        (["pages", "-o", "x", "--list", "no-such-file"], "is not a file"),
        (["pages", "-o", "x"], "No source"),
        (["pages", "{records}", "no-such-file", "-o", "x"], "no-such-file does not exist"),
    ],
)
def test_wrong_use_is_reported_before_spark_starts(
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
def test_paths_of_a_cluster_are_not_checked_here(master: str) -> None:
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


# What Spark says of a job that failed

WRITING = "[TASK_WRITE_FAILED] Task failed while writing rows to file:/x/shards/_work/keyed. SQLSTATE: 58030"
FULL_OUTPUT = f"""An error occurred while calling o84.parquet.
: org.apache.spark.SparkException: {WRITING}
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.taskFailedWhileWritingRowsError(QueryExecutionErrors.scala:778)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: org.apache.parquet.util.AutoCloseables$ParquetCloseResourceException: Unable to close resource
\tat org.apache.parquet.util.AutoCloseables.uncheckedClose(AutoCloseables.java:85)
\t... 1 more
Caused by: org.apache.hadoop.fs.FSError: java.io.IOException: No space left on device
\tat org.apache.hadoop.fs.RawLocalFileSystem$LocalFSFileOutputStream.write(RawLocalFileSystem.java:548)
\t... 32 more
\tSuppressed: org.apache.hadoop.fs.FSError: java.io.IOException: No space left on device
\t\t... 34 more
Caused by: java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)
\t... 46 more
"""
FULL_SPILL = """An error occurred while calling o84.parquet.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2935)
Caused by: java.io.IOException: No space left on device
\tat org.apache.spark.storage.DiskBlockObjectWriter.commitAndGet(DiskBlockObjectWriter.scala:240)
\t... 12 more
"""
PYTHON = """
  An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/x/cocite/spark/keyed.py", line 71, in key_batches
    usable = pc.fill_null(pc.not_equal(trimmed(batch.column("url")), ""), False)
             ^^^^^^^^^^^^
  File "pyarrow/error.pxi", line 92, in pyarrow.lib.check_status
{}
 SQLSTATE: 38000
\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:1097)
\t... 41 more
"""
NO_KERNEL = "pyarrow.lib.ArrowNotImplementedError: Function 'utf8_trim_whitespace' has no kernel matching (binary)"
MERGING = """An error occurred while calling o66.parquet.
: org.apache.spark.SparkException: [CANNOT_MERGE_SCHEMAS] Failed merging schemas:
Initial schema:
"STRUCT<url: STRING>". SQLSTATE: 42KD9
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.failedMergingSchemaError(QueryExecutionErrors.scala:2143)
{}"""
MERGED = (
    "Caused by: org.apache.spark.SparkException: [INCOMPATIBLE] Failed to merge A and B. SQLSTATE: 42825\n\t... 19 more"
)
DAMAGED = """An error occurred while calling o220.parquet.
: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file {}.  SQLSTATE: KD001
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFilesError(QueryExecutionErrors.scala:920)
Caused by: com.github.luben.zstd.ZstdIOException: Unknown frame descriptor
\t... 22 more
"""
NOT_READ = "can't be read (Unknown frame descriptor): it is damaged, make it again"
KEPT = (
    "free some space or choose another place, for temporary files with --conf spark.local.dir=/big/disk;"
    " finished steps are kept"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FULL_OUTPUT, f"The disk of /x/shards/_work/keyed is full: {KEPT}"),
        (FULL_SPILL, f"A disk that Spark writes to is full: {KEPT}"),
        (f": java.io.FileNotFoundException: /x/blockmgr-1/0c/temp (No space left on device)\n\t{TRACE[0]}",
         f"The disk of /x/blockmgr-1/0c/temp is full: {KEPT}"),
        (PYTHON.format("OSError: [Errno 28] No space left on device: '/x/cocite-spark-1/names'"),
         f"The disk of /x/cocite-spark-1/names is full: {KEPT}"),
        (DAMAGED.format("file:///x/a b.parquet"), f"/x/a b.parquet {NOT_READ}"),
        (DAMAGED.format("s3a://x/b.parquet"), f"s3a://x/b.parquet {NOT_READ}"),
        (PYTHON.format(NO_KERNEL), f"Spark failed: {NO_KERNEL}"),
        (PYTHON.format("cocite.errors.BadSource: x.warc is cut off"), "x.warc is cut off"),
        (MERGING.format(MERGED), "Spark failed: [INCOMPATIBLE] Failed to merge A and B."),
        (MERGING.format(""), "Spark failed: [CANNOT_MERGE_SCHEMAS] Failed merging schemas:"),
        ("[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03;\n'Project [*]",
         "Spark failed: [PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03;"),
        (": java.lang.StackOverflowError\n\tat a.b(c)\n\t... 41 more", "Spark failed: java.lang.StackOverflowError"),
        ("", "Spark failed: no reason was given"),
    ],
)  # fmt: skip
def test_why_a_job_failed(text: str, expected: str) -> None:
    assert session.why_failed(text) == expected
    with pytest.raises(CociteError) as told, session.plain_failures():
        raise type("Captured", (Exception,), {"__module__": "py4j.protocol"})(text)
    assert str(told.value) == expected


def test_other_exceptions_are_not_changed() -> None:
    with pytest.raises(KeyError), session.plain_failures():
        raise KeyError("... 41 more")


def test_an_unknown_master(records: str, place: Path) -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("needs Java 17")
    command = [sys.executable, "-c", "from cocite.cli import main; main()", "spark", "store", records]
    ran = subprocess.run([*command, "-o", str(place / "out"), "--master", "bogus://x"], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (2, f"cocite: Spark did not start: {MASTER}\n")


def test_lines_written_while_java_starts_are_collected(capfd: pytest.CaptureFixture[str]) -> None:
    with session.captured_stderr() as said:
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


def test_without_java_the_error_has_the_cause(records: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    from pyspark import SparkContext

    if SparkContext._gateway is not None:
        pytest.skip("Java runs already")
    monkeypatch.setenv("JAVA_HOME", str(place))
    ran = run("spark", "store", records, "-o", str(place / "shards"))
    assert ran.code == 2 and ran.err.count("\n") == 1
    assert "Spark did not start: " in ran.err and f"{place}/bin/java: No such file" in ran.err
