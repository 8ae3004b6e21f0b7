"""The links of a graph, in both directions.

Kernels read lists through `GraphLinks.out` and `GraphLinks.into`; Python code through the methods. Every length is
validated before memory is allocated for it, and every list is checked when it is decoded.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cocite.budget import current
from cocite.graph.arrays import PER_BASE, Arrays, rows_of
from cocite.graph.huffman import Code
from cocite.kernels.codec.attributes import all_blocks, all_flags
from cocite.kernels.codec.lists import Lists, read_many, read_one
from cocite.kernels.codec.look_up import find_position
from cocite.kernels.related.counted_links import OutLists, Repeats

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


class GraphLinks:
    """All links: `len(links)` is their number."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self.in_degree: NDArray[np.uint32] = arrays["in.degree"]
        self.out_degree: NDArray[np.uint32] = arrays["out.degree"]

    def __len__(self) -> int:
        return self._arrays.links

    @property
    def out(self) -> Lists:
        """Links out, as kernels take them, with the budget of this thread."""
        return self._out._replace(budget=current())

    @property
    def into(self) -> Lists:
        """Links in, as kernels take them, with the budget of this thread."""
        return self._into._replace(budget=current())

    @cached_property
    def _out(self) -> Lists:
        return self._lists("out")

    @cached_property
    def _into(self) -> Lists:
        return self._lists("in")

    def _lists(self, direction: str) -> Lists:
        try:
            return lists_of(self._arrays.__getitem__, direction)
        except ValueError as error:
            raise self._arrays.damaged() from error

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
        total, starts = int(lists.degree[first : first + count].sum(dtype=np.int64)), np.zeros(count + 1, np.int64)
        if total > len(self):
            raise self._arrays.damaged()
        targets, found = np.empty(total, np.uint32), np.empty(total if attributes else 0, np.uint32)
        if read_many(lists, first, count, targets, found, starts) != count:
            raise self._arrays.damaged()
        return starts, targets, found

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
        pages, parents = self._arrays["best.page"], self._arrays["best.parent"]
        row = int(find_position(pages, self._arrays.page(page))) if len(pages) else -1
        if row < 0:
            return None
        stored = len(parents) // len(pages)
        found: NDArray[np.uint32] = parents[row * stored : (row + 1) * stored]
        if int(found.max(initial=0)) >= self._arrays.pages:
            raise self._arrays.damaged()
        return found

    def weights_from(self, page: int) -> NDArray[np.float32]:
        """The probability of each link out of a page."""
        degree, weights = self.degree_of(self.out, self._arrays.page(page)), self._arrays["out.weight"]
        if not len(weights):
            return np.ones(degree, np.float32)
        first = self.first_link(page)
        if first + degree > len(weights):
            raise self._arrays.damaged()
        return weights[first : first + degree]

    def first_link(self, page: int) -> int:
        """The number of a page's first link, counting all links out in page order."""
        base = page // PER_BASE
        before = self.out_degree[base * PER_BASE : page].sum(dtype=np.int64)
        return int(self._arrays["out.first"][base]) + int(before)

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
            weights, count = self._arrays["out.weight"], len(links.targets)
            if len(weights):
                at = self.first_link(first)
                weights = weights[at : at + count].astype(np.float32)
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


def lists_of(array: Callable[[str], NDArray[Any]], direction: str) -> Lists:
    """One direction of the links, `out` or `in`, as kernels take it. Raises ValueError for an invalid code."""
    words, base, offset, degree, code = (array(f"{direction}.{part}") for part in LIST_PARTS)
    return Lists(words, base, offset, degree, Code.from_lengths(code).table)
