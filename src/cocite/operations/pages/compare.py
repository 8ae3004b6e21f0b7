"""Compare what several methods return for the same pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocite.operations import COMPARED_METHODS, shared_parameters
from cocite.operations.declare import Operation, operation
from cocite.operations.pages.related import find_pages, why_filtered, why_unrelated
from cocite.results.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from cocite.results.compare import Comparison
    from cocite.web import Web


@operation(
    group="related pages",
    examples=["cocite compare nytimes.com", "cocite compare bmw.com -m cocitation -m 'companion(unit=host)' -k 5"],
    route="/api/compare",
    tool="compare",
    slow=True,
)
class Compare(Operation, Filters):
    """Compare the results of several methods, and how much they agree."""

    urls: tuple[str, ...] = shared_parameters.urls()
    methods: tuple[str, ...] = shared_parameters.method(
        (),  # type: ignore[arg-type]
        f"A method to compare; may be repeated (default: {', '.join(COMPARED_METHODS)})",
        example=None,
        on={
            "cli": {"name": "method"},
            "http": {"name": "method", "max_items": 20, "max_length": 1000},
            "mcp": {"max_items": 8, "max_length": 1000},
            "python": {"name": "methods_"},
        },
    )
    k: int = shared_parameters.k(help="Maximum number of results of each method", mcp_default=5)

    def run(self, web: Web) -> Comparison:
        """The results of each method."""
        from cocite.related.methods import method
        from cocite.results.compare import compare

        chosen = [method(call) for call in self.calls]
        return compare(web, find_pages(web.graph, self.urls)[0], chosen, self.k, self.filters)

    @property
    def calls(self) -> tuple[str, ...]:
        """The methods, each once."""
        return tuple(dict.fromkeys(self.methods or COMPARED_METHODS))

    def why_empty(self, web: Web, result: Any) -> str:
        """Why no method finds anything, and what to try."""
        if not self.k or any(len(answers) for answers in result.by_method.values()):
            return ""
        if self.filters != NO_FILTERS:
            return why_filtered(web, self.filters, self.urls)
        return why_unrelated(web, self.urls, *self.calls)
