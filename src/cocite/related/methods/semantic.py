"""Semantic similarity: pages whose keywords are relevant to each other (Zhao et al. 2016, §4.1).

    Sim_s(P1, P2) = (Σ_{w in P1} max_{w' in P2} r_s(w, w') + Σ_{w in P2} max_{w' in P1} r_s(w, w')) / (m + n)

for pages of m and n keywords, where r_s = alpha · support + (1 - alpha) · mutual information of two words, each
normalised over all pairs, and r_s(w, w) = 1 (`words/relevance.py`, `words/keywords.py`).

Pages that are compared get their exact scores. In a store of more pages than `candidates`, an index of words finds the
pages to compare: those with most of the page's keywords, and of the `reach` words most relevant to each. Rare words are
looked up first, until `postings` pages are read.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from cocite.related.neighbourhood import page_similarity
from cocite.related.neighbourhood.scores import Scores, Values
from cocite.related.neighbourhood.view import Pages
from cocite.web import Web

Params = page_similarity.WordParams


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by the similarity of their keywords."""
    words = page_similarity.likeness_of(web, params.alpha)

    def score(page: int) -> tuple[Pages, Values]:
        others = words.candidates(page, params.candidates, params.reach, params.postings)
        return others, words.alike(page, others)

    return page_similarity.relate_each(seeds, score, partial(page_similarity.keyword_evidence, web, words))


def similarity_of(web: Web, page: int, other: int, params: Params) -> tuple[float, float]:
    """Sim_s of two pages, and its maximum error."""
    found = page_similarity.likeness_of(web, params.alpha).alike(page, np.array([other], np.uint32))
    return float(found[0]), page_similarity.MAX_ERROR
