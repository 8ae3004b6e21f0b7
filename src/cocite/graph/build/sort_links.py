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
from cocite.graph.generation import Progress, Writer
from cocite.graph.huffman import Code
from cocite.graph.links import LIST_PARTS, lists_of
from cocite.kernels.build import sorting
from cocite.kernels.build.sorting import BatchRows, BucketRows, Cells
from cocite.kernels.codec import link_codec
from cocite.kernels.codec.attributes import all_blocks
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
NO_ATTRIBUTES = np.zeros(0, np.uint32)
EQUAL_LENGTHS = np.full(link_codec.SYMBOLS + 1, 6, np.uint8)  # code lengths to count symbols by, before there is a code
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


class EncodedLists(NamedTuple):
    """Lists of consecutive pages."""

    words: NDArray[np.uint64]
    bits: int  # used of the words
    ends: Starts  # the bit where each list ends
    degrees: Pages


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
        lists = ListWriter(self._writer, "out", code)
        parts = self._workers.in_order(lambda b: self._encode_out(b, code), self._by_source.numbers)
        for b, (encoded, arrays, columns) in enumerate(parts):
            lists.append(encoded)
            self._writer.append_all(arrays.items())
            self._scratch.append(columns)
            self._scratch.remove(*(f"out-{b}.{name}" for name in BUCKET_COLUMNS))
            self._progress("encoding links out", int(encoded.degrees.sum(dtype=np.int64)), self._spill.links)
        self._scratch.close()
        return lists.close()

    def _encode_out(self, b: int, code: Code) -> tuple[EncodedLists, Columns, Columns]:
        """(lists of a bucket, weights and repeated links by array, the links by bucket of their target)."""
        low, high = self._by_source.borders[b : b + 2]
        source, count, target, attribute, weight, position = (
            self._scratch.column(f"out-{b}.{name}", dtype) for name, dtype in BUCKET_COLUMNS.items()
        )
        order = np.argsort(source, kind="stable")
        rows = BucketRows(order, source, starts_of(count)[:-1], count, target, attribute)
        longest = int(np.bincount(source - np.uint32(low), count, minlength=1).max())
        starts, kept = np.zeros(high - low + 1, np.int64), np.empty(len(target), np.uint32)
        links = sorting.join_rows(rows, low, starts, kept, longest)
        kept = kept[:links]
        arrays: Columns = {"out.weight": weight[kept]} if len(weight) else {}
        if links < len(target):
            pages, again = sorting.find_repeats(rows, low, starts, kept, longest)
            if len(pages):
                again = again[np.lexsort((all_blocks(attribute[again]), pages))]
                arrays |= {"repeat.page": pages, "repeat.target": target[again], "repeat.attribute": attribute[again]}
        targets, cells, bounds = sorting.pick(target, kept), self._by_target.cells, self._by_target.bounds()
        to, of = sorting.turn_rows(starts, low, targets, cells, bounds)
        columns = cut_columns("in", {"target": to, "source": of}, bounds)
        if len(position):
            columns["positions"] = position[kept]
        attributes = sorting.pick(attribute, kept)
        return encode(targets, attributes, starts, np.arange(low, high, dtype=np.uint32), code), arrays, columns

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

        lists = ListWriter(self._writer, "in", code)
        for b, part in enumerate(self._workers.in_order(work, self._by_target.numbers)):
            lists.append(part)
            self._scratch.remove(f"in-{b}.target", f"in-{b}.source")
            self._progress("encoding links in", int(part.degrees.sum(dtype=np.int64)), self._spill.links)
        return lists.close()


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


def count_symbols(targets: Pages, attributes: Pages, starts: Starts, pages: Pages) -> NDArray[np.int64]:
    """How often the lists of some pages need each symbol: makes their code."""
    symbols = np.zeros(link_codec.SYMBOLS, np.int64)
    link_codec.count_symbols(targets, attributes, starts, pages, EQUAL_LENGTHS, symbols)
    return symbols


def encode(targets: Pages, attributes: Pages, starts: Starts, pages: Pages, code: Code) -> EncodedLists:
    """Encode the lists of pages; that of pages[i] is targets[starts[i]:starts[i + 1]]."""
    max_link_bits = 12 + link_codec.RAW_BITS + 32 + (38 if len(attributes) else 0)
    words = np.zeros(len(targets) * max_link_bits // 64 + 2, np.uint64)
    ends = np.zeros(len(starts) - 1, np.int64)
    bits = link_codec.encode_lists(targets, attributes, starts, pages, code.codes, code.lengths, words, ends)
    return EncodedLists(words, int(bits), ends, np.diff(starts).astype(np.uint32))


class ListWriter:
    """Writes the lists of one direction, `out` or `in`: words, offsets, degrees and their code."""

    def __init__(self, writer: Writer, direction: str, code: Code) -> None:
        self._writer, self._direction, self._code = writer, direction, code
        self._bits = self._links = 0
        self._carry = np.zeros(0, np.uint64)  # the last, unfilled word

    def _put(self, part: str, values: NDArray[Any]) -> None:
        self._writer.append(f"{self._direction}.{part}", values)

    def append(self, lists: EncodedLists) -> None:
        """Add lists of further pages (a multiple of PER_BASE of them, or the last)."""
        starts = np.append(0, lists.ends)[:-1] + self._bits
        bases = starts[::PER_BASE]
        offsets = starts - np.repeat(bases, PER_BASE)[: len(starts)]
        if offsets.max(initial=0) >= 1 << 32:
            what = "the lists of sixteen neighbouring pages take more than 512 MiB"
            raise BadStore(f"{what}: split the source into several stores")
        self._put("base", bases.astype(np.uint64))
        self._put("offset", offsets.astype(np.uint32))
        self._put("degree", lists.degrees)
        if self._direction == "out":
            before = starts_of(lists.degrees) + self._links
            self._put("first", before[:-1:PER_BASE].astype(np.uint64))
            self._links = int(before[-1])
        used = lists.words[: (lists.bits + 63) >> 6]
        shift = np.uint64(self._bits & 63)
        if shift:
            moved = np.append(used << shift, np.uint64(0))
            moved[1:] |= used >> (np.uint64(64) - shift)
            moved[0] |= self._carry[0]
            used = moved
        self._bits += lists.bits
        full = (self._bits >> 6) - self._writer.length(f"{self._direction}.words")
        self._put("words", used[:full])
        self._carry = used[full : full + 1] if self._bits & 63 else np.zeros(0, np.uint64)

    def close(self) -> Lists:
        """Write the end of the last list, the unfilled word, the empty word that decoders may read, and the code."""
        name = self._direction
        if self._writer.length(f"{name}.degree") % PER_BASE == 0:
            self._put("base", np.array([self._bits], np.uint64))
        last_base = int(self._writer.map(f"{name}.base")[-1])
        self._put("offset", np.array([self._bits - last_base], np.uint32))
        self._put("words", np.append(self._carry, np.uint64(0)))
        self._put("code", self._code.lengths)
        for part in LIST_PARTS:
            self._writer.finish(f"{name}.{part}")
        return lists_of(self._writer.map, name)
