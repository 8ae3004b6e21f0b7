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
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.arrays import PER_BASE
from cocite.graph.blocks import PARTIAL, load_links, load_numbers, load_records
from cocite.graph.generation import Writer
from cocite.graph.huffman import Code
from cocite.graph.ordered import in_order
from cocite.graph.resolve import Resolved
from cocite.kernels import link_codec, sorting

BYTES_PER_LINK = 64
"""What sorting one link of a bucket takes in memory, all arrays together."""
NO_ATTRIBUTES = np.zeros(0, np.uint32)
NO_LINE = np.uint32(0xFFFFFFFF)
"""Place of a link whose record has no texts that count."""


@dataclass(slots=True)
class Buckets:
    """Ranges of pages with at most so many links; borders lie on cells."""

    borders: list[int]  # page numbers: bucket b is [borders[b], borders[b + 1])
    of_cell: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many buckets there are."""
        return len(self.borders) - 1

    @classmethod
    def cut(cls, cells: NDArray[np.int64], shift: int, pages: int, most: int) -> Buckets:
        """Cut where another cell would make more than `most` links."""
        borders, links = [0], 0
        of_cell = np.zeros(len(cells), np.int64)
        for cell, count in enumerate(cells.tolist()):
            if links and links + count > most:
                borders.append(cell << shift)
                links = 0
            links += count
            of_cell[cell] = len(borders) - 1
        borders.append(pages)
        return cls(borders, of_cell)


class Columns:
    """Arrays of one bucket that grow on disk."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._files: dict[str, IO[bytes]] = {}
        self._types: dict[str, np.dtype[Any]] = {}

    def append(self, name: str, values: NDArray[Any]) -> None:
        """Add values to the end of an array."""
        if name not in self._files:
            self._files[name] = (self._folder / name).open("wb")
            self._types[name] = values.dtype
        self._files[name].write(np.ascontiguousarray(values).data)

    def close(self) -> None:
        """No more values will come."""
        for file in self._files.values():
            file.close()

    def read(self, name: str, missing: type[np.generic]) -> NDArray[Any]:
        """An array, empty if it has no value."""
        return np.fromfile(self._folder / name, self._types[name]) if name in self._types else np.zeros(0, missing)

    def remove(self) -> None:
        """Free the disk space."""
        for name in self._files:
            (self._folder / name).unlink()
        self._folder.rmdir()


class BitStream:
    """Writes the lists of one direction: words, offsets, degrees."""

    def __init__(self, writer: Writer, name: str) -> None:
        self._writer = writer
        self._name = name
        self._bits = 0
        self._links = 0
        self._carry = np.zeros(0, np.uint64)  # the last, unfilled word

    def append(
        self, words: NDArray[np.uint64], bits: int, ends: NDArray[np.int64], degrees: NDArray[np.uint32]
    ) -> None:
        """Add encoded lists of further pages (a multiple of PER_BASE of them, or the last)."""
        starts = np.append(0, ends[:-1]) + self._bits if len(ends) else np.zeros(0, np.int64)
        self._put_offsets(starts)
        self._writer.append(f"{self._name}.degree", degrees)
        if self._name == "out":
            before = np.append(0, np.cumsum(degrees, dtype=np.int64)[:-1]) if len(degrees) else np.zeros(0, np.int64)
            self._writer.append("out.first", (before[::PER_BASE] + self._links).astype(np.uint64))
            self._links += int(degrees.sum(dtype=np.int64))
        used = words[: (bits + 63) >> 6]
        shift = np.uint64(self._bits & 63)
        if shift:
            moved = np.append(used << shift, np.uint64(0))
            moved[1:] |= used >> (np.uint64(64) - shift)
            moved[0] |= self._carry[0]
            used = moved
        self._bits += bits
        whole = (self._bits >> 6) - self._writer.length(f"{self._name}.words")
        self._writer.append(f"{self._name}.words", used[:whole])
        self._carry = used[whole : whole + 1] if self._bits & 63 else np.zeros(0, np.uint64)

    def _put_offsets(self, starts: NDArray[np.int64]) -> None:
        bases = starts[::PER_BASE]
        offsets = starts - np.repeat(bases, PER_BASE)[: len(starts)]
        if len(offsets) and offsets.max() >= 1 << 32:
            raise BadStore(
                "the lists of sixteen neighbouring pages take more than 512 MiB: split the source into several stores"
            )
        self._writer.append(f"{self._name}.base", bases.astype(np.uint64))
        self._writer.append(f"{self._name}.offset", offsets.astype(np.uint32))

    def close(self, pages: int) -> None:
        """Write the end of the last list, the unfilled word, and the spare word that decoders may look at."""
        if pages % PER_BASE == 0:
            self._writer.append(f"{self._name}.base", np.array([self._bits], np.uint64))
            self._writer.append(f"{self._name}.offset", np.zeros(1, np.uint32))
        else:
            base = int(self._writer.map(f"{self._name}.base")[-1])
            self._writer.append(f"{self._name}.offset", np.array([self._bits - base], np.uint32))
        self._writer.append(f"{self._name}.words", np.append(self._carry, np.uint64(0)))


