"""cocite clicks: count click logs into a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as shared
from cocite.cli.failures import WRONG, complain
from cocite.cli.tasks.summary import show_skipped, skipped_json
from cocite.cli.terminal import Screen
from cocite.errors import BadSource
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.cli.progress import Stages
    from cocite.graph.clicks import Kept
    from cocite.sources.clicks import Trail
    from cocite.sources.records import ReadReport

PROGRESS_ROWS = 10_000


def clicks(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Click logs: transitions or sessions.")],
    index: shared.Index = Path("web.cocite"),
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Kind of the files, if not recognised: transitions, sessions.")
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Delete the clicks that were counted before.")] = False,
    strict: shared.Strict = False,
    quiet: shared.Quiet = False,
    json: shared.Json = False,
) -> None:
    """Count clicks into a store, for the method whats_related.

    A file has transitions, from<TAB>to<TAB>count per line, or sessions: the pages somebody visited, in order, separated
    by tabs or semicolons, with < for the back button. Plain, .gz, .zst or .bz2. Pages that the store doesn't have are
    counted and skipped. Clicks are added to those counted before, so give each file once. They are kept when pages are
    added or removed.

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
        raise BadSource(f"Unknown file {missing}: check the path")
    with display(quiet or json) as stages:
        kept = add_clicks(graph, trails(files, kind, report, stages), report, anew)
    if json:
        screen.json(as_json(graph.path, kept, report))
    else:
        show(screen, graph.path, kept, report)
    if not kept.trails:
        complain("No usable click, so nothing was changed: give rows of from<TAB>to<TAB>count, or sessions")
        raise typer.Exit(WRONG)


def trails(files: list[Path], kind: str | None, report: ReadReport, stages: Stages) -> Iterator[Trail]:
    """The trails of all files."""
    from cocite.sources.clicks import read_clicks

    for file in files:
        for number, trail in enumerate(read_clicks(file, report, kind), 1):
            if number % PROGRESS_ROWS == 0:
                stages("counting clicks", PROGRESS_ROWS, None)
            yield trail


def as_json(path: Path, kept: Kept, report: ReadReport) -> dict[str, Any]:
    """What was counted, for programs."""
    return {
        "store": str(path),
        "pairs": kept.pairs,
        "clicks": kept.clicks,
        "used": kept.trails,
        "read": dict(report.read),
        "skipped": skipped_json(report),
    }


def show(screen: Screen, path: Path, kept: Kept, report: ReadReport) -> None:
    """Print what was counted."""
    if kept.trails:
        has = f"{kept.clicks:,.10g} clicks between {count(kept.pairs, 'pair')} of pages"
        used = f"used {kept.trails:,} of {count(report.read['rows'], 'row')}"
        screen.line((str(path), "bold"), f"  has {has}; {used}")
    show_skipped(screen, report, ("bytes", "rows"))
