"""cocite clicks: how people went from page to page, counted into a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as given
from cocite.cli.build import rows
from cocite.cli.failures import WRONG, complain
from cocite.cli.terminal import Screen, count
from cocite.errors import BadSource

if TYPE_CHECKING:
    from cocite.cli.progress import Stages
    from cocite.graph.clicks import Kept
    from cocite.sources.clicks import Trail
    from cocite.sources.records import ReadReport

STEP = 10_000
"""Rows after which the display hears of it."""


def clicks(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Click logs: transitions or sessions.")],
    index: given.Index = Path("web.cocite"),
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="What the files hold, if not recognised: transitions, sessions.")
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Forget the clicks that were counted before.")] = False,
    strict: given.Strict = False,
    quiet: given.Quiet = False,
    json: given.Json = False,
) -> None:
    """Count clicks into a store, for the method whats_related.

    A file holds transitions, from<TAB>to<TAB>count on a line, or sessions: the pages somebody saw, in order, with tabs
    or semicolons between them and < for a click on back. Plain, .gz, .zst or .bz2. Pages that the store does not have
    are counted and left out. Clicks are added to those counted before, so give each file once. They are kept when
    pages are added or removed.

    \b
    Examples:
      cocite clicks clickstream.tsv.gz -i web.cocite
      cocite clicks monday.tsv tuesday.tsv --anew
    """
    from cocite.cli.progress import display
    from cocite.graph.clicks import add_clicks
    from cocite.graph.store import Graph
    from cocite.sources.records import ReadReport

    graph, report, screen = Graph(index), ReadReport(strict), Screen()
    missing = next((file for file in files if not file.is_file()), None)
    if missing is not None:
        raise BadSource(f"there is no file {missing}: check the path")
    with display(quiet or json) as stages:
        kept = add_clicks(graph, trails(files, kind, report, stages), report, anew)
    if json:
        screen.json(as_json(graph.path, kept, report))
    else:
        show(screen, graph.path, kept, report)
    if not kept.trails:
        complain("no click could be used, so nothing was changed: give rows of from<TAB>to<TAB>count, or sessions")
        raise typer.Exit(WRONG)


def trails(files: list[Path], kind: str | None, report: ReadReport, stages: Stages) -> Iterator[Trail]:
    """The trails of all files."""
    from cocite.sources.clicks import read_clicks

    for file in files:
        for number, trail in enumerate(read_clicks(file, report, kind), 1):
            if number % STEP == 0:
                stages("counting clicks", STEP, None)
            yield trail


def as_json(path: Path, kept: Kept, report: ReadReport) -> dict[str, Any]:
    """What was counted, for programs."""
    return {
        "store": str(path),
        "pairs": kept.pairs,
        "clicks": kept.clicks,
        "used": kept.trails,
        "read": dict(report.read),
        "skipped": [
            {"reason": reason, "count": number, "example": report.example.get(reason, "")}
            for reason, number in report.skipped.most_common()
        ],
    }


def show(screen: Screen, path: Path, kept: Kept, report: ReadReport) -> None:
    """What was counted, for people."""
    if kept.trails:
        has = f"{kept.clicks:,.10g} clicks between {count(kept.pairs, 'pair')} of pages"
        screen.line((str(path), "bold"), f"  has {has}; {kept.trails:,} of {count(report.read['rows'], 'row')} used")
    if report.skipped:
        screen.line(("skipped", "yellow"), (" (--strict stops at the first)", "dim"), indent=2)
        rows(screen, dict(report.skipped), report.example)
    notes = {what: number for what, number in report.read.items() if what not in ("bytes", "rows") and number}
    if notes:
        screen.line(("left aside, as meant", "dim"), indent=2)
        rows(screen, notes, {})
