"""Integrated similarity of all pages at once, for a batch: minutes where asking page by page takes hours.

It looks at fewer pages than a single question does; `neighbourhood/all_alike.py` states every limit, which are its own:
`candidates`, `reach`, `postings` and `alike` of the method are for single questions. Its other parameters hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cocite.errors import BadParameter
from cocite.graph.generation import Progress
from cocite.related.methods import Method
from cocite.related.methods.integrated import Params
from cocite.related.neighbourhood.all_alike import AllAlike, all_alike
from cocite.related.neighbourhood.likenesses import counting_links, likeness_of
from cocite.related.neighbourhood.scores import Scores
from cocite.results.filters import best_answers
from cocite.web import Web

MOST_PAGES = 1_000_000
"""Of all pages the 200 most alike by words are held: 1.6 GB for so many."""
SPARE = 10
"""More than are wanted are found for each page: of equal scores, those of more links in are answers."""


@dataclass(frozen=True)
class AllPairs:
    """The answers for all pages of a store."""

    web: Web
    found: AllAlike
    k: int

    def best(self, page: int) -> Iterator[tuple[int, float]]:
        """The k best answers for a page, with their scores."""
        known = self.found.values[page] > 0
        pages, values = self.found.pages[page][known], self.found.values[page][known]
        scores = Scores(pages, values, [page], np.array([page], np.uint32))
        return best_answers(self.web.graph, scores, [page], self.k)


def check_all_pairs(method: Method, pages: int) -> Params:
    """The parameters of a method that can compare all pages at once; raises BadParameter for any other."""
    params = method.params
    if not isinstance(params, Params):
        raise BadParameter(f"all pages at once: that is for integrated, not for {method.name}; leave it out")
    if params.rarity or params.steps:
        raise BadParameter("all pages at once: that is for integrated without rarity and steps; leave them out")
    if pages > MOST_PAGES:
        raise BadParameter(f"all pages at once: at most {MOST_PAGES:,}, and this store has {pages:,}; ask for some")
    return params


def all_pairs(web: Web, params: Params, k: int, threads: int | None, progress: Progress) -> AllPairs:
    """The k best answers for all pages, by integrated similarity."""
    words = likeness_of(web, params.alpha)
    links = counting_links(web, words, params)
    return AllPairs(web, all_alike(words, links, k + SPARE, params.mix, threads=threads, progress=progress), k)
