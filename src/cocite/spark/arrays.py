"""NumPy arrays to Arrow columns and back. Lists of numbers go through Spark as bytes, which it doesn't parse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Batches = Iterable[pa.RecordBatch]


def batch_of(**columns: NDArray[Any] | pa.Array) -> pa.RecordBatch:
    """A batch of named columns."""
    return pa.RecordBatch.from_pydict({name: pa.array(each) for name, each in columns.items()})


def on_batches(work: Callable[..., pa.RecordBatch], *arguments: Any) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """What Spark's mapInArrow takes: call `work` with each batch and the arguments."""
    return lambda batches: (work(batch, *arguments) for batch in batches)


def on_runs(
    work: Callable[..., pa.RecordBatch], column: str, *arguments: Any
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The same with tables that don't cut a run of equal values of a column."""
    return lambda batches: (work(table, *arguments) for table in whole_runs(batches, column))


def pack_lists(values: NDArray[Any], starts: NDArray[np.int64]) -> pa.Array:
    """A column of lists, as bytes; list i is values[starts[i]:starts[i + 1]]."""
    data = np.ascontiguousarray(values)
    offsets = (np.asarray(starts, np.int64) * data.dtype.itemsize).astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), len(starts) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def unpack_lists(column: pa.Array | pa.ChunkedArray, dtype: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """All numbers of a column that `pack_lists` made, and where each list starts. A null is an empty list."""
    if isinstance(column, pa.ChunkedArray):
        parts = [unpack_lists(chunk, dtype) for chunk in column.chunks]
        if not parts:
            return np.zeros(0, dtype), np.zeros(1, np.int64)
        sizes = np.concatenate([np.diff(starts) for _, starts in parts])
        return np.concatenate([values for values, _ in parts]), np.append(0, np.cumsum(sizes))
    width = np.dtype(dtype).itemsize
    column = column.cast(pa.large_binary()) if column.null_count else column
    if column.null_count:
        column = column.fill_null(b"")
    kind = np.int64 if column.type == pa.large_binary() else np.int32
    _, offsets, data = column.buffers()
    if offsets is None or not len(column):
        return np.zeros(0, dtype), np.zeros(len(column) + 1, np.int64)
    ends = np.frombuffer(offsets, kind)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    raw = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    some = raw[ends[0] : ends[-1]]
    values = some.view(dtype) if some.ctypes.data % width == 0 else some.copy().view(dtype)
    return values, (ends - ends[0]) // width


def numbers(column: pa.Array | pa.ChunkedArray, dtype: Any = np.int64) -> NDArray[Any]:
    """A column without nulls as an array; Spark has only signed numbers, so 64 bits may be read as unsigned."""
    found = column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    if np.dtype(dtype) == np.uint64:
        return np.ascontiguousarray(found).view(np.uint64)
    return np.asarray(found, dtype)


def signed(values: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Unsigned 64-bit numbers as Spark stores them."""
    return np.ascontiguousarray(values).view(np.int64)


def positions(starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions within each list: 0, 1, 2 …"""
    return np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))


def run_starts(values: NDArray[Any]) -> NDArray[np.int64]:
    """Where each run of equal values starts, and the end."""
    if not len(values):
        return np.zeros(1, np.int64)
    return np.concatenate(([0], np.flatnonzero(values[1:] != values[:-1]) + 1, [len(values)])).astype(np.int64)


def whole_runs(batches: Batches, column: str, rows: int = 1 << 18) -> Iterator[pa.Table]:
    """Tables of about `rows` rows or more that don't cut a run of equal values of a column."""
    waiting: list[pa.RecordBatch] = []
    count = start = 0  # rows that wait, and where the last run of them begins
    last = None
    for batch in batches:
        if not batch.num_rows:
            continue
        values = numbers(batch.column(column))
        begin = int(run_starts(values)[-2])
        if begin or values[0] != last:  # else all of it is of a run that goes on, however long: only counted
            start = count + begin
        last = values[-1]
        waiting.append(batch)
        count += batch.num_rows
        if count >= rows and start:
            table = pa.Table.from_batches(waiting).combine_chunks()
            yield table.slice(0, start)
            waiting, count, start = table.slice(start).to_batches(), count - start, 0
    if waiting:
        yield pa.Table.from_batches(waiting).combine_chunks()


def each_run(batches: Batches, column: str) -> Iterator[list[pa.RecordBatch]]:
    """The rows of each run of equal values of a column, as slices of the batches."""
    run: list[pa.RecordBatch] = []
    last = None
    for batch in batches:
        values = numbers(batch.column(column))
        starts = run_starts(values).tolist()
        for start, stop in pairwise(starts):
            if run and values[start] != last:
                yield run
                run = []
            run.append(batch.slice(start, stop - start))
            last = values[start]
    if run:
        yield run
