"""Trails of addresses → counts of pairs of pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress
from cocite.graph.store import Graph
from cocite.pages.address import parse_query
from cocite.sources.clicks import Trail
from cocite.sources.records import ReadReport

WINDOW = 10
"""Pages of a session that are so far apart, or nearer, were seen together."""
GATHERED = 1 << 20
"""Pairs that are gathered before those alike are added up."""
REMEMBERED = 1 << 20
"""Addresses whose pages are remembered while reading."""
ITSELF = "clicks from a page to itself"
Counts = NDArray[np.float64]
Row = tuple[int, int, float, float]


class Pairs(NamedTuple):
    """Pairs of pages, each once and ascending, by numbers or by fingerprints."""

    source: NDArray[Any]
    target: NDArray[Any]
    steps: Counts  # clicks from the one to the other
    later: Counts  # times that the other was seen up to WINDOW pages later, but not directly


def count_trails(graph: Graph, trails: Iterable[Trail], report: ReadReport) -> tuple[Pairs, int]:
    """The pairs of pages in trails, and how many trails had any. What is not in the store is counted in the report.

    Rows are added up now and then: memory grows with the pairs that differ, not with the trails.
    """
    finder, used, rows = _Finder(graph, report), 0, list[Row]()
    pairs = _columns(rows)
    for trail in trails:
        before = len(rows)
        rows += _rows(trail, [finder.page(address) for address in trail.pages], report)
        used += len(rows) > before
        if len(rows) >= GATHERED:
            pairs, rows = _sum(pairs, _columns(rows)), []
    return _sum(pairs, _columns(rows)), used


def _rows(trail: Trail, pages: Sequence[int | None], report: ReadReport) -> Iterator[Row]:
    """The counts of one trail; None is a page that isn't in the store."""
    direct = {(pages[a], pages[b]) for a, b in trail.steps}
    for source, target in ((pages[a], pages[b]) for a, b in trail.steps):
        if source is not None and target is not None:
            if source == target:
                report.read[ITSELF] += 1
            else:
                yield source, target, trail.times, 0.0
    for place, source in enumerate(pages if len(pages) > 2 else ()):
        for target in pages[place + 1 : place + 1 + WINDOW]:
            if source is not None and target is not None and source != target and (source, target) not in direct:
                yield source, target, 0.0, trail.times


class _Finder:
    """From addresses to pages; each address is looked up once, as logs repeat them."""

    def __init__(self, graph: Graph, report: ReadReport) -> None:
        self._graph, self._report = graph, report
        self._known: dict[str, int | str] = {}

    def page(self, address: str) -> int | None:
        """The page of an address; None, and counted, if there is none."""
        found = self._known.get(address)
        if found is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            page = self._graph.get(address)
            found = self._known[address] = _why(address) if page is None else page
        if isinstance(found, str):
            self._report.skip(found, address)
            return None
        return found


def _why(address: str) -> str:
    """Why an address leads to no page: one of few reasons."""
    try:
        parse_query(address)
    except BadAddress as error:
        return str(error).partition(": ")[0]
    return "page that is not in the store"


def _columns(rows: list[Row]) -> Pairs:
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    source, target = (np.array(column, np.uint32) for column in columns[:2])
    steps, later = (np.array(column, np.float64) for column in columns[2:])
    return Pairs(source, target, steps, later)


def _sum(one: Pairs, other: Pairs) -> Pairs:
    return summed(*(np.concatenate(both) for both in zip(one, other, strict=True)))


def summed(source: NDArray[Any], target: NDArray[Any], steps: Counts, later: Counts) -> Pairs:
    """Pairs with those that are alike added up, ascending."""
    order = np.lexsort((target, source))
    source, target, steps, later = source[order], target[order], steps[order], later[order]
    first = np.ones(len(source), np.bool_)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    starts = np.flatnonzero(first)
    if not len(starts):
        return Pairs(source, target, steps, later)
    return Pairs(source[starts], target[starts], np.add.reduceat(steps, starts), np.add.reduceat(later, starts))
