"""The clicks of a store: how often people went from one page to another, kept as side data `clicks`.

    page, other       u4: pairs of page numbers, ascending
    named             u4: the pages of all pairs, ascending
    key, key_end      u1, u8: their keys, one after another, and where each ends
    steps, later      f8: clicks from the one to the other; times the other was seen some pages later in one session
    back              u4: the places of the pairs, in the order of the other page

A store that was changed has other page numbers: then pairs are found again by name, and those of removed pages are
dropped. Nothing that is kept grows with the number of pages. Version 1 had fingerprints, `from` and `to`, instead of
names; clicks of pages that share a fingerprint are dropped.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadStore
from cocite.graph.arrays import rows_of
from cocite.graph.side import FOLDER, SideData, only_one, read_side, remove_others, write_side
from cocite.graph.store import Graph
from cocite.pages.address import parse_query
from cocite.sources.clicks import Trail
from cocite.sources.records import ReadReport

SIDE_NAME = "clicks"
CLICKS_VERSION = 2
WINDOW_PAGES = 10  # pages of a session at this distance, or closer, were seen together
MAX_GATHERED_PAIRS = 1 << 20  # pairs that are gathered before equal ones are added up
CACHED_ADDRESSES = 1 << 20  # addresses whose pages are cached while reading: logs repeat them
Counts = NDArray[np.float64]
Row = tuple[int, int, float, float]


class PagePairs(NamedTuple):
    """Pairs of pages, each once and ascending."""

    source: NDArray[Any]
    target: NDArray[Any]
    steps: Counts  # clicks from the one to the other
    later: Counts  # times that the other was seen up to WINDOW_PAGES later, but not directly


class Beside(NamedTuple):
    """The pages that people visited after, or before, one page."""

    pages: NDArray[np.uint32]
    steps: Counts  # directly
    later: Counts  # seen in one session, not directly


class Clicks:
    """The clicks of one generation of a store. It can be shared among threads."""

    def __init__(self, graph: Graph, pairs: PagePairs, back: NDArray[np.uint32] | None = None) -> None:
        self._graph, self._pairs, self._back = graph, pairs, back

    def __len__(self) -> int:
        """The number of pairs of pages."""
        return len(self._pairs.source)

    def __repr__(self) -> str:
        return f"<Clicks of {self._graph.path} {len(self):,} pairs of pages, {self.total:,.0f} clicks>"

    @cached_property
    def total(self) -> float:
        """All clicks from one page to another."""
        return float(self._pairs.steps.sum())

    def after(self, page: int) -> Beside:
        """Where people went from a page."""
        low, high = rows_of(self._pairs.source, page)
        return self._checked(*(part[low:high] for part in self._pairs[1:]))

    def before(self, page: int) -> Beside:
        """From where people came to a page."""
        order, targets = self._by_target
        low, high = rows_of(targets, page)
        source, _, steps, later = (part[order[low:high]] for part in self._pairs)
        return self._checked(source, steps, later)

    @cached_property
    def _by_target(self) -> tuple[NDArray[np.uint32], NDArray[Any]]:
        order = np.lexsort((self._pairs.source, self._pairs.target)) if self._back is None else self._back
        if len(order) != len(self) or (len(order) and int(order.max()) >= len(self)):
            raise _unusable(self._graph)
        return order.astype(np.uint32, copy=False), self._pairs.target[order]

    def _checked(self, pages: NDArray[Any], steps: Counts, later: Counts) -> Beside:
        """A damaged file may hold anything: pages exist, and counts can be computed with."""
        counts = np.concatenate((steps, later))
        if (len(pages) and int(pages.max()) >= self._graph.pages) or not ((counts >= 0) & (counts < np.inf)).all():
            raise _unusable(self._graph)
        return Beside(pages, steps, later)


class Kept(NamedTuple):
    """The clicks of a store after some were added; all 0 if no trail was usable."""

    pairs: int
    clicks: float
    trails: int  # that were read now, and had any use
    skipped: dict[str, int]  # what could not be used, by reason


def add_clicks(graph: Graph, trails: Iterable[Trail], report: ReadReport, anew: bool = False) -> Kept:
    """Count trails into the clicks of a store; with `anew`, drop what was counted before.

    Where no trail can be used, nothing is changed.
    """
    pairs, used = _count_trails(graph, trails, report)
    if not used:
        return Kept(0, 0.0, 0, dict(report.skipped))
    with only_one(graph, SIDE_NAME, "the clicks"):
        if not anew and (side := _read(graph)) is not None:
            pairs = _sum(_numbered(graph, side), pairs)
        _keep(graph, pairs)
    return Kept(len(pairs.source), float(pairs.steps.sum()), used, dict(report.skipped))


def renew_clicks(path: Path) -> None:
    """After a store was changed: number its clicks by its new pages, without those of removed pages.

    Damaged clicks stay as they are: the store is OK, and reading its clicks raises the error.
    """
    if not (path / FOLDER / f"{SIDE_NAME}.json").exists():
        return
    graph = Graph(path)
    with suppress(BadStore), only_one(graph, SIDE_NAME, "the clicks"):
        side = _read(graph)
        if side is not None and side.generation != graph.manifest["id"]:
            _keep(graph, _numbered(graph, side))
        elif side is not None:  # the same pages were added again, after a command was killed at this point
            remove_others(path / FOLDER, SIDE_NAME, side.folder)


def open_clicks(graph: Graph) -> Clicks:
    """The clicks of a store, perhaps none."""
    side = _read(graph)
    if side is None:
        return Clicks(graph, _pairs([]))
    if side.generation != graph.manifest["id"]:
        return Clicks(graph, _numbered(graph, side))
    arrays = [side.array(name) for name in ("page", "other", "steps", "later", "back")]
    if len(set(map(len, arrays))) != 1:
        raise _unusable(graph)
    return Clicks(graph, PagePairs(*arrays[:4]), arrays[4])


def _again(graph: Graph) -> str:
    return f"cocite clicks FILE... --anew -i {quote(str(graph.path))}"


def _unusable(graph: Graph, why: str = "damaged") -> BadStore:
    return BadStore(f"the clicks of {graph.path} are {why}: count them again with {_again(graph)}")


def _count_trails(graph: Graph, trails: Iterable[Trail], report: ReadReport) -> tuple[PagePairs, int]:
    """The pairs of pages in trails, and how many trails had any. Unknown pages are counted in the report.

    Rows are added up now and then: memory grows with the pairs that differ, not with the trails.
    """

    @lru_cache(CACHED_ADDRESSES)
    def look_up(address: str) -> int | str:
        """The page of an address, or why it has none: one of few reasons."""
        page = graph.get(address)
        if page is not None:
            return page
        try:
            parse_query(address)
        except BadAddress as error:
            return str(error).partition(": ")[0]
        return "page that is not in the store"

    def find(address: str) -> int | None:
        found = look_up(address)
        if isinstance(found, int):
            return found
        report.skip(found, address)
        return None

    used, rows, pairs = 0, list[Row](), _pairs([])
    for trail in trails:
        before = len(rows)
        rows += _rows(trail, [find(address) for address in trail.pages], report)
        used += len(rows) > before
        if len(rows) >= MAX_GATHERED_PAIRS:
            pairs, rows = _sum(pairs, _pairs(rows)), []
    return _sum(pairs, _pairs(rows)), used


def _rows(trail: Trail, pages: Sequence[int | None], report: ReadReport) -> Iterator[Row]:
    """The counts of one trail; None is a page that isn't in the store."""
    clicks = [(pages[a], pages[b]) for a, b in trail.steps]
    for source, target in clicks:
        if source is not None and target is not None:
            if source == target:
                report.read["clicks from a page to itself"] += 1
            else:
                yield source, target, trail.times, 0.0
    direct = set(clicks)
    for place, source in enumerate(pages if len(pages) > 2 else ()):
        for target in pages[place + 1 : place + 1 + WINDOW_PAGES]:
            if source is not None and target is not None and source != target and (source, target) not in direct:
                yield source, target, 0.0, trail.times


