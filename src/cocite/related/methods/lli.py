"""LLI: latent linkage information (Hou & Zhang 2003, §3.2).

A is the matrix of siblings and merged parents, B that of spouses and merged children, as in Extended Cocitation. With
A = UΣVᵀ, and k the smallest number at which (σ_k − σ_{k+1})/σ_k ≥ ε, page i is row i of U_kΣ_k, the query page is
(1, …, 1)V_kΣ_k, and their similarity is the absolute cosine. B may have another ε (footnote 4). A page on both sides
takes the larger similarity, and is a result if that is at least δ. Ties go by b + f.

Computed from the eigenvectors of AᵀA, which has at most B rows: U_kΣ_k = AV_k. The query page is scaled by Σ once more
than the others: as published; see docs/decisions/0022.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cocite.budget import spend
from cocite.kernels.related.cocitation import gram
from cocite.parameters import parameter
from cocite.related.methods.extended_cocitation import Matrix, SourceParams, SourceSide, gather
from cocite.related.neighbourhood.scores import LinkEvidence, Scores, begin
from cocite.related.neighbourhood.spectra import kept
from cocite.web import Web

MIN_LENGTH = 1e-9
"""Lengths of rows below this share of the greatest singular value count as 0."""

MAX_NUMBERS = 1 << 24
"""Numbers that are computed with at a time."""
CELLS_PER_LINK = 2500
"""Of the n³ steps of eigenvectors, how many take as long as decoding a link: those of 2,000 parents take a second."""


@dataclass(frozen=True, kw_only=True)
class Params(SourceParams):
    """The limits of the page source, and the drop of singular values that limits the space."""

    epsilon: float = parameter(0.5, "ε: drop of singular values that limits the space", minimum=1e-6, maximum=1)
    forward_epsilon: float = parameter(0.0, "ε for spouses and children (0: the same)", minimum=0, maximum=1)
    delta: float = parameter(0.0, "δ: minimum similarity of a result", minimum=0, maximum=1)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Siblings and spouses by their cosine to the query pages in the space of the greatest singular values."""
    start, source = begin(web, seeds, params, lambda view, some: gather(view, some, params))
    back, back_k = cosines(source.back, params.epsilon)
    forward, forward_k = cosines(source.forward, params.forward_epsilon or params.epsilon)
    pages, of_back, of_forward = source.join(back, forward)
    _, b, f = source.join(source.back.shared(), source.forward.shared())
    similar = np.maximum(of_back, of_forward)  # for every query page by itself
    selected = similar >= params.delta - 1e-9
    values = (similar * selected).sum(axis=0) / max(1, len(start.used))
    facts = {"back k": back_k[0], "back rank": back_k[1], "forward k": forward_k[0], "forward rank": forward_k[1]}
    evidence = LinkEvidence(start.view, source.parents, params.children)
    return start.scores(pages, values, (b + f) * selected, ties=(b + f).sum(axis=0), facts=facts, evidence=evidence)


def cosines(side: SourceSide, epsilon: float) -> tuple[Matrix, tuple[int, int]]:
    """For each query page (row) the similarity of each page of a side; and (k, rank)."""
    if not len(side.columns):
        return np.zeros((len(side.query), len(side.pages))), (0, 0)
    singular, v = spectrum(side)
    k, rank = kept(singular, epsilon)
    queries = side.query @ v[:, :k] * singular[:k]
    products, lengths = np.empty((len(queries), len(side.pages))), np.empty(len(side.pages))
    for first, last in parts(side, k):
        rows = multiply(side, v[:, :k], first, last)
        products[:, first:last], lengths[first:last] = np.abs(queries @ rows.T), np.linalg.norm(rows, axis=1)
    query_lengths = np.linalg.norm(queries, axis=1)
    scale = np.outer(query_lengths, lengths)
    seen = np.minimum.outer(query_lengths, lengths) >= MIN_LENGTH * singular[0]
    return np.where(seen, products / np.where(seen, scale, 1), 0.0), (k, rank)


def spectrum(side: SourceSide) -> tuple[Matrix, Matrix]:
    """The singular values of a side's matrix, greatest first, and V."""
    from scipy.linalg import eigh  # takes half a second to import

    spend(side.groups**3 / CELLS_PER_LINK)  # nothing can cancel it
    product = np.zeros((side.groups, side.groups))
    gram(side.starts, side.columns, product)
    values, vectors = eigh(product, driver="evd", overwrite_a=True, check_finite=False)
    return np.sqrt(np.maximum(values[::-1], 0)), vectors[:, ::-1]


def parts(side: SourceSide, dimensions: int) -> Iterator[tuple[int, int]]:
    """Ranges of pages whose links take some 100 MB in a space of `dimensions`; charges them to the budget."""
    first, links = 0, MAX_NUMBERS // max(1, dimensions)
    while first < len(side.pages):
        begin = side.starts[first]
        last = max(first + 1, int(np.searchsorted(side.starts, begin + links, side="right")) - 1)
        spend(float(side.starts[last] - begin) * dimensions / CELLS_PER_LINK)
        yield first, last
        first = last


def multiply(side: SourceSide, matrix: Matrix, first: int, last: int) -> Matrix:
    """Some rows of a side's matrix times another."""
    starts = side.starts[first : last + 1] - side.starts[first]
    columns, sums = side.columns[side.starts[first] : side.starts[last]], np.zeros((last - first, matrix.shape[1]))
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        sums[filled] = np.add.reduceat(matrix[columns], starts[filled])
    return sums
