"""A Spark session for a job, on this machine unless a master is named; and Spark's failures in one line."""

import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from cocite.errors import BadParameter, CociteError

LOCAL_MASTER = "local[*]"
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
"""Defaults of all jobs; spark-submit and --conf override them."""
LOCAL_SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
}
REPEATING_LOGGERS = (
    "executor.Executor", "scheduler.TaskSetManager", "sql.execution.datasources.FileFormatWriter",
    "storage.DiskBlockObjectWriter", "util.Utils",
)  # fmt: skip
"""They log failures at length that reach this process as exceptions, with the same details."""
JAVA_START_SECONDS = 0.3
"""After a start, how long to wait for the last lines that Java wrote."""
LINKS_PER_TASK = 1 << 20
"""Links that one task sorts: some 60 MB as Spark's rows."""
MAX_TASKS = 10_000
"""Every task sends something to every other: with more tasks, a driver could not keep account of the pieces."""


def start(name: str, master: str | None = None, conf: Mapping[str, str] | None = None) -> Any:
    """Start a session; in a process of spark-submit, use the existing one. Local workers run this Python."""
    try:
        from pyspark import SparkConf
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise CociteError("Spark is not installed: pip install 'cocite[spark]', with Java 17") from error
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\.")  # about pandas, which no job uses
    conf, local = dict(conf or {}), is_local(master)
    builder = SparkSession.builder.appName(f"cocite {name}")
    if master or not is_submitted():
        builder = builder.master(master or LOCAL_MASTER)
    if local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with captured_stderr() as written:
        try:
            submitted = SparkConf() if is_submitted() else None
            defaults = {key: value for key, value in SETTINGS.items() if not (submitted and submitted.contains(key))}
            for key, value in {**(LOCAL_SETTINGS if local else {}), **defaults, **conf}.items():
                builder = builder.config(key, value)
            session = builder.getOrCreate()
            if local and "spark.log.level" not in conf:
                jvm: Any = session.sparkContext._jvm
                log4j = jvm.org.apache.logging.log4j
                for logger in REPEATING_LOGGERS:
                    log4j.core.config.Configurator.setLevel(f"org.apache.spark.{logger}", log4j.Level.OFF)
            return session
        except Exception as error:  # py4j and pyspark raise many classes: no Java, unknown master
            failed = error
    raise CociteError(f"Spark did not start: {why_not_started(str(failed), written)}") from failed


def is_submitted() -> bool:
    """Whether spark-submit has started this process."""
    return "SPARK_ENV_LOADED" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ


def is_local(master: str | None) -> bool:
    """Whether a job for this master runs on this machine, and sees its files."""
    return not is_submitted() and (master or LOCAL_MASTER).startswith("local")


def parse_settings(texts: Sequence[str]) -> dict[str, str]:
    """The `key=value` texts of --conf."""
    pairs = {text: [part.strip() for part in text.split("=", 1)] for text in texts}
    for text, pair in pairs.items():
        if len(pair) < 2 or not pair[0]:
            raise BadParameter(f"Invalid --conf {text!r:.100}: write it as spark.executor.memory=4g")
    return dict(pairs.values())


