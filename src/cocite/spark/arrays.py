"""NumPy arrays in Arrow columns and out of them: lists of numbers go through Spark as bytes, which it need not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Batches = Iterable[pa.RecordBatch]


def cut(values: NDArray[Any], starts: NDArray[np.int64]) -> pa.Array:
    """Lists of numbers, item i being values[starts[i]:starts[i + 1]], as a column of bytes."""
    data = np.ascontiguousarray(values)
    offsets = (np.asarray(starts, np.int64) * data.dtype.itemsize).astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), len(starts) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def joined(column: pa.Array | pa.ChunkedArray, dtype: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """What `cut` made: all numbers, and where each item starts. A null is an empty list."""
    if isinstance(column, pa.ChunkedArray):
        parts = [joined(chunk, dtype) for chunk in column.chunks]
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
    """A column without nulls as an array; Spark's signed 64 bits may be meant unsigned."""
    found = column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    if np.dtype(dtype) == np.uint64:
        return np.ascontiguousarray(found).view(np.uint64)
    return np.asarray(found, dtype)


def signed(values: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Unsigned 64 bits as Spark has them."""
    return np.ascontiguousarray(values).view(np.int64)


def places(starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, 2 … within each list."""
    return np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))


def runs(values: NDArray[Any]) -> NDArray[np.int64]:
    """Where each run of equal values starts, and the end."""
    if not len(values):
        return np.zeros(1, np.int64)
    return np.concatenate(([0], np.flatnonzero(values[1:] != values[:-1]) + 1, [len(values)])).astype(np.int64)


def whole_runs(batches: Batches, column: str, rows: int = 1 << 18) -> Iterator[pa.Table]:
    """Tables of about so many rows or more that do not cut a run of equal values of a column."""
    waiting: list[pa.RecordBatch] = []
    count = start = 0  # rows that wait, and where the last run of them begins
    last = None
    for batch in batches:
        if not batch.num_rows:
            continue
        values = numbers(batch.column(column))
        begin = int(runs(values)[-2])
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
        starts = runs(values).tolist()
        for start, stop in pairwise(starts):
            if run and values[start] != last:
                yield run
                run = []
            run.append(batch.slice(start, stop - start))
            last = values[start]
    if run:
        yield run
