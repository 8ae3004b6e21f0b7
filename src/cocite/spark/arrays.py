"""NumPy arrays to Arrow columns and back. Lists of numbers go through Spark as bytes, which it doesn't parse."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.graph.build.names import text_buffers

Integers = NDArray[np.int64]


def pack_lists(values: NDArray[Any], starts: Integers) -> pa.Array:
    """A column of lists, as bytes; list i is values[starts[i]:starts[i + 1]]."""
    data = np.ascontiguousarray(values)
    offsets = (np.asarray(starts, np.int64) * data.dtype.itemsize).astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), len(starts) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def unpack_lists(column: pa.Array | pa.ChunkedArray, dtype: Any) -> tuple[NDArray[Any], Integers]:
    """All numbers of a column that `pack_lists` made, and where each list starts. A null is an empty list."""
    if isinstance(column, pa.ChunkedArray):
        column = column.cast(pa.large_binary()).combine_chunks()  # all chunks may have more than 2 GB
    data, ends = text_buffers(column)
    values = np.require(data[ends[0] : ends[-1]].view(dtype), requirements="A")
    return values, (ends - ends[0]) // np.dtype(dtype).itemsize


def numbers(column: pa.Array | pa.ChunkedArray, dtype: Any = np.int64) -> NDArray[Any]:
    """A column without nulls as an array. Spark's numbers are signed: as uint64, 64-bit numbers are reinterpreted."""
    values = np.asarray(column)
    return values.view(np.uint64) if np.dtype(dtype) == np.uint64 else values.astype(dtype, copy=False)


def spread(batch: pa.RecordBatch, starts: Integers, *names: str) -> dict[str, Integers]:
    """Columns of numbers, with each row repeated for every item of its list."""
    return {name: np.repeat(numbers(batch.column(name)), np.diff(starts)) for name in names}


def list_starts(sizes: NDArray[Any]) -> Integers:
    """Where lists of these sizes start, one after another, and the end; of booleans, how many are true before each."""
    return np.append(0, np.cumsum(sizes, dtype=np.int64))


def positions(starts: Integers) -> Integers:
    """Positions within each list: 0, 1, 2 …"""
    return np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))


def run_starts(*columns: NDArray[Any]) -> Integers:
    """Where each run of rows with equal values starts, and the end."""
    count = len(columns[0])
    changes = np.zeros(max(0, count - 1), np.bool_)
    for values in columns:
        changes |= values[1:] != values[:-1]
    return np.concatenate(([0], np.flatnonzero(changes) + 1, [count])).astype(np.int64)[0 if count else 1 :]
