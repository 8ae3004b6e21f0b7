"""cocite warm: compile every kernel ahead of its first use; cocite reproduce: rerun the papers' claims."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

import cocite
from cocite.cli import options as shared
from cocite.cli.terminal import Screen, seconds
from cocite.errors import BadParameter


def warm(quiet: shared.Quiet = False) -> None:
    """Compile everything now, so that no later command waits for it.

    cocite compiles its inner loops when they are first used, once per machine, and caches them on disk. This command
    builds a small made-up store and asks it everything, which compiles all of them: a minute or two. Run it after an
    installation, or while building a container image. NUMBA_CACHE_DIR names another folder for the cache.

    \b
    Examples:
      cocite warm
      NUMBA_CACHE_DIR=/var/cache/cocite cocite warm
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from cocite.kernels import jit
    from cocite.warm import warm as compile_all

    screen, began = Screen(stderr=True), time.monotonic()
    bar = Progress(
        TextColumn("Compiling", style="bold"),
        BarColumn(24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[kernel]}", style="dim", markup=False),
        console=screen.console,
        transient=True,
        disable=quiet or not screen.live,
    )
    with bar, jit.watch(lambda kernel: bar.update(task, kernel=kernel)) as compilation:
        task = bar.add_task("", total=None, kernel="")

        def show(step: str, done: int, total: int) -> None:
            bar.update(task, description=step, completed=done, total=total, kernel="")
            if not quiet and not screen.live and done < total:
                screen.line(f"{done + 1} of {total}: {step}")

        compile_all(show)
    if not quiet:
        screen.line(f"Compiled {compilation.kernels} kernels in {seconds(time.monotonic() - began)}")


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
