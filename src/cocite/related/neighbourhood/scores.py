"""Scores: what a method gives back, and the one order in which answers come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.related.best_first import best_first
from cocite.related.evidence import Evidence
from cocite.related.neighbourhood.view import Pages

LEAST = 1e-12
"""A score below this is no answer."""
Explain = Callable[[Pages], list[list[Evidence]]]
NO_TIES: NDArray[np.float64] = np.zeros(0)
NO_COUNTS: NDArray[np.int32] = np.zeros(0, np.int32)


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
    path: Callable[[int], Sequence[int]] | None = None  # the pages through which a result was reached, if far
    evidence: Explain | None = None  # the evidence for kept results, strongest first; None, or empty: see the links

    def ranked(self, in_degree: NDArray[np.uint32], first: int = 100) -> Iterator[tuple[int, float]]:
        """(page, score), best first. The first ones cost little, the rest are found only when they are asked for.

        By query pages reached, score to six significant digits, ties, in-degree, and number, which is address.
        """
        places = self._first(in_degree, first)
        yield from self._at(places)
        if len(places) == first:
            yield from self._at(self._first(in_degree, len(self.pages))[first:])

    def _at(self, places: NDArray[np.int64]) -> Iterator[tuple[int, float]]:
        return zip(self.pages[places].tolist(), map(rounded, self.values[places].tolist()), strict=True)

    def _first(self, in_degree: NDArray[np.uint32], first: int) -> NDArray[np.int64]:
        """The places of the first so many."""
        ties = NO_TIES if self.ties is None else self.ties.astype(np.float64)
        reached = NO_COUNTS if self.reached is None else self.reached.astype(np.int32)
        pages, never = self.pages.astype(np.uint32, copy=False), np.sort(self.never)
        arrays = [unwritable(each) for each in (pages, self.values, ties, reached, never, in_degree)]
        found: NDArray[np.int64] = best_first(*arrays, LEAST, first)
        return found


class Best(NamedTuple):
    """The first answers to each of many pages, one page after another: `counts[i]` of them for page i."""

    counts: NDArray[np.int32]
    pages: Pages
    scores: NDArray[np.float64]
    enough: NDArray[np.bool_]  # whether enough is known of page i; if not, a shorter address may be asked


def unwritable(array: NDArray[Any]) -> NDArray[Any]:
    """The same, read-only, in one piece: what a loop is compiled for, once, wherever its arrays come from."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def six_digits(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rounded to six significant digits: iterations stop at 1e-8, so more would be noise.

    For whole arrays outside loops; `kernels/best_first.shortened` is the same, of one value inside one.
    """
    with np.errstate(divide="ignore"):
        power = 10.0 ** (5 - np.floor(np.log10(np.abs(values))))
    return np.where(values == 0, 0.0, np.rint(values * np.where(np.isfinite(power), power, 0)) / power)


def rounded(score: float) -> float:
    """One score to six significant digits."""
    return float(f"{score:.5e}")
