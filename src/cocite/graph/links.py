"""The links of a graph, in both directions.

Kernels read lists through `GraphLinks.out` and `GraphLinks.into`; Python code through the methods. Every length is
validated before memory is allocated for it, and every list is checked when it is decoded.
"""

from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cocite.budget import current
from cocite.graph.arrays import PER_BASE, Arrays, places_of, read_only, rows_of
from cocite.graph.changes.layers import LayeredArrays
from cocite.graph.huffman import Code
from cocite.kernels.build.parents import StoredParents
from cocite.kernels.codec.attributes import all_blocks, all_flags
from cocite.kernels.codec.link_codec import link_table
from cocite.kernels.codec.lists import NONE_MOVED, Lists, read_many, read_one, read_some
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.related.counted_links import OutLists, Repeats

MAX_COUNTED_PAGES = 1 << 24
"""Stores of more pages have no counters for all of them: these would take more than 64 MiB for each thread."""
LIST_PARTS = ("words", "base", "offset", "degree", "code")  # the arrays of one direction of the links


class OutLinks(NamedTuple):
    """The links out of a page, in page order."""

    targets: NDArray[np.uint32]
    blocks: NDArray[np.int32]  # -1: unknown
    flags: NDArray[np.uint8]

    @classmethod
    def of(cls, targets: NDArray[np.uint32], attributes: NDArray[np.uint32]) -> Self:
        """Links with their attributes unpacked."""
        return cls(targets, all_blocks(attributes).astype(np.int32) - 1, all_flags(attributes))


