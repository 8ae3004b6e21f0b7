"""Methods, or runs of other programs, against judgements: the tables and figures of Dean & Henzinger 1999, §4.

`ask_methods` has methods answer the judged queries; `Evaluation` holds judgements and runs, and makes tables of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median

from cocite.answers.ask import Question, ask
from cocite.answers.diversify import NO_FILTERS, Filters
from cocite.errors import BadParameter, CociteError
from cocite.evaluate import measures
from cocite.evaluate.judgements import Judgements, Run
from cocite.evaluate.significance import Tests, compare
from cocite.graph.store import Graph
from cocite.methods import Method
from cocite.sources.records import Report
from cocite.web import Web

Progress = Callable[[str, int, int | None], None]
Table = tuple[list[str], list[list[object]]]
"""A header, and rows."""


def in_store(graph: Graph, judgements: Judgements, report: Report) -> tuple[Judgements, dict[str, int]]:
    """The judgements by what a store calls the pages, and its number for each query that it knows.

    A query that it does not know stays, unanswered; a page that it does not know stays, never found. Both are counted.
    """
    names: dict[str, tuple[str, int]] = {}

    def known(page: str) -> tuple[str, int]:
        if page not in names:
            try:
                number = graph.find(page)
                names[page] = graph.canonical(number), number
            except CociteError:
                names[page] = page, -1
        return names[page]

    found, numbers = Judgements(repeated=judgements.repeated), {}
    for query, ratings in judgements.ratings.items():
        name, number = known(query)
        if number >= 0:
            numbers[name] = number
        else:
            report.skip("query that the store does not know", query)
        for page, rating in ratings.items():
            other, at = known(page)
            if at < 0:
                report.skip("judged page that the store does not know", page)
            found.rate(name, other, rating)
    return found, numbers


def ask_methods(
    web: Web,
    methods: Sequence[Method],
    queries: Mapping[str, int],
    depth: int = measures.DEPTH,
    filters: Filters = NO_FILTERS,
    progress: Progress = lambda *_: None,
) -> list[Run]:
    """The answers of every method to every query, with the time that each took."""
    runs = []
    for method in methods:
        run = Run(str(method))
        for query, page in queries.items():
            answers = ask(web, Question((query,), (page,)), method, depth, filters, explained=False)
            run.answers[query] = [web.graph.canonical(answer.page) for answer in answers]
            run.milliseconds[query], run.facts[query] = answers.milliseconds, answers.facts
            progress(f"asking {method.name}", 1, len(queries))
        runs.append(run)
    return runs


@dataclass(frozen=True)
class Evaluation:
    """Judgements and runs. Queries are those judged; what a run does not answer counts 0."""

    judgements: Judgements
    runs: Sequence[Run]
    depth: int = measures.DEPTH

    def __post_init__(self) -> None:
        names = [run.name for run in self.runs]
        if len(set(names)) < len(names):
            raise BadParameter("two runs of the same name: give each method once, and runs files of different names")

    @property
    def queries(self) -> list[str]:
        """Those with at least one page that is right."""
        return [query for query in self.judgements.ratings if self.judgements.right(query)]

    def groups(self) -> dict[str, list[str]]:
        """All queries; those that every run answers, if some do not; and for each run that leaves some out, those."""
        everything = self.queries
        found = {"all": everything}
        if len(self.runs) > 1:
            both = [query for query in everything if all(run.of(query) for run in self.runs)]
            if len(both) < len(everything):
                found["intersection"] = both
            for run in self.runs:
                missing = [query for query in everything if not run.of(query)]
                if missing:
                    found[f"not answered by {run.name}"] = missing
        return found

    def values(self, run: Run, measure: measures.Measure, queries: Sequence[str]) -> list[float]:
        """A measure of every query."""
        return [measure(run.of(query), self.judgements.right(query), self.depth) for query in queries]

    def mean(self, run: Run, measure: measures.Measure, queries: Sequence[str]) -> float:
        """The mean of a measure over queries; 0 of none."""
        return fmean(self.values(run, measure, queries)) if queries else 0.0

    def table_3(self) -> Table:
        """Table 3: queries answered, answers given, and how many of these are rated, right, could not be opened."""
        rows = []
        for run in self.runs:
            given = [(query, page) for query in self.judgements.ratings for page in run.of(query)[: self.depth]]
            rated = [
                self.judgements.ratings[query][page] for query, page in given if page in self.judgements.ratings[query]
            ]
            right, dead = sum(each > 0 for each in rated), sum(each < 0 for each in rated)
            answered = sum(1 for query in self.judgements.ratings if run.of(query))
            rows.append([run.name, answered, len(given), len(rated), right, dead])
        return ["method", "answered", "answers", "rated", "right", "not opened"], rows

    def table_4(self, in_degree: Mapping[str, int] | None = None) -> Table:
        """Table 4, as medians over queries: links in, the size of the neighbourhood, and the time."""
        rows = []
        for run in self.runs:
            facts = [run.facts.get(query, {}) for query in run.answers]
            cells: list[object] = [run.name]
            cells.append(f"{median(in_degree[query] for query in run.answers):g}" if in_degree and run.answers else "")
            for name in ("nodes", "edges", "siblings", "cocited"):
                values = [value for fact in facts if isinstance(value := fact.get(name), int | float)]
                cells.append(f"{median(values):,.0f}" if values else "")
            times = list(run.milliseconds.values())
            rows.append([*cells, f"{median(times):.2f}" if times else ""])
        return ["method", "links in", "nodes", "edges", "siblings", "cocited", "ms"], rows

    def table_5(self) -> dict[str, Table]:
        """Table 5 with more columns: every measure of every run, for every group of queries."""
        head = ["method", *(name if name == "answered" else f"{name}@{self.depth}" for name in measures.MEASURES)]
        return {
            f"{group}: {len(queries):,} queries": (
                head,
                [
                    [run.name, *(f"{self.mean(run, measure, queries):.4f}" for measure in measures.MEASURES.values())]
                    for run in self.runs
                ],
            )
            for group, queries in self.groups().items()
        }

    def tests(self, queries: Sequence[str], measure: measures.Measure) -> list[tuple[str, str, Tests]]:
        """Every pair of runs, compared."""
        values = {run.name: self.values(run, measure, queries) for run in self.runs}
        return [(one, other, compare(values[one], values[other])) for one, other in combinations(values, 2)]

    def table_6(self) -> Table:
        """Table 6: Sign Test and Sum of Ranks Test of average precision, for every pair; and the paired test."""
        rows: list[list[object]] = []
        for group, queries in self.groups().items():
            if len(queries) < 2 or group.startswith("not answered"):
                continue
            for one, other, found in self.tests(queries, measures.average_precision):
                gap = f"{found.difference:+.4f} ({found.low:+.4f} to {found.high:+.4f})"
                p = [f"{value:.2g}" for value in (found.sign, found.rank_sum, found.signed_rank)]
                rows.append([group, one, other, gap, f"{found.better} : {found.worse}", *p])
        head = ["queries", "method", "beside", "MAP, difference (95 %)", "better : worse"]
        return [*head, "sign, p", "sum of ranks, p", "signed ranks, p"], rows

    def table_7(self) -> Table:
        """Table 7: how many answers two runs have in common, and what share of the answers of the run in the row."""
        rows: list[list[object]] = []
        for run in self.runs:
            own = {query: set(run.of(query)[: self.depth]) for query in self.judgements.ratings}
            total = sum(map(len, own.values()))
            cells: list[object] = [run.name]
            for other in self.runs:
                common = sum(len(own[query] & set(other.of(query)[: self.depth])) for query in own)
                cells.append(f"{common:,} ({common / total:.0%})" if total else "0")
            rows.append(cells)
        return ["in common", *(run.name for run in self.runs)], rows

    def curve(self, run: Run, queries: Sequence[str]) -> list[tuple[float, float]]:
        """Fig. 1: precision at r for r = 1, 2, … depth."""
        right = {query: self.judgements.right(query) for query in queries}
        return [
            (r, fmean(measures.precision(run.of(query), right[query], r) for query in queries) if queries else 0.0)
            for r in range(1, self.depth + 1)
        ]

    def times(self, run: Run) -> list[tuple[float, float]]:
        """Fig. 2: (pages in the neighbourhood, milliseconds) of every query of which both are known."""
        found = []
        for query, took in run.milliseconds.items():
            nodes = run.facts.get(query, {}).get("nodes")
            if isinstance(nodes, int | float) and nodes > 0 and took > 0:
                found.append((float(nodes), took))
        return sorted(found)
