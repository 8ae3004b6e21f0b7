"""Second pass of a build: names → page numbers, in the order of their keys.

DuckDB sorts the names out of core. They come back in order; each page's first row (the spelling to show) is kept, and
names, fingerprints, hosts, domains and sites are written as they pass.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from glob import escape
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.columns import text_buffers
from cocite.graph.generation import Writer
from cocite.graph.huffman import Code
from cocite.graph.ordered import in_order
from cocite.graph.texts import TextWriter
from cocite.kernels import name_codec
from cocite.kernels.hashing import copy_chosen, count_buckets, fill_buckets
from cocite.kernels.names import mark_changes, mark_hosts
from cocite.pages.key import from_key
from cocite.pages.site import HostRule, Sites
from cocite.sources.records import Report

BATCH = 1 << 17
"""Names that are encoded at once, a whole number of blocks; the first batch is the sample for their code."""
MOST_PAGES = (1 << 32) - 2
MOST_SITES = 1 << 20
"""Sites of one host that are remembered; they take some 100 MB."""
LEAST_MEMORY = 128 << 20
"""What DuckDB needs to sort at all."""

Batch = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint64], list[str | None] | None]


def number_pages(
    folder: Path,
    writer: Writer,
    sites: Sites,
    memory: int,
    threads: int,
    pool: ThreadPoolExecutor,
    report: Report,
    progress: Callable[[int], None],
) -> int:
    """Write everything that is known of pages by name; returns how many there are."""
    try:
        pages = sort_names(folder, NameWriter(writer, sites, pool), memory, threads, progress)
    except duckdb.Error as error:
        why = str(error).splitlines()[0]
        raise BadStore(f"names cannot be sorted: give more memory, or room on the disk ({why})") from error
    pool.submit(shutil.rmtree, folder / "names", ignore_errors=True)
    if pages:
        write_look_up(writer, report)
    return pages


def sort_names(folder: Path, names: NameWriter, memory: int, threads: int, progress: Callable[[int], None]) -> int:
    """Hand the names to a writer in order, each once; returns how many there are."""
    with duckdb.connect() as database:
        database.execute(
            f"SET memory_limit = '{max(memory, LEAST_MEMORY) >> 20}MiB'; SET threads = {threads};"
            "SET enable_progress_bar = false"
        )
        database.execute("SET temp_directory = ?", [str(folder / "sort")])
        database.execute("SET preserve_insertion_order = false")
        files = str(Path(escape(str(folder / "names"))) / "*.parquet")
        if not any((folder / "names").iterdir()):
            return 0
        reader = database.sql(
            'SELECT key, "order", fingerprint, shown FROM read_parquet(?) ORDER BY key, "order", shown', params=[files]
        ).to_arrow_reader(BATCH)
        return names.write(distinct(reader), progress)


def distinct(reader: object) -> Iterator[Batch]:
    """The first row of every key, in batches of BATCH (DuckDB's vary from run to run, a store must not)."""
    left: Batch | None = None
    last = b""
    for batch in reader:  # type: ignore[attr-defined]
        data, offsets = text_buffers(batch.column(0))
        first = np.empty(len(offsets) - 1, np.bool_)
        mark_changes(data, offsets, np.frombuffer(last, np.uint8), first)
        if len(offsets) > 1:
            last = data[offsets[-2] : offsets[-1]].tobytes()
        if not first.any():
            continue
        sizes = np.diff(offsets)[first]
        kept, kept_offsets = np.empty(int(sizes.sum()), np.uint8), np.empty(int(first.sum()) + 1, np.int64)
        copy_chosen(data, offsets, first, kept, kept_offsets)
        shown = batch.column(3)
        texts = None if shown.null_count == len(shown) else list(np.array(shown.to_pylist(), object)[first])
        current: Batch = (
            kept,
            kept_offsets,
            batch.column(1).to_numpy()[first],
            batch.column(2).to_numpy()[first],
            texts,
        )
        if left is not None:
            current = join(left, current)
        while len(current[2]) >= BATCH:
            yield cut(current, 0, BATCH)
            current = cut(current, BATCH, len(current[2]))
        left = current
    if left is not None and len(left[2]):
        yield left


def join(a: Batch, b: Batch) -> Batch:
    """Two batches as one."""
    texts = None
    if a[4] is not None or b[4] is not None:
        texts = (a[4] or [None] * len(a[2])) + (b[4] or [None] * len(b[2]))
    return (
        np.concatenate([a[0], b[0]]),
        np.concatenate([a[1], b[1][1:] + a[1][-1]]),
        np.concatenate([a[2], b[2]]),
        np.concatenate([a[3], b[3]]),
        texts,
    )


def cut(batch: Batch, start: int, stop: int) -> Batch:
    """Rows [start, stop) of a batch."""
    data, offsets, orders, fingerprints, texts = batch
    return (
        data[offsets[start] : offsets[stop]],
        offsets[start : stop + 1] - offsets[start],
        orders[start:stop],
        fingerprints[start:stop],
        texts and texts[start:stop],
    )


@dataclass(slots=True)
class Area:
    """A domain, or a part of one that is a site of its own."""

    mark: bytes  # its name reversed, as keys begin
    domain: int
    site: int = -1  # the site of its pages, once there is one


class NameWriter:
    """Writes the names of pages in order, and to which host, domain and site each page belongs."""

    def __init__(self, writer: Writer, sites: Sites, pool: ThreadPoolExecutor) -> None:
        self._writer = writer
        self._sites = sites
        self._pool = pool
        self._codes: tuple[Code, Code] | None = None  # made from the first batch
        self._pages = 0
        self._bits = 0
        self._hosts = 0
        self._domains = 0
        self._site_count = 0
        self._last_host = b""
        self._rule = HostRule("", "", (), frozenset())
        # Areas whose hosts may still follow; one can lie in another: amazonaws.com resumes after *.s3.amazonaws.com.
        self._open: list[Area] = []
        self._area = Area(b"", 0)
        self._own_sites: dict[str, int] = {}  # of this host: a site's pages on another port come after other sites
        self._home_patterns = sites.rule_for_host("localhost").patterns  # those that hold for any host
        initials = "".join(pattern.parts[0][0] for pattern in self._home_patterns)
        self._home_initials = np.frombuffer(initials.encode(), np.uint8)

    def write(self, batches: Iterator[Batch], progress: Callable[[int], None]) -> int:
        """Write all names; returns how many."""
        shown = TextWriter(self._writer, "shown")
        for batch, words, starts in in_order(self._encode, self._with_codes(batches), self._pool, 2):
            data, offsets, orders, fingerprints, texts = batch
            self._writer.append("name.block", (starts + self._bits).astype(np.uint64))
            self._writer.append("name.words", words)
            self._bits += len(words) * 64
            self._writer.append("fingerprint", fingerprints)
            self._writer.append("name.spelling", (orders & np.uint16(0xFF)).astype(np.uint8))
            if texts is not None:
                for i, text in enumerate(texts):
                    if text is not None:
                        shown.append(self._pages + i, text.encode())
            self._put_sites(data, offsets)
            self._pages += len(orders)
            if self._pages > MOST_PAGES:
                raise BadStore(f"more than {MOST_PAGES:,} pages do not fit into one store: build several")
            progress(len(orders))
        shown.close()
        if self._codes is not None:
            self._writer.append("name.code", np.concatenate([code.lengths for code in self._codes]))
            self._writer.append("name.words", np.zeros(1, np.uint64))
        return self._pages

    def _with_codes(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The batches, once there are codes made from the first: no thread may choose which batch that is."""
        for batch in batches:
            self._codes = self._codes or make_codes(batch[0], batch[1])
            yield batch

    def _encode(self, batch: Batch) -> tuple[Batch, NDArray[np.uint64], NDArray[np.int64]]:
        """A batch with its names encoded: each begins with a new block of names, and with a new word."""
        data, offsets = batch[0], batch[1]
        assert self._codes is not None
        characters, shared = self._codes
        count = len(offsets) - 1
        words = np.zeros((len(data) + 2 * count) * 20 // 64 + 2, np.uint64)
        starts = np.zeros(-(-count // name_codec.BLOCK), np.int64)
        bits = name_codec.encode_names(
            data, offsets, characters.codes, characters.lengths, shared.codes, shared.lengths, words, starts
        )
        return batch, words[: (bits + 63) >> 6], starts

    def _put_sites(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        count = len(offsets) - 1
        first, lengths, initials = np.empty(count, np.bool_), np.empty(count, np.int64), np.empty(count, np.uint8)
        mark_hosts(data, offsets, first, lengths, initials)
        begins = np.flatnonzero(first)
        ends = np.append(begins[1:], count)
        # Nearly all hosts have no pattern but that of users' homes, and no such page: they cost one look-up each.
        homes = np.append(0, np.cumsum(np.isin(initials, self._home_initials)))
        with_homes = (homes[ends] > homes[begins]).tolist()
        numbers, area_sites = np.empty(len(begins), np.uint32), np.empty(len(begins), np.uint32)
        host_domains: list[int] = []
        host_pages: list[int] = []
        site_pages: list[int] = []
        own_sites: list[tuple[NDArray[np.int64], list[int]]] = []
        at, size = offsets[begins].tolist(), lengths[begins].tolist()
        raw = data.tobytes()
        for i, begin in enumerate(begins.tolist()):
            host = raw[at[i] : at[i] + size[i]]
            if host != self._last_host:
                self._last_host = host
                self._enter_host(host)
                host_domains.append(self._area.domain)
                host_pages.append(self._pages + begin)
                self._hosts += 1
            numbers[i] = self._hosts - 1
            if self._area.site < 0:
                self._area.site = self._new_site(begin, site_pages)
            area_sites[i] = self._area.site
            if self._rule.patterns and (with_homes[i] or self._rule.patterns is not self._home_patterns):
                end = int(ends[i])
                rows = begin + self._candidates(initials[begin:end])
                names = [from_key(raw[offsets[row] : offsets[row + 1]].decode("utf-8", "replace")) for row in rows]
                own_sites.append((rows, self._split(rows.tolist(), names, site_pages)))
        page_sites = np.repeat(area_sites, ends - begins)
        for rows, values in own_sites:
            found = np.array(values, np.int64)
            page_sites[rows[found >= 0]] = found[found >= 0]
        self._writer.append("page.host", np.repeat(numbers, ends - begins))
        self._writer.append("page.site", page_sites)
        self._writer.append("host.page", np.array(host_pages, np.uint32))
        self._writer.append("host.domain", np.array(host_domains, np.uint32))
        self._writer.append("site.page", np.array(site_pages, np.uint32))

    def _enter_host(self, host_key: bytes) -> None:
        """Find or open the domain of a new host, and its own site if that is a part of the domain."""
        if host_key[0] < 32 or b"," not in host_key:
            host = self._sites.host(from_key(host_key.decode("utf-8", "replace")))
        else:
            host = ".".join(reversed(host_key[:-1].decode().split(",")))
        self._rule = self._sites.rule_for_host(host)
        self._own_sites = {}
        while self._open and not covers(self._open[-1].mark, host_key):
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

    def _new_site(self, at: int, site_pages: list[int]) -> int:
        site_pages.append(self._pages + at)
        self._site_count += 1
        return self._site_count - 1

    def _candidates(self, initials: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Pages of this host whose path begins as some pattern does."""
        wanted = {pattern.parts[0][0] for pattern in self._rule.patterns}
        if "*" in wanted:
            return np.flatnonzero(initials)
        return np.flatnonzero(np.isin(initials, np.frombuffer("".join(wanted).encode(), np.uint8)))

    def _split(self, rows: list[int], names: list[str], site_pages: list[int]) -> list[int]:
        """Sites of a platform's pages, -1 for the platform's own; pages of one site mostly follow each other."""
        numbers = []
        for row, name in zip(rows, names, strict=True):
            site = self._sites.site(name)
            if site == self._rule.site:
                numbers.append(-1)
                continue
            if site not in self._own_sites:
                if len(self._own_sites) >= MOST_SITES:
                    self._own_sites.clear()
                self._own_sites[site] = self._new_site(row, site_pages)
            numbers.append(self._own_sites[site])
        return numbers


def covers(domain: bytes, host_key: bytes) -> bool:
    """Whether a reversed domain holds a host's key."""
    return host_key.startswith(domain) and host_key[len(domain) : len(domain) + 1] in (b",", b")", b"")


def make_codes(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> tuple[Code, Code]:
    """Codes for the bytes and the shared lengths of names like these."""
    characters, shared = np.zeros(256, np.int64), np.zeros(256, np.int64)
    name_codec.count_characters(data, offsets, characters, shared)
    return Code.from_counts(characters), Code.from_counts(shared)


def write_look_up(writer: Writer, report: Report) -> None:
    """Write the index from fingerprints to pages: about four pages a bucket."""
    writer.finish("fingerprint")
    fingerprints = writer.map("fingerprint")
    bits = max(1, (len(fingerprints) // 4).bit_length())
    starts = np.zeros((1 << bits) + 1, np.int64)
    count_buckets(fingerprints, 64 - bits, starts)
    pages = np.zeros(len(fingerprints), np.uint32)
    twins = fill_buckets(fingerprints, 64 - bits, starts, pages)
    if twins:  # by chance once in thousands of large webs; by somebody's will it must not stop a build
        report.skip("address has the fingerprint of another, which gets its links", "", int(twins))
    writer.append("look_up.start", starts.astype(np.uint32))
    writer.append("look_up.page", pages)
