"""How `cocite compare` shows methods side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocite.cli.commands import Options, View
from cocite.cli.terminal import Cell, Screen
from cocite.operations.pages.compare import Compare

if TYPE_CHECKING:
    from cocite.operations.pages.compare import Comparison


class CompareView(View):
    """A page per line with its rank by each method, then how many results methods have in common."""

    operation = Compare

    def show(self, screen: Screen, asked: Compare, result: Comparison, options: Options) -> None:
        """Print ranks and overlaps."""
        names = list(result.by_method)
        ranks = {name: {answer.url: answer.rank for answer in answers} for name, answers in result.by_method.items()}
        titles = {answer.url: answer.title for answers in result.by_method.values() for answer in answers}
        # Where names don't fit into their columns, all are replaced by letters.
        longest = max(map(len, names))
        fits = not screen.live or (longest + 2) * len(names) < screen.width // 2
        legend = {name: name if fits else chr(ord("A") + i % 26) for i, name in enumerate(names)}
        wide = (longest if fits else 5) if screen.live else 0
        for name, short in legend.items():
            if short != name:
                screen.line((f"{short} ", "bold"), name, indent=2)
        screen.row(*(Cell(legend[name], wide, "bold", True) for name in names), Cell("page", style="bold"))
        for url, _ in result.votes():
            cells = [Cell(str(ranks[name].get(url, "·")), wide, "", True) for name in names]
            screen.row(
                *cells,
                Cell(titles[url] or url, 30 if screen.live else 0),
                Cell(url if titles[url] else "", style="cyan"),
            )
        screen.blank()
        screen.line(("Results in common", "bold"))
        screen.row(Cell("", wide), *(Cell(legend[name], wide, "dim", True) for name in names))
        for first in names:
            row = [Cell(str(result.overlap(first, second)), wide, "", True) for second in names]
            screen.row(Cell(legend[first], wide, "dim"), *row)
        screen.row(
            Cell("ms", wide, "dim"),
            *(Cell(f"{a.milliseconds:.1f}", wide, "dim", True) for a in result.by_method.values()),
        )
