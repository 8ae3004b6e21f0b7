"""cocite evaluate: how good methods are, by judgements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.answers import COMPARED
from cocite.errors import BadParameter
from cocite.surfaces.cli import options as given
from cocite.surfaces.cli.related import NotOwnSite, PerSite, filters_of
from cocite.surfaces.cli.terminal import Cell, Screen, count
from cocite.surfaces.cli.writing import check_place, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocite.evaluate.evaluation import Evaluation, Table
    from cocite.sources.records import Report


FEW = 100
"""Up to so many queries the terminal shows what each took; reports have more."""


def evaluate(
    judgements: Annotated[
        Path,
        typer.Option(
            "--judgements", "-j", metavar="FILE", help="Right answers: query<TAB>page[<TAB>rating], or TREC's form."
        ),
    ],
    index: given.Index = Path("web.cocite"),
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method", "-m", metavar="METHOD", help="A method to evaluate; may be repeated. Else some quick ones."
        ),
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Answers of another program: query<TAB>rank<TAB>answer, or TREC's form."),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, max=1000, help="So many answers of each are rated.")] = 10,
    queries: Annotated[
        int, typer.Option(metavar="N", min=0, help="Only so many of the queries, evenly chosen (0: all).")
    ] = 0,
    per_site: PerSite = 0,
    not_own_site: NotOwnSite = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a report with figures, one page of HTML.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write the answers of each method, as runs.")
    ] = None,
    json: given.Json = False,
) -> None:
    """Say how good methods are: measures, significance, overlap, time.

    With --run and without -m, only those runs are evaluated. "P 1999", "AP 1999" and the tables are those of Dean &
    Henzinger's user study; the other measures are as usual. What a method does not answer counts 0.

    \b
    Examples:
      cocite evaluate -j judgements.tsv.gz -m companion --html report.html
      cocite evaluate -j qrels.txt --run other.tsv -m cocitation
    """
    from cocite import methods
    from cocite.evaluate.evaluation import Evaluation, ask_methods, in_store, run_in_store
    from cocite.evaluate.judgements import read_judgements, read_run
    from cocite.sources.records import Report
    from cocite.surfaces.cli.progress import display
    from cocite.web import Web

    check_place(html)
    report = Report()
    chosen = [methods.method(name) for name in dict.fromkeys(method or ([] if run else COMPARED))]
    kept = filters_of(per_site, not_own_site, "", "")
    judged = read_judgements(judgements, report)
    runs, degrees = [read_run(path, report) for path in run or ()], None
    if chosen:
        web = Web(index)
        judged, numbers = in_store(web.graph, judged, report)
        if queries:
            wanted = list(numbers)[:: max(1, len(numbers) // queries)][:queries]
            numbers = {name: numbers[name] for name in wanted}
            judged.ratings = {name: judged.ratings[name] for name in wanted}
        if not numbers:
            raise BadParameter(f"{index} knows none of the queries of {judgements}: is it the right store?")
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
    tell(f"Evaluation by {judgements.name}", found, report, degrees, html, json)


def note_gaps(found: Evaluation, report: Report) -> None:
    """Report what judgements and runs leave out."""
    missing = len(found.rated) - len(found.queries)
    if missing:
        report.skip("query without a right page, which counts in the measures of 1999 alone", count=missing)
    for run in found.runs:
        unanswered = [query for query in found.rated if not run.of(query)]
        if unanswered:
            report.skip(f"query that {run.name} does not answer", unanswered[0], len(unanswered))
        unjudged = [query for query in run.answers if query not in found.judgements.ratings]
        if unjudged:
            report.skip(f"query of {run.name} that is not judged, left out", unjudged[0], len(unjudged))


def tell(
    title: str, found: Evaluation, report: Report, degrees: dict[str, int] | None, html: Path | None, json: bool
) -> None:
    """Print an evaluation, and write its report if that is wanted."""
    if html:
        from cocite.evaluate.report import page

        write_whole(html, page(title, notes_of(found, report), found, degrees))
    if json:
        Screen().json(as_json(found, report, degrees))
    else:
        show(Screen(), found, report, degrees)


def notes_of(found: Evaluation, report: Report) -> list[str]:
    """What an evaluation is of, in words."""
    first = count(found.depth, "answer")
    facts = [f"queries with a right page: {len(found.queries):,}; the first {first} of each count"]
    if found.judgements.repeated:
        facts.append(f"{count(found.judgements.repeated, 'pair')} given more than once")
    for reason, number in report.skipped.items():
        example = report.example[reason]
        facts.append(f"{reason}: {number:,}" + (f", such as {example!r}" if example else ""))
    return facts


def show(screen: Screen, found: Evaluation, report: Report, degrees: dict[str, int] | None) -> None:
    """For people."""
    for note in notes_of(found, report):
        screen.line((note, "dim"))
    for group, table in found.table_5().items():
        show_table(screen, group, table)
    if len(found.runs) > 1:
        show_table(screen, "is the difference luck?", found.table_6())
        show_table(screen, "answers in common (share of the row's)", found.table_7())
    show_table(screen, "answers and ratings", found.table_3())
    if degrees is not None:
        show_table(screen, "what a question takes, medians", found.table_4(degrees))
    if degrees is not None and len(degrees) <= FEW:
        show_table(screen, "what each question takes", found.table_4_by_query(degrees))


def show_table(screen: Screen, title: str, table: Table) -> None:
    """A table with a title above it."""
    head, rows = table
    texts = [head, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in texts) if screen.live else 0 for i in range(len(head))]
    screen.blank()
    screen.line((title, "bold"))
    for at, row in enumerate(texts):
        style = "dim" if at == 0 else ""
        screen.row(*(Cell(text, wide, style, i > 0) for i, (text, wide) in enumerate(zip(row, widths, strict=True))))


def as_json(found: Evaluation, report: Report, degrees: dict[str, int] | None) -> dict[str, Any]:
    """For machines: the same tables, rows by column name."""

    def plain(table: Table) -> Sequence[dict[str, Any]]:
        head, rows = table
        return [{name: number(cell) for name, cell in zip(head, row, strict=True)} for row in rows]

    def number(cell: object) -> object:
        try:
            return float(cell) if isinstance(cell, str) else cell
        except ValueError:
            return cell

    return {
        "queries": len(found.queries),
        "skipped": dict(report.skipped),
        "measures": {group.split(":")[0]: plain(table) for group, table in found.table_5().items()},
        "significance": plain(found.table_6()),
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
