"""What the ranks share: threads that work on blocks of links, Anderson mixing, and the random surfer.

Anderson mixing gives a better start for the next round. A round leads from x to g(x) and moves by f = g(x) - x. Of the
differences between the last moves, mixing finds the combination closest to f (least squares), and takes the same
combination of differences of g back, as if later rounds had been made already. It needs 8 bytes per page and remembered
round, and halves the rounds on webs: see docs/decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from math import log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.generation import Progress
from cocite.graph.store import Graph
from cocite.kernels import ranks as kernels
from cocite.kernels.codec.lists import Lists
from cocite.related.ranks import Ranked

BLOCK_LINKS = 1 << 16
"""Links and pages of a block: decoded, at 4 bytes per link, they fit a core's own cache."""
RANGE_PAGES = 1 << 16
"""Pages of a range, where no links are read."""
MIXED_ROUNDS = 2
"""Rounds that mixing remembers: three save no more rounds on the standard graph."""
LANES = 8
SWEEPS = 3
"""Sweeps inside a block, which cost little once it is decoded."""
Output = TypeVar("Output")
Vector = NDArray[np.float64]


class Threads:
    """Threads that work on pages of one store."""

    def __init__(self, pool: ThreadPoolExecutor, threads: int, graph: Graph) -> None:
        self.pool, self.threads, self.graph = pool, threads, graph
        starts = range(0, graph.pages, RANGE_PAGES)
        self.ranges = [(first, min(first + RANGE_PAGES, graph.pages)) for first in starts]

    def each(self, work: Callable[[int, int], Output]) -> list[Output]:
        """The results of work(first, last) for ranges of pages, in order."""
        return list(self.pool.map(lambda ends: work(*ends), self.ranges))

    def share(self, values: Vector, degree: NDArray[np.uint32], shared: Vector, flow: float = 1.0) -> float:
        """Write what pages give to each page they link to; returns the sum over pages without links."""
        return float(sum(self.each(lambda first, last: kernels.share(first, last, values, flow, degree, shared))))

    def damaged(self) -> BadStore:
        """The error for lists that can't be read."""
        return self.graph.damaged()


@contextmanager
def work_on(graph: Graph, threads: int) -> Iterator[Threads]:
    """Threads that end with the context."""
    with ThreadPoolExecutor(threads) as pool:
        yield Threads(pool, threads, graph)


class Blocks:
    """One direction of the links, divided into blocks."""

    def __init__(self, threads: Threads, lists: Lists) -> None:
        self.threads, self.lists = threads, lists
        longest = int(lists.degree.max(initial=0))
        if longest > len(threads.graph.links):
            raise threads.damaged()  # checked before memory is allocated for it
        self.bounds: list[int] = kernels.block_bounds(lists.degree, BLOCK_LINKS).tolist()
        self.longest, self.pages = max(BLOCK_LINKS, longest) + 1, int(np.diff(self.bounds).max(initial=0))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def scratch(self) -> kernels.Scratch:
        """Scratch arrays of one thread."""
        targets, inside = np.empty((2, self.longest), np.uint32)
        return kernels.Scratch(np.empty(self.pages + 1, np.int64), targets, inside, np.empty(self.pages))

    def add_up(self, given: Vector, result: Vector, progress: Callable[[int], None] = lambda _: None) -> None:
        """Set result[page] to the sum of `given` over the page's links."""
        bounds = self.bounds

        def work(some: Sequence[int]) -> bool:
            starts, targets, *_ = self.scratch()
            return all(
                kernels.add_up(self.lists, bounds[block], bounds[block + 1], given, result, starts, targets)
                for block in some
            )

        parts = np.array_split(np.arange(len(self)), max(1, min(len(self), 4 * self.threads.threads)))
        for good in self.threads.pool.map(work, [part.tolist() for part in parts]):
            if not good:
                raise self.threads.damaged()
        progress(len(self.threads.graph.links))


class Mixing:
    """Anderson mixing for an iteration whose values are changed in place."""

    def __init__(self, threads: Threads, values: Vector) -> None:
        self.threads, self.before = threads, values.copy()
        steps, moves = np.zeros((2, MIXED_ROUNDS, len(values)), np.float32)  # of differences, few digits are enough
        self.memory = kernels.MixingMemory(values, self.before, steps, moves)
        self.rounds = 0  # remembered since the memory was last cleared
        self.last = np.inf

    def improve(self, change: float) -> None:
        """After a round that changed `change` in total: start the next one from better values."""
        if change > self.last:  # mixing made it worse; rounds alone never do
            self.rounds = 0
        self.last = change
        parts, slot = self._parts(min(self.rounds, MIXED_ROUNDS)), self.rounds % MIXED_ROUNDS
        self.threads.each(lambda first, last: kernels.mix(first, last, self.memory, slot, parts))
        self.rounds += 1

    def _parts(self, count: int) -> Vector:
        slot = (self.rounds - 1) % MIXED_ROUNDS

        def work(first: int, last: int) -> Vector:
            sums = np.zeros((count + 1, count + 1))
            kernels.note(first, last, self.memory, slot, count, sums)
            return sums

        if not count:
            return np.zeros(0)
        sums = sum(self.threads.each(work), np.zeros((count + 1, count + 1)))
        upper = sums[:count, :count]
        both = upper + np.triu(upper, 1).T
        scale = 1 / np.sqrt(np.maximum(np.diag(both), 1e-300))
        found = np.linalg.lstsq(both * scale * scale[:, None], sums[:count, count] * scale, rcond=1e-10)[0]
        return np.asarray(found * scale)


