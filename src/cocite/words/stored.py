"""Words stored beside a store, as side data: how each kind is opened and checked, and words by number."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore, LockedStore
from cocite.graph.generation import digest, read_current
from cocite.graph.nearest import edits
from cocite.graph.side import SideData, only_one, read_side, remove_others, write_side
from cocite.graph.store import Graph
from cocite.kernels.words.word_vectors import Sparse

if TYPE_CHECKING:
    from cocite.words.changes import ChangedPages

EDIT_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
MAX_PREFIX_WORDS = 1000  # words with the same beginning that are read to suggest one
ARRAY_TYPES = {
    "starts": "<i8", "ids": "<u4", "columns": "<u4", "other": "<u4", "times": "<u4", "counts": "<u4", "votes": "<u4",
    "frequency": "<u4", "weights": "<u2", "text_words": "<u2", "data": "|u1", "stop": "|u1", "home": "|u1",
    "rarity": "<f8", "digest": "<u8", "ignored": "<u8",
}  # fmt: skip
"""Types of arrays, by the last part of their names."""

ROWS = ("starts", "ids", "weights")  # the arrays of a sparse matrix; each row ends where the next one begins
Made = TypeVar("Made")
Arrays = dict[str, NDArray[Any]]


class ChangedStore(LockedStore):
    """A store was changed while words of an earlier state were made."""


@dataclass(frozen=True)
class WordData(Generic[Made]):
    """A kind of side data with words. `args` say which data is wanted, `options` how new data is made."""

    name: str
    title: str
    operation: str  # whose --make makes it
    version: int  # data of another version is made again
    make: Callable[..., tuple[dict[str, Any], Arrays]]  # its facts and arrays, from (graph, folder, *args, **options)
    read: Callable[..., Made]  # from (OpenedWords, *args)
    follow: Callable[..., dict[str, Any]] | None = None
    """Changes older data in a folder by what layers changed: (OpenedWords, folder, ChangedPages) → new facts."""
    lags: bool = False  # whether data of a state with fewer layers is used as it is

    def command(self, graph: Graph) -> str:
        """The command that makes it."""
        return f"cocite {self.operation} --make -i {quote(str(graph.path))}"

    def unusable(self, graph: Graph, problem: str = "is damaged") -> BadStore:
        """The error for data that can't be used."""
        return BadStore(f"the {self.title} of {graph.path} {problem}: make it again with {self.command(graph)}")

    def find(self, graph: Graph) -> "OpenedWords":
        """The stored data as it is on disk; raises BadStore if there is none, or if it is of another version."""
        side = read_side(graph, self.name, self.command(graph), lagging=self.lags)
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
            with suppress(BadStore):  # or changed meanwhile: then it is made of this state
                if self._follow(graph, {}):
                    return self.open(graph, *args)
            return self._store(graph, *args, **options)

    def catch_up(self, graph: Graph, changes: "dict[str, ChangedPages | None]") -> bool:
        """Have stored data follow the layers of a store; False if it can't. `changes` keeps what several kinds need."""
        with only_one(graph, self.name, f"the {self.title}"):
            return self._follow(graph, changes)

    def _follow(self, graph: Graph, changes: "dict[str, ChangedPages | None]") -> bool:
        if read_current(graph.path)[1]["id"] != graph.manifest["id"]:
            raise ChangedStore(f"Another command changed {graph.path} meanwhile: run this one again")
        try:
            side = read_side(graph, self.name, self.command(graph), lagging=True)
        except BadStore:  # of another base, or damaged
            return False
        if side is None or side.about.get("version") != self.version or self.follow is None:
            return False
        state, about, follow = side.generation, side.about, self.follow
        if state == graph.manifest["id"]:
            remove_others(side.folder.parent, self.name, side.folder)  # left by a command that died before it did
            return True
        from cocite.words.changes import ChangedPages  # loads far more

        if state not in changes:
            changes[state] = ChangedPages.since(graph, state)
        changed = changes[state]
        if changed is None:
            return False

        def make(folder: Path) -> tuple[dict[str, Any], Arrays]:
            return about | follow(OpenedWords(self, graph, side), folder, changed), {}

        write_side(graph, self.name, make, old=side)
        return True

    def _store(self, graph: Graph, *args: Any, **options: Any) -> Made:
        def make(folder: Path) -> tuple[dict[str, Any], Arrays]:
            facts, arrays = self.make(graph, folder, *args, **options)
            if graph.manifest["id"] not in Graph(graph.path).arrays.ids:
                raise ChangedStore(f"Another command changed {graph.path} meanwhile: run this one again")
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

    def sparse(self, prefix: str = "") -> Sparse:
        """A sparse matrix by rows."""
        return Sparse.of(*(self.array(f"{prefix}{part}") for part in ROWS))

    def matrix(self, kind: Any, prefix: str = "") -> Any:
        """The arrays of a named tuple."""
        return kind(*(self.array(f"{prefix}{field}") for field in kind._fields))

    def part(self, name: str) -> Arrays:
        """The arrays of a file with the rows of changed pages, verified."""
        size, expected = self.side.files[name]
        try:
            data = (self.side.folder / name).read_bytes()
            self.require(len(data) == size and digest(data) == expected)
            with np.load(BytesIO(data)) as found:
                return {each: found[each] for each in found.files}
        except (OSError, ValueError, KeyError) as error:
            raise self.kind.unusable(self.graph) from error

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
    return {
        f"{name}.{field}": getattr(each, field)
        for name, each in matrices.items()
        for field in (ROWS if isinstance(each, Sparse) else each._fields)
    }


