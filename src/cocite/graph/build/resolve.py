"""Third pass of a build: fingerprints → page numbers, which of several captures counts, and where aliases lead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.build.scratch import ALIAS, BY_CANONICAL, NOINDEX, PARTIAL, STORED, LinkColumns, RecordColumns
from cocite.graph.build.spill import Spill
from cocite.graph.build.workers import Workers
from cocite.graph.build.write_lists import count_symbols
from cocite.graph.generation import Writer
from cocite.kernels.build import sorting
from cocite.kernels.codec import link_codec
from cocite.kernels.hash_tables import MISSING, fill_table, look_up

FETCHED = 128
"""Kind of a page that has a record of its own."""
CELLS = 1 << 16
SAMPLE_LINKS = 100_000
"""Links per block that are the sample for the code of links."""


class Block(NamedTuple):
    """A batch of records with their page numbers."""

    number: int
    first: int  # number of its first record
    records: RecordColumns
    page: NDArray[np.uint32]
    lead: NDArray[np.uint32]  # the page that an alias leads to


class Resolved:
    """A spill whose blocks have page numbers."""

    def __init__(self, spill: Spill, pages: int, workers: Workers) -> None:
        self.spill = spill
        self.pages = pages
        self.workers = workers
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
                block: int,
                first: bool = part == 0,
                last: bool = last,
                table: NDArray[np.uint64] = table,
                low: np.uint64 = low,
                high: np.uint64 = high,
            ) -> tuple[int, list[NDArray[np.int64]]]:
                records, links = self.spill.records_of(block), self.spill.links_of(block)
                targets = links.target
                count = len(records.fingerprint)
                pages = self._numbers(f"{block}.pages", 2 * count, first)
                numbers = self._numbers(f"{block}.targets", len(targets), first)
                look_up(table, records.fingerprint, low, high, pages[:count])
                look_up(table, records.alias, low, high, pages[count:])
                look_up(table, targets, low, high, numbers)
                self.spill.scratch.save(f"{block}.pages", pages)
                self.spill.scratch.save(f"{block}.targets", numbers)
                return len(targets), self._measure(records, links, pages[:count], numbers) if last else []

            for links, measures in self.workers.in_order(work, range(self.spill.blocks)):
                for total, measure in zip((self.out_cells, self.in_cells, self.symbols), measures, strict=False):
                    total += measure
                progress(links // parts)

    def _measure(
        self, records: RecordColumns, links: LinkColumns, pages: NDArray[np.uint32], targets: NDArray[np.uint32]
    ) -> list[NDArray[np.int64]]:
        """Links per cell of their source and of their target, and the symbols of a sample."""
        cells = len(self.out_cells)
        known = pages != MISSING
        out = np.bincount((pages >> self.shift)[known], np.diff(records.first_link)[known], cells).astype(np.int64)
        into = np.bincount((targets >> self.shift)[targets != MISSING], minlength=cells)
        sample = records.first_link[: int(np.searchsorted(records.first_link, SAMPLE_LINKS)) + 1]
        return [out, into, count_symbols(targets, links.attribute, sample, pages)]

    def _numbers(self, name: str, count: int, first: bool) -> NDArray[np.uint32]:
        """The page numbers found so far for a block's records or links."""
        return np.full(count, MISSING, np.uint32) if first else self.spill.scratch.load(name, np.uint32)[0]

    def blocks(self) -> Iterator[Block]:
        """Every block, in the order of its records."""
        first = 0
        for block in range(self.spill.blocks):
            records = self.spill.records_of(block)
            count = len(records.fingerprint)
            numbers = self._current(self.spill.scratch.load(f"{block}.pages", np.uint32)[0])
            yield Block(block, first, records, numbers[:count], numbers[count:])
            first += count

    def targets(self, block: int) -> NDArray[np.uint32]:
        """The pages that the links of a block lead to."""
        return self._current(self.spill.scratch.load(f"{block}.targets", np.uint32)[0])

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
        for block in self.blocks():
            rows = int(np.searchsorted(block.records.first_link, SAMPLE_LINKS))
            taken = self.taken(block)[:rows]
            sizes = np.diff(block.records.first_link[: rows + 1])
            links = np.repeat(taken, sizes)
            [attributes] = self.spill.scratch.load(f"{block.number}.attributes", np.uint32, limit=len(links))
            starts = np.append(0, np.cumsum(sizes[taken]))
            targets = self.targets(block.number)[: len(links)][links]
            self.symbols += count_symbols(targets, attributes[links], starts, block.page[:rows][taken])

    def choose_records(self, undated: int) -> None:
        """Let captures of one page compete, and collect aliases."""
        n = self.pages
        best_order, self.best_record = np.zeros(n, np.uint64), np.full(n, MISSING, np.uint32)
        aliases = False
        for block in self.blocks():
            aliases |= bool((block.records.kind & ALIAS).any())
            self._compete(block, (block.records.kind & PARTIAL) > 0, undated, best_order)
        self.captured = np.zeros(n, np.uint32)
        if aliases:
            self._find_aliases(undated, best_order)

    def _compete(self, block: Block, others: NDArray[np.bool_], undated: int, best_order: NDArray[np.uint64]) -> None:
        """Let the captures of a block compete, but for `others`."""
        order = capture_order(block.records, undated)
        sorting.choose_records(
            block.records.in_sequence(), block.page, order, others, block.first, best_order, self.best_record
        )

    def _find_aliases(self, undated: int, best_order: NDArray[np.uint64]) -> None:
        """Fill `alias`; of a circle the first page that has a capture is the end, or the first page of all."""
        n = self.pages
        alias, circle = np.arange(n, dtype=np.uint32), np.full(n, MISSING, np.uint32)
        for block in self.blocks():
            leads = self.won(block) & ((block.records.kind & ALIAS) > 0) & (block.lead != MISSING)
            pages = block.page[leads]
            alias[pages], self.captured[pages] = block.lead[leads], block.records.captured[leads]
        if sorting.find_circles(alias, circle):
            members = np.flatnonzero(circle != MISSING)
            self.best_record[members], best_order[members] = MISSING, 0
            for block in self.blocks():
                others = (block.page == MISSING) | ((block.records.kind & (PARTIAL | ALIAS)) > 0)
                others |= circle[np.where(others, 0, block.page)] == MISSING
                self._compete(block, others, undated, best_order)
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
        for block in self.blocks():
            records, page = block.records, block.page
            taken, partial = self.taken(block), (records.kind & PARTIAL) > 0
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

    def won(self, block: Block) -> NDArray[np.bool_]:
        """Which records won among the captures of their page."""
        known = block.page != MISSING
        numbers = np.arange(block.first, block.first + len(block.page), dtype=np.uint32)
        won: NDArray[np.bool_] = known & (self.best_record[np.where(known, block.page, 0)] == numbers)
        return won

    def taken(self, block: Block) -> NDArray[np.bool_]:
        """Which records' links count: the winners' and the partial ones', unless the page is an alias."""
        kind, page = block.records.kind, block.page
        taken: NDArray[np.bool_] = (self.won(block) | ((kind & PARTIAL) > 0)) & (page != MISSING)
        taken &= (kind & ALIAS) == 0
        if len(self.alias):
            safe = np.where(page == MISSING, 0, page)
            taken &= self.alias[safe] == safe
        return taken

    def referenced(self) -> NDArray[np.bool_] | None:
        """Which pages have a record or a link that counts, are an alias, or an alias's target; None if surely all.

        Others are named only by replaced captures, removed pages or unusable records, and are dropped: else the same
        pages would give another store by way of an export, or when they are added twice. Nearly every build reads each
        page once: then the records tell, and no link is read.
        """
        if not self.spill.loose and all(self._all_count(block) for block in self.blocks()):
            return None
        kept = np.zeros(self.pages, np.bool_)

        def work(block: Block) -> None:
            taken = self.taken(block)
            kept[block.page[taken]] = True
            targets = self.targets(block.number)[np.repeat(taken, np.diff(block.records.first_link))]
            kept[targets[targets != MISSING]] = True

        for _ in self.workers.in_order(work, self.blocks()):
            pass
        if len(self.alias):
            moved = np.flatnonzero(self.alias != np.arange(self.pages, dtype=np.uint32))
            kept[moved] = kept[self.alias[moved]] = True
        return kept

    def _all_count(self, block: Block) -> bool:
        """Whether every record of a block that names other pages counts."""
        linking = np.diff(block.records.first_link) > 0
        leading = self.won(block) & ((block.records.kind & ALIAS) > 0) & (block.lead != MISSING) & ~linking
        return not ((linking | (block.records.alias > 0)) & ~self.taken(block) & ~leading).any()


def cell_shift(pages: int) -> int:
    """A cell is 2^shift pages: not too many cells, and borders of cells are borders of shared offsets."""
    shift = 4
    while pages >> shift >= CELLS:
        shift += 1
    return shift


def capture_order(records: RecordColumns, undated: int) -> NDArray[np.uint64]:
    """Greater for what counts more: a page's own record, then the newer one; new ones without a date are `undated`."""
    fresh = (records.captured == 0) & ((records.kind & STORED) == 0)
    when = np.where(fresh, np.uint32(undated), records.captured).astype(np.uint64)
    direct = ((records.kind & BY_CANONICAL) == 0).astype(np.uint64)
    order: NDArray[np.uint64] = when + np.uint64(1) + (direct << np.uint64(40))
    return order
