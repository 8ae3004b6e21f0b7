"""cocite related --like bookmarks.html: what is near to a whole collection, by its folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cocite.cli.failures import NOTHING, complain
from cocite.cli.terminal import Screen, count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocite.related.methods import Method
    from cocite.results.answer import Answer
    from cocite.results.collection import Collection, CollectionResults
    from cocite.results.filters import Filters

FEW = 3


def near_collection(
    index: Path,
    file: Path,
    collection: Collection,
    method: Method,
    k: int,
    filters: Filters,
    unwanted: Sequence[str],
    show_one: Callable[[Screen, Answer, int], None],
    json: bool,
) -> None:
    """Ask about a collection, and show what is near to it."""
    from cocite.cli.progress import display
    from cocite.results.collection import ask_collection
    from cocite.web import Web

    web, screen = Web(index), Screen()
    with display(quiet=json) as web.progress:
        found = ask_collection(web, collection, method, k, filters, unwanted)
    tell_unknown(file, found)
    screen.json(found.to_dict()) if json else show(screen, found, show_one)
    if k and not any(folder.answers for folder in found.folders):
        complain(
            f"nothing is related to the pages of {file} that this store has; give fewer filters, or another method"
        )
        raise typer.Exit(NOTHING)


def tell_unknown(file: Path, found: CollectionResults) -> None:
    """Say what was not asked about."""
    if found.unknown:
        some = ", ".join(found.unknown[:FEW])
        complain(f"not in this store: {len(found.unknown):,} of {count(found.pages, 'page')} of {file}, such as {some}")
    for folder in found.folders:
        if folder.left_out:
            complain(f"{folder.folder}: the last {count(folder.left_out, 'page')} of this folder were not asked about")


def show(screen: Screen, found: CollectionResults, show_one: Callable[[Screen, Answer, int], None]) -> None:
    """For people: folders in their order, those without an answer left out."""
    wide = max((len(f"{answer.score:.6g}") for folder in found.folders for answer in folder.answers), default=0)
    for folder in found.folders:
        if not folder.answers:
            continue
        screen.line((folder.folder, "bold green"), (f"  near {folder.known:,} of {count(folder.pages, 'page')}", "dim"))
        for answer in folder.answers:
            show_one(screen, answer, wide)
    if found.about is not None:
        screen.line((f"{found.milliseconds:.1f} ms by {found.about.method}", "dim"))
