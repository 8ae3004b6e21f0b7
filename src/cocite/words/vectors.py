"""The words of each page as a vector, for cosines in microseconds. `make_vectors` makes them.

The side data `vectors` has the matrix by page, and the same by word to find pages with words in common; the context
words of each page (`company`), its same-name pages (`namesakes`), and which pages are the first of a host.
"""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.errors import BadStore
from cocite.graph.side import Side, read_side
from cocite.graph.store import Graph
from cocite.kernels.words.word_vectors import SCALE, Sparse, cosines, pages_with, shared_terms
from cocite.words.vocabulary import Vocabulary, is_starts

NAME, TITLE = "vectors", "the word vectors"
VERSION = 9
"""Vectors of another version are made again."""
MAX_SAME_NAME = 3
"""Same-name pages kept for each page."""
MAX_CANDIDATES = 1 << 14
"""Pages with words in common with a page that are compared with it."""
MAX_SHARED_TERMS, MIN_SHARE = 32, 0.2
"""Shared words that are returned: those that count at least this share of the first one."""
TYPES = {
    "starts": "<i8", "ids": "<u4", "weights": "<u2", "said": "<u2", "word.starts": "<i8", "word.ids": "<u4",
    "word.weights": "<u2", "words.starts": "<i8", "words.data": "|u1", "home": "|u1",
    "company.starts": "<i8", "company.ids": "<u4", "company.weights": "<u2",
    "namesakes.starts": "<i8", "namesakes.ids": "<u4", "namesakes.weights": "<u2",
}  # fmt: skip


class SharedTerms(NamedTuple):
    """Words that two pages share: how many, and the numbers of those that count most."""

    number: int
    terms: list[int]


@dataclass(frozen=True)
class Vectors:
    """The word vectors of all pages of a store."""

    pages: Sparse  # the words of each page, ascending
    columns: Sparse  # the pages of each word, ascending
    text_words: NDArray[np.uint16]  # number of different words in the text of each page
    words: Vocabulary
    context: Sparse  # the context words of each page: those of the sections that list it
    same_name: Sparse  # pages that are linked under the same anchor text as each page
    home: NDArray[np.uint8]  # 1: the first page of a host

    def of(self, page: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The words of a page and their weights, heaviest first."""
        return heaviest_first(self.pages, page)

    def cosines(self, page: int, others: NDArray[np.uint32]) -> NDArray[np.float64]:
        """The cosines of the words of a page and of others."""
        return products(self.pages, page, others)

    def context_cosines(self, page: int, others: NDArray[np.uint32]) -> NDArray[np.float64]:
        """The cosines of the context words of a page and of others."""
        return products(self.context, page, others)

    def same_name_pages(self, page: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Pages of the same name, the most similar first, with the cosine of the names."""
        pages, weights = heaviest_first(self.same_name, page)
        known = np.flatnonzero(pages < len(self.text_words))[:MAX_SAME_NAME]  # a damaged file may name others
        return pages[known], weights[known]

    def near(self, page: int, maximum: int) -> NDArray[np.uint32]:
        """The pages most similar to a page, among those that share its heaviest words."""
        words, weights = self.of(page)
        pages, sums = np.empty(MAX_CANDIDATES, np.uint32), np.empty(MAX_CANDIDATES)
        count = pages_with(self.columns, words, weights, pages, sums)
        pages, sums = pages[:count], sums[:count]
        if count > 4 * maximum:
            highest = np.flatnonzero(sums >= np.partition(sums, count - maximum - 1)[count - maximum - 1])
            pages, sums = pages[highest], sums[highest]
        found: NDArray[np.uint32] = pages[np.lexsort((pages, -sums))][: maximum + 1]
        others: NDArray[np.uint32] = found[(found != page) & (found < len(self.text_words))]  # see above
        return others[:maximum]

    def shared_terms(self, page: int, others: NDArray[np.uint32]) -> list[SharedTerms]:
        """The words that a page shares with each of others."""
        return self._shared(self.pages, page, others)

    def shared_context(self, page: int, others: NDArray[np.uint32]) -> list[SharedTerms]:
        """The context words that a page shares with each of others."""
        return self._shared(self.context, page, others)

    def _shared(self, matrix: Sparse, page: int, others: NDArray[np.uint32]) -> list[SharedTerms]:
        counts, terms, weights = shared_terms(matrix, page, others, MAX_SHARED_TERMS)
        there = (weights >= MIN_SHARE * weights[:, :1]) & (terms >= 0) & (terms < len(self.words))
        return [
            SharedTerms(count, [term for term, strong in zip(some, chosen, strict=True) if strong])
            for count, some, chosen in zip(counts.tolist(), terms.tolist(), there.tolist(), strict=True)
        ]


def row_of(matrix: Sparse, row: int) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """A row of a matrix, ascending, with weights as they are stored."""
    part = slice(*matrix.starts[row : row + 2].tolist())
    return matrix.ids[part], matrix.weights[part]


def heaviest_first(matrix: Sparse, row: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """A row of a matrix, the heaviest first."""
    ids, weights = row_of(matrix, row)
    order = np.argsort(-weights.astype(np.int64), kind="stable")
    return ids[order], weights[order] / SCALE


def products(matrix: Sparse, page: int, others: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The products of a row with other rows."""
    words, weights = heaviest_first(matrix, page)
    found = np.zeros(len(others))
    if len(words):
        cosines(matrix, words, weights, others, found)
    return found


def open_vectors(graph: Graph) -> Vectors:
    """The word vectors of a store; raises BadStore if there are none of this store and version."""
    command = f"cocite search --make -i {quote(str(graph.path))}"
    side = read_side(graph, NAME, command)
    if side is None or side.about.get("version") != VERSION:
        raise BadStore(f"{graph.path} has no word vectors: make them with {command}")
    return read_vectors(graph, side, command)


def read_vectors(graph: Graph, side: Side, command: str) -> Vectors:
    """Read word vectors; raises BadStore if lengths don't match. Rows are checked where they are read."""
    found = {name: side.array(name) for name in TYPES}
    words = len(found["words.starts"]) - 1
    by_page = ("", "company.", "namesakes.")
    valid = (
        all(values.dtype == TYPES[name] for name, values in found.items())
        and all(len(found[f"{name}starts"]) == graph.pages + 1 for name in by_page)
        and all(len(found[f"{name}ids"]) == len(found[f"{name}weights"]) for name in (*by_page, "word."))
        and len(found["said"]) == len(found["home"]) == graph.pages
        and len(found["ids"]) == len(found["word.ids"])
        and len(found["word.starts"]) == words + 1
        and is_starts(found["words.starts"], words, len(found["words.data"]))
    )
    if not valid:
        raise BadStore(f"the word vectors of {graph.path} are damaged: make them again with {command}")
    own, by_word, context, same_name = (
        Sparse(*(found[f"{name}{part}"] for part in Sparse._fields)) for name in ("", "word.", "company.", "namesakes.")
    )
    vocabulary = Vocabulary(found["words.starts"], found["words.data"])
    return Vectors(own, by_word, found["said"], vocabulary, context, same_name, found["home"])
