"""cocite hubs: hubs, or authorities, related to a set of pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite.cli import options as given
from cocite.cli.failures import NOTHING, complain
from cocite.cli.related import K
from cocite.cli.terminal import Cell, Screen

if TYPE_CHECKING:
    from cocite.results.answer import Answers

ALL = 1 << 62
"""No web has so many links."""


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
        bool, typer.Option("--untrimmed", help="Count what HITS would explore in full, however long that takes.")
    ] = False,
    json: given.Json = False,
) -> None:
    """Find hubs some links away from a set of pages: pages that link to many.

    HubFinder explores the links around, and keeps what a global rank finds interesting. A rank that is not kept in the
    store is computed first: cocite rank keeps one. What each round explored is shown beside what it would have been
    without trimming, as far as that is quickly counted.

    \b
    Examples:
      cocite hubs nytimes.com
      cocite hubs nytimes.com lemonde.fr --authorities --by pagerank -k 20
    """
    from cocite.cli.progress import display
    from cocite.related.methods import method
    from cocite.results.ask import check_k, question
    from cocite.results.hubs import MAX_COMPARED_LINKS, find_hubs, why_none
    from cocite.web import Web

    kind = "authorities" if authorities else "hubs"
    chosen = method("hubfinder", {"kind": kind, "criterion": by, "rounds": rounds, "likeness": likeness})
    check_k(k)
    web = Web(index)
    asked = question(web.graph, urls)
    with display(quiet=json) as web.progress:
        answers = find_hubs(web, asked, chosen, k, max_compared_links=ALL if untrimmed else MAX_COMPARED_LINKS)
    screen = Screen()
    if json:
        screen.json(answers.to_dict())
    else:
        show(screen, answers)
    if k and not len(answers):
        complain(why_none(web, asked, chosen.params, answers))
        raise typer.Exit(NOTHING)


def show(screen: Screen, answers: Answers) -> None:
    """For people."""
    from cocite.results.present import briefly

    for answer in answers:
        title = answer.title or answer.url
        wide = min(len(title), int(screen.width * 0.5)) if screen.live else 0
        rank = Cell(str(answer.rank), 3, "dim", True)
        screen.row(rank, Cell(title, wide, "bold"), Cell(answer.url if answer.title else "", style="cyan"))
        screen.row(Cell(f"{answer.score:.6g}  {briefly(answer)}", style="dim"), indent=5)
    for step in answers.steps:
        whole = step["untrimmed"]
        beside = "not counted" if whole is None else f"{whole:,}"
        screen.line(
            (f"distance {step['distance']}: ", "dim"),
            f"{step['explored']:,} of {step['met']:,} pages explored",
            (f", without trimming {beside}", "dim"),
        )
