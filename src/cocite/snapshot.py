"""A store opened to answer many questions quickly, for servers and assistants.

Search index, keywords, vectors and ranks are opened or built beforehand. A question that needs a missing one fails at
once: nothing that takes long starts inside a question.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from cocite.errors import BadStore, CociteError
from cocite.graph.changes.dates import BUILD_TIME
from cocite.graph.changes.layers import Layer
from cocite.graph.side import FOLDER, faults_of_sides, files_of_sides
from cocite.related import ranks
from cocite.related.methods.hubfinder import DEFAULT_RANKS
from cocite.related.ranks import Ranked
from cocite.web import Web
from cocite.words.keywords import KEYWORDS
from cocite.words.relevance import RELEVANCE
from cocite.words.search import SEARCH
from cocite.words.vectors import VECTORS

VERIFY_PAUSE = 40.0
"""Time asleep ÷ time reading while files are verified: it takes at most 1/41 of a core, 2.5 %, while serving."""
MAX_LINKS_TO_BUILD = 5_000_000
"""Links up to which a server itself builds the search index, keywords and ranks that it lacks: a minute or two."""


def pointer_of(store: Path) -> bytes:
    """The bytes that name the current generation."""
    try:
        return (store / "CURRENT").read_bytes()
    except OSError:
        return b""  # opening the store says what is wrong


def stamp_of(store: Path, pointer: bytes) -> str:
    """A stamp that changes with the generation and with what is kept beside it. Cheap enough for every second."""
    stamps = [pointer]
    for file in sorted((store / FOLDER).glob("*.json")):
        with suppress(OSError):
            about = file.stat()
            stamps.append(f"{file.name} {about.st_mtime_ns} {about.st_size}".encode())
    return hashlib.blake2b(b"\n".join(stamps), digest_size=8).hexdigest()


def why_refused(store: Path, damage: Sequence[str]) -> str:
    """Why a store with damaged files can't be asked: empty if only side data is, which is closed. Clicks are needed."""
    arrays = [name for name in damage if not name.startswith(f"{FOLDER}/") or name == f"{FOLDER}/clicks"]
    return f"{arrays[0]} of {store} does not match its checksum" if arrays else ""


