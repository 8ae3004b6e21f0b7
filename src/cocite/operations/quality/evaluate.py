"""Measure how good methods are, with judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter
from cocite.operations import COMPARED_METHODS, DEFAULT_METHOD
from cocite.operations.declare import Progress, operation
from cocite.operations.task import Task, check_writable
from cocite.parameters import parameter
from cocite.results.filters import Filters
from cocite.system import make_folder, replace_file
from cocite.text import count

if TYPE_CHECKING:
    from cocite.evaluate.evaluation import Evaluation, Table
    from cocite.evaluate.judgements import Judgements, Run
    from cocite.related.methods import Method
    from cocite.sources.records import ReadReport


def methods_option(verb: str, default: str) -> Any:
    """The methods to compare."""
    help = f"A method to {verb}; may be repeated (default: {default})"
    return parameter((), help, metavar="METHOD", flags=("--method", "-m"), calls=True)


def html_option() -> Any:
    """A file for the report."""
    return parameter("", "Also write a report with figures, one page of HTML", metavar="FILE")


def methods_of(calls: Sequence[str]) -> list[Method]:
    """The methods with these names, each once."""
    from cocite.related import methods

    return list({str(each): each for each in map(methods.method, calls)}.values())


@dataclass(frozen=True)
class EvaluationResult:
    """An evaluation, with what was skipped, and the in-links of each query, if a store was asked."""

    found: Evaluation
    report: ReadReport
    in_degree: dict[str, int] | None
    tables: Mapping[str, Table] = field(default_factory=dict)  # more of them, by name
    remarks: Sequence[str] = ()

    def with_report(self, html: str, title: str) -> EvaluationResult:
        """Count what judgements and runs don't have, and write the report if a file is named."""
        from cocite.evaluate.report import page

        found, report = self.found, self.report
        if missing := len(found.rated) - len(found.queries):
            report.skip("query without a relevant page (counts in the measures of 1999 only)", count=missing)
        for run in found.runs:
            if unanswered := [query for query in found.rated if not run.of(query)]:
                report.skip(f"query without results of {run.name}", unanswered[0], len(unanswered))
            if unjudged := [query for query in run.answers if query not in found.judgements.ratings]:
                report.skip(f"query of {run.name} without judgements, ignored", unjudged[0], len(unjudged))
        if html:
            replace_file(Path(html), page(title, self.notes, found, self.in_degree, self.tables))
        return self

    @property
    def notes(self) -> list[str]:
        """What the evaluation counts, in words."""
        found, judged = self.found, self.found.judgements
        counted = f"the first {count(found.depth, 'result')} of each count"
        facts = [*self.remarks, f"queries with a relevant page: {len(found.queries):,}; {counted}"]
        if judged.repeated:
            differ = f", {judged.contradicted:,} with another rating: the best counts" if judged.contradicted else ""
            facts.append(f"{count(judged.repeated, 'pair')} given more than once{differ}")
        for reason, number in self.report.skipped.items():
            example = self.report.example[reason]
            facts.append(f"{reason}: {number:,}" + (f", such as {example!r}" if example else ""))
        return facts

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the tables, rows by column name."""
        found, degrees = self.found, self.in_degree
        return {
            "queries": len(found.queries),
            "repeated": found.judgements.repeated,
            "contradicted": found.judgements.contradicted,
            "skipped": dict(self.report.skipped),
            **{name: _rows(table) for name, table in self.tables.items()},
            "measures": {group.rpartition(": ")[0]: _rows(table) for group, table in found.table_5().items()},
            "significance": _rows(found.table_paired(), names=3),
            "significance_1999": _rows(found.table_6(), names=3),
            "overlap": _rows(found.table_7()),
            "answers": _rows(found.table_3()),
            "cost": _rows(found.table_4(degrees)),
            "cost_by_query": _rows(found.table_4_by_query(degrees)) if degrees else [],
            "precision_at": {
                group: {run.name: [value for _, value in found.curve(run, queries)] for run in found.runs}
                for group, queries in found.groups.items()
            },
        }


def _rows(table: Table, names: int = 1) -> list[dict[str, Any]]:
    """The rows of a table; cells after the first `names` are numbers where they can be."""

    def number(cell: object) -> object:
        try:
            return float(cell.replace(",", "")) if isinstance(cell, str) else cell
        except ValueError:
            return cell

    head, rows = table
    return [dict(zip(head, [*row[:names], *map(number, row[names:])], strict=True)) for row in rows]


@operation()
class Evaluate(Task, Filters):
    """Measure how good methods are: precision, significance, overlap, time.

    With --run and without -m, only those runs are evaluated. "P 1999", "AP 1999" and the tables are those of the user
    study of Dean & Henzinger (1999); the other measures are the usual ones. A query without results counts 0. A TREC
    run is in the order of its scores.

    Examples:
        cocite evaluate -j judgements.tsv.gz -m companion --html report.html
        cocite evaluate -j qrels.txt --run other.tsv -m cocitation
    """

    judgements: str = parameter(
        "", "Judgements: query<TAB>page[<TAB>rating] per line, or TREC qrels", metavar="FILE",
        flags=("--judgements", "-j"), required=True,
    )  # fmt: skip
    method: tuple[str, ...] = methods_option("evaluate", "auto and some others")
    run_files: tuple[str, ...] = parameter(
        (), "Results of another program: query<TAB>rank<TAB>page per line, or a TREC run", metavar="FILE",
        on={"cli": {"name": "run"}},
    )  # fmt: skip
    k: int = parameter(10, "Number of results that count", flags=("-k",), minimum=1, maximum=1000)
    queries: int = parameter(0, "Number of queries, evenly chosen (0: all)", minimum=0)
    html: str = html_option()
    save: str = parameter("", "Also write the results of each method, as runs", metavar="FOLDER")

    def validate(self) -> None:
        super().validate()
        check_writable(self.html)
        if self.save and Path(self.save).exists() and not Path(self.save).is_dir():
            raise BadParameter(f"{self.save} is a file: give a folder; a new one will be made")

    def do(self, progress: Progress) -> EvaluationResult:
        """Ask the methods, and compare them with the judgements."""
        from cocite.evaluate.evaluation import Evaluation, ask_methods, in_store, page_in, run_in_store
        from cocite.evaluate.judgements import Run, page_of, read_judgements
        from cocite.kernels.interpreted import expect
        from cocite.sources.records import ReadReport
        from cocite.web import Web

        report, path = ReadReport(), Path(self.judgements)
        chosen = methods_of(self.method or (() if self.run_files else (DEFAULT_METHOD, *COMPARED_METHODS)))
        web = Web(self.index) if chosen else None
        names = page_of if web is None else page_in(web.graph)
        judged, degrees = read_judgements(path, report, names), None
        runs = read_runs(self.run_files, report, names)
        if 0 < self.queries < len(judged):
            choose_queries(judged, runs, self.queries)
        Evaluation(judged, [*(Run(str(each)) for each in chosen), *runs])  # refuses two of one name before any work
        if web is not None:
            web.progress = progress
            judged, numbers = in_store(web.graph, judged, report)
            if not numbers:
                raise BadParameter(f"{self.index} has none of the queries of {path}: is it the right store?")
            known = {name: web.graph.canonical(page) == name for name, page in numbers.items()}  # not chopped
            degrees = {name: int(web.graph.in_degree[page]) * known[name] for name, page in numbers.items()}
            expect(questions=len(chosen) * len(numbers))
            asked = ask_methods(web, chosen, numbers, self.k, self.filters, progress)
            runs = [*asked, *(run_in_store(web.graph, run) for run in runs)]
        found = Evaluation(judged, runs, self.k)
        if self.save:
            save_runs(found, Path(self.save))
        return EvaluationResult(found, report, degrees).with_report(self.html, f"Evaluation by {path.name}")


def read_runs(files: Sequence[str], report: ReadReport, page_of: Callable[[str], str]) -> list[Run]:
    """The runs of files, named after them; if two have the same name, by their paths."""
    from cocite.evaluate.judgements import read_run

    paths = list(dict.fromkeys(map(Path, files)))
    names = Counter(path.name for path in paths)
    shown = {path: path.name if names[path.name] == 1 else str(path) for path in paths}
    return [replace(read_run(path, report, page_of), name=name) for path, name in shown.items()]


def choose_queries(judged: Judgements, runs: Sequence[Run], wanted: int) -> None:
    """Keep `wanted` queries, evenly spread over the judgements."""
    every = list(judged.ratings)
    for query in set(every) - {every[at * len(every) // wanted] for at in range(wanted)}:
        del judged.ratings[query]
        for run in runs:
            run.answers.pop(query, None)


def save_runs(found: Evaluation, folder: Path) -> None:
    """A file query<TAB>rank<TAB>answer for every run."""
    make_folder(folder)
    for number, run in enumerate(found.runs, 1):
        rows = [f"{query}\t{rank}\t{page}\n" for query in run.answers for rank, page in enumerate(run.of(query), 1)]
        name = "".join(c if c.isalnum() or c in "_-" else "_" for c in run.name)[:80]
        replace_file(folder / f"{number:02d}-{name}.tsv", "".join(rows))
