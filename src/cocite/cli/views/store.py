"""How `cocite rank` and `cocite methods` show their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from cocite.cli import options as shared
from cocite.cli.commands import Options, View
from cocite.cli.failures import WRONG, complain, os_message
from cocite.cli.terminal import Cell, Screen, seconds
from cocite.operations.store.methods import Methods
from cocite.operations.store.rank import RankPages
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.operations.store.methods import MethodList
    from cocite.operations.store.rank import RankResult


class RankView(View):
    """How the rank was computed, then the first pages."""

    operation = RankPages
    options = {"quiet": (shared.Quiet, False)}  # noqa: RUF012

    def warn(self, web: Any, asked: RankPages, result: RankResult, options: Options) -> None:
        """Report a rank that could not be kept."""
        if error := result.not_kept:
            why = os_message(error) if isinstance(error, OSError) else str(error)
            complain(f"Not kept, so other commands won't find this rank: {why}")

    def show(self, screen: Screen, asked: RankPages, result: RankResult, options: Options) -> None:
        """Print the pages with their values."""
        ranked = result
        done = f"{count(ranked.rounds, 'round')}, residual {ranked.residual:.1e}, {seconds(result.seconds)}"
        screen.line((result.call, "bold"), f"  {count(result.pages, 'page')}, {done}")
        if not ranked.converged:
            call = f'--by "{result.rank}(rounds=1000)"'
            screen.line((f"The tolerance was not reached: allow more rounds, as in {call}", "yellow"))
        if result.top:
            screen.blank()
        wide = max((len(f"{page.value:,.6g}") for page in result.top), default=0)
        for page in result.top:
            rank = Cell(str(page.rank), len(str(len(result.top))), "dim", right=True)
            value = Cell(f"{page.value:,.6g}", wide, "cyan", right=True)
            screen.row(rank, value, Cell(page.url), Cell(page.title, style="dim"))

    def finish(self, asked: RankPages, result: RankResult, options: Options) -> None:
        """A rank that could not be kept is a failure."""
        if result.not_kept:
            raise typer.Exit(WRONG)


class MethodsView(View):
    """A line for each method, or everything about one."""

    operation = Methods

    def show(self, screen: Screen, asked: Methods, result: MethodList, options: Options) -> None:
        """Print the methods."""
        for about in result.methods:
            screen.line((about.name, "bold"), f"  {about.summary}")
            if not asked.name:
                continue
            screen.blank()
            for line in about.description.splitlines():
                screen.line(line, indent=2) if line else screen.blank()
            screen.blank()
            for each in about.parameters:
                value = "" if each.default == () else each.default
                default = f"{each.name}={str(value).lower() if isinstance(value, bool) else value}"
                screen.row(Cell(default, 24, "cyan"), Cell(each.help), Cell(f"({each.kind})", style="dim"), indent=2)
        if not asked.name:
            screen.blank()
            screen.line(("cocite methods METHOD shows the parameters of a method", "dim"))
