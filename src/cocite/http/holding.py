"""The store that is being served, and how a new generation takes its place.

`Served` is a store opened for good: what methods need beside links (search, keywords, ranks) is there, or is refused
at once; nothing long is begun inside a question. `Holder` looks at the store's path now and then. When something has
changed it opens the store anew beside the old one, has it asked what was asked last, so that it is warm, and then puts
it into place. Questions that were begun keep the store that they began with.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocite.errors import BadStore, CociteError
from cocite.graph.side import FOLDER
from cocite.http.gate import aside
from cocite.web import Web

if TYPE_CHECKING:
    from cocite.http.log import Log
    from cocite.related.ranks import Ranked
    from cocite.words.keywords import Keywords
    from cocite.words.relevance import Relevance
    from cocite.words.search import Search
    from cocite.words.vectors import Vectors

SMALL = 5_000_000
"""Links up to which a server itself makes search index, keywords and ranks that are not kept: a minute or two."""
PATIENCE = 300.0
"""Seconds that a new generation is given to get the search index that the one before had."""


def pointer_of(store: Path) -> bytes:
    """What names the current generation."""
    try:
        return (store / "CURRENT").read_bytes()
    except OSError:
        return b""  # opening it says what is wrong


def stamp_of(store: Path, pointer: bytes) -> str:
    """A generation, and what is kept beside it: by this changes are seen. Cheap enough for every second."""
    stamps = [pointer]
    for file in sorted((store / FOLDER).glob("*.json")):
        with suppress(OSError):
            about = file.stat()
            stamps.append(f"{file.name} {about.st_mtime_ns} {about.st_size}".encode())
    return hashlib.blake2b(b"\n".join(stamps), digest_size=8).hexdigest()


class Served(Web):
    """A store opened for strangers' questions."""

    def __init__(self, path: Path) -> None:
        self._pointer = pointer_of(path)
        super().__init__(path)
        self.small = self.graph.links <= SMALL
        self._parts: dict[str, Any] = {}
        self._missing: dict[str, str] = {}
        self._settle()

    def _settle(self) -> None:
        """Note what answers depend on now: files, by which changes are seen, and the parts that are there."""
        self.stamp = stamp_of(self.graph.path, self._pointer)
        self.edition = hashlib.blake2b(f"{self.stamp} {sorted(self._parts)}".encode(), digest_size=8).hexdigest()

    def open_parts(self) -> None:
        """Open what is kept beside the store."""
        for name, (open_part, _) in self._wanted().items():
            with suppress(CociteError, OSError):  # `make_parts` says what is wrong
                self._parts[name] = open_part()
        self._settle()

    def make_parts(self, log: Log) -> None:
        """Of a small store, make what is not kept beside it. Takes its time."""
        for name, (open_part, make_part) in self._wanted().items():
            if name in self._parts:
                continue
            began = time.monotonic()
            try:
                self._parts[name] = (make_part if self.small else open_part)()
            except Exception as error:  # whatever it is: what does not need this part is answered
                self._missing[name] = str(error) or type(error).__name__
                log.say("missing", "warning", part=name, why=self._missing[name])
            else:
                self._settle()  # at once: with it, answers differ
                log.say("made", part=name, seconds=round(time.monotonic() - began, 3))

    def _wanted(self) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
        """What methods may need beside links: how to open it, and how to have it made."""
        from cocite.related import ranks
        from cocite.related.methods.hubfinder import RANKS
        from cocite.words import keywords, make_vectors, relevance, search, vectors

        graph = self.graph
        found: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {}
        if graph.texts:
            found["search"] = partial(search.open_search, graph), partial(search.ready_search, graph)
            found["vectors"] = partial(vectors.open_vectors, graph), partial(make_vectors.ready_vectors, graph)
            found["keywords"] = partial(keywords.open_keywords, graph), partial(keywords.ready_keywords, graph)
            found["relevance"] = (
                lambda: relevance.open_relevance(graph, self.keywords),
                lambda: relevance.ready_relevance(graph, self.keywords),
            )
        for call in RANKS.values():
            found[f"rank {call}"] = partial(ranks.kept, graph, call), partial(super().rank, call)
        return found

    def has(self, name: str) -> bool:
        """Whether a part is there."""
        return name in self._parts

    def _part(self, name: str) -> Any:
        if name not in self._parts:
            raise BadStore(self._missing.get(name, f"{self.graph.path} has no {name}, or not yet"))
        return self._parts[name]

    @property
    def search(self) -> Search:
        """The search index, if it is there."""
        found: Search = self._part("search")
        return found

    @property
    def keywords(self) -> Keywords:
        """The keywords of all pages, if they are there."""
        found: Keywords = self._part("keywords")
        return found

    @property
    def relevance(self) -> Relevance:
        """How relevant keywords are to each other, if that is there."""
        found: Relevance = self._part("relevance")
        return found

    @property
    def vectors(self) -> Vectors | None:
        """The words of pages as vectors; without them methods go by links alone."""
        found: Vectors | None = self._parts.get("vectors")
        return found

    def rank(self, call: str) -> Ranked:
        """A rank that was made ready, or one that is kept."""
        from cocite.related import ranks

        name = str(ranks.rank(call))
        found: Ranked | None = self._parts.get(f"rank {name}")
        return ranks.kept(self.graph, name) if found is None else found


