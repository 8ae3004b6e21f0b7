"""Folders of Parquet that jobs write and read: complete or absent, on any file system that Spark supports.

Each step of a job is a folder. A job that was interrupted finds the complete ones and continues. The `check_` functions
look at inputs before Spark starts, which takes seconds, and only if this machine sees them as the job will: a bare path
may belong to the cluster's file system, and only workers may have credentials.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from cocite.errors import BadParameter, BadSource
from cocite.sources.folders import PLAN, TEMPORARY, WORK, is_unfinished, unfinished_folder
from cocite.spark.session import SQL_STATE, is_local
from cocite.system import lock_file

SHARDS_DONE = "_store.json"  # written by `cocite spark store` when it is done
REMOTE = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
TEMPORARY_DEPTHS = ("", "[^._]*/", "[^._]*/[^._]*/")
"""Where a job that is still writing is looked for: a search at all depths would list every file once more."""
OnStep = Callable[[str], None]
"""Called with the name of each step that starts."""

_locks: dict[str, int] = {}
"""Descriptors of the folders that this process writes. The locks end with the process, however it ends."""


class JobFolder:
    """A folder that a job fills. Steps in `_work`, which readers of Parquet ignore, are removed at the end."""

    def __init__(self, spark: Any, folder: str, on_step: OnStep | None = None) -> None:
        self.spark, self.folder, self._on_step = spark, str(folder).rstrip("/"), on_step
        self._jvm = spark.sparkContext._jvm
        self._path = self._jvm.org.apache.hadoop.fs.Path
        self._files = self._path(self.folder).getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())

    def _at(self, name: str = "") -> Any:
        """Hadoop's path of a file or folder."""
        return self._path(f"{self.folder}/{name}" if name else self.folder)

    def exists(self, name: str = "") -> bool:
        """Whether there is such a file or folder."""
        return bool(self._files.exists(self._at(name)))

    def remove(self, name: str) -> None:
        """Remove a file or folder, if it exists."""
        self._files.delete(self._at(name), True)

    @property
    def address(self) -> str:
        """The folder's address, with its file system and all folders above it."""
        return str(self._files.makeQualified(self._at()).toString())

    def size(self) -> list[int]:
        """The number of files and of bytes; empty for a folder that doesn't exist, and for a pattern."""
        found = self._files.getContentSummary(self._at()) if self.exists() else None
        return [int(found.getFileCount()), int(found.getLength())] if found else []

    def refuse_inside(self, source: str) -> None:
        """Fail if this folder is inside a source, where the next job would read it."""
        if self.address.startswith(f"{JobFolder(self.spark, source).address}/"):
            raise BadParameter(f"{self.folder} is inside the source {source}: choose a place beside it")

    def step(self, name: str, rows: Any, by: tuple[str, ...] = ()) -> Any:
        """The rows of a step: read if it is complete, else computed and written.

        `rows` is a DataFrame, or a function that returns one, if making it runs a job. The values of the columns `by`
        become folders.
        """
        path = literal(f"{self.folder}/{name}")
        if self.exists(f"{name}/_SUCCESS"):
            return self.spark.read.parquet(path)
        if self._on_step:
            self._on_step(name.removeprefix(f"{WORK}/"))
        rows = rows() if callable(rows) else rows
        rows.write.mode("overwrite").partitionBy(*by).parquet(f"{self.folder}/{name}")
        return self.spark.read.schema(rows.schema).parquet(path)  # inferring the schema would be a job

    def write_json(self, name: str, facts: Mapping[str, Any]) -> None:
        """Write a small JSON file atomically."""
        new = self._at(f"{name}.new")
        stream = self._files.create(new, True)
        stream.write(bytearray(json.dumps(facts, indent=1, sort_keys=True).encode()))
        stream.close()
        self.remove(name)
        if not self._files.rename(new, self._at(name)):
            raise BadSource(f"Cannot write {self.folder}/{name}")

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Read what `write_json` wrote; None if there is nothing, or something else."""
        if not self.exists(name):
            return None
        stream = self._files.open(self._at(name))
        text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        stream.close()
        try:
            return dict(json.loads(text))
        except (ValueError, TypeError):
            return None

    def claim(self, plan: Mapping[str, Any], done: str) -> dict[str, Any] | None:
        """Start or continue a job. Fail if the folder has other contents, or steps of a job with another plan.

        If the job has finished (it wrote the file `done`) but was interrupted while removing its steps, remove the
        rest and return its facts. Those steps may lack files, so the job must not read them.
        """
        self._lock()
        started, facts, names = self.read_json(PLAN), self.read_json(done), self._children()
        has_steps = any(entry.isDirectory() for entry in self._children(WORK).values())
        if names.keys() <= {WORK} and (started is None or (started != dict(plan) and not has_steps)):
            self.remove(WORK)
            self.write_json(PLAN, plan)
            return None
        if facts is not None:
            self._clean()
        if started != dict(plan):
            raise BadParameter(f"{self.folder} exists already: remove it, or choose another place")
        return facts

    def finish(self, done: str, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Record that the job is done, remove its steps, and return the facts."""
        self.write_json(done, facts)
        self._clean()
        if self.address in _locks:
            os.close(_locks.pop(self.address))
        return dict(facts)

    def is_unfinished(self, done: str) -> bool:
        """Whether a job that writes `done` at its end, or any program, has not finished writing here."""
        folder = literal(self.folder)
        found = (self._files.globStatus(self._path(f"{folder}/{depth}{TEMPORARY}")) for depth in TEMPORARY_DEPTHS)
        return any(len(each or ()) for each in found) or (self.exists(PLAN) and not self.exists(done))

    def _lock(self) -> None:
        """Fail if another process of this machine writes the folder: Spark would mix the rows of both."""
        address = self.address
        if not address.startswith("file:") or address in _locks:
            return
        path = Path(address.removeprefix("file:"))
        try:
            path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:  # a file, or a folder without permission: the first write fails with the reason
            return
        try:
            lock_file(descriptor, wait=False)
            _locks[address] = descriptor
        except OSError as error:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):  # other errors: a network disk without locks
                message = f"Another job is writing {self.folder}: wait until it ends, or choose another place"
                raise BadParameter(message) from None

    def _clean(self) -> None:
        """Remove all steps, and the plan last: while there are steps, the job can be recognised."""
        for name in self._children(WORK):
            if f"{WORK}/{name}" != PLAN:
                self.remove(f"{WORK}/{name}")
        self.remove(PLAN)
        self.remove(WORK)

    def _children(self, folder: str = "") -> dict[str, Any]:
        """Hadoop's entries of a folder by name; empty if it doesn't exist."""
        entries = self._files.listStatus(self._at(folder)) if self.exists(folder) else ()
        return {entry.getPath().getName(): entry for entry in entries}


