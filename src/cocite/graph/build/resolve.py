"""Third pass of a build: tags → page numbers, which of several captures counts, and where aliases lead."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import HAS_RECORD
from cocite.graph.build import scratch
from cocite.graph.build.scratch import ALIAS_ONLY, PARTIAL, RecordColumns, Workers
from cocite.graph.build.spill import Spill
from cocite.graph.generation import Progress, Writer
from cocite.kernels.build import sorting
from cocite.kernels.hash_tables import MISSING, fill_table, look_up

MAX_CELLS = 1 << 16
TABLE_BYTES_PER_PAGE = 48  # from tags to pages: 16 bytes an entry, the table a third to two thirds full
Mask = NDArray[np.bool_]
Pages = NDArray[np.uint32]


class Block(NamedTuple):
    """A batch of records with their page numbers."""

    number: int
    first: int  # number of its first record
    records: RecordColumns
    page: Pages
    lead: Pages  # the page that an alias leads to


class NumberedSpill:
    """A spill whose blocks have page numbers."""

    def __init__(self, spill: Spill, pages: int, workers: Workers) -> None:
        self.spill, self.scratch, self.pages, self.workers = spill, spill.scratch, pages, workers
        self.alias = np.zeros(0, np.uint32)  # where every page leads, empty if all lead to themselves
        self.best_record = np.full(pages, MISSING, np.uint32)
        self.captured = np.zeros(pages, np.uint32)
        self.shift = cell_shift(pages)
        self.out_cells = np.zeros((pages >> self.shift) + 1, np.int64)  # links by cell of their source, nearly exact
        self.in_cells = np.zeros_like(self.out_cells)
        self._twins = 0
        self._renumbered = np.zeros(0, np.uint32)  # from the numbers that the blocks have; empty if those still hold

    def number(self, tags: NDArray[np.uint64], memory: int, progress: Progress) -> int:
        """Write each block's page numbers beside it, part by part if one table of all pages would be too large.

        Returns the number of pages that have the tag of another by chance: they are skipped.
        """
        parts = 1 << ((self.pages * TABLE_BYTES_PER_PAGE - 1) // memory).bit_length()
        for part in range(parts):
            for links in self._number_part(part, parts, tags):
                progress("resolving links", links // parts, self.spill.links)
        self.spill.loose |= self._twins > 0  # nothing refers to them
        return self._twins

    def _number_part(self, part: int, parts: int, tags: NDArray[np.uint64]) -> Iterator[int]:
        """Number the tags of one range; those of earlier ranges have their numbers in the scratch files."""
        low, high = (np.uint64((1 << 64) // parts * part), np.uint64((1 << 64) // parts * (part + 1) - 1))
        table = np.zeros(2 << max(10, (3 * self.pages // (2 * parts)).bit_length()), np.uint64)
        self._twins += int(fill_table(table, tags, low, high))

        def find(name: str, *wanted: NDArray[np.uint64]) -> list[Pages]:
            total = sum(map(len, wanted))
            numbers = self.scratch.load(name)[0] if part else np.full(total, MISSING, np.uint32)
            found = np.split(numbers, np.cumsum([len(some) for some in wanted])[:-1])
            for some, places in zip(wanted, found, strict=True):
                look_up(table, some, low, high, places)
            self.scratch.save(name, numbers)
            return found

        def work(block: int) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
            records, links = self.spill.records_of(block), self.spill.targets_of(block)
            pages, _ = find(f"{block}.pages", records.tag, records.alias)
            [targets] = find(f"{block}.targets", links)
            own, out, into = pages != MISSING, self.out_cells, np.zeros_like(self.in_cells)
            if part == parts - 1:  # before, some numbers are missing
                out = np.bincount((pages >> self.shift)[own], np.diff(records.first_link)[own], len(into))
                sorting.count_cells(targets, self.shift, into)
            return len(links), out, into

        for links, out, into in self.workers.in_order(work, range(self.spill.blocks)):
            if part == parts - 1:  # before, some numbers are missing
                self.out_cells += out.astype(np.int64)
                self.in_cells += into
            yield links

    def blocks(self) -> Iterator[Block]:
        """Every block, in the order of its records."""
        first = 0
        for block in range(self.spill.blocks):
            records = self.spill.records_of(block)
            page, lead = np.split(self._current(f"{block}.pages"), 2)
            yield Block(block, first, records, page, lead)
            first += len(page)

    def targets(self, block: int) -> Pages:
        """The pages that the links of a block lead to."""
        return self._current(f"{block}.targets")

    def _current(self, name: str) -> Pages:
        [numbers] = self.scratch.load(name)
        if not len(self._renumbered):
            return numbers
        missing = numbers == MISSING
        return np.where(missing, np.uint32(MISSING), self._renumbered[np.where(missing, 0, numbers)])

    def keep_only(self, kept: Mask) -> None:
        """Go on with some of the pages, which get new numbers; links that count lead to none of the others."""
        numbers = np.cumsum(kept, dtype=np.int64) - 1
        self._renumbered = np.where(kept, numbers, MISSING).astype(np.uint32)
        self.pages = int(numbers[-1]) + 1
        self.best_record, self.captured = self.best_record[kept], self.captured[kept]
        if len(self.alias):
            self.alias = self._renumbered[self.alias[kept]]
        of_cell = np.maximum(numbers[:: 1 << self.shift], 0)  # a cell's links go with its first page
        self.shift = cell_shift(self.pages)
        cells = (self.pages >> self.shift) + 1
        self.out_cells, self.in_cells = (
            np.bincount(of_cell >> self.shift, old[: len(of_cell)], cells).astype(np.int64)
            for old in (self.out_cells, self.in_cells)
        )

    def choose_records(self, undated: int) -> None:
        """Let captures of one page compete, and collect aliases. Fresh records without a date count as `undated`."""
        best_order, aliases = np.zeros(self.pages, np.uint64), False
        for block in self.blocks():
            aliases |= bool(block.records.has(ALIAS_ONLY).any())
            self._compete(block, block.records.has(PARTIAL), undated, best_order)
        if aliases:
            self._find_aliases(undated, best_order)

    def _compete(self, block: Block, others: Mask, undated: int, best_order: NDArray[np.uint64]) -> None:
        """Let the captures of a block compete, but for `others`: a page's own record wins, then the newer one."""
        records = block.records
        is_undated = (records.captured == 0) & ~records.has(scratch.STORED)
        when = np.where(is_undated, np.uint32(undated), records.captured).astype(np.uint64)
        order = when + np.uint64(1) + (np.uint64(1 << 40) * ~records.has(scratch.BY_CANONICAL))
        sequence = records.in_sequence()
        sorting.choose_records(sequence, block.page, order, others, block.first, best_order, self.best_record)

    def _find_aliases(self, undated: int, best_order: NDArray[np.uint64]) -> None:
        """Fill `alias`; of a circle the first page that has a capture is the end, or the first page of all."""
        alias, circle = np.arange(self.pages, dtype=np.uint32), np.full(self.pages, MISSING, np.uint32)
        for block in self.blocks():
            leads = self._leads(block)
            pages = block.page[leads]
            alias[pages], self.captured[pages] = block.lead[leads], block.records.captured[leads]
        if sorting.find_circles(alias, circle):
            members = np.flatnonzero(circle != MISSING)
            self.best_record[members], best_order[members] = MISSING, 0
            for block in self.blocks():
                others = (block.page == MISSING) | block.records.has(PARTIAL | ALIAS_ONLY)
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
        n = self.pages
        kind, status, language = np.zeros(n, np.uint8), np.zeros(n, np.uint16), np.zeros(n, np.uint32)
        for block in self.blocks():
            records, page = block.records, block.page
            taken, partial = self.taken(block), records.has(PARTIAL)
            fallback = taken & partial  # a partial record describes a page only if it has no other
            fallback[fallback] = (kind[page[fallback]] == 0) | ((kind[page[fallback]] & PARTIAL) > 0)
            for rows in (fallback, taken & ~partial):
                at = page[rows]
                kind[at] = (records.kind[rows] & np.uint8(PARTIAL | scratch.PAGE_KINDS)) | np.uint8(HAS_RECORD)
                self.captured[at], status[at] = records.captured[rows], records.status[rows]
                language[at] = records.language[rows]
        if len(self.alias):
            pages = self._moved().astype(np.uint32)
            writer.append("alias.page", pages)
            writer.append("alias.target", self.alias[pages])
        writer.append("page.kind", kind & ~np.uint8(PARTIAL))
        for name, values in (("captured", self.captured), ("status", status), ("language", language)):
            if values.any():
                writer.append(f"page.{name}", values)

    def _moved(self) -> NDArray[np.int64]:
        """The pages that are aliases."""
        return np.flatnonzero(self.alias != np.arange(len(self.alias), dtype=np.uint32))

    def _won(self, block: Block) -> Mask:
        """Which records won among the captures of their page."""
        known = block.page != MISSING
        numbers = np.arange(block.first, block.first + len(block.page), dtype=np.uint32)
        won: Mask = known & (self.best_record[np.where(known, block.page, 0)] == numbers)
        return won

    def _leads(self, block: Block) -> Mask:
        """Which records won, and make an alias of their page."""
        leads: Mask = self._won(block) & block.records.has(ALIAS_ONLY) & (block.lead != MISSING)
        return leads

    def taken(self, block: Block) -> Mask:
        """Which records' links count: the winners' and the partial ones', unless the page is an alias."""
        records, page = block.records, block.page
        taken: Mask = (self._won(block) | records.has(PARTIAL)) & (page != MISSING) & ~records.has(ALIAS_ONLY)
        if len(self.alias):
            safe = np.where(page == MISSING, 0, page)
            taken &= self.alias[safe] == safe
        return taken

    def referenced(self) -> Mask | None:
        """Which pages have a record or a link that counts, are an alias, or an alias's target; None if surely all.

        Others are named only by replaced captures, removed pages or unusable records, and are dropped: else the same
        pages would give another store by way of an export, or when they are added twice. Nearly every build reads each
        page once: then the records decide, and no link is read.
        """

        def all_count(block: Block) -> bool:
            """Whether every record of a block that names other pages counts."""
            linking = np.diff(block.records.first_link) > 0
            naming = linking | (block.records.alias > 0)
            return not (naming & ~self.taken(block) & ~(self._leads(block) & ~linking)).any()

        if not self.spill.loose and all(map(all_count, self.blocks())):
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
            moved = self._moved()
            kept[moved] = kept[self.alias[moved]] = True
        return kept


def cell_shift(pages: int) -> int:
    """A cell is 2^shift pages: not too many cells, and borders of cells are borders of shared offsets."""
    return max(4, (pages // MAX_CELLS).bit_length())
