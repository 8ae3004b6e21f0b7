"""What the ranks share: threads that work on blocks of links, Anderson mixing, and the random surfer.

Anderson mixing gives a better start for the next round. A round leads from x to g(x) and moves by f = g(x) - x. Of the
differences between the last moves, mixing finds the combination closest to f (least squares), and takes the same
combination of differences of g back, as if later rounds had been made already. It needs 8 bytes per page and remembered
round, and halves the rounds on webs: see docs/decisions.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import log
from threading import Lock
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import GONE
from cocite.graph.generation import Progress, empty_array
from cocite.graph.store import Graph
from cocite.kernels import ranks as kernels
from cocite.kernels.codec.lists import Lists
from cocite.kernels.interpreted import Threads
from cocite.related.ranks import Iteration, Ranked
from cocite.system import machine_bytes

BLOCK_LINKS = 1 << 16
"""Links and pages of a block: decoded, at 4 bytes per link, they fit a core's own cache."""
RANGE_PAGES = 1 << 16
"""Pages of a range, where no links are read."""
MIXED_ROUNDS = 2
"""Rounds that mixing remembers: three save no more rounds on the standard graph."""
LANES = 8
SWEEPS = 3
"""Sweeps inside a block, which cost little: its values are in the fastest cache."""
KEPT_PART = 8
"""Decoded links of one direction take at most one part in 8 of the machine's memory: 4 bytes a link, and 8 a page."""
Output = TypeVar("Output")
Vector = NDArray[np.float64]


def pages_there(graph: Graph) -> NDArray[np.uint32]:
    """1 for every page and 0 for those that are gone: no surfer jumps to them. Empty if none is gone."""
    if len(graph) == graph.pages:
        return empty_array(np.dtype(np.uint32))
    there: NDArray[np.uint32] = (graph.array("page.kind") & GONE == 0).astype(np.uint32)
    there.flags.writeable = False  # as those of a store: kernels are compiled once
    return there


def equal_values(graph: Graph) -> Vector:
    """1 for every page that is not gone."""
    there = pages_there(graph)
    return there.astype(np.float64) if len(there) else np.ones(graph.pages)


class BlockScratch(NamedTuple):
    """Scratch arrays for one block."""

    starts: NDArray[np.int64]
    targets: NDArray[np.uint32]
    links: kernels.DividedLinks
    outside: Vector


class RankWorkers(Threads):
    """Threads that work on pages of one store, until the end of a `with` block."""

    def __init__(self, graph: Graph, threads: int) -> None:
        super().__init__(threads)
        self.graph, self.threads = graph, threads

    def each(self, work: Callable[[int, int], Output]) -> list[Output]:
        """The results of work(first, last) for ranges of pages, in order."""
        pages = self.graph.pages
        return list(self.map(lambda first: work(first, min(first + RANGE_PAGES, pages)), range(0, pages, RANGE_PAGES)))

    def share(self, values: Vector, degree: NDArray[np.uint32], shared: Vector, flow: float = 1.0) -> float:
        """Write what pages give to each page they link to; returns the sum over pages without links."""

        def work(first: int, last: int) -> float:
            own, links, given = values[first:last], degree[first:last], shared[first:last]
            given[:] = 0.0
            np.divide(own * flow, links, out=given, where=links > 0)
            return float(own[links == 0].sum())

        return float(sum(self.each(work)))


