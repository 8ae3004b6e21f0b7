"""History: all captures that a store keeps beside the newest ones. FORMAT.md gives every byte.

Pages have numbers of their own here: those of the store, and between them the pages that only older captures name, all
in the order of keys. Captures are read some thousand pages at a time, as of a day or all of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter
from cocite.graph.arrays import TEXT_PARTS, Keys, places_of
from cocite.graph.names import CODED_NAMES, coded_names, read_keys
from cocite.graph.store import Graph
from cocite.graph.texts import TextColumn
from cocite.kernels.codec.history_codec import (
    MAX_PAGE_LINKS,
    MAX_WEIGHTS,
    Captures,
    CodingContext,
    References,
    new_model,
)
from cocite.kernels.codec.history_reader import read_captures
from cocite.pages.date import DAY_SECONDS

CHUNK_PAGES = 1 << 12  # pages between two entry points into the captures
NAME_ARRAYS = (*CODED_NAMES, "name.spelling", *(f"shown.{part}" for part in TEXT_PARTS))
"""Arrays of the names that only older captures have, each with `history.` before its name."""
Values = NDArray[Any]
ROOM_CAPTURES, ROOM_LINKS = 1 << 18, 1 << 22  # what is read of a chunk at once, unless one page has more
STATE_NUMBERS = 7  # that say where a piece of a chunk has ended
MAX_COUNT = 1 << 62  # of anything in `history.shape`: kernels count in 64 bits
SHAPE = ("pages", "captures", "links", "longest")  # what `history.shape` has
MAX_DAY = ((1 << 32) - 1) // DAY_SECONDS
"""Times are seconds in 32 bits."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def as_date(day: int) -> str:
    """A day, counted since 1970, as an ISO date."""
    return (_EPOCH + timedelta(days=day)).date().isoformat()


@dataclass(frozen=True)
class CaptureRows:
    """Captures of neighbouring pages as they are read."""

    captures: Captures
    row: NDArray[np.int64]  # number of each capture among all
    first_row: NDArray[np.int64]  # that of the first one of its page
    first_link: NDArray[np.int64]  # number of its first link among all links of all captures