def literal(path: str) -> str:
    """A path with the characters escaped that Spark and Hadoop would read as a pattern."""
    return re.sub(r"([{}\[\]*?\\])", r"\\\1", path)


_PROBLEMS = {
    "CANNOT_READ_FILE_FOOTER": "it has files of other formats than Parquet",
    "UNABLE_TO_INFER_SCHEMA": "it has no Parquet files",
    "PATH_NOT_FOUND": "the folder does not exist",
}


def rows_at(spark: Any, path: str, what: str, **options: str) -> Any:
    """The rows of a Parquet folder. Without any, the error names what was expected."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    context = spark.sparkContext
    context.setLogLevel("OFF")  # an executor logs fifty lines for a file of another format
    try:
        return spark.read.options(**options).parquet(path)
    except (PySparkException, Py4JJavaError) as error:  # the second, if Java failed in another thread
        text = str(error) or type(error).__name__
        line = SQL_STATE.sub("", text.splitlines()[0])[:150]
        problem = next((problem for code, problem in _PROBLEMS.items() if code in text), line)
        unescaped = re.sub(r"\\(.)", r"\1", path)
        raise BadSource(f"{unescaped} has no {what}: {problem}") from error
    finally:
        context.setLogLevel(context.getConf().get("spark.log.level", "ERROR"))


class Shards(NamedTuple):
    """The facts of shards, and their rows."""

    facts: dict[str, Any]
    pages: Any
    out: Any
    into: Any


def no_shards(place: str, why: str = "") -> BadSource:
    """The error for a place without complete shards."""
    return BadSource(f"{place} has no complete shards{why and f' ({why})'}: make them with cocite spark store")


def open_shards(spark: Any, place: str) -> Shards:
    """Open shards. Their rows are counted, which reads no columns: missing files would go unnoticed."""
    facts = JobFolder(spark, place).read_json(SHARDS_DONE)
    if facts is None:
        raise no_shards(place)
    expected = {"pages": facts.get("pages"), "out": facts.get("lists"), "in": facts.get("links")}
    tables = [rows_at(spark, f"{literal(place)}/{name}", "shards") for name in expected]
    for (name, count), rows in zip(expected.items(), tables, strict=True):
        if (found := rows.count()) != count:
            raise no_shards(place, f"{name} has {found:,} rows of {count or 0:,}")
    return Shards(facts, *tables)


def check_shards(place: str, master: str | None) -> None:
    """Fail if a place that this machine sees has no shards."""
    path = _visible(place, master)
    if path is not None and not (path / SHARDS_DONE).is_file():
        raise no_shards(place)


def check_records(place: str, master: str | None) -> None:
    """Fail if a place that this machine sees is unfinished, has no Parquet files, or others that Spark would read."""
    path = _visible(place, master)
    if path is None:
        return
    if not path.exists():
        raise BadSource(f"{place} does not exist: give the folder that cocite spark pages made")
    files = [path] if path.is_file() else []
    for parent, folders, names in os.walk(path):
        if is_unfinished(Path(parent), folders, names):
            raise unfinished_folder(parent)
        folders[:] = sorted(name for name in folders if name[0] not in "._")  # Spark ignores the others
        files += [Path(parent, name) for name in sorted(names) if name[0] not in "._"]
    other = next((f" ({file.name} is another format)" for file in files if not _is_parquet(file)), "")
    if other or not files:
        raise BadSource(f"{place} has no page records as Parquet{other}: make them with cocite spark pages")


def _is_parquet(file: Path) -> bool:
    """Whether a file starts and ends as Parquet does."""
    with file.open("rb") as stream:
        start = stream.read(4)
        stream.seek(max(0, file.stat().st_size - 4))
        return start == stream.read() == b"PAR1"


def _visible(place: str, master: str | None) -> Path | None:
    """The path of a place that the job will see as this process does; None if that is not certain."""
    if found := re.match("file:/+", place):
        return Path("/" + unquote(place[found.end() :]))
    return Path(place) if is_local(master) and not REMOTE.match(place) else None
