"""The words of each page as a vector of length 1, for cosines in microseconds; `make_vectors` makes them.

They are side data `vectors`: the matrix by pages, and the same by words, for finding pages that have words in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.side import Side, read_side
from cocite.graph.store import Graph
from cocite.kernels.vicinity import EMPTY
from cocite.kernels.word_vectors import SCALE, Sparse, cosines, pages_with
from cocite.words.vocabulary import Vocabulary, is_starts

NAME, WHAT = "vectors", "the word vectors"
VERSION = 4
"""Of what is in a vector; others are made again."""
LOOKED = 1 << 14
"""Pages that are looked at for words in common with a page."""
TELLING = 0.2
"""Words that make two pages alike by less than this part of what the first does are not named."""
TYPES = {
    "starts": "<i8", "ids": "<u4", "weights": "<u2", "said": "<u2", "word.starts": "<i8", "word.ids": "<u4",
    "word.weights": "<u2", "words.starts": "<i8", "words.data": "|u1",
}  # fmt: skip


@dataclass(frozen=True)
class Vectors:
    """The word vectors of all pages of a store."""

    pages: Sparse  # of each page its words, ascending
    columns: Sparse  # of each word its pages, ascending
    said: NDArray[np.uint16]  # how many different words the text of each page has
    words: Vocabulary

    def of(self, page: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The words of a page, heaviest first, and their weights."""
        ids, weights = self._row(page)
        order = np.argsort(-weights.astype(np.int64), kind="stable")
        return ids[order], weights[order] / SCALE

    def _row(self, page: int) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
        """The words of a page, ascending, and their weights as they are kept."""
        row = slice(*self.pages.starts[page : page + 2].tolist())
        return self.pages.ids[row], self.pages.weights[row]

    def cosines(self, page: int, others: NDArray[np.uint32]) -> NDArray[np.float64]:
        """How alike a page is to others."""
        words, weights = self.of(page)
        found = np.zeros(len(others))
        if len(words):
            size = 1 << (2 * len(words)).bit_length()
            cosines(self.pages, words, weights, np.empty(size, np.uint32), np.empty(size, np.int32), others, found)
        return found

    def near(self, page: int, most: int) -> NDArray[np.uint32]:
        """At most so many pages that are most like a page, of those that have its heaviest words in common with it."""
        words, weights = self.of(page)
        size = 1 << (2 * LOOKED).bit_length()
        pages, sums = np.empty(LOOKED, np.uint32), np.empty(LOOKED)
        table, local = np.full(size, EMPTY, np.uint32), np.empty(size, np.int32)
        count = pages_with(self.columns, words, weights, LOOKED, table, local, pages, sums)
        pages, sums = pages[:count], sums[:count]
        best = np.lexsort((pages, -sums)) if count <= 4 * most else closest(pages, sums, most + 1)
        found: NDArray[np.uint32] = pages[best]
        others: NDArray[np.uint32] = found[(found != page) & (found < len(self.said))]  # whatever a file says
        return others[:most]

    def common(self, page: int, other: int, most: int) -> list[str]:
        """Words that two pages have in common and that make them alike, most first; not those that hardly do."""
        (own, weights), (theirs, others) = (self._row(each) for each in (page, other))
        if not len(theirs):
            return []
        at = np.minimum(np.searchsorted(theirs, own), len(theirs) - 1)
        both = np.flatnonzero(theirs[at] == own)
        worths = (weights[both] / SCALE) * (others[at[both]] / SCALE)
        shared = sorted(zip((-worths).tolist(), own[both].tolist(), strict=True))
        told = [word for worth, word in shared[:most] if worth <= TELLING * shared[0][0]]
        return [self.words[word] for word in told if word < len(self.words)]


def closest(pages: NDArray[np.uint32], sums: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Where the highest sums are, `most` of them, highest first; of equals the page that comes first."""
    least = np.partition(sums, len(sums) - most)[len(sums) - most]
    best = np.flatnonzero(sums >= least)
    return best[np.lexsort((pages[best], -sums[best]))][:most]


def open_vectors(graph: Graph) -> Vectors:
    """The word vectors of a store; raises BadStore if there are none that fit."""
    again = f"cocite search --make -i {quote(str(graph.path))}"
    side = read_side(graph, NAME, again)
    if side is None or side.about.get("version") != VERSION:
        raise BadStore(f"{graph.path} has no word vectors: make them with {again}")
    return read_vectors(graph, side, again)


def read_vectors(graph: Graph, side: Side, again: str) -> Vectors:
    """Word vectors out of side data; refuses what contradicts itself. Rows are checked where they are read."""
    found = {name: side.array(name) for name in TYPES}
    words = len(found["words.starts"]) - 1
    whole = (
        all(values.dtype == TYPES[name] for name, values in found.items())
        and len(found["starts"]) == graph.pages + 1
        and len(found["said"]) == graph.pages
        and len(found["ids"]) == len(found["weights"]) == len(found["word.ids"]) == len(found["word.weights"])
        and len(found["word.starts"]) == words + 1
        and is_starts(found["words.starts"], words, len(found["words.data"]))
    )
    if not whole:
        raise BadStore(f"the word vectors of {graph.path} are damaged: make them again with {again}")
    return Vectors(
        Sparse(found["starts"], found["ids"], found["weights"]),
        Sparse(found["word.starts"], found["word.ids"], found["word.weights"]),
        found["said"],
        Vocabulary(found["words.starts"], found["words.data"]),
    )
