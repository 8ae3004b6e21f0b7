"""Measure how similar two pages are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocite.operations import shared_parameters
from cocite.operations.declare import Operation, operation
from cocite.parameters import parameter

if TYPE_CHECKING:
    from cocite.results.similarity import Similarity as SimilarityResult
    from cocite.web import Web


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
        from cocite.results.similarity import similarity

        return similarity(web, self.page, self.other, method(self.method))

    def why_empty(self, web: Web, result: Any) -> str:
        """Why the pages aren't similar, and what to try."""
        if result.score:
            return ""
        return f"{result.method} finds nothing that {' and '.join(result.pages)} have in common: try -m cocitation"
