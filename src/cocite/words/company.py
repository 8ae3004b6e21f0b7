"""The company that a page keeps: the words of the blocks that it is listed in.

A block of n ≥ 2 links is the sum of its pages' word vectors (their WORDS heaviest words), made of length 1; with the
words of its heading, rare ones heavier, of length HEADING; and all of it cut to its MOST heaviest words. A page is the
sum of its blocks, each by 1 / ln(2 + n), and those of its namesakes by NAMESAKE times how alike the names are, again of
length 1 and cut. So pages are alike that stand in lists about the same things, also if no list has both.

It is made once, of all links whatever a question leaves out. A store with more than LINKS of them in blocks has none:
that of some lists alone would be worse, since pages that stand in the others would have none beside those that do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.graph.store import Graph
from cocite.words.links_in import Cursor
from cocite.words.sparse import of_length_1, pruned, stacked
from cocite.words.terms import terms_of

WORDS, MOST = 32, 24
HEADING = 0.8
NAMESAKE = 0.5
LINKS = 1 << 24
"""Ten links a block take half a gigabyte, and two, if all blocks had no more, two gigabytes."""
STEP = 1 << 12
"""Pages whose company is added up at once."""
READ = 1 << 8
"""Pages whose lists are read at once."""
CACHED = 1 << 16
"""Headings whose words are remembered."""


def company(
    graph: Graph, vectors: csr_array, namesakes: csr_array, words: Mapping[str, int], rarity: NDArray[np.float64]
) -> csr_array:
    """Of each page the words of its company. `vectors` are rows of `words`, of which each has its rarity."""
    steps = [slice(first, min(graph.pages, first + STEP)) for first in range(0, graph.pages, STEP)]
    few = stacked([pruned(vectors[step], WORDS) for step in steps])
    listed, blocks = read_blocks(graph, few, Headings(graph, words, rarity))
    if not blocks.shape[0]:
        return csr_array(vectors.shape, dtype=np.float32)
    found = []
    for step in steps:
        own = csr_array(listed[step] + NAMESAKE * (namesakes[step] @ listed))
        found.append(pruned(of_length_1(csr_array(own @ blocks)), MOST))
    return stacked(found)


class Headings:
    """The headings of blocks as vectors."""

    def __init__(self, graph: Graph, words: Mapping[str, int], rarity: NDArray[np.float64]) -> None:
        self._lines, self._words, self._rarity = Cursor(graph, "headings"), words, rarity
        self.of_text = lru_cache(CACHED)(self._of_text)

    def rows(self, pages: list[int], blocks: list[int]) -> csr_array:
        """Those of blocks of pages, which are asked in ascending order, of length HEADING; without words empty."""
        found, before, lines = [], -1, list[str]()
        for page, block in zip(pages, blocks, strict=True):
            if page != before:
                before, lines = page, self._lines.take(page)
            found.append(self.of_text(lines[block] if block < len(lines) else ""))
        starts = np.cumsum([0, *map(len, found)])
        ids = np.array([word for row in found for word in row], np.int64)
        weights = self._rarity[ids].astype(np.float32)
        rows = of_length_1(csr_array((weights, ids, starts), shape=(len(found), len(self._rarity))))
        rows.data *= np.float32(HEADING)
        return rows

    def _of_text(self, text: str) -> tuple[int, ...]:
        known = {self._words.get(word, -1) for word in terms_of(text)}
        return tuple(sorted(word for word in known if word >= 0 and self._rarity[word] > 0))


def read_blocks(graph: Graph, vectors: csr_array, headings: Headings) -> tuple[csr_array, csr_array]:
    """What each block counts for the pages that it lists, and its words; no blocks if they have more than LINKS."""
    targets, numbers, weights, words, count, read = [], [], [], [], 0, 0
    for first, once, distinct in graph.iter_links(READ):
        starts, links, _ = graph.with_repeats(first, once, distinct)
        if int(links.targets.max(initial=0)) >= graph.pages:
            raise graph.damaged()
        source = np.repeat(np.arange(first, first + len(starts) - 1, dtype=np.int64), np.diff(starts))
        known = links.blocks >= 0
        blocks, number, size = np.unique(
            source[known] << 24 | links.blocks[known], return_inverse=True, return_counts=True
        )
        several = size[number] > 1
        number, target = np.unique(number[several], return_inverse=True)[1], links.targets[known][several]
        blocks, size = blocks[size > 1], size[size > 1]
        if not len(size):
            continue
        read += len(target)
        if read > LINKS:
            count = 0
            break
        place = np.ones(len(number), np.float32), (number, target.astype(np.int64))
        of_pages = of_length_1(csr_array(csr_array(place, shape=(len(size), graph.pages)) @ vectors))
        headed = headings.rows((blocks >> 24).tolist(), (blocks & 0xFFFFFF).tolist())
        words.append(pruned(of_length_1(csr_array(of_pages + headed)), MOST))
        targets.append(target)
        numbers.append(number + count)
        weights.append((1 / np.log(2.0 + size))[number].astype(np.float32))
        count += len(size)
    if not count:
        return csr_array((graph.pages, 0), dtype=np.float32), csr_array((0, vectors.shape[1]), dtype=np.float32)
    place = np.concatenate(weights), (np.concatenate(targets).astype(np.int64), np.concatenate(numbers))
    return csr_array(place, shape=(graph.pages, count)), stacked(words)
