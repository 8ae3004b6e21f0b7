"""Fourth pass of a build: links in both directions, sorted and encoded.

Links go into columns by *bucket*, a range of pages that fits in memory: first of their source, then, encoded and
reversed, of their target. Threads work on blocks and buckets; results are written in order, so the bytes of a store
do not depend on them.
"""

from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.arrays import PER_BASE
from cocite.graph.build.resolve import Block, NumberedSpill
from cocite.graph.build.scratch import PARTIAL
from cocite.graph.encode import NO_ATTRIBUTES, EncodedLists, count_symbols, encode
from cocite.graph.generation import Progress, Writer
from cocite.graph.huffman import Code
from cocite.graph.links import lists_of
from cocite.kernels.build import sorting
from cocite.kernels.build.sorting import BatchRows, BucketRows, Cells
from cocite.kernels.codec import link_codec, list_bounds
from cocite.kernels.codec.attributes import all_blocks
from cocite.kernels.codec.list_bounds import PER_RECORD
from cocite.kernels.codec.lists import Lists

BYTES_PER_LINK = 64  # memory for sorting one link of a bucket, all arrays together
MIN_BUCKET_LINKS = 1 << 16
SKIP_CAUSES = ("repeated", "to_itself", "replaced", "unusable")
"""Why links are skipped: the page has the same link before; it links to itself; its capture does not count (a newer one
does, or the page is an alias); its address isn't usable, or is that of a removed page."""
MANY_BUCKETS = 32  # enough that all threads have work, and that what is sorted fits into the processor's caches
NO_LINE = np.uint32(0xFFFFFFFF)  # place of a link whose record has no texts that count
BUCKET_COLUMNS: dict[str, type[np.generic]] = {
    **dict.fromkeys(("source", "count", "target", "attribute"), np.uint32), "weight": np.float32, "position": np.uint32,
}  # fmt: skip
"""Rows of (source, number of links), then a value for each link."""
Starts = NDArray[np.int64]
Counts = NDArray[np.int64]
Pages = NDArray[np.uint32]
Columns = dict[str, NDArray[Any]]


