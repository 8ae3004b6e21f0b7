"""How similar two given pages are, by any method, and why.

A method that can compare two pages by themselves does (`similarity_of` in its file), and says how wrong it may be. Any
other is asked for what is related to the first page, and the second looked up among it: 0 if it is not there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cocite.parameters import values_of
from cocite.related.methods import Method
from cocite.related.neighbourhood.scores import rounded
from cocite.related.neighbourhood.view import with_stop_pages
from cocite.results.ask import question
from cocite.results.reasons import Reason, ReasonNames, reasons_of
from cocite.web import Web


@dataclass(frozen=True)
class Similarity:
    """Of two pages."""

    pages: tuple[str, str]
    method: str
    params: dict[str, Any]
    score: float
    error: float | None  # at most so far from the method's exact answer; None: not known
    reasons: tuple[Reason, ...]

    def __float__(self) -> float:
        return self.score

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        about = {"pages": list(self.pages), "method": self.method, "params": self.params, "score": self.score}
        return {**about, "error": self.error, "reasons": [reason.to_dict() for reason in self.reasons]}


def similarity(web: Web, first: str, second: str, method: Method) -> Similarity:
    """How similar the second page is to the first; raises UnknownPage, BadAddress."""
    graph = web.graph
    one, other = question(graph, [first, second]).seeds
    method = replace(method, params=with_stop_pages(graph, method.params))
    scores = method.relate(web, [one])
    found = method.compare(web, one, other)
    if found is None:
        at = np.flatnonzero(scores.pages == other)
        score, error = (float(scores.values[at[0]]) if len(at) else 0.0), None
    else:
        score, error = found
    evidence = method.explain(web, scores, np.array([other], np.uint32))[0] if score else []
    reasons = reasons_of(ReasonNames(graph), evidence)
    pages = (graph.address(one), graph.address(other))
    return Similarity(pages, method.name, values_of(method.params), rounded(score), error, reasons)
