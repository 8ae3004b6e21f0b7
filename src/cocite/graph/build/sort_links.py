"""Fourth pass of a build: links in both directions, sorted and encoded.

Links go into files by *bucket*, a range of pages that fits in memory: first of their source, then, encoded and turned
round, of their target. Threads work on blocks and buckets; what they make is written in order, so the bytes of a store
do not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.build.bit_stream import BitStream, encode
from cocite.graph.build.blocks import PARTIAL, Records, load_links
from cocite.graph.build.buckets import Buckets, Columns
from cocite.graph.build.ordered import in_order
from cocite.graph.build.resolve import Resolved
from cocite.graph.generation import Writer
from cocite.graph.huffman import Code
from cocite.kernels.build import sorting
from cocite.kernels.codec import link_codec

BYTES_PER_LINK = 64
"""What sorting one link of a bucket takes in memory, all arrays together."""
NO_ATTRIBUTES = np.zeros(0, np.uint32)
CAUSES = ("repeated", "to_itself", "replaced", "unusable")
"""Why links are left out: the page has the same link before; it is a link of the page to itself; its capture does not
count (a newer one does, or the page only leads elsewhere); its address is no page, or that of a removed one."""
NO_LINE = np.uint32(0xFFFFFFFF)
"""Place of a link whose record has no texts that count."""


class Scattered(NamedTuple):
    """The records and links of a block by bucket of their source."""

    columns: dict[str, NDArray[Any]]
    rows: NDArray[np.int64]  # where each bucket's records begin
    kept: NDArray[np.int64]  # where each bucket's links begin
    usable: NDArray[np.int64]  # links to pages: of records that do not count, and of those that do


@dataclass(slots=True)
class Encoded:
    """The lists of a bucket of sources, and the same links by bucket of their targets."""

    words: NDArray[np.uint64]
    bits: int
    ends: NDArray[np.int64]
    degrees: NDArray[np.uint32]
    weights: NDArray[np.float32]
    positions: NDArray[np.uint32]
    repeats: dict[str, NDArray[np.uint32]]  # arrays of FORMAT.md
    turned: list[tuple[NDArray[np.uint32], NDArray[np.uint32]]]  # per bucket: targets, sources


class LinkSorter:
    """Sorts the links of a resolved spill into a store's two directions."""

    def __init__(self, resolved: Resolved, writer: Writer, memory: int) -> None:
        self.resolved = resolved
        self.writer = writer
        self.folder = resolved.spill.folder
        self.most = max(1 << 16, memory // (resolved.threads + 1) // BYTES_PER_LINK)
        self.left_out = dict.fromkeys(CAUSES, 0)

    def sort(self, progress: Callable[[str, int], None]) -> int:
        """Write links out and links in; returns how many links there are. `left_out` counts the others by cause."""
        r = self.resolved
        out_buckets = Buckets.cut(r.out_cells, r.shift, r.pages, self.most)
        in_buckets = Buckets.cut(r.in_cells, r.shift, r.pages, self.most)
        by_source = self._scatter(out_buckets, progress)
        by_target = [Columns(self.folder / f"in-{b}") for b in range(in_buckets.count)]
        links = self._write_out(by_source, by_target, out_buckets, in_buckets, progress)
        self._write_in(by_target, in_buckets, progress)
        self.left_out["repeated"] = max(0, r.spill.links - r.spill.again - links - sum(self.left_out.values()))
        return links

    def _scatter(self, buckets: Buckets, progress: Callable[[str, int], None]) -> list[Columns]:
        """Bring records and links into files by the bucket of their source."""
        r = self.resolved
        files, found = [Columns(self.folder / f"out-{b}") for b in range(buckets.count)], 0

        def work(item: tuple[int, Path, Records, NDArray[np.uint32]]) -> Scattered:
            first, file, records, pages = item
            links, targets = load_links(file), r.targets(file)
            for suffix in (".links", ".targets"):  # not needed again; what is not yet on disk need not be written
                file.with_suffix(suffix).unlink()
            taken = r.taken(first, records, pages)
            usable = np.bincount(np.repeat(taken, np.diff(records.first_link))[links.target != 0], minlength=2)
            sorting.follow_aliases(pages, taken, records.first_link, targets, r.alias)
            rows, kept = np.zeros(buckets.count + 1, np.int64), np.zeros(buckets.count + 1, np.int64)
            sorting.count_rows(pages, taken, records.first_link, targets, buckets.of_cell, r.shift, rows[1:], kept[1:])
            np.cumsum(rows, out=rows)
            np.cumsum(kept, out=kept)
            row_source, row_count = np.empty(rows[-1], np.uint32), np.empty(rows[-1], np.uint32)
            link = np.empty(kept[-1], np.uint32)
            sorting.scatter_rows(
                pages, taken, records.first_link, targets, buckets.of_cell, r.shift,
                rows[:-1].copy(), kept[:-1].copy(), row_source, row_count, link,
            )  # fmt: skip
            columns: dict[str, NDArray[Any]] = {"target": targets[link], "attribute": links.attribute[link]}
            if r.spill.weighted:
                columns["weight"] = links.weight[link] if len(links.weight) else np.ones(len(link), np.float32)
            if r.spill.anchored:
                starts = np.repeat(records.first_link[:-1], np.diff(records.first_link))
                places = (link - starts[link]).astype(np.uint32)
                of_partial = np.repeat((records.kind & PARTIAL) > 0, np.diff(records.first_link))
                columns["position"] = np.where(of_partial[link], NO_LINE, places)
            return Scattered({"source": row_source, "count": row_count, **columns}, rows, kept, usable)

        blocks = ((first, file, records, page) for first, file, records, page, _ in r.blocks())
        for columns, rows, kept, usable in in_order(work, blocks, r.pool, r.threads):
            replaced, taken = usable.tolist()
            found += replaced + taken
            self.left_out["replaced"] += replaced
            self.left_out["to_itself"] += taken - int(kept[-1])
            for b, file in enumerate(files):
                for name, values in columns.items():
                    cut = rows if name in ("source", "count") else kept
                    if cut[b] < cut[b + 1]:
                        file.append(name, values[cut[b] : cut[b + 1]])
            progress("sorting links", int(kept[-1]))
        for file in files:
            file.close()
        self.left_out["unusable"] = r.spill.links - found
        return files

    def _write_out(
        self,
        by_source: list[Columns],
        by_target: list[Columns],
        buckets: Buckets,
        in_buckets: Buckets,
        progress: Callable[[str, int], None],
    ) -> int:
        """Encode links out; hand the links on to the files of their targets."""
        r = self.resolved
        code = Code.from_counts(r.symbols)
        stream = BitStream(self.writer, "out")
        positions = (self.folder / "positions").open("wb")
        links = 0

        def work(b: int) -> Encoded:
            return self._encode_out(by_source[b], buckets.borders[b], buckets.borders[b + 1], in_buckets, code)

        with positions:
            for b, part in enumerate(in_order(work, range(buckets.count), r.pool, r.threads)):
                stream.append(part.words, part.bits, part.ends, part.degrees)
                for file, (targets, sources) in zip(by_target, part.turned, strict=True):
                    if len(targets):
                        file.append("target", targets)
                        file.append("source", sources)
                if r.spill.weighted:
                    self.writer.append("out.weight", part.weights)
                positions.write(part.positions.data)
                for name, values in part.repeats.items():
                    self.writer.append(name, values)
                by_source[b].remove()
                done = int(part.degrees.sum(dtype=np.int64))
                links += done
                progress("encoding links out", done)
        stream.close(r.pages)
        self.writer.append("out.code", code.lengths)
        for file in by_target:
            file.close()
        return links

    def _encode_out(self, rows: Columns, low: int, high: int, in_buckets: Buckets, code: Code) -> Encoded:
        row_source, row_count = rows.read("source", np.uint32), rows.read("count", np.uint32)
        target, attribute = rows.read("target", np.uint32), rows.read("attribute", np.uint32)
        order = np.argsort(row_source, kind="stable")
        row_start = np.cumsum(row_count, dtype=np.int64) - row_count
        longest = int(sorting.longest_list(order, row_source, row_count))
        table = np.zeros(1 << (2 * longest + 16).bit_length(), np.uint64)
        starts, kept = np.zeros(high - low + 1, np.int64), np.empty(len(target), np.uint32)
        links = sorting.join_rows(order, row_source, row_start, row_count, target, low, starts, kept, table)
        kept = kept[:links]
        targets, attributes = target[kept], attribute[kept]
        repeats: dict[str, NDArray[np.uint32]] = {}
        if links < len(target):
            found, again = sorting.find_repeats(
                order, row_source, row_start, row_count, target, attribute, low, starts, kept, longest
            )
            again = again[np.lexsort((attribute[again] & np.uint32(0xFFFFFF), found))]
            repeats = {"repeat.page": found, "repeat.target": target[again], "repeat.attribute": attribute[again]}
        weight, position = rows.read("weight", np.float32), rows.read("position", np.uint32)
        words, bits, ends = encode(targets, attributes, starts, low, code)
        counts = np.zeros(in_buckets.count + 1, np.int64)
        sorting.count_turned(targets, in_buckets.of_cell, self.resolved.shift, counts[1:])
        np.cumsum(counts, out=counts)
        turned = np.empty(links, np.uint32), np.empty(links, np.uint32)
        sorting.turn_rows(starts, low, targets, in_buckets.of_cell, self.resolved.shift, counts[:-1].copy(), *turned)
        return Encoded(
            words,
            bits,
            ends,
            np.diff(starts).astype(np.uint32),
            weight[kept] if len(weight) else weight,
            position[kept] if len(position) else position,
            repeats if len(repeats.get("repeat.page", ())) else {},
            [(turned[0][a:z], turned[1][a:z]) for a, z in pairwise(counts)],
        )

    def _write_in(self, by_target: list[Columns], buckets: Buckets, progress: Callable[[str, int], None]) -> None:
        """Sort and encode links in."""
        r = self.resolved

        def read(b: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
            low, high = buckets.borders[b], buckets.borders[b + 1]
            starts = np.zeros(high - low + 1, np.int64)
            targets, sources = by_target[b].read("target", np.uint32), by_target[b].read("source", np.uint32)
            ordered = np.empty(len(sources), np.uint32)
            sorting.sort_turned(targets, sources, low, starts, ordered)
            return starts, ordered

        # One bucket in the middle stands for all: their pages differ in address, not in kind.
        middle = buckets.count // 2
        starts, sources = read(middle)
        symbols = np.zeros(link_codec.SYMBOLS, np.int64)
        flat = np.full(link_codec.SYMBOLS + 1, 6, np.uint8)
        bases = np.arange(buckets.borders[middle], buckets.borders[middle + 1], dtype=np.uint32)
        link_codec.count_symbols(sources, NO_ATTRIBUTES, starts, bases, flat, symbols)
        code = Code.from_counts(symbols)

        def work(b: int) -> tuple[NDArray[np.uint64], int, NDArray[np.int64], NDArray[np.uint32]]:
            starts, sources = read(b)
            words, bits, ends = encode(sources, NO_ATTRIBUTES, starts, buckets.borders[b], code)
            return words, bits, ends, np.diff(starts).astype(np.uint32)

        stream = BitStream(self.writer, "in")
        for b, (words, bits, ends, degrees) in enumerate(in_order(work, range(buckets.count), r.pool, r.threads)):
            stream.append(words, bits, ends, degrees)
            by_target[b].remove()
            progress("encoding links in", int(degrees.sum(dtype=np.int64)))
        stream.close(r.pages)
        self.writer.append("in.code", code.lengths)
