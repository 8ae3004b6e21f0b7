"""Jaccard: the share of their parents that two pages have in common (Jaccard 1901).

score(u, s) = |parents of both| / |parents of u or s|
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cocite.parameters import parameter
from cocite.related.evidence import Evidence, PageLabels
from cocite.related.neighbourhood.scores import Scores
from cocite.web import Web


class SharedParents(Evidence):
    """Why: how many parents both pages have. `kind` is in the JSON, and `statement` is what people read."""

    kind = "parents in common"
    json: ClassVar = {"count": "count", "of": "of"}
    count: int
    of: int  # parents of either

    def statement(self, names: PageLabels) -> str:
        return f"{self.count} of their {self.of} parents link to both"


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
    shared = dict(zip(pages.tolist(), zip(both.tolist(), either.tolist(), strict=True), strict=True))

    def evidence(results: NDArray[np.uint32]) -> list[list[Evidence]]:
        return [[SharedParents(count=shared[each][0], of=shared[each][1])] for each in results.tolist()]

    values = both / np.maximum(1, either)
    return Scores(pages.astype(np.uint32), values, seeds, np.array(seeds, np.uint32), evidence=evidence)
