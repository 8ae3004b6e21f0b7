"""cocite build: sources → a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as given
from cocite.cli.opening import Crawling, open_sources, part_read
from cocite.cli.search import as_json as indexed_as_json
from cocite.cli.search import renewed
from cocite.cli.terminal import Cell, Screen, count, rate, seconds, size

if TYPE_CHECKING:
    from cocite.graph.build.passes import Built
    from cocite.words.search import Indexed


MANY = 10_000
"""Links from which a rate, or a size per link, says something."""
CAUSES = {
    "repeated": "repeated on their page",
    "to_itself": "of a page to itself",
    "replaced": "of records that were replaced, removed or unusable",
    "unusable": "to no usable address",
}


def build(
    sources: given.Sources,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="STORE", help="The store to make.")] = Path(
        "web.cocite"
    ),
    base: given.Base = None,
    kind: given.Kind = None,
    strict: given.Strict = False,
    anchors: given.Anchors = None,
    text: given.Text = None,
    platforms: given.Platforms = None,
    memory: given.Memory = "4G",
    threads: given.Threads = None,
    quiet: given.Quiet = False,
    json: given.Json = False,
    depth: given.Depth = 2,
    max_pages: given.MaxPages = 1000,
    delay: given.Delay = 0.5,
    scope: given.Scope = "site",
    allow_private: given.AllowPrivate = False,
) -> None:
    """Read sources into a new store.

    Sources are recognised by what is in them: page records (JSON Lines, Parquet), edge lists, web archives (WARC, ARC,
    WAT), HTML, Markdown, bookmarks, OPML, web graphs. A store that is there already is replaced when the new one is
    whole, not before. Of links that a page repeats the first is kept, and of others in which block they stand; links
    of a page to itself are dropped. The summary counts both.

    \b
    Examples:
      cocite build crawl.warc.gz -o web.cocite
      cocite build notes/ bookmarks.html --base https://me.example/
      cocite build https://example.org/ --depth 3 --max-pages 5000
    """
    from cocite.cli.progress import display
    from cocite.graph.build.passes import build as build_store
    from cocite.sources.records import ReadReport
    from cocite.warm import SecondProcess

    report = ReadReport(strict)
    crawling = Crawling(depth, max_pages, delay, scope, allow_private)
    said = given.said_of_sources(base, kind, platforms, crawling)
    made = given.build_options(memory, threads, platforms, anchors, text, said)
    with SecondProcess() as second, display(quiet, second.start) as stages:
        opened = open_sources(sources, report, base=base, kind=kind, text=made.text, crawling=crawling, progress=stages)
        stages.fraction = part_read(opened, report)
        built = build_store(opened, output, report, made, stages)
        indexed = renewed(built.path, made, stages)
    summarise(built, stages.compiling, json, indexed=indexed)


def summarise(built: Built, compiling: float, json: bool, head: str = "", indexed: Indexed | None = None) -> None:
    """What a build made: for people, or as JSON."""
    from cocite.graph.generation import read_current

    screen = Screen()
    _, manifest = read_current(built.path)
    if json:
        screen.json({**as_json(built, manifest, compiling), "search": indexed_as_json(indexed) if indexed else None})
        return
    screen.line((str(built.path), "bold"), head or "  is ready")
    working = max(1e-9, built.seconds - compiling)
    many = built.links >= MANY  # else a rate says nothing
    speed = f"{rate(built.links / working)} links/s" if many and working >= 1 else ""
    per_link = f"{built.bytes / max(1, built.links):,.1f} bytes per link, texts included" if many else ""
    facts = [
        ("pages", f"{built.pages:,}", f"on {count(manifest['sites'], 'site')}" if manifest["sites"] else ""),
        ("links", f"{built.links:,}", not_kept(built)),
        ("time", seconds(built.seconds), ", ".join(filter(None, (speed, compiled(compiling))))),
        ("size", size(built.bytes), per_link),
    ]
    if indexed:
        facts.append(("search", size(indexed.bytes), f"{count(indexed.pages, 'page')} in {seconds(indexed.seconds)}"))
    wide = max(len(fact[1]) for fact in facts)
    for name, value, note in facts:
        screen.row(Cell(name, 6, "dim"), Cell(value, wide, right=True), Cell(note, style="dim"), indent=2)
    left_out(screen, built)


def compiled(seconds_taken: float) -> str:
    """Words on the time that compiling took."""
    return f"{seconds(seconds_taken)} of it for compiling, once" if seconds_taken >= 0.5 else ""


def not_kept(built: Built) -> str:
    """Words on the links that were read and not kept, by cause."""
    causes = [f"{built.left_out[cause]:,} {words}" for cause, words in CAUSES.items() if built.left_out[cause]]
    return f"of {built.links_read:,}: without {', '.join(causes)}" if causes else ""


def left_out(screen: Screen, built: Built) -> None:
    """What was skipped, by reason, with an example each."""
    report = built.report
    notes = {what: number for what, number in report.read.items() if what not in ("bytes", "pages", "links") and number}
    if report.skipped:
        screen.line(("skipped", "yellow"), (" (--strict stops at the first)", "dim"), indent=2)
        rows(screen, dict(report.skipped), report.example)
    if notes:
        screen.line(("left aside, as meant", "dim"), indent=2)
        rows(screen, notes, {})


def rows(screen: Screen, counts: dict[str, int], example: dict[str, str]) -> None:
    """Counts by reason, the most frequent first, with an example under each."""
    digits = max(len(f"{number:,}") for number in counts.values())
    for reason, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        screen.row(Cell(f"{number:,}", digits, right=True), Cell(reason), indent=4)
        if example.get(reason):
            screen.row(Cell(f"such as {example[reason]}", style="dim"), indent=6 + digits)


def as_json(built: Built, manifest: dict[str, Any], compiling: float) -> dict[str, Any]:
    """What a build made, for programs."""
    report = built.report
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
        "read": dict(report.read),
        "skipped": [
            {"reason": reason, "count": number, "example": report.example.get(reason, "")}
            for reason, number in report.skipped.most_common()
        ],
    }
