"""The words of each page as a vector, for cosines in microseconds. `make_vectors` makes them.

The side data `vectors` has the matrix by page, and the same by word to find pages with words in common; the context
words of each page (`context`), its same-name pages (`same_name`), and which pages are the first of a host.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.kernels.words.word_vectors import SCALE, Sparse, cosines, pages_with, shared_terms
from cocite.words.stored import Arrays, OpenedWords, Vocabulary, WordData, arrays_of

MAX_SAME_NAME = 3  # same-name pages kept for each page
MAX_CANDIDATES = 1 << 14  # pages with words in common with a page that are compared with it
MAX_SHARED_TERMS, MIN_SHARE = 32, 0.2  # shared words that are returned: those that count this share of the first one


class SharedTerms(NamedTuple):
    """Words that two pages share, without stop words: how many, and the numbers of those that count most."""

    number: int
    terms: list[int]


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
    votes: NDArray[np.uint32]  # in-links of each page, without copies of lists and what chance explains

    def of(self, page: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The words of a page and their weights, heaviest first."""
        return heaviest_first(self.pages, page)

    def cosines(self, page: int, others: NDArray[np.uint32], context: bool = False) -> NDArray[np.float64]:
        """The cosines of the words of a page and of others, or of context words; 0 if they share stop words alone."""
        matrix, found = self.context if context else self.pages, np.zeros(len(others))
        words, weights = heaviest_first(matrix, page)
        if len(words):
            cosines(matrix, words, weights, self._are_content(words), others, found)
        return found

    def terms(self, page: int) -> int:
        """How many words a page has, without stop words."""
        return int(np.count_nonzero(self._are_content(self.of(page)[0])))

    def _are_content(self, words: NDArray[np.uint32]) -> NDArray[np.bool_]:
        return np.asarray(np.take(self.stop, words, mode="clip") == 0)  # a damaged file may name other words

    def same_name_pages(self, page: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Pages of the same name, the most similar first, with the cosine of the names."""
        pages, weights = heaviest_first(self.same_name, page)
        known = np.flatnonzero(pages < len(self.text_words))[:MAX_SAME_NAME]  # a damaged file may name others
        return pages[known], weights[known]

    def most_similar(self, page: int, maximum: int) -> NDArray[np.uint32]:
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

    def shared_terms(self, page: int, others: NDArray[np.uint32], context: bool = False) -> list[SharedTerms]:
        """The words, or context words, that a page shares with each of others."""
        matrix = self.context if context else self.pages
        counts, terms, weights = shared_terms(matrix, page, others, MAX_SHARED_TERMS, self.stop)
        strong = (weights >= MIN_SHARE * weights[:, :1]) & (terms >= 0)
        return [SharedTerms(int(count), terms[i, strong[i]].tolist()) for i, count in enumerate(counts)]


def heaviest_first(matrix: Sparse, row: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """A row of a matrix, the heaviest first."""
    part = slice(*matrix.starts[row : row + 2].tolist())
    ids, weights = matrix.ids[part], matrix.weights[part]
    order = np.argsort(-weights.astype(np.int64), kind="stable")
    return ids[order], weights[order] / SCALE


def read_vectors(stored: OpenedWords) -> Vectors:
    """Stored word vectors; only lengths are checked here, rows where they are read."""
    words = stored.vocabulary()
    text_words, stop, home, votes = map(stored.array, ("text_words", "stop", "home", "votes"))
    own, by_word, context, same_name = (stored.matrix(Sparse, name) for name in ("", "word.", "context.", "same_name."))
    pages = stored.graph.pages
    stored.require(all(len(matrix.starts) == pages + 1 for matrix in (own, context, same_name)))
    stored.require(all(len(matrix.ids) == len(matrix.weights) for matrix in (own, by_word, context, same_name)))
    stored.require(
        len(text_words) == len(home) == len(votes) == pages and len(by_word.starts) == len(words) + 1 == len(stop) + 1
    )
    stored.require(len(own.ids) == len(by_word.ids))
    return Vectors(own, by_word, text_words, words, stop, context, same_name, home, votes)


def pack_vectors(graph: Graph, folder: Path, **options: Any) -> tuple[dict[str, Any], Arrays]:
    """New word vectors as they are stored."""
    from cocite.words.make_vectors import make_vectors  # loads far more

    made = make_vectors(graph, folder=folder, **options)
    arrays = made.pages._asdict() | {name: getattr(made, name) for name in ("text_words", "stop", "home", "votes")}
    others = arrays_of(word=made.columns, context=made.context, same_name=made.same_name, words=made.words)
    return {}, arrays | others


VECTORS = WordData("vectors", "index of word vectors", "search", 13, pack_vectors, read_vectors)
open_vectors, ready_vectors = VECTORS.open, VECTORS.ready
