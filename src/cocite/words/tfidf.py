"""How alike the texts of pages are: sparse tf-idf vectors and their cosines.

A page's text is its title, its headings, the texts of links to it and the first words of its own text. Word w has, in
page p of N, the weight

    (1 + ln tf(w, p)) · (ln((1 + N) / (1 + df(w))) + 1)

and each page's vector has length 1, or 0 if there is no word. The frequencies df are those of the given pages, or of
a whole store by its search index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.graph.store import Graph
from cocite.words.search import Search
from cocite.words.tokens import words_of

MOST_PARENTS = 100
"""Links to a page whose texts are read."""
LONGEST_LIST = 1 << 16
"""Links of a parent up to which its list is read."""
AT_LEAST, PER_WORD = 4096, 32
"""Characters of a text in which its first words are looked for: so many, and so many more for every word."""


class Vectors(NamedTuple):
    """Texts as vectors: row i belongs to the i-th page that was given, column j to word j."""

    matrix: csr_array
    words: list[str]


def vectors(graph: Graph, pages: Sequence[int], words: int = 1000, search: Search | None = None) -> Vectors:
    """The tf-idf vectors of pages, of the first `words` words of their texts; with `search`, df are the store's."""
    counts = [Counter(text_words(graph, page, words)) for page in pages]
    for page, texts in anchors_into(graph, pages).items():
        counts[page].update(word for text in texts for word in words_of(text))
    if search is None:
        frequency: Counter[str] = Counter(word for count in counts for word in count)
        return weighted(counts, len(counts), frequency.__getitem__)
    return weighted(counts, search.pages, search.pages_with)


def weighted(counts: Sequence[Counter[str]], total: int, frequency: Callable[[str], int]) -> Vectors:
    """Counts of words → vectors of length 1."""
    vocabulary = sorted({word for count in counts for word in count})
    place = {word: at for at, word in enumerate(vocabulary)}
    rarity = np.array([np.log((1 + total) / (1 + min(total, frequency(word)))) + 1 for word in vocabulary])
    starts = np.cumsum([0, *map(len, counts)])
    columns = np.fromiter((place[word] for count in counts for word in sorted(count)), np.int64, int(starts[-1]))
    times = np.fromiter((count[word] for count in counts for word in sorted(count)), np.float64, int(starts[-1]))
    values = (1 + np.log(times)) * rarity[columns]
    lengths = np.sqrt(np.bincount(rows_of(starts), values**2, len(counts)))
    values /= lengths[rows_of(starts)]
    return Vectors(csr_array((values, columns, starts), shape=(len(counts), len(vocabulary))), vocabulary)


def rows_of(starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row of every value of a sparse matrix."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def cosine(a: csr_array, b: csr_array) -> NDArray[np.float64]:
    """The cosine of every row of `a` with every row of `b`, vectors of the same words; 0 where one has no word."""
    products: NDArray[np.float64] = (a @ b.T).toarray()
    return np.minimum(1.0, products)


def text_words(graph: Graph, page: int, most: int) -> list[str]:
    """The words of a page's title and headings, and the first `most` of its text."""
    text = graph.text(page)[: AT_LEAST + PER_WORD * most]
    return [*words_of("\n".join([graph.title(page), *graph.headings(page)])), *words_of(text)[:most]]


def anchors_into(graph: Graph, pages: Sequence[int]) -> dict[int, list[str]]:
    """The texts of links into pages, by the place of the page among those given. Every parent's list is read once."""
    if not len(graph.array("anchors.pages")):
        return {}
    wanted: dict[int, list[int]] = {}  # parent → places of the pages of which it is a parent
    for place, page in enumerate(pages):
        for parent in parents_of(graph, page):
            wanted.setdefault(parent, []).append(place)
    found: dict[int, list[str]] = {place: [] for place in range(len(pages))}
    for parent in sorted(wanted):
        targets, texts = graph.links_from(parent).targets, graph.anchors(parent)
        for place in wanted[parent]:
            found[place] += (texts[at] for at in np.flatnonzero(targets == pages[place]).tolist() if texts[at])
    return found


def parents_of(graph: Graph, page: int) -> Iterable[int]:
    """At most MOST_PARENTS pages that link to a page: of many those that are cited most."""
    ready = graph.best_parents(page)
    parents = graph.links_to(page) if ready is None else ready
    chosen = parents[graph.out_degree[parents] <= LONGEST_LIST].astype(np.int64)
    order = np.argsort(-graph.in_degree[chosen].astype(np.int64), kind="stable")
    return [int(parent) for parent in chosen[order][:MOST_PARENTS]]
