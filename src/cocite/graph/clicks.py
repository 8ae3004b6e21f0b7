"""The clicks of a store: how often people went from one page to another, kept as side data `clicks`.

    page, other       u4: pairs of page numbers, ascending
    from, to          u8: their fingerprints, which stay whatever becomes of page numbers
    steps, later      f8: clicks from the one to the other; times the other was seen some pages later in one session
    back              u4: the places of the pairs, in the order of the other page

A store that was changed has other page numbers: then pairs are found again by fingerprint, and those of pages that are
gone are forgotten. Nothing that is kept grows with the number of pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.arrays import rows_of
from cocite.graph.count_clicks import Counts, Pairs, count_trails, summed
from cocite.graph.generation import Writer
from cocite.graph.side import FOLDER, Side, only_one, read_side, remove_others, write_side
from cocite.graph.store import Graph
from cocite.sources.clicks import Trail
from cocite.sources.records import ReadReport

NAME = "clicks"
VERSION = 1
Pages = NDArray[np.uint32]


class Beside(NamedTuple):
    """The pages that people visited after, or before, one page."""

    pages: Pages
    steps: Counts  # directly
    later: Counts  # seen in one session, not directly


class Clicks:
    """The clicks of one generation of a store. It can be shared among threads."""

    def __init__(self, graph: Graph, pairs: Pairs, back: NDArray[np.uint32] | None = None) -> None:
        self._graph, self._pairs, self._back = graph, pairs, back

    def __len__(self) -> int:
        """How many pairs of pages there are."""
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
        return self._sound(*(part[low:high] for part in self._pairs[1:]))

    def before(self, page: int) -> Beside:
        """From where people came to a page."""
        order, targets = self._by_target
        low, high = rows_of(targets, page)
        chosen = order[low:high]
        source, _, steps, later = self._pairs
        return self._sound(source[chosen], steps[chosen], later[chosen])

    @cached_property
    def _by_target(self) -> tuple[NDArray[np.uint32], NDArray[Any]]:
        order = np.lexsort((self._pairs.source, self._pairs.target)) if self._back is None else self._back
        if len(order) != len(self) or (len(order) and int(order.max()) >= len(self)):
            raise damaged(self._graph)
        return order.astype(np.uint32, copy=False), self._pairs.target[order]

    def _sound(self, pages: NDArray[Any], steps: Counts, later: Counts) -> Beside:
        """A stranger's bytes may say anything; what is computed with these is safe."""
        counts = np.concatenate((steps, later))
        if (len(pages) and int(pages.max()) >= self._graph.pages) or not ((counts >= 0) & (counts < np.inf)).all():
            raise damaged(self._graph)
        return Beside(pages, steps, later)


class Kept(NamedTuple):
    """The clicks of a store after some were added; all 0 if no trail was usable."""

    pairs: int
    clicks: float
    trails: int  # that were read now, and had any use
    skipped: dict[str, int]  # what could not be used, by reason


def add_clicks(graph: Graph, trails: Iterable[Trail], report: ReadReport, anew: bool = False) -> Kept:
    """Count trails into the clicks of a store; with `anew`, what was counted before is forgotten.

    Where no trail can be used, nothing is changed.
    """
    pairs, used = count_trails(graph, trails, report)
    if not used:
        return Kept(0, 0.0, 0, dict(report.skipped))
    with only_one(graph, NAME, "the clicks"):
        side = None if anew else read_side(graph, NAME, make_command(graph), stale=True)
        if side is not None:
            old = _numbered(graph, _whole(side, graph))
            pairs = summed(*(np.concatenate(both) for both in zip(old, pairs, strict=True)))
        _keep(graph, pairs)
    return Kept(len(pairs.source), float(pairs.steps.sum()), used, dict(report.skipped))


def renew_clicks(path: Path) -> None:
    """After a store was changed: its clicks by its new page numbers, without those of pages that are gone.

    Damaged clicks stay as they are: the store is OK, and reading its clicks raises the error.
    """
    if not (path / FOLDER / f"{NAME}.json").exists():
        return
    graph = Graph(path)
    with suppress(BadStore), only_one(graph, NAME, "the clicks"):
        side = read_side(graph, NAME, make_command(graph), stale=True)
        if side is not None and side.generation != graph.manifest["id"]:
            _keep(graph, _numbered(graph, _whole(side, graph)))
        elif side is not None:  # the same pages were added again, after a command that died had come so far
            remove_others(NAME, side.folder)


