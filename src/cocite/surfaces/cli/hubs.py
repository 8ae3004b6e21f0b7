"""cocite hubs: hubs, or authorities, related to a set of pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite.surfaces.cli import options as given
from cocite.surfaces.cli.failures import NOTHING, complain
from cocite.surfaces.cli.related import K
from cocite.surfaces.cli.terminal import Cell, Screen, count

if TYPE_CHECKING:
    from cocite.answers.answer import Answers
    from cocite.methods.hubfinder import Explored


def hubs(
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="Addresses of the pages to start from.")],
    index: given.Index = Path("web.cocite"),
    authorities: Annotated[bool, typer.Option("--authorities", help="Look for authorities, not hubs.")] = False,
    by: Annotated[
        str, typer.Option(metavar="CRITERION", help="What is interesting: a rank, out_degree, in_degree or text.")
    ] = "",
    rounds: Annotated[int, typer.Option(metavar="N", help="Extensions after the first, at most 5.")] = 3,
    likeness: Annotated[float, typer.Option(metavar="X", help="Least likeness of texts, from 0 to 1.")] = 0.0,
    k: K = 10,
    untrimmed: Annotated[
        bool, typer.Option("--untrimmed", help="Also explore without trimming, and show the difference.")
    ] = False,
    json: given.Json = False,
) -> None:
    """Find hubs some links away from a set of pages: pages that link to many.

    HubFinder explores the links around, and keeps what a global rank finds interesting. A rank that is not kept in the
    store is computed first: cocite rank keeps one.

    \b
    Examples:
      cocite hubs nytimes.com
      cocite hubs nytimes.com lemonde.fr --authorities --by pagerank -k 20
    """
    from dataclasses import replace

    from cocite.answers.ask import ask, check_k, question
    from cocite.methods import method
    from cocite.methods.hubfinder import explore
    from cocite.surfaces.cli.progress import display
    from cocite.web import Web

    kind = "authorities" if authorities else "hubs"
    chosen = method("hubfinder", {"kind": kind, "criterion": by, "rounds": rounds, "likeness": likeness})
    check_k(k)
    web = Web(index)
    asked = question(web.graph, urls)
    with display(quiet=json) as web.progress:
        answers = ask(web, asked, chosen, k)
        everything = (
            explore(web, asked.seeds, replace(chosen.params, trim=False, filter_degree=False)) if untrimmed else None
        )
    screen = Screen()
    if json:
        found = answers.to_dict()
        if everything:
            found["untrimmed"] = {"explored": everything.explored, "steps": [vars(step) for step in everything.steps]}
        screen.json(found)
    else:
        show(screen, answers, everything)
    if k and not len(answers):
        complain(f"nothing is linked with {', '.join(urls)}: see cocite links")
        raise typer.Exit(NOTHING)


def show(screen: Screen, answers: Answers, everything: Explored | None) -> None:
    """For people."""
    from cocite.answers.present import briefly

    for answer in answers:
        title = answer.title or answer.url
        wide = min(len(title), int(screen.width * 0.5)) if screen.live else 0
        rank = Cell(str(answer.rank), 3, "dim", True)
        screen.row(rank, Cell(title, wide, "bold"), Cell(answer.url if answer.title else "", style="cyan"))
        screen.row(Cell(f"{answer.score:.6g}  {briefly(answer)}", style="dim"), indent=5)
    explored = [
        f"{name.removeprefix('explored ')}: {value:,}" for name, value in answers.facts.items() if "expl" in name
    ]
    if explored:
        screen.line(("pages explored ", "dim"), ", ".join(explored))
    if everything:
        steps = ", ".join(f"at distance {step.distance}: {step.kept:,}" for step in everything.steps)
        screen.line(("without trimming ", "dim"), f"{steps}; {count(everything.explored, 'page')} in all")