class Blocks:
    """One direction of the links, divided into blocks. Each is decoded once and kept, as long as there is room."""

    def __init__(self, workers: RankWorkers, lists: Lists) -> None:
        self.workers, self.lists, longest = workers, lists, int(lists.degree.max(initial=0))
        if longest > len(workers.graph.links):
            raise workers.graph.damaged()  # checked before memory is allocated for it
        self.bounds: list[int] = kernels.block_bounds(lists.degree, BLOCK_LINKS).tolist()
        self.longest, self.pages = max(BLOCK_LINKS, longest) + 1, int(np.diff(self.bounds).max(initial=0))
        self.kept: list[kernels.DividedLinks | None] = [None] * len(self)
        self.room, self.lock = machine_bytes() // KEPT_PART, Lock()

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def ends(self, block: int) -> tuple[int, int]:
        """The first page of a block, and the one after its last."""
        return self.bounds[block], self.bounds[block + 1]

    def scratch(self) -> BlockScratch:
        """Scratch arrays of one thread."""
        starts, outside, bounds = np.empty(self.pages + 1, np.int64), np.empty(self.pages), (self.pages + 1, np.uint32)
        targets, far = np.empty(self.longest, np.uint32), np.empty(self.longest + kernels.PREFETCH_LINKS, np.uint32)
        links = kernels.DividedLinks(np.empty(*bounds), np.empty(self.longest, np.uint16), np.empty(*bounds), far)
        return BlockScratch(starts, targets, links, outside)

    def links(self, block: int, scratch: BlockScratch) -> kernels.DividedLinks:
        """The links of a block; unless they are kept, in the scratch arrays."""
        if (kept := self.kept[block]) is not None:
            return kept
        (first, last), room = self.ends(block), scratch.links
        if not kernels.divide(self.lists, first, last, scratch.starts, scratch.targets, room):
            raise self.workers.graph.damaged()
        count = last - first + 1
        near, far = int(room.near_starts[count - 1]), int(room.far_starts[count - 1]) + kernels.PREFETCH_LINKS
        found = kernels.DividedLinks(
            room.near_starts[:count], room.near[:near], room.far_starts[:count], room.far[:far]
        )
        size = sum(each.nbytes for each in found)
        with self.lock:
            is_kept = size <= self.room
            self.room -= is_kept * size
        if is_kept:
            found = self.kept[block] = kernels.DividedLinks._make(each.copy() for each in found)
        return found

    def add_up(self, given: Vector, result: Vector, progress: Callable[[int], None] = lambda _: None) -> None:
        """Set result[page] to the sum of `given` over the page's links."""

        def work(blocks: Sequence[int]) -> None:
            scratch = self.scratch()
            for block in blocks:
                kernels.add_up(self.links(block, scratch), self.bounds[block], given, result)

        parts = np.array_split(np.arange(len(self)), max(1, min(len(self), 4 * self.workers.threads)))
        list(self.workers.map(work, [part.tolist() for part in parts]))
        progress(len(self.workers.graph.links))


