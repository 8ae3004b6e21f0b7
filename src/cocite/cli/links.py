"""cocite links: the links around a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite.cli import options as given
from cocite.cli.failures import NOTHING, complain
from cocite.cli.terminal import Cell, Screen, count

if TYPE_CHECKING:
    from cocite.cli.around import Block, Citation
    from cocite.graph.store import Graph


def links(
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of a page, in any spelling: nytimes.com will do.")],
    index: given.Index = Path("web.cocite"),
    k: Annotated[int, typer.Option("-k", metavar="N", min=0, help="At most N links each way; 0 shows all.")] = 20,
    json: given.Json = False,
) -> None:
    """Show what a page links to, block by block, and who links to it.

    Links are in the order of the page, under its headings. Pages that link to it come with the section in which they
    do, the most linked first. Exits with 1 if the page has no links at all, with 3 if it is unknown.

    \b
    Examples:
      cocite links nytimes.com
      cocite links https://example.org/list -k 0 -i web.cocite
      cocite links example.org --json | jq '.cited_by[].url'
    """
    from cocite.cli.around import around
    from cocite.graph.store import Graph

    graph = Graph(index)
    page = graph.find(url)
    screen = Screen()
    if json:
        screen.json({"query": url, **around(graph, page, k)})
    else:
        show(screen, graph, page, url, k)
    if not graph.out_degree[page] and not graph.in_degree[page]:
        complain(f"{graph.address(page)} is known, but has no links")
        raise typer.Exit(NOTHING)


def show(screen: Screen, graph: Graph, page: int, url: str, k: int) -> None:
    """For people."""
    from cocite.cli.around import children, cited_in, facts, parents

    known = facts(graph, page)
    show_page(screen, known, alias_of(graph, page, url))
    blocks = children(graph, page, k)
    if blocks:
        screen.blank()
        screen.line(("Links to", "bold"))
        show_blocks(screen, blocks, sum(len(block.links) for block in blocks), known["links_out"])
    cited = [cited_in(graph, page, parent) for parent in parents(graph, page, k)]
    if cited:
        screen.blank()
        screen.line(("Cited by", "bold"), (" the most linked first", "dim"))
        show_citations(screen, cited)
        more(screen, len(cited), known["links_in"])


def alias_of(graph: Graph, page: int, url: str) -> bool:
    """Whether the address that was asked for is another one of the page."""
    from cocite.errors import BadAddress
    from cocite.pages.address import parse_query

    try:
        asked = parse_query(url).canonical
    except BadAddress:
        return False
    return asked != graph.canonical(page) and not asked.startswith("name:")


def show_page(screen: Screen, known: dict[str, object], alias: bool) -> None:
    """The page itself."""
    if known["title"]:
        screen.line((str(known["title"]), "bold"))
    screen.line((str(known["url"]), "cyan"), (" to which that address leads", "dim") if alias else "")
    notes = [count(int(str(known["links_out"])), "link") + " out", count(int(str(known["links_in"])), "link") + " in"]
    if known["captured"]:
        notes.append(f"captured {str(known['captured'])[:10]}")
    if known["status"]:
        notes.append(f"status {known['status']}")
    if known["lang"]:
        notes.append(f"language {known['lang']}")
    if not known["read"]:
        notes.append("known from links only")
    screen.line((" · ".join(notes), "dim"))


def show_blocks(screen: Screen, blocks: list[Block], shown: int, total: int) -> None:
    """Links out under their headings."""
    labels = [child.text or child.title for block in blocks for child in block.links]
    wide = min(max(map(len, labels), default=0), int(screen.width * 0.42)) if screen.live else 0
    digits = len(str(blocks[-1].links[-1].position))
    for block in blocks:
        heading = block.heading or ("in no known block" if block.block is None else "without a heading")
        style = "green" if block.heading else "dim"
        screen.line((heading, style), (" boilerplate", "dim") if block.boilerplate else "", indent=2)
        for child in block.links:
            marks = child.rel + (["boilerplate"] if child.boilerplate and not block.boilerplate else [])
            used = 4 + digits + 2 + wide + 2
            room = max(20, screen.width - used - (len(" ".join(marks)) + 2 if marks else 0)) if screen.live else 0
            address = Cell(child.url, min(room, len(child.url)) if room else 0, "cyan")
            label = Cell(child.text or child.title, wide)
            number = Cell(str(child.position), digits, "dim", True)
            screen.row(number, label, address, Cell(" ".join(marks), style="yellow"), indent=4)
    more(screen, shown, total)


def show_citations(screen: Screen, cited: list[Citation]) -> None:
    """Links in: who, and under it where and beside what."""
    for citation in cited:
        if screen.live:
            title = citation.title or citation.url
            wide = min(len(title), int(screen.width * 0.5))
            address = citation.url if citation.title else ""
            screen.row(Cell(title, wide), Cell(address, style="cyan"), indent=2)
            screen.row(Cell(where(citation), style="dim"), indent=4)
        else:
            screen.row(Cell(citation.title), Cell(citation.url), Cell(where(citation)), indent=2)


def where(citation: Citation) -> str:
    """In words, where a page is cited."""
    parts = [f"as “{citation.text}”"] if citation.text else []
    parts += [f"under “{citation.heading}”"] if citation.heading else []
    beside = [text or url for text, url in citation.beside]
    parts += [f"beside {', '.join(beside)}"] if beside else []
    parts += ["in boilerplate"] if citation.boilerplate else []
    return " ".join(parts + citation.rel) or "in no known block"


def more(screen: Screen, shown: int, total: int) -> None:
    """Say that there is more, and how to see it."""
    if shown < total:
        screen.line((f"and {total - shown:,} more: -k 0 shows all", "dim"), indent=2)
