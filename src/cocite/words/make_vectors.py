"""Word vectors, made. Their words are those that a page says itself (title, headings, text), and those of links into it
with what stands around them. Word w of page p, among N pages with words, weighs

    ln(1 + tf(w, p)) · √ln((1 + N) / (1 + df(w)))

and words of one page alone nothing; without the root, rare words would drown those that tell what kind of page it is.
The text of a link is mostly a name: its words count 0.3 each, and a page of which nothing else is known has a vector
of length ½, all others of length 1. Where a page has little text, n words, pages that it exchanges links with speak for
it: the mean of their vectors, made as long, is added with the weight (FEW / n)^FADING, at most 1. The MOST heaviest
words are kept. Nothing depends on the numbers of pages.
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
from cocite.words.company import company
from cocite.words.documents import texts_of_pages
from cocite.words.keywords import arranged
from cocite.words.links_in import Said
from cocite.words.names import Names
from cocite.words.sparse import kept, of_length_1, pruned, stacked
from cocite.words.terms import terms_of
from cocite.words.vectors import NAME, VERSION, WHAT, Vectors, open_vectors

STAGE = "reading words of pages"
MOST = 128
"""Words of a page that are kept."""
READ = 256
"""Words of a page that are counted: the most frequent."""
FEW, FADING = 30, 6
TENTHS, OF_LINKS = 10, 3
"""What a word counts, and what one in the text of a link does."""
NAMED_ONLY = 0.5
"""The length of the vector of a page of which only such words are known."""
LONGEST = 1 << 16
"""Characters of a page that are read."""
CACHED = 1 << 16
"""Texts of links whose words are remembered."""
MEMORY = 1 << 29
STEP = 1 << 14
LEAST_WEIGHT = 0.01
"""Neighbours that would count less are not looked at."""
NOTHING = np.zeros(0, np.uint32)


def ready_vectors(graph: Graph, progress: Progress = no_progress, memory: int = MEMORY) -> Vectors:
    """The word vectors of a store, made and kept if there are none that fit."""
    return ready_side(graph, NAME, WHAT, partial(open_vectors, graph), partial(keep_new, graph, progress, memory))


def keep_new(graph: Graph, progress: Progress, memory: int) -> Vectors:
    """Make word vectors and write them beside the store; returns them as they are kept."""

    def write(folder: Path, writer: Writer) -> None:
        made = make_vectors(graph, progress, memory, folder)
        for name, values in parts(made).items():
            writer.append(name, values)

    write_side(graph, NAME, {"version": VERSION}, write)
    return open_vectors(graph)


def parts(made: Vectors) -> dict[str, NDArray[Any]]:
    """The arrays of word vectors by the names under which they are kept."""
    return {
        "starts": made.pages.starts, "ids": made.pages.ids, "weights": made.pages.weights, "said": made.text_words,
        "word.starts": made.columns.starts, "word.ids": made.columns.ids, "word.weights": made.columns.weights,
        "words.starts": made.words.starts, "words.data": made.words.data, "home": made.home,
        "company.starts": made.context.starts, "company.ids": made.context.ids, "company.weights": made.context.weights,
        "namesakes.starts": made.same_name.starts, "namesakes.ids": made.same_name.ids,
        "namesakes.weights": made.same_name.weights,
    }  # fmt: skip


def make_vectors(
    graph: Graph, progress: Progress = no_progress, memory: int = MEMORY, folder: Path | None = None
) -> Vectors:
    """Make word vectors; nothing is kept. Files for passing use go to `folder`, or where the system has them."""
    numbers: dict[str, int] = {}
    ids, counts, sizes, said = array("I"), array("I"), np.zeros(graph.pages, np.int64), np.zeros(graph.pages, np.uint16)
    described, names = np.zeros(graph.pages, np.bool_), Names()
    terms = lru_cache(CACHED)(terms_of)
    with tempfile.TemporaryDirectory(prefix="cocite-", dir=folder) as passing:
        for page, own, of_links in texts_of_pages(graph, Path(passing), memory, progress, STAGE):
            words = Counter(terms_of(own["text"][:LONGEST]))
            said[page] = min(len(words), 0xFFFF)
            words.update(terms_of(f"{own['title']}\n{own['headings']}"[:LONGEST]))
            described[page] = count_said(words, of_links, terms)
            names.add(page, of_links.anchors)
            chosen = sorted(words.items(), key=lambda item: (-item[1], item[0]))[:READ]
            ids.extend([numbers.setdefault(word, len(numbers)) for word, _ in chosen])
            counts.extend([count for _, count in chosen])
            sizes[page] = len(chosen)
    found = arranged(list(numbers), sizes, np.array(ids, np.uint32), np.array(counts, np.uint32), READ)
    shape = graph.pages, len(found.words)
    rarity = np.sqrt(np.log((1 + np.count_nonzero(sizes)) / (1.0 + found.frequency)) * (found.frequency > 1))
    counted = csr_array((found.counts.astype(np.float32), found.ids, found.starts), shape=shape)
    matrix = weighted(counted, rarity)
    namesakes = names.namesakes(graph.pages)
    numbers = {word: number for number, word in enumerate(sorted(numbers))}  # as they are in `found`
    beside = company(graph, matrix, namesakes, numbers, rarity)
    rows = pruned(with_neighbours(graph, matrix, said), MOST)
    rows.data *= np.where(described, 1, NAMED_ONLY).astype(np.float32)[
        np.repeat(np.arange(graph.pages), np.diff(rows.indptr))
    ]
    turned = csr_array(rows.T.tocsr())
    return Vectors(kept(rows), kept(turned), said, found.words, kept(beside), kept(namesakes), homes(graph))


def count_said(words: Counter[str], said: Said, terms: Callable[[str], list[str]]) -> bool:
    """Add the words of links into a page and of what stands around them, all counted in tenths; returns whether there
    are words but those of links."""
    for text, times in said.contexts:
        for term in terms(text):
            words[term] += times
    for word in words:
        words[word] *= TENTHS
    described = bool(words)
    for text, times in said.anchors:
        for term in terms(text):
            words[term] += times * OF_LINKS
    return described


def weighted(counts: csr_array, rarity: NDArray[np.float64]) -> csr_array:
    """Counts of words, in tenths → vectors of length 1."""
    counts.data = (np.log1p(counts.data / TENTHS) * rarity[counts.indices]).astype(np.float32)
    counts.eliminate_zeros()
    return of_length_1(counts)


def with_neighbours(graph: Graph, matrix: csr_array, said: NDArray[np.uint16]) -> csr_array:
    """The vectors of pages that say little, with those of pages that they exchange links with."""
    blocks = []
    for first in range(0, graph.pages, STEP):
        last = min(graph.pages, first + STEP)
        own = matrix[first:last]
        few = np.minimum(1.0, (FEW / np.maximum(1, said[first:last].astype(np.float64))) ** FADING) * (
            said[first:last] > 0
        )
        links = mutual(graph, first, last) if few.max(initial=0) > LEAST_WEIGHT else None
        if links is not None and links.nnz:
            near = of_length_1(csr_array(links @ matrix))
            near.data *= few.astype(np.float32)[np.repeat(np.arange(last - first), np.diff(near.indptr))]
            own = of_length_1(csr_array(own + near))
        blocks.append(own)
    return stacked(blocks)


def mutual(graph: Graph, first: int, last: int) -> csr_array:
    """Which pages those from `first` to `last` link to that link back."""
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
    """1 for each page that is the first of its host, and 0 for others; opaque names have no host."""
    return np.fromiter(
        (
            not address.startswith("name:") and "/" not in address.partition("://")[2].rstrip("/")
            for first in range(0, graph.pages, STEP)
            for address in addresses(graph, first, min(STEP, graph.pages - first), marked=True)
        ),
        np.uint8,
        graph.pages,
    )
