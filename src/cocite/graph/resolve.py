"""Third pass of a build: fingerprints → page numbers, which of several captures counts, and where aliases lead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.graph.generation import Writer
from cocite.graph.spill import ALIAS, BY_CANONICAL, PARTIAL, STORED, Links, Records, Spill, load_links, load_records
from cocite.kernels import link_codec, sorting
from cocite.kernels.hashing import MISSING, fill_table, look_up

FETCHED = 128
"""Kind of a page that has a record of its own."""
CELLS = 1 << 16
SAMPLE = 100_000
"""Links per block from which the code of links is made."""
Input = TypeVar("Input")
Output = TypeVar("Output")


def in_order(
    work: Callable[[Input], Output], items: Iterable[Input], pool: ThreadPoolExecutor, ahead: int
) -> Iterator[Output]:
    """Results of `work` in the order of `items`, with a few items under way at once."""
    waiting: list[Future[Output]] = []
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > ahead:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()


class Resolved:
    """A spill whose blocks have page numbers."""

    def __init__(self, spill: Spill, pages: int, pool: ThreadPoolExecutor, threads: int) -> None:
        self.spill = spill
        self.pages = pages
        self.pool = pool
        self.threads = threads
        self.alias = np.zeros(0, np.uint32)  # where every page leads, empty if all lead to themselves
        self.best_record = np.zeros(0, np.uint32)
        self.shift = 4  # a cell is 2^shift pages; borders of cells are borders of shared offsets
        while pages >> self.shift >= CELLS:
            self.shift += 1
        self.out_cells = np.zeros((pages >> self.shift) + 1, np.int64)  # links by cell of their source, nearly exact
        self.in_cells = np.zeros_like(self.out_cells)
        self.symbols = np.zeros(link_codec.SYMBOLS, np.int64)  # a sample of what the code of links out has to write

    def number(self, fingerprints: NDArray[np.uint64], memory: int, progress: Callable[[int], None]) -> None:
        """Write each block's page numbers beside it, part by part if one table of all pages would be too large."""
        parts = 1
        while self.pages * 48 // parts > memory:  # 16 bytes an entry, the table a third to two thirds full
            parts *= 2
        for part in range(parts):
            low = np.uint64((1 << 64) // parts * part)
            high = np.uint64((1 << 64) // parts * (part + 1) - 1)
            size = 1024
            while size < 1.5 * self.pages / parts:
                size *= 2
            table = np.zeros(2 * size, np.uint64)
            fill_table(table, fingerprints, low, high)
            last = part == parts - 1

            def work(
                file: Path,
                first: bool = part == 0,
                last: bool = last,
                table: NDArray[np.uint64] = table,
                low: np.uint64 = low,
                high: np.uint64 = high,
            ) -> tuple[int, list[NDArray[np.int64]]]:
                records, links = load_records(file), load_links(file)
                targets = links.target
                count = len(records.fingerprint)
                out = file.with_suffix(".npy")
                numbers = np.full(2 * count + len(targets), MISSING, np.uint32) if first else np.load(out)
                look_up(table, records.fingerprint, low, high, numbers[:count])
                look_up(table, records.alias, low, high, numbers[count : 2 * count])
                look_up(table, targets, low, high, numbers[2 * count :])
                np.save(out, numbers)
                return len(targets), self._measure(records, links, numbers) if last else []

            for links, measures in in_order(work, self.spill.block_files(), self.pool, self.threads):
                for total, measure in zip((self.out_cells, self.in_cells, self.symbols), measures, strict=False):
                    total += measure
                progress(links // parts)

    def _measure(self, records: Records, links: Links, numbers: NDArray[np.uint32]) -> list[NDArray[np.int64]]:
        """Links per cell of their source and of their target, and the symbols of a sample."""
        count = len(records.fingerprint)
        cells = len(self.out_cells)
        pages, targets = numbers[:count], numbers[2 * count :]
        known = pages != MISSING
        out = np.bincount((pages >> self.shift)[known], np.diff(records.first_link)[known], cells).astype(np.int64)
        into = np.bincount((targets >> self.shift)[targets != MISSING], minlength=cells)
        symbols = np.zeros_like(self.symbols)
        sample = records.first_link[: int(np.searchsorted(records.first_link, SAMPLE)) + 1]
        flat = np.full(link_codec.SYMBOLS + 1, 6, np.uint8)
        link_codec.count_symbols(targets, links.attribute, sample, pages, flat, symbols)
        return [out, into, symbols]

    def blocks(self) -> Iterator[tuple[int, Path, Records, NDArray[np.uint32], NDArray[np.uint32]]]:
        """(number of its first record, file, records, their pages, where they lead) of every block."""
        first = 0
        for file in self.spill.block_files():
            records = load_records(file)
            count = len(records.fingerprint)
            numbers = np.load(file.with_suffix(".npy"), mmap_mode="r")
            yield first, file, records, np.array(numbers[:count]), np.array(numbers[count : 2 * count])
            first += count

    def choose_records(self, writer: Writer, undated: int) -> None:
        """Let captures of one page compete, collect aliases, and write what is kept of the records themselves."""
        n = self.pages
        best_order, self.best_record = np.zeros(n, np.uint64), np.full(n, MISSING, np.uint32)
        for first, _, records, page, _ in self.blocks():
            fresh = (records.captured == 0) & ((records.kind & STORED) == 0)
            when = np.where(fresh, np.uint32(undated), records.captured).astype(np.uint64)
            direct = ((records.kind & BY_CANONICAL) == 0).astype(np.uint64)
            order = when + np.uint64(1) + (direct << np.uint64(40))
            sorting.choose_records(page, order, (records.kind & PARTIAL) > 0, first, best_order, self.best_record)
        alias = np.arange(n, dtype=np.uint32)
        kind, status = np.zeros(n, np.uint8), np.zeros(n, np.uint16)
        captured, language = np.zeros(n, np.uint32), np.zeros(n, np.uint32)
        for first, _, records, page, lead in self.blocks():
            won = self._won(first, page)
            leads = won & ((records.kind & ALIAS) > 0) & (lead != MISSING)
            alias[page[leads]] = lead[leads]
            rows = (won | ((records.kind & PARTIAL) > 0)) & ((records.kind & ALIAS) == 0) & (page != MISSING)
            at = page[rows]
            kind[at] = (records.kind[rows] & ~np.uint8(BY_CANONICAL | PARTIAL | STORED)) | np.uint8(FETCHED)
            captured[at], status[at], language[at] = (
                records.captured[rows],
                records.status[rows],
                records.language[rows],
            )
        if sorting.resolve_aliases(alias):
            self.alias = alias
            pages = np.flatnonzero(alias != np.arange(n, dtype=np.uint32)).astype(np.uint32)
            writer.append("alias.page", pages)
            writer.append("alias.target", alias[pages])
            kind[pages] = 0
        writer.append("page.kind", kind)
        for name, values in (("page.captured", captured), ("page.status", status), ("page.language", language)):
            if values.any():
                writer.append(name, values)

    def _won(self, first: int, page: NDArray[np.uint32]) -> NDArray[np.bool_]:
        known = page != MISSING
        numbers = np.arange(first, first + len(page), dtype=np.uint32)
        won: NDArray[np.bool_] = known & (self.best_record[np.where(known, page, 0)] == numbers)
        return won

    def taken(self, first: int, records: Records, page: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Which records' links count: the winners' and the partial ones', unless the page is an alias."""
        taken: NDArray[np.bool_] = (self._won(first, page) | ((records.kind & PARTIAL) > 0)) & (page != MISSING)
        taken &= (records.kind & ALIAS) == 0
        if len(self.alias):
            safe = np.where(page == MISSING, 0, page)
            taken &= self.alias[safe] == safe
        return taken
