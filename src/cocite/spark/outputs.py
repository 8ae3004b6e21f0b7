"""Where jobs write: Parquet folders that are there whole or not at all, on any file system that Spark knows.

The steps of a job are folders of their own. A job that was interrupted finds those that are whole, and goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from cocite.errors import BadParameter, BadSource

WORK = "_work"
"""Steps that are removed at the end; readers of Parquet pass over names that begin with an underscore."""


Tell = Callable[[str], None]
"""Told of every step that begins."""


def print_nothing(step: str) -> None:
    """Nobody wants to know."""


class Output:
    """A folder that a job fills."""

    def __init__(self, spark: Any, folder: str, tell: Tell = print_nothing) -> None:
        self.spark, self.folder, self._tell = spark, str(folder).rstrip("/"), tell
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

    def read(self, name: str) -> Any:
        """A step that is whole."""
        return self.spark.read.parquet(self._at(name))

    def step(self, name: str, make: Callable[[], Any], by: tuple[str, ...] = ()) -> Any:
        """A step, made unless it is there; `by` are columns whose values become folders."""
        if not self.exists(f"{name}/_SUCCESS"):
            self._tell(name.removeprefix(f"{WORK}/"))
            rows = make()
            rows.write.mode("overwrite").partitionBy(*by).parquet(self._at(name))
            return self.spark.read.schema(rows.schema).parquet(self._at(name))  # not inferred, which would be a job
        return self.read(name)

    def keep(self, name: str, rows: Any) -> Any:
        """A step that costs nothing to describe."""
        return self.step(name, lambda: rows)

    def note(self, name: str, facts: Mapping[str, Any]) -> None:
        """Write a small JSON file."""
        stream = self._files.create(self._path(self._at(name)), True)
        stream.write(bytearray(json.dumps(facts, indent=1, sort_keys=True).encode()))
        stream.close()

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

    def claim(self, plan: Mapping[str, Any]) -> None:
        """See that the folder is new, or was begun with the same plan: else what is in it must not be gone on with."""
        file = f"{WORK}/plan.json"
        if self.exists() and self.noted(file) != dict(plan):
            raise BadParameter(f"{self.folder} is there already: remove it, or choose another place")
        if not self.exists(file):
            self.note(file, plan)

    def finish(self, name: str, facts: Mapping[str, Any]) -> None:
        """Say that the job is done, and remove what only it needed."""
        self.note(name, facts)
        self.remove(WORK)

    def _at(self, name: str) -> str:
        return f"{self.folder}/{name}" if name else self.folder


def rows_at(spark: Any, path: str, what: str) -> Any:
    """The rows of a Parquet folder; an error that says what was expected if there is none."""
    from pyspark.errors import AnalysisException

    try:
        return spark.read.parquet(path)
    except AnalysisException as error:
        raise BadSource(f"{path} holds no {what}: {str(error).splitlines()[0][:150]}") from error
