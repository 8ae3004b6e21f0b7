"""First pass of a build: page records → blocks, with a 64-bit fingerprint for every address.

The text of an address is looked at once. What later passes carry is its fingerprint; its key goes to a file of names,
the first time (more or less) that it is met. Blocks are independent of each other, so several threads make them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite.graph.build.columns import (
    flatten_lists,
    join_lines,
    one_line,
    parse_date,
    present,
    read_attributes,
    read_booleans,
    read_languages,
    read_numbers,
    read_weights,
    struct_field,
)
from cocite.graph.build.scratch import (
    ALIAS,
    BY_CANONICAL,
    NOINDEX,
    PARTIAL,
    RECORD_TYPES,
    LinkColumns,
    RecordColumns,
    Scratch,
)
from cocite.graph.build.spill_names import NameFiles
from cocite.sources.records import ReadReport

TEXTS = ("title", "headings", "text", "anchors", "contexts")
LINK_TEXTS = ("anchors", "contexts")


class Spill:
    """The blocks, names and texts of one build in its work folder. `add` may be called by several threads."""

    def __init__(
        self,
        scratch: Scratch,
        report: ReadReport,
        *,
        text: bool,
        anchors: bool,
        removed: NDArray[np.uint64],
        same_site: Callable[[str, str], bool],
        memory: int = 1 << 28,
    ) -> None:
        self.scratch = scratch
        self.report = report
        self.text = text
        self.anchors = anchors
        self.removed = removed
        self.same_site = same_site
        self.blocks = 0
        self.records = 0
        self.links = 0
        self.again = 0  # of these, what the old store says that pages have again
        self.text_bytes = 0
        self.weighted = False  # some link has a weight
        self.anchored = False  # some link has a text
        self.loose = False  # some name was entered that no block mentions
        self.names = NameFiles(scratch, report, removed, memory)
        self._lock = threading.Lock()

    def records_of(self, block: int) -> RecordColumns:
        """The records of a block."""
        return RecordColumns(*self.scratch.load(f"{block}.records", *RECORD_TYPES))

    def links_of(self, block: int) -> LinkColumns:
        """The links of a block's records."""
        targets = self.scratch.load(f"{block}.links", np.uint64, np.float32)
        return LinkColumns(*targets, *self.scratch.load(f"{block}.attributes", np.uint32))

    def reserve(self, links: int, records: int) -> int:
        """The next block's number: the caller fixes the order, then any thread may `add`."""
        with self._lock:
            self.blocks += 1
            self.links += links
            self.records += records
            return self.blocks - 1

    def add(self, number: int, batch: pa.RecordBatch) -> None:
        """Key a batch of page records and set it down as block `number`."""
        self.put(number, *self._read(number, batch))

    def put(self, number: int, records: RecordColumns, links: LinkColumns, texts: pa.Table | None) -> None:
        """Set down a block and its texts."""
        self.scratch.save(f"{number}.records", *map(np.asarray, records, RECORD_TYPES))
        self.scratch.save(f"{number}.links", links.target, links.weight)
        self.scratch.save(f"{number}.attributes", links.attribute)
        with self._lock:
            self.weighted |= len(links.weight) > 0
        if texts is not None:
            with self._lock:
                self.text_bytes += texts.nbytes
                self.anchored |= any(texts[name].null_count < len(texts) for name in LINK_TEXTS)
            self.scratch.save_table(f"{number}.texts", texts)

    # ------------------------------------------------------------------------------------------------- reading a batch

    def _read(self, number: int, batch: pa.RecordBatch) -> tuple[RecordColumns, LinkColumns, pa.Table | None]:
        column = {name: batch.column(i) for i, name in enumerate(batch.schema.names)}
        own = self.names.key(f"{number}-pages", column["url"], own=True)
        lists = column.get("links")
        counts, links = flatten_lists(lists, len(batch))
        first_link = np.zeros(len(batch) + 1, np.int64)
        np.cumsum(counts, out=first_link[1:])
        urls = links.field("url") if isinstance(links, pa.StructArray) else links

        def link_column(name: str) -> pa.Array | None:
            return struct_field(links, name)

        weight, bad_weights = read_weights(link_column("weight"), len(urls))
        if bad_weights:
            self.names.skip("link weight is not in (0, 1], taken as 1", "", bad_weights)
        kind = np.zeros(len(batch), np.uint8)
        kind[read_booleans(column.get("partial"), len(batch))] |= PARTIAL
        kind[read_booleans(column.get("noindex"), len(batch))] |= NOINDEX
        leads, rows, canonical = self._aliases(number, column, own, kind)
        captured = self._read_dates(column.get("captured"), len(batch))
        # A record with another canonical address is a capture of that page, and its own address an alias of it.
        fingerprint = own.copy()
        fingerprint[rows] = canonical
        kind[rows] |= BY_CANONICAL
        more = len(rows)
        records = RecordColumns(
            fingerprint=np.append(fingerprint, own[rows]),
            kind=np.append(kind, np.full(more, ALIAS, np.uint8)),
            alias=np.append(leads, canonical),
            captured=np.append(captured, captured[rows]),
            status=np.append(read_numbers(column.get("status"), len(batch), 999), np.zeros(more)).astype(np.uint16),
            language=np.append(read_languages(column.get("lang"), len(batch)), np.zeros(more, np.uint32)),
            first_link=np.append(first_link, np.full(more, first_link[-1])),
        )
        links_read = LinkColumns(
            target=self.names.key(f"{number}-links", urls, own=False),
            attribute=read_attributes(link_column("block"), link_column("rel"), link_column("boilerplate"), len(urls)),
            weight=weight,
        )
        return records, links_read, self._read_texts(column, counts, link_column)

    def _aliases(
        self, number: int, column: dict[str, pa.Array], fingerprint: NDArray[np.uint64], kind: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint64]]:
        """(where each record leads, rows whose page has another canonical address, that address).

        A redirect makes the record an alias. A canonical address is believed on the same site only: elsewhere a page
        could put its links in the place of another site's.
        """
        leads = np.zeros(len(fingerprint), np.uint64)
        rows, targets = self._other_addresses(number, "redirect", column, fingerprint)
        leads[rows] = targets
        kind[rows] = (kind[rows] & ~np.uint8(PARTIAL)) | np.uint8(ALIAS)
        rows, targets = self._other_addresses(number, "canonical", column, fingerprint)
        urls, values = column["url"], column.get("canonical", column["url"])
        near = np.array(
            [not leads[r] and self.same_site(urls[int(r)].as_py(), values[int(r)].as_py()) for r in rows], np.bool_
        )
        with self._lock:
            self.loose |= not near.all()
        return leads, rows[near], targets[near]

    def _other_addresses(
        self, number: int, name: str, column: dict[str, pa.Array], fingerprint: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """(rows whose column `name` is the address of another page, its fingerprint)."""
        values = column.get(name)
        if values is None or values.null_count == len(values):
            return np.zeros(0, np.int64), np.zeros(0, np.uint64)
        rows = np.flatnonzero(pc.fill_null(pc.not_equal(values, ""), False).to_numpy(zero_copy_only=False))
        rows = rows[fingerprint[rows] != 0]
        targets = self.names.key(f"{number}-{name}", values.take(pa.array(rows, pa.int64())), own=False)
        other = (targets != 0) & (targets != fingerprint[rows])
        return rows[other], targets[other]

    def _read_dates(self, values: pa.Array | None, count: int) -> NDArray[np.uint32]:
        seconds = np.zeros(count, np.uint32)
        if values is None or values.null_count == count:
            return seconds
        for row, text in enumerate(values.to_pylist()):
            if text:
                seconds[row] = moment = parse_date(text)
                if not moment:
                    self.names.skip("capture date is not an ISO date, taken as unknown", text)
        return seconds

    def _read_texts(
        self, column: dict[str, pa.Array], counts: NDArray[np.int64], link_column: Callable[[str], pa.Array | None]
    ) -> pa.Table | None:
        """Title, headings, text per record, and anchors and contexts as one line per link; None if there is none."""
        found: dict[str, pa.Array] = {}
        if (title := present(column.get("title"))) is not None:
            found["title"] = one_line(title, 500)
        if self.anchors:
            for name, link_name in (("anchors", "text"), ("contexts", "context")):
                if (texts := present(link_column(link_name))) is not None:
                    found[name] = join_lines(one_line(texts, 500), counts)
        headings = column.get("headings")
        if headings is not None and headings.null_count < len(headings):
            sizes, values = flatten_lists(headings, len(headings))
            if len(values):
                found["headings"] = join_lines(one_line(values, 300), sizes)
        if self.text and (text := present(column.get("text"))) is not None:
            found["text"] = text
        if not found:
            return None
        empty = pa.nulls(len(counts), pa.string())
        return pa.table({name: found.get(name, empty) for name in TEXTS})
