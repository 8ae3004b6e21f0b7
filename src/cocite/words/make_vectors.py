"""Make word vectors. The words of a page are its own (title, headings, text), and those of links to it and around them.
Word w of page p, among N pages with words, has the weight

    ln(1 + tf(w, p)) · √ln((1 + N) / (1 + df(w)))

and 0 if only one page has it. Without the root, rare words would drown those that say what kind of page it is. An
anchor text is mostly a name: its words count 0.3 each, and a page with no other words has a vector of length ½, all
others of length 1. To a page with little text, n words, the mean vector of the pages it exchanges links with is added,
with the weight (SHORT_WORDS / n)^SHORT_POWER, at most 1. The MAX_WORDS heaviest words are kept. Nothing depends on the
numbers of pages.
"""

from __future__ import annotations

import tempfile
from array import array
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.graph.all_addresses import addresses
from cocite.graph.generation import Progress, Writer, no_progress
from cocite.graph.side import ready_side, write_side
from cocite.graph.store import Graph
from cocite.kernels.codec.lists import read_many
from cocite.kernels.words.word_vectors import SCALE, Sparse
from cocite.words.context import Names, chunks_of, context_words, of_length_1, pruned, rows_of, stacked
from cocite.words.documents import LinkTexts, texts_of_pages
from cocite.words.keywords import arranged
from cocite.words.tokens import terms_of
from cocite.words.vectors import NAME, TITLE, VERSION, Vectors, open_vectors

STAGE = "reading words of pages"
MAX_WORDS = 128
COUNTED_WORDS = 256
"""Words of a page that are weighted: the most frequent."""
SHORT_WORDS, SHORT_POWER = 30, 6
TENTHS, ANCHOR_TENTHS = 10, 3
"""Counts are kept in tenths: a word counts ten, one of an anchor text three."""
NAME_ONLY_LENGTH = 0.5
"""The length of the vector of a page that is known by anchor texts alone."""
MAX_CHARACTERS = 1 << 16
CACHED_TEXTS = 1 << 16
MEMORY_BYTES = 1 << 29
CHUNK_PAGES = 1 << 14
MIN_WEIGHT = 0.01
"""Neighbours that would count less are not read."""
NOTHING = np.zeros(0, np.uint32)


def ready_vectors(graph: Graph, progress: Progress = no_progress, memory: int = MEMORY_BYTES) -> Vectors:
    """The word vectors of a store, made and stored if there are none yet."""
    return ready_side(graph, NAME, TITLE, partial(open_vectors, graph), partial(store_new, graph, progress, memory))


def store_new(graph: Graph, progress: Progress, memory: int) -> Vectors:
    """Make word vectors and write them beside the store; return them as they are stored."""

    def write(folder: Path, writer: Writer) -> None:
        made = make_vectors(graph, progress, memory, folder)
        matrices = {"": made.pages, "word.": made.columns, "company.": made.context, "namesakes.": made.same_name}
        arrays: dict[str, NDArray[Any]] = {"said": made.text_words, "home": made.home}
        arrays |= {f"{name}{part}": a for name, matrix in matrices.items() for part, a in matrix._asdict().items()}
        for name, values in (arrays | {"words.starts": made.words.starts, "words.data": made.words.data}).items():
            writer.append(name, values)

    write_side(graph, NAME, {"version": VERSION}, write)
    return open_vectors(graph)


def make_vectors(
    graph: Graph, progress: Progress = no_progress, memory: int = MEMORY_BYTES, folder: Path | None = None
) -> Vectors:
    """Make word vectors without storing them. Temporary files go to `folder`, or to the system's place for them."""
    numbers: dict[str, int] = {}
    ids, counts, sizes = array("I"), array("I"), np.zeros(graph.pages, np.int64)
    text_words, described, names = np.zeros(graph.pages, np.uint16), np.zeros(graph.pages, np.bool_), Names()
    terms = lru_cache(CACHED_TEXTS)(terms_of)
    with tempfile.TemporaryDirectory(prefix="cocite-", dir=folder) as temporary:
        for page, own, links in texts_of_pages(graph, Path(temporary), memory, progress, STAGE):
            words = Counter(terms_of(own["text"][:MAX_CHARACTERS]))
            text_words[page] = min(len(words), 0xFFFF)
            words.update(terms_of(f"{own['title']}\n{own['headings']}"[:MAX_CHARACTERS]))
            described[page] = add_link_words(words, links, terms)
            names.add(page, links.anchors)
            chosen = sorted(words.items(), key=lambda item: (-item[1], item[0]))[:COUNTED_WORDS]
            ids.extend([numbers.setdefault(word, len(numbers)) for word, _ in chosen])
            counts.extend([count for _, count in chosen])
            sizes[page] = len(chosen)
    found = arranged(list(numbers), sizes, np.array(ids, np.uint32), np.array(counts, np.uint32), COUNTED_WORDS)
    shape = graph.pages, len(found.words)
    rarity = np.sqrt(np.log((1 + np.count_nonzero(sizes)) / (1.0 + found.frequency)) * (found.frequency > 1))
    matrix = weighted(csr_array((found.counts.astype(np.float32), found.ids, found.starts), shape=shape), rarity)
    same_name = names.same_name(graph.pages)
    numbers = {word: number for number, word in enumerate(sorted(numbers))}  # the order of `found`
    context = context_words(graph, matrix, same_name, numbers, rarity)
    rows = pruned(with_neighbours(graph, matrix, text_words), MAX_WORDS)
    rows.data *= np.where(described, 1, NAME_ONLY_LENGTH).astype(np.float32)[rows_of(rows)]
    by_word = csr_array(rows.T.tocsr())
    return Vectors(
        packed(rows), packed(by_word), text_words, found.words, packed(context), packed(same_name), homes(graph)
    )


