"""cocite remove: take pages out of a store, for good."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cocite.cli import options as given
from cocite.cli.build import summarise
from cocite.cli.search import renewed
from cocite.cli.terminal import count
from cocite.errors import UnknownPage


def remove(
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="Addresses of the pages, in any spelling.")],
    index: given.Index = Path("web.cocite"),
    platforms: given.Platforms = None,
    memory: given.Memory = "4G",
    threads: given.Threads = None,
    quiet: given.Quiet = False,
    json: given.Json = False,
) -> None:
    """Take pages out of a store, with all links from and to them.

    They stay out: a later add leaves them out too. To have one back, build the store again from its sources, which
    cocite info names. If one of the addresses is unknown, or was removed before, no page is removed; what a remove that
    was killed did not come to is done.

    \b
    Examples:
      cocite remove https://example.org/private -i web.cocite
    """
    from cocite.cli.progress import display
    from cocite.graph.build.maintain import remove as remove_from_store
    from cocite.words.search import finish_renewal

    keep = given.as_before(index, None, None, platforms)
    made = given.build_options(memory, threads, platforms, *keep)
    with display(quiet) as stages:
        try:
            built = remove_from_store(urls, index, made, stages)
        except UnknownPage:
            finish_renewal(index, made.text, stages, made.memory // 4)
            raise
        indexed = renewed(built.path, made, stages)
    summarise(built, stages.compiling, json, f"  is without {count(len(set(urls)), 'page')} now", indexed)
