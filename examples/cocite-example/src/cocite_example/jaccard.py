"""Jaccard: the share of their parents that two pages have in common (Jaccard 1901).

score(u, s) = |parents of both| / |parents of u or s|
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cocite.parameters import parameter
from cocite.related.neighbourhood.scores import Scores
from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class Params:
    """What to read."""

    parents: int = parameter(2000, "Maximum number of parents", minimum=1)


def relate(web: Web, seeds: Sequence[int], params: Params) -> Scores:
    """Siblings of the first query page, by the share of common parents."""
    graph, page = web.graph, seeds[0]
    parents = graph.links_to(page)[: params.parents]
    siblings = [graph.links_from(int(parent)).targets for parent in parents]
    pages, both = np.unique(np.concatenate([[page], *siblings]), return_counts=True)
    either = len(parents) + graph.in_degree[pages] - both
    return Scores(pages.astype(np.uint32), both / np.maximum(1, either), seeds, np.array(seeds, np.uint32))
