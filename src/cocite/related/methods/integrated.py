"""Integrated similarity: words and links together (Zhao et al. 2016, §4.3).

    Sim(P1, P2) = mix · Sim_s(P1, P2) + (1 - mix) · Sim_l(P1, P2)

with Sim_s of `semantic` and Sim_l of `link_similarity`. Pages that either would compare are compared by both.

Two variants of our own, measured in docs/lab/integrated.md. With `rarity`, keywords count in Sim_s by ln(N / pages that
have them). With `steps` above 0, Sim_l is replaced by the mean similarity of the pages that readers reach, who at each
step stay or follow a link in either direction, all equally likely:

    W(P1, P2) = Σ_{a, b} d(P1)[a] · d(P2)[b] · Sim_s(a, b) / √(|d(P1)| · |d(P2)|)

where d(P)[a] is the probability of page a after that many steps from P, for the 200 most probable pages. The divisor
makes up for pages whose links lead far apart; |d| is the length of d as a vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from cocite.budget import spend
from cocite.parameters import parameter
from cocite.related.evidence import Evidence
from cocite.related.neighbourhood import page_similarity
from cocite.related.neighbourhood.page_similarity import LinkSets, SimilarityData
from cocite.related.neighbourhood.scores import Scores, Values
from cocite.related.neighbourhood.view import Pages
from cocite.web import Web

MAX_POSITIONS = 200
"""Pages that are kept of d after each step."""
PRODUCT_CELLS, CELLS_PER_LINK = 1 << 21, 16
"""Products of numbers that are computed at once; how many cost as much as a link that is read."""


@dataclass(frozen=True, kw_only=True)
class Params(page_similarity.LinkParams):
    """The paper's α and β of equation 22 are `mix` and 1 - `mix`."""

    mix: float = parameter(0.5, "Weight of semantic similarity; the rest is for link similarity", minimum=0, maximum=1)
    rarity: bool = parameter(False, "Give rare keywords more weight")
    steps: int = parameter(
        0, "Compare pages up to this many steps away by their mean (0: best matches, one step)", minimum=0, maximum=4
    )


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by the similarity of their keywords and of the pages linked with them."""
    data = page_similarity.similarity_data(web, params, params.rarity)

    def score(page: int) -> tuple[Pages, Values]:
        near = data.words.candidates(page, params.candidates, params.reach, params.postings)
        others = np.union1d(near, page_similarity.linked_alike(data, page, params))
        return others, integrated(data, page, others, params)

    def explain(page: int, result: int) -> list[Evidence]:
        words = page_similarity.keyword_evidence(web, data.words, page, result) if params.mix > 0 else []
        return [*words, *(page_similarity.linked_evidence(data, page, result) if params.mix < 1 else [])]

    return page_similarity.relate_each(seeds, score, explain)


def similarity_of(web: Web, page: int, other: int, params: Params) -> tuple[float, float]:
    """Sim of two pages, and its maximum error for the linked pages that are compared."""
    data = page_similarity.similarity_data(web, params, params.rarity)
    return float(integrated(data, page, np.array([other], np.uint32), params)[0]), page_similarity.MAX_ERROR


def integrated(data: SimilarityData, page: int, others: Pages, params: Params) -> Values:
    """Sim of a page with others."""
    by_words = data.words.alike(page, others)
    if params.steps:
        by_links = walked_likeness(data, page, others, params.steps)
    else:
        by_links = page_similarity.link_likeness(data, page, others)
    found: Values = params.mix * by_words + (1 - params.mix) * by_links
    return found


def walked_likeness(data: SimilarityData, page: int, others: Pages, steps: int) -> Values:
    """W of a page with others."""
    total = data.words.pages
    own, theirs = (_positions(data.links, some, steps, total) for some in (np.array([page], np.uint32), others))
    reached = np.unique(theirs.indices).astype(np.uint32)
    mean = np.zeros(total)
    for other, share in zip(own.indices.tolist(), own.data.tolist(), strict=True):
        mean[reached] += share * data.words.alike(other, reached)
    lengths = np.sqrt(float(np.sqrt((own.data**2).sum())) * np.sqrt(np.asarray((theirs * theirs).sum(axis=1)).ravel()))
    found: Values = (theirs @ mean) / np.maximum(1e-12, lengths)
    return found


def _positions(links: LinkSets, pages: Pages, steps: int, total: int) -> csr_array:
    """d(P) for each page P, as a row: the probabilities of all pages after some steps."""
    found = _one_step(links, pages, total)
    for _ in range(steps - 1):
        middle = np.unique(found.indices).astype(np.uint32)
        found = _product(csr_array(found[:, middle]), _one_step(links, middle, total))
    return found


def _product(rows: csr_array, step: csr_array) -> csr_array:
    """The greatest numbers of each row of a product. Some rows at a time take little memory, and can be stopped."""
    work = np.concatenate([[0], np.cumsum(np.diff(step.indptr)[rows.indices])])[rows.indptr]
    ends = np.unique(np.searchsorted(work, np.arange(PRODUCT_CELLS, work[-1] + PRODUCT_CELLS, PRODUCT_CELLS)))
    parts, start = [], 0
    for end in (*ends[ends < rows.shape[0]].tolist(), rows.shape[0]):
        spend((work[end] - work[start]) / CELLS_PER_LINK)
        parts.append(keep_greatest(csr_array(rows[start:end] @ step), MAX_POSITIONS))
        start = end
    return csr_array(vstack(parts, format="csr"))


def _one_step(links: LinkSets, pages: Pages, total: int) -> csr_array:
    """The probabilities after one step: stay, or follow a link in either direction."""
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


def keep_greatest(rows: csr_array, limit: int) -> csr_array:
    """The `limit` greatest numbers of each row, of equal ones those in lower columns, scaled to a sum of 1."""
    rows.sort_indices()
    sizes = np.diff(rows.indptr)
    if not len(sizes) or sizes.max() <= limit:
        return rows
    of = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((rows.indices, -rows.data, of))
    kept = np.sort(order[np.arange(len(order)) - np.repeat(rows.indptr[:-1], sizes) < limit])
    starts = np.concatenate([[0], np.cumsum(np.minimum(sizes, limit))])
    sums = np.bincount(of[kept], rows.data[kept], len(sizes))
    return csr_array((rows.data[kept] / sums[of[kept]], rows.indices[kept], starts), shape=rows.shape)