def packed(matrix: csr_array) -> Sparse:
    """A matrix as it is stored."""
    matrix.sort_indices()
    weights = np.rint(np.minimum(matrix.data, 1.0) * SCALE).astype(np.uint16)
    return Sparse(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), weights)


def add_link_words(words: Counter[str], links: LinkTexts, terms: Callable[[str], list[str]]) -> bool:
    """Add the words of links to a page, counting in tenths; return whether the page has words other than anchors."""
    for text, count in links.contexts:
        for term in terms(text):
            words[term] += count
    for word in words:
        words[word] *= TENTHS
    described = bool(words)
    for text, count in links.anchors:
        for term in terms(text):
            words[term] += count * ANCHOR_TENTHS
    return described


def weighted(counts: csr_array, rarity: NDArray[np.float64]) -> csr_array:
    """Turn counts of words in tenths into vectors of length 1."""
    counts.data = (np.log1p(counts.data / TENTHS) * rarity[counts.indices]).astype(np.float32)
    counts.eliminate_zeros()
    return of_length_1(counts)


def with_neighbours(graph: Graph, matrix: csr_array, text_words: NDArray[np.uint16]) -> csr_array:
    """Add to the vectors of pages with little text those of the pages they exchange links with."""
    blocks = []
    for chunk in chunks_of(graph.pages, CHUNK_PAGES):
        own, sizes = matrix[chunk], text_words[chunk].astype(np.float64)
        weight = np.minimum(1.0, (SHORT_WORDS / np.maximum(1, sizes)) ** SHORT_POWER) * (sizes > 0)
        links = mutual_links(graph, chunk.start, chunk.stop) if weight.max(initial=0) > MIN_WEIGHT else None
        if links is not None and links.nnz:
            near = of_length_1(csr_array(links @ matrix))
            near.data *= weight.astype(np.float32)[rows_of(near)]
            own = of_length_1(csr_array(own + near))
        blocks.append(own)
    return stacked(blocks)


def mutual_links(graph: Graph, first: int, last: int) -> csr_array:
    """The pages that those from `first` to `last` link to and that link back."""
    pairs = []
    for lists in (graph.out, graph.into):
        total = int(lists.degree[first:last].sum(dtype=np.int64))
        if total > graph.links:
            raise graph.damaged()
        targets, starts = np.empty(total, np.uint32), np.zeros(last - first + 1, np.int64)
        if read_many(lists, first, last - first, targets, NOTHING, starts) != last - first:
            raise graph.damaged()
        rows = np.repeat(np.arange(last - first, dtype=np.uint64), np.diff(starts))
        pairs.append(rows << np.uint64(32) | targets)
    both = np.intersect1d(pairs[0], pairs[1])
    columns = (both & np.uint64(0xFFFFFFFF)).astype(np.int64)
    if int(columns.max(initial=0)) >= graph.pages:
        raise graph.damaged()
    place = (np.ones(len(both), np.float32), ((both >> np.uint64(32)).astype(np.int64), columns))
    return csr_array(place, shape=(last - first, graph.pages))


def homes(graph: Graph) -> NDArray[np.uint8]:
    """1 for the first page of a host, 0 for others; opaque names have no host."""
    return np.fromiter(
        (
            not address.startswith("name:") and "/" not in address.partition("://")[2].rstrip("/")
            for chunk in chunks_of(graph.pages, CHUNK_PAGES)
            for address in addresses(graph, chunk.start, chunk.stop - chunk.start, marked=True)
        ),
        np.uint8,
        graph.pages,
    )
