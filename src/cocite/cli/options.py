"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cocite.operations.store.build import SOURCE_KINDS

Index = Annotated[Path, typer.Option("--index", "-i", metavar="STORE", envvar="COCITE_INDEX", help="The store to use.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Don't show progress.")]
Base = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Base URL for sources without addresses: HTML or Markdown files, bookmarks."),
]
Kind = Annotated[
    str | None, typer.Option(metavar="KIND", help=f"Kind of the sources, if not recognised: {SOURCE_KINDS}.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first record that can't be used.")]
