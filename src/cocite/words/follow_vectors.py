"""The word vectors and context words of pages that layers changed, by the weights of words that a store has.

They are made as `make_vectors` makes them, but for what waits until it runs again: how many pages have a word, words
that no page had, and the neighbours of pages with little text, which count with the neighbours that they have
themselves.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.errors import BadStore
from cocite.graph.names import addresses
from cocite.graph.store import Graph
from cocite.kernels.words.word_vectors import SCALE, Sparse
from cocite.words.changes import ChangedPages
from cocite.words.context_words import context_words_of, headings_of
from cocite.words.documents import cut_lines
from cocite.words.make_vectors import CACHED_TEXTS, MAX_WORDS, NAME_ONLY_LENGTH, WORD_TENTHS, count_words, is_home
from cocite.words.matrices import of_length_1, packed, pruned, rows_of, stacked
from cocite.words.same_name import AnchorNames, ChangedNames
from cocite.words.stored import ROWS, Arrays, arrays_of, rows_at
from cocite.words.tokens import terms_of
from cocite.words.vectors import Vectors, neighbour_weight

CACHED_PAGES = 64  # whose headings are cached: sections of a page follow each other


def changed_rows(graph: Graph, old: Vectors, changed: ChangedPages) -> Arrays:
    """The rows of changed pages, as they are stored: their words, context words and the like."""
    pages = changed.pages
    made = ChangedRows(graph, old, changed)
    rows = pruned(made.with_neighbours(), MAX_WORDS)
    rows.data *= np.where(made.described, 1, NAME_ONLY_LENGTH).astype(np.float32)[rows_of(rows)]
    lines = lru_cache(CACHED_PAGES)(lambda page: cut_lines(graph.texts.column("headings")[page]))
    headings = headings_of(lines, lambda words: old.words.find_all(words).tolist(), old.rarity, old.stop)
    found: Arrays = {"page": pages.astype(np.uint32), "text_words": made.text_words, "home": made.homes}
    same_name = stored_rows(old.same_name, pages, graph.pages)
    if old.names is not None:
        found |= ChangedNames(old.names, old.recent.names if old.recent else None, pages.tolist(), made.names).arrays()
        rows_now = np.searchsorted(found["same:page"], pages), Sparse.of(*(found[f"same:row.{part}"] for part in ROWS))
        same_name = stored_rows(rows_now[1], rows_now[0], graph.pages)
    context, found["votes"] = context_words_of(graph, pages, made.of_pages, same_name, headings, old.stop == 1)
    return found | arrays_of(own=packed(rows), context=packed(context))


class ChangedRows:
    """The words of changed pages; of others, those that are stored."""

    def __init__(self, graph: Graph, old: Vectors, changed: ChangedPages) -> None:
        self.graph, self.old, self.pages = graph, old, changed.pages
        self.text_words, self.described = np.zeros(len(self.pages), np.uint16), np.ones(len(self.pages), np.bool_)
        self.homes = np.array([is_home(next(addresses(graph.names, page, 1, True))) for page in self.pages], np.uint8)
        terms, counted = lru_cache(CACHED_TEXTS)(terms_of), [dict[str, int]() for _ in self.pages]
        self.names = AnchorNames()
        for page, own, links in changed.texts:
            self.names.add(page, links.anchors, graph.address(page) if links.anchors else "")
            row, words = int(np.searchsorted(self.pages, page)), count_words(own, links, terms)
            self.text_words[row], self.described[row], counted[row] = words.of_text, words.described, words.most
        number = {word: at for at, word in enumerate(dict.fromkeys(word for row in counted for word in row))}
        if not len(old.words):
            raise BadStore(f"The vectors of {graph.path} have no words")
        known = old.words.find_all(list(number))
        ids = known[np.array([number[word] for row in counted for word in row], np.int64)]
        times = np.array([count for row in counted for count in row.values()], np.float32)
        weights = (np.log1p(times / WORD_TENTHS) * np.where(ids < 0, 0, old.rarity[ids])).astype(np.float32)
        starts = np.cumsum([0, *map(len, counted)])
        self.rows = csr_array((weights, np.maximum(ids, 0), starts), shape=(len(self.pages), len(old.words)))
        self.rows.eliminate_zeros()
        self.rows.sort_indices()
        self.rows = of_length_1(self.rows)

    def of_pages(self, pages: NDArray[np.int64]) -> csr_array:
        """The words of any pages, each row of length 1."""
        found = of_length_1(stored_rows(self.old.pages, pages, len(self.old.words)))
        at = np.minimum(np.searchsorted(self.pages, pages), len(self.pages) - 1)
        new = self.pages[at] == pages
        both = stacked([found, self.rows])
        return both[np.where(new, len(pages) + at, np.arange(len(pages)))]

    def with_neighbours(self) -> csr_array:
        """The words of changed pages; those of short pages with words of the pages they exchange links with."""
        weight, rows, graph = neighbour_weight(self.text_words.astype(np.float64)), [], self.graph
        for at, page in enumerate(self.pages.tolist()):
            own = self.rows[[at]]
            if weight[at]:
                both = np.intersect1d(graph.links_from(page).targets, graph.links_to(page)).astype(np.int64)
                near = of_length_1(csr_array(self.of_pages(both).sum(axis=0).reshape(1, -1))) if len(both) else own[:0]
                if near.nnz:
                    near.data *= np.float32(weight[at])
                    own = of_length_1(csr_array(own + near))
            rows.append(own)
        return stacked(rows)


def stored_rows(matrix: Sparse, pages: NDArray[np.int64], columns: int) -> csr_array:
    """Some rows of a stored matrix; a page that it doesn't have is empty."""
    known = np.minimum(pages, len(matrix.ends) - 1)
    first = matrix.starts[known]
    sizes = np.where(pages < len(matrix.ends), matrix.ends[known] - first, 0)
    places = rows_at(first, sizes)
    starts = np.append(0, np.cumsum(sizes))
    weights = (matrix.weights[places] / SCALE).astype(np.float32)
    return csr_array((weights, matrix.ids[places].astype(np.int64), starts), shape=(len(pages), columns))
