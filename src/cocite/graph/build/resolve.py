"""Third pass of a build: fingerprints → page numbers, which of several captures counts, and where aliases lead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cocite.graph.build.blocks import (
    ALIAS,
    BY_CANONICAL,
    NOINDEX,
    PARTIAL,
    STORED,
    Links,
    Records,
    in_sequence,
    load_attributes,
    load_links,
    load_numbers,
    load_records,
    save_numbers,
)
from cocite.graph.build.ordered import in_order
from cocite.graph.build.spill import Spill
from cocite.graph.generation import Writer
from cocite.kernels.addresses.hashing import MISSING, fill_table, look_up
from cocite.kernels.build import sorting
from cocite.kernels.codec import link_codec

FETCHED = 128
"""Kind of a page that has a record of its own."""
CELLS = 1 << 16
SAMPLE = 100_000
"""Links per block from which the code of links is made."""


class Resolved:
    """A spill whose blocks have page numbers."""

    def __init__(self, spill: Spill, pages: int, pool: ThreadPoolExecutor, threads: int) -> None:
        self.spill = spill
        self.pages = pages
        self.pool = pool
        self.threads = threads
        self.alias = np.zeros(0, np.uint32)  # where every page leads, empty if all lead to themselves
        self.best_record = np.zeros(0, np.uint32)
        self.captured = np.zeros(0, np.uint32)
        self.shift = cell_shift(pages)
        self.out_cells = np.zeros((pages >> self.shift) + 1, np.int64)  # links by cell of their source, nearly exact
        self.in_cells = np.zeros_like(self.out_cells)
        self._renumbered = np.zeros(0, np.uint32)  # from the numbers that the blocks have; empty if those still hold
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
                pages = numbers_of(file, ".pages", 2 * count, first)
                numbers = numbers_of(file, ".targets", len(targets), first)
                look_up(table, records.fingerprint, low, high, pages[:count])
                look_up(table, records.alias, low, high, pages[count:])
                look_up(table, targets, low, high, numbers)
                save_numbers(pages, file.with_suffix(".pages"))
                save_numbers(numbers, file.with_suffix(".targets"))
                return len(targets), self._measure(records, links, pages[:count], numbers) if last else []

            for links, measures in in_order(work, self.spill.block_files(), self.pool, self.threads):
                for total, measure in zip((self.out_cells, self.in_cells, self.symbols), measures, strict=False):
                    total += measure
                progress(links // parts)

    def _measure(
        self, records: Records, links: Links, pages: NDArray[np.uint32], targets: NDArray[np.uint32]
    ) -> list[NDArray[np.int64]]:
        """Links per cell of their source and of their target, and the symbols of a sample."""
        cells = len(self.out_cells)
        known = pages != MISSING
        out = np.bincount((pages >> self.shift)[known], np.diff(records.first_link)[known], cells).astype(np.int64)
        into = np.bincount((targets >> self.shift)[targets != MISSING], minlength=cells)
        symbols = np.zeros_like(self.symbols)
        sample = records.first_link[: int(np.searchsorted(records.first_link, SAMPLE)) + 1]
        count_sample(targets, links.attribute, sample, pages, symbols)
        return [out, into, symbols]

    def blocks(self) -> Iterator[tuple[int, Path, Records, NDArray[np.uint32], NDArray[np.uint32]]]:
        """(number of its first record, file, records, their pages, where they lead) of every block."""
        first = 0
        for file in self.spill.block_files():
            records = load_records(file)
            count = len(records.fingerprint)
            numbers = self._current(load_numbers(file.with_suffix(".pages")))
            yield first, file, records, numbers[:count], numbers[count:]
            first += count

    def targets(self, file: Path) -> NDArray[np.uint32]:
        """The pages that the links of a block lead to."""
        return self._current(load_numbers(file.with_suffix(".targets")))

    def _current(self, numbers: NDArray[np.uint32]) -> NDArray[np.uint32]:
        if not len(self._renumbered):
            return numbers
        missing = numbers == MISSING
        return np.where(missing, np.uint32(MISSING), self._renumbered[np.where(missing, 0, numbers)])

    def keep_only(self, kept: NDArray[np.bool_]) -> None:
        """Go on with some of the pages, which get new numbers; links that count lead to none of the others."""
        numbers = np.cumsum(kept, dtype=np.int64) - 1
        self._renumbered = np.where(kept, numbers, MISSING).astype(np.uint32)
        self.pages = int(numbers[-1]) + 1
        self.best_record, self.captured = self.best_record[kept], self.captured[kept]
        if len(self.alias):
            self.alias = self._renumbered[self.alias[kept]]
        of_cell = np.maximum(numbers[:: 1 << self.shift], 0)  # a cell's links go with its first page
        self.shift = cell_shift(self.pages)
        for name in ("out_cells", "in_cells"):
            cells = np.zeros((self.pages >> self.shift) + 1, np.int64)
            old = getattr(self, name)[: len(of_cell)]
            np.add.at(cells, of_cell >> self.shift, old)
            setattr(self, name, cells)

    def measure_again(self) -> None:
        """Take the sample of symbols from links that count alone, so that the same links get the same code."""
        self.symbols[:] = 0
        for first, file, records, page, _ in self.blocks():
            rows = int(np.searchsorted(records.first_link, SAMPLE))
            taken = self.taken(first, records, page)[:rows]
            sizes = np.diff(records.first_link[: rows + 1])
            links = np.repeat(taken, sizes)
            sample = self.targets(file)[: len(links)][links], load_attributes(file, len(links))[links]
            count_sample(*sample, np.append(0, np.cumsum(sizes[taken])), page[:rows][taken], self.symbols)

    def choose_records(self, undated: int) -> None:
        """Let captures of one page compete, and collect aliases."""
        n = self.pages
        best_order, self.best_record = np.zeros(n, np.uint64), np.full(n, MISSING, np.uint32)
        aliases = False
        for first, _, records, page, _ in self.blocks():
            aliases |= bool((records.kind & ALIAS).any())
            partial = (records.kind & PARTIAL) > 0
            order = capture_order(records, undated)
            sorting.choose_records(in_sequence(records), page, order, partial, first, best_order, self.best_record)
        self.captured = np.zeros(n, np.uint32)
        if aliases:
            self._find_aliases(undated, best_order)

    def _find_aliases(self, undated: int, best_order: NDArray[np.uint64]) -> None:
        """Fill `alias`; of a circle the first page that has a capture is the end, or the first page of all."""
        n = self.pages
        alias, circle = np.arange(n, dtype=np.uint32), np.full(n, MISSING, np.uint32)
        for first, _, records, page, lead in self.blocks():
            leads = self.won(first, page) & ((records.kind & ALIAS) > 0) & (lead != MISSING)
            alias[page[leads]], self.captured[page[leads]] = lead[leads], records.captured[leads]
        if sorting.find_circles(alias, circle):
            members = np.flatnonzero(circle != MISSING)
            self.best_record[members], best_order[members] = MISSING, 0
            for first, _, records, page, _ in self.blocks():
                others = (page == MISSING) | ((records.kind & (PARTIAL | ALIAS)) > 0)
                others |= circle[np.where(others, 0, page)] == MISSING
                order = capture_order(records, undated)
                sorting.choose_records(in_sequence(records), page, order, others, first, best_order, self.best_record)
            firsts, bare = circle[members], self.best_record[members] == MISSING
            by_circle = np.lexsort((members, bare, firsts))
            _, at, of_circle = np.unique(firsts[by_circle], return_index=True, return_inverse=True)
            alias[members[by_circle]] = members[by_circle][at][of_circle]
        if sorting.resolve_aliases(alias):
            self.alias = alias

    def write_records(self, writer: Writer) -> None:
        """Write where aliases lead, and kind, date, status and language of pages that have a record."""
        n, captured = self.pages, self.captured
        kind, status, language = np.zeros(n, np.uint8), np.zeros(n, np.uint16), np.zeros(n, np.uint32)
        for first, _, records, page, _ in self.blocks():
            taken, partial = self.taken(first, records, page), (records.kind & PARTIAL) > 0
            alone = taken & partial  # a partial record says something only of a page that has no other
            alone[alone] = (kind[page[alone]] == 0) | ((kind[page[alone]] & PARTIAL) > 0)
            for rows in (alone, taken & ~partial):
                at = page[rows]
                kind[at] = (records.kind[rows] & np.uint8(PARTIAL | NOINDEX | BY_CANONICAL)) | np.uint8(FETCHED)
                captured[at], status[at] = records.captured[rows], records.status[rows]
                language[at] = records.language[rows]
        if len(self.alias):
            pages = np.flatnonzero(self.alias != np.arange(n, dtype=np.uint32)).astype(np.uint32)
            writer.append("alias.page", pages)
            writer.append("alias.target", self.alias[pages])
        writer.append("page.kind", kind & ~np.uint8(PARTIAL))
        for name, values in (("page.captured", captured), ("page.status", status), ("page.language", language)):
            if values.any():
                writer.append(name, values)

    def won(self, first: int, page: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Which records are those that count among the captures of their page."""
        known = page != MISSING
        numbers = np.arange(first, first + len(page), dtype=np.uint32)
        won: NDArray[np.bool_] = known & (self.best_record[np.where(known, page, 0)] == numbers)
        return won

    def taken(self, first: int, records: Records, page: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Which records' links count: the winners' and the partial ones', unless the page is an alias."""
        taken: NDArray[np.bool_] = (self.won(first, page) | ((records.kind & PARTIAL) > 0)) & (page != MISSING)
        taken &= (records.kind & ALIAS) == 0
        if len(self.alias):
            safe = np.where(page == MISSING, 0, page)
            taken &= self.alias[safe] == safe
        return taken


def cell_shift(pages: int) -> int:
    """A cell is 2^shift pages: not too many cells, and borders of cells are borders of shared offsets."""
    shift = 4
    while pages >> shift >= CELLS:
        shift += 1
    return shift


def count_sample(
    targets: NDArray[np.uint32],
    attributes: NDArray[np.uint32],
    starts: NDArray[np.int64],
    pages: NDArray[np.uint32],
    symbols: NDArray[np.int64],
) -> None:
    """Add up the symbols that the code of links out has to write for some lists."""
    flat = np.full(link_codec.SYMBOLS + 1, 6, np.uint8)
    link_codec.count_symbols(targets, attributes, starts, pages, flat, symbols)


def numbers_of(file: Path, suffix: str, count: int, first: bool) -> NDArray[np.uint32]:
    """The page numbers found so far for a block's records or links."""
    return np.full(count, MISSING, np.uint32) if first else load_numbers(file.with_suffix(suffix))


def capture_order(records: Records, undated: int) -> NDArray[np.uint64]:
    """Greater for what counts more: a page's own record, then the newer one; new ones without a date are `undated`."""
    fresh = (records.captured == 0) & ((records.kind & STORED) == 0)
    when = np.where(fresh, np.uint32(undated), records.captured).astype(np.uint64)
    direct = ((records.kind & BY_CANONICAL) == 0).astype(np.uint64)
    order: NDArray[np.uint64] = when + np.uint64(1) + (direct << np.uint64(40))
    return order
