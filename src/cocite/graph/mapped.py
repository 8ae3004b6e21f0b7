"""The arrays of a store, mapped: what every part of a Graph stands on."""

from __future__ import annotations

import threading
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadParameter, BadStore
from cocite.graph.arrays import TYPE_OF, contradictions
from cocite.graph.generation import map_array, nothing, read_current
from cocite.graph.huffman import Code
from cocite.graph.texts import Texts
from cocite.kernels.codec import name_codec
from cocite.kernels.codec.lists import Lists
from cocite.kernels.codec.look_up import Names
from cocite.kernels.codec.repeats import Repeats
from cocite.kernels.related.vicinity import Out

NO_TEXTS: dict[str, NDArray[Any]] = {
    "none.pages": np.zeros(0, np.uint32),
    "none.first": np.zeros(1, np.uint32),
    "none.offset": np.zeros(1, np.uint64),
    "none.data": np.zeros(0, np.uint8),
}


class Mapped:
    """One generation of a store, opened. Its arrays have the types and lengths that compiled loops trust."""

    def __init__(self, path: str | Path, expected: str = "") -> None:
        """Open a store; with `expected`, the id of a generation, no other."""
        self.path = Path(path)
        while True:
            folder, self.manifest = read_current(self.path)
            try:
                self._arrays = {
                    name: map_array(folder / f"{name}.bin", entry) for name, entry in self.manifest["arrays"].items()
                }
                break
            except (BadStore, KeyError, TypeError, ValueError) as error:
                if read_current(self.path)[0] == folder:  # else it was replaced, and removed, while being opened
                    raise error if isinstance(error, BadStore) else self._contradiction() from error
        if expected and self.manifest.get("id") != expected:
            raise BadStore(f"{self.path} was changed meanwhile by another command: open it again")
        self.pages, self.links = int(self.manifest.get("pages", 0)), int(self.manifest.get("links", 0))
        wrong = list(contradictions(self._arrays, self.pages, self.links))
        if wrong:
            raise self._contradiction(f" ({', '.join(wrong)})")
        self._scratch = threading.local()
        self._asked = 0

    def __len__(self) -> int:
        return self.pages

    def array(self, name: str) -> NDArray[Any]:
        """An array by its name in FORMAT.md; empty where this store has none."""
        found = self._arrays.get(name)
        return nothing(TYPE_OF.get(name, np.dtype(np.uint32))) if found is None else found

    @cached_property
    def out(self) -> Lists:
        """Links out as raw arrays."""
        return self._lists("out")

    @cached_property
    def out_in_part(self) -> Out:
        """Links out with the entry points into long lists."""
        parts = ("long.page", "long.first", "skip.bit", "skip.before", "skip.attribute")
        return Out(
            self.out, *(self.array(f"out.{part}") for part in (*parts, "long.link", "long.target", "long.place"))
        )

    @cached_property
    def repeats(self) -> Repeats:
        """Links that pages have again in other blocks, as raw arrays."""
        return Repeats(*(self.array(f"repeat.{part}") for part in Repeats._fields))

    @cached_property
    def into(self) -> Lists:
        """Links in as raw arrays."""
        return self._lists("in")

    @cached_property
    def names(self) -> Names:
        """Names as raw arrays."""
        lengths = self.array("name.code")
        try:
            characters, shared = Code.from_lengths(lengths[:257]), Code.from_lengths(lengths[257:])
        except ValueError as error:
            raise self.damaged() from error
        return Names(
            self.array("name.words"),
            self.array("name.block"),
            characters.table,
            shared.table,
            self.array("fingerprint"),
            self.array("look_up.start"),
            self.array("look_up.page"),
        )

    def _lists(self, name: str) -> Lists:
        try:
            table = Code.from_lengths(self.array(f"{name}.code")).table
        except ValueError as error:
            raise self.damaged() from error
        words, base, offset, degree = (self.array(f"{name}.{part}") for part in ("words", "base", "offset", "degree"))
        return Lists(words, base, offset, degree, table)

    @property
    def in_degree(self) -> NDArray[np.uint32]:
        """Links into each page."""
        return self.array("in.degree")

    @property
    def out_degree(self) -> NDArray[np.uint32]:
        """Links out of each page."""
        return self.array("out.degree")

    @property
    def fingerprints(self) -> NDArray[np.uint64]:
        """A hash of each page's address, the same in every store."""
        return self.array("fingerprint")

    @property
    def removed(self) -> NDArray[np.uint64]:
        """Fingerprints of pages that were removed for good."""
        return self.array("removed").astype(np.uint64)

    def _page(self, page: int) -> int:
        page = int(page)
        if not 0 <= page < self.pages:
            raise BadParameter(f"there is no page {page}: pages are numbered from 0 to {self.pages - 1}")
        return page

    def _degree(self, lists: Lists, page: int) -> int:
        """The length of a list, if it can be true: memory is taken on its word."""
        degree = int(lists.degree[page])
        if degree > self.links:
            raise self.damaged()
        return degree

    def _stored_page(self, name: str, at: int) -> int:
        """A page number out of an array."""
        page = int(self.array(name)[at])
        if page >= self.pages:
            raise self.damaged()
        return page

    def _texts(self, name: str) -> Texts:
        cached = self.__dict__.setdefault("_columns", {})
        if name not in cached:
            cached[name] = Texts(self._arrays, name) if f"{name}.pages" in self._arrays else Texts(NO_TEXTS, "none")
        column: Texts = cached[name]
        return column

    def _buffer(self) -> NDArray[np.uint8]:
        """Scratch space of this thread for one name."""
        buffer: NDArray[np.uint8] | None = getattr(self._scratch, "buffer", None)
        if buffer is None:
            buffer = self._scratch.buffer = np.empty(name_codec.LONGEST_KEY, np.uint8)
        return buffer

    def _contradiction(self, where: str = "") -> BadStore:
        return BadStore(f"{self.path}: the manifest contradicts itself{where}: build the store again")

    def damaged(self) -> BadStore:
        """What to raise where lists, names or texts cannot be read."""
        return BadStore(f"{self.path} is damaged: run cocite check -i {quote(str(self.path))}")
