"""First pass of a build: page records → blocks, with a 64-bit tag for every address.

Later passes carry the tag of an address; its key goes to a file of names (names.py). Blocks are independent of
each other, so several threads make them. Invalid values of a record become unknown ones.
"""

import re
import threading
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite.graph.arrays import BOILERPLATE, NOINDEX, REL
from cocite.graph.build.names import NameFiles, Tags
from cocite.graph.build.scratch import ALIAS_ONLY, BY_CANONICAL, PARTIAL, LinkColumns, RecordColumns, ScratchSpace
from cocite.kernels.codec.attributes import MAX_BLOCK, pack_all
from cocite.pages.address import canonical
from cocite.pages.date import DAY_SECONDS
from cocite.pages.site import Sites

_YEAR_OR_MONTH = re.compile(r"[0-9]{4}(?:-[0-9]{2})?")
LINK_TEXTS = {"anchors": "text", "contexts": "context"}  # columns with a line for each link, and the link's field
RECORD_TEXTS = ("title", "headings", "text", *LINK_TEXTS)
MAX_LINE_CHARACTERS, MAX_HEADING_CHARACTERS, MAX_STATUS = 500, 300, 999
Columns = dict[str, pa.Array]  # the columns of a batch by name, without those that have no value


class Spill:
    """The blocks, names and texts of one build in its scratch space. `add` may be called by several threads."""

    def __init__(self, scratch: ScratchSpace, names: NameFiles, sites: Sites, texts: Collection[str]) -> None:
        self.scratch, self.names, self.texts, self._sites = scratch, names, texts, sites
        self.blocks = self.links = self.text_bytes = 0
        self.again = 0  # of the links, those that pages have again in the old store
        self.weighted = self.anchored = False  # whether some link has a weight, or a text
        self.loose = False  # some name was entered that no block mentions
        self.undated = 0  # when records without a date count as captured: seconds since 1970, 0: unknown
        self._lock = threading.Lock()

    def records_of(self, block: int) -> RecordColumns:
        """The records of a block."""
        return RecordColumns(*self.scratch.load(f"{block}.records"))

    def links_of(self, block: int) -> LinkColumns:
        """The links of a block's records."""
        return LinkColumns(*self.scratch.load(f"{block}.links"))

    def targets_of(self, block: int) -> Tags:
        """The tags of the targets of a block's links."""
        return self.scratch.load(f"{block}.links", 0, 1)[0]

    def weights_of(self, block: int) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
        """The weights and attributes of a block's links."""
        weight, attribute = self.scratch.load(f"{block}.links", 1)
        return weight, attribute

    def reserve(self, links: int) -> int:
        """The next block's number: the caller fixes the order, then any thread may `add`."""
        with self._lock:
            self.blocks += 1
            self.links += links
            return self.blocks - 1

    def put(self, number: int, records: RecordColumns, links: LinkColumns, texts: Columns) -> None:
        """Save a block and its texts."""
        self.scratch.save(f"{number}.records", *records.cast())
        self.scratch.save(f"{number}.links", *links)
        with self._lock:
            self.weighted |= len(links.weight) > 0
            self.text_bytes += sum(column.nbytes for column in texts.values())
            self.anchored |= any(texts[name].null_count < len(texts[name]) for name in LINK_TEXTS if name in texts)
        if texts:
            empty = pa.nulls(max(map(len, texts.values())), pa.string())
            table = pa.table({name: texts.get(name, empty) for name in RECORD_TEXTS})
            self.scratch.save_table(f"{number}.texts", table)

    def add(self, number: int, batch: pa.RecordBatch) -> None:
        """Key a batch of page records and save it as block `number`."""
        count = len(batch)
        column = present(dict(zip(batch.schema.names, batch.columns, strict=True)))
        captured = self._read_dates(column.get("captured"), count)
        days = captured // np.uint32(DAY_SECONDS)
        own = self.names.key(f"{number}-pages", batch.column("url"), True, days)
        counts, items = flatten_lists(column.get("links"), count)
        urls, link = items, Columns()
        if pa.types.is_struct(items.type):
            urls = items.field("url")
            link = present({field.name: items.field(field.name) for field in items.type if field.name != "url"})
        kind = values_of(column, "partial", count, False) * PARTIAL
        kind |= values_of(column, "noindex", count, False) * NOINDEX
        # A redirect makes the record an alias.
        moved, moved_to = self._other_addresses(number, "redirect", column, own, days)
        leads = np.zeros(count, np.uint64)
        leads[moved] = moved_to
        kind[moved] = (kind[moved] & ~PARTIAL) | ALIAS_ONLY
        # A record with another canonical address is a capture of that page, and its own address an alias of it. That
        # counts on the same domain only: elsewhere a page could put its links in the place of another site's.
        rows, others = self._other_addresses(number, "canonical", column, own, days)
        near = [not leads[row] and self._is_same_domain(column, row) for row in rows.tolist()]
        with self._lock:
            self.loose |= not all(near)
        rows, others = rows[near], others[near]
        tag = own.copy()
        tag[rows] = others
        kind[rows] |= BY_CANONICAL
        more = np.zeros(len(rows), np.int64)
        status = values_of(column, "status", count, 0).astype(np.int64)
        language = map_texts(column.get("lang"), language_number, count)
        records = RecordColumns(
            tag=np.append(tag, own[rows]),
            kind=np.append(kind, more + ALIAS_ONLY),
            alias=np.append(leads, others),
            captured=np.append(captured, captured[rows]),
            status=np.append(np.where((status >= 0) & (status <= MAX_STATUS), status, 0), more),
            language=np.append(language, more),
            first_link=np.append(np.append(0, np.cumsum(counts)), more + counts.sum()),
        )
        targets = self.names.key(f"{number}-links", urls, False, np.repeat(days, counts) if self.names.dated else None)
        links = LinkColumns(targets, self._read_weights(link, len(urls)), read_attributes(link, len(urls)))
        self.put(number, records, links, self._read_texts(column, link, counts))

    def _is_same_domain(self, column: Columns, row: int) -> bool:
        addresses = (canonical(column[name][row].as_py()) for name in ("url", "canonical"))
        own, other = (self._sites.domain(self._sites.host(address)) for address in addresses)
        return own == other

    def _other_addresses(
        self, number: int, name: str, column: Columns, own: Tags, days: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], Tags]:
        """(rows whose column `name` is the address of another page, its tag)."""
        if name not in column:
            return np.zeros(0, np.int64), np.zeros(0, np.uint64)
        given = pc.fill_null(pc.not_equal(column[name], ""), False).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(given & (own != 0))
        targets = self.names.key(f"{number}-{name}", column[name].take(pa.array(rows, pa.int64())), False, days[rows])
        other = (targets != 0) & (targets != own[rows])
        return rows[other], targets[other]

    def _read_dates(self, values: pa.Array | None, count: int) -> NDArray[np.uint32]:
        seconds = np.zeros(count, np.uint32)
        for row, text in enumerate(values.to_pylist() if values is not None else ()):
            if text:
                seconds[row] = moment = parse_date(text)
                if not moment:
                    self.names.skip("capture date is not an ISO date, taken as unknown", text)
        seconds[seconds == 0] = self.undated
        return seconds

    def _read_weights(self, link: Columns, count: int) -> NDArray[np.float32]:
        """The weight of every link; empty where all are 1."""
        if "weight" not in link:
            return np.zeros(0, np.float32)
        weights = values_of(link, "weight", count, 1.0).astype(np.float32)
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
        sizes, headings = flatten_lists(column.get("headings"), len(counts))
        if len(headings):
            found["headings"] = join_lines(one_line(headings, MAX_HEADING_CHARACTERS), sizes)
        for name, field in LINK_TEXTS.items():
            if field in link and name in self.texts:
                found[name] = join_lines(one_line(link[field], MAX_LINE_CHARACTERS), counts)
        return {name: texts for name, texts in found.items() if name in self.texts}


