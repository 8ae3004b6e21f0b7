"""Fourth pass of a build: links in both directions, sorted and encoded.

Links go into columns by *bucket*, a range of pages that fits in memory: first of their source, then, encoded and turned
round, of their target. Threads work on blocks and buckets; what they make is written in order, so the bytes of a store
do not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.build.resolve import Block, Resolved
from cocite.graph.build.scratch import PARTIAL
from cocite.graph.build.write_lists import NO_ATTRIBUTES, EncodedLists, ListWriter, count_symbols, encode
from cocite.graph.generation import Writer
from cocite.graph.huffman import Code
from cocite.kernels.build import sorting
from cocite.kernels.build.sorting import BatchRows, BucketRows, Cells
from cocite.kernels.codec.attributes import all_blocks

BYTES_PER_LINK = 64
"""Memory for sorting one link of a bucket, all arrays together."""
MIN_BUCKET_LINKS = 1 << 16
CAUSES = ("repeated", "to_itself", "replaced", "unusable")
"""Why links are skipped: the page has the same link before; it links to itself; its capture does not count (a newer one
does, or the page is an alias); its address isn't usable, or is that of a removed page."""
NO_LINE = np.uint32(0xFFFFFFFF)
"""Place of a link whose record has no texts that count."""
COLUMNS: dict[str, type[np.generic]] = {
    **dict.fromkeys(("source", "count", "target", "attribute"), np.uint32),
    "weight": np.float32,
    "position": np.uint32,
}
"""Of a bucket: rows of (source, number of links), then a value for each link."""
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Buckets:
    """Ranges of pages with a limited number of links."""

    borders: list[int]  # page numbers: bucket b is [borders[b], borders[b + 1])
    cells: Cells

    @property
    def count(self) -> int:
        """The number of buckets."""
        return len(self.borders) - 1

    @classmethod
    def cut(cls, links_of_cells: NDArray[np.int64], shift: int, pages: int, limit: int) -> Buckets:
        """Cut where another cell would make more than `limit` links."""
        borders, links = [0], 0
        bucket = np.zeros(len(links_of_cells), np.int64)
        for cell, count in enumerate(links_of_cells.tolist()):
            if links and links + count > limit:
                borders.append(cell << shift)
                links = 0
            links += count
            bucket[cell] = len(borders) - 1
        borders.append(pages)
        return cls(borders, Cells(bucket, shift))


class Scattered(NamedTuple):
    """The records and links of a block by bucket of their source."""

    columns: dict[str, NDArray[Any]]
    rows: NDArray[np.int64]  # where each bucket's records begin
    kept: NDArray[np.int64]  # where each bucket's links begin
    usable: NDArray[np.int64]  # links to pages: of records that do not count, and of those that do


class EncodedBucket(NamedTuple):
    """The lists of a bucket of sources, and the same links by bucket of their targets."""

    lists: EncodedLists
    weights: NDArray[np.float32]
    positions: NDArray[np.uint32]
    repeats: dict[str, NDArray[np.uint32]]  # arrays of FORMAT.md
    turned: list[tuple[NDArray[np.uint32], NDArray[np.uint32]]]  # per bucket: targets, sources


