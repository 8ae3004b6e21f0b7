"""Any sources → page records as Parquet: each file is read by one task, with the reader that one machine would use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from cocite.errors import BadSource
from cocite.sources.conform import conform
from cocite.sources.open_source import open_source
from cocite.sources.records import SCHEMA, Report
from cocite.spark.arrays import Batches
from cocite.spark.inputs import expand, on_disk
from cocite.spark.outputs import Output

DONE = "_pages.json"


@dataclass
class Tally:
    """What tasks counted: it adds up."""

    read: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, report: Report) -> Tally:
        """What one report says."""
        return cls(report.read, report.skipped, report.example)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.read + other.read, self.skipped + other.skipped, {**other.example, **self.example})


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
) -> Tally:
    """Read sources into a folder of page records; returns what was read and left out."""
    from pyspark.sql.pandas.types import from_arrow_schema

    folder, specs = Output(spark, output), expand(sources, kind)
    if folder.exists() and (folder.exists(DONE) or not folder.exists("_temporary")):  # else a job was interrupted
        raise BadSource(f"{output} is there already: remove it, or choose another place")
    tally = accumulator(spark)
    context = spark.sparkContext
    rows = context.parallelize(list(enumerate(specs)), len(specs))

    def read(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for spec in batch.column("spec").to_pylist():
                yield from _records(spec, tally, base, kind, text, strict)

    found = spark.createDataFrame(rows, "place long, spec string").mapInArrow(read, from_arrow_schema(SCHEMA))
    found.write.mode("overwrite").parquet(str(output))
    done: Tally = tally.value
    if not done.read["records"]:
        folder.remove("")
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in done.skipped.most_common(3))
        raise BadSource("the sources hold no page record that can be used" + (f" ({reasons})" if reasons else ""))
    folder.note(DONE, {"read": done.read, "skipped": done.skipped, "example": done.example, "sources": len(specs)})
    return done


def _records(
    spec: str, tally: Any, base: str | None, kind: str | None, text: bool, strict: bool
) -> Iterator[pa.RecordBatch]:
    """The records of one source; one that cannot be read is counted, as in a folder on one machine."""
    report, found, links = Report(strict), 0, 0
    try:
        with on_disk(spec) as path:
            for batch in open_source(path, report, base=base, kind=kind, text=text).records():
                whole = conform(batch, report, dictionaries=False).cast(SCHEMA)
                found += whole.num_rows
                links += len(whole.column("links").flatten())
                yield whole
    except BadSource as error:
        if strict:
            raise
        report.skip("file that cannot be read", str(error))
    counts = Counter({"sources": 1, "records": found, "links": links})
    tally.add(Tally(read=counts) + Tally.of(report))
