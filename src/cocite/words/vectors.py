"""The words of each page as a vector, for cosines in microseconds. `make_vectors` makes them.

The side data `vectors` has the matrix by page, and the same by word to find pages with words in common; the context
words of each page (`context`), its same-name pages (`same_name`), and which pages are the first of a host. Where layers
changed pages, files beside it have their rows, one for each commit until they are merged: see `follow_vectors`. Weights
of words and the vocabulary stay as they are until the vectors are made anew.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import GONE
from cocite.graph.mapping import FilePart, joined
from cocite.graph.store import Graph
from cocite.kernels.words.word_vectors import NONE_RECENT, SCALE, Recent, Sparse, Words, cosines
from cocite.words.stored import (
    ROWS,
    Arrays,
    OpenedWords,
    Vocabulary,
    WordData,
    arrays_of,
    is_starts,
    merged_parts,
    write_part,
)

OF_PAGE = ("text_words", "home", "votes")  # arrays with a value for each page
SHORT_WORDS, SHORT_POWER = 30, 6
MIN_NEIGHBOUR_WEIGHT = 0.01  # neighbours that would count less are not read
MAX_SHORT_TEXT = ceil(SHORT_WORDS / MIN_NEIGHBOUR_WEIGHT ** (1 / SHORT_POWER)) - 1  # words of a text with neighbours
if TYPE_CHECKING:
    from cocite.words.changes import ChangedPages

NO_PAGES = np.zeros(0, np.uint32)
PART_SUFFIX = ".npz"  # of a file with the rows of changed pages
MAX_PARTS = 4  # such files; opening one takes 3 ms


Names = dict[int, float]  # of a page: how much it has of each, by digest


class StoredNames(NamedTuple):
    """The names of all pages, by page and by name: see `same_name`."""

    digest: NDArray[np.uint64]  # of each name, ascending
    ignored: NDArray[np.uint64]  # those of names that many pages have, without the lowest bit
    of_page: Sparse
    of_name: Sparse


class RecentNames:
    """The names of pages that layers changed."""

    def __init__(self, pages: NDArray[np.uint32], part: Arrays) -> None:
        """`pages` ascend; a part without names has none of them."""
        self._pages = pages if "named.starts" in part else pages[:0]
        self._part = part

    def has(self, page: int) -> bool:
        """Whether it is one of these pages."""
        at = int(np.searchsorted(self._pages, page))
        return at < len(self._pages) and int(self._pages[at]) == page

    def of(self, page: int) -> Names:
        """The names of one of these pages."""
        at = int(np.searchsorted(self._pages, page))
        row = slice(*self._part["named.starts"][at : at + 2].tolist())
        digests, weights = (self._part[f"named.{name}"][row] for name in ("digest", "weights"))
        return dict(zip(digests.tolist(), (weights / SCALE).tolist(), strict=True))

    def pages(self, name: int) -> list[int]:
        """Those of these pages that have a name."""
        names, pages = self._by_name
        low, high = (int(np.searchsorted(names, np.uint64(name), side)) for side in ("left", "right"))
        found: list[int] = pages[low:high].tolist()
        return found

    @cached_property
    def _by_name(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        if not len(self._pages):
            return np.zeros(0, np.uint64), NO_PAGES
        order = np.argsort(self._part["named.digest"])
        return self._part["named.digest"][order], np.repeat(self._pages, np.diff(self._part["named.starts"]))[order]


@dataclass(frozen=True)
class Vectors:
    """The word vectors of all pages of a store."""

    pages: Sparse  # the words of each page, ascending
    columns: Sparse  # the pages of each word, ascending
    text_words: NDArray[np.uint16]  # number of different words in the text of each page
    words: Vocabulary
    stop: NDArray[np.uint8]  # 1: a stop word
    context: Sparse  # the context words of each page: those of the sections that list it
    same_name: Sparse  # pages that are linked under the same anchor text as each page
    home: NDArray[np.uint8]  # 1: the first page of a host
    rarity: NDArray[np.float64]  # of each word, what it counts; 0 if only one page has it
    votes: NDArray[np.uint32]  # in-links of each page, without copies of lists and what chance explains
    names: StoredNames | None = None  # of all pages, from which same-name pages follow layers
    recent: "RecentRows | None" = None

    def of(self, page: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The words of a page and their weights, heaviest first."""
        return heaviest_first(self.pages, page)

    def cosines(self, page: int, others: NDArray[np.uint32], context: bool = False) -> NDArray[np.float64]:
        """The cosines of the words of a page and of others, or of context words; 0 if they share stop words alone."""
        found = np.empty(len(others))
        cosines(self.context if context else self.pages, page, self.stop, others, found)
        return found

    def terms(self, page: int) -> int:
        """How many words a page has, without stop words."""
        words = self.pages.ids[int(self.pages.starts[page]) : int(self.pages.ends[page])]
        return int(np.count_nonzero(np.take(self.stop, words, mode="clip") == 0))  # a damaged file may name others

    @cached_property
    def arrays(self) -> Words:
        """All of it, as kernels take it."""
        recent = NONE_RECENT if self.recent is None else self.recent.by_word
        rows = self.pages, self.columns, self.context, self.same_name
        return Words(*rows, recent, self.text_words, self.stop, self.home, MAX_SHORT_TEXT)


