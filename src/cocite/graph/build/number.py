"""Second pass of a build: names → page numbers, in the order of their keys; and the host, domain and site of each page.

Names are sorted in memory (sort_names.py) or, where they don't fit, by DuckDB. Of each page the first row (the spelling
to show) is kept, and names, fingerprints, hosts, domains and sites are written as they pass. The tags of pages go to
the scratch space.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.arrays import Keys
from cocite.graph.build.name_pieces import encode_keys, made_for, name_code
from cocite.graph.build.names import NAME_COLUMNS, key_array, text_buffers
from cocite.graph.build.scratch import ScratchSpace, Workers
from cocite.graph.build.sort_names import memory_to_sort, sorted_in_memory
from cocite.graph.generation import Progress, Writer, no_progress
from cocite.graph.names import CODED_NAMES, coded_names, read_keys
from cocite.graph.texts import TextColumn, TextWriter
from cocite.kernels.addresses.hashes import hash_keys
from cocite.kernels.addresses.texts import mark_hosts
from cocite.kernels.codec.look_up import fill_buckets
from cocite.pages.key import APART, from_key
from cocite.pages.site import HostRule, Pattern, Sites

MAX_PAGES = (1 << 32) - 2
BATCH_NAMES = 1 << 17  # names encoded at once, a whole number of blocks; the first batch is the sample for their code
REREAD_NAMES = 1 << 16
FEW_NAMES = 20_000  # sorted by Arrow: that takes less time than to compile a kernel
MIN_SORT_BYTES = 128 << 20  # what DuckDB needs to sort at all
MAX_SITES = 1 << 20  # sites of one host that are cached; they take some 100 MB
MAX_BUCKET_PAGES = 64  # sorted in a kernel; a bucket has about four pages, unless somebody makes addresses for it
TAGS = "tags"  # the column of the tags of all pages
Batches = Iterable[pa.RecordBatch]  # rows of NAME_COLUMNS
Hashes = NDArray[np.uint64]


def number_pages(
    scratch: ScratchSpace, writer: Writer, sites: Sites | None, memory: int, workers: Workers, progress: Progress
) -> int:
    """Write all arrays that depend on names only; returns the number of pages. Without `sites`, no hosts and sites."""
    names = scratch.names(".names")
    if not names:
        return 0
    with sorted_names(scratch, names, memory, workers) as batches:
        pages = write_names(writer, sites, workers, keep_tags(batches, scratch), progress)
    scratch.close()
    workers.submit(scratch.remove, *names)
    return pages


@contextmanager
def sorted_names(scratch: ScratchSpace, names: list[str], memory: int, workers: Workers) -> Iterator[Batches]:
    """The first name of every page, in the order of keys, then of spellings, BATCH_NAMES at a time."""
    if scratch.table_size(".names")[0] <= FEW_NAMES:
        table = pa.concat_tables(scratch.tables(".names"))
        ordered = table.sort_by([(column, "ascending") for column in ("key", "order", "shown")])
        yield in_batches(distinct(ordered.to_batches(BATCH_NAMES)))
        return
    if scratch.folder is None or memory_to_sort(scratch) <= memory:
        yield sorted_in_memory(scratch, workers, BATCH_NAMES)
        return
    try:
        with duckdb.connect() as database:
            threads = max(1, workers.threads)
            database.execute(f"SET memory_limit = '{max(memory, MIN_SORT_BYTES) >> 20}MiB'; SET threads = {threads}")
            with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets there is none to switch off
                database.execute("SET enable_progress_bar = false")
            database.execute("SET temp_directory = ?", [str(scratch.folder / "sort")])
            database.execute("SET preserve_insertion_order = false")
            rows = database.sql(
                'SELECT key, "order", tag, shown FROM read_parquet(?) ORDER BY key, "order", shown',
                params=[str(Path(escape(str(scratch.folder))) / "*.names")],
            )
            yield in_batches(distinct(rows.to_arrow_reader(BATCH_NAMES)))
    except duckdb.Error as error:
        why = str(error).splitlines()[0]
        raise BadStore(f"names cannot be sorted: give more memory, or room on the disk ({why})") from error


def distinct(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The first row of every key."""
    last = None
    for batch in batches:
        if len(batch):
            keys = batch.column("key")
            changes = pc.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
            yield batch.filter(pa.array(np.append(keys[0].as_py() != last, changes)))
            last = keys[-1].as_py()


