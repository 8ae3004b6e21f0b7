"""Recommend pages from a reading history."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from cocite.errors import BadParameter
from cocite.operations import shared
from cocite.operations.declare import Operation, Web, operation
from cocite.operations.pages.related import CommandLineOptions, Related
from cocite.parameters import parameter
from cocite.results.answer import Answers

MAX_WEIGHT = 1e9


@operation(route="/api/recommend", slow=True)
class Recommend(Operation, CommandLineOptions):
    """Recommend pages to somebody who has read some pages.

    The score of a page is the weighted mean of its scores for each page of the history. Pages that the store doesn't
    have are ignored.

    Command line: Exits with 0 if there are results, 1 if the page is known but nothing is related, 3 if it is
    unknown.

    Examples:
        cocite recommend nytimes.com bmw.com
        cocite recommend --history read.tsv -k 20 --not-own-site
    """

    urls: tuple[str, ...] = shared.urls(
        "Address of a page that was read; may be repeated", required=False, python="history"
    )
    weights: tuple[float, ...] = parameter(
        (), "How much each of these pages counts, in their order (default: 1 each)", type=float, minimum=0,
        maximum=MAX_WEIGHT, max_items=shared.MAX_PAGES, surfaces=("http",),
        on={"http": {"name": "weight", "max_items": 50}},
    )  # fmt: skip
    k: int = shared.k()
    method: str = shared.method()
    exclude: tuple[str, ...] = shared.exclude()

    def validate(self) -> None:
        super().validate()
        if not self.urls and not self.history_file:
            raise BadParameter("No page to start from: give addresses, or a history")
        if self.weights and len(self.weights) != len(self.urls):
            raise BadParameter(f"{len(self.weights):,} weights for {len(self.urls):,} pages: give one for each page")
        if not all(self.weights):
            raise BadParameter("A weight must be a number above 0")

    def on_surface(self, surface: str) -> Self:
        """Read the history that the command line names."""
        if not self.history_file:
            return self
        from cocite.results.history import read_history

        urls, weights = zip(*read_history(Path(self.history_file)), strict=True)
        return replace(self, urls=(*self.urls, *urls), weights=(*(1.0 for _ in self.urls), *weights))

    @property
    def question(self) -> Related:
        """The same question, as one about related pages."""
        history = tuple(zip(self.urls, self.weights or (1.0,) * len(self.urls), strict=True))
        own = {name: value for name, value in vars(self).items() if name not in ("urls", "weights")}
        return Related(history=history, **own)

    def run(self, web: Web) -> Answers:
        return self.question.run(web)

    def warnings(self, web: Web, result: Any) -> Iterator[str]:
        return self.question.warnings(web, result)

    def why_empty(self, web: Web, result: Any) -> str:
        return self.question.why_empty(web, result)
