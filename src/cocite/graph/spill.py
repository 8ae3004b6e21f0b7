"""First pass of a build: page records → blocks on disk in which every address is a 64-bit fingerprint.

The text of an address is looked at once. What later passes carry is its fingerprint; its key goes to a file of names,
the first time (more or less) that it is met. Blocks are independent of each other, so several threads make them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from cocite.graph.blocks import ALIAS, BY_CANONICAL, NOINDEX, PARTIAL, Links, Records, save
from cocite.graph.columns import (
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
    text_buffers,
)
from cocite.kernels.addresses import Keyed, key_addresses
from cocite.kernels.hashing import copy_chosen, mark_unseen
from cocite.pages.key import APART, BARE, HTTP
from cocite.sources.records import Report

TEXTS = ("title", "headings", "text", "anchors", "contexts")
LINK_TEXTS = ("anchors", "contexts")
STEP = 1 << 21
"""Addresses that are keyed at once."""
MOST_DICTIONARIES = 4
QUOTED = re.compile(r"""(['"]).*?\1""")
NAMES = pa.schema([("key", pa.binary()), ("order", pa.uint16()), ("fingerprint", pa.uint64()), ("shown", pa.string())])


class Dictionary:
    """A dictionary of addresses that batches of one source share."""

    def __init__(self, name: str, addresses: pa.Array, own: bool) -> None:
        self.name = name
        self.addresses = addresses
        self.own = own
        self.fingerprint = np.zeros(len(addresses), np.uint64)
        self.used = np.zeros(len(addresses), np.bool_)


class Spill:
    """The blocks, names and texts of one build in its work folder. `add` may be called by several threads."""

    def __init__(
        self,
        folder: Path,
        report: Report,
        *,
        text: bool,
        anchors: bool,
        removed: NDArray[np.uint64],
        same_site: Callable[[str, str], bool],
        memory: int = 1 << 28,
    ) -> None:
        self.folder = folder
        self.report = report
        self.text = text
        self.anchors = anchors
        self.removed = removed
        self.same_site = same_site
        self.blocks = 0
        self.records = 0
        self.links = 0
        self.text_bytes = 0
        self.weighted = False  # some link has a weight
        self.anchored = False  # some link has a text
        self._seen = np.zeros(1 << max(10, (memory >> 3).bit_length() - 1), np.uint64)
        self._lock = threading.Lock()
        self._dictionaries: dict[tuple[int, ...], Dictionary] = {}
        self._dictionary_lock = threading.Lock()
        (folder / "blocks").mkdir()
        (folder / "names").mkdir()
        (folder / "texts").mkdir()

    def finish(self) -> None:
        """No more records will come: enter the names of shared dictionaries, and free what only reading needs."""
        for shared in self._dictionaries.values():
            self._enter_dictionary(shared)
        self._seen = np.zeros(1, np.uint64)
        self._dictionaries = {}

    def block_files(self) -> list[Path]:
        """Every block, in the order of its records, to be given to `load_records` and `load_links`."""
        return [self.folder / "blocks" / f"{i:06d}" for i in range(self.blocks)]

    def text_file(self, block: int) -> Path:
        """The texts of a block's records, a row each (the file is absent where there are none)."""
        return self.folder / "texts" / f"{block:06d}.parquet"

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

    def put(self, number: int, records: Records, links: Links, texts: pa.Table | None) -> None:
        """Set down a block and its texts."""
        save(records, self.folder / "blocks" / f"{number:06d}.records")
        save(links, self.folder / "blocks" / f"{number:06d}.links")
        with self._lock:
            self.weighted |= len(links.weight) > 0
        if texts is not None:
            with self._lock:
                self.text_bytes += texts.nbytes
                self.anchored |= any(texts[name].null_count < len(texts) for name in LINK_TEXTS)
            pq.write_table(
                texts, self.text_file(number), compression="lz4", write_statistics=False, use_dictionary=False
            )

    # ------------------------------------------------------------------------------------------------- reading a batch

    def _read(self, number: int, batch: pa.RecordBatch) -> tuple[Records, Links, pa.Table | None]:
        column = {name: batch.column(i) for i, name in enumerate(batch.schema.names)}
        own = self._key(f"{number}-pages", column["url"], own=True)
        lists = column.get("links")
        counts, links = flatten_lists(lists, len(batch))
        first_link = np.zeros(len(batch) + 1, np.int64)
        np.cumsum(counts, out=first_link[1:])
        urls = links.field("url") if isinstance(links, pa.StructArray) else links

        def link_column(name: str) -> pa.Array | None:
            return struct_field(links, name)

        weight, bad_weights = read_weights(link_column("weight"), len(urls))
        if bad_weights:
            self._skip("link weight is not in (0, 1], taken as 1", "", bad_weights)
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
        records = Records(
            fingerprint=np.append(fingerprint, own[rows]),
            kind=np.append(kind, np.full(more, ALIAS, np.uint8)),
            alias=np.append(leads, canonical),
            captured=np.append(captured, captured[rows]),
            status=np.append(read_numbers(column.get("status"), len(batch), 999), np.zeros(more)).astype(np.uint16),
            language=np.append(read_languages(column.get("lang"), len(batch)), np.zeros(more, np.uint32)),
            first_link=np.append(first_link, np.full(more, first_link[-1])),
        )
        links_read = Links(
            target=self._key(f"{number}-links", urls, own=False),
            attribute=read_attributes(link_column("block"), link_column("rel"), link_column("boilerplate"), len(urls)),
            weight=weight,
        )
        return records, links_read, self._read_texts(column, counts, link_column)

    def _key(self, name: str, urls: pa.Array, own: bool) -> NDArray[np.uint64]:
        """Fingerprints of addresses; names that are new go to the file of names."""
        if pa.types.is_dictionary(urls.type):
            return self._key_dictionary(name, urls, own)
        fingerprints = np.zeros(len(urls), np.uint64)
        for start in range(0, len(urls), STEP):
            part = urls.slice(start, STEP)
            data, offsets = text_buffers(part)
            keyed = key_addresses(data, offsets)
            keyed.fingerprint = self._usable(keyed, part)
            self._enter(f"{name}-{start}", keyed, own)
            fingerprints[start : start + len(part)] = keyed.fingerprint
        return fingerprints

    def _key_dictionary(self, name: str, urls: pa.Array, own: bool) -> NDArray[np.uint64]:
        """As `_key`, each distinct address once: a dictionary that batches share is keyed with the first of them.

        Its names are entered in the end, and only those that were used: a graph's vertices may stand alone.
        """
        dictionary, indices = urls.dictionary, urls.indices
        valid = indices.is_valid().to_numpy(zero_copy_only=False)
        places = indices.drop_null().to_numpy(zero_copy_only=False)
        identity = (len(dictionary), dictionary.offset, *(buffer.address for buffer in dictionary.buffers() if buffer))
        with self._dictionary_lock:
            shared = self._dictionaries.get(identity)
            if shared is None:
                shared = self._dictionaries[identity] = Dictionary(name, dictionary, own)
                for start in range(0, len(dictionary), STEP):
                    part = dictionary.slice(start, STEP)
                    shared.fingerprint[start : start + STEP] = self._usable(key_addresses(*text_buffers(part)), part)
            shared.used[places] = True  # before another thread can have its names entered
            if len(self._dictionaries) > MOST_DICTIONARIES:
                self._enter_dictionary(self._dictionaries.pop(next(iter(self._dictionaries))))
        fingerprints = np.zeros(len(indices), np.uint64)
        fingerprints[valid] = shared.fingerprint[places]
        return fingerprints

    def _enter_dictionary(self, shared: Dictionary) -> None:
        """Enter the names of a dictionary that were used."""
        for start in range(0, len(shared.addresses), STEP):
            keyed = key_addresses(*text_buffers(shared.addresses.slice(start, STEP)))
            used = shared.used[start : start + STEP] & (shared.fingerprint[start : start + STEP] != 0)
            keyed.fingerprint = np.where(used, keyed.fingerprint, np.uint64(0))
            self._enter(f"{shared.name}-dictionary-{start}", keyed, shared.own)

    def _usable(self, keyed: Keyed, urls: pa.Array) -> NDArray[np.uint64]:
        """Fingerprints, 0 for addresses that are no pages (they are reported) and for removed pages."""
        for index, message in keyed.bad:
            # Counted by kind: neither what to do about it nor the address itself.
            reason = QUOTED.sub("…", message.rpartition(": ")[0] or message)
            self._skip(reason, str(urls[index].as_py() or "")[:200])
        fingerprints = keyed.fingerprint
        if len(self.removed):
            gone = np.isin(fingerprints, self.removed)
            if gone.any():
                with self._lock:  # as the user wants it: no fault of the source
                    self.report.read["addresses of pages removed from this store"] += int(gone.sum())
                fingerprints = np.where(gone, np.uint64(0), fingerprints)
        return fingerprints

    def _enter(self, name: str, keyed: Keyed, own: bool) -> None:
        """Write names that are new to the file of names."""
        fingerprints = keyed.fingerprint
        orders = spelling_orders(keyed.flags, own)
        fresh = np.zeros(len(fingerprints), np.bool_)
        count = mark_unseen(fingerprints, orders, self._seen, fresh)
        for index in keyed.shown:
            if fingerprints[index] and not fresh[index]:
                fresh[index] = True
                count += 1
        if count:
            sizes = np.diff(keyed.offsets)[fresh]
            data, offsets = np.empty(int(sizes.sum()), np.uint8), np.empty(count + 1, np.int64)
            copy_chosen(keyed.data, keyed.offsets, fresh, data, offsets)
            shown = (
                [keyed.shown.get(int(i)) for i in np.flatnonzero(fresh)]
                if keyed.shown
                else pa.nulls(count, pa.string())
            )
            self.put_names(name, data, offsets, orders[fresh], fingerprints[fresh], shown)

    def put_names(
        self,
        name: str,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        orders: NDArray[np.uint16],
        fingerprints: NDArray[np.uint64],
        shown: list[str | None] | pa.Array,
    ) -> None:
        """Write keys to a file of names."""
        keys = pa.Array.from_buffers(
            pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        ).cast(pa.binary())
        shown = shown if isinstance(shown, pa.Array) else pa.array(shown, pa.string())
        table = pa.Table.from_arrays([keys, pa.array(orders), pa.array(fingerprints), shown], schema=NAMES)
        pq.write_table(
            table,
            self.folder / "names" / f"{name}.parquet",
            compression="lz4",
            write_statistics=False,
            use_dictionary=False,
        )

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
        targets = self._key(f"{number}-{name}", values.take(pa.array(rows, pa.int64())), own=False)
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
                    self._skip("capture date is not an ISO date, taken as unknown", text)
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

    def _skip(self, reason: str, example: str, count: int = 1) -> None:
        with self._lock:
            self.report.skip(reason, example, count)


def spelling_orders(flags: NDArray[np.uint8], own: bool) -> NDArray[np.uint16]:
    """Which spelling of a page to show: its own record's, then one that needs no text, then https."""
    wide = flags.astype(np.uint16)
    rank = ((wide & APART) >> 7 << 14) | ((wide & HTTP) << 13) | ((wide & BARE) >> 3 << 12)
    return (rank | wide | (0 if own else 1 << 15)).astype(np.uint16)
