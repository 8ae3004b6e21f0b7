"""Measure how similar two pages are.

A method that can compare two pages directly does so (`similarity_of` in its file), and says how exact that is. For
other methods, the score is that of the second page among those related to the first, or 0.
"""

from dataclasses import dataclass
from typing import Any

from cocite.operations import shared
from cocite.operations.declare import Operation, Web, operation
from cocite.parameters import parameter, values_of
from cocite.results.answer import Reason, Result
from cocite.text import rounded


@dataclass(frozen=True)
class SimilarityResult(Result):
    """The similarity of two pages."""

    pages: tuple[str, str]
    method: str
    params: dict[str, Any]
    score: float
    error: float | None  # maximum distance from the exact score of the method; None: unknown
    reasons: tuple[Reason, ...]
    note: str = ""

    def __float__(self) -> float:
        return self.score


@operation(slow=True)
class Similarity(Operation):
    """Show how similar two pages are by a method, with reasons.

    Command line: Exits with 0 if they are similar, 1 if the method finds nothing in common, 3 if one is unknown.

    Examples:
        cocite similarity nytimes.com washingtonpost.com
        cocite similarity nytimes.com washingtonpost.com -m simrank --json
    """

    page: str = shared.url()
    other: str = parameter("", "Address of another page", metavar="URL", positional=True, required=True)
    method: str = shared.method("integrated", "How to compare them; see cocite methods", example=None)

    def run(self, web: Web) -> SimilarityResult:
        """The score, how exact it is, and reasons; raises UnknownPage, BadAddress."""
        import numpy as np

        from cocite.related.evidence import reasons_of
        from cocite.related.methods import method as method_of
        from cocite.results.ask import question
        from cocite.results.naming import titles_of

        graph, method = web.graph, method_of(self.method)
        asked = question(graph, [self.page, self.other], chop=method.chop)
        one, other = asked.seeds
        scores = method.relate(web, [one])
        score, error = method.compare(web, one, other) or (float(scores.values[scores.pages == other].sum()), None)
        evidence = method.explain(web, scores, np.array([other], np.uint32))[0] if score else []
        pages, reasons = (graph.address(one), graph.address(other)), reasons_of(titles_of(graph), evidence)
        note, params = ". ".join(asked.notes), values_of(method.params)
        return SimilarityResult(pages, method.name, params, rounded(score), error, reasons, note)

    def why_empty(self, web: Web, result: Any) -> str:
        if result.score:
            return ""
        return f"{result.method} finds nothing that {' and '.join(result.pages)} have in common: try -m cocitation"
