"""cocite methods: every method with its paper and parameters."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cocite.cli import options as given
from cocite.cli.terminal import Cell, Screen


def methods(
    name: Annotated[str | None, typer.Argument(metavar="METHOD", help="Only this one, in full.")] = None,
    json: given.Json = False,
) -> None:
    """Show every method with its paper and its parameters.

    \b
    Examples:
      cocite methods
      cocite methods companion
    """
    from cocite.related import methods as registry

    screen = Screen()
    chosen = [registry.about(each) for each in ([name] if name else registry.names())]
    if json:
        screen.json([as_dict(about) for about in chosen])
        return
    for about in chosen:
        screen.line((about.name, "bold"), f"  {about.summary}")
        if name:
            screen.blank()
            for line in about.description.splitlines():
                screen.line(line, indent=2) if line else screen.blank()
            screen.blank()
        for each in about.parameters if name else ():
            value = "" if each.default == () else each.default
            default = f"{each.name}={str(value).lower() if isinstance(value, bool) else value}"
            screen.row(Cell(default, 24, "cyan"), Cell(each.help), Cell(f"({each.kind})", style="dim"), indent=2)
    if not name:
        screen.blank()
        screen.line(("cocite methods METHOD shows its parameters", "dim"))


def as_dict(about: Any) -> dict[str, Any]:
    """For JSON."""
    return {
        "name": about.name,
        "summary": about.summary,
        "description": about.description,
        "parameters": [
            {
                "name": p.name,
                "type": "tuple" if p.many else p.type.__name__,
                "default": p.default,
                "meaning": p.help,
                "allowed": p.kind,
            }
            for p in about.parameters
        ],
    }
