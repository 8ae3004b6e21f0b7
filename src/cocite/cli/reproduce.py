"""cocite reproduce: the papers' claims, run again."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite import __version__
from cocite.cli import options as given
from cocite.cli.terminal import Cell, Screen, count
from cocite.cli.writing import check_place, write_whole
from cocite.errors import BadSource

if TYPE_CHECKING:
    from cocite.evaluate.reproduce.claims import Claims, Outcome

MEASURES = {"precision": "precision", "recall": "recall", "F": "f", "usual recall": "usual_recall"}
STYLES = {"held": "green", "did not hold": "red"}


def reproduce(
    what: Annotated[str, typer.Argument(metavar="PAPER", help="A paper, or one claim; none: all.")] = "",
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The data: awesome/, wikispeedia/, citations/ and so on.")
    ] = None,
    stores: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep the stores that are made here, and use those that are.")
    ] = None,
    write: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the outcome, as Markdown.")] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Draw the figure of zhao, precision, recall and F, here.")
    ] = None,
    json: given.Json = False,
) -> None:
    """Run what the papers claim again, and say what holds.

    Without --data, list the claims. What was done before Ctrl-C is shown and written.

    \b
    Examples:
      cocite reproduce
      cocite reproduce --data ../shared/data --write reproductions.md
      cocite reproduce zhao --data ../shared/data --figures figures
    """
    from cocite.evaluate.reproduce.claims import Claims, Outcome, read_claims

    known = read_claims()
    chosen = known.of(what)
    papers = {claim.paper for claim in chosen}
    claims = Claims([paper for paper in known.papers if paper.name in papers], chosen)
    if data is None:
        show_claims(Screen(), claims)
        return
    if not data.is_dir():
        raise BadSource(f"{data} is no folder: give the one that has awesome/, wikispeedia/, citations/ and so on")
    check_place(write)
    began, outcomes, finished = time.monotonic(), list[Outcome](), False
    try:
        with tempfile.TemporaryDirectory() if stores is None else nullcontext(str(stores)) as folder:
            run_claims(claims, data, Path(folder), outcomes, quiet=json)
        finished = True
    finally:
        if outcomes:
            tell(claims, outcomes, write, json, time.monotonic() - began, finished)
    if what == "zhao":
        show_measures(data, figures, json)


def run_claims(claims: Claims, data: Path, stores: Path, outcomes: list[Outcome], quiet: bool) -> None:
    """Run claims one after the other; each outcome is added when it is there."""
    from cocite.cli.progress import display
    from cocite.evaluate.reproduce.data import Data
    from cocite.evaluate.reproduce.run import run

    with display(quiet=quiet) as stages:
        for outcome in run(claims.claims, Data(data, stores, stages)):
            outcomes.append(outcome)
            stages.say(f"{len(outcomes)} of {len(claims.claims)}  {outcome.claim.id}: {outcome.verdict}")


def tell(
    claims: Claims, outcomes: list[Outcome], write: Path | None, json: bool, seconds: float, finished: bool
) -> None:
    """Show what was found, and write it if that is wanted."""
    from cocite.evaluate.reproduce.run import counts, document

    screen = Screen()
    if write:
        machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        where = f"cocite {__version__}, {time.strftime('%Y-%m-%d')}, {machine}, {seconds / 60:.0f} minutes"
        write_whole(write, document(claims, outcomes, f"{where}." if finished else f"{where}; interrupted."))
    if json:
        screen.json(
            [
                {
                    "id": each.claim.id,
                    "says": each.claim.says,
                    "verdict": each.verdict,
                    "told": each.told or each.claim.cannot,
                    "figures": dict(each.figures),
                    "expected": {name: list(ends) for name, ends in each.claim.expect.items()},
                    "seconds": round(each.seconds, 1),
                }
                for each in outcomes
            ]
        )
        return
    for each in outcomes:
        screen.line(
            (each.verdict, STYLES.get(each.verdict, "dim")), "  ", (each.claim.id, "bold"), f"  {each.claim.says}"
        )
        screen.line(f"the paper: {each.claim.theirs}", indent=2)
        screen.line(f"here: {' '.join(text for text in (each.told, each.claim.cannot) if text)}", indent=2)
    screen.line(f"{count(len(outcomes), 'claim')}: {counts(outcomes)}")


def show_measures(data: Path, figures: Path | None, json: bool) -> None:
    """The table and the figure of Zhao et al.: every measure at every N."""
    from cocite.evaluate import citations
    from cocite.evaluate.reproduce.zhao import citeseer

    found, screen = citeseer(data), Screen()
    if not json:
        wide = max(len(row.measure) for row in found.rows)
        screen.row(Cell("", wide), *(Cell(name, 12, "bold", True) for name in ("N", *MEASURES)))
        for row in found.rows:
            values = (Cell(f"{getattr(row, name):.4f}", 12, right=True) for name in MEASURES.values())
            screen.row(Cell(row.measure, wide), Cell(str(row.first), 12, right=True), *values)
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
        for name, picture in citations.figures(found):
            write_whole(figures / f"citeseer-{name}.svg", picture)


def show_claims(screen: Screen, claims: Claims) -> None:
    """What there is to run."""
    for paper in claims.papers:
        screen.line((paper.name, "bold"), f"  {paper.title}")
        for claim in claims.of(paper.name):
            screen.line(f"{claim.id}  {claim.says} ({claim.where})", indent=2)
    screen.line("--data FOLDER runs them")
