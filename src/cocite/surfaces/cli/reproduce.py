"""cocite reproduce: the papers' experiments, run again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cocite.errors import BadParameter
from cocite.surfaces.cli import options as given
from cocite.surfaces.cli.terminal import Cell, Screen

if TYPE_CHECKING:
    from cocite.evaluate.citations import Measured, Reproduction


class Options(NamedTuple):
    """What was asked for."""

    data: Path | None
    figures: Path | None
    choose: bool
    json: bool


class Experiment(NamedTuple):
    """One paper's."""

    about: str
    data: str  # what the folder of data holds
    run: Callable[[Options], None]


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="Which; none: list them.")] = "",
    data: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where the experiment's data are.")] = None,
    figures: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Draw its figures into this folder.")] = None,
    choose: Annotated[
        bool, typer.Option("--choose", help="zhao: choose a better setting on Cora, then try it on CiteSeer.")
    ] = False,
    json: given.Json = False,
) -> None:
    """Run a paper's experiment again, and print what it measures.

    \b
    Examples:
      cocite reproduce
      cocite reproduce zhao --data citations --figures figures
    """
    if not paper:
        screen = Screen()
        for name, experiment in EXPERIMENTS.items():
            screen.line((name, "bold"), f"  {experiment.about}")
            screen.line(f"needs --data with {experiment.data}", indent=2)
        return
    if paper not in EXPERIMENTS:
        raise BadParameter(f"there is no experiment {paper!r:.100}; there are {', '.join(EXPERIMENTS)}")
    if data is None:
        raise BadParameter(f"{paper} needs data: give --data FOLDER with {EXPERIMENTS[paper].data}")
    EXPERIMENTS[paper].run(Options(data, figures, choose, json))


def zhao(wanted: Options) -> None:
    """Zhao et al. 2016: integrated similarity beside SimRank, on CiteSeer."""
    from cocite.evaluate import citations
    from cocite.surfaces.cli.progress import display

    folder, screen = wanted.data or Path(), Screen()
    with display(quiet=wanted.json) as stages:
        papers = citations.read_papers(folder, "citeseer")
        if wanted.choose:
            cora = citations.read_papers(folder, "cora")
            tried = citations.try_settings(cora, lambda stage: stages(stage, 0, None))
            setting = citations.best_setting(tried)
            rows = citations.with_setting(papers, setting)
        else:
            found = citations.reproduce(papers, lambda stage: stages(stage, 0, None))
            rows = found.rows
    if wanted.json:
        screen.json({"papers": len(papers), "rows": [row._asdict() for row in rows]})
    elif wanted.choose:
        usual = citations.Setting()
        screen.line(("on Cora", "bold"), f": precision at {citations.AT}; with half of its links; with wrong ones")
        for each in (usual, *sorted(tried, key=lambda each: -sum(tried[each]))[:10]):
            screen.row(*(Cell(f"{value:.4f}", 6, right=True) for value in tried[each]), Cell(each.name))
        screen.line(("on CiteSeer", "bold"), f": {setting.name}")
        show_rows(screen, rows)
    else:
        show_rows(screen, rows)
        show_gain(screen, found)
    if wanted.figures is not None and not wanted.choose:
        wanted.figures.mkdir(parents=True, exist_ok=True)
        for name, picture in citations.figures(found):
            (wanted.figures / f"citeseer-{name}.svg").write_text(picture, encoding="utf-8")


def show_rows(screen: Screen, rows: list[Measured]) -> None:
    """A table of measures."""
    wide = max(len(row.measure) for row in rows)
    head = ("N", "precision", "recall", "F", "usual recall")
    screen.row(Cell("", wide), *(Cell(name, 12, "bold", True) for name in head))
    for row in rows:
        values = (row.precision, row.recall, row.f, row.usual_recall)
        cells = [Cell(str(row.first), 12, right=True), *(Cell(f"{value:.4f}", 12, right=True) for value in values)]
        screen.row(Cell(row.measure, wide), *cells)


def show_gain(screen: Screen, found: Reproduction) -> None:
    """What the paper claims."""
    precision, recall = (found.gain(what) for what in ("precision", "recall"))
    screen.line(
        f"integrated similarity over SimRank at 10: precision {precision:+.1%}, recall {recall:+.1%} "
        "(the paper: +12 to 17 %, +27 to 29 %)"
    )


EXPERIMENTS = {
    "zhao": Experiment(
        "Zhao et al. 2016, Fig. 5: integrated similarity beside SimRank on CiteSeer",
        "citeseer.words.npz, citeseer.edges.tsv and citeseer.labels.tsv (for --choose also cora.*)",
        zhao,
    )
}
