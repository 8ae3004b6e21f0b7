"""Compare what several methods return for the same pages."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

from cocite.operations import COMPARED_METHODS, DEFAULT_METHOD, shared
from cocite.operations.declare import Operation, Web, operation
from cocite.operations.pages.related import why_filtered, why_unrelated
from cocite.results.answer import Answers, Result, columns_of
from cocite.results.filters import NO_FILTERS, Filters


@dataclass(frozen=True)
class Comparison(Result):
    """The results of each method, keyed by its name with parameters."""

    by_method: dict[str, Answers]

    @property
    def note(self) -> str:
        """What to know about all results, in words."""
        return "; ".join(dict.fromkeys(answers.note for answers in self.by_method.values() if answers.note))

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
        from cocite.graph.export.libraries import frame_of

        methods = [name for name, answers in self.by_method.items() for _ in answers]
        rows = columns_of(answer for answers in self.by_method.values() for answer in answers)
        return frame_of({"method": methods, **rows}, library)

    def _repr_html_(self) -> str:
        from cocite.results.pictures.notebook import comparison_html

        return comparison_html(self.by_method)

    def to_dict(self) -> dict[str, Any]:
        pairs = combinations(self.by_method, 2)
        return {
            "methods": {name: answers.to_dict() for name, answers in self.by_method.items()},
            "overlaps": [{"methods": list(pair), "common": self.overlap(*pair)} for pair in pairs],
            **({"note": self.note} if self.note else {}),
        }


@operation(route="/api/compare", tool="compare", slow=True)
class Compare(Operation, Filters):
    """Compare the results of several methods, and how much they agree.

    Examples:
        cocite compare nytimes.com
        cocite compare bmw.com -m cocitation -m 'companion(unit=host)' -k 5
    """

    urls: tuple[str, ...] = shared.urls(python="page")
    methods: tuple[str, ...] = shared.method(
        (),  # type: ignore[arg-type]
        f"A method to compare; may be repeated (default: {', '.join((DEFAULT_METHOD, *COMPARED_METHODS))})",
        example=None,
        on={
            "cli": {"name": "method"},
            "http": {"name": "method", "max_items": 20, "max_length": 1000},
            "mcp": {"max_items": 8, "max_length": 1000},
            "python": {"name": "methods_"},
        },
    )
    k: int = shared.k(help="Maximum number of results of each method", mcp_default=5)
    as_of: str = shared.as_of()

    def run(self, web: Web) -> Comparison:
        """The results of each method, without reasons."""
        from cocite.related.methods import method
        from cocite.results.ask import ask, question

        chosen = {str(each): each for each in map(method, self.calls)}
        by_method = {}
        for name, each in chosen.items():
            asked = question(web.graph, self.urls, chop=each.chop)
            by_method[name] = ask(web, asked, each, self.k, self.filters, False)
        return Comparison(by_method)

    @property
    def calls(self) -> tuple[str, ...]:
        """The methods, each once."""
        return tuple(dict.fromkeys(self.methods or (DEFAULT_METHOD, *COMPARED_METHODS)))

    def why_empty(self, web: Web, result: Any) -> str:
        if any(map(len, result.by_method.values())):
            return ""
        if self.filters != NO_FILTERS:
            return why_filtered(web, self.filters, self.urls)
        return why_unrelated(web, self.urls, *self.calls)
