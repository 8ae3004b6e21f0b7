"""What lists tell about a page: its context words, and pages of the same name.

**Context words** are those of the sections that list a page. A section of n ≥ 2 links is the sum of its pages' word
vectors (MEMBER_WORDS words each), of length 1, plus the words of its heading by rarity, of length HEADING. The
MAX_WORDS heaviest words are kept. A page is the sum of its sections, each by 1 / ln(2 + n), and of those of its
same-name pages by SAME_NAME times the cosine of the names. So pages in lists about the same things are similar, even if
no list has both. Stores with more than MAX_LINKS links in sections have no context words: reading only some lists would
favour the pages in them.

**Same-name pages** are linked under the same anchor text, as a project's site and its repository are. A page's name is
the letters and digits of its anchor texts, by number of links; pages are compared by the cosine of their names. A name
that more than MAX_NAME_PAGES pages have ("Documentation") is ignored. A list that has one of them would have the other.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.graph.store import Graph
from cocite.kernels.codec.attributes import BLOCK_BITS, BLOCK_MASK
from cocite.words.documents import PageReader, lines_of
from cocite.words.tokens import terms_of
from cocite.words.vectors import MAX_SAME_NAME

MEMBER_WORDS, MAX_WORDS = 32, 24
HEADING = 0.8
SAME_NAME = 0.5
MAX_LINKS = 1 << 24
"""With ten links a section these take 0.5 GB; with two, the least possible, 2 GB."""
CHUNK_PAGES = 1 << 12
LIST_PAGES = 1 << 8
"""Pages whose lists are read at a time."""
CACHED_TEXTS = 1 << 16

MAX_NAME_PAGES = 16
MIN_COSINE = 0.2
NAME_CHARACTERS = range(3, 61)
NAME_CHUNK_PAGES = 1 << 14
GENERIC = frozenset({
    "about", "article", "blog", "clickhere", "code", "demo", "details", "docs", "documentation", "download",
    "example", "examples", "github", "here", "home", "homepage", "learnmore", "link", "more", "official", "paper",
    "pdf", "project", "read", "readme", "readmore", "repo", "repository", "site", "source", "sourcecode", "video",
    "web", "website",
})  # fmt: skip
"""Anchor texts of any page; small stores have too few of each to notice."""
_PATH = re.compile(r"[\w.-]+/([\w.-]+)")


def context_words(
    graph: Graph, vectors: csr_array, same_name: csr_array, words: Mapping[str, int], rarity: NDArray[np.float64]
) -> csr_array:
    """The context words of each page. `vectors` are its own words, `rarity` the weight of each word."""
    chunks = chunks_of(graph.pages, CHUNK_PAGES)
    members = stacked([pruned(vectors[chunk], MEMBER_WORDS) for chunk in chunks])
    listed, sections = read_sections(graph, members, Headings(graph, words, rarity))
    if not sections.shape[0]:
        return csr_array(vectors.shape, dtype=np.float32)
    found = []
    for chunk in chunks:
        own = csr_array(listed[chunk] + SAME_NAME * (same_name[chunk] @ listed))
        found.append(pruned(of_length_1(csr_array(own @ sections)), MAX_WORDS))
    return stacked(found)


class Headings:
    """The headings of sections as vectors."""

    def __init__(self, graph: Graph, words: Mapping[str, int], rarity: NDArray[np.float64]) -> None:
        self._lines, self._words, self._rarity = PageReader(lines_of(graph, "headings")), words, rarity
        self._of_text = lru_cache(CACHED_TEXTS)(self._read_text)

    def rows(self, pages: list[int], blocks: list[int]) -> csr_array:
        """The headings of some blocks of pages, pages ascending; each of length HEADING, or empty if it has no word."""
        found, before, lines = [], -1, list[str]()
        for page, block in zip(pages, blocks, strict=True):
            if page != before:
                before, lines = page, self._lines.take(page) or []
            found.append(self._of_text(lines[block] if block < len(lines) else ""))
        starts = np.cumsum([0, *map(len, found)])
        ids = np.array([word for row in found for word in row], np.int64)
        weights = self._rarity[ids].astype(np.float32)
        rows = of_length_1(csr_array((weights, ids, starts), shape=(len(found), len(self._rarity))))
        rows.data *= np.float32(HEADING)
        return rows

    def _read_text(self, text: str) -> tuple[int, ...]:
        known = {self._words.get(word, -1) for word in terms_of(text)}
        return tuple(sorted(word for word in known if word >= 0 and self._rarity[word] > 0))


def read_sections(graph: Graph, vectors: csr_array, headings: Headings) -> tuple[csr_array, csr_array]:
    """The weight of each section for the pages it lists, and its words; none if there are more than MAX_LINKS."""
    targets, numbers, weights, words, count, read = [], [], [], [], 0, 0
    for first, once, distinct in graph.iter_links(LIST_PAGES):
        starts, links, _ = graph.with_repeats(first, once, distinct)
        if int(links.targets.max(initial=0)) >= graph.pages:
            raise graph.damaged()
        source = np.repeat(np.arange(first, first + len(starts) - 1, dtype=np.int64), np.diff(starts))
        known = links.blocks >= 0
        blocks, number, size = np.unique(
            source[known] << BLOCK_BITS | links.blocks[known], return_inverse=True, return_counts=True
        )
        several = size[number] > 1
        number, target = np.unique(number[several], return_inverse=True)[1], links.targets[known][several]
        blocks, size = blocks[size > 1], size[size > 1]
        if not len(size):
            continue
        read += len(target)
        if read > MAX_LINKS:
            count = 0
            break
        place = np.ones(len(number), np.float32), (number, target.astype(np.int64))
        of_pages = of_length_1(csr_array(csr_array(place, shape=(len(size), graph.pages)) @ vectors))
        headed = headings.rows((blocks >> BLOCK_BITS).tolist(), (blocks & BLOCK_MASK).tolist())
        words.append(pruned(of_length_1(csr_array(of_pages + headed)), MAX_WORDS))
        targets.append(target)
        numbers.append(number + count)
        weights.append((1 / np.log(2.0 + size))[number].astype(np.float32))
        count += len(size)
    if not count:
        return csr_array((graph.pages, 0), dtype=np.float32), csr_array((0, vectors.shape[1]), dtype=np.float32)
    place = np.concatenate(weights), (np.concatenate(targets).astype(np.int64), np.concatenate(numbers))
    return csr_array(place, shape=(graph.pages, count)), stacked(words)


# ----------------------------------------------------------------------------------------------------- same-name pages


class Names:
    """The names of pages, collected page by page."""

    def __init__(self) -> None:
        self._pages, self._names, self._counts = array("L"), array("Q"), array("f")

    def add(self, page: int, anchors: list[tuple[str, int]]) -> None:
        """Add the anchor texts of a page."""
        counted: Counter[str] = Counter()
        for text, count in anchors:
            if name := name_in(text):
                counted[name] += count
        for name, count in counted.items():
            self._pages.append(page)
            self._names.append(int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little"))
            self._counts.append(count)

    def same_name(self, pages: int) -> csr_array:
        """The cosine of each page's name with those of its MAX_SAME_NAME closest same-name pages."""
        names, number = np.unique(np.array(self._names, np.uint64), return_inverse=True)
        place = np.array(self._counts, np.float32), (np.array(self._pages, np.int64), number)
        named = csr_array(place, shape=(pages, len(names)))
        common = np.bincount(named.indices, minlength=len(names)) > MAX_NAME_PAGES
        named.data[common[named.indices]] = 0
        named.eliminate_zeros()
        named = of_length_1(named)
        turned = csr_array(named.T)
        chunks = chunks_of(pages, NAME_CHUNK_PAGES)
        found = [closest(csr_array(named[chunk] @ turned), chunk.start) for chunk in chunks]
        return stacked(found) if found else csr_array((0, 0), dtype=np.float32)


