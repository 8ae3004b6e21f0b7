"""Web: everything that one store has, opened together, with its caches. Every method gets one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadAddress, BadStore
from cocite.graph.generation import Progress, no_progress
from cocite.graph.side import FOLDER, list_sides, usable_states
from cocite.graph.store import Graph
from cocite.pages.stop_lists import stop_addresses

if TYPE_CHECKING:
    from cocite.graph.changes.dates import BuildTime
    from cocite.graph.clicks import Clicks
    from cocite.related.ranks import Ranked
    from cocite.words.keywords import KeywordIndex
    from cocite.words.relevance import Relevance
    from cocite.words.search import SearchIndex
    from cocite.words.stored import WordData
    from cocite.words.vectors import Vectors

MAX_OPEN_DATES = 8
Made = TypeVar("Made")
_dates_lock = threading.Lock()


class Web:
    """A store opened for questions."""

    _build_time: BuildTime | None = None  # for building dates in the past; None: any

    def __init__(self, store: str | Path | Graph) -> None:
        self.graph = store if isinstance(store, Graph) else Graph(store)
        self.progress: Progress = no_progress  # of what takes long the first time: keywords, ranks
        self.edition = str(self.graph.manifest.get("id"))  # changes with the store, or with its side data
        self._ranks: dict[str, Ranked] = {}
        self._dates: dict[int, Web] = {}  # opened, by their number in the history; the last used is the last

    @cached_property
    def _cache(self) -> dict[str, tuple[Any, Any]]:
        return {}

    def cached(self, name: str, key: Any, make: Callable[[], Any]) -> Any:
        """The last value made under a name; it is made again when `key` differs."""
        kept = self._cache.get(name)
        if kept is None or kept[0] != key:
            self._cache.pop(name, None)  # before `make`, which may need the memory
            kept = self._cache[name] = (key, make())
        return kept[1]

    def as_of(self, date: str) -> Web:
        """The web of the captures up to a date, such as 2009-06; this one without a date. Raises BadParameter."""
        if not date:
            return self
        from cocite.graph.changes.dates import day_of, graph_of_day
        from cocite.pages.date import seconds

        history, index = day_of(self.graph, seconds("as_of", date, last=True))
        if index == len(history.days) - 1:
            return self
        with _dates_lock:
            found = self._dates.pop(index, None)
        found = found or self._of(graph_of_day(history, index, self.progress, self._build_time))
        with _dates_lock:
            self._dates[index] = found
            while len(self._dates) > MAX_OPEN_DATES:
                self._dates.pop(next(iter(self._dates)))
        return found

    def _of(self, graph: Graph) -> Web:
        """The web of another graph."""
        return Web(graph)

    @cached_property
    def dates(self) -> list[str]:
        """The days of captures, ascending, if the store keeps its history."""
        from cocite.graph.changes.history import history_of

        history = history_of(self.graph)
        return [] if history is None else history.dates

    def known_pages(self, addresses: Sequence[str]) -> NDArray[np.uint32]:
        """The pages of those addresses that are known, ascending; cached, as many questions have the same stop list."""
        found: NDArray[np.uint32] = self.cached("known pages", addresses, lambda: known_pages(self.graph, addresses))
        return found

    def __repr__(self) -> str:
        return f"<Web {self.graph.path} {len(self.graph):,} pages, {len(self.graph.links):,} links>"

    @cached_property
    def search(self) -> SearchIndex:
        """The search index; raises BadStore, which says how to make it, if it is missing or stale."""
        from cocite.words.search import SEARCH

        return SEARCH.open(self.graph)

    @cached_property
    def clicks(self) -> Clicks:
        """How people went from page to page, perhaps empty; raises BadStore if it is damaged."""
        from cocite.graph.clicks import open_clicks

        return open_clicks(self.graph)

    @property
    def has_clicks(self) -> bool:
        """Whether there are clicks: opening them loads more than most questions need."""
        return "clicks" in self.__dict__ or self._clicks_file.exists()

    @cached_property
    def _clicks_file(self) -> Path:
        return self.graph.path / FOLDER / "clicks.json"

    @cached_property
    def keywords(self) -> KeywordIndex:
        """The keywords of all pages: as stored, else chosen now, and stored if the store can be written."""
        from cocite.words.keywords import KEYWORDS, make_keywords

        return self._ready(KEYWORDS, make_keywords)

    @cached_property
    def relevance(self) -> Relevance:
        """How relevant keywords are to each other: as stored, else counted now, and stored like keywords."""
        from cocite.words.relevance import RELEVANCE, make_relevance

        return self._ready(RELEVANCE, make_relevance, self.keywords)

    @cached_property
    def vectors(self) -> Vectors | None:
        """The words of pages as vectors, made and stored like keywords; None if the store has no text."""
        from cocite.words.vectors import VECTORS

        def make(*args: Any, **options: Any) -> Vectors:
            from cocite.words.make_vectors import make_vectors  # loads far more

            return make_vectors(*args, **options)

        return self._ready(VECTORS, make) if self.graph.texts else None

    def _ready(self, data: WordData[Made], make: Callable[..., Made], *args: Any) -> Made:
        try:
            return data.ready(self.graph, *args, progress=self.progress)
        except (BadStore, OSError):
            return make(self.graph, *args, progress=self.progress)

    def has(self, part: str) -> bool:
        """Whether side data such as `search` or `relevance` is stored and fresh."""
        return any(fresh for _, fresh in list_sides(self.graph.path, usable_states(self.graph, part), part))

    def rank(self, by: str) -> Ranked:
        """A rank of all pages, such as `hubrank`: as stored, else computed now and not stored."""
        from cocite.related import ranks

        wanted = ranks.rank(by)
        if str(wanted) not in self._ranks:
            kept = None
            with suppress(BadStore):  # stale or damaged
                kept = wanted.kept(self.graph)
            self._ranks[str(wanted)] = kept or wanted.compute(self.graph, self.progress)
        return self._ranks[str(wanted)]


def known_pages(graph: Graph, addresses: Sequence[str]) -> NDArray[np.uint32]:
    """The pages of those addresses, or of named lists, that are known, ascending."""
    found: set[int] = set()
    for address in stop_addresses(addresses):
        with suppress(BadAddress):
            page = graph.get(address)
            found |= set() if page is None else {page}
    return np.array(sorted(found), np.uint32)
