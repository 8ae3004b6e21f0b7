"""cocite reproduce: rerun the papers' claims. The experiments are in a checkout's research/, not in the wheel."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

import cocite
from cocite.cli import options as shared
from cocite.errors import BadParameter


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="A paper or one claim; default: all.")] = "",
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The collections: awesome/, wikispeedia/, citations/ …")
    ] = None,
    stores: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Keep and reuse built stores here.")] = None,
    write: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the outcome as Markdown.")] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Draw precision, recall and F of zhao here, as SVG.")
    ] = None,
    json: shared.Json = False,
) -> None:
    """Rerun what the papers claim, and report what holds.

    Without --data, list the claims. Needs a checkout of cocite: run it there. After Ctrl-C, finished claims are still
    shown and written.

    \b
    Examples:
      cocite reproduce
      cocite reproduce --data ../shared/data --write reproductions.md
      cocite reproduce zhao --data ../shared/data --figures figures
    """
    checkout = find_checkout()
    if checkout is None:
        raise BadParameter(
            "The papers' experiments are not in this package; run cocite reproduce in a checkout of cocite"
        )
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    import_module("research.reproduce.command").reproduce(paper, data, stores, write, figures, json)


def find_checkout() -> Path | None:
    """The folder with research/: beside an editable installation, or the current one."""
    folders = (Path(cocite.__file__).parents[2], Path.cwd())
    return next((each for each in folders if (each / "research" / "reproduce" / "claims.toml").is_file()), None)
