"""How `cocite links` shows the links around a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocite.cli.commands import Options, View
from cocite.cli.terminal import Cell, Screen
from cocite.operations.store.links import ShowLinks
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.operations.store.links import Citation, PageLinks, Section


class LinksView(View):
    """Links out under their headings, then links in."""

    operation = ShowLinks
    help = "Exits with 1 if the page has no links, with 3 if it is unknown."

    def show(self, screen: Screen, asked: ShowLinks, result: PageLinks, options: Options) -> None:
        """Print both lists."""
        known = result.page
        show_page(screen, known, result.is_alias)
        if result.blocks:
            screen.blank()
            screen.line(("Links to", "bold"))
            show_sections(screen, result.blocks)
            more(screen, sum(len(section.links) for section in result.blocks), known["links_out"])
        if result.cited_by:
            screen.blank()
            screen.line(("Linked from", "bold"), (" (most linked first)", "dim"))
            show_citations(screen, result.cited_by)
            more(screen, len(result.cited_by), known["links_in"])


def show_page(screen: Screen, known: dict[str, Any], alias: bool) -> None:
    """The page itself."""
    if known["title"]:
        screen.line((known["title"], "bold"))
    screen.line((known["url"], "cyan"), (" (that address leads here)", "dim") if alias else "")
    notes = [count(known["links_out"], "out-link"), count(known["links_in"], "in-link")]
    if known["captured"]:
        notes.append(f"captured {str(known['captured'])[:10]}")
    if known["status"]:
        notes.append(f"status {known['status']}")
    if known["lang"]:
        notes.append(f"language {known['lang']}")
    if not known["read"]:
        notes.append("known from links only")
    screen.line((" · ".join(notes), "dim"))


def show_sections(screen: Screen, blocks: list[Section]) -> None:
    """Links out under their headings."""
    labels = [child.text or child.title for block in blocks for child in block.links]
    wide = min(max(map(len, labels), default=0), int(screen.width * 0.42)) if screen.live else 0
    digits = len(str(blocks[-1].links[-1].position))
    for block in blocks:
        heading = block.heading or ("unknown section" if block.block is None else "without a heading")
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


def show_citations(screen: Screen, cited: list[Citation]) -> None:
    """Links in, each with its section and the links next to it."""
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
    """Where a link to the page is, in words."""
    parts = [f"as “{citation.text}”"] if citation.text else []
    parts += [f"under “{citation.heading}”"] if citation.heading else []
    beside = [each["text"] or each["url"] for each in citation.beside]
    parts += [f"next to {', '.join(beside)}"] if beside else []
    parts += ["in boilerplate"] if citation.boilerplate else []
    return " ".join(parts + citation.rel) or "in an unknown section"


def more(screen: Screen, shown: int, total: int) -> None:
    """Say that there is more, and how to see it."""
    if shown < total:
        screen.line((f"and {total - shown:,} more: -k 0 shows all", "dim"), indent=2)
