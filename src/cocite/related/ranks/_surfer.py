"""The random surfer: x = flow · (what comes in by links, and what pages without links out hold) + jump · E.

With E scaled to a sum of 1, what dead ends hold is spread as E is, so x is in proportion to y = E + flow · (what comes
in by links): a linear system without dead ends, solved by Gauss-Seidel in blocks. Blocks lie side by side in lanes; a
step takes the next block of every lane, in any order, and what they gave is shared after it. So the outcome does not
depend on threads. The residual is measured by one step of the plain iteration, which also makes the outcome better.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log

import numpy as np
from numpy.typing import NDArray

from cocite.graph.generation import Progress
from cocite.kernels.codec.lists import Lists
from cocite.kernels.ranks.ranking import settle
from cocite.related.ranks import Ranked
from cocite.related.ranks._blocks import Blocks, Threads, Vector
from cocite.related.ranks._mixing import Mixing

LANES = 8
SWEEPS = 3
"""To and fro inside a block, which costs little once it is decoded."""


class Surfer:
    """One such iteration."""

    def __init__(
        self, threads: Threads, lists: Lists, degree: NDArray[np.uint32], bias: NDArray[np.uint32], flow: float
    ) -> None:
        """`lists` are links in, `degree` the numbers of links out, `bias` what E is in proportion to, if not even."""
        self.threads, self.degree, self.bias, self.flow = threads, degree, bias, flow
        pages, total = threads.graph.pages, float(bias.sum(dtype=np.float64))
        self.jump = 1 / total if len(bias) else 1 / pages
        self.blocks = Blocks(threads, lists)
        links = max(1.0, float(lists.degree.sum(dtype=np.float64)))
        self.values = lists.degree * np.float64(flow / (1 - flow) / links)  # popular pages get about this much
        self.values += bias * self.jump if len(bias) else self.jump
        self.shared: Vector = np.empty(pages)
        self.steps = -(-len(self.blocks) // LANES)
        self.lanes = np.empty((LANES, self.blocks.pages))
        self.rooms = [self.blocks.scratch() for _ in range(min(LANES, threads.threads))]

    def rank(self, tolerance: float, rounds: int, progress: Progress) -> Ranked:
        """Iterate until one more step of the plain iteration changes at most `tolerance` of the whole."""
        mixing, ratio, done, change = Mixing(self.threads, self.values), 0.25, 0, np.inf
        watch = Watch(progress, tolerance)
        while True:
            if done + 1 < rounds:  # the last is a step of the plain iteration
                self.threads.share(self.values, self.degree, self.shared, self.flow)
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
        """Every block once; returns the sum of changes."""
        changes = np.zeros(len(self.blocks))
        for step in range(self.steps):
            list(self.threads.pool.map(partial(self._settle, step, changes), range(len(self.rooms))))
            if changes.min() < 0:
                raise self.threads.damaged()
            for lane in range(LANES):
                first, last = self._ends(lane, step)
                self.shared[first:last] = self.lanes[lane, : last - first]
            read(self.threads.graph.links // self.steps)
        return float(changes.sum())

    def _settle(self, step: int, changes: Vector, worker: int) -> None:
        """A worker's part of a step."""
        room = self.rooms[worker]
        for lane in range(worker, LANES, len(self.rooms)):
            first, last = self._ends(lane, step)
            if first < last:
                changes[lane * self.steps + step] = settle(
                    self.blocks.lists, first, last, self.flow, self.degree, self.jump, self.bias, self.values,
                    self.shared, self.lanes[lane], room.inside, room.outside, room.starts, room.targets, SWEEPS,
                )  # fmt: skip

    def _ends(self, lane: int, step: int) -> tuple[int, int]:
        """The pages of a lane's block; none if the lane has ended."""
        block = lane * self.steps + step
        return (self.blocks.bounds[block], self.blocks.bounds[block + 1]) if block < len(self.blocks) else (0, 0)

    def _step(self, read: Callable[[int], None]) -> tuple[Vector, float]:
        """A step of the plain iteration, scaled so that the mean page has 1; and what it changed of the whole."""
        whole, pages = float(self.values.sum()), self.threads.graph.pages
        held = self.threads.share(self.values, self.degree, self.shared, self.flow)
        better = np.empty(pages)
        self.blocks.add_up(self.shared, better, read)
        spread = (1 - self.flow) * whole + self.flow * held
        better += self.bias * (spread * self.jump) if len(self.bias) else spread * self.jump
        moved = better - self.values
        residual = float(np.abs(moved, out=moved).sum()) / whole
        better *= pages / float(better.sum())
        return better, residual


class Watch:
    """Tells how far an iteration is: every round comes closer by about the same factor."""

    def __init__(self, progress: Progress, tolerance: float) -> None:
        self.progress, self.tolerance = progress, tolerance
        self.done, self.total, self.first = 0, None, 0.0  # type: int, int | None, float

    def read(self, links: int) -> None:
        """So many more links were read."""
        self.done += links
        self.progress("ranking by links", links, None if self.total is None else max(self.total, self.done))

    def changed(self, change: float) -> None:
        """A round changed so much."""
        self.first = self.first or change
        if 0 < change < self.first:
            part = log(change / self.first) / log(min(0.5, self.tolerance / self.first))
            self.total = int(self.done / max(0.01, min(1.0, part)))
