"""Recommend pages from a reading history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter
from cocite.operations import shared_parameters
from cocite.operations.declare import Operation, operation
from cocite.operations.pages.related import Related
from cocite.parameters import parameter
from cocite.results.filters import Filters

if TYPE_CHECKING:
    from cocite.results.answer import Answers
    from cocite.web import Web

MAX_WEIGHT = 1e9


@operation(
    group="related pages",
    examples=[
        "cocite recommend nytimes.com bmw.com",
        "cocite recommend --history read.tsv -k 20 --not-own-site",
    ],
    route="/api/recommend",
    slow=True,
)
class Recommend(Operation, Filters):
    """Recommend pages to somebody who has read some pages.

    The score of a page is the weighted mean of its scores for each page of the history. Pages that the store doesn't
    have are ignored.
    """

    urls: tuple[str, ...] = shared_parameters.urls(
        "Address of a page that was read; may be repeated", required=False, python="history"
    )
    weights: tuple[float, ...] = parameter(
        (), "How much each of these pages counts, in their order (default: 1 each)", type=float, minimum=0,
        maximum=MAX_WEIGHT, max_items=shared_parameters.MAX_PAGES, surfaces=("http",),
        on={"http": {"name": "weight", "max_items": 50}},
    )  # fmt: skip
    method: str = shared_parameters.method()
    k: int = shared_parameters.k()
    exclude: tuple[str, ...] = shared_parameters.exclude()

    def validate(self) -> None:
        super().validate()
        if not self.urls:
            raise BadParameter("No page to start from: give addresses, or a history")
        if self.weights and len(self.weights) != len(self.urls):
            raise BadParameter(f"{len(self.weights):,} weights for {len(self.urls):,} pages: give one for each page")
        if not all(self.weights):
            raise BadParameter("A weight must be a number above 0")

    @property
    def question(self) -> Related:
        """The same question, as one about related pages."""
        history = tuple(zip(self.urls, self.weights or (1.0,) * len(self.urls), strict=True))
        own = {name: value for name, value in vars(self).items() if name not in ("urls", "weights")}
        return Related(history=history, **own)

    def run(self, web: Web) -> Answers:
        """The k pages most related to the history."""
        return self.question.run(web)

    def why_empty(self, web: Web, result: Any) -> str:
        return self.question.why_empty(web, result)
