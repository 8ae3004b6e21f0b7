"""Second pass of a build: names → page numbers, in the order of their keys.

Names come in order (`sort_names.py`); each page's first row (the spelling to show) is kept, and names, fingerprints,
hosts, domains and sites are written as they pass.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.build.number_sites import SiteWriter
from cocite.graph.build.ordered import in_order
from cocite.graph.build.sort_names import Batch, choose, in_batches, sorted_names
from cocite.graph.generation import Writer
from cocite.graph.huffman import Code
from cocite.graph.names import read_keys
from cocite.graph.texts import TextColumn, TextWriter
from cocite.kernels.addresses.hashing import count_buckets, fill_buckets
from cocite.kernels.codec import name_codec
from cocite.pages.key import APART
from cocite.pages.site import Sites
from cocite.sources.records import ReadReport

MOST_PAGES = (1 << 32) - 2
STEP = 1 << 16
"""Names that are read back at once."""


def number_pages(
    folder: Path,
    writer: Writer,
    sites: Sites,
    memory: int,
    threads: int,
    pool: ThreadPoolExecutor,
    progress: Callable[[int], None],
) -> int:
    """Write everything that is known of pages by name; returns how many there are."""
    with sorted_names(folder, memory, threads) as batches:
        pages = NameWriter(writer, sites, pool).write(batches, progress)
    pool.submit(shutil.rmtree, folder / "names", ignore_errors=True)
    return pages


def keep_pages(writer: Writer, sites: Sites, pool: ThreadPoolExecutor, kept: NDArray[np.bool_]) -> None:
    """Write names and the like again, for some of the pages only."""
    batches = written_names(writer, kept)
    for name in list(writer.arrays):  # they stay mapped until they have been read
        writer.discard(name)
    NameWriter(writer, sites, pool).write(in_batches(batches), lambda _: None)


def written_names(writer: Writer, kept: NDArray[np.bool_]) -> Iterator[Batch]:
    """The names of some pages, out of what was written."""
    words, starts, lengths, spellings, fingerprints = (
        writer.map(name) for name in ("name.words", "name.block", "name.code", "name.spelling", "fingerprint")
    )
    parts = [f"shown.{part}" for part in ("pages", "first", "offset", "data")]
    texts = TextColumn({name: writer.map(name) for name in parts}, "shown") if "shown.pages" in writer.arrays else None
    tables = Code.from_lengths(lengths[:257]).table, Code.from_lengths(lengths[257:]).table

    def batches() -> Iterator[Batch]:
        for first in range(0, len(kept), STEP):
            last = min(first + STEP, len(kept))
            data, offsets = read_keys((words, starts, *tables), first, last - first)
            own = spellings[first:last].astype(np.uint16)
            apart = np.flatnonzero(own == APART).tolist()
            shown: list[str | None] | None = [None] * len(own) if apart else None
            for i in apart:
                assert shown is not None and texts is not None
                shown[i] = texts[first + i]
            yield choose((data, offsets, own, fingerprints[first:last], shown), kept[first:last])

    return batches()


class NameWriter:
    """Writes the names of pages in order, and to which host, domain and site each page belongs."""

    def __init__(self, writer: Writer, sites: Sites, pool: ThreadPoolExecutor) -> None:
        self._writer = writer
        self._sites = SiteWriter(writer, sites)
        self._pool = pool
        self._codes: tuple[Code, Code] | None = None  # made from the first batch
        self._pages = 0
        self._bits = 0

    def write(self, batches: Iterator[Batch], progress: Callable[[int], None]) -> int:
        """Write all names; returns how many."""
        shown = TextWriter(self._writer, "shown")
        for batch, words, starts in in_order(self._encode, self._with_codes(batches), self._pool, 2):
            data, offsets, orders, fingerprints, texts = batch
            self._writer.append("name.block", (starts + self._bits).astype(np.uint64))
            self._writer.append("name.words", words)
            self._bits += len(words) * 64
            self._writer.append("fingerprint", fingerprints)
            self._writer.append("name.spelling", (orders & np.uint16(0xFF)).astype(np.uint8))
            if texts is not None:
                for i, text in enumerate(texts):
                    if text is not None:
                        shown.append(self._pages + i, text.encode())
            self._sites.append(data, offsets)
            self._pages += len(orders)
            if self._pages > MOST_PAGES:
                raise BadStore(f"more than {MOST_PAGES:,} pages do not fit into one store: build several")
            progress(len(orders))
        shown.close()
        if self._codes is not None:
            self._writer.append("name.code", np.concatenate([code.lengths for code in self._codes]))
            self._writer.append("name.words", np.zeros(1, np.uint64))
        return self._pages

    def _with_codes(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The batches, once there are codes made from the first: no thread may choose which batch that is."""
        for batch in batches:
            self._codes = self._codes or make_codes(batch[0], batch[1])
            yield batch

    def _encode(self, batch: Batch) -> tuple[Batch, NDArray[np.uint64], NDArray[np.int64]]:
        """A batch with its names encoded: each begins with a new block of names, and with a new word."""
        data, offsets = batch[0], batch[1]
        assert self._codes is not None
        characters, shared = self._codes
        count = len(offsets) - 1
        words = np.zeros((len(data) + 2 * count) * 20 // 64 + 2, np.uint64)
        starts = np.zeros(-(-count // name_codec.BLOCK), np.int64)
        bits = name_codec.encode_names(
            data, offsets, characters.codes, characters.lengths, shared.codes, shared.lengths, words, starts
        )
        return batch, words[: (bits + 63) >> 6], starts


def make_codes(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> tuple[Code, Code]:
    """Codes for the bytes and the shared lengths of names like these."""
    characters, shared = np.zeros(256, np.int64), np.zeros(256, np.int64)
    name_codec.count_characters(data, offsets, characters, shared)
    return Code.from_counts(characters), Code.from_counts(shared)


def opaque_names(writer: Writer) -> int:
    """How many pages have an opaque name instead of an address: their keys come first."""
    firsts = writer.map("host.page")  # each is a host of its own
    words, starts, lengths = (writer.map(name) for name in ("name.words", "name.block", "name.code"))
    coded = words, starts, Code.from_lengths(lengths[:257]).table, Code.from_lengths(lengths[257:]).table
    low, high = 0, len(firsts)
    while low < high:
        middle = (low + high) // 2
        if read_keys(coded, int(firsts[middle]), 1)[0][0] < ord(" "):
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
