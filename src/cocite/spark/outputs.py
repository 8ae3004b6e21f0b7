"""Where jobs write: Parquet folders that are complete or absent, on any file system that Spark knows.

Each step of a job is a folder. A job that was interrupted finds the complete ones and continues.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cocite.errors import BadParameter, BadSource
from cocite.sources import folders
from cocite.spark.inputs import SHARDS_DONE, no_shards
from cocite.spark.session import STATE

WORK = folders.WORK
"""Steps that are removed at the end; readers of Parquet pass over names that begin with an underscore."""
PLAN = folders.PLAN
"""What a job was asked, while it is at work."""
BELOW = ("", "[^._]*/", "[^._]*/[^._]*/")
"""Where signs of a program at work are looked for: a search at all depths would list every file once more."""

_held: dict[str, int] = {}
"""Folders that this process writes, by their descriptors: they are locked until it has ended, however it does."""

OnStep = Callable[[str], None]
"""Called with the name of each step that begins."""


def ignore_step(step: str) -> None:
    """Show nothing."""


class Output:
    """A folder that a job fills."""

    def __init__(self, spark: Any, folder: str, on_step: OnStep = ignore_step) -> None:
        self.spark, self.folder, self._on_step = spark, str(folder).rstrip("/"), on_step
        jvm = spark.sparkContext._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._files = self._path(self.folder).getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
        self._jvm = jvm

    def exists(self, name: str = "") -> bool:
        """Whether there is such a file or folder."""
        return bool(self._files.exists(self._path(self._at(name))))

    def remove(self, name: str) -> None:
        """Remove a file or folder, if it is there."""
        self._files.delete(self._path(self._at(name)), True)

    @property
    def place(self) -> str:
        """The folder with its file system and all folders above it."""
        return str(self._files.makeQualified(self._path(self.folder)).toString())

    def size(self) -> list[int]:
        """How many files and bytes are in it; nothing if it is not there, or a pattern."""
        if not self.exists():
            return []
        found = self._files.getContentSummary(self._path(self.folder))
        return [int(found.getFileCount()), int(found.getLength())]

    def refuse_inside(self, source: str) -> None:
        """See that it is not in a folder that is read: what is written would be read there the next time."""
        if self.place.startswith(f"{Output(self.spark, source).place}/"):
            raise BadParameter(f"{self.folder} is inside {source}, which is read: choose a place beside it")

    def read(self, name: str) -> Any:
        """A step that is whole."""
        return self.spark.read.parquet(literal(self._at(name)))

    def step(self, name: str, make: Callable[[], Any], by: tuple[str, ...] = ()) -> Any:
        """A step, made unless it is there; `by` are columns whose values become folders."""
        if not self.exists(f"{name}/_SUCCESS"):
            self._on_step(name.removeprefix(f"{WORK}/"))
            rows = make()
            rows.write.mode("overwrite").partitionBy(*by).parquet(self._at(name))
            at = literal(self._at(name))
            return self.spark.read.schema(rows.schema).parquet(at)  # not inferred, which would be a job
        return self.read(name)

    def keep(self, name: str, rows: Any) -> Any:
        """A step of rows that are described already: in loops, where a function would see the next round's."""
        return self.step(name, lambda: rows)

    def note(self, name: str, facts: Mapping[str, Any]) -> None:
        """Write a small JSON file, under another name first: one that is there is whole."""
        new = self._path(self._at(f"{name}.new"))
        stream = self._files.create(new, True)
        stream.write(bytearray(json.dumps(facts, indent=1, sort_keys=True).encode()))
        stream.close()
        self.remove(name)
        if not self._files.rename(new, self._path(self._at(name))):
            raise BadSource(f"cannot write {self._at(name)}")

    def noted(self, name: str) -> dict[str, Any] | None:
        """What `note` wrote, None if there is nothing."""
        if not self.exists(name):
            return None
        stream = self._files.open(self._path(self._at(name)))
        text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        stream.close()
        try:
            return dict(json.loads(text))
        except (ValueError, TypeError):
            return None

    def claim(self, plan: Mapping[str, Any], done: str) -> dict[str, Any] | None:
        """See that the folder is new, or was begun with the same plan: else what is in it must not be gone on with.

        A job that had noted under `done` that it was, but was stopped while it removed its steps, has nothing more to
        do, and must not look at those that are left, which may have lost files: what it noted is returned.
        """
        self._hold()
        begun, facts = self.noted(PLAN), self.noted(done)
        if self._names() <= {WORK} and (begun is None or (begun != dict(plan) and not self._has_steps())):
            # New, or stopped before the plan was there, or failed before its first step: another may follow.
            self.remove(WORK)
            self.note(PLAN, plan)
            return None
        if facts is not None:
            self._clean()
        if begun != dict(plan):
            raise BadParameter(f"{self.folder} is there already: remove it, or choose another place")
        return facts

    def is_unfinished(self, done: str) -> bool:
        """Whether something is written here that is not whole: by a job that notes under `done`, or by any program."""
        folder = literal(self.folder)
        signs = (self._files.globStatus(self._path(f"{folder}/{below}{folders.TEMPORARY}")) for below in BELOW)
        return any(len(found or ()) for found in signs) or (self.exists(PLAN) and not self.exists(done))

    def finish(self, done: str, facts: Mapping[str, Any]) -> None:
        """Say that the job is done, and remove what only it needed."""
        self.note(done, facts)
        self._clean()
        if self.place in _held:
            os.close(_held.pop(self.place))

    def _hold(self) -> None:
        """On a disk of this machine, see that no other process writes the same folder: Spark would mix their rows."""
        place = self.place
        if not place.startswith("file:") or place in _held:
            return
        path = Path(place.removeprefix("file:"))
        try:
            path.mkdir(parents=True, exist_ok=True)
            held = os.open(path, os.O_RDONLY)
        except OSError:  # a file, or a folder that may not be written: it is told where that is tried
            return
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(held)
            if not isinstance(error, BlockingIOError):  # a disk of another machine that knows no such locks
                return
            raise BadParameter(f"another job is writing {self.folder}: let it end, or choose another place") from None
        _held[place] = held

    def _clean(self) -> None:
        """Remove all steps, and last the plan: as long as there are some, the job is known again."""
        for name in self._names(WORK):
            if f"{WORK}/{name}" != PLAN:
                self.remove(f"{WORK}/{name}")
        self.remove(PLAN)
        self.remove(WORK)

    def _has_steps(self) -> bool:
        """Whether some step was begun: steps are folders."""
        work = self._path(self._at(WORK))
        return self.exists(WORK) and any(each.isDirectory() for each in self._files.listStatus(work))

    def _names(self, folder: str = "") -> set[str]:
        """What is in a folder."""
        if not self.exists(folder):
            return set()
        return {each.getPath().getName() for each in self._files.listStatus(self._path(self._at(folder)))}

    def _at(self, name: str) -> str:
        return f"{self.folder}/{name}" if name else self.folder


