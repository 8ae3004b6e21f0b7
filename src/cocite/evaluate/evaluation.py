"""Compare methods, or runs of other programs, with judgements: the tables and figures of Dean & Henzinger 1999, §4."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice
from statistics import fmean, median

from cocite.errors import BadParameter
from cocite.evaluate import measures
from cocite.evaluate.judgements import Judgements, Run, page_of
from cocite.evaluate.significance import compare, compare_as_1999, holm
from cocite.graph.generation import Progress
from cocite.graph.store import Graph
from cocite.related.methods import Method
from cocite.results.ask import Question, ask
from cocite.results.filters import NO_FILTERS, Filters
from cocite.results.known import known_shorter, look_up
from cocite.sources.records import ReadReport
from cocite.web import Web

Table = tuple[list[str], list[list[object]]]
"""A header and rows."""
SIZES = ("nodes", "edges", "siblings", "cocited")
"""Sizes of a neighbourhood that methods report."""
DRAWN_SIZES = ("edges", "siblings", "nodes")
MISSED = "not answered by"


def in_store(graph: Graph, judgements: Judgements, report: ReadReport) -> tuple[Judgements, dict[str, int]]:
    """The judgements under the store's names of pages, and the page of each query, or one at a shorter address.

    A query of which the store has neither stays, without results. Unknown pages stay, never found. All are counted.
    """
    names: dict[str, tuple[str, int]] = {}

    def known(page: str) -> tuple[str, int]:
        if page not in names:
            number = graph.get(page)
            names[page] = (page, -1) if number is None else (graph.canonical(number), number)
        return names[page]

    found, numbers = Judgements(repeated=judgements.repeated, contradicted=judgements.contradicted), {}
    for query, ratings in judgements.ratings.items():
        name, number = known(query)
        if number >= 0:
            numbers[name] = number
        elif (shorter := next(known_shorter(graph, query, "host"), None)) is not None:
            numbers[name] = shorter
            report.skip("query that is not in the store, chopped", query)
        else:
            report.skip("query that is not in the store", query)
        for page, rating in ratings.items():
            other, at = known(page)
            if at < 0:
                report.skip("judged page that is not in the store", page)
            found.rate(name, other, rating)
    return found, numbers


def page_in(graph: Graph, otherwise: Callable[[str], str] = page_of) -> Callable[[str], str]:
    """A function from a text in a file to a page, for `read_judgements` and `read_run`.

    Opaque names of the store stay as they are; `Node.js` would become an address in lower case.
    """

    def found(text: str) -> str:
        number = graph.get(text)
        return otherwise(text) if number is None else graph.canonical(number)

    return found


def run_in_store(graph: Graph, run: Run) -> Run:
    """The results of another program under the store's names of pages; unknown pages stay as they are.

    Names of one page are merged, and other names of the query are removed.
    """

    known = page_in(graph, lambda page: page)
    answers: dict[str, list[str]] = {}
    for query, pages in run.answers.items():
        name = known(query)
        given = dict.fromkeys([*answers.get(name, ()), *map(known, pages)])
        answers[name] = [page for page in given if page != name]
    return replace(run, answers=answers)


def ask_methods(
    web: Web,
    methods: Sequence[Method],
    queries: Collection[str],
    depth: int = measures.DEPTH,
    filters: Filters = NO_FILTERS,
    progress: Progress = lambda *_: None,
) -> list[Run]:
    """The results of every method for every query, by their canonical addresses, with the time of each.

    Each method chops unknown addresses in its own way. The first query is run once before the clock starts, to load
    kernels and files.
    """
    runs = []
    for method in methods:
        run = Run(str(method))
        found = {query: look_up(web.graph, query, method.chop) for query in queries}
        asked = {query: Question((query,), (page.page,)) for query, page in found.items() if page}
        for question in islice(asked.values(), 1):
            ask(web, question, method, depth, filters, explained=False)
        for query in queries:
            run.answers[query] = []
            if query in asked:
                answers = ask(web, asked[query], method, depth, filters, explained=False)
                run.answers[query] = [web.graph.canonical(answer.page) for answer in answers]
                run.milliseconds[query], run.facts[query] = answers.milliseconds, answers.facts
            progress(f"asking {method}", 1, len(queries))
        runs.append(run)
    return runs


@dataclass(frozen=True)
class Evaluation:
    """Judgements and runs. Queries are the judged ones; a query without results counts 0."""

    judgements: Judgements
    runs: Sequence[Run]
    depth: int = measures.DEPTH

    def __post_init__(self) -> None:
        names = [run.name for run in self.runs]
        if len(set(names)) < len(names):
            raise BadParameter("Two runs have the same name: give each method once, and run files with different names")

    @cached_property
    def queries(self) -> list[str]:
        """The queries with at least one right page."""
        return [query for query in self.rated if self.judgements.right(query)]

    @cached_property
    def rated(self) -> list[str]:
        """All judged queries, also those without a right page or a rated one."""
        return list(self.judgements.ratings)

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """All queries; those that every run answers, if some don't; and for each run those that only others answer."""
        found = {"all": self.rated}
        if len(self.runs) > 1:
            both = [query for query in self.rated if all(run.of(query) for run in self.runs)]
            if len(both) < len(self.rated):
                found["intersection"] = both
            for run in self.runs:
                missing = [query for query in self.rated if not run.of(query)]
                if any(other.of(query) for query in missing for other in self.runs):
                    found[f"{MISSED} {run.name}"] = missing
        return found

    def values(self, run: Run, measure: measures.Measure, queries: Sequence[str]) -> list[float]:
        """A measure for every query."""
        return [measure(run.of(query), self.judgements.right(query), self.depth) for query in queries]

    def mean(self, run: Run, measure: measures.Measure, queries: Sequence[str]) -> float:
        """The mean of a measure over queries; 0 without queries."""
        return fmean(self.values(run, measure, queries)) if queries else 0.0

    def table_3(self) -> Table:
        """Table 3: queries with results, results, and how many of them are rated, right, or could not be opened."""
        rows, ratings = [], self.judgements.ratings
        for run in self.runs:
            given = [(query, page) for query in ratings for page in run.of(query)[: self.depth]]
            rated = [ratings[query][page] for query, page in given if page in ratings[query]]
            right, dead = sum(each > 0 for each in rated), sum(each < 0 for each in rated)
            answered = sum(1 for query in ratings if run.of(query))
            rows.append([run.name, answered, len(given), len(rated), right, dead])
        return ["method", "answered", "answers", "rated", "right", "not opened"], rows

    def table_4(self, in_degree: Mapping[str, int] | None = None) -> Table:
        """Table 4 as medians over queries: in-links, the size of the neighbourhood, and the time."""
        rows = []
        for run in self.runs:
            degrees = [in_degree[query] for query in run.answers if query in in_degree] if in_degree else []
            cells: list[object] = [run.name, f"{median(degrees):,.1f}".removesuffix(".0") if degrees else ""]
            for name in SIZES:
                values = [value for query in run.answers if (value := run.size(query, name)) is not None]
                cells.append(f"{median(values):,.0f}" if values else "")
            times = list(run.milliseconds.values())
            rows.append([*cells, f"{median(times):.2f}" if times else ""])
        return ["method", "links in", *SIZES, "ms"], rows

    def table_4_by_query(self, in_degree: Mapping[str, int], maximum: int | None = None) -> Table:
        """Table 4, a row per query, at most `maximum`: the sizes that runs report, and the time."""
        columns = []
        for run in self.runs:
            known = [name for name in SIZES if any(run.size(query, name) is not None for query in run.answers)]
            columns += [(run, name) for name in (*known, "ms")]
        rows: list[list[object]] = []
        for query in list(self.judgements.ratings)[:maximum]:
            cells: list[object] = [query, in_degree.get(query, "")]
            for run, name in columns:
                value = run.milliseconds.get(query) if name == "ms" else run.size(query, name)
                shown = "" if value is None else f"{value:.2f}" if name == "ms" else f"{value:,.0f}"
                cells.append(shown if run.of(query) else "–")
            rows.append(cells)
        return ["query", "links in", *(f"{run.name} {name}" for run, name in columns)], rows

    def table_5(self) -> dict[str, Table]:
        """Table 5 with more columns: every measure of every run for every group of queries."""
        usual, published = ([f"{name}@{self.depth}" for name in of] for of in (measures.MEASURES, measures.AS_1999))
        found, known = {}, set(self.queries)
        for group, queries in self.groups.items():
            right = [query for query in queries if query in known]
            rows: list[list[object]] = []
            for run in self.runs:
                means = [self.mean(run, measure, right) for measure in measures.MEASURES.values()]
                over_all = (*measures.AS_1999.values(), *measures.COVERAGE.values())
                means += [self.mean(run, measure, queries) for measure in over_all]
                rows.append([run.name, *(f"{mean:.4f}" for mean in means)])
            title = f"{group}: {len(queries):,} {'query' if len(queries) == 1 else 'queries'}"
            found[title] = (["method", *usual, *published, *measures.COVERAGE], rows)
        return found

    def table_6(self) -> Table:
        """Table 6: Sign Test and Sum of Ranks Test of the average precision of 1999, one-sided.

        The first of each pair is the better one over all queries, as in the paper.
        """
        measure = measures.average_precision_of_returned
        order = sorted(self.runs, key=lambda run: -self.mean(run, measure, self.rated))
        rows, p = list[list[object]](), list[tuple[float, float]]()
        for group, queries, one, other in self._pairs(order, self.rated):
            found = compare_as_1999(self.values(one, measure, queries), self.values(other, measure, queries))
            rows.append([group, one.name, other.name, f"{found.better} : {found.worse}"])
            p.append((found.sign, found.rank_sum))
        _add_p_values(rows, p)
        tests = ["sign, p", "sign, Holm", "sum of ranks, p", "sum of ranks, Holm"]
        return ["queries", "method", "better than", "better : worse", *tests], rows

    def table_paired(self) -> Table:
        """The standard tests of every pair: average precision, query by query, two-sided."""
        rows, p = list[list[object]](), list[tuple[float, float]]()
        for group, queries, one, other in self._pairs(self.runs, self.queries):
            first, second = (self.values(run, measures.average_precision, queries) for run in (one, other))
            found = compare(first, second)
            gap = [f"{found.difference:+.4f}", f"{found.low:+.4f} to {found.high:+.4f}"]
            rows.append([group, one.name, other.name, *gap, f"{found.better} : {found.worse}"])
            p.append((found.sign, found.signed_rank))
        _add_p_values(rows, p)
        tests = ["sign, p", "sign, Holm", "signed ranks, p", "signed ranks, Holm"]
        return ["queries", "method", "beside", "MAP", "95 %", "better : worse", *tests], rows

    def _pairs(self, runs: Sequence[Run], among: Sequence[str]) -> Iterator[tuple[str, list[str], Run, Run]]:
        """Yield every group of at least two queries with every two runs that have results in it."""
        known = set(among)
        for group, queries in self.groups.items():
            kept = [query for query in queries if query in known]
            for one, other in combinations(runs, 2) if len(kept) > 1 else ():
                if group not in (f"{MISSED} {one.name}", f"{MISSED} {other.name}"):
                    yield group, kept, one, other

    def table_7(self) -> Table:
        """Table 7: the number of results that two runs have in common, and its share of the results of the first."""
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

    def times(self, run: Run) -> tuple[str, list[tuple[float, float]]]:
        """Fig. 2: the size to draw time against, and (size, milliseconds) of every query.

        In the paper that is edges for Companion and siblings for Cocitation; other methods may report nodes.
        """
        for name in DRAWN_SIZES:
            found = [(run.size(query, name) or 0.0, took) for query, took in run.milliseconds.items()]
            if found := [(size, took) for size, took in found if size > 0 and took > 0]:
                return name, sorted(found)
        return "", []


def _add_p_values(rows: Sequence[list[object]], p: Sequence[Sequence[float]]) -> None:
    """Add the p-values of each row, each with its value corrected for the number of rows of the same queries."""
    for group in dict.fromkeys(row[0] for row in rows):
        places = [place for place, row in enumerate(rows) if row[0] == group]
        for test in zip(*(p[place] for place in places), strict=True):
            for place, value, corrected in zip(places, test, holm(test), strict=True):
                rows[place] += [f"{value:.2g}", f"{corrected:.2g}"]