class Holder:
    """The store as it is now."""

    def __init__(
        self, path: Path, log: Log, warming: Callable[[], Callable[[Served], None]], placed: Callable[[], None]
    ) -> None:
        """`warming` gives what asks a store, in a thread, that it is warm; `placed` hears that it is in place."""
        self.path, self._log, self._warming, self._placed = path, log, warming, placed
        self.current = Served(path)
        self.current.open_parts()
        self._look = asyncio.Event()
        self._since: float | None = None  # when a generation was first seen that lacks what the one before had

    async def prepare(self) -> None:
        """Make what the first store lacks, while it is being served already."""
        await aside(partial(self.current.make_parts, self._log))

    def look(self) -> None:
        """Look at the store now, not only when it is time."""
        self._look.set()

    async def watch(self, seconds: float) -> None:
        """Look at the path for ever, and change over when there is something new."""
        seen = ""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._look.wait()
            at_once = self._look.is_set()
            self._look.clear()
            stamp = await aside(lambda: stamp_of(self.path, pointer_of(self.path)))
            if stamp == self.current.stamp:
                seen = ""
            elif stamp == seen or at_once:  # twice the same: whatever writes there has come to rest
                seen = ""
                await self.change_over()
            else:
                seen = stamp

    async def change_over(self) -> None:
        """Open the store anew, warm it, and put it in place; what goes wrong leaves the old one there."""
        began = time.monotonic()
        try:
            fresh = await aside(partial(self._open, self._warming()))
        except Exception as error:  # whatever is wrong with a new store: the old one stays, and the path is watched on
            self._log.say("not changed over", "error", why=str(error) or type(error).__name__)
            return
        if fresh is None:
            return
        self.current = fresh
        self._placed()
        facts: dict[str, Any] = {"edition": fresh.edition, "pages": fresh.graph.pages, "links": fresh.graph.links}
        self._log.say("changed over", seconds=round(time.monotonic() - began, 3), **facts)

    def _open(self, warm: Callable[[Served], None]) -> Served | None:
        fresh = Served(self.path)
        fresh.open_parts()
        fresh.make_parts(self._log)
        if self.current.has("search") and not fresh.has("search"):
            self._since = self._since or time.monotonic()
            if time.monotonic() - self._since < PATIENCE:  # `cocite add` is still making it
                self._log.say("waiting", "info", what="the search index of the new generation")
                return None
        self._since = None
        warm(fresh)
        return fresh