def literal(path: str) -> str:
    """A path that Spark and Hadoop do not take for a pattern."""
    return re.sub(r"([{}\[\]*?\\])", r"\\\1", path)


def rows_at(spark: Any, path: str, what: str, **options: str) -> Any:
    """The rows of a Parquet folder; an error that says what was expected if there is none."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    context = spark.sparkContext
    context.setLogLevel("OFF")  # an executor's account of a file that is no Parquet takes fifty lines
    try:
        return spark.read.options(**options).parquet(path)
    except (PySparkException, Py4JJavaError) as error:  # the second, where Java failed in a thread of its own
        found = STATE.sub("", (str(error).splitlines() or [type(error).__name__])[0])
        if "CANNOT_READ_FILE_FOOTER" in str(error):
            found = "it has files that are no Parquet"
        elif "UNABLE_TO_INFER_SCHEMA" in str(error):
            found = "it has no Parquet files"
        elif "PATH_NOT_FOUND" in str(error):
            found = "there is no such folder"
        shown = re.sub(r"\\(.)", r"\1", path)  # it may come from `literal`
        raise BadSource(f"{shown} holds no {what}: {found[:150]}") from error
    finally:
        context.setLogLevel(context.getConf().get("spark.log.level", "ERROR"))


class Opened(NamedTuple):
    """What was noted of shards, and their rows."""

    facts: dict[str, Any]
    pages: Any
    out: Any
    into: Any


def open_shards(spark: Any, place: str) -> Opened:
    """The shards at a place. Files that are missing would go unnoticed: so rows are counted, which reads no columns."""
    facts = Output(spark, place).noted(SHARDS_DONE)
    if facts is None:
        raise no_shards(place)
    expected = {"pages": facts.get("pages"), "out": facts.get("lists"), "in": facts.get("links")}
    tables = [rows_at(spark, f"{literal(place)}/{name}", "shards") for name in expected]
    for (name, count), rows in zip(expected.items(), tables, strict=True):
        if (found := rows.count()) != count:
            raise no_shards(place, f"{name} has {found:,} rows of {count or 0:,}")
    return Opened(facts, *tables)
