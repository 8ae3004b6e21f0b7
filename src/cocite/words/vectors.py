"""The words of each page as a vector, for cosines in microseconds; `make_vectors` makes them.

They are side data `vectors`: the matrix by pages, and the same by words, for finding pages that have words in common;
the context words of each page (`company`), its same-name pages (`namesakes`), and which pages are the first of a host.
"""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.side import Side, read_side
from cocite.graph.store import Graph
from cocite.kernels.related.vicinity import EMPTY
from cocite.kernels.words.word_vectors import SCALE, Sparse, cosines, pages_with
from cocite.words.vocabulary import Vocabulary, is_starts

NAME, WHAT = "vectors", "the word vectors"
VERSION = 9
"""Of what is in a vector; others are made again."""
MAX_SAME_NAME = 3
"""Pages of the same name that are kept of a page."""
LOOKED = 1 << 14
"""Pages that are looked at for words in common with a page."""
TELLING = 0.2
"""Words that make two pages alike by less than this part of what the first does are not named."""
TYPES = {
    "starts": "<i8", "ids": "<u4", "weights": "<u2", "said": "<u2", "word.starts": "<i8", "word.ids": "<u4",
    "word.weights": "<u2", "words.starts": "<i8", "words.data": "|u1", "home": "|u1",
    "company.starts": "<i8", "company.ids": "<u4", "company.weights": "<u2",
    "namesakes.starts": "<i8", "namesakes.ids": "<u4", "namesakes.weights": "<u2",
}  # fmt: skip


@dataclass(frozen=True)
class Vectors:
    """The word vectors of all pages of a store."""

    pages: Sparse  # of each page its words, ascending
    columns: Sparse  # of each word its pages, ascending
    text_words: NDArray[np.uint16]  # number of different words in the text of each page
    words: Vocabulary
    context: Sparse  # of each page its context words: those of the sections that list it
    same_name: Sparse  # of each page others that are linked under the same anchor text
    home: NDArray[np.uint8]  # 1: the first page of a host

    def of(self, page: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The words of a page, heaviest first, and their weights."""
        return heaviest_first(self.pages, page)

    def cosines(self, page: int, others: NDArray[np.uint32]) -> NDArray[np.float64]:
        """How alike a page is to others."""
        return alike(self.pages, page, others)

    def context_cosines(self, page: int, others: NDArray[np.uint32]) -> NDArray[np.float64]:
        """The cosines of the context words of a page and of others."""
        return alike(self.context, page, others)

    def same_name_pages(self, page: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Pages that links call by the same name, the most similar first, with the cosine of the names."""
        pages, weights = heaviest_first(self.same_name, page)
        there = np.flatnonzero(pages < len(self.text_words))[:MAX_SAME_NAME]  # whatever a file says
        return pages[there], weights[there]

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
        others: NDArray[np.uint32] = found[(found != page) & (found < len(self.text_words))]  # whatever a file says
        return others[:most]

    def common(self, page: int, other: int, most: int) -> list[str]:
        """Words that two pages have in common and that make them alike, most first; not those that hardly do."""
        return self._named(in_common(self.pages, page, other), most)

    def common_context(self, page: int, other: int, most: int) -> list[str]:
        """The same for their context words."""
        return self._named(in_common(self.context, page, other), most)

    def _named(self, shared: list[tuple[float, int]], most: int) -> list[str]:
        shared = sorted(shared)[:most]
        told = [word for worth, word in shared if worth <= TELLING * shared[0][0]]
        return [self.words[word] for word in told if word < len(self.words)]


def heaviest_first(matrix: Sparse, row: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """A row of a matrix, the heaviest first."""
    ids, weights = row_of(matrix, row)
    order = np.argsort(-weights.astype(np.int64), kind="stable")
    return ids[order], weights[order] / SCALE


def row_of(matrix: Sparse, row: int) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """A row of a matrix, ascending, with weights as they are kept."""
    part = slice(*matrix.starts[row : row + 2].tolist())
    return matrix.ids[part], matrix.weights[part]


def alike(matrix: Sparse, page: int, others: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The products of a row with other rows."""
    words, weights = heaviest_first(matrix, page)
    found = np.zeros(len(others))
    if len(words):
        size = 1 << (2 * len(words)).bit_length()
        cosines(matrix, words, weights, np.empty(size, np.uint32), np.empty(size, np.int32), others, found)
    return found


def in_common(matrix: Sparse, page: int, other: int) -> list[tuple[float, int]]:
    """(less than 0 by what it adds to the product, word) of each word that two rows have."""
    (own, weights), (theirs, others) = (row_of(matrix, each) for each in (page, other))
    if not len(theirs):
        return []
    at = np.minimum(np.searchsorted(theirs, own), len(theirs) - 1)
    both = np.flatnonzero(theirs[at] == own)
    worths = (weights[both] / SCALE) * (others[at[both]] / SCALE)
    return list(zip((-worths).tolist(), own[both].tolist(), strict=True))


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
        and all(len(found[f"{name}.starts"]) == graph.pages + 1 for name in ("company", "namesakes"))
        and all(len(found[f"{name}.ids"]) == len(found[f"{name}.weights"]) for name in ("company", "namesakes"))
        and len(found["said"]) == len(found["home"]) == graph.pages
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
        Sparse(found["company.starts"], found["company.ids"], found["company.weights"]),
        Sparse(found["namesakes.starts"], found["namesakes.ids"], found["namesakes.weights"]),
        found["home"],
    )