@dataclass(slots=True)
class Encoded:
    """The lists of a bucket of sources, and the same links by bucket of their targets."""

    words: NDArray[np.uint64]
    bits: int
    ends: NDArray[np.int64]
    degrees: NDArray[np.uint32]
    weights: NDArray[np.float32]
    positions: NDArray[np.uint32]
    turned: list[tuple[NDArray[np.uint32], NDArray[np.uint32]]]  # per bucket: targets, sources


class LinkSorter:
    """Sorts the links of a resolved spill into a store's two directions."""

    def __init__(self, resolved: Resolved, writer: Writer, memory: int) -> None:
        self.resolved = resolved
        self.writer = writer
        self.folder = resolved.spill.folder
        self.most = max(1 << 16, memory // (resolved.threads + 1) // BYTES_PER_LINK)

    def sort(self, progress: Callable[[str, int], None]) -> int:
        """Write links out and links in; returns how many links there are."""
        r = self.resolved
        out_buckets = Buckets.cut(r.out_cells, r.shift, r.pages, self.most)
        in_buckets = Buckets.cut(r.in_cells, r.shift, r.pages, self.most)
        by_source = self._scatter(out_buckets, progress)
        by_target = [Columns(self.folder / f"in-{b}") for b in range(in_buckets.count)]
        links = self._write_out(by_source, by_target, out_buckets, in_buckets, progress)
        self._write_in(by_target, in_buckets, progress)
        return links

    def _scatter(self, buckets: Buckets, progress: Callable[[str, int], None]) -> list[Columns]:
        """Bring records and links into files by the bucket of their source."""
        r = self.resolved
        files = [Columns(self.folder / f"out-{b}") for b in range(buckets.count)]

        def work(item: tuple[int, Path]) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64], NDArray[np.int64]]:
            first, file = item
            records, links = load_records(file), load_links(file)
            pages = load_numbers(file.with_suffix(".pages"))[: len(records.fingerprint)]
            targets = load_numbers(file.with_suffix(".targets"))
            for suffix in (".links", ".targets"):  # not needed again; what is not yet on disk need not be written
                file.with_suffix(suffix).unlink()
            taken = r.taken(first, records, pages)
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
            return {"source": row_source, "count": row_count, **columns}, rows, kept

        firsts = ((first, file) for first, file, *_ in r.blocks())
        for columns, rows, kept in in_order(work, firsts, r.pool, r.threads):
            for b, file in enumerate(files):
                for name, values in columns.items():
                    cut = rows if name in ("source", "count") else kept
                    if cut[b] < cut[b + 1]:
                        file.append(name, values[cut[b] : cut[b + 1]])
            progress("sorting links", int(kept[-1]))
        for file in files:
            file.close()
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


def encode(
    targets: NDArray[np.uint32], attributes: NDArray[np.uint32], starts: NDArray[np.int64], low: int, code: Code
) -> tuple[NDArray[np.uint64], int, NDArray[np.int64]]:
    """Lists of pages from `low` on as (words, bits used, bit where each list ends)."""
    worst = 12 + link_codec.RAW_BITS + 32 + (38 if len(attributes) else 0)
    words = np.zeros(len(targets) * worst // 64 + 2, np.uint64)
    ends = np.zeros(len(starts) - 1, np.int64)
    bases = np.arange(low, low + len(starts) - 1, dtype=np.uint32)
    bits = link_codec.encode_lists(targets, attributes, starts, bases, code.codes, code.lengths, words, ends)
    return words, int(bits), ends
