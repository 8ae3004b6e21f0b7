"""Second pass of a build: names → page numbers, in the order of their keys.

Names are sorted, on disk by DuckDB, out of core. Of each page the first row (the spelling to show) is kept, and names,
fingerprints, hosts, domains and sites are written as they pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.build.columns import text_buffers
from cocite.graph.build.number_sites import SiteWriter
from cocite.graph.build.scratch import MemoryScratch, Scratch
from cocite.graph.build.workers import Workers
from cocite.graph.generation import Writer
from cocite.graph.huffman import Code
from cocite.graph.names import coded_names, read_keys
from cocite.graph.texts import TextColumn, TextWriter
from cocite.kernels.addresses.hashing import copy_chosen, count_buckets, fill_buckets
from cocite.kernels.addresses.names import mark_changes
from cocite.kernels.codec import name_codec
from cocite.kernels.codec.name_codec import CodedNames
from cocite.pages.key import APART
from cocite.pages.site import Sites
from cocite.sources.records import ReadReport

MAX_PAGES = (1 << 32) - 2
BATCH_NAMES = 1 << 17
"""Names encoded at once, a whole number of blocks; the first batch is the sample for their code."""
REREAD_NAMES = 1 << 16
MIN_SORT_BYTES = 128 << 20
"""What DuckDB needs to sort at all."""


@dataclass(frozen=True, slots=True)
class NameBatch:
    """Names in order."""

    data: NDArray[np.uint8]  # the bytes of all keys
    offsets: NDArray[np.int64]  # where each key begins
    order: NDArray[np.uint16]  # see `spelling_orders`; the low byte is the spelling
    fingerprint: NDArray[np.uint64]
    shown: list[str | None] | None  # spellings that are kept as texts

    def __len__(self) -> int:
        return len(self.order)

    def choose(self, chosen: NDArray[np.bool_]) -> NameBatch:
        """Some of the names."""
        kept = np.empty(int(np.diff(self.offsets)[chosen].sum()), np.uint8)
        offsets = np.empty(int(chosen.sum()) + 1, np.int64)
        copy_chosen(self.data, self.offsets, chosen, kept, offsets)
        shown = None if self.shown is None else list(np.array(self.shown, object)[chosen])
        return NameBatch(kept, offsets, self.order[chosen], self.fingerprint[chosen], shown)

    def cut(self, start: int, stop: int) -> NameBatch:
        """Names [start, stop)."""
        return NameBatch(
            self.data[self.offsets[start] : self.offsets[stop]],
            self.offsets[start : stop + 1] - self.offsets[start],
            self.order[start:stop],
            self.fingerprint[start:stop],
            self.shown and self.shown[start:stop],
        )

    def join(self, other: NameBatch) -> NameBatch:
        """These names and others behind them."""
        shown = None
        if self.shown is not None or other.shown is not None:
            shown = (self.shown or [None] * len(self)) + (other.shown or [None] * len(other))
        return NameBatch(
            np.concatenate([self.data, other.data]),
            np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]]),
            np.concatenate([self.order, other.order]),
            np.concatenate([self.fingerprint, other.fingerprint]),
            shown,
        )


def number_pages(
    scratch: Scratch, writer: Writer, sites: Sites, memory: int, workers: Workers, progress: Callable[[int], None]
) -> int:
    """Write everything that is known of pages by name; returns how many there are."""
    names = scratch.names(".names")
    with sorted_names(scratch, names, memory, workers.threads) as batches:
        pages = NameWriter(writer, sites, workers).write(in_batches(distinct(batches)), progress)
    workers.submit(scratch.remove, *names)
    return pages


@contextmanager
def sorted_names(
    scratch: Scratch, names: Sequence[str], memory: int, threads: int
) -> Iterator[Iterable[pa.RecordBatch]]:
    """All names in the order of keys, then of spellings: those of a page follow each other."""
    if not names:
        yield ()
        return
    if isinstance(scratch, MemoryScratch):
        table = pa.concat_tables(scratch.load_table(name) for name in names)
        yield table.sort_by([(column, "ascending") for column in ("key", "order", "shown")]).to_batches(BATCH_NAMES)
        return
    try:
        with duckdb.connect() as database:
            database.execute(f"SET memory_limit = '{max(memory, MIN_SORT_BYTES) >> 20}MiB'; SET threads = {threads}")
            with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets there is none to switch off
                database.execute("SET enable_progress_bar = false")
            database.execute("SET temp_directory = ?", [str(scratch.folder / "sort")])
            database.execute("SET preserve_insertion_order = false")
            yield database.sql(
                'SELECT key, "order", fingerprint, shown FROM read_parquet(?) ORDER BY key, "order", shown',
                params=[str(Path(escape(str(scratch.folder))) / "*.names")],
            ).to_arrow_reader(BATCH_NAMES)
    except duckdb.Error as error:
        why = str(error).splitlines()[0]
        raise BadStore(f"names cannot be sorted: give more memory, or room on the disk ({why})") from error


def distinct(batches: Iterable[pa.RecordBatch]) -> Iterator[NameBatch]:
    """The first row of every key."""
    last = b""
    for batch in batches:
        data, offsets = text_buffers(batch.column(0))
        first = np.empty(len(offsets) - 1, np.bool_)
        mark_changes(data, offsets, np.frombuffer(last, np.uint8), first)
        if len(offsets) > 1:
            last = data[offsets[-2] : offsets[-1]].tobytes()
        shown = batch.column(3)
        texts = None if shown.null_count == len(shown) else shown.to_pylist()
        yield NameBatch(data, offsets, batch.column(1).to_numpy(), batch.column(2).to_numpy(), texts).choose(first)


def in_batches(parts: Iterator[NameBatch]) -> Iterator[NameBatch]:
    """The same names BATCH_NAMES at a time: DuckDB's parts vary from run to run, a store must not."""
    left: NameBatch | None = None
    for part in parts:
        if not len(part):
            continue
        current = part if left is None else left.join(part)
        while len(current) >= BATCH_NAMES:
            yield current.cut(0, BATCH_NAMES)
            current = current.cut(BATCH_NAMES, len(current))
        left = current
    if left is not None and len(left):
        yield left