def in_batches(parts: Batches) -> Iterator[pa.RecordBatch]:
    """The same rows BATCH_NAMES at a time: DuckDB's parts vary from run to run, a store must not."""
    waiting = pa.Table.from_batches([], NAME_COLUMNS)
    for part in parts:
        waiting = pa.concat_tables([waiting, pa.Table.from_batches([part]).cast(NAME_COLUMNS)])
        while len(waiting) >= BATCH_NAMES:
            yield from waiting[:BATCH_NAMES].combine_chunks().to_batches()
            waiting = waiting[BATCH_NAMES:]
    if len(waiting):
        yield from waiting.combine_chunks().to_batches()


def keep_tags(batches: Batches, scratch: ScratchSpace) -> Iterator[pa.RecordBatch]:
    """The same rows; their tags become the column TAGS of the scratch space."""
    for batch in batches:
        scratch.append({TAGS: batch.column("tag").to_numpy()})
        yield batch


def keep_pages(writer: Writer, sites: Sites | None, workers: Workers, kept: NDArray[np.bool_]) -> None:
    """Write names and the like again, for some of the pages only."""
    written = {name: writer.map(name) for name in writer.arrays}
    for name in written:  # they stay mapped until they have been read
        writer.discard(name)
    write_names(writer, sites, workers, in_batches(name_batches(written, kept)), no_progress)


def name_batches(written: dict[str, NDArray[Any]], chosen: NDArray[np.bool_]) -> Iterator[pa.RecordBatch]:
    """Names of a store, those of some of its pages, as rows of NAME_COLUMNS."""
    names, texts = coded_names(written), TextColumn(written, "shown")
    for first in range(0, len(chosen), REREAD_NAMES):
        some, own = slice(first, first + REREAD_NAMES), chosen[first : first + REREAD_NAMES]
        spelling = written["name.spelling"][some][own].astype(np.uint16)
        pages = (first + np.flatnonzero(own)).tolist()
        shown = [texts[page] if each == APART else None for page, each in zip(pages, spelling.tolist(), strict=True)]
        keys = key_array(*read_keys(names, first, len(own)), own)
        columns = [keys, spelling, np.zeros(len(spelling), np.uint64), pa.array(shown, pa.string())]
        yield pa.RecordBatch.from_arrays(columns, schema=NAME_COLUMNS)


def write_names(writer: Writer, sites: Sites | None, workers: Workers, batches: Batches, progress: Progress) -> int:
    """Write the names of pages in order, and the host, domain and site of each page; returns how many."""
    shown, put, batches = TextWriter(writer, "shown"), writer.append, iter(batches)
    of_sites = None if sites is None else SiteWriter(writer, sites)
    first = next(batches)  # their codes are made from it
    characters, shared, pieces = made_for(text_buffers(first.column("key")))
    code = name_code(characters, shared, pieces)

    def encode(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Keys, Hashes, NDArray[np.uint64], NDArray[np.int64]]:
        """(batch, its keys, their fingerprints, their code, the first bit of each block).

        It begins with a new block and a new word.
        """
        keys = text_buffers(batch.column("key"))
        words, starts, bits = encode_keys(keys, code)
        fingerprints = np.empty(len(batch), np.uint64)
        hash_keys(*keys, fingerprints)
        return batch, keys, fingerprints, words[: (bits + 63) >> 6], starts

    pages = bits = 0
    for batch, keys, fingerprints, words, starts in workers.in_order(encode, chain([first], batches)):
        put("name.block", (starts + bits).astype(np.uint64))
        put("name.words", words)
        put("fingerprint", fingerprints)
        put("name.spelling", (batch.column("order").to_numpy() & np.uint16(0xFF)).astype(np.uint8))
        texts = batch.column("shown")
        for i in np.flatnonzero(texts.is_valid()) if texts.null_count < len(texts) else ():
            shown.append(pages + int(i), texts[int(i)].as_py().encode())
        if of_sites is not None:
            of_sites.append(*keys)
        pages += len(batch)
        bits += len(words) * 64
        if pages > MAX_PAGES:
            raise BadStore(f"more than {MAX_PAGES:,} pages do not fit into one store: build several")
        progress("numbering pages", len(batch), None)
    shown.close()
    put("name.code", np.concatenate([characters.lengths, shared.lengths]))
    if len(pieces):
        put("name.piece", pieces)
    put("name.words", np.zeros(1, np.uint64))
    return pages


