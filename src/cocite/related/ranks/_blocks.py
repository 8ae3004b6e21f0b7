"""Pages in blocks of about equally many links, worked on by threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.store import Graph
from cocite.kernels.codec.lists import Lists
from cocite.kernels.ranks.ranking import add_up, cut
from cocite.kernels.ranks.vectors import share

LINKS = 1 << 16
"""Links and pages of a block: what is decoded of it, 4 bytes a link, stays in a core's own cache."""
PAGES = 1 << 16
"""Pages of a range, where there are no links to read."""
Output = TypeVar("Output")
Vector = NDArray[np.float64]


class Scratch(NamedTuple):
    """What a thread works with: room for a block."""

    starts: NDArray[np.int64]
    targets: NDArray[np.uint32]
    inside: NDArray[np.uint32]
    outside: Vector


class Threads:
    """Threads that work on pages of one store."""

    def __init__(self, pool: ThreadPoolExecutor, threads: int, graph: Graph) -> None:
        self.pool, self.threads, self.graph = pool, threads, graph
        cuts = range(0, graph.pages, PAGES)
        self.ranges = [(first, min(first + PAGES, graph.pages)) for first in cuts]

    def each(self, work: Callable[[int, int], Output]) -> list[Output]:
        """The outcome of work(first, last) for ranges of pages, in order."""
        return list(self.pool.map(lambda ends: work(*ends), self.ranges))

    def share(self, values: Vector, degree: NDArray[np.uint32], shared: Vector, flow: float = 1.0) -> float:
        """Work out what pages give to each page they link to; returns the sum of values of those that link to none."""
        return float(sum(self.each(lambda first, last: share(first, last, values, flow, degree, shared))))

    def damaged(self) -> BadStore:
        """What to raise when lists cannot be read."""
        return self.graph.damaged()


@contextmanager
def work_on(graph: Graph, threads: int) -> Iterator[Threads]:
    """Threads for a while."""
    with ThreadPoolExecutor(threads) as pool:
        yield Threads(pool, threads, graph)


class Blocks:
    """One direction of the links, cut into blocks."""

    def __init__(self, threads: Threads, lists: Lists) -> None:
        self.threads, self.lists = threads, lists
        links = threads.graph.links
        longest = int(lists.degree.max(initial=0))
        if longest > links:
            raise threads.damaged()  # memory is taken on its word
        self.bounds: list[int] = cut(lists.degree, LINKS).tolist()
        self.longest, self.pages = max(LINKS, longest) + 1, int(np.diff(self.bounds).max(initial=0))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def scratch(self) -> Scratch:
        """Room for a thread."""
        starts, outside = np.empty(self.pages + 1, np.int64), np.empty(self.pages)
        return Scratch(starts, np.empty(self.longest, np.uint32), np.empty(self.longest, np.uint32), outside)

    def add_up(self, given: Vector, result: Vector, progress: Callable[[int], None] = lambda _: None) -> None:
        """result[page] = the sum of `given` over the page's links."""

        def work(some: Sequence[int]) -> bool:
            room = self.scratch()
            return all(
                add_up(self.lists, self.bounds[block], self.bounds[block + 1], given, result, room.starts, room.targets)
                for block in some
            )

        parts = np.array_split(np.arange(len(self)), max(1, min(len(self), 4 * self.threads.threads)))
        for good in self.threads.pool.map(work, [part.tolist() for part in parts]):
            if not good:
                raise self.threads.damaged()
        progress(self.threads.graph.links)