def keep_pages(writer: Writer, sites: Sites, workers: Workers, kept: NDArray[np.bool_]) -> None:
    """Write names and the like again, for some of the pages only."""
    batches = written_names(writer, kept)
    for name in list(writer.arrays):  # they stay mapped until they have been read
        writer.discard(name)
    NameWriter(writer, sites, workers).write(in_batches(batches), lambda _: None)


def written_names(writer: Writer, kept: NDArray[np.bool_]) -> Iterator[NameBatch]:
    """The names of some pages, out of what was written."""
    names, spellings, fingerprints = written(writer), writer.map("name.spelling"), writer.map("fingerprint")
    parts = [f"shown.{part}" for part in ("pages", "first", "offset", "data")]
    texts = TextColumn({name: writer.map(name) for name in parts}, "shown")

    def batches() -> Iterator[NameBatch]:
        for first in range(0, len(kept), REREAD_NAMES):
            last = min(first + REREAD_NAMES, len(kept))
            data, offsets = read_keys(names, first, last - first)
            own = spellings[first:last].astype(np.uint16)
            apart = set(np.flatnonzero(own == APART).tolist())
            shown = [texts[first + i] if i in apart else None for i in range(len(own))] if apart else None
            yield NameBatch(data, offsets, own, fingerprints[first:last], shown).choose(kept[first:last])

    return batches()