class LinkRows(NamedTuple):
    """The links out of some pages, one page after another; behind a page's list are the links that it repeats."""

    starts: NDArray[np.int64]
    distinct_counts: NDArray[np.int64]  # of each page, the links that are no repeats
    links: OutLinks
    weights: NDArray[np.float32]  # empty if all are 1

    @classmethod
    def empty(cls) -> Self:
        """No pages."""
        none = np.zeros(0, np.uint32)
        return cls(np.zeros(1, np.int64), np.zeros(0, np.int64), OutLinks.of(none, none), np.zeros(0, np.float32))

    @property
    def distinct(self) -> int:
        """The number of links that are no repeats."""
        return int(self.distinct_counts.sum())

    def row(self, i: int) -> tuple[Any, ...]:
        """All links of a page, to compare."""
        some = slice(int(self.starts[i]), int(self.starts[i + 1]))
        weights = self.weights[some] if len(self.weights) else np.ones(some.stop - some.start, np.float32)
        return int(self.distinct_counts[i]), *(part[some].tobytes() for part in self.links), weights.tobytes()

    def _chosen(self, where: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Self:
        """The links where a mask says so, of the pages where another does."""
        before = np.append(0, np.cumsum(where))
        sizes = (before[self.starts[1:]] - before[self.starts[:-1]])[rows]
        weights = self.weights[where] if len(self.weights) else self.weights
        links = OutLinks(self.links.targets[where], self.links.blocks[where], self.links.flags[where])
        return type(self)(np.append(0, np.cumsum(sizes)), self.distinct_counts[rows], links, weights)

    def some(self, rows: NDArray[np.bool_]) -> Self:
        """Some of the pages."""
        return self._chosen(np.repeat(rows, np.diff(self.starts)), rows)

    def split(self) -> tuple[Self, Self]:
        """The lists of all pages, and the links that they repeat."""
        sizes = np.diff(self.starts)
        place = np.arange(int(self.starts[-1])) - np.repeat(self.starts[:-1], sizes)
        repeated, every = place >= np.repeat(self.distinct_counts, sizes), np.ones(len(sizes), np.bool_)
        return self._chosen(~repeated, every), self._chosen(repeated, every)

    def pairs(self, pages: NDArray[np.int64], rows: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """(source << 32 | target) of the links of some pages, ascending, each once."""
        lists, _ = self.some(rows).split()
        sources = np.repeat(pages[rows].astype(np.uint64), np.diff(lists.starts))
        return np.sort(sources << np.uint64(32) | lists.links.targets)


class GraphLinks:
    """All links: `len(links)` is their number."""

    def __init__(self, arrays: Arrays, order: Callable[[], NDArray[np.uint64]] = lambda: NONE_MOVED) -> None:
        self._arrays = arrays
        self._lists = cache(partial(_layered_lists, arrays, order))
        self.stored_parents = cache(partial(stored_parents, arrays))  # `best` or a `sample`, of all popular pages
        self.in_degree: NDArray[np.uint32] = arrays["in.degree"]
        self.out_degree: NDArray[np.uint32] = arrays["out.degree"]
        self._counters: list[NDArray[np.uint32]] = []

    def __len__(self) -> int:
        return self._arrays.links

    @cached_property
    def lists(self) -> int:
        """The number of pages that link to others."""
        return int(np.count_nonzero(self.out_degree))

    def load(self) -> Iterator[None]:
        """Put together what questions need of the lists, in pieces of some milliseconds."""
        for direction in ("out", "in"):
            self._lists(direction)
            yield
        for kind in ("best", "sample"):
            self.stored_parents(kind)
            yield
        _ = self._entries, self.repeats
        yield

    @property
    def out(self) -> Lists:
        """Links out, as kernels take them, with the budget of this thread."""
        return self._lists("out")._replace(budget=current())

    @property
    def into(self) -> Lists:
        """Links in, as kernels take them, with the budget of this thread."""
        return self._lists("in")._replace(budget=current())

    @property
    def out_in_part(self) -> OutLists:
        """Links out with the entry points into long lists."""
        return OutLists(self.out, *self._entries)

    @cached_property
    def _entries(self) -> tuple[NDArray[Any], ...]:
        parts = "long.page", "long.first", "skip.bit", "skip.before", "skip.attribute"
        more = "long.link", "long.target", "long.place"
        return tuple(self._arrays[f"out.{part}"] for part in (*parts, *more))

    @cached_property
    def repeats(self) -> Repeats:
        """Links that pages have again in other blocks, as kernels take them."""
        return Repeats(*(self._arrays[f"repeat.{part}"] for part in Repeats._fields))

    def borrow_counters(self) -> NDArray[np.uint32]:
        """Zeros, one for each page, for one question at a time; empty for a store of too many pages.

        Whoever has made them zeros again gives them back. After a failure they are dropped.
        """
        try:
            return self._counters.pop()
        except IndexError:
            return np.zeros(self._arrays.pages if self._arrays.pages <= MAX_COUNTED_PAGES else 0, np.uint32)

    def return_counters(self, counters: NDArray[np.uint32]) -> None:
        """Keep counters, which are zeros, for the next question."""
        self._counters.append(counters)

    def read_list(self, lists: Lists, page: int, attributes: bool) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """One list, with the attributes of its links if wanted: the only place that reads a single list."""
        page = self._arrays.page(page)
        degree = self.degree_of(lists, page)
        targets, found = np.empty(degree, np.uint32), np.empty(degree if attributes else 0, np.uint32)
        if read_one(lists, page, targets, found) != degree:
            raise self._arrays.damaged()
        return targets, found

    def read_lists(
        self, lists: Lists, first: int, count: int, attributes: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
        """(where each starts, links, their attributes if wanted) of the lists of pages [first, first + count)."""
        return self._read(read_many, lists, lists.degree[first : first + count], attributes, first, count)

    def read_some(
        self, lists: Lists, pages: NDArray[Any], attributes: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
        """As `read_lists`, of any pages."""
        return self._read(read_some, lists, lists.degree[pages], attributes, pages.astype(np.uint32))

    def _read(
        self, kernel: Callable[..., int], lists: Lists, degrees: NDArray[np.uint32], attributes: bool, *pages: Any
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
        total, starts = int(degrees.sum(dtype=np.int64)), np.zeros(len(degrees) + 1, np.int64)
        if total > len(self):
            raise self._arrays.damaged()
        targets, found = np.empty(total, np.uint32), np.empty(total if attributes else 0, np.uint32)
        if kernel(lists, *pages, targets, found, starts) != len(degrees):
            raise self._arrays.damaged()
        return starts, targets, found

    def read_pages(self, pages: NDArray[np.int64]) -> LinkRows:
        """All links out of some pages, each once, with those that they repeat."""
        starts, targets, attributes = self.read_some(self.out, pages, attributes=True)
        counts, weights = np.diff(starts), [self.weights_from(page) for page in pages.tolist()] if self.weighted else []
        weight = np.concatenate([np.zeros(0, np.float32), *weights])
        own, repeated = pages.astype(np.uint32), self.repeats.page
        lows = np.searchsorted(repeated, own)
        repeats = np.searchsorted(repeated, own, "right") - lows
        again = places_of(lows, repeats)
        if len(again):
            if int(self.repeats.target[again].max()) >= self._arrays.pages:
                raise self._arrays.damaged()
            ends = np.repeat(starts[1:], repeats)
            targets = np.insert(targets, ends, self.repeats.target[again])
            attributes = np.insert(attributes, ends, self.repeats.attribute[again])
            weight = np.insert(weight, ends, np.float32(1)) if len(weight) else weight
            starts = starts + np.append(0, np.cumsum(repeats))
        return LinkRows(starts, counts, OutLinks.of(targets, attributes), weight)

    def degree_of(self, lists: Lists, page: int) -> int:
        """The length of a list, validated before memory is allocated for it."""
        degree = int(lists.degree[page])
        if degree > len(self):
            raise self._arrays.damaged()
        return degree

    def links_from(self, page: int) -> OutLinks:
        """The links out of a page, in page order, with blocks and flags."""
        return OutLinks.of(*self.read_list(self.out, page, attributes=True))

    def links_to(self, page: int) -> NDArray[np.uint32]:
        """The pages that link to a page, ascending."""
        return self.read_list(self.into, page, attributes=False)[0]

    def best_parents(self, page: int) -> NDArray[np.uint32] | None:
        """The stored parents of highest in-degree, best first; None for a page with few parents: read them all."""
        return self.stored("best", page)

    def stored(self, name: str, page: int) -> NDArray[np.uint32] | None:
        """The `best` parents of a page, or a `sample` of them, that are stored; None if the page has too few."""
        kept = self.stored_parents(name)
        row = int(find_position(kept.page, self._arrays.page(page))) if len(kept.page) else -1
        if row < 0:
            return None
        found: NDArray[np.uint32] = kept.parent[int(kept.first[row]) :][: kept.size]
        if len(found) < kept.size or int(found.max(initial=0)) >= self._arrays.pages:
            raise self._arrays.damaged()
        return found

    def weights_from(self, page: int) -> NDArray[np.float32]:
        """The probability of each link out of a page."""
        degree = self.degree_of(self.out, self._arrays.page(page))
        weights, first = self._weights_at(page)
        if not len(weights):
            return np.ones(degree, np.float32)
        if first + degree > len(weights):
            raise self._arrays.damaged()
        return weights[first : first + degree]

    @property
    def weighted(self) -> bool:
        """Whether some link may have a weight other than 1."""
        return any(len(part["out.weight"]) for part in self._arrays.parts)

    def _weights_at(self, page: int) -> tuple[NDArray[np.float32], int]:
        """The array that has the weights of a page's links, empty if all are 1, and where they begin."""
        for layer in reversed(self._arrays.layers):
            row = int(find_position(layer["out.page"], page))
            if row >= 0:
                return layer["out.weight"], int(layer["out.degree"][:row].sum(dtype=np.int64))
        weights, own = self._arrays.base["out.weight"], self._arrays.base["out.degree"]
        if not len(weights) or page >= len(own):
            return weights[:0], 0
        base = page // PER_BASE
        before = own[base * PER_BASE : page].sum(dtype=np.int64)
        return weights, int(self._arrays["out.first"][base]) + int(before)

    def weights_of(self, first: int, starts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The weights of all links of pages from `first` on, whose links start there; empty if all are 1."""
        if not self.weighted:
            return np.zeros(0, np.float32)
        if not self._arrays.layers:
            weights, at = self._weights_at(first)
            return weights[at : at + int(starts[-1])].astype(np.float32)
        pages = range(first, first + len(starts) - 1)
        return np.concatenate([np.zeros(0, np.float32), *(self.weights_from(page) for page in pages)])

    def iter_links(self, chunk_pages: int = 1 << 14) -> Iterator[tuple[int, NDArray[np.int64], OutLinks]]:
        """All links out, some pages at a time: (first page, where each page's links start, the links)."""
        for first in range(0, self._arrays.pages, chunk_pages):
            starts, *links = self.read_lists(self.out, first, min(chunk_pages, self._arrays.pages - first), True)
            yield first, starts, OutLinks.of(*links)

    def iter_all(self, chunk_pages: int) -> Iterator[tuple[int, NDArray[np.int64], OutLinks, NDArray[np.float32], int]]:
        """As `iter_links`, each list with the links that its page has again at its end, of weight 1.

        Yields (first page, where each page's links start, the links, their weights, how many are not again); without
        weights if all are 1.
        """
        for first, starts, links in self.iter_links(chunk_pages):
            weights, count = self.weights_of(first, starts), len(links.targets)
            low, high = rows_of(self.repeats.page, first, len(starts) - 1)
            pages, targets, attributes = (each[low:high] for each in self.repeats)
            if not len(pages):
                yield first, starts, links, weights, count
                continue
            of = pages.astype(np.int64) - first + 1
            ascend = (np.diff(of) >= 0).all() and 1 <= of[0] <= of[-1] < len(starts)
            if not ascend or int(targets.max()) >= self._arrays.pages:
                raise self._arrays.damaged()
            ends, again = starts[of], OutLinks.of(targets, attributes)
            both = OutLinks(*(np.insert(getattr(links, name), ends, getattr(again, name)) for name in OutLinks._fields))
            weights = np.insert(weights, ends, np.float32(1)) if len(weights) else weights
            yield first, starts + np.cumsum(np.bincount(of, minlength=len(starts))), both, weights, count


def _layered_lists(arrays: Arrays, order: Callable[[], NDArray[np.uint64]], direction: str) -> Lists:
    """One direction of the links, with those of layers."""
    try:
        found = lists_of(arrays.__getitem__, direction)
    except ValueError as error:
        raise arrays.damaged() from error
    if not isinstance(arrays, LayeredArrays):
        return found
    return found._replace(moved=arrays.moved(direction), order=order())


def stored_parents(arrays: Arrays, name: str) -> StoredParents:
    """The `best` parents of all popular pages, or a `sample` of them, as kernels take them."""
    pages, parents = arrays[f"{name}.page"], arrays[f"{name}.parent"]
    if isinstance(arrays, LayeredArrays):
        return StoredParents(pages, arrays[f"{name}.first"], parents, arrays.stored_parents[name])
    size = len(parents) // max(1, len(pages))
    return StoredParents(pages, read_only(np.arange(len(pages), dtype=np.uint64) * np.uint64(size)), parents, size)


def lists_of(array: Callable[[str], NDArray[Any]], direction: str) -> Lists:
    """One direction of the links, `out` or `in`, as kernels take it. Raises ValueError for an invalid code."""
    words, base, offset, degree, code = (array(f"{direction}.{part}") for part in LIST_PARTS)
    return Lists(words, base, offset, degree, link_table(Code.from_lengths(code).table))
