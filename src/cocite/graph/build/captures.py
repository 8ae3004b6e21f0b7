"""Captures that a store keeps: a build with history writes them, and a store of a date in the past is built from them.

`CaptureWriter.scatter` brings the records of a build into columns by range of pages, before the passes drop what only
older captures have. `CaptureWriter.write` encodes them when the store's own lists and texts are there, since the newest
capture is written as what differs from those. `put_captures` reads them back into the spill of another build, so that
captures of a date give the store that a build from them gives: the same code decides which capture counts, where
aliases lead and what near-duplicates are.
"""

import time
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cocite.errors import BadSource
from cocite.graph.arrays import HAS_RECORD, find_in, places_of
from cocite.graph.build.gather_texts import Texts, kept_lines
from cocite.graph.build.names import SPELLED, key_array, spelling_orders, text_buffers
from cocite.graph.build.number import in_batches, name_batches, write_names
from cocite.graph.build.resolve import Block, NumberedSpill
from cocite.graph.build.scratch import ALIAS_ONLY, BY_CANONICAL, PARTIAL, STORED, LinkColumns, RecordColumns
from cocite.graph.build.sort_links import Buckets, starts_of
from cocite.graph.build.spill import LINK_TEXTS, RECORD_TEXTS, Spill
from cocite.graph.changes.history import (
    CHUNK_PAGES,
    NAME_ARRAYS,
    CaptureHistory,
    CaptureRows,
    as_date,
    coding_context,
    store_links,
)
from cocite.graph.generation import MemoryWriter, Progress, Writer, no_progress
from cocite.graph.store import Graph
from cocite.graph.texts import TextColumn, TextWriter
from cocite.kernels.codec import history_writer
from cocite.kernels.codec.history_codec import (
    MAX_PAGE_CAPTURES,
    MAX_PAGE_LINKS,
    NO_LEAD,
    Captures,
    CodingContext,
    new_model,
)
from cocite.kernels.hash_tables import MISSING
from cocite.pages.date import DAY_SECONDS
from cocite.pages.key import APART
from cocite.pages.site import Sites

BYTES_PER_LINK = 256  # memory for encoding one link of a capture, all arrays together
MIN_BUCKET_LINKS = 1 << 16
NAME_CHUNK = 1 << 16
CRAWL_PAUSE = 7  # days without captures that end a crawl
RECORD_COLUMNS: dict[str, type[np.generic]] = {
    "page": np.uint32, "facts": np.uint64, "lead": np.uint32, "captured": np.uint32, "sequence": np.uint64,
    "count": np.uint32,
}  # fmt: skip
LINK_COLUMNS: dict[str, type[np.generic]] = {
    "target": np.uint32, "attribute": np.uint32, "position": np.uint32, "weight": np.float32,
}  # fmt: skip
EXTRA_NAMES = "history.extra.names.table"
Columns = dict[str, NDArray[Any]]


class CaptureRange(NamedTuple):
    """The captures of a range of pages in order, with what their links and texts need."""

    number: int
    low: int
    high: int
    captures: Captures
    position: NDArray[np.uint32]  # of each link on its page
    weight: NDArray[np.float32]
    sequence: NDArray[np.uint64]  # of each capture among all records

    @property
    def entries(self) -> NDArray[np.int64]:
        """The pages that have an entry point, from `low` on."""
        return np.flatnonzero(np.arange(self.low, self.high) % CHUNK_PAGES == 0)


