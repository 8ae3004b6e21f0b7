"""cocite rank: a rank of all pages, worked out once and kept."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite.cli import options as given
from cocite.cli.failures import NOTHING, WRONG, complain, os_message
from cocite.cli.terminal import Cell, Screen, count, seconds
from cocite.errors import BadStore

if TYPE_CHECKING:
    from cocite.related.ranks import Ranked
    from cocite.results.top_pages import TopPage


def rank(
    index: given.Index = Path("web.cocite"),
    by: Annotated[
        str,
        typer.Option(
            metavar="RANK",
            help="pagerank, hubrank, hits or randomized_hits; parameters as in hubrank(bias=authorities).",
        ),
    ] = "pagerank",
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, help="Show so many pages.")] = 20,
    keep: Annotated[bool, typer.Option("--keep/--no-keep", help="Keep the rank beside the store.")] = True,
    threads: given.Threads = None,
    quiet: given.Quiet = False,
    json: given.Json = False,
) -> None:
    """Rank all pages by their links, keep the rank beside the store, and show the first pages.

    Other commands use what is kept; after an add or a remove it has to be made again. The store itself is not changed.

    \b
    Examples:
      cocite rank --by hubrank
      cocite rank --by "hubrank(bias=authorities, transposed=true)" -k 50
      cocite rank --by "hits(of=hubs)" --no-keep --json
    """
    from cocite.cli.progress import display
    from cocite.graph.store import Graph
    from cocite.parameters import values_of
    from cocite.related import ranks
    from cocite.results.top_pages import top_pages

    wanted, graph = ranks.rank(by), Graph(index)
    with display(quiet=quiet or json) as stages:
        started = time.monotonic()
        ranked = wanted.compute(graph, stages, threads)
        took = time.monotonic() - started - stages.compiling
    refused = ""
    if keep:
        try:
            wanted.keep(graph, ranked)
        except (BadStore, OSError) as error:
            refused = os_message(error) if isinstance(error, OSError) else str(error)
            complain(f"not kept, so that other commands will not find it: {refused}")
    best, screen = top_pages(graph, ranked, k), Screen()
    if json:
        facts = {"rounds": ranked.rounds, "residual": ranked.residual, "converged": ranked.converged}
        about = {"rank": wanted.name, "params": values_of(wanted.params), **facts}
        about |= {"seconds": round(took, 3), "kept": keep and not refused}
        screen.json({**about, "top": [page._asdict() for page in best]})
    else:
        show(screen, str(wanted), ranked, best, took, graph.pages)
    if refused or not best:
        raise typer.Exit(WRONG if refused else NOTHING)


def say_unsettled(screen: Screen, name: str) -> None:
    """That a rank took all the rounds that it was given."""
    call = f"{name.partition('(')[0]}(rounds=1000)"
    screen.line((f'the tolerance was not reached: give more rounds, as in --by "{call}"', "yellow"))


def show(screen: Screen, name: str, ranked: Ranked, best: list[TopPage], took: float, pages: int) -> None:
    """For people."""
    done = f"{count(ranked.rounds, 'round')}, residual {ranked.residual:.1e}, {seconds(took)}"
    screen.line((name, "bold"), f"  {count(pages, 'page')}, {done}")
    if not ranked.converged:
        say_unsettled(screen, name)
    if not best:
        screen.line("no page has a value: the store has no links")
        return
    screen.blank()
    wide = max(len(f"{page.value:,.6g}") for page in best)
    for page in best:
        value = Cell(f"{page.value:,.6g}", wide, "cyan", right=True)
        screen.row(
            Cell(str(page.rank), len(str(len(best))), "dim", right=True),
            value,
            Cell(page.url),
            Cell(page.title, style="dim"),
        )
