"""cocite evaluate: measure methods with judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as shared
from cocite.cli.commands import naming_options, options_of
from cocite.cli.files import check_writable, with_page_lists, write_file
from cocite.cli.options import taking
from cocite.cli.terminal import Screen, show_table
from cocite.errors import BadParameter
from cocite.operations import COMPARED_METHODS, DEFAULT_METHOD
from cocite.results.filters import Filters
from cocite.results.text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocite.evaluate.evaluation import Evaluation, Table
    from cocite.evaluate.judgements import Judgements, Run
    from cocite.sources.records import ReadReport


MAX_QUERIES_SHOWN = 100
"""With more queries, only reports say what each of them took."""


@taking(options_of(Filters))
def evaluate(
    judgements: Annotated[
        Path,
        typer.Option(
            "--judgements",
            "-j",
            metavar="FILE",
            help="Judgements: query<TAB>page[<TAB>rating] per line, or TREC qrels.",
        ),
    ],
    index: shared.Index = Path("web.cocite"),
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="METHOD",
            help="A method to evaluate; may be repeated (default: auto and some others).",
        ),
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Results of another program: query<TAB>rank<TAB>page per line, or a TREC run."
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, max=1000, help="Number of results that count.")] = 10,
    queries: Annotated[int, typer.Option(metavar="N", min=0, help="Number of queries, evenly chosen (0: all).")] = 0,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a report with figures, one page of HTML.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write the results of each method, as runs.")
    ] = None,
    json: shared.Json = False,
    **filters: Any,
) -> None:
    """Measure how good methods are: precision, significance, overlap, time.

    With --run and without -m, only those runs are evaluated. "P 1999", "AP 1999" and the tables are those of the user
    study of Dean & Henzinger (1999); the other measures are the usual ones. A query without results counts 0. A TREC
    run is in the order of its scores.

    \b
    Examples:
      cocite evaluate -j judgements.tsv.gz -m companion --html report.html
      cocite evaluate -j qrels.txt --run other.tsv -m cocitation
    """
    from cocite.cli.progress import display
    from cocite.evaluate.evaluation import Evaluation, ask_methods, in_store, page_in, run_in_store
    from cocite.evaluate.judgements import Run, page_of, read_judgements
    from cocite.related import methods
    from cocite.sources.records import ReadReport
    from cocite.web import Web

    check_writable(html)
    if save and save.exists() and not save.is_dir():
        raise BadParameter(f"{save} is a file: give a folder; a new one will be made")
    report = ReadReport()
    named = (
        methods.method(with_page_lists(each)) for each in method or ([] if run else (DEFAULT_METHOD, *COMPARED_METHODS))
    )
    chosen = list({str(each): each for each in named}.values())
    with naming_options(Filters):
        kept = Filters(**{name: value for name, value in filters.items() if value is not None})
    web = Web(index) if chosen else None
    names = page_of if web is None else page_in(web.graph)
    judged = read_judgements(judgements, report, names)
    runs, degrees = read_runs(run or [], report, names), None
    if 0 < queries < len(judged):
        choose_queries(judged, runs, queries)
    Evaluation(
        judged, [*(Run(str(each)) for each in chosen), *runs]
    )  # refuses two runs of one name before any method runs
    if web is not None:
        judged, numbers = in_store(web.graph, judged, report)
        if not numbers:
            raise BadParameter(f"{index} has none of the queries of {judgements}: is it the right store?")
        degrees = {name: int(web.graph.in_degree[page]) for name, page in numbers.items()}
        with display(quiet=json) as stages:
            web.progress = stages
            runs = [
                *ask_methods(web, chosen, numbers, k, kept, stages),
                *(run_in_store(web.graph, run) for run in runs),
            ]
    found = Evaluation(judged, runs, k)
    note_gaps(found, report)
    if save:
        save_runs(found, save)
    show_evaluation(f"Evaluation by {judgements.name}", found, report, degrees, html, json)


def read_runs(paths: Sequence[Path], report: ReadReport, page_of: Callable[[str], str]) -> list[Run]:
    """The runs of files, named after them; if two have the same name, by their paths."""
    from cocite.evaluate.judgements import read_run

    paths = list(dict.fromkeys(paths))
    names = Counter(path.name for path in paths)
    return [
        replace(read_run(path, report, page_of), name=path.name if names[path.name] == 1 else str(path))
        for path in paths
    ]


def choose_queries(judged: Judgements, runs: Sequence[Run], wanted: int) -> None:
    """Keep `wanted` queries, evenly spread over the judgements."""
    every = list(judged.ratings)
    for query in set(every) - {every[at * len(every) // wanted] for at in range(wanted)}:
        del judged.ratings[query]
        for run in runs:
            run.answers.pop(query, None)


def note_gaps(found: Evaluation, report: ReadReport) -> None:
    """Report what judgements and runs don't have."""
    missing = len(found.rated) - len(found.queries)
    if missing:
        report.skip("query without a relevant page (counts in the measures of 1999 only)", count=missing)
    for run in found.runs:
        unanswered = [query for query in found.rated if not run.of(query)]
        if unanswered:
            report.skip(f"query without results of {run.name}", unanswered[0], len(unanswered))
        unjudged = [query for query in run.answers if query not in found.judgements.ratings]
        if unjudged:
            report.skip(f"query of {run.name} without judgements, ignored", unjudged[0], len(unjudged))