def count_opaque_names(writer: Writer) -> int:
    """The number of pages that have an opaque name instead of an address: their keys come first."""
    firsts = writer.map("host.page")  # each is a host of its own
    names = coded_names({name: writer.map(name) for name in writer.arrays if name in CODED_NAMES})
    return bisect_left(range(len(firsts)), True, key=lambda at: read_keys(names, int(firsts[at]), 1)[0][0] >= ord(" "))


def write_look_up(writer: Writer) -> int:
    """Write the index from fingerprints to pages; returns how many pages have the fingerprint of another."""
    writer.finish("fingerprint")
    starts, pages, twins = look_up_arrays(writer.map("fingerprint"))
    writer.append("look_up.start", starts)
    writer.append("look_up.page", pages)
    return twins


def look_up_arrays(fingerprints: Hashes, ordered: bool = True) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int]:
    """Where the buckets of fingerprints start, about four pages each; the pages; how many repeat a fingerprint.

    Without `ordered`, pages are by number within a bucket, as in format 1, and nothing is counted.
    """
    bits = max(1, (len(fingerprints) // 4).bit_length())
    starts, pages = np.zeros((1 << bits) + 1, np.int64), np.zeros(len(fingerprints), np.uint32)
    twins = int(fill_buckets(fingerprints, 64 - bits, starts, pages, MAX_BUCKET_PAGES if ordered else 0))
    for bucket in np.flatnonzero(np.diff(starts) > MAX_BUCKET_PAGES).tolist() if ordered else ():
        some = slice(starts[bucket], starts[bucket + 1])
        own = fingerprints[pages[some]]
        order = np.argsort(own, kind="stable")
        pages[some], own = pages[some][order], own[order]
        twins += int(np.count_nonzero(own[1:] == own[:-1]))
    return starts.astype(np.uint32), pages, twins


@dataclass(slots=True)
class Area:
    """A domain, or a part of one that is a site of its own."""

    mark: bytes  # its name reversed, as keys begin
    domain: int
    site: int = -1  # the site of its pages, once there is one


class SiteWriter:
    """Writes the numbers of each page's host and site, and of each host's domain."""

    def __init__(self, writer: Writer, sites: Sites) -> None:
        self._writer, self._sites = writer, sites
        self._pages = self._hosts = self._domains = self._site_count = 0
        self._last_host = b""
        self._rule = HostRule("")
        # Areas whose hosts may still follow; one can lie in another: amazonaws.com resumes after *.s3.amazonaws.com.
        self._open: list[Area] = []
        self._area = Area(b"", 0)
        self._own_sites: dict[str, int] = {}  # of this host: a site's pages on another port come after other sites
        self._home_patterns = sites.rule_for_host("localhost").patterns  # those that hold for any host
        self._home_initials = _initials(self._home_patterns)

    def append(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        """Go on with the next keys."""
        count = len(offsets) - 1
        first, lengths, initials = np.empty(count, np.bool_), np.empty(count, np.int64), np.empty(count, np.uint8)
        mark_hosts(data, offsets, first, lengths, initials)
        begins = np.flatnonzero(first)
        ends = np.append(begins[1:], count)
        # Nearly all hosts have no pattern but that of users' homes, and no such page: they cost one look-up each.
        homes = np.append(0, np.cumsum(np.isin(initials, self._home_initials)))
        with_homes = (homes[ends] > homes[begins]).tolist()
        page_hosts, page_sites = np.empty(count, np.uint32), np.empty(count, np.uint32)
        found: dict[str, list[int]] = {"host.page": [], "host.domain": [], "site.page": []}
        at, size = offsets[begins].tolist(), lengths[begins].tolist()
        raw = data.tobytes()

        def new_site(row: int) -> int:
            found["site.page"].append(self._pages + row)
            self._site_count += 1
            return self._site_count - 1

        for i, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
            host = raw[at[i] : at[i] + size[i]]
            if host != self._last_host:
                self._enter_host(host)
                found["host.domain"].append(self._area.domain)
                found["host.page"].append(self._pages + begin)
            page_hosts[begin:end] = self._hosts - 1
            if self._area.site < 0:
                self._area.site = new_site(begin)
            page_sites[begin:end] = self._area.site
            patterns = self._rule.patterns
            if patterns and (with_homes[i] or patterns is not self._home_patterns):
                wanted = _initials(patterns)
                own = initials[begin:end]
                for row in (begin + np.flatnonzero(own if ord("*") in wanted else np.isin(own, wanted))).tolist():
                    name = from_key(raw[offsets[row] : offsets[row + 1]].decode("utf-8", "replace"))
                    site = self._sites.site(name)
                    if site == self._rule.site:
                        continue
                    if site not in self._own_sites:
                        if len(self._own_sites) >= MAX_SITES:
                            self._own_sites.clear()
                        self._own_sites[site] = new_site(row)
                    page_sites[row] = self._own_sites[site]
        self._writer.append("page.host", page_hosts)
        self._writer.append("page.site", page_sites)
        for name, pages in found.items():
            self._writer.append(name, np.array(pages, np.uint32))
        self._pages += count

    def _enter_host(self, host_key: bytes) -> None:
        """Find or open the domain of a new host, and its own site if that is a part of the domain."""
        self._last_host = host_key
        self._hosts += 1
        if b"," in host_key and host_key[0] >= 32:  # twice as fast as from_key
            host = ".".join(reversed(host_key[:-1].decode().split(",")))
        else:
            host = self._sites.host(from_key(host_key.decode("utf-8", "replace")))
        self._rule = self._sites.rule_for_host(host)
        self._own_sites = {}
        while self._open and not _covers(self._open[-1].mark, host_key):
            self._open.pop()
        domain = self._sites.domain(host)
        self._area = self._area_of(domain, host_key, self._domains)
        self._domains = max(self._domains, self._area.domain + 1)
        if self._rule.site != domain:
            self._area = self._area_of(self._rule.site, host_key, self._area.domain)

    def _area_of(self, name: str, host_key: bytes, domain: int) -> Area:
        mark = ",".join(reversed(name.split("."))).encode() if b"," in host_key else host_key
        for area in self._open:
            if area.mark == mark:
                return area
        self._open.append(Area(mark, domain))
        return self._open[-1]


def _initials(patterns: Sequence[Pattern]) -> NDArray[np.uint8]:
    """The first characters of the paths of patterns."""
    return np.frombuffer("".join(pattern.parts[0][0] for pattern in patterns).encode(), np.uint8)


def _covers(domain: bytes, host_key: bytes) -> bool:
    """Whether a host is in a domain, both reversed."""
    return host_key.startswith(domain) and host_key[len(domain) : len(domain) + 1] in (b",", b")", b"")
