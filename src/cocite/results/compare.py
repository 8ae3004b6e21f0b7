"""Several methods on the same query, side by side, and how much they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cocite.related.methods import Method
from cocite.results.answer import Answers
from cocite.results.ask import Question, ask
from cocite.results.filters import NO_FILTERS, Filters
from cocite.web import Web


@dataclass(frozen=True)
class Comparison:
    """The results of each method, keyed by its name with parameters."""

    by_method: dict[str, Answers]

    def overlap(self, first: str, second: str) -> int:
        """Number of results that two methods share."""
        return len({a.page for a in self.by_method[first]} & {a.page for a in self.by_method[second]})

    def votes(self) -> list[tuple[str, list[str]]]:
        """Every result with the methods that return it: most methods first, then best rank."""
        found: dict[str, list[str]] = {}
        best: dict[str, int] = {}
        for name, answers in self.by_method.items():
            for answer in answers:
                found.setdefault(answer.url, []).append(name)
                best[answer.url] = min(answer.rank, best.get(answer.url, answer.rank))
        return sorted(found.items(), key=lambda item: (-len(item[1]), best[item[0]], item[0]))

    def to_frame(self, library: str = "pandas") -> Any:
        """A pandas (or Polars) table with a row for every result of every method."""
        from cocite.results.tables import comparison_frame

        return comparison_frame(self, library)

    def _repr_html_(self) -> str:
        from cocite.results.pictures.notebook import comparison

        return comparison(self)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = list(self.by_method)
        return {
            "methods": {name: answers.to_dict() for name, answers in self.by_method.items()},
            "overlaps": [
                {"methods": [first, second], "common": self.overlap(first, second)}
                for i, first in enumerate(names)
                for second in names[i + 1 :]
            ],
        }


def compare(
    web: Web, asked: Question, methods: Sequence[Method], k: int = 10, filters: Filters = NO_FILTERS
) -> Comparison:
    """Run every method on the same query, without reasons."""
    return Comparison({str(method): ask(web, asked, method, k, filters, explained=False) for method in methods})
