"""A Spark session for a job: on this machine unless a master is named, with the settings that all jobs need."""

from __future__ import annotations

import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from cocite.errors import BadParameter, CociteError


class _Functions:
    """`pyspark.sql.functions`, imported when it is first used: what a job refuses is said without Spark."""

    def __getattr__(self, name: str) -> Any:
        from pyspark.sql import functions

        return getattr(functions, name)


F = _Functions()
LOCAL = "local[*]"
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.io.compression.codec": "zstd",  # lists of links shrink by a third more than with lz4
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.files.maxPartitionBytes": "64m",
}
"""What jobs start with; --conf overrules it."""
SETTLED = 0.3
"""Seconds after which what Java had to say of its start is read."""


def start(name: str, master: str | None = None, conf: Mapping[str, str] | None = None) -> Any:
    """A session; inside spark-submit the one that is there. On this machine workers run this Python."""
    try:
        from pyspark import SparkConf
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise CociteError("Spark is not installed: pip install 'cocite[spark]', with Java 17") from error
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\.")  # of pandas, which no job uses
    builder = SparkSession.builder.appName(f"cocite {name}")
    submitted = is_submitted()
    if master or not submitted:
        builder = builder.master(master or LOCAL)
    if is_local(master):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.config("spark.driver.memory", "2g").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.host", "localhost").config("spark.driver.bindAddress", "127.0.0.1")
    with hushed() as said:
        try:
            given = SparkConf() if submitted else None  # what spark-submit was told comes first
            own = {key: value for key, value in SETTINGS.items() if given is None or not given.contains(key)}
            for key, value in {**own, **(conf or {})}.items():
                builder = builder.config(key, value)
            session = builder.getOrCreate()
            if is_local(master) and "spark.log.level" not in (conf or {}):
                hush_repeats(session)
            return session
        except Exception as error:  # the JVM's own, of many classes: no Java, no such master
            failed = error
    raise CociteError(f"Spark did not start: {why_not_started(str(failed), said)}") from failed


REPEATING = (
    "executor.Executor",
    "scheduler.TaskSetManager",
    "sql.execution.datasources.FileFormatWriter",
    "storage.DiskBlockObjectWriter",
    "util.Utils",
)
"""Those that tell at length of a failure that then reaches this process as an exception, with all that they tell."""


def hush_repeats(session: Any) -> None:
    """Let no failure be told twice: what others have to say, such as that memory is short, is shown."""
    log4j = session.sparkContext._jvm.org.apache.logging.log4j
    for name in REPEATING:
        log4j.core.config.Configurator.setLevel(f"org.apache.spark.{name}", log4j.Level.OFF)


def is_submitted() -> bool:
    """Whether spark-submit has started this process."""
    return "SPARK_ENV_LOADED" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ


def is_local(master: str | None) -> bool:
    """Whether a job for this master runs on this machine, and sees its files."""
    return not is_submitted() and (master or LOCAL).startswith("local")


_THROWN = re.compile(r"(?:Exception in thread \"[^\"]*\" |: |Caused by: )?(?:[\w$]+\.)+[\w$]*(?:Exception|Error): (.+)")
_CHATTER = re.compile(r"WARN|Using |Setting |To adjust |at |\.\.\. \d+ more")


def why_not_started(error: str, said: Sequence[str]) -> str:
    """The line that tells why, of an exception in Java's words and of what Java said before: log lines are not it."""
    lines = [*error.splitlines(), *said]
    thrown = [found[1] for line in lines if (found := _THROWN.match(line.strip()))]
    if thrown:
        return thrown[-1][:200]
    gone = "JAVA_GATEWAY_EXITED" in error  # Java itself failed: only what it said tells more
    told = [line for line in (said if gone else lines) if line.strip() and not _CHATTER.search(line)]
    why = (told or lines or ["no reason was given"])[0].strip()
    return f"{why[:200]} (it needs Java 17; JAVA_HOME may name it)"


@contextmanager
def hushed() -> Iterator[list[str]]:
    """Keep back what Java writes on standard error while it starts; what it writes later goes there.

    Some of it (which modules it uses, how it will log) is written before any setting for logs is read. It is of use
    only if the start fails: so it is collected, line by line.
    """
    sys.stderr.flush()
    terminal, (reading, writing) = os.dup(2), os.pipe()
    said: list[str] = []
    started = threading.Event()

    def pass_on() -> None:
        with os.fdopen(reading, "rb") as lines, os.fdopen(terminal, "wb", 0) as shown:
            for line in lines:
                if started.is_set():
                    shown.write(line)
                elif line.strip():
                    said.append(line.decode("utf-8", "replace").strip())

    passing = threading.Thread(target=pass_on, daemon=True)
    os.dup2(writing, 2)  # the JVM has it from here, for its whole life
    os.close(writing)
    passing.start()
    try:
        yield said
    finally:
        sys.stderr.flush()
        os.dup2(terminal, 2)
        passing.join(SETTLED)
        started.set()