def show_evaluation(
    title: str, found: Evaluation, report: ReadReport, degrees: dict[str, int] | None, html: Path | None, json: bool
) -> None:
    """Print an evaluation, and write its report if asked to."""
    if html:
        from cocite.evaluate.report import page

        write_file(html, page(title, notes_of(found, report), found, degrees))
    if json:
        Screen().json(as_json(found, report, degrees))
    else:
        show(Screen(), found, report, degrees)


def notes_of(found: Evaluation, report: ReadReport) -> list[str]:
    """What an evaluation counts, in words."""
    first = count(found.depth, "result")
    facts = [f"queries with a relevant page: {len(found.queries):,}; the first {first} of each count"]
    repeated, other = found.judgements.repeated, found.judgements.contradicted
    if repeated:
        differ = f", {other:,} with another rating: the best counts" if other else ""
        facts.append(f"{count(repeated, 'pair')} given more than once{differ}")
    for reason, number in report.skipped.items():
        example = report.example[reason]
        facts.append(f"{reason}: {number:,}" + (f", such as {example!r}" if example else ""))
    return facts


def show(screen: Screen, found: Evaluation, report: ReadReport, degrees: dict[str, int] | None) -> None:
    """Print the tables."""
    for note in notes_of(found, report):
        screen.line((note, "dim"))
    for group, table in found.table_5().items():
        show_table(screen, group, table)
    if len(found.runs) > 1:
        show_table(screen, "Is the difference significant? (two-sided)", found.table_paired(), names=3)
        show_table(screen, "Is it better? As in 1999, by AP 1999 (one-sided)", found.table_6(), names=3)
        show_table(screen, "Results in common (share of the row's)", found.table_7())
    show_table(screen, "Results and ratings", found.table_3())
    if degrees is not None:
        show_table(screen, "Cost of a question, medians", found.table_4(degrees))
    if degrees is not None and len(degrees) <= MAX_QUERIES_SHOWN:
        show_table(screen, "Cost of each question", found.table_4_by_query(degrees))


def as_json(found: Evaluation, report: ReadReport, degrees: dict[str, int] | None) -> dict[str, Any]:
    """For programs: the same tables, rows by column name."""

    def plain(table: Table, names: int = 1) -> Sequence[dict[str, Any]]:
        head, rows = table
        return [
            {name: cell if at < names else number(cell) for at, (name, cell) in enumerate(zip(head, row, strict=True))}
            for row in rows
        ]

    def number(cell: object) -> object:
        try:
            return float(cell.replace(",", "")) if isinstance(cell, str) else cell
        except ValueError:
            return cell

    return {
        "queries": len(found.queries),
        "repeated": found.judgements.repeated,
        "contradicted": found.judgements.contradicted,
        "skipped": dict(report.skipped),
        "measures": {group.rpartition(": ")[0]: plain(table) for group, table in found.table_5().items()},
        "significance": plain(found.table_paired(), names=3),
        "significance_1999": plain(found.table_6(), names=3),
        "overlap": plain(found.table_7()),
        "answers": plain(found.table_3()),
        "cost": plain(found.table_4(degrees)),
        "cost_by_query": plain(found.table_4_by_query(degrees)) if degrees else [],
        "precision_at": {
            group: {run.name: [value for _, value in found.curve(run, queries)] for run in found.runs}
            for group, queries in found.groups.items()
        },
    }


def save_runs(found: Evaluation, folder: Path) -> None:
    """A file query<TAB>rank<TAB>answer for every run."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, run in enumerate(found.runs, 1):
        rows = [f"{query}\t{rank}\t{page}\n" for query in run.answers for rank, page in enumerate(run.of(query), 1)]
        name = "".join(c if c.isalnum() or c in "_-" else "_" for c in run.name)[:80]
        (folder / f"{number:02d}-{name}.tsv").write_text("".join(rows), encoding="utf-8")
