"""A variant of ours for the experiment of `citations.py`: words averaged along links, in few dimensions.

    x_0 = tf-idf of a paper's words        x_(i+1) = norm(x_0 + norm(mean of x_i over the papers linked))

after some rounds; the matrix of all x is cut to its first singular values, and papers are compared by the cosine of
their rows of U·Σ. Averaging includes the words of cited papers, the cut groups words with similar use: both
are ideas of the papers (link similarity, latent linkage), applied to words.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import svds

from research.citations import AT, CUTOFFS, Matrix, Measured, Papers, hardships, measured


class Latent(NamedTuple):
    """Rounds of averaging, and how many dimensions are kept."""

    rounds: int
    dimensions: int

    @property
    def name(self) -> str:
        """The call as users write it."""
        return f"latent words({self.rounds} rounds, {self.dimensions} dimensions)"


GRID = [Latent(*each) for each in product((0, 1, 2, 3), (15, 30, 60, 120))]


def similarity(papers: Papers, setting: Latent) -> Matrix:
    """The cosine of all pairs."""
    own = tf_idf(papers)
    links = papers.links
    shape = (len(papers), len(papers))
    linked = csr_array((np.ones(len(links.columns)), links.columns, links.starts), shape=shape)
    found = own
    for _ in range(setting.rounds):
        found = of_length_1(csr_array(own + of_length_1(csr_array(linked @ found))))
    left, values, _ = svds(found, k=min(setting.dimensions, min(found.shape) - 1), rng=np.random.default_rng(0))
    rows = left * values
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return np.asarray(rows @ rows.T)


def tf_idf(papers: Papers) -> csr_array:
    """Vectors of length 1; a paper has a word or doesn't."""
    words, count = papers.words, len(papers)
    frequency = np.bincount(words.columns, minlength=papers.vocabulary)
    rarity = np.log((1 + count) / (1 + frequency))
    shape = (count, papers.vocabulary)
    return of_length_1(csr_array((rarity[words.columns], words.columns, words.starts), shape=shape))


def of_length_1(matrix: csr_array) -> csr_array:
    """Every row divided by its length."""
    lengths = np.sqrt((matrix * matrix).sum(axis=1))
    return csr_array(diags_array(1 / np.maximum(np.asarray(lengths).ravel(), 1e-12)) @ matrix)


def choose(papers: Papers) -> tuple[Latent, dict[Latent, list[float]]]:
    """The best of the grid on all versions of a collection, and the result of each."""
    tried: dict[Latent, list[float]] = {setting: [] for setting in GRID}
    for some, setting in product(hardships(papers), GRID):
        tried[setting].append(measured("", similarity(some, setting), papers.classes, (AT,))[0].precision)
    return max(tried, key=lambda setting: round(float(np.mean(tried[setting])), 6)), tried


def report(papers: Papers, setting: Latent) -> list[Measured]:
    """A setting on a collection."""
    return measured(setting.name, similarity(papers, setting), papers.classes, CUTOFFS)
