"""Words stored beside a store, as side data: how each kind is opened and checked, and words by number."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, Generic, NamedTuple, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.nearest import edits
from cocite.graph.side import SideData, only_one, read_side, write_side
from cocite.graph.store import Graph

EDIT_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
MAX_PREFIX_WORDS = 1000  # words with the same beginning that are read to suggest one
ARRAY_TYPES = {
    "starts": "<i8", "ids": "<u4", "columns": "<u4", "other": "<u4", "times": "<u4", "counts": "<u4", "votes": "<u4",
    "frequency": "<u4", "weights": "<u2", "text_words": "<u2", "data": "|u1", "stop": "|u1", "home": "|u1",
}  # fmt: skip
"""Types of arrays, by the last part of their names."""

Made = TypeVar("Made")
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class WordData(Generic[Made]):
    """A kind of side data with words. `args` say which data is wanted, `options` how new data is made."""

    name: str
    title: str
    operation: str  # whose --make makes it
    version: int  # data of another version is made again
    make: Callable[..., tuple[dict[str, Any], Arrays]]  # its facts and arrays, from (graph, folder, *args, **options)
    read: Callable[..., Made]  # from (OpenedWords, *args)

    def command(self, graph: Graph) -> str:
        """The command that makes it."""
        return f"cocite {self.operation} --make -i {quote(str(graph.path))}"

    def unusable(self, graph: Graph, problem: str = "is damaged") -> BadStore:
        """The error for data that can't be used."""
        return BadStore(f"the {self.title} of {graph.path} {problem}: make it again with {self.command(graph)}")

    def find(self, graph: Graph) -> "OpenedWords":
        """The stored data as it is on disk; raises BadStore if there is none, or if it is of another version."""
        side = read_side(graph, self.name, self.command(graph))
        if side is None:
            raise BadStore(f"{graph.path} has no {self.title} yet: make it with {self.command(graph)}")
        if side.about.get("version") != self.version:
            raise self.unusable(graph, "is of another version")
        return OpenedWords(self, graph, side)

    def open(self, graph: Graph, *args: Any) -> Made:
        """The stored data; raises BadStore if there is none that can be used."""
        return self.read(self.find(graph), *args)

    def build(self, graph: Graph, *args: Any, **options: Any) -> Made:
        """Make and store new data, and return it as it is stored."""
        with only_one(graph, self.name, f"the {self.title}"):
            return self._store(graph, *args, **options)

    def ready(self, graph: Graph, *args: Any, **options: Any) -> Made:
        """The stored data, made and stored if there is none that fits."""
        with suppress(BadStore):
            return self.open(graph, *args)
        with only_one(graph, self.name, f"the {self.title}"):
            with suppress(BadStore):
                return self.open(graph, *args)  # another command has made it meanwhile
            return self._store(graph, *args, **options)

    def _store(self, graph: Graph, *args: Any, **options: Any) -> Made:
        def make(folder: Path) -> tuple[dict[str, Any], Arrays]:
            facts, arrays = self.make(graph, folder, *args, **options)
            return {"version": self.version, **facts}, arrays

        write_side(graph, self.name, make)
        return self.open(graph, *args)


class OpenedWords(NamedTuple):
    """Side data with words, opened."""

    kind: WordData[Any]
    graph: Graph
    side: SideData

    def array(self, name: str) -> NDArray[Any]:
        """An array, of the right type."""
        values = self.side.array(name)
        self.require(values.dtype == ARRAY_TYPES[name.rpartition(".")[2]])
        return values

    def matrix(self, kind: Any, prefix: str = "") -> Any:
        """The arrays of a named tuple."""
        return kind(*(self.array(f"{prefix}{field}") for field in kind._fields))

    def vocabulary(self) -> "Vocabulary":
        """The words."""
        words: Vocabulary = self.matrix(Vocabulary, "words.")
        self.require(is_starts(words.starts, len(words.starts) - 1, len(words.data)))
        return words

    def require(self, valid: bool, problem: str = "is damaged") -> None:
        """Raise BadStore if something isn't valid."""
        if not valid:
            raise self.kind.unusable(self.graph, problem)


def arrays_of(**matrices: Any) -> Arrays:
    """The arrays of named tuples, by the names under which they are stored."""
    return {f"{name}.{field}": getattr(each, field) for name, each in matrices.items() for field in each._fields}


def is_starts(starts: NDArray[np.int64], rows: int, total: int) -> bool:
    """Whether these are valid starts of a number of rows with `total` values."""
    return (
        len(starts) == rows + 1 > 0
        and starts[0] == 0
        and starts[-1] == total
        and bool(np.all(starts[1:] >= starts[:-1]))
    )


class Vocabulary(Sequence[str]):
    """Words sorted by character, stored as one run of bytes, and decoded when they are read."""

    _fields = ("starts", "data")

    def __init__(self, starts: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        self.starts, self.data = starts, data

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        """A vocabulary of sorted words."""
        encoded = [word.encode("utf-8", "replace") for word in words]
        starts = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
        return cls(starts, np.frombuffer(b"".join(encoded), np.uint8))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        places = range(len(self))[at]  # raises IndexError outside
        if isinstance(places, range):
            return [self[place] for place in places]
        return bytes(self.data[self.starts[places] : self.starts[places + 1]]).decode("utf-8", "replace")

    def find(self, word: str) -> int | None:
        """The number of a word."""
        at = bisect_left(self, word)
        return at if at < len(self) and self[at] == word else None

    def beginning(self, text: str) -> Iterator[int]:
        """The numbers of words that begin with a text, at most MAX_PREFIX_WORDS."""
        first = bisect_left(self, text)
        for at in range(first, min(first + MAX_PREFIX_WORDS, len(self))):
            if not self[at].startswith(text):
                return
            yield at

    def nearest(self, word: str, frequency: NDArray[np.uint32], maximum: int = 5) -> list[str]:
        """Known words close to an unknown one: one edit away, then longer, then with the same beginning."""
        spelt = {at for text in edits(word, EDIT_LETTERS) if (at := self.find(text)) is not None}
        groups: list[Iterable[int]] = [spelt, self.beginning(word)] if word else []
        groups += [self.beginning(word[:size]) for size in range(len(word) - 1, 2, -1)]
        found: dict[int, None] = {}
        for group in groups:
            found.update(dict.fromkeys(sorted(group, key=lambda at: (-int(frequency[at]), at))))
            if len(found) >= maximum:
                break
        return [self[at] for at in found][:maximum]
