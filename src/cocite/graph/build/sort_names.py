"""The names of a build in the order of their keys, each once: a part of its second pass.

DuckDB sorts them out of core.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.build.columns import text_buffers
from cocite.kernels.addresses.hashing import copy_chosen
from cocite.kernels.addresses.names import mark_changes

BATCH = 1 << 17
"""Names that are encoded at once, a whole number of blocks; the first batch is the sample for their code."""
LEAST_MEMORY = 128 << 20
"""What DuckDB needs to sort at all."""

Batch = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint64], list[str | None] | None]
"""Names in order: their keys' bytes, where each begins, order of spelling, fingerprints, spellings kept apart."""


@contextmanager
def sorted_names(folder: Path, memory: int, threads: int) -> Iterator[Iterator[Batch]]:
    """The names in a work folder in order, each once, as long as the context lasts."""
    try:
        with duckdb.connect() as database:
            database.execute(f"SET memory_limit = '{max(memory, LEAST_MEMORY) >> 20}MiB'; SET threads = {threads}")
            with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets there is none to switch off
                database.execute("SET enable_progress_bar = false")
            database.execute("SET temp_directory = ?", [str(folder / "sort")])
            database.execute("SET preserve_insertion_order = false")
            files = str(Path(escape(str(folder / "names"))) / "*.parquet")
            if not any((folder / "names").iterdir()):
                yield iter(())
                return
            reader = database.sql(
                'SELECT key, "order", fingerprint, shown FROM read_parquet(?) ORDER BY key, "order", shown',
                params=[files],
            ).to_arrow_reader(BATCH)
            yield in_batches(distinct(reader))
    except duckdb.Error as error:
        why = str(error).splitlines()[0]
        raise BadStore(f"names cannot be sorted: give more memory, or room on the disk ({why})") from error


def distinct(reader: object) -> Iterator[Batch]:
    """The first row of every key."""
    last = b""
    for batch in reader:  # type: ignore[attr-defined]
        data, offsets = text_buffers(batch.column(0))
        first = np.empty(len(offsets) - 1, np.bool_)
        mark_changes(data, offsets, np.frombuffer(last, np.uint8), first)
        if len(offsets) > 1:
            last = data[offsets[-2] : offsets[-1]].tobytes()
        shown = batch.column(3)
        texts = None if shown.null_count == len(shown) else shown.to_pylist()
        yield choose((data, offsets, batch.column(1).to_numpy(), batch.column(2).to_numpy(), texts), first)


def choose(batch: Batch, chosen: NDArray[np.bool_]) -> Batch:
    """Some of the names."""
    data, offsets, orders, fingerprints, texts = batch
    kept = np.empty(int(np.diff(offsets)[chosen].sum()), np.uint8)
    kept_offsets = np.empty(int(chosen.sum()) + 1, np.int64)
    copy_chosen(data, offsets, chosen, kept, kept_offsets)
    some = None if texts is None else list(np.array(texts, object)[chosen])
    return kept, kept_offsets, orders[chosen], fingerprints[chosen], some


def in_batches(parts: Iterator[Batch]) -> Iterator[Batch]:
    """The same names BATCH at a time: parts vary from run to run (DuckDB's do), a store must not."""
    left: Batch | None = None
    for part in parts:
        if not len(part[2]):
            continue
        current = part if left is None else join(left, part)
        while len(current[2]) >= BATCH:
            yield cut(current, 0, BATCH)
            current = cut(current, BATCH, len(current[2]))
        left = current
    if left is not None and len(left[2]):
        yield left


def join(a: Batch, b: Batch) -> Batch:
    """Two batches as one."""
    texts = None
    if a[4] is not None or b[4] is not None:
        texts = (a[4] or [None] * len(a[2])) + (b[4] or [None] * len(b[2]))
    return (
        np.concatenate([a[0], b[0]]),
        np.concatenate([a[1], b[1][1:] + a[1][-1]]),
        np.concatenate([a[2], b[2]]),
        np.concatenate([a[3], b[3]]),
        texts,
    )


def cut(batch: Batch, start: int, stop: int) -> Batch:
    """Rows [start, stop) of a batch."""
    data, offsets, orders, fingerprints, texts = batch
    return (
        data[offsets[start] : offsets[stop]],
        offsets[start : stop + 1] - offsets[start],
        orders[start:stop],
        fingerprints[start:stop],
        texts and texts[start:stop],
    )