class Surfer:
    """The random surfer: x = flow · (what comes in by links, and what pages without out-links hold) + jump · E.

    With E scaled to a sum of 1, pages without out-links give as E does, so x is proportional to y = E + flow · (what
    comes in by links): a linear system, solved by Gauss-Seidel in blocks. Blocks lie side by side in lanes. A step
    takes the next block of every lane, in any order, and shares what they gave afterwards, so the result doesn't depend
    on the number of threads. One step of the plain iteration measures the residual and improves the result.
    """

    def __init__(
        self, threads: Threads, lists: Lists, degree: NDArray[np.uint32], bias: NDArray[np.uint32], flow: float
    ) -> None:
        """`lists` are in-links, `degree` counts out-links; E is proportional to `bias`, or even if that is empty."""
        pages = threads.graph.pages
        self.threads, self.flow = threads, flow
        self.jump = 1 / float(bias.sum(dtype=np.float64)) if len(bias) else 1 / pages
        self.system = kernels.SurferSystem(flow, degree, self.jump, bias)
        self.blocks = Blocks(threads, lists)
        links = max(1.0, float(lists.degree.sum(dtype=np.float64)))
        self.values = lists.degree * np.float64(flow / (1 - flow) / links)  # popular pages end up with about this
        self.values += bias * self.jump if len(bias) else self.jump
        self.shared: Vector = np.empty(pages)
        self.state = kernels.SurferState(self.values, self.shared)
        self.steps = -(-len(self.blocks) // LANES)
        self.lanes = np.empty((LANES, self.blocks.pages))
        self.scratch = [self.blocks.scratch() for _ in range(min(LANES, threads.threads))]

    def rank(self, tolerance: float, rounds: int, progress: Progress) -> Ranked:
        """Iterate until one more step of the plain iteration changes at most `tolerance` of the total."""
        mixing, ratio, done, change = Mixing(self.threads, self.values), 0.25, 0, np.inf
        watch = Watch(progress, tolerance)
        while True:
            if done + 1 < rounds:  # the last round is a step of the plain iteration
                self.threads.share(self.values, self.system.degree, self.shared, self.flow)
                change = self._round(watch.read) / float(self.values.sum())
                done += 1
                watch.changed(change)
            if change * ratio <= tolerance or done + 1 >= rounds:
                better, residual = self._step(watch.read)
                done += 1
                if residual <= tolerance or done >= rounds:
                    return Ranked(better, done, residual, residual <= tolerance)
                ratio = min(1.0, residual / max(change, 1e-300))
            mixing.improve(change)

    def _round(self, read: Callable[[int], None]) -> float:
        """Settle every block once; returns the sum of changes."""
        changes = np.zeros(len(self.blocks))
        for step in range(self.steps):
            list(self.threads.pool.map(partial(self._settle, step, changes), range(len(self.scratch))))
            if changes.min() < 0:
                raise self.threads.damaged()
            for lane in range(LANES):
                first, last = self._ends(lane, step)
                self.shared[first:last] = self.lanes[lane, : last - first]
            read(len(self.threads.graph.links) // self.steps)
        return float(changes.sum())

    def _settle(self, step: int, changes: Vector, worker: int) -> None:
        """One worker's lanes of a step."""
        lists, scratch = self.blocks.lists, self.scratch[worker]
        for lane in range(worker, LANES, len(self.scratch)):
            first, last = self._ends(lane, step)
            if first < last:
                change = kernels.settle(lists, first, last, self.system, self.state, self.lanes[lane], scratch, SWEEPS)
                changes[lane * self.steps + step] = change

    def _ends(self, lane: int, step: int) -> tuple[int, int]:
        """The pages of a lane's block; none if the lane has ended."""
        block = lane * self.steps + step
        return (self.blocks.bounds[block], self.blocks.bounds[block + 1]) if block < len(self.blocks) else (0, 0)

    def _step(self, read: Callable[[int], None]) -> tuple[Vector, float]:
        """A step of the plain iteration, scaled to a mean of 1, and what it changed as a part of the total."""
        total, pages, bias = float(self.values.sum()), self.threads.graph.pages, self.system.bias
        held = self.threads.share(self.values, self.system.degree, self.shared, self.flow)
        better = np.empty(pages)
        self.blocks.add_up(self.shared, better, read)
        spread = (1 - self.flow) * total + self.flow * held
        better += bias * (spread * self.jump) if len(bias) else spread * self.jump
        moved = better - self.values
        residual = float(np.abs(moved, out=moved).sum()) / total
        better *= pages / float(better.sum())
        return better, residual


class Watch:
    """Reports the progress of an iteration, assuming that every round gets closer by about the same factor."""

    def __init__(self, progress: Progress, tolerance: float) -> None:
        self.progress, self.tolerance = progress, tolerance
        self.done, self.total, self.first = 0, None, 0.0  # type: int, int | None, float

    def read(self, links: int) -> None:
        """Report links that were read."""
        self.done += links
        self.progress("ranking by links", links, None if self.total is None else max(self.total, self.done))

    def changed(self, change: float) -> None:
        """Estimate the total from what a round changed."""
        self.first = self.first or change
        if 0 < change < self.first:
            part = log(change / self.first) / log(min(0.5, self.tolerance / self.first))
            self.total = int(self.done / max(0.01, min(1.0, part)))
