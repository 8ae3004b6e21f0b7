"""What all passes of a build use: columns of records and links, scratch space for the next pass, and threads."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.arrays import NOINDEX
from cocite.kernels.interpreted import Threads
from cocite.system import address_bytes, free_address_bytes

PARTIAL, ALIAS_ONLY, BY_CANONICAL, STORED = 1, 2, 4, 16
"""Kinds of a record, beside NOINDEX: one of several that add up; only an alias; a page's links under another address;
from the store that is being added to."""
PAGE_KINDS = NOINDEX | BY_CANONICAL  # of a record, which its page keeps in a store
NATIVE_BYTES = 1 << 30
"""Address space that DuckDB, LLVM and threads take beside what a build asks for. Where they get none, they end the
process: with `ulimit -v 1500000` a build crashed while it sorted."""
Input = TypeVar("Input")
Output = TypeVar("Output")


class RecordColumns(NamedTuple):
    """The records of a batch, in the order of the source."""

    tag: NDArray[np.uint64]  # of each record's page, 0: unusable
    kind: NDArray[np.uint8]
    alias: NDArray[np.uint64]  # of an ALIAS_ONLY: the tag of its target; else 0
    captured: NDArray[np.uint32]  # seconds since 1970, 0: unknown
    status: NDArray[np.uint16]
    language: NDArray[np.uint32]  # two or three ASCII letters as a number
    first_link: NDArray[np.int64]

    def has(self, kind: int) -> NDArray[np.bool_]:
        """Which records are of a kind, or of one of several."""
        return (self.kind & kind) > 0

    def cast(self) -> "RecordColumns":
        """The same, each column of its type."""
        return RecordColumns(*map(np.asarray, self, RECORD_TYPES))

    def in_sequence(self) -> NDArray[np.int64]:
        """Rows in the order of the source; the arrays have aliases made by canonical addresses at their end."""
        made = np.flatnonzero(self.has(BY_CANONICAL) & ~self.has(STORED))
        rows = np.arange(len(self.kind) - len(made))
        return np.argsort(np.append(rows, made), kind="stable") if len(made) else rows


class LinkColumns(NamedTuple):
    """The links of a batch's records, in page order."""

    target: NDArray[np.uint64]  # tags, 0: unusable
    weight: NDArray[np.float32]  # empty: all 1
    attribute: NDArray[np.uint32]  # see kernels/codec/link_codec.py


RECORD_TYPES = (np.uint64, np.uint8, np.uint64, np.uint32, np.uint16, np.uint32, np.int64)


