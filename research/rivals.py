"""Baselines that anybody can write in a few lines of SciPy, on the same store as our methods.

    scipy       cocitation + coupling, linkers weighed 1/ln(2 + degree), each side divided by the root of both degrees
    jaccard     shared neighbours ÷ all neighbours, whichever way the links go
    neighbours  the number of shared neighbours
    adamic      shared neighbours, each 1 / ln(its neighbours) (Adamic & Adar 2003)
    pagerank    personalised PageRank, restart 0.15, by scikit-network on the links in both directions
    rp3beta     a walk from page to section to page, divided by popularity^0.6 (Paudel et al. 2017); pages without
                sections are one section
    tfidf       cosine of titles and texts, sublinear counts, words of up to half of the pages
    bm25        the words of titles and texts as a query, k1 = 1.2, b = 0.75

Each is a function of a store and a number of pages that returns a row of scores for every page asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cocite.web import Web
from cocite.words.tokens import words_of

CHUNK_PAGES = 64
RESTART = 0.15
POPULARITY = 0.6
BM25 = 1.2, 0.75


class Matrices:
    """The matrices of a store that baselines use."""

    def __init__(self, web: Web) -> None:
        self.web, self.graph = web, web.graph

    @cached_property
    def links(self) -> sp.csr_matrix:
        """One row per page with the pages it links to."""
        pages = np.flatnonzero(self.graph.out_degree[:])
        targets = [np.asarray(self.graph.links_from(int(page)).targets) for page in pages]
        sources = np.repeat(pages, [len(each) for each in targets])
        return self._ones(sources, np.concatenate([[], *targets]), len(self.graph))

    @cached_property
    def sections(self) -> sp.csr_matrix:
        """One row per section with the pages it lists."""
        rows, columns, first = [], [], 0
        for page in np.flatnonzero(self.graph.out_degree[:]).tolist():
            links = self.graph.links_from(page)
            blocks = np.asarray(links.blocks, np.int64) + 1  # those without a section are one
            rows.append(first + blocks)
            columns.append(np.asarray(links.targets))
            first += int(blocks.max()) + 1
        return self._ones(np.concatenate([[], *rows]), np.concatenate([[], *columns]), first)

    @cached_property
    def words(self) -> sp.csr_matrix:
        """Unit vectors of the words of titles and texts."""
        counts = self.counts.copy()
        counts.data = 1 + np.log(counts.data)
        pages = np.maximum(1, np.asarray((counts > 0).sum(axis=0)).ravel())
        rarity = np.where(2 * pages > len(self.graph), 0, np.log(len(self.graph) / pages))
        return unit(counts @ sp.diags(rarity))

    @cached_property
    def counts(self) -> sp.csr_matrix:
        """How often each word is in the title and text of a page."""
        numbers: dict[str, int] = {}
        rows, columns = [], []
        for page in range(len(self.graph)):
            text = f"{self.graph.title(page)} {self.graph.texts.text(page)}"
            found = [numbers.setdefault(word, len(numbers)) for word in words_of(text)]
            rows += [page] * len(found)
            columns += found
        return sp.csr_matrix((np.ones(len(rows)), (rows, columns)), (len(self.graph), len(numbers)))

    def _ones(self, rows: NDArray[Any], columns: NDArray[Any], height: int) -> sp.csr_matrix:
        found = sp.csr_matrix((np.ones(len(rows)), (rows.astype(int), columns.astype(int))), (height, len(self.graph)))
        found.data[:] = 1
        return found


def unit(matrix: sp.spmatrix) -> sp.csr_matrix:
    """The matrix with rows of length 1."""
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return (sp.diags(1 / np.maximum(lengths, 1e-12)) @ matrix).tocsr()


def rows_of(left: sp.spmatrix, right: sp.spmatrix, pages: Sequence[int]) -> Iterator[NDArray[np.float64]]:
    """The rows of left · right for some pages, a chunk at a time."""
    for first in range(0, len(pages), CHUNK_PAGES):
        yield from (left[pages[first : first + CHUNK_PAGES]] @ right).toarray()


def degrees(matrix: sp.spmatrix, axis: int) -> NDArray[np.float64]:
    """The sums along an axis, at least 1."""
    return np.asarray(np.maximum(1, np.asarray(matrix.sum(axis=axis)).ravel()))


def scipy_baseline(found: Matrices, pages: Sequence[int]) -> Iterator[NDArray[np.float64]]:
    """Cocitation and coupling, popularity divided out."""
    links, into, out = found.links, degrees(found.links, 0), degrees(found.links, 1)
    by_in, by_out = sp.diags(into**-0.5), sp.diags(out**-0.5)
    parents = (sp.diags(1 / np.sqrt(np.log(2 + out))) @ links @ by_in).tocsc()
    children = (by_out @ links @ sp.diags(1 / np.sqrt(np.log(2 + into)))).tocsr()
    cocited = rows_of(parents.T.tocsr(), parents.tocsr(), pages)
    coupled = rows_of(children, children.T.tocsr(), pages)
    yield from (a + b for a, b in zip(cocited, coupled, strict=True))


def jaccard(found: Matrices, pages: Sequence[int]) -> Iterator[NDArray[np.float64]]:
    """Shared neighbours by all neighbours."""
    both = ((found.links + found.links.T) > 0).astype(float).tocsr()
    degree = np.asarray(both.sum(axis=1)).ravel()
    for page, shared in zip(pages, rows_of(both, both, pages), strict=True):
        yield shared / np.maximum(1, degree[page] + degree - shared)


def neighbours(found: Matrices, pages: Sequence[int]) -> Iterator[NDArray[np.float64]]:
    """Shared neighbours."""
    both = ((found.links + found.links.T) > 0).astype(float).tocsr()
    yield from rows_of(both, both, pages)


def adamic(found: Matrices, pages: Sequence[int]) -> Iterator[NDArray[np.float64]]:
    """Shared neighbours, those with few neighbours more."""
    both = ((found.links + found.links.T) > 0).astype(float).tocsr()
    degree = np.asarray(both.sum(axis=1)).ravel()
    yield from rows_of(both, (sp.diags(1 / np.log(np.maximum(2, degree))) @ both).tocsr(), pages)


def pagerank(found: Matrices, pages: Sequence[int]) -> Iterator[NDArray[np.float64]]:
    """Personalised PageRank on the links in both directions."""
    from sknetwork.ranking import PageRank

    both = ((found.links + found.links.T) > 0).astype(float).tocsr()
    for page in pages:
        yield PageRank(damping_factor=1 - RESTART).fit_predict(both, weights={page: 1.0})


def rp3beta(found: Matrices, pages: Sequence[int]) -> Iterator[NDArray[np.float64]]:
    """Page to section to page, by popularity."""
    sections = found.sections
    popularity = sp.diags(degrees(sections, 0) ** -POPULARITY)
    back = sp.diags(1 / degrees(sections, 1)) @ sections @ popularity
    yield from rows_of(sections.T.tocsr(), back.tocsr(), pages)


def tfidf(found: Matrices, pages: Sequence[int]) -> Iterator[NDArray[np.float64]]:
    """Similar titles and texts."""
    yield from rows_of(found.words, found.words.T.tocsr(), pages)


def bm25(found: Matrices, pages: Sequence[int]) -> Iterator[NDArray[np.float64]]:
    """Every page as a query."""
    counts, (k1, b) = found.counts.tocoo(), BM25
    with_word = np.bincount(counts.col, minlength=counts.shape[1])
    rarity = np.log(1 + (len(found.graph) - with_word + 0.5) / (with_word + 0.5))
    lengths = np.asarray(found.counts.sum(axis=1)).ravel()
    norm = k1 * (1 - b + b * lengths / max(1.0, float(lengths.mean())))
    values = rarity[counts.col] * counts.data * (k1 + 1) / (counts.data + norm[counts.row])
    weighed = sp.csr_matrix((values, (counts.row, counts.col)), counts.shape)
    yield from rows_of(found.counts, weighed.T.tocsr(), pages)


RIVALS: dict[str, Callable[[Matrices, Sequence[int]], Iterator[NDArray[np.float64]]]] = {
    "scipy": scipy_baseline, "jaccard": jaccard, "pagerank": pagerank, "rp3beta": rp3beta, "tfidf": tfidf,
    "neighbours": neighbours, "adamic": adamic, "bm25": bm25,
}  # fmt: skip


def best(web: Web, rival: str, pages: Sequence[int], depth: int) -> Iterator[list[int]]:
    """The best pages of a baseline for each page asked: by score, then in-links, then address, as our methods do."""
    popular = web.graph.in_degree[:].astype(np.int64)
    for page, scores in zip(pages, RIVALS[rival](Matrices(web), pages), strict=True):
        scores = np.round(scores, 12)
        scores[page] = 0
        some = np.flatnonzero(scores > 0)
        order = np.lexsort((some, -popular[some], -scores[some]))[:depth]
        yield some[order].tolist()