class Mixing:
    """Anderson mixing for an iteration whose values are changed in place."""

    def __init__(self, workers: RankWorkers, values: Vector) -> None:
        self.workers, self.values, self.before = workers, values, values.copy()  # values after and before a round
        # By slot, the differences of successive values and moves (values - before): few digits are enough.
        self.steps, self.moves = np.zeros((2, MIXED_ROUNDS, len(values)), np.float32)
        self.rounds, self.last = 0, np.inf  # rounds remembered since the memory was last cleared, and the last change

    def improve(self, change: float) -> None:
        """After a round that changed `change` in total: start the next one from better values."""
        if change > self.last:  # mixing made it worse; rounds alone never do
            self.rounds = 0
        self.last = change
        parts, slot = self._parts(min(self.rounds, MIXED_ROUNDS)), self.rounds % MIXED_ROUNDS

        def mix(first: int, last: int) -> None:
            """Take parts of the noted steps back, values - parts · steps, and prepare a slot for the next round."""
            values, before = self.values[first:last], self.before[first:last]
            back = parts @ self.steps[: len(parts), first:last]
            self.moves[slot, first:last] = before - values
            self.steps[slot, first:last] = -back
            values -= back
            before[:] = values

        self.workers.each(mix)
        self.rounds += 1

    def _parts(self, count: int) -> Vector:
        """The combination of the last `count` moves that is closest to this one."""
        slot = (self.rounds - 1) % MIXED_ROUNDS

        def note(first: int, last: int) -> Vector:
            """Complete the step and the move of this round. Returns the products of all moves, this one the last."""
            move = self.values[first:last] - self.before[first:last]
            self.moves[slot, first:last] += move
            self.steps[slot, first:last] += move
            every = np.vstack([self.moves[:count, first:last], move])
            return np.triu(np.einsum("jp,kp->jk", every, every))  # einsum adds in one order, BLAS may not

        if not count:
            return np.zeros(0)
        sums = sum(self.workers.each(note), np.zeros((count + 1, count + 1)))
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
        self, workers: RankWorkers, lists: Lists, degree: NDArray[np.uint32], bias: NDArray[np.uint32], flow: float
    ) -> None:
        """`lists` are in-links, `degree` counts out-links; E is proportional to `bias`, or even if that is empty."""
        self.workers, self.flow, self.blocks = workers, flow, Blocks(workers, lists)
        jump = 1 / (float(bias.sum(dtype=np.float64)) if len(bias) else workers.graph.pages)
        links = max(1.0, float(lists.degree.sum(dtype=np.float64)))
        self.values = lists.degree * np.float64(flow / (1 - flow) / links)  # popular pages end up with about this
        self.values += bias * jump if len(bias) else jump
        self.shared: Vector = np.empty(workers.graph.pages)
        self.system = kernels.SurferSystem(flow, degree, jump, bias, self.values, self.shared)
        self.steps = -(-len(self.blocks) // LANES)
        self.lanes = np.empty((LANES, self.blocks.pages))
        self.scratch = [self.blocks.scratch() for _ in range(min(LANES, workers.threads))]

    def rank(self, params: Iteration, progress: Progress) -> Ranked:
        """Iterate until one more step of the plain iteration changes at most the tolerance."""
        mixing, ratio, done, change = Mixing(self.workers, self.values), 0.25, 0, np.inf
        tolerance, rounds, watch = params.tolerance, params.rounds, Watch(progress, params.tolerance)
        while True:
            if done + 1 < rounds:  # the last round is a step of the plain iteration
                self.workers.share(self.values, self.system.degree, self.shared, self.flow)
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
        changes, graph = np.zeros(len(self.blocks)), self.workers.graph
        for step in range(self.steps):
            list(self.workers.map(partial(self._settle, step, changes), range(len(self.scratch))))
            for lane, block in self._lanes(step):
                first, last = self.blocks.ends(block)
                self.shared[first:last] = self.lanes[lane, : last - first]
            read(len(graph.links) // self.steps)
        return float(changes.sum())

    def _settle(self, step: int, changes: Vector, worker: int) -> None:
        """One worker's lanes of a step."""
        scratch = self.scratch[worker]
        for lane, block in self._lanes(step)[worker :: len(self.scratch)]:
            links, first = self.blocks.links(block, scratch), self.blocks.bounds[block]
            changes[block] = kernels.settle(links, first, self.system, self.lanes[lane], scratch.outside, SWEEPS)

    def _lanes(self, step: int) -> list[tuple[int, int]]:
        """The lanes that have a block at a step, and the block of each."""
        blocks = range(step, len(self.blocks), self.steps)
        return list(enumerate(blocks))

    def _step(self, read: Callable[[int], None]) -> tuple[Vector, float]:
        """A step of the plain iteration, scaled to a mean of 1, and what it changed as a part of the total."""
        total, bias, better = float(self.values.sum()), self.system.bias, np.empty(len(self.values))
        held = self.workers.share(self.values, self.system.degree, self.shared, self.flow)
        self.blocks.add_up(self.shared, better, read)
        spread = (1 - self.flow) * total + self.flow * held
        better += bias * (spread * self.system.jump) if len(bias) else spread * self.system.jump
        residual = float(np.abs(better - self.values).sum()) / total
        better *= len(self.workers.graph) / float(better.sum())
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
