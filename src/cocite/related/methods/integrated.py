"""Integrated similarity: words and links together (Zhao et al. 2016, section 4.3).

    Sim(P1, P2) = mix · Sim_s(P1, P2) + (1 - mix) · Sim_l(P1, P2)

with Sim_s of `semantic` and Sim_l of `link_similarity`. Pages that either would compare are compared by both.

Two variants of our own (docs/integrated.md has what they gain). With `rarity`, keywords count in Sim_s by
ln(N / pages that have them). With `steps` above 0, Sim_l is replaced by the likeness of where readers are after so many
steps along links, either way round, or staying:

    W(P1, P2) = Σ_{a, b} d(P1)[a] · d(P2)[b] · Sim_s(a, b) / √(|d(P1)| · |d(P2)|)

where d(P)[a] is the probability of being on page a having started from P; the 200 likeliest pages after each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cocite.parameters import parameter
from cocite.related.evidence import Evidence
from cocite.related.neighbourhood.likenesses import (
    EXACT,
    Around,
    LinkParams,
    Values,
    around,
    link_likeness,
    linked_alike,
    relate_each,
)
from cocite.related.neighbourhood.scores import Scores
from cocite.related.neighbourhood.view import Pages
from cocite.related.neighbourhood.walked import walked_likeness
from cocite.related.neighbourhood.word_evidence import by_links, by_words, for_each
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params(LinkParams):
    """The paper's α and β of equation 22 are `mix` and 1 - `mix`."""

    mix: float = parameter(0.5, "the share of semantic similarity; the rest is link similarity", minimum=0, maximum=1)
    rarity: bool = parameter(False, "rare keywords count more")
    steps: int = parameter(
        0, "linked pages up to so many steps away, averaged (0: best matches, one step)", minimum=0, maximum=4
    )


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Pages by the likeness of their keywords and of the pages linked with them."""
    known, seeds = around(web, params, params.rarity), list(dict.fromkeys(seeds))

    def score(page: int) -> tuple[Pages, Values]:
        near = known.words.near(page, params.candidates, params.reach, params.postings)
        others = np.union1d(near, linked_alike(known, page, params))
        return others, integrated(known, page, others, params)

    def evidence(page: int, result: int) -> list[Evidence]:
        words = by_words(web, known.words, page, result) if params.mix > 0 else []
        return [*words, *(by_links(known, page, result) if params.mix < 1 else [])]

    return relate_each(seeds, score, for_each(seeds, evidence))


def similarity_of(web: Web, page: int, other: int, params: Params) -> tuple[float, float]:
    """Sim of two pages, and how wrong it may be, of the linked pages that are compared."""
    return float(integrated(around(web, params, params.rarity), page, np.array([other], np.uint32), params)[0]), EXACT


def integrated(known: Around, page: int, others: Pages, params: Params) -> Values:
    """Sim of a page with others."""
    by_words = known.words.alike(page, others)
    if params.steps:
        by_links = walked_likeness(known, page, others, params.steps)
    else:
        by_links = link_likeness(known, page, others)
    found: Values = params.mix * by_words + (1 - params.mix) * by_links
    return found
