"""cocite batch: the related pages of every page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as shared
from cocite.cli.commands import Options, View
from cocite.cli.failures import INTERRUPTED, complain
from cocite.cli.files import read_addresses
from cocite.cli.terminal import Screen, rate, seconds
from cocite.operations.declare import Operation, make
from cocite.operations.pages.batch import Batch
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.operations.pages.batch import BatchSummary

Queries = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Only for the pages of this file of addresses, one per line.")
]


class BatchView(View):
    """What was written, on standard error."""

    operation = Batch
    options = {"queries": (Queries, None), "quiet": (shared.Quiet, False)}  # noqa: RUF012

    def read(self, values: Options, options: Options) -> Operation:
        """The question, with the pages of a file."""
        file = options["queries"]
        return make(Batch, "cli", values, pages=tuple(read_addresses(file)) if file else (), skip_unknown=True)

    def run(self, values: Options, options: Options) -> None:
        """Keep what is finished when interrupted."""
        try:
            super().run(values, options)
        except KeyboardInterrupt:
            complain("Interrupted; finished parts are kept, and the same command continues from there")
            raise typer.Exit(INTERRUPTED) from None

    def show(self, screen: Screen, asked: Any, result: BatchSummary, options: Options) -> None:
        """Print a summary."""
        screen, done, took = Screen(stderr=True), result, result.seconds
        if result.unknown:
            what = "address" if result.unknown == 1 else "addresses"
            screen.line((f"Not in this store: {result.unknown:,} {what} of {options['queries']}", "yellow"))
        if done.kept:
            screen.line((f"Kept {count(done.kept, 'part')} of {done.parts} from an earlier run", "dim"))
        speed = f", {rate(done.pages / took)} pages/s" if took > 1 and done.pages > 1000 and not done.kept else ""
        results = f"{count(done.answers, 'result')} for {count(done.pages, 'page')}"
        screen.line(f"Wrote {results} in {seconds(took)}{speed}: {result.output}")
