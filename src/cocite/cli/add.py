"""cocite add: more pages into a store."""

from __future__ import annotations

from pathlib import Path

from cocite.cli import options as given
from cocite.cli.build import summarise
from cocite.cli.opening import Crawling, open_sources, part_read
from cocite.cli.search import renewed


def add(
    sources: given.Sources,
    index: given.Index = Path("web.cocite"),
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
    """Read more sources into a store that is there.

    A page that the store has already gets the links of its newest capture. The old sources are not needed. Programs
    that have the store open keep what they opened.

    \b
    Examples:
      cocite add more.warc.gz -i web.cocite
      cocite add https://example.org/news --depth 1
    """
    from cocite.cli.progress import display
    from cocite.graph.build.maintain import add as add_to_store
    from cocite.sources.records import ReadReport
    from cocite.warm import SecondProcess

    report = ReadReport(strict)
    keep = given.as_before(index, anchors, text, platforms)
    crawling = Crawling(depth, max_pages, delay, scope, allow_private)
    said = given.said_of_sources(base, kind, platforms, crawling)
    made = given.build_options(memory, threads, platforms, *keep, said)
    with SecondProcess() as second, display(quiet, second.start) as stages:
        opened = open_sources(sources, report, base=base, kind=kind, text=made.text, crawling=crawling, progress=stages)
        stages.fraction = part_read(opened, report)
        built = add_to_store(opened, index, report, made, stages)
        indexed = renewed(built.path, made, stages)
    summarise(built, stages.compiling, json, "  has more in it", indexed)
