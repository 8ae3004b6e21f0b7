"""What building or changing a store did, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocite.cli.terminal import Cell, Screen, rate, seconds, size
from cocite.cli.views.pages import index_json
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.graph.build.passes import Built
    from cocite.sources.records import ReadReport
    from cocite.words.search import SearchIndex

MIN_LINKS_FOR_RATES = 10_000
"""With fewer links, a rate or a size per link means nothing."""
CAUSES = {
    "repeated": "repeated on their page",
    "to_itself": "from a page to itself",
    "replaced": "of replaced, removed or unusable records",
    "unusable": "with unusable addresses",
}


def summarise(
    built: Built, compiling: float, json: bool, verb: str = "Built", indexed: SearchIndex | None = None
) -> None:
    """Print what a build made."""
    from cocite.graph.generation import read_current

    screen = Screen()
    _, manifest = read_current(built.path)
    if json:
        screen.json({**as_json(built, manifest, compiling), "search": index_json(indexed) if indexed else None})
        return
    screen.line(f"{verb} ", (str(built.path), "bold"))
    working = max(1e-9, built.seconds - compiling)
    many = built.links >= MIN_LINKS_FOR_RATES
    speed = f"{rate(built.links / working)} links/s" if many and working >= 1 else ""
    once = f"{seconds(compiling)} of it for compiling, once" if compiling >= 0.5 else ""
    per_link = f"{built.bytes / max(1, built.links):,.1f} bytes per link, including texts" if many else ""
    facts = [
        ("pages", f"{built.pages:,}", f"on {count(manifest['sites'], 'site')}" if manifest["sites"] else ""),
        ("links", f"{built.links:,}", dropped_links(built)),
        ("time", seconds(built.seconds), ", ".join(filter(None, (speed, once)))),
        ("size", size(built.bytes), per_link),
    ]
    if indexed:
        facts.append(("search", size(indexed.bytes), f"{count(indexed.pages, 'page')} in {seconds(indexed.seconds)}"))
    wide = max(len(fact[1]) for fact in facts)
    for name, value, note in facts:
        screen.row(Cell(name, 6, "dim"), Cell(value, wide, right=True), Cell(note, style="dim"), indent=2)
    show_skipped(screen, built.report, ("bytes", "pages", "links"))


def dropped_links(built: Built) -> str:
    """How many links were read and dropped, by cause."""
    causes = [f"{built.left_out[cause]:,} {words}" for cause, words in CAUSES.items() if built.left_out[cause]]
    return f"of {built.links_read:,}; dropped {', '.join(causes)}" if causes else ""


def show_skipped(screen: Screen, report: ReadReport, counted: tuple[str, ...]) -> None:
    """What was skipped and what was ignored on purpose, by reason; not what is `counted` elsewhere."""
    if report.skipped:
        screen.line(("skipped", "yellow"), (" (--strict stops at the first)", "dim"), indent=2)
        show_reasons(screen, dict(report.skipped), report.example)
    ignored = {what: number for what, number in report.read.items() if what not in counted and number}
    if ignored:
        screen.line(("ignored on purpose", "dim"), indent=2)
        show_reasons(screen, ignored, {})


def show_reasons(screen: Screen, counts: dict[str, int], example: dict[str, str]) -> None:
    """Counts by reason, the most frequent first, with an example under each."""
    digits = max(len(f"{number:,}") for number in counts.values())
    for reason, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        screen.row(Cell(f"{number:,}", digits, right=True), Cell(reason), indent=4)
        if example.get(reason):
            screen.row(Cell(f"such as {example[reason]}", style="dim"), indent=6 + digits)


def skipped_json(report: ReadReport) -> list[dict[str, Any]]:
    """What was skipped, for programs."""
    return [
        {"reason": reason, "count": number, "example": report.example.get(reason, "")}
        for reason, number in report.skipped.most_common()
    ]


def as_json(built: Built, manifest: dict[str, Any], compiling: float) -> dict[str, Any]:
    """What a build made, for programs."""
    return {
        "store": str(built.path),
        "id": manifest["id"],
        "generation": manifest["generation"],
        "pages": built.pages,
        "links": built.links,
        "links_read": built.links_read,
        "left_out": built.left_out,
        "sites": manifest["sites"],
        "seconds": round(built.seconds, 3),
        "links_per_second": round(built.links / max(1e-9, built.seconds), 1),
        "bytes": built.bytes,
        "bytes_per_link": round(built.bytes / max(1, built.links), 3),
        "compiling_seconds": round(compiling, 3),
        "passes": {name: round(value, 3) for name, value in built.passes.items()},
        "read": dict(built.report.read),
        "skipped": skipped_json(built.report),
    }