class Buckets(NamedTuple):
    """Ranges of pages with a limited number of links."""

    borders: list[int]  # page numbers: bucket b is [borders[b], borders[b + 1])
    cells: Cells
    middle: range  # the buckets between the middle cuts by memory

    @classmethod
    def cut(cls, links_of_cells: Starts, shift: int, pages: int, limit: int, wanted: int = 1) -> Self:
        """Cut after every `limit` links, at the end of a cell. Where that gives fewer buckets than wanted, cut these.

        So that the bytes of a store don't depend on `wanted`, `middle` doesn't.
        """
        before = np.cumsum(links_of_cells) - links_of_cells
        coarse = before // limit
        parts = max(1, min(wanted // (int(coarse[-1]) + 1), limit))
        fine = coarse * parts + before % limit // -(-limit // parts)
        _, first, bucket = np.unique(fine, return_index=True, return_inverse=True)
        of_bucket = coarse[first]
        numbers = np.unique(of_bucket)
        middle = np.searchsorted(of_bucket, numbers[len(numbers) // 2 :][:2]).tolist()
        return cls([*(first << shift).tolist(), pages], Cells(bucket, shift), range(*[*middle, len(first)][:2]))

    @property
    def numbers(self) -> range:
        """All buckets."""
        return range(len(self.borders) - 1)

    def bounds(self) -> Starts:
        """Zeros for the bounds of all buckets in an array."""
        return np.zeros(len(self.borders), np.int64)


class LinkSorter:
    """Sorts the links of a numbered spill into a store's two directions."""

    def __init__(self, numbered: NumberedSpill, writer: Writer, memory: int, progress: Progress) -> None:
        self._numbered, self._spill, self._scratch = numbered, numbered.spill, numbered.scratch
        self._workers, self._writer, self._progress = numbered.workers, writer, progress
        bucket_links = max(MIN_BUCKET_LINKS, memory // (self._workers.threads + 1) // BYTES_PER_LINK)
        limits = numbered.shift, numbered.pages, bucket_links, MANY_BUCKETS
        self._by_source = Buckets.cut(numbered.out_cells, *limits)
        self._by_target = Buckets.cut(numbered.in_cells, *limits)
        self.left_out = dict.fromkeys(SKIP_CAUSES, 0)  # links, by cause

    def sort(self) -> tuple[Lists, Lists]:
        """Write links out and links in; returns both."""
        out = self._write_out(self._scatter())
        into = self._write_in()
        read = self._spill.links - self._spill.again - sum(self.left_out.values())
        self.left_out["repeated"] = max(0, read - int(out.degree.sum(dtype=np.int64)))
        return out, into

    def _scatter(self) -> Code:
        """Bring records and links into columns by the bucket of their source; returns the code for links out."""
        symbols, found = np.zeros(link_codec.SYMBOLS, np.int64), 0
        for columns, some, usable, links in self._workers.in_order(self._scatter_block, self._numbered.blocks()):
            replaced, taken = usable.tolist()
            found += replaced + taken
            self.left_out["replaced"] += replaced
            self.left_out["to_itself"] += taken - links
            symbols += some
            self._scratch.append(columns)
            self._progress("sorting links", links, self._spill.links)
        self._scratch.close()
        self.left_out["unusable"] = self._spill.links - found
        return Code.from_counts(symbols)

    def _scatter_block(self, block: Block) -> tuple[Columns, Counts, Counts, int]:
        """(columns by scratch name, symbols that their code needs, usable links that don't count and that do, kept)."""
        records, cells = block.records, self._by_source.cells
        (weights, attributes), targets = self._spill.weights_of(block.number), self._numbered.targets(block.number)
        self._scratch.remove(*(f"{block.number}.{part}" for part in ("links", "targets")))
        batch = BatchRows(block.page, self._numbered.taken(block), records.first_link, targets, attributes)
        rows, kept, usable = self._by_source.bounds(), self._by_source.bounds(), np.zeros(2, np.int64)
        of_rows, of_links = sorting.scatter_rows(batch, self._numbered.alias, cells, rows, kept, usable)
        (source, count), (link, target, attribute) = of_rows, of_links
        columns: Columns = {"target": target, "attribute": attribute}
        symbols = count_symbols(target, attribute, starts_of(count), source)
        if self._spill.weighted:
            columns["weight"] = weights[link] if len(weights) else np.ones(len(link), np.float32)
        if self._spill.anchored:
            sizes = np.diff(records.first_link)
            places = (link - np.repeat(records.first_link[:-1], sizes)[link]).astype(np.uint32)
            of_partial = np.repeat(records.has(PARTIAL), sizes)
            columns["position"] = np.where(of_partial[link], NO_LINE, places)
        columns = cut_columns("out", {"source": source, "count": count}, rows) | cut_columns("out", columns, kept)
        return columns, symbols, usable, int(kept[-1])

    def _write_out(self, code: Code) -> Lists:
        """Encode links out; hand the links on to the columns of their targets."""
        lists = DirectionWriter(self._writer, "out", code, self._spill.weighted)
        repeats = ListWriter(self._writer, "repeat")
        parts = self._workers.in_order(lambda b: self._encode_out(b, code), self._by_source.numbers)
        for b, (encoded, again, weight, columns) in enumerate(parts):
            lists.append(encoded)
            repeats.append(again)
            if len(weight):
                self._writer.append("out.weight", weight)
            self._scratch.append(columns)
            self._scratch.remove(*(f"out-{b}.{name}" for name in BUCKET_COLUMNS))
            self._progress("encoding links out", int(encoded.degrees.sum(dtype=np.int64)), self._spill.links)
        self._scratch.close()
        repeats.close() if repeats.bits else repeats.discard()
        return lists.finish()

    def _encode_out(self, b: int, code: Code) -> tuple[EncodedLists, EncodedLists, NDArray[np.float32], Columns]:
        """(lists of a bucket, the links that its pages repeat, weights, the links by bucket of their target)."""
        low, high = self._by_source.borders[b : b + 2]
        source, count, target, attribute, weight, position = (
            self._scratch.column(f"out-{b}.{name}", dtype) for name, dtype in BUCKET_COLUMNS.items()
        )
        order = np.argsort(source, kind="stable")
        rows = BucketRows(order, source, starts_of(count)[:-1], count, target, attribute)
        longest = int(np.bincount(source - np.uint32(low), count, minlength=1).max())
        starts, kept = np.zeros(high - low + 1, np.int64), np.empty(len(target), np.uint32)
        links = sorting.join_rows(rows, low, starts, kept, longest)
        kept, owners = kept[:links], np.arange(low, high, dtype=np.uint32)
        pages, again = np.zeros(0, np.uint32), np.zeros(0, np.int64)
        if links < len(target):
            pages, again = sorting.find_repeats(rows, low, starts, kept, longest)
            again = again[np.lexsort((all_blocks(attribute[again]), pages))]
        of_pages = starts_of(np.bincount(pages - np.uint32(low), minlength=high - low))
        repeated = encode(target[again], attribute[again], of_pages, owners, code)
        targets, cells, bounds = sorting.pick(target, kept), self._by_target.cells, self._by_target.bounds()
        to, of = sorting.turn_rows(starts, low, targets, cells, bounds)
        columns = cut_columns("in", {"target": to, "source": of}, bounds)
        if len(position):
            columns["positions"] = position[kept]
        encoded = encode(targets, sorting.pick(attribute, kept), starts, owners, code)
        return encoded, repeated, weight[kept] if len(weight) else weight, columns

    def _write_in(self) -> Lists:
        """Sort and encode links in."""
        borders = self._by_target.borders

        def read(b: int) -> tuple[Starts, Pages]:
            starts = np.zeros(borders[b + 1] - borders[b] + 1, np.int64)
            targets, sources = (self._scratch.column(f"in-{b}.{end}", np.uint32) for end in ("target", "source"))
            ordered = np.empty(len(sources), np.uint32)
            sorting.sort_turned(targets, sources, borders[b], starts, ordered)
            return starts, ordered

        def pages_of(b: int) -> Pages:
            return np.arange(borders[b], borders[b + 1], dtype=np.uint32)

        # What lies in the middle is the sample for the code: buckets differ in address, not in kind.
        def sample(b: int) -> tuple[tuple[Starts, Pages], Counts]:
            starts, sources = read(b)
            return (starts, sources), count_symbols(sources, NO_ATTRIBUTES, starts, pages_of(b))

        samples = list(self._workers.in_order(sample, self._by_target.middle))
        code = Code.from_counts(np.sum([symbols for _, symbols in samples], axis=0))
        waiting = dict(zip(self._by_target.middle, (lists for lists, _ in samples), strict=True))
        del samples

        def work(b: int) -> EncodedLists:
            starts, sources = waiting.pop(b) if b in waiting else read(b)
            return encode(sources, NO_ATTRIBUTES, starts, pages_of(b), code)

        lists = DirectionWriter(self._writer, "in", code)
        for b, part in enumerate(self._workers.in_order(work, self._by_target.numbers)):
            lists.append(part)
            self._scratch.remove(f"in-{b}.target", f"in-{b}.source")
            self._progress("encoding links in", int(part.degrees.sum(dtype=np.int64)), self._spill.links)
        return lists.finish()


def cut_columns(direction: str, columns: Columns, bounds: Starts) -> Columns:
    """The parts of columns that belong to each bucket, by scratch name."""
    return {
        f"{direction}-{b}.{name}": values[start:stop]
        for name, values in columns.items()
        for b, (start, stop) in enumerate(pairwise(bounds))
        if start < stop
    }


def starts_of(counts: NDArray[Any]) -> Starts:
    """Where each of several lists begins, and the end of the last, from their lengths."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


class ListWriter:
    """Writes lists, and where each begins and ends: `NAME.words`, `NAME.bounds` and `NAME.far`."""

    def __init__(self, writer: Writer, name: str) -> None:
        self._writer, self._name, self.bits = writer, name, 0
        self._lengths = np.zeros(list_bounds.SPAN_LENGTHS, np.int64)  # of the bits that sixteen lists take
        self._carry = np.zeros(0, np.uint64)  # the last, unfilled word

    def put(self, part: str, values: NDArray[Any]) -> None:
        """Add values to an array."""
        self._writer.append(f"{self._name}.{part}", values)

    def append(self, lists: EncodedLists) -> None:
        """Add lists of further pages (a multiple of PER_RECORD of them, or the last)."""
        ends = lists.ends + self.bits
        if np.diff(lists.ends, prepend=0).max(initial=0) >= 1 << 32:
            raise BadStore("the list of one page takes more than 512 MiB: split the source into several stores")
        self.put("ends", ends.astype(np.uint64))  # packed when all of them are known
        last = np.append(ends[PER_RECORD - 1 :: PER_RECORD], self.bits + lists.bits)
        self._lengths += list_bounds.lengths_of(np.diff(last, prepend=self.bits))
        used = lists.words[: (lists.bits + 63) >> 6]
        shift = np.uint64(self.bits & 63)
        if shift:
            moved = np.append(used << shift, np.uint64(0))
            moved[1:] |= used >> (np.uint64(64) - shift)
            moved[0] |= self._carry[0]
            used = moved
        self.bits += lists.bits
        full = (self.bits >> 6) - self._writer.length(f"{self._name}.words")
        self.put("words", used[:full])
        self._carry = used[full : full + 1] if self.bits & 63 else np.zeros(0, np.uint64)

    def discard(self) -> None:
        """Take everything back."""
        for part in ("words", "ends"):
            self._writer.discard(f"{self._name}.{part}")

    def close(self) -> None:
        """Write the unfilled word, the empty word that decoders may read, and the bounds."""
        self.put("words", np.append(self._carry, np.uint64(0)))
        ends, width = self._writer.map(f"{self._name}.ends"), list_bounds.best_width(self._lengths)
        self.put("bounds", np.array([width], np.uint64))
        self.put("far", np.zeros(0, np.uint64))
        step = list_bounds.CHUNK_RECORDS * PER_RECORD
        for first in range(0, len(ends) + 1, step):
            some, before = ends[first : first + step], int(ends[first - 1]) if first else 0
            if first + step > len(ends):
                some = list_bounds.padded(some, self.bits)
            rows = self._writer.length(f"{self._name}.far") // list_bounds.PER_FAR
            for part, values in zip(("bounds", "far"), list_bounds.records(before, some, width, rows), strict=True):
                self.put(part, values)
        self.put("bounds", np.zeros(1, np.uint64))
        self._writer.discard(f"{self._name}.ends")
        for part in ("words", "bounds", "far"):
            self._writer.finish(f"{self._name}.{part}")


class DirectionWriter(ListWriter):
    """Writes one direction of the links, `out` or `in`: lists, degrees and their code."""

    def __init__(self, writer: Writer, direction: str, code: Code, weighted: bool = False) -> None:
        super().__init__(writer, direction)
        self._code, self._weighted, self._links = code, weighted, 0

    def append(self, lists: EncodedLists) -> None:
        super().append(lists)
        self.put("degree", lists.degrees)
        if self._weighted:
            before = starts_of(lists.degrees) + self._links
            self.put("first", before[:-1:PER_BASE].astype(np.uint64))
            self._links = int(before[-1])

    def finish(self) -> Lists:
        """Write the rest; returns the lists."""
        self.close()
        self.put("code", self._code.lengths)
        for part in ("degree", "code"):
            self._writer.finish(f"{self._name}.{part}")
        return lists_of(self._writer.map, self._name)