class Snapshot(Web):
    """A store opened to answer questions: whatever takes long is built before, or missing."""

    _build_time = BUILD_TIME

    def __init__(self, path: Path) -> None:
        self._pointer = pointer_of(path)
        super().__init__(path)
        self.side_files = files_of_sides(path)
        self.small = len(self.graph.links) <= MAX_LINKS_TO_BUILD
        self._parts: dict[str, Any] = {}
        self._missing: dict[str, str] = {}
        self._update_edition()

    def _update_edition(self) -> None:
        """Update what answers depend on: the files of the store, and the parts that are open."""
        self.stamp = stamp_of(self.graph.path, self._pointer)
        parts = sorted((name, getattr(part, "lagging", False)) for name, part in self._parts.items())
        self.edition = hashlib.blake2b(f"{self.stamp} {parts}".encode(), digest_size=8).hexdigest()

    @property
    def base(self) -> bytes:
        """What names the base: while it is the same, commits have added layers."""
        return self._pointer.partition(b"\n")[0]

    def open_parts(self) -> None:
        """Open the parts that are kept beside the store."""
        for name, open_part, _ in self._wanted():
            with suppress(CociteError, OSError):  # `build_parts` says what is wrong
                self._parts[name] = open_part()
        self._update_edition()

    @property
    def is_complete(self) -> bool:
        """Whether no part is missing."""
        return all(name in self._parts for name, *_ in self._wanted())

    def take_ranks(self, before: "Snapshot") -> None:
        """Take ranks of an earlier snapshot that has the same base: newer pages have the value 0 until it is compacted.

        Computing them again would make every small change wait.
        """
        if before.graph.arrays.base.manifest.get("id") != self.graph.arrays.base.manifest.get("id"):
            return  # page numbers are others
        new = self.graph.pages - before.graph.pages
        if new >= 0:
            missing = before.ranks.keys() - self._parts.keys()
            old, zeros = before.ranks, np.zeros(new)
            longer = {name: np.append(old[name].values, zeros) for name in missing}
            self.set_ranks({name: replace(old[name], values=longer[name], lagging=True) for name in missing})

    @property
    def ranks(self) -> dict[str, Ranked]:
        """The ranks of this snapshot, by name."""
        return {name: part for name, part in self._parts.items() if name.startswith("rank ")}

    def set_ranks(self, found: dict[str, Ranked]) -> None:
        """Take ranks that were computed elsewhere for the same pages."""
        self._parts = self._parts | found
        self._update_edition()

    def build_parts(self, report: Callable[..., None], like: "Snapshot | None" = None) -> None:
        """Build the parts that a small store lacks, which takes a while; only those that `like` has, if it is given.

        `report` is `Log.write`, or like it.
        """
        for name, open_part, build_part in self._wanted():
            if name in self._parts or not (like is None or like.has(name)):
                continue
            began = time.monotonic()
            try:
                self._parts[name] = (build_part if self.small else open_part)()
            except Exception as error:  # whatever it is: questions that don't need this part are answered
                self._missing[name] = str(error) or type(error).__name__
                report("missing", "warning", part=name, why=self._missing[name])
            else:
                self._update_edition()  # at once: with it, answers differ
                report("built", part=name, seconds=round(time.monotonic() - began, 3))

    def damaged_files(
        self, pause: float, is_stopping: Callable[[], bool] = lambda: False, beside: "Snapshot | None" = None
    ) -> list[str]:
        """What doesn't match its checksum: arrays, and side data by name. Damaged parts are closed.

        Reading all bytes may take long: it sleeps `pause` times as long as it reads. Files that another snapshot has
        open as well are skipped.
        """
        graph, last = self.graph, [time.monotonic()]

        def rest(*_: Any) -> None:
            if is_stopping():
                raise InterruptedError
            time.sleep(pause * (time.monotonic() - last[0]))
            last[0] = time.monotonic()

        try:
            others = beside if beside is not None and beside.base == self.base else None
            layers = set() if others is None else {layer.file for layer in others.layers}
            found = [] if others else list(graph.arrays.base.changed(rest))
            for layer in self.layers:
                found += layer.changed(rest) if layer.file not in layers else ()
            for side, _ in faults_of_sides(graph, rest, frozenset() if beside is None else beside.side_files):
                if side not in found:
                    found.append(side)
                    self._close_part(side)
        except InterruptedError:
            return []
        return found

    @property
    def layers(self) -> Sequence[Layer]:
        """The layers of the store."""
        return self.graph.arrays.layers

    def _close_part(self, side: str) -> None:
        name = side.removeprefix(f"{FOLDER}/")
        part = f"rank {name[5:]}" if name.startswith("rank_") else name
        if self._parts.pop(part, None) is not None:
            self._missing[part] = f"the {part} of {self.graph.path} is damaged: make it again"
            self._update_edition()

    def _wanted(self) -> Iterator[tuple[str, Callable[[], Any], Callable[[], Any]]]:
        """Parts that methods may need beside links: how to open each, and how to build it."""
        graph = self.graph
        if graph.texts:
            for name, data in (("search", SEARCH), ("vectors", VECTORS), ("keywords", KEYWORDS)):
                yield name, partial(data.open, graph), partial(data.ready, graph)
            relevance = (lambda: RELEVANCE.open(graph, self.keywords), lambda: RELEVANCE.ready(graph, self.keywords))
            yield "relevance", *relevance
        for call in DEFAULT_RANKS.values():
            yield f"rank {call}", partial(ranks.kept, graph, call), partial(super().rank, call)

    @cached_property
    def has_clicks(self) -> bool:
        """Whether there are clicks. Where some are added later, another snapshot has them."""
        return self._clicks_file.exists()

    def has(self, name: str) -> bool:
        """Whether a part is open."""
        return name in self._parts

    def _part(self, name: str) -> Any:
        if name not in self._parts:
            raise BadStore(self._missing.get(name, f"{self.graph.path} has no {name} yet"))
        return self._parts[name]

    # Without a part, asking for it raises BadStore; without vectors, methods use links alone.
    search = property(lambda self: self._part("search"))
    keywords = property(lambda self: self._part("keywords"))
    relevance = property(lambda self: self._part("relevance"))
    vectors = property(lambda self: self._parts.get("vectors"))

    def rank(self, call: str) -> Ranked:
        """A rank that was built, or one that is kept."""
        name = str(ranks.rank(call))
        return cast("Ranked | None", self._parts.get(f"rank {name}")) or ranks.kept(self.graph, name)
