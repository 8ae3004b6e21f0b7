"""The first pages of a rank, ordered like results."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np

from cocite.graph.store import Graph
from cocite.parameters import Parameter
from cocite.related.neighbourhood.scores import Scores
from cocite.related.ranks import Ranked
from cocite.results.ask import MOST
from cocite.results.naming import Titles

_K = Parameter(name="k", help="Number of pages", type=int, default=20, minimum=1, maximum=MOST)


class TopPage(NamedTuple):
    """A page and its rank."""

    rank: int
    url: str
    title: str
    value: float  # to six significant digits


def top_pages(graph: Graph, ranked: Ranked, k: int) -> list[TopPage]:
    """The k pages of highest value, without pages of value 0 and aliases."""
    k, titles = _K.check(k), Titles(graph)
    pages, aliases = np.arange(graph.pages, dtype=np.uint32), graph.array("alias.page")
    best = Scores(pages, ranked.values, [], aliases).ranked(graph.in_degree, k)
    return [
        TopPage(place, graph.address(page), titles.of(page), value)
        for place, (page, value) in enumerate(islice(best, k), 1)
    ]