def is_starts(starts: NDArray[np.int64], rows: int, total: int) -> bool:
    """Whether these are valid starts of a number of rows with `total` values."""
    ends = len(starts) == rows + 1 > 0 and starts[0] == 0 and starts[-1] == total
    return ends and bool(np.all(starts[1:] >= starts[:-1]))


def rows_at(first: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of all values of rows that begin at `first`, one row after another."""
    return np.repeat(first - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))


def write_part(file: Path, parts: list[Arrays]) -> None:
    """Write a file with the rows of changed pages; of several parts, oldest first, the newest row of each page."""
    with file.open("xb") as opened:
        np.savez(opened, allow_pickle=False, **merged_parts(parts))


def merged_parts(parts: list[Arrays]) -> Arrays:
    """Several parts as one. Arrays have a value for each `page`; those named NAME.starts begin the rows of a matrix.

    Arrays named KIND:NAME have a value for each KIND:page.
    """
    if len(parts) == 1:
        return parts[0]
    if any(":" in name for name in parts[0]):
        merged: Arrays = {}
        for kind in {name.rpartition(":")[0] for name in parts[0]}:
            some = [{n.rpartition(":")[2]: part[n] for n in part if n.rpartition(":")[0] == kind} for part in parts]
            merged |= {f"{kind}:{name}" if kind else name: values for name, values in merged_parts(some).items()}
        return merged
    every = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    pages = every["page"]
    newest = len(pages) - 1 - np.unique(pages[::-1], return_index=True)[1]  # ascending by page
    found = {name: values[newest] for name, values in every.items() if "." not in name}
    for matrix in (name.removesuffix("starts") for name in every if name.endswith(".starts")):
        sizes = np.concatenate([np.diff(part[f"{matrix}starts"]) for part in parts])
        places = rows_at((np.cumsum(sizes) - sizes)[newest], sizes[newest])
        values = [name for name in every if name.startswith(matrix) and name != f"{matrix}starts"]
        found |= {name: every[name][places] for name in values}
        found[f"{matrix}starts"] = np.append(0, np.cumsum(sizes[newest]))
    return found


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

    def some(self, numbers: Sequence[int]) -> list[str]:
        """The words of some numbers, which must be there."""
        bounds = zip(self.starts[numbers].tolist(), self.starts[1:][numbers].tolist(), strict=True)
        return [self.data[start:end].tobytes().decode("utf-8", "replace") for start, end in bounds]

    def find(self, word: str) -> int | None:
        """The number of a word."""
        at = bisect_left(self, word)
        return at if at < len(self) and self[at] == word else None

    def find_all(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The number of each word, -1 if it is unknown."""
        from cocite.kernels.words.vocabulary import find_words  # loads compiled loops, which `find` doesn't need

        texts, found = Vocabulary.of(words), np.empty(len(words), np.int64)
        find_words(self.starts, self.data, texts.starts, texts.data, found)
        return found

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
