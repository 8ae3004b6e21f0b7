"""First pass of a build: page records → blocks, with a 64-bit fingerprint for every address.

Later passes carry the fingerprint of an address; its key goes to a file of names (names.py). Blocks are independent of
each other, so several threads make them. Invalid values of a record become unknown ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite.graph.arrays import BOILERPLATE, NOINDEX, REL
from cocite.graph.build.names import NameFiles
from cocite.graph.build.scratch import (
    ALIAS_ONLY,
    BY_CANONICAL,
    PARTIAL,
    RECORD_TYPES,
    LinkColumns,
    RecordColumns,
    ScratchFolder,
)  # fmt: skip
from cocite.kernels.codec.attributes import MAX_BLOCK, pack_all
from cocite.pages.address import canonical
from cocite.pages.site import Sites
from cocite.sources.records import ReadReport

LINK_TEXTS = {"anchors": "text", "contexts": "context"}
"""Columns with a line for each link, and the field of a link that each has."""
RECORD_TEXTS = ("title", "headings", "text", *LINK_TEXTS)
MAX_LINE_CHARACTERS, MAX_HEADING_CHARACTERS, MAX_STATUS = 500, 300, 999
Columns = dict[str, pa.Array]
"""The columns of a batch by name, without those that have no value."""


class Spill:
    """The blocks, names and texts of one build in its work folder. `add` may be called by several threads."""

    def __init__(
        self,
        scratch: ScratchFolder,
        report: ReadReport,
        sites: Sites,
        *,
        text: bool,
        anchors: bool,
        removed: NDArray[np.uint64],
        memory: int,
    ) -> None:
        self.scratch, self.removed = scratch, removed
        self.texts = [name for name in RECORD_TEXTS if (anchors or name not in LINK_TEXTS) and (text or name != "text")]
        self.blocks = self.links = 0
        self.again = 0  # of these links, those that pages have again in the old store
        self.text_bytes = 0
        self.weighted = False  # some link has a weight
        self.anchored = False  # some link has a text
        self.loose = False  # some name was entered that no block mentions
        self.names = NameFiles(scratch, report, removed, memory)
        self._sites, self._lock = sites, threading.Lock()

    def records_of(self, block: int) -> RecordColumns:
        """The records of a block."""
        return RecordColumns(*self.scratch.load(f"{block}.records", *RECORD_TYPES))

    def links_of(self, block: int) -> LinkColumns:
        """The links of a block's records."""
        return LinkColumns(self.targets_of(block), *self.scratch.load(f"{block}.attributes", np.float32, np.uint32))

    def targets_of(self, block: int) -> NDArray[np.uint64]:
        """The fingerprints of the targets of a block's links."""
        return self.scratch.load(f"{block}.links", np.uint64)[0]

    def reserve(self, links: int) -> int:
        """The next block's number: the caller fixes the order, then any thread may `add`."""
        with self._lock:
            self.blocks += 1
            self.links += links
            return self.blocks - 1

    def put(self, number: int, records: RecordColumns, links: LinkColumns, texts: Columns) -> None:
        """Save a block and its texts."""
        self.scratch.save(f"{number}.records", *map(np.asarray, records, RECORD_TYPES))
        self.scratch.save(f"{number}.links", links.target)
        self.scratch.save(f"{number}.attributes", links.weight, links.attribute)
        if texts:
            rows = max(map(len, texts.values()))
            empty = pa.nulls(rows, pa.string())
            table = pa.table({name: texts.get(name, empty) for name in RECORD_TEXTS})
            self.scratch.save_table(f"{number}.texts", table)
        with self._lock:
            self.weighted |= len(links.weight) > 0
            if texts:
                self.text_bytes += table.nbytes
                self.anchored |= any(table[name].null_count < rows for name in LINK_TEXTS)

    def add(self, number: int, batch: pa.RecordBatch) -> None:
        """Key a batch of page records and save it as block `number`."""
        count = len(batch)
        column = present(dict(zip(batch.schema.names, batch.columns, strict=True)))
        own = self.names.key(f"{number}-pages", batch.column("url"), own=True)
        counts, items = flatten_lists(column.get("links"), count)
        urls, link = items, Columns()
        if pa.types.is_struct(items.type):
            link = present({field.name: items.field(field.name) for field in items.type})
            urls = items.field("url")
        kind = np.zeros(count, np.uint8)
        kind[read_booleans(column.get("partial"), count)] |= PARTIAL
        kind[read_booleans(column.get("noindex"), count)] |= NOINDEX
        leads, rows, others = self._aliases(number, column, own, kind)
        captured = self._read_dates(column.get("captured"), count)
        # A record with another canonical address is a capture of that page, and its own address an alias of it.
        fingerprint = own.copy()
        fingerprint[rows] = others
        kind[rows] |= BY_CANONICAL
        more = np.zeros(len(rows), np.int64)
        records = RecordColumns(
            fingerprint=np.append(fingerprint, own[rows]),
            kind=np.append(kind, more + ALIAS_ONLY),
            alias=np.append(leads, others),
            captured=np.append(captured, captured[rows]),
            status=np.append(read_status(column.get("status"), count), more),
            language=np.append(read_languages(column.get("lang"), count), more),
            first_link=np.append(np.append(0, np.cumsum(counts)), more + counts.sum()),
        )
        targets = self.names.key(f"{number}-links", urls, own=False)
        links = LinkColumns(targets, self._read_weights(link.get("weight")), read_attributes(link, len(urls)))
        self.put(number, records, links, self._read_texts(column, link, counts))

    def _aliases(
        self, number: int, column: Columns, own: NDArray[np.uint64], kind: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint64]]:
        """(where each record leads, rows whose page has another canonical address, that address).

        A redirect makes the record an alias. A canonical address counts on the same site only: elsewhere a page could
        put its links in the place of another site's.
        """
        leads = np.zeros(len(own), np.uint64)
        rows, targets = self._other_addresses(number, "redirect", column, own)
        leads[rows] = targets
        kind[rows] = (kind[rows] & ~np.uint8(PARTIAL)) | np.uint8(ALIAS_ONLY)
        rows, targets = self._other_addresses(number, "canonical", column, own)

        def domain(name: str, row: int) -> str:
            return self._sites.domain(self._sites.host(canonical(column[name][row].as_py())))

        near = [not leads[row] and domain("url", row) == domain("canonical", row) for row in rows.tolist()]
        with self._lock:
            self.loose |= not all(near)
        chosen = np.array(near, np.bool_)
        return leads, rows[chosen], targets[chosen]

    def _other_addresses(
        self, number: int, name: str, column: Columns, own: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """(rows whose column `name` is the address of another page, its fingerprint)."""
        if name not in column:
            return np.zeros(0, np.int64), np.zeros(0, np.uint64)
        given = pc.fill_null(pc.not_equal(column[name], ""), False).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(given & (own != 0))
        targets = self.names.key(f"{number}-{name}", column[name].take(pa.array(rows, pa.int64())), own=False)
        other = (targets != 0) & (targets != own[rows])
        return rows[other], targets[other]

    def _read_dates(self, values: pa.Array | None, count: int) -> NDArray[np.uint32]:
        seconds = np.zeros(count, np.uint32)
        for row, text in enumerate(values.to_pylist() if values is not None else ()):
            if text:
                seconds[row] = moment = parse_date(text)
                if not moment:
                    self.names.skip("capture date is not an ISO date, taken as unknown", text)
        return seconds

    def _read_weights(self, values: pa.Array | None) -> NDArray[np.float32]:
        """The weight of every link; empty where all are 1."""
        if values is None:
            return np.zeros(0, np.float32)
        weights = pc.fill_null(values, 1.0).to_numpy(zero_copy_only=False).astype(np.float32)
        bad = ~((weights > 0) & (weights <= 1))
        if bad.any():
            self.names.skip("link weight is not in (0, 1], taken as 1", "", int(bad.sum()))
        weights = np.where(bad, np.float32(1), weights)
        return weights if (weights != 1).any() else np.zeros(0, np.float32)

    def _read_texts(self, column: Columns, link: Columns, counts: NDArray[np.int64]) -> Columns:
        """Title and text per record, headings, anchors and contexts as lines; without those that no record has."""
        found: Columns = {name: column[name] for name in ("title", "text") if name in column}
        if "title" in found:
            found["title"] = one_line(found["title"], MAX_LINE_CHARACTERS)
        if "headings" in column:
            sizes, headings = flatten_lists(column["headings"], len(counts))
            if len(headings):
                found["headings"] = join_lines(one_line(headings, MAX_HEADING_CHARACTERS), sizes)
        for name, field in LINK_TEXTS.items():
            if field in link and name in self.texts:
                found[name] = join_lines(one_line(link[field], MAX_LINE_CHARACTERS), counts)
        return {name: texts for name, texts in found.items() if name in self.texts}


def present(columns: Columns) -> Columns:
    """The columns that have more than nulls and empty texts."""

    def has_values(values: pa.Array) -> bool:
        if values.null_count == len(values):
            return False
        is_text = pa.types.is_string(values.type) and values.buffers()[2] is not None
        return not is_text or bool(pc.max(pc.binary_length(values)).as_py())

    return {name: values for name, values in columns.items() if has_values(values)}


def flatten_lists(lists: pa.Array | None, count: int) -> tuple[NDArray[np.int64], pa.Array]:
    """(number of items per row, all items in one array)."""
    if lists is None or pa.types.is_null(lists.type):
        return np.zeros(count, np.int64), pa.array([], pa.string())
    sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return sizes, lists.flatten()


def read_booleans(values: pa.Array | None, count: int) -> NDArray[np.bool_]:
    """The rows in which a column is true."""
    if values is None:
        return np.zeros(count, np.bool_)
    flags: NDArray[np.bool_] = pc.fill_null(values, False).to_numpy(zero_copy_only=False)
    return flags


def read_status(values: pa.Array | None, count: int) -> NDArray[np.int64]:
    """HTTP status codes; everything else is 0."""
    if values is None:
        return np.zeros(count, np.int64)
    numbers = pc.fill_null(values, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where((numbers >= 0) & (numbers <= MAX_STATUS), numbers, 0)


def read_languages(values: pa.Array | None, count: int) -> NDArray[np.uint32]:
    """Language codes as numbers: `en-GB` → the bytes of `en`; 0 for what isn't a language code."""

    def number(text: str) -> int:
        code = text.replace("_", "-").split("-")[0].strip().lower()
        is_code = code.isascii() and code.isalpha() and 2 <= len(code) <= 3
        return int.from_bytes(code.encode(), "little") if is_code else 0

    return map_texts(values, number) if values is not None else np.zeros(count, np.uint32)


def map_texts(values: pa.Array, number: Callable[[str], int]) -> NDArray[np.uint32]:
    """The numbers of texts, each distinct text parsed once."""
    encoded = pc.dictionary_encode(pc.fill_null(values, ""))
    numbers = np.array([number(text) for text in encoded.dictionary.to_pylist()] or [0], np.uint32)
    found: NDArray[np.uint32] = numbers[encoded.indices.to_numpy(zero_copy_only=False)]
    return found


def read_attributes(link: Columns, count: int) -> NDArray[np.uint32]:
    """The packed attribute of every link."""
    blocks, flags = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    if "block" in link:
        given = pc.fill_null(link["block"], -1).to_numpy(zero_copy_only=False).astype(np.int64)
        blocks = (np.clip(given, -1, MAX_BLOCK) + 1).astype(np.uint32)
    if "rel" in link:
        flags |= map_texts(link["rel"], lambda text: sum(REL.get(word, 0) for word in set(text.lower().split())))
    if "boilerplate" in link:
        flags |= read_booleans(link["boilerplate"], count) * np.uint32(BOILERPLATE)
    return pack_all(blocks, flags)


def parse_date(text: str) -> int:
    """Seconds since 1970 of an ISO date or time, or of a 14-digit archive timestamp; 0 if it is neither."""
    text = text.strip()
    try:
        is_timestamp = text.isdigit() and len(text) == 14
        moment = datetime.strptime(text, "%Y%m%d%H%M%S") if is_timestamp else datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return min(max(int(moment.timestamp()), 0), 0xFFFFFFFF)
    except (ValueError, OverflowError):
        return 0


def one_line(texts: pa.Array, max_characters: int) -> pa.Array:
    """Texts without line breaks and other control characters, cut to a length, nulls empty."""
    texts = pc.fill_null(texts.cast(pa.string()), "")
    if pc.any(pc.match_substring_regex(texts, r"[\x00-\x1f]")).as_py():
        texts = pc.replace_substring_regex(texts, r" *[\x00-\x1f][\x00-\x20]*", " ")
    if (pc.max(pc.binary_length(texts)).as_py() or 0) > max_characters:
        texts = pc.utf8_slice_codeunits(texts, 0, max_characters)
    return texts


def join_lines(texts: pa.Array, counts: NDArray[np.int64]) -> pa.Array:
    """One text per row: its items as lines; a row of empty items only is null."""
    offsets = np.append(0, np.cumsum(counts)).astype(np.int32)
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), texts), "\n")
    return pc.if_else(pc.match_substring_regex(joined, r"[^\n]"), joined, None)
