"""Measure how similar two pages are.

A method that can compare two pages directly does so (`similarity_of` in its file), and says how exact that is. For
other methods, the score is that of the second page among those related to the first, or 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocite.operations import shared_parameters
from cocite.operations.declare import Operation, operation
from cocite.parameters import parameter

if TYPE_CHECKING:
    from cocite.related.methods import Method
    from cocite.results.reasons import Reason
    from cocite.web import Web


@dataclass(frozen=True)
class SimilarityResult:
    """The similarity of two pages."""

    pages: tuple[str, str]
    method: str
    params: dict[str, Any]
    score: float
    error: float | None  # maximum distance from the exact score of the method; None: unknown
    reasons: tuple[Reason, ...]

    def __float__(self) -> float:
        return self.score

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        about = {"pages": list(self.pages), "method": self.method, "params": self.params, "score": self.score}
        return {**about, "error": self.error, "reasons": [reason.to_dict() for reason in self.reasons]}


@operation(
    group="related pages",
    examples=[
        "cocite similarity nytimes.com washingtonpost.com",
        "cocite similarity nytimes.com washingtonpost.com -m simrank --json",
    ],
    slow=True,
)
class Similarity(Operation):
    """Show how similar two pages are by a method, with reasons."""

    page: str = shared_parameters.url()
    other: str = parameter("", "Address of another page", metavar="URL", positional=True, required=True)
    method: str = shared_parameters.method("integrated", "How to compare them; see cocite methods", example=None)

    def run(self, web: Web) -> SimilarityResult:
        """The score, how exact it is, and reasons."""
        from cocite.related.methods import method

        return similarity(web, self.page, self.other, method(self.method))

    def why_empty(self, web: Web, result: Any) -> str:
        """Why the pages aren't similar, and what to try."""
        if result.score:
            return ""
        return f"{result.method} finds nothing that {' and '.join(result.pages)} have in common: try -m cocitation"


def similarity(web: Web, first: str, second: str, method: Method) -> SimilarityResult:
    """How similar the second page is to the first; raises UnknownPage, BadAddress."""
    import numpy as np

    from cocite.parameters import values_of
    from cocite.related.neighbourhood.scores import rounded
    from cocite.results.ask import question
    from cocite.results.reasons import ReasonNames, reasons_of

    graph = web.graph
    one, other = question(graph, [first, second]).seeds
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
    return SimilarityResult(pages, method.name, values_of(method.params), rounded(score), error, reasons)
