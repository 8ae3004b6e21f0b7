"""The company that a page keeps: the words of the blocks that it is listed in.

A block of n ≥ 2 links is the sum of its pages' word vectors, made of length 1 and cut to its MOST heaviest words; a
page is the sum of its blocks, each by 1 / ln(2 + n), and those of its namesakes by NAMESAKE times how alike the names
are, again of length 1 and cut. So pages are alike that stand in lists about the same things, also if no list has both.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from cocite.graph.store import Graph
from cocite.words.sparse import of_length_1, pruned, stacked

MOST = 24
NAMESAKE = 0.5
STEP = 1 << 12
"""Pages whose company is added up at once."""
READ = 1 << 8
"""Pages whose lists are read at once: with 50 links of 200 words each they take a quarter of a gigabyte."""


def company(graph: Graph, vectors: csr_array, namesakes: csr_array) -> csr_array:
    """Of each page the words of its company."""
    listed, blocks = read_blocks(graph, vectors)
    if not blocks.shape[0]:
        return csr_array(vectors.shape, dtype=np.float32)
    found = []
    for first in range(0, graph.pages, STEP):
        rows = slice(first, min(graph.pages, first + STEP))
        own = csr_array(listed[rows] + NAMESAKE * (namesakes[rows] @ listed))
        found.append(pruned(of_length_1(csr_array(own @ blocks)), MOST))
    return stacked(found)


def read_blocks(graph: Graph, vectors: csr_array) -> tuple[csr_array, csr_array]:
    """What each block counts for the pages that it lists, and its words."""
    targets, numbers, weights, words, count = [], [], [], [], 0
    for _, starts, links in graph.iter_links(READ):
        if int(links.targets.max(initial=0)) >= graph.pages:
            raise graph.damaged()
        source = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
        known = links.blocks >= 0
        _, number, size = np.unique(source[known] << 24 | links.blocks[known], return_inverse=True, return_counts=True)
        several = size[number] > 1
        number, target = np.unique(number[several], return_inverse=True)[1], links.targets[known][several]
        size = np.bincount(number)
        if not len(size):
            continue
        place = np.ones(len(number), np.float32), (number, target.astype(np.int64))
        listing = csr_array(place, shape=(len(size), graph.pages))
        words.append(pruned(of_length_1(csr_array(listing @ vectors)), MOST))
        targets.append(target)
        numbers.append(number + count)
        weights.append((1 / np.log(2.0 + size))[number].astype(np.float32))
        count += len(size)
    if not count:
        return csr_array((graph.pages, 0), dtype=np.float32), csr_array((0, vectors.shape[1]), dtype=np.float32)
    place = np.concatenate(weights), (np.concatenate(targets).astype(np.int64), np.concatenate(numbers))
    return csr_array(place, shape=(graph.pages, count)), stacked(words)
