"""Similarity of texts by tf-idf: cosines of some pages, and the pages of a store that share the strongest words.

The words of a page are those of its title and headings, of links to it, and the first words of its text. Word w has, in
page p of N, the weight

    (1 + ln tf(w, p)) · (ln((1 + N) / (1 + df(w))) + 1)

N and df are those of the whole store, df of the field of its search index where most pages have w. `text_vectors` gives
each page a vector of length 1. `more_like` searches for the strongest words of a page. It skips words that no two pages
have in one field, which would find no other page, and words of more than a tenth of all pages, which are stop words in
any language.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from math import log
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.graph.store import Graph
from cocite.words.search import SearchIndex
from cocite.words.tokens import language_of, stop_words, terms_of, words_of

MAX_PARENTS = 100  # pages whose anchor texts for a page are read
MAX_PARENT_LINKS = 1 << 16  # parents with more links are skipped
TEXT_CHARACTERS, WORD_CHARACTERS = 4096, 32  # read of a text for its first words: in all, and for each word
TEXT_WORDS = 1000

MAX_QUERY_WORDS = 25
MAX_COUNTED_WORDS = 400  # words of a page whose frequency in the store is looked up, the most frequent first
COMMON_SHARE, COMMON_MIN_PAGES = 0.1, 100  # words on more pages are stop words, unless the store has fewer pages


class TextVectors(NamedTuple):
    """Texts as vectors: row i is that of the i-th page, column j that of word j."""

    matrix: csr_array
    words: list[str]


class DocumentFrequencies(NamedTuple):
    """How many pages of a store have a word, and how many pages there are."""

    pages_with: Callable[[str], int]
    pages: int

    @classmethod
    def of(cls, graph: Graph, search: SearchIndex | None) -> Self:
        """Those of the search index, or for a graph in memory, which has none, those of all its pages."""
        if search is not None:
            return cls(search.pages_with, search.pages)
        counts = count_words(graph, range(graph.pages), TEXT_WORDS)
        return cls(Counter(word for each in counts for word in each).__getitem__, graph.pages)


def text_vectors(
    graph: Graph, pages: Sequence[int], frequencies: DocumentFrequencies, words: int = TEXT_WORDS
) -> TextVectors:
    """The tf-idf vectors of pages, from the first `words` words of their texts."""
    counts = count_words(graph, pages, words)
    vocabulary = sorted({word for count in counts for word in count})
    place = {word: at for at, word in enumerate(vocabulary)}
    having, total = map(frequencies.pages_with, vocabulary), frequencies.pages
    rarity = np.array([log((1 + total) / (1 + pages_with)) + 1 for pages_with in having])
    starts = np.cumsum([0, *map(len, counts)])
    columns = np.fromiter((place[word] for count in counts for word in sorted(count)), np.int64, int(starts[-1]))
    times = np.fromiter((count[word] for count in counts for word in sorted(count)), np.float64, int(starts[-1]))
    values = (1 + np.log(times)) * rarity[columns]
    rows = np.repeat(np.arange(len(counts)), np.diff(starts))
    values /= np.sqrt(np.bincount(rows, values**2, len(counts)))[rows]
    return TextVectors(csr_array((values, columns, starts), shape=(len(counts), len(vocabulary))), vocabulary)


def cosine(a: csr_array, b: csr_array) -> NDArray[np.float64]:
    """The cosine of every row of `a` with every row of `b`, vectors of the same words; 0 if one has no word."""
    products: NDArray[np.float64] = (a @ b.T).toarray()
    return np.minimum(1.0, products)


def more_like(graph: Graph, search: SearchIndex, page: int, k: int) -> list[tuple[int, float]]:
    """(page, score) of the k pages of a store whose words are most similar to a page's."""
    words = strongest_words(search, page_words(graph, page))
    return [(other, score) for other, score in search.like(words, k + 1) if other != page][:k]


def strongest_words(search: SearchIndex, counts: Counter[str]) -> dict[str, float]:
    """The words of highest weight, with their weights; ties by alphabet."""
    total = search.pages
    maximum = COMMON_SHARE * total if total >= COMMON_MIN_PAGES else total
    found: dict[str, float] = {}
    for word, times in counts.most_common(MAX_COUNTED_WORDS):
        frequency = search.pages_with(word)
        if 1 < frequency <= maximum:
            found[word] = round((1 + log(times)) * (log((1 + total) / (1 + frequency)) + 1), 6)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:MAX_QUERY_WORDS])


def shared_words(words: Collection[str], counts: Counter[str]) -> tuple[str, ...]:
    """The words that a page has, too, to be named in a reason: only those that can be keywords, if it has any."""
    shared = tuple(word for word in words if word in counts)
    ignored = stop_words(language_of(counts))
    return tuple(word for word in shared if word not in ignored and terms_of(word)) or shared


def page_words(graph: Graph, page: int) -> Counter[str]:
    """The counts of the words of a page and of links to it."""
    return count_words(graph, [page], TEXT_WORDS)[0]


def count_words(graph: Graph, pages: Sequence[int], words: int) -> list[Counter[str]]:
    """The counts of the words of pages and of links to them; every parent's list is read once."""
    counts = []
    parents: dict[int, list[int]] = {}  # parent → places of its children among the pages
    for place, page in enumerate(pages):
        named = words_of("\n".join([graph.title(page), *graph.headings(page)]))
        text = graph.text(page)[: TEXT_CHARACTERS + WORD_CHARACTERS * words]
        counts.append(Counter([*named, *words_of(text)[:words]]))
        for parent in parents_of(graph, page) if len(graph.array("anchors.pages")) else ():
            parents.setdefault(parent, []).append(place)
    for parent in sorted(parents):
        targets, texts = graph.links_from(parent).targets, graph.anchors(parent)
        for place in parents[parent]:
            for at in np.flatnonzero(targets == pages[place]).tolist():
                counts[place].update(words_of(texts[at]))
    return counts


def parents_of(graph: Graph, page: int) -> list[int]:
    """At most MAX_PARENTS pages that link to a page, those with the most in-links."""
    best = graph.best_parents(page)
    parents = graph.links_to(page) if best is None else best
    chosen = parents[graph.out_degree[parents] <= MAX_PARENT_LINKS].astype(np.int64)
    order = np.argsort(-graph.in_degree[chosen].astype(np.int64), kind="stable")
    return [int(parent) for parent in chosen[order][:MAX_PARENTS]]
