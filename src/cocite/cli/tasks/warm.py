"""cocite warm: compile every kernel ahead of its first use."""

from __future__ import annotations

import time

from cocite.cli import options as shared
from cocite.cli.terminal import Screen, seconds


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
