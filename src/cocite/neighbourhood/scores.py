"""Scores: what a method gives back, and the one order in which answers come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.neighbourhood.view import Pages, is_one_of

LEAST = 1e-12
"""A score below this is no answer."""


@dataclass(frozen=True)
class Scores:
    """Pages with scores, in no order; and what the method has to report."""

    pages: Pages
    values: NDArray[np.float64]
    used: Sequence[int]  # the pages that were asked in place of the seeds
    never: Pages  # pages that are no answer: the seeds, those used, what stands for them, stop pages
    ties: NDArray[np.float64] | None = None  # decides between equal scores
    reached: NDArray[np.int32] | None = None  # how many query pages have to do with each; None: all of them
    facts: Mapping[str, Any] = field(default_factory=dict)
    steps: Sequence[Mapping[str, Any]] = ()  # what each round did, for a method that reports rounds
    path: Callable[[int], Sequence[int]] | None = None  # the pages through which an answer was reached, if far
    evidence: Callable[[int], Sequence[Mapping[str, Any]]] | None = None  # other evidence than links, loudest first

    def ranked(self, in_degree: NDArray[np.uint32], first: int = 100) -> Iterator[tuple[int, float]]:
        """(page, score), best first. The first ones cost little, the rest are sorted only when they are asked for.

        By query pages reached, score to six significant digits, ties, in-degree, and number, which is address.
        """
        given = 0
        enough = first + len(self.never)  # that many best ones hold the first answers
        if self.reached is None and len(self.values) > 2 * enough:
            place = len(self.values) - enough
            least = max(LEAST, np.partition(self.values, place)[place] * (1 - 1e-5))
            for at in self._order(np.flatnonzero(self.values >= least), in_degree)[:first]:
                given += 1
                yield int(self.pages[at]), rounded(float(self.values[at]))
        for at in self._order(np.flatnonzero(self.values >= LEAST), in_degree)[given:]:
            yield int(self.pages[at]), rounded(float(self.values[at]))

    def _order(self, chosen: NDArray[np.intp], in_degree: NDArray[np.uint32]) -> NDArray[np.intp]:
        chosen = chosen[~is_one_of(self.pages[chosen], self.never)]
        pages = self.pages[chosen]
        keys: list[NDArray[Any]] = [pages, -in_degree[pages].astype(np.int64)]
        if self.ties is not None:
            keys.append(-six_digits(self.ties[chosen]))
        keys.append(-six_digits(self.values[chosen]))
        if self.reached is not None:
            keys.append(-self.reached[chosen])
        return chosen[np.lexsort(keys)]


def six_digits(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rounded to six significant digits: iterations stop at 1e-8, so more would be noise."""
    with np.errstate(divide="ignore"):
        power = 10.0 ** (5 - np.floor(np.log10(np.abs(values))))
    return np.where(values == 0, 0.0, np.rint(values * np.where(np.isfinite(power), power, 0)) / power)


def rounded(score: float) -> float:
    """One score to six significant digits."""
    return float(f"{score:.5e}")
