"""What `cocite reproduce` does: list claims, run them, show and write the outcomes."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from cocite import __version__
from cocite.cli.progress import display
from cocite.cli.terminal import Cell, Screen
from cocite.errors import BadSource
from cocite.operations.task import check_writable
from cocite.system import replace_file
from cocite.text import count
from research import citations
from research.reproduce.claims import Claims, Outcome, read_claims
from research.reproduce.data import Data
from research.reproduce.run import counts, document, run
from research.reproduce.zhao import citeseer

MEASURES = {"precision": "precision", "recall": "recall", "F": "f", "usual recall": "usual_recall"}
STYLES = {"held": "green", "planted": "yellow", "did not hold": "red"}


def reproduce(
    paper: str, data: Path | None, stores: Path | None, write: Path | None, figures: Path | None, json: bool
) -> None:
    """Run the claims of a paper (or one claim, or all), or list them without data."""
    known = read_claims()
    chosen = known.of(paper)
    named = {claim.paper for claim in chosen}
    claims = Claims([each for each in known.papers if each.name in named], chosen)
    if data is None:
        show_claims(Screen(), claims)
        return
    if not data.is_dir():
        raise BadSource(f"{data} isn't a folder: give the one that has awesome/, wikispeedia/, citations/ …")
    check_writable(write)
    began, outcomes, finished = time.monotonic(), list[Outcome](), False
    try:
        with tempfile.TemporaryDirectory() if stores is None else nullcontext(str(stores)) as folder:
            run_claims(claims, data, Path(folder), outcomes, quiet=json)
        finished = True
    finally:
        if outcomes:
            show_outcomes(claims, outcomes, write, json, time.monotonic() - began, finished)
    if paper == "zhao":
        show_measures(data, figures, json)


def run_claims(claims: Claims, data: Path, stores: Path, outcomes: list[Outcome], quiet: bool) -> None:
    """Run claims one by one, adding each outcome to a list, so that an interruption loses none."""
    with display(quiet=quiet) as stages:
        for outcome in run(claims.claims, Data(data, stores, stages)):
            outcomes.append(outcome)
            stages.say(f"{len(outcomes)} of {len(claims.claims)}  {outcome.claim.id}: {outcome.verdict}")


def show_outcomes(
    claims: Claims, outcomes: list[Outcome], write: Path | None, json: bool, seconds: float, finished: bool
) -> None:
    """Show the outcomes, and write them to a file if one is given."""
    screen = Screen()
    if write:
        machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        where = f"cocite {__version__}, {time.strftime('%Y-%m-%d')}, {machine}, {seconds / 60:.0f} minutes"
        replace_file(Path(write), document(claims, outcomes, f"{where}." if finished else f"{where}; interrupted."))
    if json:
        screen.json(
            [
                {
                    "id": each.claim.id,
                    "says": each.claim.says,
                    "verdict": each.verdict,
                    "told": each.told or each.claim.cannot,
                    "figures": dict(each.figures),
                    "data": list(each.claim.data),
                    "planted": each.claim.planted,
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
        if each.claim.data:
            screen.line(f"data: {'; '.join(each.claim.data)}", indent=2)
    screen.line(f"{count(len(outcomes), 'claim')}: {counts(outcomes)}")


def show_measures(data: Path, figures: Path | None, json: bool) -> None:
    """Show the table and draw the figures of Zhao et al.: every measure at every N."""
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
            replace_file(figures / f"citeseer-{name}.svg", picture)


def show_claims(screen: Screen, claims: Claims) -> None:
    """List the claims by paper."""
    for paper in claims.papers:
        screen.line((paper.name, "bold"), f"  {paper.title}")
        for claim in claims.of(paper.name):
            screen.line(f"{claim.id}  {claim.says} ({claim.where})", indent=2)
    screen.line("Run them with --data FOLDER")