def name_in(text: str) -> str:
    """The name in an anchor text, or ""."""
    path = _PATH.fullmatch(text)
    text = unicodedata.normalize("NFKC", path[1] if path else text).casefold()
    # Besides letters and digits, keep the marks of letters: vowels, in many scripts.
    letters = (c for c in text if c.isalnum() or unicodedata.category(c)[0] == "M")
    name = text if text.isascii() and text.isalnum() else "".join(letters)
    return name if len(name) in NAME_CHARACTERS and name not in GENERIC else ""


def closest(cosines: csr_array, first: int) -> csr_array:
    """The MAX_SAME_NAME highest cosines of each page, from page `first` on, with other pages; ties by page."""
    rows = rows_of(cosines)
    kept = np.flatnonzero((cosines.data >= MIN_COSINE) & (cosines.indices != rows + first))
    rows, columns, values = rows[kept], cosines.indices[kept], cosines.data[kept]
    order = np.lexsort((columns, -values, rows))
    begin = np.searchsorted(rows[order], rows[order])
    best = order[np.arange(len(order)) - begin < MAX_SAME_NAME]
    return csr_array((values[best], (rows[best], columns[best])), shape=cosines.shape)


# --------------------------------------------------------------------------------------------------------- sparse rows


def chunks_of(pages: int, size: int) -> list[slice]:
    """Slices of all pages, `size` each."""
    return [slice(first, min(pages, first + size)) for first in range(0, pages, size)]


def rows_of(matrix: csr_array) -> NDArray[np.int64]:
    """The row of every value of a sparse matrix."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def of_length_1(matrix: csr_array) -> csr_array:
    """Divide every row by its length, in place."""
    rows = rows_of(matrix)
    lengths = np.sqrt(np.bincount(rows, matrix.data.astype(np.float64) ** 2, matrix.shape[0]))
    matrix.data = (matrix.data / np.maximum(lengths, 1e-12)[rows]).astype(np.float32)
    return matrix


def stacked(blocks: list[csr_array]) -> csr_array:
    """Put blocks of rows below each other."""
    starts = np.concatenate([[0], *(np.diff(block.indptr) for block in blocks)]).cumsum()
    data, ids = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("data", "indices"))
    return csr_array((data, ids, starts), shape=(len(starts) - 1, blocks[0].shape[1]))


def pruned(matrix: csr_array, maximum: int) -> csr_array:
    """Keep the `maximum` heaviest words of each row, of length 1; ties by number."""
    sizes = np.diff(matrix.indptr)
    if sizes.max(initial=0) <= maximum:
        return matrix
    rows = rows_of(matrix)
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    kept = np.sort(order[np.arange(len(order)) - matrix.indptr[rows] < maximum])
    starts = np.concatenate([[0], np.minimum(sizes, maximum)]).cumsum()
    return of_length_1(csr_array((matrix.data[kept], matrix.indices[kept], starts), shape=matrix.shape))