def _pairs(rows: list[Row]) -> PagePairs:
    source, target, steps, later = np.array(rows, np.float64).reshape(-1, 4).T
    return PagePairs(source.astype(np.uint32), target.astype(np.uint32), steps, later)


def _sum(*parts: PagePairs) -> PagePairs:
    """Pairs of page numbers with equal ones added up, ascending."""
    source, target, steps, later = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    pairs, of = np.unique(source.astype(np.uint64) << np.uint64(32) | target.astype(np.uint64), return_inverse=True)
    totals = (np.bincount(of, counts, len(pairs)).astype(np.float64) for counts in (steps, later))
    return PagePairs((pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32), *totals)


def _read(graph: Graph) -> SideData | None:
    """The side data of any generation, if there are any."""
    side = read_side(graph, SIDE_NAME, _again(graph), stale=True)
    if side is not None and side.about.get("version") not in (1, CLICKS_VERSION):
        raise _unusable(graph, "of another version")
    return side


def _numbered(graph: Graph, side: SideData) -> PagePairs:
    """Stored pairs → pairs of page numbers of a graph, without those of pages that it does not have.

    Pages that are aliases by now count as their targets. Every byte is verified: what is written anew has checksums of
    its own.
    """
    names, find = (
        (("from", "to"), _find_fingerprints) if side.about["version"] == 1 else (("page", "other"), _find_names)
    )
    known = PagePairs(*(side.array(name) for name in (*names, "steps", "later")))
    if len(set(map(len, known))) != 1 or any(side.faults()):
        raise _unusable(graph)
    pages = np.unique(np.concatenate((known.source, known.target)))
    number = find(graph, side, pages)
    source, target = (number[np.searchsorted(pages, ends)] for ends in known[:2])
    kept = (source >= 0) & (target >= 0) & (source != target)
    return _sum(PagePairs(*(part[kept] for part in (source, target, known.steps, known.later))))


