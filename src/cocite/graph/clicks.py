"""The clicks of a store: how often people went from one page to another, kept as side data `clicks`.

    page, other       u4: pairs of page numbers, ascending
    named             u4: the pages of all pairs, ascending
    key, key_end      u1, u8: their keys, one after another, and where each ends
    steps, later      f8: clicks from the one to the other; times the other was seen some pages later in one session
    back              u4: the places of the pairs, in the order of the other page
    counted           u1: the digests, 16 bytes each, of the files that were counted: none counts twice

Clicks that come later are in files of their own, NUMBER.npz with the same arrays, until these are merged. So counting
costs what it brings. Layers don't change page numbers: the files stay, unless a page of theirs is gone or leads
elsewhere. A store that was built anew has other page numbers: then pairs are found again by name, and those of removed
pages are dropped. Nothing that is kept grows with the number of pages. Version 1 had fingerprints, `from` and `to`,
instead of names; clicks of pages that share a fingerprint are dropped. Version 2 had no further files, and no digests.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadStore, LockedStore
from cocite.graph.arrays import GONE, rows_of
from cocite.graph.changes.layers import Layer, layers_since, pages_in
from cocite.graph.generation import digest
from cocite.graph.side import FOLDER, SideData, only_one, read_side, remove_others, write_side
from cocite.graph.store import Graph
from cocite.pages.address import parse_query
from cocite.sources.clicks import Trail
from cocite.sources.records import ReadReport

SIDE_NAME = "clicks"
CLICKS_VERSION = 3
PART_SUFFIX = ".npz"
DIGEST_BYTES = 16
MAX_VERIFIED_BYTES = 16 << 20  # larger ones aren't read before more are added; their checksums stay
MAX_REMEMBERED_FILES = 1 << 16  # whose digests are kept: the newest
COUNTED_BEFORE = "file that was counted before"
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

    def __init__(
        self, graph: Graph, pairs: PagePairs, back: NDArray[np.uint32] | None = None, more: Sequence[PagePairs] = ()
    ) -> None:
        """`more` are those that were counted later."""
        self._graph, self._parts, self._backs = graph, [pairs, *more], [back, *([None] * len(more))]

    def __len__(self) -> int:
        """The number of pairs of pages."""
        return len((_sum(*self._parts) if len(self._parts) > 1 else self._parts[0]).source)

    def __repr__(self) -> str:
        return f"<Clicks of {self._graph.path} {len(self):,} pairs of pages, {self.total:,.0f} clicks>"

    @cached_property
    def total(self) -> float:
        """All clicks from one page to another."""
        return float(sum(part.steps.sum() for part in self._parts))

    def after(self, page: int) -> Beside:
        """Where people went from a page."""
        found = []
        for part in self._parts:
            low, high = rows_of(part.source, page)
            found.append(self._checked(*(column[low:high] for column in part[1:])))
        return _added_up(found)

    def before(self, page: int) -> Beside:
        """From where people came to a page."""
        found = []
        for part, (order, targets) in zip(self._parts, self._by_target, strict=True):
            low, high = rows_of(targets, page)
            source, _, steps, later = (column[order[low:high]] for column in part)
            found.append(self._checked(source, steps, later))
        return _added_up(found)

    @cached_property
    def _by_target(self) -> list[tuple[NDArray[np.uint32], NDArray[Any]]]:
        found = []
        for part, back in zip(self._parts, self._backs, strict=True):
            order = np.lexsort((part.source, part.target)) if back is None else back
            if len(order) != len(part.source) or (len(order) and int(order.max()) >= len(order)):
                raise _unusable(self._graph)
            found.append((order.astype(np.uint32, copy=False), part.target[order]))
        return found

    def has(self, source: int, target: int) -> bool:
        """Whether there are clicks from one page to another."""
        found = False
        for part in self._parts:
            low, high = rows_of(part.source, source)
            at = low + int(np.searchsorted(part.target[low:high], target))
            found |= at < high and int(part.target[at]) == target
        return found

    def _checked(self, pages: NDArray[Any], steps: Counts, later: Counts) -> Beside:
        """A damaged file may hold anything: pages exist, and counts can be computed with."""
        counts = np.concatenate((steps, later))
        if (len(pages) and int(pages.max()) >= self._graph.pages) or not ((counts >= 0) & (counts < np.inf)).all():
            raise _unusable(self._graph)
        return Beside(pages, steps, later)


def _added_up(parts: list[Beside]) -> Beside:
    """What several parts have for one page."""
    some = [part for part in parts if len(part.pages)]
    if len(some) < 2:
        return some[0] if some else parts[0]
    pages, of = np.unique(np.concatenate([part.pages for part in some]), return_inverse=True)
    steps, later = (np.concatenate(columns) for columns in list(zip(*some, strict=True))[1:])
    return Beside(pages, *(np.bincount(of, counts, len(pages)).astype(np.float64) for counts in (steps, later)))


class Kept(NamedTuple):
    """The clicks of a store after some were added; all 0 if no trail was usable."""

    pairs: int
    clicks: float
    trails: int  # that were read now, and had any use
    skipped: dict[str, int]  # what could not be used, by reason


def add_files(
    graph: Graph, files: Iterable[tuple[bytes, Iterable[Trail]]], report: ReadReport, anew: bool = False
) -> Kept:
    """Count the trails of files into the clicks of a store; with `anew`, drop what was counted before.

    A file whose digest was counted before is skipped, unless the digest is empty. Without a usable trail, nothing
    changes. Raises LockedStore if another command gave pages other numbers meanwhile.
    """
    counted = [(content, *_count_trails(graph, trails, report)) for content, trails in files]
    if not any(used for _, _, used in counted):
        return Kept(0, 0.0, 0, dict(report.skipped))
    with only_one(graph, SIDE_NAME, "the clicks"):
        graph = _as_it_is_now(graph, [pairs for _, pairs, _ in counted])
        side = None if anew else _read(graph)
        known = set() if side is None else {bytes(row) for row in _counted(side)}
        fresh = dict[bytes, tuple[PagePairs, int]]()
        for number, (content, pairs, used) in enumerate(counted):
            if content and (content in known or content in fresh):
                report.skip(COUNTED_BEFORE, f"file {number + 1} of {len(counted)}")
            else:
                fresh[content or b"%d" % number] = pairs, used
        trails = sum(used for _, used in fresh.values())
        pairs = _sum(_pairs([]), *(pairs for pairs, _ in fresh.values()))
        digests = [content for content in fresh if len(content) == DIGEST_BYTES]
        if side is not None and trails and (clicks := _in_place(graph, side)) is not None:
            about = _append(graph, side, clicks, pairs, digests)
        elif side is not None and not trails:
            return Kept(int(side.about["pairs"]), float(side.about["clicks"]), 0, dict(report.skipped))
        else:
            old = [] if side is None else [_numbered(graph, side)]
            about = _keep(graph, _sum(*old, pairs), [*sorted(known), *digests])
    return Kept(about["pairs"], about["clicks"], trails, dict(report.skipped))


def _as_it_is_now(graph: Graph, counted: list[PagePairs]) -> Graph:
    """The store, which may have got layers since it was opened. Raises LockedStore if counted pages aren't the same."""
    now = Graph(graph.path)
    layers = layers_since(now.arrays, graph.manifest["id"])
    moved = None if layers is None else _moved(now, layers)
    if moved is None or any(np.isin(moved, pages).any() for pairs in counted for pages in pairs[:2]):
        raise LockedStore(f"{graph.path} was changed meanwhile by another command: run this one again")
    return now