class NameWriter:
    """Writes the names of pages in order, and the host, domain and site of each page."""

    def __init__(self, writer: Writer, sites: Sites, workers: Workers) -> None:
        self._writer = writer
        self._sites = SiteWriter(writer, sites)
        self._workers = workers
        self._codes: tuple[Code, Code] | None = None  # made from the first batch
        self._pages = 0
        self._bits = 0

    def write(self, batches: Iterator[NameBatch], progress: Callable[[int], None]) -> int:
        """Write all names; returns how many."""
        shown = TextWriter(self._writer, "shown")
        for batch, words, starts in self._workers.in_order(self._encode, self._with_codes(batches), 2):
            self._writer.append("name.block", (starts + self._bits).astype(np.uint64))
            self._writer.append("name.words", words)
            self._bits += len(words) * 64
            self._writer.append("fingerprint", batch.fingerprint)
            self._writer.append("name.spelling", (batch.order & np.uint16(0xFF)).astype(np.uint8))
            for i, text in enumerate(batch.shown or ()):
                if text is not None:
                    shown.append(self._pages + i, text.encode())
            self._sites.append(batch.data, batch.offsets)
            self._pages += len(batch)
            if self._pages > MAX_PAGES:
                raise BadStore(f"more than {MAX_PAGES:,} pages do not fit into one store: build several")
            progress(len(batch))
        shown.close()
        if self._codes is not None:
            self._writer.append("name.code", np.concatenate([code.lengths for code in self._codes]))
            self._writer.append("name.words", np.zeros(1, np.uint64))
        return self._pages

    def _with_codes(self, batches: Iterator[NameBatch]) -> Iterator[NameBatch]:
        """The batches, once there are codes made from the first: no thread may choose which batch that is."""
        for batch in batches:
            self._codes = self._codes or make_codes(batch.data, batch.offsets)
            yield batch

    def _encode(self, batch: NameBatch) -> tuple[NameBatch, NDArray[np.uint64], NDArray[np.int64]]:
        """A batch with its names encoded: each begins with a new block of names, and with a new word."""
        assert self._codes is not None
        characters, shared = self._codes
        words = np.zeros((len(batch.data) + 2 * len(batch)) * 20 // 64 + 2, np.uint64)
        starts = np.zeros(-(-len(batch) // name_codec.BLOCK), np.int64)
        bits = name_codec.encode_names(
            batch.data, batch.offsets, characters.codes, characters.lengths, shared.codes, shared.lengths, words, starts
        )
        return batch, words[: (bits + 63) >> 6], starts


def make_codes(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> tuple[Code, Code]:
    """Codes for the bytes and the shared lengths of names like these."""
    characters, shared = np.zeros(256, np.int64), np.zeros(256, np.int64)
    name_codec.count_characters(data, offsets, characters, shared)
    return Code.from_counts(characters), Code.from_counts(shared)


def written(writer: Writer) -> CodedNames:
    """The names just written."""
    return coded_names({name: writer.map(name) for name in ("name.words", "name.block", "name.code")})


def opaque_names(writer: Writer) -> int:
    """How many pages have an opaque name instead of an address: their keys come first."""
    firsts = writer.map("host.page")  # each is a host of its own
    names = written(writer)
    low, high = 0, len(firsts)
    while low < high:
        middle = (low + high) // 2
        if read_keys(names, int(firsts[middle]), 1)[0][0] < ord(" "):
            low = middle + 1
        else:
            high = middle
    return low


def write_look_up(writer: Writer, report: ReadReport) -> None:
    """Write the index from fingerprints to pages: about four pages a bucket."""
    writer.finish("fingerprint")
    fingerprints = writer.map("fingerprint")
    bits = max(1, (len(fingerprints) // 4).bit_length())
    starts = np.zeros((1 << bits) + 1, np.int64)
    count_buckets(fingerprints, 64 - bits, starts)
    pages = np.zeros(len(fingerprints), np.uint32)
    twins = fill_buckets(fingerprints, 64 - bits, starts, pages)
    if twins:  # by chance once in thousands of large webs; by somebody's will it must not stop a build
        report.skip("address has the fingerprint of another, which gets its links", "", int(twins))
    writer.append("look_up.start", starts.astype(np.uint32))
    writer.append("look_up.page", pages)
