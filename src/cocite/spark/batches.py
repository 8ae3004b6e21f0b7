"""Functions for Spark's mapInArrow, which gives a task an iterator of batches."""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import pyarrow as pa

from cocite.spark.arrays import numbers, run_starts

Batches = Iterable[pa.RecordBatch]
RUN_ROWS = 1 << 18
Task = Callable[[Batches], Iterator[pa.RecordBatch]]


def on_batches(work: Callable[..., pa.RecordBatch], *arguments: Any) -> Task:
    """Call `work` with each batch and the arguments."""
    return lambda batches: (work(batch, *arguments) for batch in batches)


def on_runs(work: Callable[..., pa.RecordBatch], column: str, *arguments: Any, rows: int = RUN_ROWS) -> Task:
    """Call `work` with tables that don't cut a run of equal values of a column."""
    return lambda batches: (work(table, *arguments) for table in whole_runs(batches, column, rows))


def whole_runs(batches: Batches, column: str, rows: int = RUN_ROWS) -> Iterator[pa.Table]:
    """Tables of about `rows` rows or more that don't cut a run of equal values of a column."""
    waiting: list[pa.RecordBatch] = []
    count = start = 0  # rows in `waiting`, and where the last run of them starts
    last = None
    for batch in batches:
        if not batch.num_rows:
            continue
        values = numbers(batch.column(column))
        begin = int(run_starts(values)[-2])
        if begin or values[0] != last:  # else the whole batch continues a run, however long: it is only counted
            start = count + begin
        last = values[-1]
        waiting.append(batch)
        count += batch.num_rows
        if count >= rows and start:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, start)
            waiting, count, start = table.slice(start).to_batches(), count - start, 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def each_run(batches: Batches, column: str) -> Iterator[list[pa.RecordBatch]]:
    """The rows of each run of equal values of a column, as slices of the batches."""
    run: list[pa.RecordBatch] = []
    last = None
    for batch in batches:
        values = numbers(batch.column(column))
        for start, stop in pairwise(run_starts(values).tolist()):
            if run and values[start] != last:
                yield run
                run = []
            run.append(batch.slice(start, stop - start))
            last = values[start]
    if run:
        yield run
