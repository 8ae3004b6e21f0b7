"""cocite cluster: a set of pages into named groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite.cli import options as given
from cocite.cli.failures import UNKNOWN, complain
from cocite.cli.related import GroupBy, read_addresses
from cocite.cli.terminal import Cell, Screen, count
from cocite.errors import BadAddress, BadParameter, UnknownPage

if TYPE_CHECKING:
    from cocite.graph.store import Graph
    from cocite.results.groups import Group


def cluster(
    urls: Annotated[list[str] | None, typer.Argument(metavar="URL", help="Addresses of pages.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="More of them: a file, one address a line.")
    ] = None,
    index: given.Index = Path("web.cocite"),
    most: Annotated[int, typer.Option("--most", metavar="N", min=2, max=100, help="So many groups at most.")] = 12,
    by: GroupBy = "lli",
    json: given.Json = False,
) -> None:
    """Put pages into groups, named by keywords.

    Pages that are cited in the same sections of the same pages belong together; with --by integrated, pages whose
    words and linked pages are alike.

    \b
    Examples:
      cocite cluster nytimes.com lemonde.fr bmw.com audi.com louvre.fr
      cocite cluster --file bookmarks.txt --json
    """
    from cocite.cli.progress import display
    from cocite.results.groups import group_pages
    from cocite.web import Web

    texts = [*(urls or []), *(read_addresses(file) if file else [])]
    if not texts:
        raise BadParameter("no pages to group: give addresses, or --file FILE")
    web = Web(index)
    pages, unknown = [], []
    for text in texts:
        try:
            pages.append(web.graph.find(text))
        except (UnknownPage, BadAddress):
            if not file:
                raise
            unknown.append(text)
    if unknown:
        complain(f"not in this store: {count(len(unknown), 'page')}, such as {', '.join(unknown[:3])}")
    if not pages:
        raise typer.Exit(UNKNOWN)
    with display(quiet=json) as web.progress:
        groups = group_pages(web, pages, most, by)
    screen = Screen()
    if json:
        screen.json({"groups": [as_dict(web.graph, group) for group in groups]})
        return
    for group in groups:
        show_group(screen, web.graph, group)


def as_dict(graph: Graph, group: Group) -> dict[str, object]:
    """For JSON."""
    from cocite.results.naming import title_of

    pages = [{"url": graph.address(page), "title": title_of(graph, page)} for page in group.pages]
    return {"keywords": list(group.keywords), "pages": pages}


def show_group(screen: Screen, graph: Graph, group: Group) -> None:
    """For people."""
    from cocite.results.naming import title_of

    screen.line((group.name, "bold green"), (f"  {count(len(group.pages), 'page')}", "dim"))
    for page in group.pages:
        title = title_of(graph, page)
        wide = 30 if screen.live else 0
        screen.row(
            Cell(title or graph.address(page), wide), Cell(graph.address(page) if title else "", 0, "cyan"), indent=2
        )