def task_count(spark: Any, links: int) -> int:
    """Tasks for this number of links: at least one per core."""
    return max(int(spark.sparkContext.defaultParallelism), min(-(-links // LINKS_PER_TASK), MAX_TASKS))


@contextmanager
def captured_stderr() -> Iterator[list[str]]:
    """Collect what Java writes to standard error while it starts; what it writes later is shown.

    Java names its modules and log profile before it reads any setting for logs. These lines matter only if the start
    fails.
    """
    sys.stderr.flush()
    terminal, (reading, writing) = os.dup(2), os.pipe()
    written: list[str] = []
    started = threading.Event()

    def pass_on() -> None:
        with os.fdopen(reading, "rb") as lines, os.fdopen(terminal, "wb", 0) as shown:
            for line in lines:
                if started.is_set():
                    shown.write(line)
                elif line.strip():
                    written.append(line.decode("utf-8", "replace").strip())

    reader = threading.Thread(target=pass_on, daemon=True)
    os.dup2(writing, 2)  # the JVM inherits it for its whole life
    os.close(writing)
    reader.start()
    try:
        yield written
    finally:
        sys.stderr.flush()
        os.dup2(terminal, 2)
        reader.join(JAVA_START_SECONDS)
        started.set()


_THROWN = re.compile(r"(?:Exception in thread \"[^\"]*\" |: |Caused by: )?(?:[\w$]+\.)+[\w$]*(?:Exception|Error): (.+)")
_LOG_LINE = re.compile(r"WARN|Using |Setting |To adjust |at |\.\.\. \d+ more")
_DISK_FULL = "No space left on device"
_FULL_PATH = re.compile(
    rf"{_DISK_FULL}: '([^']+)'|(/\S+) \({_DISK_FULL}\)|writing rows to (?:file:)?(\S+)\. "
    r"[^\0]*\n\s*at org\.apache\.hadoop\.fs\."
)
"""Python and Java name the file. Hadoop's file systems write output, everything else is temporary."""
_UNREADABLE = re.compile(r"error while reading file (?:file:/*(?=/))?(.+?)\.?\s+SQLSTATE")
_CLASSES = re.compile(r"^(?:: )?(?:(?:[\w$]+\.)+[\w$]+(?:: |$))+")
SQL_STATE = re.compile(r" ?SQLSTATE: \w+$")
NO_REASON = "no reason was given"


def why_not_started(error: str, written: Sequence[str]) -> str:
    """The reason for a failed start, from Java's exception and the lines it wrote, without log lines."""
    lines = [*error.splitlines(), *written]
    if thrown := [found[1] for line in lines if (found := _THROWN.match(line.strip()))]:
        return thrown[-1][:200]
    java_failed = "JAVA_GATEWAY_EXITED" in error  # then only the lines have details
    causes = [line for line in (written if java_failed else lines) if line.strip() and not _LOG_LINE.search(line)]
    return f"{(causes or lines or [NO_REASON])[0].strip()[:200]} (it needs Java 17; JAVA_HOME may name it)"


@contextmanager
def plain_failures() -> Iterator[None]:
    """Raise Spark's exceptions as CociteError, with the cause in one line and without Java's stack traces."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        raise CociteError(why_failed(str(error))) from error


def why_failed(text: str) -> str:
    """The message for a failed job, from the text of Spark's exception."""
    if own := re.findall(r"cocite\.errors\.\w+: (.+)", text):
        return str(own[-1])
    if _DISK_FULL in text:
        found = _FULL_PATH.search(text)
        disk = f"The disk of {next(filter(None, found.groups()))}" if found else "A disk that Spark writes to"
        return (
            f"{disk} is full: free some space or choose another place, for temporary files with"
            " --conf spark.local.dir=/big/disk; finished steps are kept"
        )
    if unreadable := _UNREADABLE.search(text):
        return f"{unreadable[1]} can't be read ({_cause(text)[:200]}): it is damaged, make it again"
    return f"Spark failed: {_cause(text)[:300]}"


def _cause(text: str) -> str:
    """The innermost cause: the last line of a Python traceback if there is one, else the last that Java names."""
    _, python, traceback = text.rpartition("Traceback (most recent call last):")
    if python and (raised := [line for line in traceback.splitlines() if re.match(r"[A-Za-z_]", line)]):
        return SQL_STATE.sub("", raised[0])
    lines = [line.strip() for line in text.splitlines()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    thrown = [line for line in lines if _CLASSES.match(line)]
    others = [line for line in lines if line and not _LOG_LINE.match(line)]
    cause = (causes[-1:] or thrown[:1] or others or [NO_REASON])[0]
    return SQL_STATE.sub("", _CLASSES.sub("", cause) or cause.removeprefix(": "))