def _find_names(graph: Graph, side: SideData, pages: NDArray[Any]) -> NDArray[np.int64]:
    """The pages of a graph that have the names of stored pages, -1 where there is none."""
    keys, ends = side.array("key").tobytes(), [0, *side.array("key_end").tolist()]
    if not np.array_equal(side.array("named"), pages) or len(ends) != len(pages) + 1:
        raise _unusable(graph)
    found = (graph.names.find_key(keys[start:end]) for start, end in pairwise(ends))
    return np.array([page if page < 0 else graph.alias_target(page) for page in found], np.int64)


def _find_fingerprints(graph: Graph, side: SideData, wanted: NDArray[Any]) -> NDArray[np.int64]:
    """The pages that have fingerprints, -1 where there is none or more than one."""
    order = np.argsort(graph.fingerprints, kind="stable")
    stored = graph.fingerprints[order]
    first, last = np.searchsorted(stored, wanted), np.searchsorted(stored, wanted, "right")
    number = np.full(len(wanted), -1, np.int64)
    number[last - first == 1] = [graph.alias_target(page) for page in order[first[last - first == 1]].tolist()]
    return number


def _keep(graph: Graph, pairs: PagePairs) -> None:
    """Put pairs of page numbers beside the store."""
    source, target, steps, later = pairs
    named = np.unique(np.concatenate((source, target)))
    keys = [graph.names.key(page) for page in named.tolist()]
    arrays = {"page": source, "other": target, "named": named, "key": np.frombuffer(b"".join(keys), np.uint8)}
    arrays |= {"key_end": np.cumsum([len(key) for key in keys], dtype=np.uint64), "steps": steps, "later": later}
    arrays["back"] = np.lexsort((source, target)).astype(np.uint32)
    about = {"version": CLICKS_VERSION, "pairs": len(source), "clicks": float(steps.sum())}
    write_side(graph, SIDE_NAME, lambda _: (about, arrays))
