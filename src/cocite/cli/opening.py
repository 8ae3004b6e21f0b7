"""Sources named on the command line, opened: those that are addresses are crawled as its options say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocite.sources.open_source import Source
    from cocite.sources.records import Page, ReadReport

_WEB = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True)
class Crawling:
    """How to crawl."""

    depth: int = 2
    max_pages: int = 1000
    delay: float = 0.5
    scope: str = "site"
    allow_private: bool = False


def open_sources(
    specs: Sequence[str],
    report: ReadReport,
    *,
    base: str | None,
    kind: str | None,
    text: bool,
    crawling: Crawling,
    progress: Callable[[str, int, int | None], None],
) -> list[Source]:
    """Recognise every source before the first is read, so that a mistyped name fails at once."""
    from cocite.sources.open_source import open_source

    return [
        _crawled(spec, report, text, crawling, progress)
        if kind == "crawl" or (kind is None and _WEB.match(spec))
        else open_source(spec, report, base=base, kind=kind, text=text)
        for spec in specs
    ]


def _crawled(
    spec: str, report: ReadReport, text: bool, crawling: Crawling, progress: Callable[[str, int, int | None], None]
) -> Source:
    from cocite.errors import BadParameter
    from cocite.sources.crawl.start import crawl
    from cocite.sources.open_source import Source

    if crawling.scope not in ("site", "host", "any"):
        raise BadParameter(f"--scope is site, host or any, not {crawling.scope!r}")
    pages = crawl(
        [spec],
        report,
        depth=crawling.depth,
        scope=crawling.scope,
        max_pages=crawling.max_pages,
        delay=crawling.delay,
        allow_private=crawling.allow_private,
        text=text,
    )

    def counted() -> Iterator[Page]:
        for page in pages:
            progress("crawling pages", 1, crawling.max_pages)
            yield page

    return Source(spec, "crawl", 0, report, counted, text)


def part_read(sources: Sequence[Source], report: ReadReport) -> Callable[[], float | None]:
    """A function that tells which part of the sources' bytes has been read."""
    total = sum(source.size_bytes for source in sources)
    known = all(source.size_bytes for source in sources)
    return lambda: min(1.0, report.read["bytes"] / total) if known and total and report.read["bytes"] else None