class CaptureWriter:
    """Writes the captures of one build."""

    def __init__(self, numbered: NumberedSpill, sites: Sites, memory: int) -> None:
        self._numbered, self._scratch, self._sites = numbered, numbered.scratch, sites
        self.pages = numbered.pages
        # Ranges of pages begin at entry points into the captures.
        shift = max(numbered.shift, CHUNK_PAGES.bit_length() - 1)
        cells = np.bincount(np.arange(len(numbered.out_cells)) >> (shift - numbered.shift), numbered.out_cells)
        limit = max(MIN_BUCKET_LINKS, memory // BYTES_PER_LINK)
        self._buckets = Buckets.cut(cells.astype(np.int64), shift, numbered.pages, limit)
        self._tables: list[list[str]] = [[] for _ in self._buckets.numbers]
        self._days: set[int] = {0}
        self.count = self.undated = self.future = self._all_links = self._distinct = self._longest = 0
        self._kept = np.ones(0, np.bool_)
        self._steps: list[tuple[int, int, int, str]] = []  # page, day, order and text of each spelling that came
        self._now = int(time.time())

    def scatter(self, progress: Progress) -> None:
        """Bring all records of the spill into columns by range of pages."""
        for block in self._numbered.blocks():
            self._scratch.append(self._scatter_block(block))
            progress("collecting captures", len(block.page), None)
        self._scratch.close()

    def _scatter_block(self, block: Block) -> Columns:
        records, spill = block.records, self._numbered.spill
        usable = np.flatnonzero(block.page != MISSING)
        sequence = np.empty(len(block.page), np.uint64)
        sequence[records.in_sequence()] = np.arange(block.first, block.first + len(block.page), dtype=np.uint64)
        links, targets = spill.links_of(block.number), self._numbered.targets(block.number)
        sizes = np.diff(records.first_link)
        source = np.repeat(block.page, sizes)
        good = (targets != MISSING) & (source != MISSING) & (targets != source)
        kept = np.append(0, np.cumsum(good))
        facts = (records.kind & ~np.uint8(STORED)).astype(np.uint64) | records.status.astype(np.uint64) << np.uint64(8)
        facts |= records.language.astype(np.uint64) << np.uint64(24)
        lead = np.where(records.has(ALIAS_ONLY), block.lead, np.uint32(NO_LEAD))
        captured = records.captured
        self._days |= set((captured[usable] // DAY_SECONDS).tolist())
        own = ~records.has(ALIAS_ONLY) & (block.page != MISSING)
        self.undated += int((own & (captured == 0)).sum())
        self.future += int((own & (captured > self._now + DAY_SECONDS)).sum())
        self.count += len(usable)
        counts = kept[records.first_link[1:]] - kept[records.first_link[:-1]]
        by_record: Columns = {
            "page": block.page, "facts": facts, "lead": lead, "captured": captured, "sequence": sequence,
            "count": counts.astype(np.uint32),
        }  # fmt: skip
        by_link: Columns = {"target": targets, "attribute": links.attribute}
        if spill.weighted:
            by_link["weight"] = links.weight if len(links.weight) else np.ones(len(targets), np.float32)
        if spill.anchored:
            places = np.arange(len(targets)) - np.repeat(records.first_link[:-1], sizes)
            by_link["position"] = places.astype(np.uint32)
        table, found = self._scratch.load_table(f"{block.number}.texts"), Columns()
        bucket = np.asarray(self._buckets.cells.bucket)[block.page[usable] >> self._buckets.cells.shift]
        for number in np.unique(bucket).tolist():
            rows = usable[bucket == number]
            found |= {f"history-{number}.{name}": values[rows] for name, values in by_record.items()}
            places = places_of(records.first_link[rows], sizes[rows])
            places = places[good[places]]
            found |= {f"history-{number}.{name}": values[places] for name, values in by_link.items()}
            if table is not None and len(with_text := rows[rows < len(table)]):
                part = table.take(pa.array(with_text)).append_column("sequence", pa.array(sequence[with_text]))
                self._tables[number].append(f"history-{number}-{block.number}.texts")
                self._scratch.save_table(self._tables[number][-1], part)
        return found

    def read_spellings(self, tags: NDArray[np.uint64]) -> None:
        """Find the pages that were spelled in several ways, and since when in each. `tags` are those of all pages."""
        by_tag = np.argsort(tags)
        types: dict[str, type[np.generic]] = {"tag": np.uint64, "order": np.uint16, "day": np.uint32}
        plain = pa.table({name: self._scratch.column(f"{SPELLED}.{name}", dtype) for name, dtype in types.items()})
        plain = plain.append_column("shown", pa.array(np.full(len(plain), "", object), pa.string()))
        texts = [table.cast(plain.schema) for table in self._scratch.tables(f".{SPELLED}")]
        table = pa.concat_tables([plain, *texts]).combine_chunks()
        tag, order, day = (table[name].to_numpy() for name in types)
        at = find_in(tags[by_tag], tag)
        page, known = by_tag[at].astype(np.int64), at >= 0
        several, one = np.zeros(len(tags), np.bool_), np.zeros(len(tags), np.uint16)
        one[page[known]] = order[known] & 0xFF
        several[page[known & ((order & 0xFF != one[page]) | (order & APART > 0))]] = True
        rows = np.flatnonzero(known & several[page])
        rows = rows[np.lexsort((order[rows], day[rows], page[rows]))]
        shown = table["shown"].take(pa.array(rows)).to_pylist()
        steps = list[tuple[int, int, int, str]]()
        columns = (page[rows].tolist(), day[rows].tolist(), order[rows].tolist(), shown)
        for own, since, rank, text in zip(*columns, strict=True):
            is_new = not steps or steps[-1][0] != own
            if not is_new and (rank, text) >= steps[-1][2:]:
                continue
            if not is_new and steps[-1][1] == since:
                steps.pop()
            elif not is_new and (steps[-1][2] & 0xFF, steps[-1][3]) == (rank & 0xFF, text):
                since = steps.pop()[1]  # it looks the same, and only ranks higher
            steps.append((own, since, rank, text))
        self._steps = steps

    def _write_spellings(self, writer: Writer, days: NDArray[np.uint32]) -> None:
        """Write the steps of pages that have several."""
        count = Counter(step[0] for step in self._steps)
        steps = [step for step in self._steps if count[step[0]] > 1]
        if not steps:
            return
        pages, since, orders, texts = zip(*steps, strict=True)
        writer.append("history.spelling.page", np.array(pages, np.uint32))
        writer.append("history.spelling.day", np.searchsorted(days, np.array(since, np.uint32)).astype(np.uint32))
        writer.append("history.spelling.order", np.array(orders, np.uint16))
        TextWriter.write(writer, "history.spelling", enumerate(texts))

    def keep_names(self, writer: Writer, kept: NDArray[np.bool_] | None) -> None:
        """Set the names aside that the store is about to drop: it keeps `kept`, or all."""
        self._kept = np.ones(self.pages, np.bool_) if kept is None else kept
        if kept is not None and not kept.all():
            written = {name: writer.map(name) for name in writer.arrays}
            batches = list(name_batches(written, ~kept))
            self._scratch.save_table(EXTRA_NAMES, pa.Table.from_batches(batches))

    def write(self, writer: Writer, progress: Progress) -> dict[str, Any]:
        """Write all arrays of the history; returns what the manifest says about it."""
        self._write_names(writer)
        graph = Graph.from_arrays({name: writer.map(name) for name in writer.arrays})
        numbers, days = np.flatnonzero(self._kept).astype(np.uint32), np.array(sorted(self._days), np.uint32)
        has_texts = self._numbered.spill.text_bytes > 0
        texts = {name: TextWriter(writer, f"history.{name}") for name in RECORD_TEXTS if has_texts}
        crawls, row = crawls_of(days), 0
        context = coding_context(crawls, len(days), graph, numbers, self.pages)
        starts = {name: list[NDArray[Any]]() for name in ("first", "link")}
        for number in self._buckets.numbers:
            part = self._load(number, days)
            captures = part.captures
            verify_sizes(captures)
            self._write_captures(writer, graph, numbers, part, context)
            if len(part.weight):
                writer.append("history.weight", part.weight)
            if texts and len(part.sequence):
                self._write_texts(graph, numbers, part, texts, row)
            rows = np.searchsorted(captures.page, part.low + part.entries, side="left")
            starts["first"].append(row + rows)
            starts["link"].append(self._all_links + captures.first[rows])
            row += len(captures.page)
            self._all_links += len(captures.target)
            self._longest = max(self._longest, int(np.diff(captures.first).max(initial=0)))
            pairs = np.repeat(captures.page.astype(np.uint64), np.diff(captures.first)) << np.uint64(32)
            self._distinct += len(np.unique(pairs | captures.target))
            progress("encoding captures", len(captures.page), self.count)
        for column in texts.values():
            column.close()
        for name, parts in starts.items():
            writer.append(f"history.{name}", np.concatenate(parts).astype(np.uint64))
        self._write_spellings(writer, days)
        writer.append("history.extra", np.packbits(~self._kept, bitorder="little"))
        writer.append("history.day", days)
        writer.append("history.crawl", crawls.astype(np.uint32))
        writer.append("history.shape", np.array([self.pages, row, self._all_links, self._longest], np.uint64))
        dates = [as_date(int(day)) for day in (days[1:2], days[-1:]) if len(days) > 1 for day in day]
        return {
            "captures": self.count, "links": self._distinct, "days": len(days) - 1, "undated": self.undated,
            "first": dates[0] if dates else "", "last": dates[-1] if dates else "",
        }  # fmt: skip

    def _write_names(self, writer: Writer) -> None:
        table = self._scratch.load_table(EXTRA_NAMES)
        if table is None:
            return
        own = MemoryWriter()
        write_names(own, self._sites, self._numbered.workers, in_batches(table.to_batches()), no_progress)
        for name in NAME_ARRAYS:
            if name in own.arrays:
                writer.append(f"history.{name}", own.map(name))

    def _load(self, number: int, days: NDArray[np.uint32]) -> CaptureRange:
        """The captures of a range of pages."""
        column = {
            name: self._scratch.column(f"history-{number}.{name}", dtype)
            for name, dtype in (*RECORD_COLUMNS.items(), *LINK_COLUMNS.items())
        }
        self._scratch.remove(*(f"history-{number}.{name}" for name in column))
        partial = column["facts"] & np.uint64(PARTIAL) > 0
        newest_first = -column["sequence"].astype(np.int64), -column["captured"].astype(np.int64)
        turn = np.where(partial, column["sequence"].astype(np.int64), newest_first[0])
        order = np.lexsort((turn, np.where(partial, 0, newest_first[1]), ~partial, column["page"]))
        order = order[self._counting(column, order)]
        sizes = column["count"][order].astype(np.int64)
        link = places_of(starts_of(column["count"])[:-1][order], sizes)
        # A link that a capture has again in the same section, with the same flags, says nothing new.
        record = np.repeat(np.arange(len(order)), sizes)
        target, attribute = column["target"][link], column["attribute"][link]
        again = np.lexsort((np.arange(len(link)), attribute, target, record))
        same = (record[again][1:] == record[again][:-1]) & (target[again][1:] == target[again][:-1])
        same &= attribute[again][1:] == attribute[again][:-1]
        once = np.ones(len(link), np.bool_)
        once[again[1:][same]] = False
        link, record = link[once], record[once]
        partials = np.flatnonzero(partial)
        partials = partials[np.lexsort((column["sequence"][partials], column["page"][partials]))]
        both = column["page"].astype(np.uint64) << np.uint64(32) | column["sequence"]
        before = np.searchsorted(both[partials], both[order]) - np.searchsorted(
            both[partials], column["page"][order].astype(np.uint64) << np.uint64(32)
        )
        captures = Captures(
            page=column["page"][order],
            before=before.astype(np.uint32),
            day=np.searchsorted(days, column["captured"][order] // np.uint32(DAY_SECONDS)).astype(np.uint32),
            facts=column["facts"][order],
            lead=column["lead"][order],
            first=starts_of(np.bincount(record, minlength=len(order))),
            target=column["target"][link],
            attribute=column["attribute"][link],
        )
        of_links = (column[name] for name in ("position", "weight"))
        position, weight = (values[link] if len(values) else values for values in of_links)
        low, high = self._buckets.borders[number : number + 2]
        return CaptureRange(number, low, high, captures, position, weight, column["sequence"][order])

    def _counting(self, column: Columns, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places in an order, newest first, of captures that count on some day: not of those that were captured again
        on the same day. So adding the same captures twice changes nothing."""
        kind = column["facts"][order] & np.uint64(PARTIAL | ALIAS_ONLY | BY_CANONICAL)  # others compete otherwise
        day = column["captured"][order].astype(np.uint64) // np.uint64(DAY_SECONDS)
        same = column["page"][order].astype(np.uint64) << np.uint64(24) | day << np.uint64(8) | kind
        first = np.unique(same, return_index=True)[1]
        kept = np.union1d(first, np.flatnonzero(kind & np.uint64(PARTIAL)))
        self.count -= len(order) - len(kept)
        return kept

    def _write_captures(
        self, writer: Writer, graph: Graph, numbers: NDArray[np.uint32], part: CaptureRange, context: CodingContext
    ) -> None:
        """Write the captures of a range of pages, chunk by chunk."""
        model = new_model(context)
        row, units = 0, writer.length("history.edit")
        for low in range(part.low, part.high, CHUNK_PAGES):
            references = store_links(graph, numbers, low, min(CHUNK_PAGES, part.high - low))
            out = np.zeros(2 * len(references.target) + 64, np.uint16)
            stop, count = history_writer.write_captures(part.captures, references, context, row, model, out)
            if count > len(out):
                out = np.zeros(count, np.uint16)
                history_writer.write_captures(part.captures, references, context, row, model, out)
            writer.append("history.edit", out[:count])
            writer.append("history.start", np.array([units], np.uint64))
            row, units = stop, units + count

    def _write_texts(
        self, graph: Graph, numbers: NDArray[np.uint32], part: CaptureRange, writers: dict[str, TextWriter], row: int
    ) -> None:
        """Write the texts of a range of pages that differ from those of the next newer capture, or of the store."""
        captures, sequence = part.captures, part.sequence
        tables = [self._scratch.load_table(name) for name in self._tables[part.number]]
        self._scratch.remove(*self._tables[part.number])
        table = pa.concat_tables(tables).combine_chunks() if tables else None
        described = np.flatnonzero(captures.facts & np.uint64(PARTIAL | ALIAS_ONLY) == 0)
        rows = np.full(len(described), -1, np.int64)
        if table is not None:
            own = table["sequence"].to_numpy()
            order = np.argsort(own)
            at = find_in(own[order], sequence[described])
            rows = np.where(at >= 0, order[at], -1)
        stored = np.searchsorted(numbers, captures.page[described])
        in_store = numbers[np.minimum(stored, len(numbers) - 1)] == captures.page[described]
        for name, column in writers.items():
            texts = self._column(table, name, rows, described, part)
            first, count = (int(stored.min()), int(stored.max()) - int(stored.min()) + 1) if len(stored) else (0, 0)
            known = graph.texts.column(name).between(first, min(count, graph.pages - first)) if count else []
            last, before = -1, b""
            pages, places, inside = captures.page[described].tolist(), stored.tolist(), in_store.tolist()
            for number, page, place, is_stored in zip(described.tolist(), pages, places, inside, strict=True):
                if page != last:
                    last, before = page, ((known[place - first] or "").encode() if is_stored else b"")
                if texts[number] != before:
                    before = texts[number]
                    column.append(row + number, before)

    def _column(
        self,
        table: pa.Table | None,
        name: str,
        rows: NDArray[np.int64],
        described: NDArray[np.int64],
        part: CaptureRange,
    ) -> dict[int, bytes]:
        """The texts of captures, by their number in this range; those of links cut to the links that are kept."""
        found = dict.fromkeys(described.tolist(), b"")
        if table is None or not table[name].num_chunks:
            return found
        values = table[name].chunk(0)
        has = rows >= 0
        has[has] = values.is_valid().to_numpy(zero_copy_only=False)[rows[has]]
        chosen, of = rows[has], described[has]
        data, offsets = text_buffers(values)
        parts: Texts = (data, offsets[chosen], offsets[chosen + 1])
        if name in LINK_TEXTS and len(chosen):
            firsts = part.captures.first[of]
            sizes = part.captures.first[of + 1] - firsts
            parts = kept_lines(values, chosen, part.position[places_of(firsts, sizes)], sizes)
        raw = parts[0].tobytes()
        for at, start, stop in zip(of.tolist(), parts[1].tolist(), parts[2].tolist(), strict=True):
            found[at] = raw[start:stop]
        return found


def verify_sizes(captures: Captures) -> None:
    """Raise BadSource for a page with more captures than can be read: those of one page are read at once."""
    first = np.append(np.flatnonzero(np.diff(captures.page.astype(np.int64), prepend=-1)), len(captures.page))
    most, most_links = (int(np.diff(each).max(initial=0)) for each in (first, captures.first[first]))
    if most > MAX_PAGE_CAPTURES or most_links > MAX_PAGE_LINKS:
        has = f"A page has {most:,} captures, or {most_links:,} links in them together"
        limit = f"a history keeps up to {MAX_PAGE_CAPTURES:,} and {MAX_PAGE_LINKS:,}"
        raise BadSource(f"{has}; {limit}: give fewer captures of it, or build without --history")


def crawls_of(days: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The first day of each crawl, by its index: that is one after a pause. The unknown day is on its own."""
    pauses = np.diff(days.astype(np.int64)) > CRAWL_PAUSE
    pauses[:1] = True
    return np.append(0, np.flatnonzero(pauses) + 1)


def put_captures(history: CaptureHistory, spill: Spill, progress: Progress, until: int = -1) -> None:
    """Put the captures that may count on a day (an index), or all of them, into the spill of another build."""
    tags = _put_names(history, spill, until)
    stored = np.full(history.pages, -1, np.int64)
    stored[history.number] = np.arange(len(history.number))
    own_dates = history.graph.arrays["page.captured"]
    columns = {name: column for name in spill.texts if (column := history.text_column(name)) is not None}
    spill.loose = True  # captures of other days name other pages
    for rows in history.read(until):
        captures = rows.captures
        if not len(captures.page):
            continue
        kind = (captures.facts & np.uint64(0xFF)).astype(np.uint8)
        partial = kind & PARTIAL > 0
        order, later = feeding_order(rows, partial)
        sizes = np.diff(captures.first)[order]
        link = places_of(captures.first[:-1][order], sizes)
        pages, lead, leads = captures.page[order], captures.lead[order], captures.lead[order] != NO_LEAD
        inside = stored[pages]
        day = history.days[captures.day] * np.uint32(DAY_SECONDS)
        captured = np.where(day > 0, day + later, 0)[order].astype(np.uint32)
        if len(own_dates):  # the store has the time of day of the newest
            full = np.flatnonzero(~partial)
            newest = np.append(rows.row[full], -1)[find_in(captures.page[full], captures.page)]  # of each one's page
            exact = own_dates[np.maximum(inside, 0)]
            same_day = (rows.row == newest)[order] & (inside >= 0) & (exact // DAY_SECONDS * DAY_SECONDS == day[order])
            captured = np.where(same_day, np.maximum(exact, captured), captured)
        records = RecordColumns(
            tag=tags[pages],
            kind=kind[order] | np.uint8(STORED),
            alias=np.where(leads, tags[np.where(leads, lead, 0)], np.uint64(0)),
            captured=captured,
            status=(captures.facts[order] >> np.uint64(8) & np.uint64(0xFFFF)).astype(np.uint16),
            language=(captures.facts[order] >> np.uint64(24)).astype(np.uint32),
            first_link=starts_of(sizes),
        )
        weights = history.weights(rows)
        weights = weights if (weights != 1).any() else weights[:0]
        links = LinkColumns(
            tags[captures.target[link]], weights[link] if len(weights) else weights, captures.attribute[link]
        )
        ordered = CaptureRows(captures, rows.row[order], rows.first_row[order], rows.first_link[order])
        described = (kind[order] & (PARTIAL | ALIAS_ONLY)) == 0
        texts = {
            name: pa.array(column.of(ordered, inside), pa.string(), mask=~described) for name, column in columns.items()
        }
        spill.put(spill.reserve(len(link)), records, links, texts)
        progress("reading captures", len(pages), history.count)


def feeding_order(rows: CaptureRows, partial: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order of captures as the sources had them, as far as it matters, and how many of a page and day are older.

    Links of partial captures add up in their order, with those of the one that wins at its place among them.
    """
    captures, later = rows.captures, np.zeros(len(partial), np.int64)
    slot = np.where(partial, 2 * (rows.row - rows.first_row) + 1, 2 * captures.before.astype(np.int64))
    full = np.flatnonzero(~partial)
    if len(full):
        day = captures.page[full].astype(np.int64) << 32 | captures.day[full]
        starts = np.flatnonzero(np.append(True, day[1:] != day[:-1]))
        sizes = np.diff(np.append(starts, len(full)))
        later[full] = np.repeat(starts + sizes, sizes) - 1 - np.arange(len(full))
    return np.lexsort((-np.arange(len(partial)), slot, captures.page)), later


def _put_names(history: CaptureHistory, spill: Spill, until: int) -> NDArray[np.uint64]:
    """Enter all names as they were spelled on a day; returns the tag of each page, 0 for those that were removed."""
    graph, names, tags = history.graph, spill.names, np.zeros(history.pages, np.uint64)
    extra, then = np.flatnonzero(history.extra), history.spellings(until if until >= 0 else len(history.days))
    has_record = np.zeros(history.pages, np.bool_)
    has_record[history.number] = graph.array("page.kind") & HAS_RECORD > 0
    has_record[history.number[graph.array("alias.page")]] = True
    for what, count, keys, numbers, spellings in (
        ("store", graph.pages, graph.names.keys, history.number, graph.array("name.spelling")),
        ("extra", len(extra), history.extra_keys, extra, history.extra_names["name.spelling"]),
    ):
        if len(spellings) != count:
            raise graph.damaged()
        texts = graph.texts.column("shown") if what == "store" else TextColumn(history.extra_names, "shown")
        for first in range(0, count, NAME_CHUNK):
            data, offsets = keys(first, min(NAME_CHUNK, count - first))
            some, _ = names.tag_keys(data, offsets)
            some[names.removed.among(data, offsets)] = 0
            tags[numbers[first : first + len(some)]] = some
            spelling, kept = spellings[first : first + len(some)], some != 0
            own = has_record[numbers[first : first + len(some)]]
            orders = np.where(own, spelling_orders(spelling, own=True), spelling_orders(spelling, own=False))
            shown = {int(at): texts[first + int(at)] for at in np.flatnonzero(spelling == APART)}
            changed = np.isin(numbers[first : first + len(some)], list(then))
            for at in np.flatnonzero(changed).tolist():
                orders[at], text = then[int(numbers[first + at])]
                shown.pop(at, None)
                shown |= {at: text} if text else {}
            listed = [shown.get(at) for at in np.flatnonzero(kept).tolist()]
            spelled = {"key": key_array(data, offsets, kept), "order": orders[kept], "tag": some[kept], "shown": listed}
            names.put(f"{what}-{first}", **spelled)
            if names.dated:
                unchanged, undated = np.where(changed, np.uint64(0), some), np.zeros(len(some), np.uint32)
                names.note_days(f"{what}-{first}", unchanged, orders, undated, shown)
    if names.dated:
        pages, days, orders, texts_of = history.spelling_steps()
        names.note_days("steps", tags[pages], orders, history.days[days], texts_of)
    return tags