class ScratchSpace:
    """What one pass leaves for the next, by name: arrays, columns that grow, and Arrow tables.

    With a folder they are files, and a build needs memory for one batch or bucket at a time; else they are in memory.
    Files are plain bytes, not NumPy's: checksums of an archive would take a tenth of a build, and `np.load` in several
    threads at once fails now and then, because Python up to 3.11 can't parse in two threads.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._kept: dict[str, Any] = {}  # without a folder: everything; with one: columns that still grow
        self._saved: dict[str, list[tuple[np.dtype[Any], int]]] = {}  # the type and length of each array in a file
        self._tables: dict[str, tuple[int, int]] = {}  # rows and bytes of each table

    def save(self, name: str, *arrays: NDArray[Any]) -> None:
        """Keep arrays, in the place of those of the same name."""
        if self.folder is None:
            self._kept[name] = arrays
            return
        self._saved[name] = [(array.dtype, len(array)) for array in arrays]
        with (self.folder / name).open("wb") as out:
            out.writelines(np.ascontiguousarray(array).data for array in arrays)

    def load(self, name: str, start: int = 0, stop: int | None = None) -> list[NDArray[Any]]:
        """Arrays as they were saved, or those of some places."""
        if self.folder is None:
            return list(self._kept[name][start:stop])
        saved = self._saved[name]
        with (self.folder / name).open("rb") as file:
            file.seek(sum(dtype.itemsize * length for dtype, length in saved[:start]))
            return [np.fromfile(file, dtype, length) for dtype, length in saved[start:stop]]

    def append(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Add values to the ends of columns."""
        for name, values in columns.items():
            if self.folder is None:
                self._kept.setdefault(name, []).append(values)
                continue
            if name not in self._kept:
                self._kept[name] = (self.folder / name).open("wb")
            self._kept[name].write(np.ascontiguousarray(values).data)

    def close(self) -> None:
        """Finish all columns."""
        while self.folder is not None and self._kept:
            self._kept.popitem()[1].close()

    def column(self, name: str, dtype: type[np.generic], mapped: bool = False) -> NDArray[Any]:
        """A finished column, empty if nothing was added to it; mapped if it may be large."""
        if self.folder is None:
            return np.concatenate(self._kept.get(name, [np.zeros(0, dtype)]))
        file = self.folder / name
        if not file.exists() or not file.stat().st_size:
            return np.zeros(0, dtype)
        return np.memmap(file, dtype, "r") if mapped else np.fromfile(file, dtype)

    def save_table(self, name: str, table: pa.Table) -> None:
        """Keep a table."""
        self._tables[name] = len(table), table.nbytes
        if self.folder is None:
            self._kept[name] = table
        else:
            pq.write_table(table, self.folder / name, compression="lz4", write_statistics=False, use_dictionary=False)

    def load_table(self, name: str) -> pa.Table | None:
        """A table as it was saved, None if there is none."""
        if self.folder is None:
            return self._kept.get(name)
        return pq.read_table(self.folder / name) if (self.folder / name).exists() else None

    def table_size(self, ending: str) -> tuple[int, int]:
        """Rows and bytes of all tables whose names end with a text."""
        sizes = [size for name, size in self._tables.items() if name.endswith(ending)]
        return sum(rows for rows, _ in sizes), sum(size for _, size in sizes)

    def tables(self, ending: str) -> list[pa.Table]:
        """All tables whose names end with a text."""
        return [self.load_table(name) for name in self.names(ending)]

    def names(self, ending: str) -> list[str]:
        """The names of all things that end with a text."""
        names = self._kept if self.folder is None else [file.name for file in self.folder.iterdir()]
        return [name for name in names if name.endswith(ending)]

    def remove(self, *names: str) -> None:
        """Free the space of things that no pass needs again; what is not yet on disk need not be written."""
        for name in names:
            if self.folder is None:
                self._kept.pop(name, None)
            else:
                (self.folder / name).unlink(missing_ok=True)


class Workers(Threads):
    """Threads whose results come in order, so that the bytes of a store don't depend on them.

    With 0 threads the caller does the work: for a few pages, handing it over takes longer than doing it.
    """

    def __init__(self, threads: int) -> None:
        super().__init__(max(1, threads))
        self.threads = threads

    def submit(self, work: Callable[..., Output], /, *arguments: Any, **options: Any) -> Future[Output]:
        """Have work done soon."""
        if self.threads:
            return super().submit(work, *arguments, **options)
        done: Future[Output] = Future()
        done.set_result(work(*arguments, **options))
        return done

    def in_order(self, work: Callable[[Input], Output], items: Iterable[Input]) -> Iterator[Output]:
        """Results of `work` in the order of `items`, with a few items under way at once."""
        waiting: deque[Future[Output]] = deque()
        try:
            for item in items:
                waiting.append(self.submit(work, item))
                if len(waiting) > self.threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def affordable_memory(wanted: int) -> int:
    """The memory that a build may use: what is wanted, or less under a limit of address space. Raises BadStore."""
    left = free_address_bytes()
    if left is None or wanted + NATIVE_BYTES <= left:
        return wanted
    if left <= NATIVE_BYTES + (NATIVE_BYTES >> 2):
        needed = (address_bytes() + 2 * NATIVE_BYTES) >> 10
        raise BadStore(f"the limit of address space is too low for a build: raise it with ulimit -v {needed}")
    return left - NATIVE_BYTES