class LinkSorter:
    """Sorts the links of a resolved spill into a store's two directions."""

    def __init__(self, resolved: Resolved, writer: Writer, memory: int) -> None:
        self.resolved = resolved
        self.writer = writer
        self.scratch = resolved.spill.scratch
        self.bucket_links = max(MIN_BUCKET_LINKS, memory // (resolved.workers.threads + 1) // BYTES_PER_LINK)
        self.left_out = dict.fromkeys(CAUSES, 0)

    def sort(self, progress: Progress) -> int:
        """Write links out and links in; returns how many links there are. `left_out` counts the others by cause."""
        r = self.resolved
        by_source = Buckets.cut(r.out_cells, r.shift, r.pages, self.bucket_links)
        by_target = Buckets.cut(r.in_cells, r.shift, r.pages, self.bucket_links)
        self._scatter(by_source, progress)
        links = self._write_out(by_source, by_target, progress)
        self._write_in(by_target, progress)
        self.left_out["repeated"] = max(0, r.spill.links - r.spill.again - links - sum(self.left_out.values()))
        return links

    def _scatter(self, buckets: Buckets, progress: Progress) -> None:
        """Bring records and links into columns by the bucket of their source."""
        r, found = self.resolved, 0
        for part in r.workers.in_order(lambda block: self._scatter_block(block, buckets), r.blocks()):
            replaced, taken = part.usable.tolist()
            found += replaced + taken
            self.left_out["replaced"] += replaced
            self.left_out["to_itself"] += taken - int(part.kept[-1])
            for name, values in part.columns.items():
                cuts = part.rows if name in ("source", "count") else part.kept
                for b, (start, stop) in enumerate(pairwise(cuts)):
                    if start < stop:
                        self.scratch.append(f"out-{b}.{name}", values[start:stop])
            progress("sorting links", int(part.kept[-1]))
        self.scratch.close()
        self.left_out["unusable"] = r.spill.links - found

    def _scatter_block(self, block: Block, buckets: Buckets) -> Scattered:
        r, records = self.resolved, block.records
        links, targets = r.spill.links_of(block.number), r.targets(block.number)
        self.scratch.remove(*(f"{block.number}.{part}" for part in ("links", "attributes", "targets")))
        batch = BatchRows(block.page, r.taken(block), records.first_link, targets)
        sizes = np.diff(records.first_link)
        usable = np.bincount(np.repeat(batch.taken, sizes)[links.target != 0], minlength=2)
        sorting.follow_aliases(batch, r.alias)
        rows, kept = np.zeros(buckets.count + 1, np.int64), np.zeros(buckets.count + 1, np.int64)
        sorting.count_rows(batch, buckets.cells, rows[1:], kept[1:])
        np.cumsum(rows, out=rows)
        np.cumsum(kept, out=kept)
        row_source, row_count = np.empty(rows[-1], np.uint32), np.empty(rows[-1], np.uint32)
        link = np.empty(kept[-1], np.uint32)
        sorting.scatter_rows(batch, buckets.cells, rows[:-1].copy(), kept[:-1].copy(), row_source, row_count, link)
        columns = {"source": row_source, "count": row_count, "target": targets[link]}
        columns["attribute"] = links.attribute[link]
        if r.spill.weighted:
            columns["weight"] = links.weight[link] if len(links.weight) else np.ones(len(link), np.float32)
        if r.spill.anchored:
            places = (link - np.repeat(records.first_link[:-1], sizes)[link]).astype(np.uint32)
            of_partial = np.repeat((records.kind & PARTIAL) > 0, sizes)
            columns["position"] = np.where(of_partial[link], NO_LINE, places)
        return Scattered(columns, rows, kept, usable)

    def _write_out(self, buckets: Buckets, by_target: Buckets, progress: Progress) -> int:
        """Encode links out; hand the links on to the columns of their targets."""
        r = self.resolved
        code = Code.from_counts(r.symbols)
        lists = ListWriter(self.writer, "out", code)
        links = 0
        parts = r.workers.in_order(lambda b: self._encode_out(b, buckets, by_target, code), range(buckets.count))
        for b, part in enumerate(parts):
            lists.append(part.lists)
            for to, (targets, sources) in enumerate(part.turned):
                if len(targets):
                    self.scratch.append(f"in-{to}.target", targets)
                    self.scratch.append(f"in-{to}.source", sources)
            if r.spill.weighted:
                self.writer.append("out.weight", part.weights)
            self.scratch.append("positions", part.positions)
            for name, values in part.repeats.items():
                self.writer.append(name, values)
            self.scratch.remove(*(f"out-{b}.{name}" for name in COLUMNS))
            done = int(part.lists.degrees.sum(dtype=np.int64))
            links += done
            progress("encoding links out", done)
        lists.close()
        self.scratch.close()
        return links

    def _encode_out(self, b: int, buckets: Buckets, by_target: Buckets, code: Code) -> EncodedBucket:
        low, high = buckets.borders[b], buckets.borders[b + 1]
        source, count, target, attribute, weight, position = (
            self.scratch.column(f"out-{b}.{name}", dtype) for name, dtype in COLUMNS.items()
        )
        row_start = np.cumsum(count, dtype=np.int64) - count
        rows = BucketRows(np.argsort(source, kind="stable"), source, row_start, count, target, attribute)
        longest = int(sorting.longest_list(rows))
        table = np.zeros(1 << (2 * longest + 16).bit_length(), np.uint64)
        starts, kept = np.zeros(high - low + 1, np.int64), np.empty(len(target), np.uint32)
        links = sorting.join_rows(rows, low, starts, kept, table)
        kept = kept[:links]
        repeats: dict[str, NDArray[np.uint32]] = {}
        if links < len(target):
            pages, again = sorting.find_repeats(rows, low, starts, kept, longest)
            if len(pages):
                again = again[np.lexsort((all_blocks(attribute[again]), pages))]
                repeats = {"repeat.page": pages, "repeat.target": target[again], "repeat.attribute": attribute[again]}
        targets = target[kept]
        counts = np.zeros(by_target.count + 1, np.int64)
        sorting.count_turned(targets, by_target.cells, counts[1:])
        np.cumsum(counts, out=counts)
        to, of = np.empty(links, np.uint32), np.empty(links, np.uint32)
        sorting.turn_rows(starts, low, targets, by_target.cells, counts[:-1].copy(), to, of)
        return EncodedBucket(
            encode(targets, attribute[kept], starts, low, code),
            weight[kept] if len(weight) else weight,
            position[kept] if len(position) else position,
            repeats,
            [(to[start:stop], of[start:stop]) for start, stop in pairwise(counts)],
        )

    def _write_in(self, buckets: Buckets, progress: Progress) -> None:
        """Sort and encode links in."""
        borders = buckets.borders

        def read(b: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
            starts = np.zeros(borders[b + 1] - borders[b] + 1, np.int64)
            targets, sources = (self.scratch.column(f"in-{b}.{end}", np.uint32) for end in ("target", "source"))
            ordered = np.empty(len(sources), np.uint32)
            sorting.sort_turned(targets, sources, borders[b], starts, ordered)
            return starts, ordered

        # One bucket in the middle is the sample for the code: buckets differ in address, not in kind.
        middle = buckets.count // 2
        starts, sources = read(middle)
        pages = np.arange(borders[middle], borders[middle + 1], dtype=np.uint32)
        code = Code.from_counts(count_symbols(sources, NO_ATTRIBUTES, starts, pages))

        def work(b: int) -> EncodedLists:
            starts, sources = read(b)
            return encode(sources, NO_ATTRIBUTES, starts, borders[b], code)

        lists = ListWriter(self.writer, "in", code)
        for b, part in enumerate(self.resolved.workers.in_order(work, range(buckets.count))):
            lists.append(part)
            self.scratch.remove(f"in-{b}.target", f"in-{b}.source")
            progress("encoding links in", int(part.degrees.sum(dtype=np.int64)))
        lists.close()
