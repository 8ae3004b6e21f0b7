"""cocite build, add and remove: a store from sources, and its changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as shared
from cocite.cli.failures import INTERRUPTED, complain
from cocite.cli.options import SOURCE_OPTIONS, parse_size, taking
from cocite.cli.tasks.summary import summarise
from cocite.errors import BadParameter, BadStore, UnknownPage
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.cli.progress import Stages
    from cocite.graph.build.passes import BuildOptions, Built
    from cocite.graph.generation import Progress
    from cocite.sources.open_source import Source
    from cocite.sources.records import Page, ReadReport
    from cocite.words.search import SearchIndex

CRAWL_OPTIONS = ("depth", "max_pages", "delay", "scope", "allow_private")
_WEB_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


@taking(SOURCE_OPTIONS)
def build(
    sources: shared.Sources,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="STORE", help="The store to build.")] = Path(
        "web.cocite"
    ),
    **given: Any,
) -> None:
    """Read sources into a new store.

    Sources are recognised by their content: page records (JSON Lines, Parquet), edge lists, web archives (WARC, ARC,
    WAT), HTML, Markdown, bookmarks, OPML, web graphs. An old store is replaced when the new one is complete, not
    before. If a page repeats a link, the first one is kept, with the sections of the others. Links from a page to
    itself are dropped. The summary counts both.

    \b
    Examples:
      cocite build crawl.warc.gz -o web.cocite
      cocite build notes/ bookmarks.html --base https://me.example/
      cocite build https://example.org/ --depth 3 --max-pages 5000
    """
    from cocite.graph.build.passes import build as build_store

    change(build_store, sources, output, build_options(given, source_options(given)), given, "Built")


@taking(SOURCE_OPTIONS)
def add(sources: shared.Sources, index: shared.Index = Path("web.cocite"), **given: Any) -> None:
    """Read more sources into an existing store.

    A page that the store already has gets the links of its newest capture. The old sources aren't needed. Programs
    that have the store open keep reading what they opened.

    \b
    Examples:
      cocite add more.warc.gz -i web.cocite
      cocite add https://example.org/news --depth 1
    """
    from cocite.graph.build.maintain import add as add_to_store

    options = build_options(options_as_before(index, given), source_options(given))
    change(add_to_store, sources, index, options, given, "Added to")


def remove(
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="Address of a page, in any spelling.")],
    index: shared.Index = Path("web.cocite"),
    platforms: shared.Platforms = None,
    memory: shared.Memory = "4G",
    threads: shared.Threads = None,
    quiet: shared.Quiet = False,
    json: shared.Json = False,
) -> None:
    """Remove pages from a store, with all links from and to them.

    A later add skips them, too. To get one back, build the store again from its sources, which cocite info lists. If
    one of the addresses is unknown, or was removed before, no page is removed. If an earlier remove was killed, this
    one finishes its work.

    \b
    Examples:
      cocite remove https://example.org/private -i web.cocite
    """
    from cocite.cli.progress import display
    from cocite.graph.build.maintain import remove as remove_from_store
    from cocite.words.search import finish_renewal

    given = {"platforms": platforms, "memory": memory, "threads": threads}
    options = build_options(options_as_before(index, given))
    with display(quiet) as stages:
        try:
            built = remove_from_store(urls, index, options, stages)
        except UnknownPage:
            finish_renewal(index, options.text, stages, options.memory // 4)
            raise
        indexed = renew_index(built.path, options, stages)
    summarise(built, stages.compiling, json, f"Removed {count(len(set(urls)), 'page')} from", indexed)


def change(
    work: Callable[..., Built],
    sources: Sequence[str],
    store: Path,
    options: BuildOptions,
    given: Mapping[str, Any],
    verb: str,
) -> None:
    """Read sources into a store, renew its search index, and print a summary."""
    from cocite.cli.progress import display
    from cocite.sources.records import ReadReport
    from cocite.warm import SecondProcess

    report = ReadReport(given["strict"])
    with SecondProcess() as second, display(given["quiet"], second.start) as stages:
        opened = open_sources(sources, report, given, options.text, stages)
        stages.fraction = fraction_read(opened, report)
        built = work(opened, store, report, options, stages)
        indexed = renew_index(built.path, options, stages)
    summarise(built, stages.compiling, given["json"], verb, indexed)


def source_options(given: Mapping[str, Any]) -> dict[str, str]:
    """The options that change how sources are read, as they are written on the command line: a repair needs them."""
    platforms = given.get("platforms")
    own: dict[str, Any] = {"base": given.get("base"), "kind": given.get("kind")}
    own["platforms"] = None if platforms is None else platforms.absolute()
    for name in CRAWL_OPTIONS:
        default = SOURCE_OPTIONS[name][1]
        own[name] = None if given.get(name, default) == default else given[name]
    return {
        name.replace("_", "-"): "" if value is True else str(value) for name, value in own.items() if value is not None
    }


def build_options(given: Mapping[str, Any], said: Mapping[str, str] | None = None) -> BuildOptions:
    """How to build, from the options of the command line; others keep their defaults."""
    from cocite.graph.build.passes import BuildOptions

    platforms = given["platforms"]
    if platforms is not None and not platforms.is_file():
        raise BadParameter(f"--platforms {platforms} is not a file: check the path")
    own = {name: given[name] for name in ("threads", "anchors", "text") if given.get(name) is not None}
    return BuildOptions(memory=parse_size(given["memory"]), platforms=platforms, said=said or {}, **own)


def options_as_before(store: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options with those of the store as defaults; refuses to lose its table of platforms."""
    from cocite.graph.generation import read_current

    _, manifest = read_current(store)
    if manifest.get("platforms") and given["platforms"] is None:
        raise BadParameter(f"{store} was built with its own table of platforms: give it again with --platforms FILE")
    kept = manifest.get("options", {})
    return {
        **given,
        **{name: bool(kept.get(name, True)) for name in ("anchors", "text") if given.get(name) is None},
    }