def present(columns: Columns) -> Columns:
    """The columns that have more than nulls and empty texts."""

    def has_values(values: pa.Array) -> bool:
        is_text = pa.types.is_string(values.type) and len(values) > values.null_count
        return bool(pc.max(pc.binary_length(values)).as_py()) if is_text else values.null_count < len(values)

    return {name: values for name, values in columns.items() if has_values(values)}


def values_of(columns: Columns, name: str, count: int, default: float) -> NDArray[Any]:
    """A column as NumPy has it, `default` where it has no value."""
    if name not in columns:
        return np.full(count, default)
    return np.asarray(pc.fill_null(columns[name], default))


def flatten_lists(lists: pa.Array | None, count: int) -> tuple[NDArray[np.int64], pa.Array]:
    """(number of items per row, all items in one array)."""
    if lists is None or pa.types.is_null(lists.type):
        return np.zeros(count, np.int64), pa.array([], pa.string())
    sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return sizes, lists.flatten()


def map_texts(values: pa.Array | None, number: Callable[[str], int], count: int) -> NDArray[np.uint32]:
    """The numbers of texts, each distinct text parsed once."""
    if values is None:
        return np.zeros(count, np.uint32)
    encoded = pc.dictionary_encode(pc.fill_null(values, ""))
    numbers = np.array([number(text) for text in encoded.dictionary.to_pylist()], np.uint32)
    found: NDArray[np.uint32] = numbers[encoded.indices.to_numpy(zero_copy_only=False)]
    return found


def language_number(text: str) -> int:
    """`en-GB` → the bytes of `en` as a number; 0 if it isn't a language code."""
    code = text.replace("_", "-").split("-")[0].strip().lower()
    return int.from_bytes(code.encode(), "little") if code.isascii() and code.isalpha() and 2 <= len(code) <= 3 else 0


def read_attributes(link: Columns, count: int) -> NDArray[np.uint32]:
    """The packed attribute of every link."""
    blocks = np.zeros(count, np.uint32)
    if "block" in link:
        blocks = (np.clip(values_of(link, "block", count, -1), -1, MAX_BLOCK) + 1).astype(np.uint32)
    if "rel" not in link and "boilerplate" not in link:
        return blocks
    flags = map_texts(link.get("rel"), lambda rel: sum(REL.get(word, 0) for word in set(rel.lower().split())), count)
    flags |= values_of(link, "boilerplate", count, False).astype(np.uint32) * np.uint32(BOILERPLATE)
    return pack_all(blocks, flags)


def parse_date(text: str) -> int:
    """Seconds since 1970 of an ISO date or time, or of a 14-digit archive timestamp; 0 if it is neither.

    Of a year or a month, as references have, the first day counts. What is older than 1970 is of 1970.
    """
    text = text.strip()
    if _YEAR_OR_MONTH.fullmatch(text):
        text += "-01-01"[len(text) - 4 :]
    try:
        is_timestamp = text.isdigit() and len(text) == 14
        moment = datetime.strptime(text, "%Y%m%d%H%M%S") if is_timestamp else datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = int(moment.timestamp())
        return 1 if seconds < 0 else min(seconds, 0xFFFFFFFF)
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
