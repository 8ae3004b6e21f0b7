"""Keep the addresses of a graph's vertices as one Arrow dictionary.

Batches of records link vertices by number, and share one dictionary of addresses. A hundred million addresses would be
10 GB of Python objects, so they are written to a temporary file that is mapped as the dictionary. The file has no name:
it disappears with the last batch, even if the process is killed.
"""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cocite.errors import BadSource
from cocite.sources.compressed import line_blocks
from cocite.sources.records import ReadReport, trimmed
from cocite.sources.webgraphs.bvgraph import Bytes, Integers

MAX_VERTICES = 2**32 - 1
MAX_INT32_BYTES = 1 << 31  # of text, beyond which an array needs 64-bit offsets
CHUNK_NAMES = 1 << 18
FREE_GAPS = 1 << 20
"""Numbers without a name that any file of vertices may have. Beyond that, there must be at least as many names."""

_NUMBERED = re.compile(rb"\s*\d+\t")
_NO_NAME = "vertex without a valid name"


def text_blocks(path: Path, report: ReadReport) -> Iterator[Bytes]:
    """Yield the text of a file in blocks of complete lines. Names may count lines, so that none can be skipped."""
    return (np.frombuffer(block, np.uint8) for block in line_blocks(path, report, refuse_long=True))


def example(block: Bytes, start: int) -> str:
    """Return the line of a block that begins at `start`, for a message."""
    return block[start : start + 200].tobytes().split(b"\n", 1)[0].decode("utf-8", "replace")


class NameFile:
    """Names of vertices 0, 1, 2 …, added in order to files without a name, then mapped as one Arrow array."""

    def __init__(self) -> None:
        self.count = self.named = self._bytes = 0
        with _writing():
            self._texts, self._ends = _temporary_file(), _temporary_file()
            self._ends.write(np.zeros(1, np.int64).data)

    def check(self, vertices: int, named: int) -> None:
        """Raise BadSource if a file can't have that many more vertices, `named` of them with a name."""
        last = self.count + vertices - 1
        if last > 2 * (self.named + named) + FREE_GAPS:
            raise BadSource(f"Most vertices up to number {last:,} have no name: give a complete file of vertices")
        if last >= MAX_VERTICES:
            raise BadSource(f"Vertices are numbered beyond {MAX_VERTICES:,}, the limit of a store: split the graph")

    def add(self, texts: Bytes, ends: Integers) -> None:
        """Add the names in `texts`, one after another. An empty one means no name."""
        named = int(np.count_nonzero(np.diff(ends, prepend=0)))
        self.check(len(ends), named)
        with _writing():
            self._texts.write(texts.data)
            self._ends.write((ends + self._bytes).data)
        self.count += len(ends)
        self.named += named
        self._bytes += len(texts)

    def mapped(self) -> pa.Array:
        """Return all names, as `string`, or as `large_string` if they have more than 2 GiB."""
        with _writing():
            texts, ends = _map(self._texts), _map(self._ends)
            if self._bytes >= MAX_INT32_BYTES:
                return pa.Array.from_buffers(pa.large_string(), self.count, [None, ends, texts])
            wide = np.frombuffer(ends, np.int64)
            narrow = _temporary_file()
            for start in range(0, len(wide), 1 << 20):
                narrow.write(wide[start : start + (1 << 20)].astype(np.int32).data)
            return pa.Array.from_buffers(pa.string(), self.count, [None, _map(narrow), texts])


def _temporary_file() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="cocite-names-")


def _map(file: IO[bytes]) -> pa.Buffer:
    file.flush()
    return pa.py_buffer(mmap(file.fileno(), 0, access=ACCESS_READ) if file.tell() else b"")


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        failure = f"Cannot write vertex names to {tempfile.tempdir or 'a temporary folder'}: {error.strerror}"
        raise BadSource(f"{failure}; set TMPDIR to a folder with more space") from error


def number_names(count: int) -> pa.Array:
    """Return `name:0`, `name:1` … for a graph without vertex names."""
    names = NameFile()
    for first in range(0, count, CHUNK_NAMES):
        numbers = pa.array(np.arange(first, min(first + CHUNK_NAMES, count))).cast(pa.string())
        texts = pc.binary_join_element_wise("name:", numbers, "")
        _, offsets, data = texts.buffers()
        ends = np.frombuffer(offsets, np.int32)[1 : len(texts) + 1].astype(np.int64)
        names.add(np.frombuffer(data, np.uint8)[: ends[-1]], ends)
    return names.mapped()


def read_names(paths: list[Path], report: ReadReport) -> pa.Array:
    """Return the address of every vertex, from lines `number<TAB>com.example` (Common Crawl) or of one name each.

    Numbers must ascend. A vertex without a valid name is counted, and has an empty one.
    """
    from cocite.kernels.addresses import webgraph_text

    number = 0
    numbered: bool | None = None
    names = NameFile()
    for path in paths:
        for block in text_blocks(path, report):
            if numbered is None:
                numbered = _NUMBERED.match(block[:64].tobytes()) is not None
            lines = len(block) // (4 if numbered else 2) + 1  # at least that many bytes per line
            numbers, ends = np.empty(lines, np.int64), np.empty(lines, np.int64)
            texts = np.empty(len(block) + 9 * lines, np.uint8)  # `https://` and `/` are added at most
            count, bad, where, number = webgraph_text.parse_vertices(block, numbered, number, numbers, texts, ends)
            if bad:
                report.skip(_NO_NAME, example(block, where), bad)
            written = ends[count - 1] if count else 0
            _add_numbered(names, numbers[:count], *_valid(texts[:written], ends[:count], report), path)
            if not numbered and number > names.count:
                names.add(texts[:0], np.zeros(number - names.count, np.int64))
    if not names.named:
        raise BadSource(f"{paths[0]} has no vertex names: its lines must be number<TAB>name")
    return names.mapped()


def _valid(texts: Bytes, ends: Integers, report: ReadReport) -> tuple[Bytes, Integers]:
    """Trim names. Names that are not UTF-8 become empty and are counted."""
    if not len(ends):
        return texts, ends
    try:
        given = pa.Array.from_buffers(
            pa.large_string(), len(ends), [None, pa.py_buffer(np.append(0, ends)), pa.py_buffer(texts)]
        )
        given.validate(full=True)
        _, places, kept = trimmed(given).buffers()
        ends = np.frombuffer(places, np.int64)[1 : len(ends) + 1]
        return np.frombuffer(kept, np.uint8)[: ends[-1]], ends
    except pa.ArrowInvalid:
        names = [texts[a:b].tobytes() for a, b in zip(np.append(0, ends[:-1]), ends, strict=True)]
    for i, name in enumerate(names):
        try:
            names[i] = name.decode().strip().encode()
        except UnicodeDecodeError:
            report.skip(_NO_NAME, name.decode("utf-8", "replace"))
            names[i] = b""
    return np.frombuffer(b"".join(names), np.uint8), np.cumsum([len(name) for name in names])


def _add_numbered(names: NameFile, numbers: Integers, texts: Bytes, ends: Integers, path: Path) -> None:
    """Add names with their numbers. A missing number gets an empty name."""
    if not len(numbers):
        return
    if numbers[0] < names.count or (np.diff(numbers) <= 0).any():
        raise BadSource(f"{path}: vertex numbers must ascend: sort the files by number first")
    size = int(numbers[-1]) + 1 - names.count
    names.check(size, len(numbers))
    if size > len(numbers):
        lengths = np.zeros(size, np.int64)
        lengths[numbers - names.count] = np.diff(ends, prepend=0)
        ends = np.cumsum(lengths)
    names.add(texts, ends)
