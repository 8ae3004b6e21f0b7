"""How `cocite evaluate`, `cocite study` and `cocite site` show what they did; and rating in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cocite.cli import options as shared
from cocite.cli.commands import CommandView, Options
from cocite.cli.failures import complain
from cocite.cli.terminal import Screen, seconds, show_table
from cocite.operations.declare import Operation
from cocite.operations.pages.site import Site
from cocite.operations.quality.evaluate import Evaluate
from cocite.operations.quality.study import StudyNew, StudyReport
from cocite.text import count

if TYPE_CHECKING:
    from cocite.operations.pages.site import SiteResult
    from cocite.operations.quality.evaluate import EvaluationResult
    from cocite.operations.quality.study import NewStudy

MAX_QUERIES_SHOWN = 100
"""With more queries, only reports have the cost of each of them."""


class EvaluateView(CommandView):
    """The tables of an evaluation."""

    operation: ClassVar[type[Operation]] = Evaluate

    def show(self, screen: Screen, asked: Any, result: EvaluationResult, options: Options) -> None:
        """Print the tables."""
        found, degrees = result.found, result.in_degree
        for note in result.notes:
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


class StudyReportView(EvaluateView):
    """The same tables."""

    operation = StudyReport


class StudyNewView(CommandView):
    """What to do with the study."""

    operation = StudyNew

    def show(self, screen: Screen, asked: Any, result: NewStudy, options: Options) -> None:
        """Print the next steps."""
        for text in result.unknown:
            Screen(stderr=True).line(f"Skipped, as it isn't in this store: {text[:200]}")
        sizes = f"{count(result.items, 'result')} for {count(result.queries, 'page')}"
        screen.line((result.folder, "bold"), f"  {sizes}")
        then = f"cocite study report {result.folder} RATINGS..."
        screen.line(f"Send rate.html (or ratings.csv) to the raters; then run: {then}")


def rate(folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the study.")]) -> None:
    """Rate results in the terminal. Each rating is saved at once; you can stop and continue later.

    \b
    Examples:
      cocite study rate trial
    """
    from cocite.evaluate.study import RATINGS, keep_edited, read, read_ratings, write_ratings
    from cocite.sources.records import ReadReport

    found, sheet, screen, skips = read(folder), folder / "ratings.csv", Screen(), ReadReport()
    ratings = read_ratings(sheet, found, skips) if sheet.exists() else {}
    for reason, times in skips.skipped.items():
        screen.line(f"Skipped: {times:,} × {reason}")
    edited = None
    screen.line(f"Rated {len(ratings)} of {len(found.items)}. 1: related, 0: not related, x: can't open, q: stop")
    for item in [item for item in found.items if item.id not in ratings]:
        screen.blank()
        screen.line(("to ", "dim"), (item.query_title or item.query, "bold"), f"  {item.query}")
        screen.line(("is  ", "dim"), (item.title or item.page, "bold"), f"  {item.page}")
        rating = ""
        while rating not in RATINGS:
            try:
                rating = input("related? 1 / 0 / x / q: ").strip().lower()
            except EOFError:
                rating = "q"
            if rating == "q":
                return
        if edited is None and (edited := keep_edited(found, sheet) or Path()).name:
            screen.line(f"The edited sheet is kept as {edited}")
        ratings[item.id] = rating
        write_ratings(found, sheet, ratings)


class SiteView(CommandView):
    """How many pages have lists, and which were skipped."""

    operation = Site
    options = {"quiet": (shared.Quiet, False)}  # noqa: RUF012

    def warn(self, web: Any, asked: Any, result: SiteResult, options: Options) -> None:
        """Print warnings for the owner of the site."""
        for warning in result.warnings:
            complain(warning)

    def show(self, screen: Screen, asked: Any, result: SiteResult, options: Options) -> None:
        """Print what was done."""
        done, took = result.facts, seconds(result.facts["seconds"])
        if done.get("unchanged"):
            screen.line((done["output"], "bold"), f"  {count(done['pages'], 'page')}, unchanged  ", (took, "dim"))
            return
        parts = [count(done["pages"], "page"), f"{done['read']:,} read"]
        parts += [f"{done['without']:,} without related pages"] if done["without"] else []
        parts += [f"{done['inserted']:,} with the list inserted"] if done.get("inserted") else []
        screen.line((done["output"], "bold"), f"  {', '.join(parts)}  ", (took, "dim"))
        if done["left_out"]:
            reasons = ", ".join(f"{number:,} {reason}" for reason, number in done["left_out"].items())
            screen.line((f"Skipped: {reasons}", "dim"), indent=2)
