"""How alike pages are after some steps: Sim_s averaged over where readers are who started from two pages.

A reader stays on the page or follows one of its links, either way round, each with the same probability. After some
steps d(P) has the probability of every page, and

    W(P1, P2) = Σ_{a, b} d(P1)[a] · d(P2)[b] · Sim_s(a, b) / √(|d(P1)| · |d(P2)|)

The average evens out what single keywords and single links say. It is lower the wider a page's links lead, hence the
divisor, where |d| is the length of d as a vector.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cocite.related.neighbourhood.likenesses import Around, Values
from cocite.related.neighbourhood.linked import LinkSets
from cocite.related.neighbourhood.view import Pages

PLACES = 200
"""Pages that a reader may be on after each step; of more, those of highest probability."""


def walked_likeness(around: Around, page: int, others: Pages, steps: int) -> Values:
    """W of a page with others."""
    total = around.words.pages
    own, theirs = (places(around.links, some, steps, total) for some in (np.array([page], np.uint32), others))
    reached = np.unique(theirs.indices).astype(np.uint32)
    mean = np.zeros(total)
    for other, share in zip(own.indices.tolist(), own.data.tolist(), strict=True):
        mean[reached] += share * around.words.alike(other, reached)
    lengths = np.sqrt(float(np.sqrt((own.data**2).sum())) * np.sqrt(np.asarray((theirs * theirs).sum(axis=1)).ravel()))
    found: Values = (theirs @ mean) / np.maximum(1e-12, lengths)
    return found


def places(links: LinkSets, pages: Pages, steps: int, total: int) -> csr_array:
    """The probability of being on each of all pages after some steps: a row for each page started from."""
    found = one_step(links, pages, total)
    for _ in range(steps - 1):
        middle = np.unique(found.indices).astype(np.uint32)
        found = greatest(csr_array(found[:, middle] @ one_step(links, middle, total)), PLACES)
    return found


def one_step(links: LinkSets, pages: Pages, total: int) -> csr_array:
    """The same after one step."""
    outs, ins = links.outs(pages), links.ins(pages)
    rows = np.concatenate(
        [np.arange(len(pages)), *(np.repeat(np.arange(len(pages)), np.diff(x.starts)) for x in (outs, ins))]
    )
    columns = np.concatenate([pages, outs.columns, ins.columns]).astype(np.int64)
    keys: NDArray[np.int64] = np.unique(rows * total + columns)
    rows, columns = keys // total, keys % total
    sizes = np.bincount(rows, minlength=len(pages))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return csr_array((1.0 / sizes[rows], columns, starts), shape=(len(pages), total))


def greatest(rows: csr_array, most: int) -> csr_array:
    """The `most` greatest numbers of each row, of equal ones those of lower columns, made to add up to 1 again."""
    rows.sort_indices()
    sizes = np.diff(rows.indptr)
    if not len(sizes) or sizes.max() <= most:
        return rows
    of = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((rows.indices, -rows.data, of))
    kept = np.sort(order[np.arange(len(order)) - np.repeat(rows.indptr[:-1], sizes) < most])
    starts = np.concatenate([[0], np.cumsum(np.minimum(sizes, most))])
    sums = np.bincount(of[kept], rows.data[kept], len(sizes))
    return csr_array((rows.data[kept] / sums[of[kept]], rows.indices[kept], starts), shape=rows.shape)
