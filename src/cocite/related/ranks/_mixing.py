"""Anderson's mixing: a better start for the next round, from what the last rounds did.

A round leads from x to g(x), and moves by f = g(x) - x. Of the last rounds' differences of moves, those are chosen that
together come closest to f (least squares); the same differences of g are taken back, as if the rounds to come had been
made already. It needs 8 bytes a page for each round remembered, and on webs half of the rounds: see docs/decisions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.ranks.vectors import mix, note
from cocite.related.ranks._blocks import Threads, Vector

MEMORY = 2
"""Rounds remembered: three save no more rounds of the standard graph."""


class Mixing:
    """What is remembered of an iteration whose values are changed in place."""

    def __init__(self, threads: Threads, values: Vector) -> None:
        self.threads, self.values, self.before = threads, values, values.copy()
        self.steps = np.zeros((MEMORY, len(values)), np.float32)  # differences: their first digits are enough
        self.moves = np.zeros((MEMORY, len(values)), np.float32)
        self.rounds = 0  # remembered since the memory was last cleared
        self.last = np.inf

    def improve(self, change: float) -> None:
        """After a round, which changed so much in all: start the next one from better values."""
        if change > self.last:  # mixing did harm: rounds alone never do
            self.rounds = 0
        self.last = change
        count, slot = min(self.rounds, MEMORY), (self.rounds - 1) % MEMORY
        parts = self._parts(count, slot)
        following = self.rounds % MEMORY
        self.threads.each(
            lambda first, last: mix(first, last, self.values, self.before, self.steps, self.moves, following, parts)
        )
        self.rounds += 1

    def _parts(self, count: int, slot: int) -> NDArray[np.float64]:
        def work(first: int, last: int) -> NDArray[np.float64]:
            sums = np.zeros((count + 1, count + 1))
            note(first, last, self.values, self.before, self.steps, self.moves, slot, count, sums)
            return sums

        if not count:
            return np.zeros(0)
        sums = sum(self.threads.each(work), np.zeros((count + 1, count + 1)))
        upper = sums[:count, :count]
        both = upper + np.triu(upper, 1).T
        scale = 1 / np.sqrt(np.maximum(np.diag(both), 1e-300))
        found = np.linalg.lstsq(both * scale * scale[:, None], sums[:count, count] * scale, rcond=1e-10)[0]
        return np.asarray(found * scale)
