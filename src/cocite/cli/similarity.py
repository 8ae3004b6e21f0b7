"""cocite similarity: how similar are two pages?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cocite.cli import options as given
from cocite.cli.failures import NOTHING, complain
from cocite.cli.terminal import Cell, Screen


def similarity(
    first: Annotated[str, typer.Argument(metavar="URL", help="Address of a page, in any spelling.")],
    second: Annotated[str, typer.Argument(metavar="URL", help="Address of another.")],
    index: given.Index = Path("web.cocite"),
    method: Annotated[
        str, typer.Option("--method", "-m", metavar="METHOD", help="How to compare; see cocite methods.")
    ] = "integrated",
    json: given.Json = False,
) -> None:
    """Show how similar two pages are by a method, and why.

    Exits with 0 if they are, 1 if the method finds nothing in common, 3 if one is unknown.

    \b
    Examples:
      cocite similarity nytimes.com washingtonpost.com
      cocite similarity nytimes.com washingtonpost.com -m simrank --json
    """
    from cocite.cli.progress import display
    from cocite.related import methods
    from cocite.results.present import say
    from cocite.results.similarity import similarity as compare
    from cocite.web import Web

    chosen = methods.method(method)
    with display(quiet=json):
        found = compare(Web(index), first, second, chosen)
    screen = Screen()
    if json:
        screen.json(found.to_dict())
    else:
        wrong = "" if found.error is None or found.error < 1e-6 else f" ± {found.error:.1g}"
        screen.line((f"{found.score:.6g}{wrong}", "bold"), f"  {' – '.join(found.pages)} by {found.method}")
        for reason in found.reasons:
            screen.row(Cell(say(reason), style="dim"), indent=2)
    if not found.score:
        complain(f"{found.method} finds nothing that {' and '.join(found.pages)} have in common: try -m cocitation")
        raise typer.Exit(NOTHING)