def settings(given: Sequence[str]) -> dict[str, str]:
    """`key=value` texts of --conf."""
    found = {}
    for text in given:
        key, mark, value = text.partition("=")
        if not mark or not key.strip():
            raise BadParameter(f"--conf {text!r:.100} is no setting: write it as spark.executor.memory=4g")
        found[key.strip()] = value.strip()
    return found


@contextmanager
def plain_failures() -> Iterator[None]:
    """What failed in a task, as the error that it was there, without Java's account of it."""
    try:
        yield
    except CociteError:
        raise
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        raise CociteError(why_failed(str(error))) from error


_FULL = "No space left on device"
_FULL_AT = re.compile(
    rf"{_FULL}: '([^']+)'|(/\S+) \({_FULL}\)|writing rows to (?:file:)?(\S+)\. [^\0]*\n\s*at org\.apache\.hadoop\.fs\."
)
"""Python and Java name the file; what is written through Hadoop's file systems is output, all else is temporary."""
_UNREADABLE = re.compile(r"error while reading file (?:file:/*(?=/))?(.+?)\.?\s+SQLSTATE")
_CLASSES = re.compile(r"^(?:: )?(?:(?:[\w$]+\.)+[\w$]+(?:: |$))+")
STATE = re.compile(r" ?SQLSTATE: \w+$")


def why_failed(text: str) -> str:
    """What to say of a job that failed, of Spark's exception."""
    if own := re.findall(r"cocite\.errors\.\w+: (.+)", text):
        return str(own[-1])
    if _FULL in text:
        found = _FULL_AT.search(text)
        place = f"the disk of {next(filter(None, found.groups()))}" if found else "a disk that Spark writes to"
        return (
            f"{place} is full: free some space or choose another place, for temporary files by"
            " --conf spark.local.dir=/big/disk; steps that are done are kept"
        )
    if unreadable := _UNREADABLE.search(text):
        return f"{unreadable[1]} cannot be read ({_cause(text)[:200]}): it is damaged, make it again"
    return f"Spark failed: {_cause(text)[:300]}"


def _cause(text: str) -> str:
    """The innermost cause: where Python failed the last line of its account, else the last that Java names."""
    _, python, account = text.rpartition("Traceback (most recent call last):")
    if python:
        told = [line for line in account.splitlines() if re.match(r"[A-Za-z_]", line)]
        if told:
            return STATE.sub("", told[0])
    lines = [line.strip() for line in text.splitlines()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    thrown = [line for line in lines if _CLASSES.match(line)]
    told = causes[-1:] or thrown[:1] or [line for line in lines if line and not _CHATTER.match(line)]
    return STATE.sub("", _CLASSES.sub("", told[0]) or told[0].removeprefix(": ")) if told else "no reason was given"


LINKS_PER_TASK = 1 << 20
"""Links that one task sorts: some 60 MB as Spark's rows."""
MOST_TASKS = 10_000
"""Every task sends something to every other: of more tasks each would get crumbs, too many for a driver to count."""


def task_count(spark: Any, links: int) -> int:
    """Tasks for so many links: enough that each has little, not fewer than there are cores."""
    return max(int(spark.sparkContext.defaultParallelism), min(-(-links // LINKS_PER_TASK), MOST_TASKS))


def to_task(rows: Any, tasks: int, task: Any) -> Any:
    """Rows by the number of the task, a column from 0 to tasks - 1, that is to have them.

    Spark 4.0 hashes what it partitions by; so each task gets a number whose hash leads to it.
    """
    spark = rows.sparkSession
    found: dict[int, int] = {}
    wide = 4 * tasks
    while len(found) < tasks:  # hashes leave some tasks without a number until enough were tried
        wide *= 4
        hashed = spark.range(wide).select(
            F.col("id").cast("int").alias("id"), F.pmod(F.hash(F.col("id").cast("int")), tasks)
        )
        found = {at: number for number, at in hashed.collect()}
    numbers = F.array(*(F.lit(found[at]) for at in range(tasks)))
    return rows.repartition(tasks, F.element_at(numbers, (task + 1).cast("int")))