def open_clicks(graph: Graph) -> Clicks:
    """The clicks of a store, perhaps none."""
    side = read_side(graph, NAME, make_command(graph), stale=True)
    if side is None:
        nothing = np.zeros(0, np.uint32)
        return Clicks(graph, Pairs(nothing, nothing, np.zeros(0), np.zeros(0)))
    if side.generation != graph.manifest["id"]:
        return Clicks(graph, _numbered(graph, _whole(side, graph)))
    stored = _stored(side, graph)
    page, other, back = (side.array(name) for name in ("page", "other", "back"))
    if not len(page) == len(other) == len(back) == len(stored.steps):
        raise damaged(graph)
    return Clicks(graph, Pairs(page, other, stored.steps, stored.later), back)


def make_command(graph: Graph) -> str:
    """What to type to have the clicks counted anew."""
    return f"cocite clicks FILE... --anew -i {quote(str(graph.path))}"


def damaged(graph: Graph) -> BadStore:
    """What to raise where clicks cannot be read."""
    return BadStore(f"the clicks of {graph.path} are damaged: count them again with {make_command(graph)}")


def _numbered(graph: Graph, named: Pairs) -> Pairs:
    """Pairs of fingerprints → pairs of page numbers, without those of pages that the store does not have.

    Pages that lead elsewhere by now count as those they lead to.
    """
    wanted = np.unique(np.concatenate((named.source, named.target)))
    order = np.argsort(graph.fingerprints, kind="stable")
    known = graph.fingerprints[order]
    at = np.minimum(np.searchsorted(known, wanted), max(0, len(known) - 1))
    there = known[at] == wanted if len(known) else np.zeros(len(wanted), np.bool_)
    number = np.full(len(wanted), -1, np.int64)
    number[there] = _leads(graph, order[at[there]])
    source, target = (number[np.searchsorted(wanted, names)] for names in (named.source, named.target))
    kept = (source >= 0) & (target >= 0) & (source != target)
    source, target = source[kept].astype(np.uint32), target[kept].astype(np.uint32)
    return summed(source, target, named.steps[kept], named.later[kept])


def _leads(graph: Graph, pages: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where pages lead, if they are aliases by now."""
    aliases, targets = graph.array("alias.page"), graph.array("alias.target")
    if not len(aliases):
        return pages
    at = np.minimum(np.searchsorted(aliases, pages), len(aliases) - 1)
    found = np.where(aliases[at] == pages, targets[at], pages).astype(np.int64)
    if len(found) and int(found.max()) >= graph.pages:
        raise graph.damaged()
    return found


def _stored(side: Side, graph: Graph) -> Pairs:
    """What was counted, by fingerprints."""
    if side.about.get("version") != VERSION:
        raise BadStore(
            f"the clicks of {graph.path} are of another version: count them again with {make_command(graph)}"
        )
    stored = Pairs(*(side.array(name) for name in ("from", "to", "steps", "later")))
    if len({len(part) for part in stored}) != 1:
        raise damaged(graph)
    return stored


def _whole(side: Side, graph: Graph) -> Pairs:
    """The same, every byte verified: what is written anew has checksums of its own."""
    if any(side.faults()):
        raise damaged(graph)
    return _stored(side, graph)


def _keep(graph: Graph, pairs: Pairs) -> None:
    """Put pairs of page numbers beside the store."""
    about = {"version": VERSION, "pairs": len(pairs.source), "clicks": float(pairs.steps.sum())}

    def make(_: Path, writer: Writer) -> None:
        writer.append("page", pairs.source)
        writer.append("other", pairs.target)
        writer.append("from", graph.fingerprints[pairs.source])
        writer.append("to", graph.fingerprints[pairs.target])
        writer.append("steps", pairs.steps)
        writer.append("later", pairs.later)
        writer.append("back", np.lexsort((pairs.source, pairs.target)).astype(np.uint32))

    write_side(graph, NAME, about, make)
