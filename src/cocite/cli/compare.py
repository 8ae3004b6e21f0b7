"""cocite compare: methods side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite.cli import options as given
from cocite.cli.failures import NOTHING, complain
from cocite.cli.related import nothing
from cocite.cli.terminal import Cell, Screen
from cocite.results import COMPARED

if TYPE_CHECKING:
    from cocite.results.compare import Comparison


def compare(
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="Address of a page; of several, related to all.")],
    index: given.Index = Path("web.cocite"),
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method", "-m", metavar="METHOD", help="A method to compare; may be repeated. Else some quick ones."
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="So many answers of each method.")] = 10,
    json: given.Json = False,
) -> None:
    """Show what several methods answer, side by side, and how much they agree.

    \b
    Examples:
      cocite compare nytimes.com
      cocite compare bmw.com -m cocitation -m 'companion(unit=host)' -k 5
    """
    from cocite.cli.progress import display
    from cocite.related import methods
    from cocite.results.ask import check_k, question
    from cocite.results.compare import compare as compare_methods
    from cocite.web import Web

    chosen = [methods.method(name) for name in dict.fromkeys(method or COMPARED)]
    web = Web(index)
    asked = question(web.graph, urls)
    with display(quiet=json) as web.progress:
        found = compare_methods(web, asked, chosen, check_k(k))
    screen = Screen()
    if json:
        screen.json(found.to_dict())
    else:
        show(screen, found)
    if k and not any(len(answers) for answers in found.by_method.values()):
        complain(nothing(web.graph, asked.texts, asked.seeds, chosen))
        raise typer.Exit(NOTHING)


def show(screen: Screen, found: Comparison) -> None:
    """For people: a page a line with its rank by every method, then the overlaps."""
    names = list(found.by_method)
    ranks = {name: {answer.url: answer.rank for answer in answers} for name, answers in found.by_method.items()}
    titles = {answer.url: answer.title for answers in found.by_method.values() for answer in answers}
    # Names that do not fit into their columns give way to letters, all of them.
    longest = max(map(len, names))
    fits = not screen.live or (longest + 2) * len(names) < screen.width // 2
    legend = {name: name if fits else chr(ord("A") + i % 26) for i, name in enumerate(names)}
    wide = (longest if fits else 5) if screen.live else 0
    for name, short in legend.items():
        if short != name:
            screen.line((f"{short} ", "bold"), name, indent=2)
    screen.row(*(Cell(legend[name], wide, "bold", True) for name in names), Cell("page", style="bold"))
    for url, _ in found.votes():
        cells = [Cell(str(ranks[name].get(url, "·")), wide, "", True) for name in names]
        screen.row(
            *cells, Cell(titles[url] or url, 30 if screen.live else 0), Cell(url if titles[url] else "", style="cyan")
        )
    screen.blank()
    screen.line(("answers in common", "bold"))
    screen.row(Cell("", wide), *(Cell(legend[name], wide, "dim", True) for name in names))
    for first in names:
        row = [Cell(str(found.overlap(first, second)), wide, "", True) for second in names]
        screen.row(Cell(legend[first], wide, "dim"), *row)
    screen.row(
        Cell("ms", wide, "dim"), *(Cell(f"{a.milliseconds:.1f}", wide, "dim", True) for a in found.by_method.values())
    )