def _moved(graph: Graph, layers: list[Layer]) -> NDArray[np.int64]:
    """The pages that layers removed, or that lead elsewhere since."""
    pages, aliases = pages_in(layers, "alias.page", "fact.page").astype(np.int64), pages_in(layers, "alias.page")
    moved: NDArray[np.int64] = pages[(graph.array("page.kind")[pages] & GONE > 0) | np.isin(pages, aliases)]
    return moved


def _in_place(graph: Graph, side: SideData) -> Clicks | None:
    """Stored clicks by the page numbers that they have; None if they have to be numbered anew."""
    if sum(file.stat().st_size for file in side.folder.iterdir()) < MAX_VERIFIED_BYTES and any(side.faults()):
        raise _unusable(graph)
    layers = layers_since(graph.arrays, side.generation)
    if layers is None or side.about["version"] == 1:
        return None
    if layers:
        moved = _moved(graph, layers)
        if any(np.isin(moved, table["named"]).any() for table in _tables(side)):
            return None
    return _opened(graph, side)


def _tables(side: SideData) -> Iterator[dict[str, NDArray[Any]]]:
    """The arrays of stored clicks, and of those that were counted later."""
    yield {name: side.array(name) for name in side.arrays}
    for name in _part_names(side):
        size, expected = side.files[name]
        try:
            data = (side.folder / name).read_bytes()
            if len(data) != size or digest(data) != expected:
                raise ValueError("checksum")
            with np.load(BytesIO(data)) as found:
                yield {each: found[each] for each in found.files}
        except (OSError, ValueError, KeyError) as error:
            raise BadStore(f"{side.folder / name} is damaged: count the clicks again, with --anew") from error