def open_sources(
    specs: Sequence[str], report: ReadReport, given: Mapping[str, Any], text: bool, progress: Progress
) -> list[Source]:
    """Recognise every source before the first one is read, so that a mistyped name fails at once."""
    from cocite.sources.open_source import open_source

    base, kind = given["base"], given["kind"]
    return [
        crawl_source(spec, report, given, text, progress)
        if kind == "crawl" or (kind is None and _WEB_ADDRESS.match(spec))
        else open_source(spec, report, base=base, kind=kind, text=text)
        for spec in specs
    ]


def crawl_source(spec: str, report: ReadReport, given: Mapping[str, Any], text: bool, progress: Progress) -> Source:
    """A source that crawls from an address."""
    from cocite.sources.crawl.start import crawl
    from cocite.sources.open_source import Source

    if given["scope"] not in ("site", "host", "any"):
        raise BadParameter(f"--scope must be site, host or any, not {given['scope']!r}")
    pages = crawl([spec], report, text=text, **{name: given[name] for name in CRAWL_OPTIONS})

    def counted() -> Iterator[Page]:
        for page in pages:
            progress("crawling pages", 1, given["max_pages"])
            yield page

    return Source(spec, "crawl", 0, report, counted, text)


def fraction_read(sources: Sequence[Source], report: ReadReport) -> Callable[[], float | None]:
    """A function that returns which fraction of the sources' bytes has been read; None if that isn't known."""
    total = sum(source.size_bytes for source in sources)
    known = all(source.size_bytes for source in sources)
    return lambda: min(1.0, report.read["bytes"] / total) if known and total and report.read["bytes"] else None


def renew_index(path: Path, options: BuildOptions, stages: Stages) -> SearchIndex | None:
    """The search index after a store was built or changed. If that fails, the store is complete all the same."""
    from cocite.words.search import renew_search

    try:
        return renew_search(path, options.text, stages, options.memory // 4)
    except KeyboardInterrupt:
        complain(f"Interrupted: {path} is complete, but has no search index yet; the first cocite search builds it")
        raise typer.Exit(INTERRUPTED) from None
    except (BadStore, OSError) as error:
        complain(f"{path} is complete, but has no search index: {error}")
        return None