@dataclass(frozen=True)
class RecentRows:
    """The rows of pages that layers changed."""

    pages: NDArray[np.uint32]  # ascending
    rows: Sparse  # the words of each
    vocabulary: int
    changed: NDArray[np.bool_]  # of all pages, which these are
    gone: NDArray[np.bool_]  # and which of them are gone
    names: RecentNames

    @cached_property
    def by_word(self) -> Recent:
        """These pages by word."""
        sizes = self.rows.ends - self.rows.starts[: len(self.pages)]
        order = np.argsort(self.rows.ids, kind="stable")
        starts = np.searchsorted(self.rows.ids[order], np.arange(self.vocabulary + 1)).astype(np.int64)
        parts = (starts, np.repeat(self.pages, sizes)[order], self.rows.weights[order])
        for part in parts:
            part.flags.writeable = False
        return Recent(self.changed, self.gone, Sparse.of(*parts))


def neighbour_weight(text_words: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the pages that a page exchanges links with count, by the number of words in its text."""
    found: NDArray[np.float64] = np.minimum(1.0, (SHORT_WORDS / np.maximum(1, text_words)) ** SHORT_POWER)
    return found * (text_words > 0) * (found > MIN_NEIGHBOUR_WEIGHT)


def heaviest_first(matrix: Sparse, row: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """A row of a matrix, the heaviest first."""
    part = slice(int(matrix.starts[row]), int(matrix.ends[row]))
    ids, weights = matrix.ids[part], matrix.weights[part]
    order = np.argsort(-weights.astype(np.int64), kind="stable")
    return ids[order], weights[order] / SCALE


def read_vectors(stored: OpenedWords, of_fewer_pages: bool = False) -> Vectors:
    """Stored word vectors, perhaps of a state with fewer pages; lengths are checked here, rows where they are read."""
    words = stored.vocabulary()
    text_words, stop, home, rarity, votes = map(stored.array, ("text_words", "stop", "home", "rarity", "votes"))
    own, by_word, context, same_name = (stored.sparse(name) for name in ("", "word.", "context.", "same_name."))
    parts = sorted(name for name in stored.side.files if name.endswith(PART_SUFFIX))
    pages = len(text_words)
    stored.require(pages <= stored.graph.pages if parts or of_fewer_pages else pages == stored.graph.pages)
    stored.require(all(len(matrix.ends) == pages for matrix in (own, context, same_name)))
    stored.require(len(home) == len(votes) == pages)
    stored.require(all(len(matrix.ids) == len(matrix.weights) for matrix in (own, by_word, context, same_name)))
    stored.require(len(by_word.ends) == len(words) == len(stop) == len(rarity))
    stored.require(len(own.ids) == len(by_word.ids))
    names = None
    if "name.digest" in stored.side.arrays:  # those of older versions lack it
        digests = stored.array("name.digest"), stored.array("name.ignored")
        names = StoredNames(*digests, stored.sparse("name.of_page."), stored.sparse("name.of_name."))
        stored.require(len(names.of_page.ends) == pages and len(names.of_name.ends) == len(names.digest))
    vectors = Vectors(own, by_word, text_words, words, stop, context, same_name, home, rarity, votes, names)
    return with_parts(stored, vectors, [stored.part(name) for name in parts]) if parts else vectors


def with_parts(stored: OpenedWords, vectors: Vectors, parts: list[Arrays]) -> Vectors:
    """Vectors with the rows of changed pages in their places. Nothing is read of the others: files are mapped."""
    old, part = len(vectors.text_words), merged_parts(parts)
    new, pages = stored.graph.pages - old, part["page"]
    stored.require(not len(pages) or int(pages[-1]) < stored.graph.pages)
    renamed = part.get("same:page", NO_PAGES)  # parts of older versions lack it
    stored.require(not len(renamed) or int(renamed[-1]) < stored.graph.pages)
    for name, rows in (("own", pages), ("context", pages), *([("same:row", renamed)] if len(renamed) else [])):
        stored.require(is_starts(part[f"{name}.starts"], len(rows), len(part[f"{name}.ids"])))
        stored.require(len(part[f"{name}.ids"]) == len(part[f"{name}.weights"]))

    def grown(name: str, more: int) -> NDArray[Any]:
        values = stored.array(name)
        return joined(values.dtype, [FilePart(stored.side.folder / f"{name}.bin", 0, values)], more)[0]

    def with_rows(prefix: str, changed: str, pages: NDArray[np.uint32]) -> Sparse:
        starts, ends = grown(f"{prefix}starts", new), grown(f"{prefix}starts", new)[1:]
        starts[old:], ends[old:] = 0, 0
        added = [part[f"{changed}.{name}"] if len(pages) else NO_PAGES for name in ROWS[1:]]
        ids, weights = (grown(f"{prefix}{name}", len(more)) for name, more in zip(ROWS[1:], added, strict=True))
        if len(pages):
            place, own = len(ids) - len(added[0]), part[f"{changed}.starts"]
            starts[pages], ends[pages] = place + own[:-1], place + own[1:]
            ids[place:], weights[place:] = added
        for values in (starts, ends, ids, weights):
            values.flags.writeable = False
        return Sparse(starts[: old + new], ids, weights, ends)

    of_page: dict[str, Any] = {name: grown(name, new) for name in OF_PAGE}
    for name, values in of_page.items():
        values[pages] = part[name]
        values.flags.writeable = False
    changed, gone = np.zeros(old + new, np.bool_), np.zeros(old + new, np.bool_)
    changed[pages], gone[pages] = True, stored.graph.array("page.kind")[pages] & GONE > 0
    changed.flags.writeable = gone.flags.writeable = False
    own = Sparse.of(*(part[f"own.{name}"] for name in ROWS))
    recent = RecentRows(pages, own, len(vectors.words), changed, gone, RecentNames(pages, part))
    return replace(
        vectors,
        pages=with_rows("", "own", pages),
        context=with_rows("context.", "context", pages),
        same_name=with_rows("same_name.", "same:row", renamed),
        recent=recent,
        **of_page,
    )


def pack_vectors(graph: Graph, folder: Path, **options: Any) -> tuple[dict[str, Any], Arrays]:
    """New word vectors as they are stored."""
    from cocite.words.make_vectors import make_vectors  # loads far more

    made = make_vectors(graph, folder=folder, **options)
    arrays = {name: getattr(made, name) for name in (*OF_PAGE, "stop", "rarity")}
    arrays |= {name: getattr(made.pages, name) for name in ROWS}
    others = arrays_of(word=made.columns, context=made.context, same_name=made.same_name, words=made.words)
    assert made.names is not None
    arrays |= {"name.digest": made.names.digest, "name.ignored": made.names.ignored}
    names = {f"name.{part}": getattr(made.names, part) for part in ("of_page", "of_name")}
    return {}, arrays | others | arrays_of(**names)


def follow_vectors(stored: OpenedWords, folder: Path, changed: "ChangedPages") -> dict[str, Any]:
    """Add the rows of changed pages to a folder with older vectors."""
    from cocite.graph.build.merge_layers import layers_to_merge
    from cocite.words.follow_vectors import changed_rows  # loads far more

    made = changed_rows(stored.graph, read_vectors(stored, of_fewer_pages=True), changed)
    names = sorted(name for name in stored.side.files if name.endswith(PART_SUFFIX))
    number = int(names[-1].removesuffix(PART_SUFFIX)) + 1 if names else 1
    sizes = [stored.side.files[name][0] for name in names] + [sum(values.nbytes for values in made.values())]
    old = names[len(names) + 1 - max(1, layers_to_merge(sizes, MAX_PARTS)) :]
    for name in old:
        (folder / name).unlink()
    write_part(folder / f"{number:06}{PART_SUFFIX}", [*map(stored.part, old), made])
    return {}


VECTORS = WordData("vectors", "index of word vectors", "search", 15, pack_vectors, read_vectors, follow_vectors)