def _part_names(side: SideData) -> list[str]:
    return sorted(name for name in side.files if name.endswith(PART_SUFFIX))


def _counted(side: SideData) -> NDArray[np.uint8]:
    """The digests of the files that were counted."""
    parts = [table["counted"] for table in _tables(side) if "counted" in table]
    return np.concatenate([np.zeros(0, np.uint8), *parts]).reshape(-1, DIGEST_BYTES)


def _append(graph: Graph, side: SideData, clicks: Clicks, pairs: PagePairs, digests: list[bytes]) -> dict[str, Any]:
    """Put more pairs beside stored ones, in a file of their own."""
    from cocite.graph.build.merge_layers import layers_to_merge

    names, new = _part_names(side), sum(not clicks.has(*pair) for pair in zip(*pairs[:2], strict=True))
    about = side.about | {"version": CLICKS_VERSION, "pairs": side.about["pairs"] + new}
    about["clicks"] += float(pairs.steps.sum())
    made = _arrays(graph, pairs, digests)
    sizes = [side.files[name][0] for name in names] + [sum(values.nbytes for values in made.values())]
    merged = names[len(names) + 1 - max(1, layers_to_merge(sizes)) :]
    if merged:
        tables = [table for name, table in zip(["", *names], _tables(side), strict=True) if name in merged]
        known = [bytes(row) for table in tables for row in table["counted"].reshape(-1, DIGEST_BYTES)]
        made = _arrays(graph, _sum(*map(_pairs_of, tables), pairs), [*known, *digests])

    def make(folder: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        for name in merged:
            (folder / name).unlink()
        number = int(names[-1].removesuffix(PART_SUFFIX)) + 1 if names else 1
        with (folder / f"{number:06}{PART_SUFFIX}").open("xb") as file:
            np.savez(file, allow_pickle=False, **made)
        return about, {}

    write_side(graph, SIDE_NAME, make, old=side)
    return about


def renew_clicks(path: Path) -> None:
    """After a store was changed: have its clicks follow, without those of removed pages.

    Damaged clicks stay as they are: the store is OK, and reading its clicks raises the error.
    """
    if not (path / FOLDER / f"{SIDE_NAME}.json").exists():
        return
    with suppress(BadStore), only_one(Graph(path), SIDE_NAME, "the clicks"):
        graph = Graph(path)  # as it is now: somebody else may have changed it, and counted clicks
        side = _read(graph)
        if side is None:
            return
        if side.generation == graph.manifest["id"]:  # the same pages were added again, after a command was killed here
            remove_others(path / FOLDER, SIDE_NAME, side.folder)
        elif _in_place(graph, side) is not None:
            about = side.about
            write_side(graph, SIDE_NAME, lambda _: (about, {}), old=side)
        else:
            _keep(graph, _numbered(graph, side), [bytes(row) for row in _counted(side)])


def open_clicks(graph: Graph) -> Clicks:
    """The clicks of a store, perhaps none."""
    side = _read(graph)
    if side is None:
        return Clicks(graph, _pairs([]))
    if side.generation != graph.manifest["id"] or side.about["version"] == 1:
        return Clicks(graph, _numbered(graph, side))
    return _opened(graph, side)


def _opened(graph: Graph, side: SideData) -> Clicks:
    base, *more = _tables(side)
    if "back" not in base or any(
        len(set(map(len, (*_pairs_of(table), table["back"])))) != 1 for table in (base, *more)
    ):
        raise _unusable(graph)
    return Clicks(graph, _pairs_of(base), base["back"], [_pairs_of(table) for table in more])


def _pairs_of(table: dict[str, NDArray[Any]]) -> PagePairs:
    return PagePairs(*(table[name] for name in ("page", "other", "steps", "later")))


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
    if side is not None and side.about.get("version") not in range(1, CLICKS_VERSION + 1):
        raise _unusable(graph, "of another version")
    return side


def _numbered(graph: Graph, side: SideData) -> PagePairs:
    """Stored pairs → pairs of page numbers of a graph, without those of pages that it does not have.

    Pages that are aliases by now count as their targets. Every byte is verified: what is written anew has checksums of
    its own.
    """
    if any(side.faults()):
        raise _unusable(graph)
    return _sum(_pairs([]), *(_numbered_table(graph, table, side.about["version"]) for table in _tables(side)))


def _numbered_table(graph: Graph, table: dict[str, NDArray[Any]], version: int) -> PagePairs:
    names, find = (("from", "to"), _find_fingerprints) if version == 1 else (("page", "other"), _find_names)
    try:
        known = PagePairs(*(table[name] for name in (*names, "steps", "later")))
    except KeyError as error:
        raise _unusable(graph) from error
    if len(set(map(len, known))) != 1:
        raise _unusable(graph)
    pages = np.unique(np.concatenate((known.source, known.target)))
    number = find(graph, table, pages)
    source, target = (number[np.searchsorted(pages, ends)] for ends in known[:2])
    kept = (source >= 0) & (target >= 0) & (source != target)
    return PagePairs(*(part[kept] for part in (source, target, known.steps, known.later)))


def _find_names(graph: Graph, table: dict[str, NDArray[Any]], pages: NDArray[Any]) -> NDArray[np.int64]:
    """The pages of a graph that have the names of stored pages, -1 where there is none."""
    try:
        keys, ends, named = table["key"].tobytes(), [0, *table["key_end"].tolist()], table["named"]
    except KeyError as error:
        raise _unusable(graph) from error
    if not np.array_equal(named, pages) or len(ends) != len(pages) + 1:
        raise _unusable(graph)
    found = (graph.names.find_key(keys[start:end]) for start, end in pairwise(ends))
    return np.array([page if page < 0 else graph.alias_target(page) for page in found], np.int64)


def _find_fingerprints(graph: Graph, _: dict[str, NDArray[Any]], wanted: NDArray[Any]) -> NDArray[np.int64]:
    """The pages that have fingerprints, -1 where there is none or more than one."""
    order = np.argsort(graph.fingerprints, kind="stable")
    stored = graph.fingerprints[order]
    first, last = np.searchsorted(stored, wanted), np.searchsorted(stored, wanted, "right")
    number = np.full(len(wanted), -1, np.int64)
    number[last - first == 1] = [graph.alias_target(page) for page in order[first[last - first == 1]].tolist()]
    return number


def _keep(graph: Graph, pairs: PagePairs, digests: list[bytes]) -> dict[str, Any]:
    """Put pairs of page numbers beside the store, in the place of all that were there."""
    about = {"version": CLICKS_VERSION, "pairs": len(pairs.source), "clicks": float(pairs.steps.sum())}
    arrays = _arrays(graph, pairs, digests[-MAX_REMEMBERED_FILES:])
    write_side(graph, SIDE_NAME, lambda _: (about, arrays))
    return about


def _arrays(graph: Graph, pairs: PagePairs, digests: list[bytes]) -> dict[str, NDArray[Any]]:
    """Pairs of page numbers as they are stored."""
    source, target, steps, later = pairs
    named = np.unique(np.concatenate((source, target)))
    keys = [graph.names.key(page) for page in named.tolist()]
    arrays = {"page": source, "other": target, "named": named, "key": np.frombuffer(b"".join(keys), np.uint8)}
    arrays |= {"key_end": np.cumsum([len(key) for key in keys], dtype=np.uint64), "steps": steps, "later": later}
    arrays["back"] = np.lexsort((source, target)).astype(np.uint32)
    return arrays | {"counted": np.frombuffer(b"".join(digests), np.uint8)}
