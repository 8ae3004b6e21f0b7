"""Any sources → page records as Parquet: each file is read by one task, with the reader that one machine would use.

Sources are read in groups, one after another, each into a folder `group=…` of its own: a job that was stopped goes on
with the first group that is not whole. Names of groups, and of files in them, are in the order of the sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa

from cocite import __version__
from cocite.errors import BadSource
from cocite.sources.arrow_batches import to_schema
from cocite.sources.folders import PAGES_DONE
from cocite.sources.open_source import open_source
from cocite.sources.records import SCHEMA, ReadReport
from cocite.spark.arrays import Batches
from cocite.spark.inputs import REMOTE, expand, on_disk
from cocite.spark.outputs import WORK, OnStep, Output, ignore_step

DONE = PAGES_DONE
GROUPS = 100
"""Groups at most: at the end of each, cores wait for the last of its tasks."""
TASKS_PER_CORE, FEWEST = 16, 64
"""Sources of a group at least, so that cores wait little at its end, and starting it is nothing beside reading it."""
Read = Callable[[Batches], Iterator[pa.RecordBatch]]


@dataclass
class Tally:
    """What tasks counted: it adds up."""

    read: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, report: ReadReport) -> Tally:
        """What one report says."""
        return cls(report.read, report.skipped, report.example)

    def facts(self) -> dict[str, Any]:
        """To be noted."""
        return {"read": self.read, "skipped": self.skipped, "example": self.example}

    @classmethod
    def noted(cls, facts: dict[str, Any]) -> Tally:
        """What was noted of one."""
        return cls(Counter(facts["read"]), Counter(facts["skipped"]), dict(facts["example"]))

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.read + other.read, self.skipped + other.skipped, {**other.example, **self.example})


def reasons(skipped: Counter[str]) -> str:
    """The most common reasons for which something was passed over, in brackets."""
    found = ", ".join(f"{count:,} × {reason}" for reason, count in skipped.most_common(3))
    return found and f" ({found})"


def accumulator(spark: Any) -> Any:
    """A Tally that tasks add to."""
    from pyspark import AccumulatorParam

    class Adding(AccumulatorParam[Tally]):
        def zero(self, value: Tally) -> Tally:
            return Tally()

        def addInPlace(self, value1: Tally, value2: Tally) -> Tally:
            return value1 + value2

    return spark.sparkContext.accumulator(Tally(), Adding())


def write_pages(
    spark: Any,
    sources: Sequence[str],
    output: str,
    *,
    base: str | None = None,
    kind: str | None = None,
    text: bool = True,
    strict: bool = False,
    group: int = 0,
    on_step: OnStep = ignore_step,
) -> Tally:
    """Read sources into a folder of page records; returns what was read and left out.

    `group` sources are read at a time; 0: as many as suit the cluster.
    """
    folder, specs = Output(spark, output, on_step), expand(sources, kind)
    for source in sources:
        if not REMOTE.match(source) and Path(source).is_dir():
            folder.refuse_inside(source)
    options = {"base": base, "kind": kind, "text": text, "strict": strict}
    named = blake2b("\n".join(specs).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    done = folder.claim({"job": "pages", "sources": named, **options, "version": __version__}, DONE)
    if done is not None:
        return Tally.noted(done)
    group = group or max(FEWEST, -(-len(specs) // GROUPS), TASKS_PER_CORE * int(spark.sparkContext.defaultParallelism))
    group = _kept_group(folder, group)
    tally = Tally()
    for number, start in enumerate(range(0, len(specs), group)):
        tally += _write_group(folder, f"group={number:05d}", specs[start : start + group], options)
    if not tally.read["records"]:
        folder.remove("")
        raise BadSource(f"the sources hold no page record that can be used{reasons(tally.skipped)}")
    folder.finish(DONE, {**tally.facts(), "sources": len(specs)})
    return tally


def _kept_group(folder: Output, group: int) -> int:
    """The size of groups; that with which the job was begun, if it goes on, perhaps on another cluster."""
    noted = folder.noted(f"{WORK}/groups.json")
    if noted is None:
        noted = {"size": group}
        folder.note(f"{WORK}/groups.json", noted)
    return int(noted["size"])


def _write_group(folder: Output, name: str, specs: Sequence[str], options: dict[str, Any]) -> Tally:
    """Read one group, unless it is there with what was counted of it; returns that."""
    from pyspark.sql.pandas.types import from_arrow_schema

    noted = folder.noted(f"{WORK}/{name}.json")
    if noted is not None:
        return Tally.noted(noted)
    folder.remove(name)  # if it is there it may be whole, but what was left out is counted while it is made
    spark, tally = folder.spark, accumulator(folder.spark)
    rows = spark.sparkContext.parallelize(list(enumerate(specs)), len(specs))
    found = spark.createDataFrame(rows, "place long, spec string").mapInArrow(
        _reading(tally, **options), from_arrow_schema(SCHEMA)
    )
    folder.step(name, lambda: found)
    counted: Tally = tally.value
    folder.note(f"{WORK}/{name}.json", counted.facts())
    return counted


def _reading(tally: Any, base: str | None, kind: str | None, text: bool, strict: bool) -> Read:
    """What tasks do with the names of sources."""

    def read(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for spec in batch.column("spec").to_pylist():
                yield from _records(spec, tally, base, kind, text, strict)

    return read


def _records(
    spec: str, tally: Any, base: str | None, kind: str | None, text: bool, strict: bool
) -> Iterator[pa.RecordBatch]:
    """The records of one source; one that cannot be read is counted, as in a folder on one machine."""
    report, found, links = ReadReport(strict), 0, 0
    try:
        with on_disk(spec) as path:
            for batch in open_source(path, report, base=base, kind=kind, text=text).records():
                whole = to_schema(batch, report, dictionaries=False).cast(SCHEMA)
                found += whole.num_rows
                links += len(whole.column("links").flatten())
                yield whole
    except BadSource as error:
        if strict:
            raise
        report.skip("file that cannot be read", str(error))
    counts = Counter({"sources": 1, "records": found, "links": links})
    tally.add(Tally(read=counts) + Tally.of(report))