class CaptureHistory:
    """The captures of a store."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self._arrays = graph, graph.arrays.base
        shape = [int(each) for each in self._arrays["history.shape"]]
        if len(shape) != len(SHAPE) or max(shape) >= MAX_COUNT:
            raise self._arrays.damaged()
        self.pages, self.count, self.links, self.longest = shape
        self.days: NDArray[np.uint32] = self._arrays["history.day"]  # ascending; the first is 0: unknown
        known = len(self.days) > 0 and not self.days[0] and (np.diff(self.days.astype(np.int64)) > 0).all()
        if not known or self.days[-1] > MAX_DAY or self.pages < graph.arrays.base.pages or self.pages >= 1 << 32:
            raise self._arrays.damaged()

    @cached_property
    def dates(self) -> list[str]:
        """The days of captures, ascending, as ISO dates."""
        return [as_date(day) for day in self.days[1:].tolist()]

    def day_index(self, seconds: float) -> int:
        """The newest day of captures up to a moment, as an index into `days`; raises BadParameter if there is none."""
        if len(self.days) < 2:
            raise BadParameter("No capture in this store has a date: ask without as_of")
        wanted = int(seconds // DAY_SECONDS)
        index = int(np.searchsorted(self.days, np.uint32(min(max(wanted, 0), 0xFFFFFFFF)), side="right")) - 1
        if index < 1:
            raise BadParameter(
                f"The first capture in this store is of {self.dates[0]}, after {as_date(max(wanted, 0))}: "
                "ask for that date or a later one"
            )
        return index

    @cached_property
    def extra(self) -> NDArray[np.bool_]:
        """Which pages only older captures have."""
        bits = np.unpackbits(self._arrays["history.extra"].view(np.uint8), bitorder="little")
        if len(bits) < self.pages or self.pages - int(bits[: self.pages].sum()) != self._arrays.pages:
            raise self._arrays.damaged()
        return bits[: self.pages] > 0

    @cached_property
    def number(self) -> NDArray[np.uint32]:
        """The number that each page of the store has here."""
        return np.flatnonzero(~self.extra).astype(np.uint32)

    @cached_property
    def extra_names(self) -> Mapping[str, NDArray[Any]]:
        """The arrays of their names."""
        return {name: self._arrays[f"history.{name}"] for name in NAME_ARRAYS}

    def extra_keys(self, first: int, count: int) -> Keys:
        """The keys of some of the pages that only older captures have."""
        try:
            return read_keys(coded_names(self.extra_names), first, count)
        except (ValueError, IndexError) as error:
            raise self._arrays.damaged() from error

    def spelling_steps(self) -> tuple[Values, Values, Values, dict[int, str]]:
        """Pages that were spelled in several ways: page, index of the first day, and order of each, and some texts."""
        pages, days, orders = (self._arrays[f"history.spelling.{part}"] for part in ("page", "day", "order"))
        if not len(pages) == len(days) == len(orders) or int(pages.max(initial=0)) >= self.pages:
            raise self._arrays.damaged()
        if int(days.max(initial=0)) >= len(self.days):
            raise self._arrays.damaged()
        column = {f"spelling.{part}": self._arrays[f"history.spelling.{part}"] for part in TEXT_PARTS}
        return (
            pages,
            days,
            orders,
            {row: text.decode("utf-8", "replace") for row, text in TextColumn(column, "spelling").items()},
        )

    def spellings(self, until: int) -> dict[int, tuple[int, str]]:
        """How pages were spelled on a day, by its index: order and text. Others were always spelled as now."""
        pages, days, orders, texts = self.spelling_steps()
        rows = np.flatnonzero(days <= until).tolist()  # by page, then by day: the last one stays
        return {int(pages[row]): (int(orders[row]), texts.get(row, "")) for row in rows}

    def has_extra(self, key: bytes) -> bool:
        """Whether only older captures have the page of a key."""
        count = int(self.extra.sum())
        for first in range(0, count, CHUNK_PAGES):
            data, offsets = self.extra_keys(first, min(CHUNK_PAGES, count - first))
            raw, ends = data.tobytes(), offsets.tolist()
            if any(raw[start:stop] == key for start, stop in pairwise(ends)):
                return True
        return False

    @cached_property
    def _context(self) -> CodingContext:
        crawls, days = self._arrays["history.crawl"].astype(np.int64), len(self.days)
        if not len(crawls) or crawls[0] or (np.diff(crawls) <= 0).any() or crawls[-1] >= days:
            raise self._arrays.damaged()
        return coding_context(crawls, days, self.graph, self.number, self.pages)

    def read(self, until: int = -1) -> Iterator[CaptureRows]:
        """The captures that may count on a day, given by its index; all if it is negative.

        Those of some pages at a time, up to CHUNK_PAGES: no more than there is room for, unless one page has more.
        """
        units, chunks = self._arrays["history.edit"], -(-self.pages // CHUNK_PAGES)
        if self.longest > min(self.links, MAX_PAGE_LINKS):
            raise self._arrays.damaged()
        starts = self._borders("start", len(units), chunks)
        firsts, links = self._borders("first", self.count, chunks), self._borders("link", self.links, chunks)
        for chunk in range(chunks):
            low = chunk * CHUNK_PAGES
            references = store_links(self.graph, self.number, low, min(CHUNK_PAGES, self.pages - low))
            before, passed = int(firsts[chunk]), int(links[chunk])
            here = int(firsts[chunk + 1]) - before, int(links[chunk + 1]) - passed
            own = units[starts[chunk] : starts[chunk + 1]]
            for found, rows in self._read(own, references, until, here):
                number, start, first_link = (rows[:, part] for part in range(3))
                yield CaptureRows(found, before + number, before + start, passed + first_link)

    def _borders(self, name: str, end: int, chunks: int) -> NDArray[np.int64]:
        """Where each chunk begins in something, and where the last one ends."""
        found = np.append(self._arrays[f"history.{name}"].astype(np.int64), end)
        if len(found) != chunks + 1 or found[0] or (np.diff(found) < 0).any():
            raise self._arrays.damaged()
        return found

    def _read(
        self, units: NDArray[np.uint16], references: References, until: int, wanted: tuple[int, int]
    ) -> Iterator[tuple[Captures, NDArray[np.int64]]]:
        """A chunk of captures, if it has as many captures and links as the store says; in pieces of whole pages."""
        pages, model = len(references.first) - 1, new_model(self._context)
        room = np.empty((4, self.longest), np.uint32)
        sizes, state = np.zeros((pages, 2), np.int64), np.zeros(STATE_NUMBERS, np.int64)

        def read(first: int, stop: int, count: int, links: int) -> tuple[Captures, NDArray[np.int64], bool]:
            """A piece, and whether there was room for it."""
            out, rows = empty_captures(count, links), np.zeros((count, 3), np.int64)
            given = units, model, references, self._context, (until, first, stop), wanted, room
            *found, good = read_captures(*given, (out, rows, sizes, state))
            if not good:
                raise self._arrays.damaged()
            return out, rows, found[0] > count or found[1] > links

        out, rows, is_more = read(0, pages, min(wanted[0], ROOM_CAPTURES), min(wanted[1], ROOM_LINKS))
        if not is_more:
            yield first_captures(out, rows, *sizes.sum(axis=0).tolist())
            return
        for first, stop in pieces(sizes.copy()):
            count, links = sizes[first:stop].sum(axis=0).tolist()
            out, rows, _ = read(first, stop, count, links)
            yield first_captures(out, rows, count, links)

    def text_column(self, name: str) -> "HistoryTexts | None":
        """The texts of captures of one kind, None if neither captures nor the store have any."""
        own = {f"{name}.{part}": self._arrays[f"history.{name}.{part}"] for part in TEXT_PARTS}
        rows, stored = own[f"{name}.pages"], len(self._arrays[f"{name}.pages"]) > 0
        if not stored and not len(rows):
            return None
        return HistoryTexts(self.graph.texts.column(name) if stored else None, TextColumn(own, name), rows)

    def weights(self, rows: CaptureRows) -> NDArray[np.float32]:
        """The weights of the links of captures, empty if all are 1."""
        weights = self._arrays["history.weight"]
        if not len(weights):
            return np.zeros(0, np.float32)
        at = places_of(rows.first_link, np.diff(rows.captures.first))
        if int(at.max(initial=0)) >= len(weights):
            raise self._arrays.damaged()
        return weights[at].astype(np.float32)


class HistoryTexts:
    """A column of texts by capture. A capture has the text of the next newer one, unless it has its own."""

    def __init__(self, stored: TextColumn | None, own: TextColumn, rows: NDArray[np.uint32]) -> None:
        self._stored, self._own, self._rows = stored, own, rows

    def of(self, rows: CaptureRows, stored_pages: NDArray[np.int64]) -> list[str | None]:
        """The texts of captures; `stored_pages` are the numbers of their pages in the store, -1 for others."""
        known = stored_pages[stored_pages >= 0]
        first, count = (int(known.min()), int(np.ptp(known)) + 1) if len(known) else (0, 0)
        stored = self._stored.between(first, count) if self._stored is not None and count else []
        at = np.searchsorted(self._rows, rows.row.astype(np.uint32), side="right").astype(np.int64) - 1
        found = list[str | None]()
        for place, begin, page in zip(at.tolist(), rows.first_row.tolist(), stored_pages.tolist(), strict=True):
            if place >= 0 and self._rows[place] >= begin:
                found.append(self._own[int(self._rows[place])] or None)
            else:
                found.append(stored[page - first] if stored and page >= 0 else None)
        return found


def coding_context(
    crawls: NDArray[np.int64], days: int, graph: Graph, numbers: NDArray[np.uint32], pages: int
) -> CodingContext:
    """What the code of captures is made with: the first day of each crawl, and the links to each page of the store."""
    weight = np.zeros(pages + 1, np.int64)
    weight[1:][numbers] = graph.in_degree
    weight[1:] += 1
    np.cumsum(weight, out=weight)
    if weight[-1] > MAX_WEIGHTS:
        weight = np.arange(pages + 1)
    of_day = np.repeat(np.arange(len(crawls)), np.diff(np.append(crawls, days)))
    return CodingContext(of_day, np.append(crawls, days), weight)


def store_links(graph: Graph, numbers: NDArray[np.uint32], low: int, count: int) -> References:
    """The links of the store that captures of pages [low, low + count) are compared with, in the history's numbers.

    A page's repeated links are put where their blocks are, as they were on the page.
    """
    first, stop = (int(each) for each in np.searchsorted(numbers, np.array([low, low + count], np.uint32)))
    starts, targets, attributes = np.zeros(count + 1, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.uint32)
    if first < stop:
        own, targets, attributes = graph.links.read_lists(graph.links.out, first, stop - first, True)
        sizes, (bounds, again, of_again) = np.diff(own), graph.links.read_repeats(np.arange(first, stop))
        if len(again):
            more = np.diff(bounds)
            pages = np.repeat(np.tile(np.arange(first, stop), 2), np.append(sizes, more))
            targets, attributes = np.append(targets, again), np.append(attributes, of_again)
            some = more[pages - first] > 0
            order = np.lexsort((np.where(some, attributes & np.uint32((1 << 24) - 1), 0), pages))
            targets, attributes = targets[order], attributes[order]
            sizes = np.bincount(pages - first, minlength=stop - first)
        places = numbers[first:stop].astype(np.int64) - low
        starts[places + 1] = sizes
    if len(targets) and int(targets.max()) >= len(numbers):
        raise graph.damaged()
    return References(low, np.cumsum(starts), numbers[targets].astype(np.uint32), attributes.copy())


def empty_captures(count: int, links: int) -> Captures:
    """Room for captures."""
    return Captures(
        page=np.zeros(count, np.uint32),
        day=np.zeros(count, np.uint32),
        facts=np.zeros(count, np.uint64),
        lead=np.zeros(count, np.uint32),
        before=np.zeros(count, np.uint32),
        first=np.zeros(count + 1, np.int64),
        target=np.zeros(links, np.uint32),
        attribute=np.zeros(links, np.uint32),
    )


def first_captures(
    out: Captures, rows: NDArray[np.int64], count: int, links: int
) -> tuple[Captures, NDArray[np.int64]]:
    """The captures that were read into a room for more."""
    out.first[count] = links
    page, day, lead, before = (values[:count] for values in (out.page, out.day, out.lead, out.before))
    links_of = out.first[: count + 1], out.target[:links], out.attribute[:links]
    return Captures(page, day, out.facts[:count], lead, before, *links_of), rows[:count]


def pieces(sizes: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of pages whose captures and links there is room for, or of one page each; `sizes` are of all."""
    first, captures, links = 0, 0, 0
    for page, (more, more_links) in enumerate(sizes.tolist()):
        if page > first and (captures + more > ROOM_CAPTURES or links + more_links > ROOM_LINKS):
            yield first, page
            first, captures, links = page, 0, 0
        captures, links = captures + more, links + more_links
    yield first, len(sizes)


def history_of(graph: Graph) -> CaptureHistory | None:
    """The captures of a store, None if it keeps only the newest."""
    return CaptureHistory(graph) if "history.shape" in graph.arrays.base else None
